"""All cells of a config: looked up in the cache, evaluated if they are not there, and kept.

Those that could not be evaluated are reported together if they have one cause.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from ..config.cells import Cell
from ..config.model import Config
from ..core.entries import Entry, Failed, grouped_by
from ..errors import (
    AlignmentError,
    Finding,
    HarnessError,
    InputError,
    Problem,
    ShortageError,
    and_more,
)
from ..guard.datasets import Grouping, attach
from ..guard.datasets import load_all as load_groups
from ..guard.findings import accepted, refused
from ..guard.sweep import GuardError, SeenCell, accepted_rules, guard
from .cache import Cache, Input, Keys, Record, hash_of, with_names
from .crosscheck import Audit
from .workers import (
    ChangedInputError,
    Cluster,
    Done,
    Job,
    Processes,
    changed_input,
    each,
    evaluated_jobs,
    last_dataset,
)

PIECES = 4
"""Jobs for each process at least, so that all end together."""
MOST = 8
"""Cells of a job at most: those that are lost if its worker dies."""


class EvaluatedCell(NamedTuple):
    """A cell with its entry, cross-check, and the ir_metadata at the head of the run's file."""

    cell: Cell
    entry: Entry
    audit: Audit
    header: Mapping[str, Any] | None


@dataclass(frozen=True)
class Failure:
    """A cell that could not be evaluated."""

    cell: Cell
    error: HarnessError

    @property
    def name(self) -> str:
        """What the cell is called in messages."""
        return f"{self.cell.run} on {self.cell.dataset}"

    def as_row(self, placed: Callable[[str], str]) -> Failed:
        """Return its row in a leaderboard; `placed` writes paths as the manifest does."""
        cell, error = self.cell, placed(str(self.error))
        pattern = cell.dataset_key if cell.of_dataset else ""
        return Failed(cell.dataset, cell.run, cell.columns, error, pattern, self.brief)

    @property
    def problems(self) -> list[Problem]:
        """What is wrong, as ``harness check`` has it: one problem for each rule of a file."""
        error, own = self.error, self.error.problems
        of_files = isinstance(error, (InputError, AlignmentError))
        if not of_files or isinstance(error, (ShortageError, ChangedInputError, GuardError)):
            return own
        return [
            Problem(one.place, f"{one.what}{one.shown} [{one.rule}]", fix=one.fix, rule=one.rule)
            for one in refused("", error)
        ]

    @property
    def brief(self) -> str:
        """The place and the first line of what is wrong, without advice."""
        one = self.problems[0]
        return str(Problem(one.where, one.what.partition("\n")[0]))


