"""All cells of a config: looked up, evaluated where they are not known, and kept."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Container, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
from tqdm import tqdm

from .. import errors as internal_errors
from ..config.cells import Cell
from ..config.model import Config
from ..core.leaderboard import Entry
from ..core.metric import Metric
from ..errors import Finding, HarnessError, InputError, Problem, ShortageError
from ..files import sha256, state_of
from ..guard.guarding import Seen, guard
from ..guard.shared_rows import PooledQueries
from . import executors as remote
from .cache import Cache, Input
from .cache_key import Naming, cell_key
from .cell_record import Record, with_names
from .crosscheck import Audit
from .executors import InProcess
from .failures import Failure
from .work import Done, Job, each, forget, has_changed, work

PIECES = 4
"""What is left is enough for so many jobs of each process, so that none waits at the end."""
MOST = 16
"""Cells of a job: those that are lost where its worker dies, or all is stopped."""
TRIES = 3
"""How often a job is given out whose worker dies."""
POLL = 1
"""Seconds between two looks at a cluster."""


@dataclass(eq=False)
class Evaluated:
    """What became of all cells.

    Parameters
    ----------
    entries, audits, headers, cells : list
        Of those that were evaluated, in the config's order; headers as in
        :class:`~harness.experiment.cell_record.Record`.
    warnings : list of str
        What was said, each once.
    failures : list of Failure
    inputs : dict of str to Input
        Every file read, by path; of cells that failed, those that can be.
    unused : dict of str to list of str
        Columns of each file that no cell read; only files with such columns.
    cached : int
        How many cells were not computed, since all of their values were known.
    findings : list of Finding
        What the guard found in all of them.
    printed : list of str
        What is said of it and of the warnings, each once.
    """

    entries: list[Entry] = field(default_factory=list)
    audits: list[Audit] = field(default_factory=list)
    headers: list[Mapping[str, Any] | None] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    inputs: dict[str, Input] = field(default_factory=dict)
    unused: dict[str, list[str]] = field(default_factory=dict)
    cached: int = 0
    findings: list[Finding] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of every file read, by path."""
        return _digests(self.inputs)


def evaluate_all(
    config: Config, cells: Sequence[Cell], cache: Cache, pool: Executor | None = None, jobs: int = 1
) -> Evaluated:
    """Evaluate the cells of a config.

    Parameters
    ----------
    config : Config
    cells : sequence of Cell
        As :func:`harness.config.sweep.resolve` gives them.
    cache : Cache
        Records are taken from it and kept in it as soon as they are there.
    pool : Executor, optional
        Where they are evaluated: this process where left out. The results are the same.
    jobs : int
        How many workers the pool has, where it does not say so itself.

    Raises
    ------
    VerificationError
        Where the cross-check finds a difference.
    InputError
        Where the guard finds an error that is not one run's alone.
    """
    cells = tuple(cells)
    run = _Run(config, cells, cache)
    lacking = {place: run.lacking(place) for place in range(len(cells))}
    pending = {place: metrics for place, metrics in lacking.items() if metrics}
    run.cached = len(cells) - len(pending)
    with tqdm(total=len(cells), unit="cell", disable=None) as bar:
        bar.update(len(cells) - len(pending))
        run.show(bar, 0)
        pool = pool or InProcess()
        workers = 1 if isinstance(pool, InProcess) else getattr(pool, "workers", jobs)
        job_list = list(_jobs(run, pending, workers))
        finished = () if run.pooled.shared else _finished(pool, job_list, run, workers)
        for done in finished:
            run.take(done)
            bar.update()
            run.show(bar, done.rows)
            if run.pooled.shared:  # the guard refuses it, whatever the others give
                break
    cache.save()
    return run.evaluated()


