"""All cells of a config: looked up, evaluated where they are not known, and kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
from tqdm import tqdm

from ..config import Config
from ..config.cells import Cell
from ..core.leaderboard import Entry
from ..core.metric import Metric
from ..crosscheck import Audit
from ..errors import HarnessError, Problem, ShortageError
from ..guard.finding import Finding
from . import executors, remote
from .as_read import Input, has_changed, if_readable, state_if_there
from .cache import Cache
from .executors import InProcess
from .failures import Failure
from .guarding import guard
from .key import cell_key
from .naming import Naming
from .parts import PooledQueries
from .record import Record
from .work import Done, Job, each, forget, work

PIECES = 4
"""What is left is enough for so many jobs of each process, so that none waits at the end."""
MOST = 16
"""Cells of a job: those that are lost where its worker dies, or all is stopped."""
TRIES = 3
"""How often a job is given out whose worker dies."""


@dataclass(eq=False)
class Evaluated:
    """What became of all cells.

    Parameters
    ----------
    entries, audits, headers, cells : list
        Of those that were evaluated, in the config's order; headers as in
        :class:`~harness.cells.record.Record`.
    warnings : list of str
        What was said, each once.
    failures : list of Failure
    inputs : dict of str to Input
        Every file read, by path; of cells that failed, those that can be.
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
        run.say(bar, 0)
        run.look_at(pending)
        pool = pool or InProcess()
        workers = 1 if isinstance(pool, InProcess) else getattr(pool, "workers", jobs)
        job_list = list(_jobs(run, pending, workers))
        finished = () if run.pooled.shared else _finished(pool, job_list, run, workers)
        for done in finished:
            run.take(done)
            bar.update()
            run.say(bar, done.rows)
            if run.pooled.shared:  # the guard refuses it, whatever the others give
                break
    cache.save()
    return run.evaluated()