@dataclass(eq=False)
class Evaluated:
    """Results of all cells; lists are in the config's order."""

    cells: list[EvaluatedCell]
    warnings: list[str]
    """Warnings of reading and evaluating, each once."""
    failures: list[Failure]
    inputs: dict[str, Input]
    """Every file read, by path; of cells that failed, those that can be."""
    columns: dict[str, dict[str, str]]
    """Columns of each table that were read, by what they hold."""
    unused: dict[str, list[str]]
    """Columns of each file that no cell read; only files with such columns."""
    cached: int
    """Cells whose values were all in the cache."""
    findings: list[Finding]
    """Findings of the guard in all cells."""
    printed: list[str]
    """The warnings and findings to print, each once."""

    @property
    def entries(self) -> list[Entry]:
        """The entries of all evaluated cells."""
        return [one.entry for one in self.cells]

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of every file read, by path."""
        return _digests(self.inputs)


def executor(
    jobs: int = 1, scheduler: str | None = None
) -> contextlib.AbstractContextManager[Executor | None]:
    """Return the executor for a number of processes or a Dask scheduler; None is this process."""
    if scheduler is None and jobs == 1:
        return contextlib.nullcontext()
    return Processes(jobs) if scheduler is None else Cluster(scheduler)


def _work(pool: Executor | None, jobs: Iterable[Job]) -> Iterator[Done]:
    """Yield what became of each cell of some jobs, as soon as it is known."""
    if pool is not None:
        yield from evaluated_jobs(pool, [*jobs])
        return
    for job in jobs:
        yield from each(job)
    last_dataset.clear()


def evaluate_all(
    config: Config, cells: Sequence[Cell], cache: Cache, pool: Executor | None = None
) -> Evaluated:
    """Evaluate the cells of a config, in this process or by a pool; the results are the same.

    Records are taken from the cache and kept in it as soon as they are computed. VerificationError
    if the cross-check finds a difference; InputError if the guard finds an error that is not one
    run's alone.
    """
    groups = load_groups(cells) if any(one.dataset_entry.groups for one in cells) else {}
    run = _Run(config, tuple(cells), cache)
    pending = [place for place in range(len(cells)) if not run.look_up(place)]
    run.cached = len(cells) - len(pending)
    jobs = _jobs(run, pending, getattr(pool, "workers", 1))
    with tqdm(total=len(cells), initial=run.cached, unit="cell", disable=None) as bar:
        for done in _work(pool, jobs):
            run.take(done)
            bar.update()
            bar.set_postfix({"failed": len(run.failed)} if run.failed else {}, refresh=False)
    cache.save()
    return run.evaluated(groups)


class _Run:
    """The state of one call: records and failures of its cells by place, hashes of files read."""

    def __init__(self, config: Config, cells: tuple[Cell, ...], cache: Cache) -> None:
        self.config, self.cells, self.cache = config, cells, cache
        self.metrics, self.policy = config.parsed_metrics(), config.to_policy()
        self.keys = Keys(config, cells)
        self.records: dict[int, Record] = {}
        self.failed: dict[int, HarnessError] = {}
        self.inputs: dict[str, Input] = {}
        self.cached = 0

    def look_up(self, place: int) -> bool:
        """Return whether a cell is in the cache; its record is kept in memory then."""
        paths = self.keys.paths(self.cells[place])
        inputs = {path: read for path in paths if (read := self.cache.known(path)) is not None}
        if len(inputs) < len({*paths}):
            return False
        record = self.cache.get(hash_of(self.keys.parts(self.cells[place], _digests(inputs))))
        if record is None:
            return False
        self.records[place] = record
        self.inputs |= inputs
        return True

    def take(self, done: Done) -> None:
        """Keep a cell's record in memory and in the cache, or its error."""
        place, error = done.place, done.error
        for path, read in done.inputs.items():
            if self.inputs.setdefault(path, read).digest != read.digest:
                error = changed_input(path)
        if done.record is None or error is not None:
            self.failed[place] = error or HarnessError("unknown")
            return
        for path, read in done.inputs.items():
            self.cache.remember(path, read)
        cell, record = self.cells[place], done.record
        self.records[place] = record
        parts = self.keys.parts(cell, _digests(self.inputs))
        files = [Path(path).name for path in self.keys.files(cell)]
        about = {**parts, "files": files, "dataset": cell.dataset, "run": cell.run}
        notes = replace(record.notes, about=about)
        self.cache.put(hash_of(parts), replace(record, notes=notes))

    def evaluated(self, groups: Mapping[str, Grouping]) -> Evaluated:
        """Return everything in the config's order, after the guard has looked at it.

        `groups` say what groups the queries of datasets.
        """
        base = self.config.base
        plugins = [str(base / name) for name in self.config.plugins if name.endswith(".py")]
        of_failed = [path for place in self.failed for path in self.keys.files(self.cells[place])]
        by = [one.dataset_entry.groups for one in self.cells]
        tables = dict.fromkeys(one.path for one in by if one and one.path)
        for path in (*of_failed, *plugins, *tables):
            if path not in self.inputs and Path(path).is_file():
                with contextlib.suppress(InputError):
                    self.inputs[path] = self.cache.hashed(path)
        observed = {}
        for place, record in sorted(self.records.items()):
            warned = with_names(record.notes.warnings, self.cells[place])
            observed[place] = SeenCell(self.cells[place], record.notes.facts, warned, record.qids)
        cells = {place: self.cells[place] for place in observed}
        failed = {place: (self.cells[place], error) for place, error in self.failed.items()}
        ties = self.config.is_given("policy", "ties")
        accept = accepted_rules(self.config.guard.accept, self.policy, self.config.convention, ties)
        guarded = guard(
            observed, _digests(self.inputs), failed,
            accept=accept, pooled=self.config.summary.pool,
        )  # fmt: skip
        self.failed |= guarded.failed
        columns, unused = _columns(cells, self.records)
        findings, printed = list(guarded.findings), list(guarded.printed)
        kept, failures = list[EvaluatedCell](), list[Failure]()
        for place, cell in enumerate(self.cells):
            if place in self.failed:
                failures.append(Failure(cell, self.failed[place]))
                continue
            record = self.records.pop(place)  # the entry has the values now
            marks = guarded.marks.get(place, ())
            entry = replace(record.entry(self.metrics, self.policy, cell), warned=marks)
            kept.append(EvaluatedCell(cell, entry, record.notes.audit, record.notes.header))
        if groups:
            entries, of_groups = attach([one.entry for one in kept], groups)
            kept = [one._replace(entry=entry) for one, entry in zip(kept, entries, strict=True)]
            of_groups = accepted(of_groups, self.config.guard.accept)
            findings += of_groups
            printed += [one.message for one in of_groups if one.severity == "warning"]
        return Evaluated(
            kept, guarded.warnings, failures, self.inputs, columns, unused, self.cached, findings,
            printed,
        )  # fmt: skip