class _Run:
    """The state of one call: records and failures of its cells by place, hashes of files read."""

    def __init__(self, config: Config, cells: tuple[Cell, ...], cache: Cache) -> None:
        self.config, self.cells, self.cache = config, cells, cache
        self.metrics, self.policy = config.parsed_metrics(), config.to_policy()
        self.records: dict[int, Record] = {}
        self.failed: dict[int, HarnessError] = {}
        self.inputs: dict[str, Input] = {}
        self.qids: dict[str, pa.Array] = {}
        self.names: dict[int, dict[str, str]] = {}
        self.naming = Naming(config, cells)
        self.pooled = PooledQueries(config.summary.pool)
        self.cached, self.rows, self.running = 0, 0, 0

    def lacking(self, place: int) -> tuple[Metric, ...]:
        """Look a cell up in the cache, and return the metrics that are still to be computed."""
        cell = self.cells[place]
        paths = (*self.naming.files(cell), *self.naming.others(cell))
        inputs = {path: read for path in paths if (read := self.cache.known(path)) is not None}
        if not inputs.keys() >= {*self.naming.files(cell)}:
            return self.metrics
        digests = _digests(inputs)
        record = self.cache.get(cell_key(self.naming.follows_from(cell, digests)))
        if record is None:
            return self.metrics
        self.keep(place, record)
        self.inputs |= inputs
        self.names[place] = self.naming.names(cell, digests)
        return record.lacking(self.metrics, self.names[place])

    def take(self, done: Done) -> None:
        """Keep a cell's record in memory and in the cache, or its error."""
        remote.check(done, self.metrics)
        error = done.error
        for path, read in done.inputs.items():
            if self.inputs.setdefault(path, read).digest != read.digest:
                error = has_changed(path)
        if done.record is None or error is not None:
            changed = self.changed(done.place)
            self.failed[done.place] = changed or error or HarnessError("unknown")
            self.records.pop(done.place, None)
            return
        for path, read in done.inputs.items():
            self.cache.remember(path, read)
        cell, digests = self.cells[done.place], _digests(self.inputs)
        self.names[done.place] = names = self.naming.names(cell, digests)
        known, record = self.records.get(done.place), done.record.renamed(names)
        record = record if known is None else known.joined(record)
        self.keep(done.place, record)
        self.rows += done.rows
        parts = self.naming.follows_from(cell, digests)
        files = [Path(path).name for path in self.naming.files(cell)]
        about = {**parts, "files": files, "dataset": cell.dataset, "run": cell.run}
        self.cache.put(cell_key(parts), replace(record, about=about))

    def changed(self, place: int) -> InputError | None:
        """Return the error of a cell one of whose files other cells read with other bytes.

        It is why the cell failed, whatever was made of the new bytes.
        """
        for path in self.naming.files(self.cells[place]):
            read = self.inputs.get(path)
            with contextlib.suppress(OSError, InputError):
                if read is None or not os.path.isfile(path) or state_of(path) == read.state:
                    continue
                if sha256(Path(path)) != read.digest:
                    return has_changed(path)
        return None

    def keep(self, place: int, record: Record) -> None:
        """Keep a record in memory; the qids of a dataset once."""
        path = self.cells[place].dataset_entry.path
        qids = self.qids.setdefault(path, record.qids)
        if record.facts is not None:
            self.pooled.add(self.cells[place], qids)
        self.records[place] = replace(
            record, qids=qids if qids.equals(record.qids) else record.qids
        )

    def show(self, bar: Any, rows: int) -> None:
        """Show in the progress bar how many cells run, came from the cache and failed."""
        counts = {"running": self.running, "from cache": self.cached, "failed": len(self.failed)}
        parts = {name: f"{n}" for name, n in counts.items() if n}
        elapsed = bar.format_dict["elapsed"]
        if rows and elapsed:
            parts["rows/s"] = f"{self.rows / elapsed:,.0f}"
        bar.set_postfix(parts, refresh=False)

    def evaluated(self) -> Evaluated:
        """Return everything in the config's order, after the guard has looked at it."""
        base = self.config.base
        plugins = [str(base / name) for name in self.config.plugins if name.endswith(".py")]
        of_failed = [path for place in self.failed for path in self.naming.files(self.cells[place])]
        for path in (*of_failed, *plugins):
            if path not in self.inputs and Path(path).is_file():
                with contextlib.suppress(OSError, InputError):
                    self.inputs[path] = self.cache.hashed(path)
        observed = {
            place: Seen(record.facts, with_names(record.warnings, self.cells[place]), record.qids)
            for place, record in sorted(self.records.items())
        }
        cells = {place: self.cells[place] for place in observed}
        failed = {place: (self.cells[place], error) for place, error in self.failed.items()}
        guarded = guard(self.config, cells, observed, _digests(self.inputs), failed)
        self.failed |= guarded.failed
        found = Evaluated(
            inputs=self.inputs,
            unused=_unused(cells, self.records),
            cached=self.cached,
            findings=guarded.findings,
            printed=guarded.printed,
        )
        for place, cell in enumerate(self.cells):
            if place in self.failed:
                found.failures.append(Failure(cell, self.failed[place]))
                continue
            record = self.records.pop(place)  # the entry has the values now
            found.entries.append(record.entry(self.metrics, self.policy, cell, self.names[place]))
            found.audits.append(record.audit)
            found.headers.append(record.header)
            found.cells.append(cell)
            found.warnings += guarded.said[place]
        found.warnings = list(dict.fromkeys(found.warnings))
        return found