class _Run:
    """The state of one call: which records there are, which cells failed."""

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
        beside = {path for cell in cells for path in self.naming.beside(cell)}
        self.before = {path: state_if_there(path) for path in beside}

    def lacking(self, place: int) -> tuple[Metric, ...]:
        """Return the metrics of a cell that are not known; looks them up at first."""
        cell = self.cells[place]
        own, others = self.naming.files(cell), self.naming.others(cell)
        found = {path: self.cache.known(path) for path in (*own, *others)}
        inputs = {path: one for path, one in found.items() if one is not None}
        if not {*own} <= {*inputs}:
            return self.metrics
        known = _digests(inputs)
        record = self.cache.get(cell_key(self.naming.follows_from(cell, known)))
        if record is None:
            return self.metrics
        self.keep(place, record)
        self.inputs |= inputs
        self.names[place] = self.naming.names(cell, known)
        return record.lacking(self.metrics, self.names[place])

    def look_at(self, places: Iterable[int]) -> None:
        """Take note of how the files of cells are before they are evaluated."""
        paths = {path for place in places for path in self.naming.files(self.cells[place])}
        self.before = {**{path: state_if_there(path) for path in paths}, **self.before}

    def take(self, done: Done) -> None:
        """Keep what became of a cell."""
        remote.check(done, self.metrics)
        cell = self.cells[done.place]
        if done.record is None:
            error = self._changed_since(cell) or done.error or HarnessError("unknown")
            self.failed[done.place] = error
            self.records.pop(done.place, None)
            return
        changed = self._changed(cell, done)
        if changed is not None:
            self.failed[done.place] = changed
            self.records.pop(done.place, None)
            return
        for name, read in done.inputs.items():
            self.inputs.setdefault(name, read)
            self.cache.remember(name, read.state, read.digest)
        paths = (*self.naming.files(cell), *self.naming.others(cell))
        for path in paths:
            if path not in self.inputs:
                self.inputs[path] = self.cache.hashed(path)
        inputs = {path: self.inputs[path] for path in paths}
        self.names[done.place] = names = self.naming.names(cell, _digests(inputs))
        known, record = self.records.get(done.place), done.record.renamed(names)
        record = record if known is None else known.joined(record)
        self.keep(done.place, record)
        self.rows += done.rows
        said = self.naming.follows_from(cell, _digests(inputs))
        files = [Path(path).name for path in self.naming.files(cell)]
        sizes = sorted({read.size for read in inputs.values()})
        about = {
            **said, "files": files, "sizes": sizes, "dataset": cell.dataset, "run": cell.run
        }  # fmt: skip
        self.cache.put(cell_key(said), replace(record, about=about))

    def _changed(self, cell: Cell, done: Done) -> HarnessError | None:
        """Return the error of a cell one of whose files changed since others were evaluated."""
        for path in (*self.naming.files(cell), *self.naming.others(cell)):
            read = done.inputs.get(path)
            if read is not None and self.inputs.get(path, read).digest == read.digest:
                continue
            if read is None and state_if_there(path) == self.before[path]:
                continue
            return has_changed(path)
        return None

    def _changed_since(self, cell: Cell) -> HarnessError | None:
        """Return the error of a cell one of whose files is not as it was when others read it."""
        for path in self.naming.files(cell):
            state, read = state_if_there(path), self.inputs.get(path)
            if read is not None and state and state != read.state:
                return has_changed(path)
        return None

    def keep(self, place: int, record: Record) -> None:
        """Keep a record in memory; the qids of a dataset once."""
        path = self.cells[place].dataset_entry.path
        qids = self.qids.setdefault(path, record.qids)
        same = qids is not record.qids and qids.equals(record.qids)
        if record.facts is not None:
            self.pooled.add(self.cells[place], qids)
        self.records[place] = replace(record, qids=qids if same else record.qids, about={})

    def say(self, bar: Any, rows: int) -> None:
        """Show how it goes on."""
        parts = {"running": f"{self.running}", "from cache": f"{self.cached}"}
        parts["failed"] = f"{len(self.failed)}"
        elapsed = bar.format_dict["elapsed"]
        if rows and elapsed:
            parts["rows/s"] = f"{self.rows / elapsed:,.0f}"
        bar.set_postfix({name: n for name, n in parts.items() if n != "0"}, refresh=False)

    def evaluated(self) -> Evaluated:
        """Return everything in the config's order; no record is there any more afterwards."""
        base = self.config.base
        files = [str(base / name) for name in self.config.plugins if name.endswith(".py")]
        hashed = {path: self.cache.hashed(path) for path in files if Path(path).is_file()}
        there = {place: self.cells[place] for place in sorted(self.records)}
        failed = {place: (self.cells[place], error) for place, error in self.failed.items()}
        inputs = {**self.inputs, **self._of_failed()}
        guarded = guard(self.config, there, self.records, _digests(inputs), failed)
        self.failed |= guarded.failed
        found = Evaluated(
            inputs={**inputs, **hashed},
            cached=self.cached,
            findings=guarded.findings,
            printed=guarded.printed,
        )
        for place, cell in enumerate(self.cells):
            if place in self.failed:
                found.failures.append(Failure(cell, self.failed[place]))
                continue
            record = self.records.pop(place)  # the entry has the values now
            entry = record.entry(
                self.metrics, self.policy, run=cell.run, dataset=cell.dataset,
                columns=cell.columns, pattern=cell.dataset_key if cell.of_dataset else "",
                known_as=self.names[place],
            )  # fmt: skip
            found.entries.append(entry)
            found.audits.append(record.audit)
            found.headers.append(record.header)
            found.cells.append(cell)
            found.warnings += guarded.said[place]
        found.warnings = list(dict.fromkeys(found.warnings))
        return found

    def _of_failed(self) -> dict[str, Input]:
        """Return the files of cells that failed which can be read, and are as they were before."""
        paths = {path for place in self.failed for path in self.naming.files(self.cells[place])}
        found = {
            path: if_readable(path, self.before[path], self.cache.hashed)
            for path in paths - self.inputs.keys()
        }
        return {path: read for path, read in found.items() if read is not None}


def _digests(inputs: Mapping[str, Input]) -> dict[str, str]:
    return {path: read.digest for path, read in inputs.items()}


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
    """
    if isinstance(pool, InProcess):
        for job in jobs:
            yield from each(job)
        forget()
        return
    tries, careful = [0] * len(jobs), False
    queue, running = deque(range(len(jobs))), dict[Future[list[Done]], int]()
    task = getattr(pool, "task", work)
    while queue or running:
        while queue and not (careful and running):
            number = queue.popleft()
            tries[number] += 1
            running[pool.submit(task, jobs[number])] = number
        run.running = sum(len(jobs[number].metrics) for number in [*running.values()][:workers])
        finished, _ = wait(running, executors.PATIENCE, return_when=FIRST_COMPLETED)
        if not finished and hasattr(pool, "check"):
            pool.check()
        for future in finished:
            number = running.pop(future)
            try:
                yield from future.result()
            except HarnessError:
                raise
            except Exception as error:  # whatever a worker dies of
                careful = careful or isinstance(error, BrokenExecutor)
                if tries[number] < TRIES + (not careful):
                    queue.append(number)
                else:
                    yield from _lost(jobs[number], error)


def _lost(job: Job, error: Exception) -> Iterator[Done]:
    what = f"its worker died {TRIES} times: {type(error).__name__}: {error}"
    fix = "a worker that is killed has often run out of memory: give fewer --jobs, or more memory"
    for place in job.metrics:
        yield Done(place, error=ShortageError(Problem("", what, fix=fix)))