def _digests(inputs: Mapping[str, Input]) -> dict[str, str]:
    return {path: read.digest for path, read in inputs.items()}


def _columns(
    cells: Mapping[int, Cell], records: Mapping[int, Record]
) -> tuple[dict[str, dict[str, str]], dict[str, list[str]]]:
    """Return the columns of each table that were read, by content, and those that no cell read."""
    read: dict[str, dict[str, str]] = {}
    unused: dict[str, list[str]] = {}
    for place, cell in cells.items():
        if (facts := records[place].notes.facts) is None:
            continue
        for path, own in (
            (cell.dataset_entry.path, facts.judgements), (cell.run_entry.path, facts.run),
        ):  # fmt: skip
            read[path] = own.columns
            unused[path] = [name for name in unused.get(path, own.unused) if name in own.unused]
    return read, {path: names for path, names in unused.items() if names}


def _jobs(run: _Run, pending: Sequence[int], workers: int) -> Iterator[Job]:
    """Yield the work in pieces of one dataset each, in the config's order."""
    size = min(MOST, max(1, len(pending) // (workers * PIECES))) if workers > 1 else len(pending)
    entries = {place: run.cells[place].dataset_entry.model_dump_json() for place in pending}
    for _, group in groupby(pending, key=entries.__getitem__):
        places = [*group]
        for start in range(0, len(places), size):
            yield Job.of(run.config, run.cells, places[start : start + size])


def as_one(failures: Sequence[Failure]) -> HarnessError:
    """Return the error of several cells: each cause once, with the first that has it."""
    found, total = list[Problem](), 0
    for some in grouped_by(failures, lambda one: str(one.error)).values():
        problems, error = some[0].problems, some[0].error
        total += max(len(problems), error.total if problems is error.problems else 0)
        cells = " ".join([some[0].name, *and_more(len(some) - 1)])
        found += [
            replace(one, what=f"{one.what} ({cells})") if one.where else replace(one, where=cells)
            for one in problems
        ]
    at_least = any(one.error.at_least for one in failures)
    return type(failures[0].error)(found, total=total, at_least=at_least)