def _digests(inputs: Mapping[str, Input]) -> dict[str, str]:
    return {path: read.digest for path, read in inputs.items()}


def changed_since(inputs: Mapping[str, Input], reported: Container[str]) -> Iterator[str]:
    """Yield a sentence for each file that no longer has the bytes that were read.

    Files in `reported` are left out, as an error says so already.
    """
    for path, read in inputs.items():
        if path in reported or (os.path.exists(path) and not os.path.isfile(path)):
            continue
        try:
            if state_of(path) == read.state or sha256(Path(path)) == read.digest:
                continue
            became = "changed"
        except (OSError, InputError):
            became = "changed" if os.path.exists(path) else "deleted or moved"
        yield (
            f"{path}: {became} while the run was going, after its values were computed: results "
            f"follow from the {read.size:,} bytes that were read, whose hash the manifest has; "
            "run again, when nothing writes to it, to have them of what is there"
        )


def _unused(cells: Mapping[int, Cell], records: Mapping[int, Record]) -> dict[str, list[str]]:
    """Return the columns of each file that no cell read, in the order of the file."""
    found: dict[str, list[str]] = {}
    for place, cell in cells.items():
        facts = records[place].facts
        if facts is not None:
            of_files = (cell.dataset_entry.path, facts.judgements), (cell.run_entry.path, facts.run)
            for path, own in of_files:
                before = found.get(path, own.unused)
                found[path] = [name for name in before if name in own.unused]
    return {path: names for path, names in found.items() if names}


def _jobs(run: _Run, pending: Mapping[int, Sequence[Metric]], workers: int) -> Iterator[Job]:
    """Yield the work in pieces of one dataset each, in the config's order.

    Of what is left each worker is given a part, so that pieces become smaller, and all workers
    end together.
    """

    def of(place: int) -> str:
        return run.cells[place].dataset_entry.model_dump_json()

    left = len(pending)
    for _, group in groupby(pending, key=of):
        members = deque(group)
        while members:
            size = min(MOST, max(1, left // (workers * PIECES))) if workers > 1 else len(members)
            piece = [members.popleft() for _ in range(min(size, len(members)))]
            left -= len(piece)
            lacking = {place: tuple(map(str, pending[place])) for place in piece}
            yield Job.of(run.config, run.cells, lacking)


def _finished(pool: Executor, jobs: Sequence[Job], run: _Run, workers: int) -> Iterator[Done]:
    """Yield what became of each cell as soon as it is there.

    A job whose worker dies goes to another. Where a pool of processes breaks, all of its jobs are
    lost: they go again one at a time, so that only the one that breaks it is given up.

    Raises
    ------
    HarnessError
        If the scheduler of a cluster is lost.
    """
    if isinstance(pool, InProcess):
        for job in jobs:
            yield from each(job)
        forget()
        return
    tries, careful = [0] * len(jobs), False
    queue, running = deque(range(len(jobs))), dict[Future[list[Done]], int]()
    task, check = getattr(pool, "task", work), getattr(pool, "check", None)
    died = (BrokenExecutor, CancelledError, *getattr(pool, "died", ()))
    while queue or running:
        while queue and not (careful and running):
            number = queue.popleft()
            tries[number] += 1
            running[pool.submit(task, jobs[number])] = number
        run.running = sum(len(jobs[number].metrics) for number in [*running.values()][:workers])
        finished, _ = wait(running, check and POLL, return_when=FIRST_COMPLETED)
        if check is not None and not finished:
            check()
        for future in finished:
            number = running.pop(future)
            try:
                yield from future.result()
            except HarnessError:
                raise
            except died as error:
                if check is not None:
                    check()  # a lost scheduler cancels every job
                careful = careful or isinstance(error, BrokenExecutor)
                if tries[number] < TRIES + (not careful):
                    queue.append(number)
                else:
                    yield from _failed(jobs[number], _lost(error))
            except Exception as error:  # of what gives out jobs and takes answers
                yield from _failed(jobs[number], HarnessError(internal_errors.problem(error)))


def _failed(job: Job, error: HarnessError) -> Iterator[Done]:
    for place in job.metrics:
        yield Done(place, error=error)


def _lost(error: Exception) -> HarnessError:
    what = f"its worker died {TRIES} times: {type(error).__name__}: {error}"
    fix = "a worker that is killed has often run out of memory: give fewer --jobs, or more memory"
    return ShortageError(Problem("", what, fix=fix))
