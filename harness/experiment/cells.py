"""All cells of a config: looked up in the cache, evaluated if they are not there, and kept."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from tqdm import tqdm

from ..config.cells import Cell
from ..config.model import Config
from ..core.leaderboard import Entry
from ..core.metric import Metric
from ..errors import Finding, HarnessError, InputError
from ..guard.query_groups import Grouping
from ..guard.query_groups import load_all as load_groups
from ..guard.registry import accepted
from ..guard.sweep import Seen, accepted_rules, guard
from .cache import Cache, Input, Keys, Record, hash_of, with_names
from .crosscheck import Audit
from .failures import Failure
from .groups import attach
from .work import ChangedInputError, Done, Job, evaluated

PIECES = 4
"""Jobs for each process that the remaining cells are split into, so that all end together."""
MOST = 16
"""Cells of a job at most: those that are lost if its worker dies."""


class EvaluatedCell(NamedTuple):
    """A cell with its entry, cross-check, and the ir_metadata at the head of the run's file."""

    cell: Cell
    entry: Entry
    audit: Audit
    header: Mapping[str, Any] | None


@dataclass(eq=False)
class Evaluated:
    """Results of all cells; lists are in the config's order."""

    cells: list[EvaluatedCell] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """Of reading and evaluating, each once."""
    failures: list[Failure] = field(default_factory=list)
    inputs: dict[str, Input] = field(default_factory=dict)
    """Every file read, by path; of cells that failed, those that can be."""
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    """Columns of each table that were read, by what they hold."""
    unused: dict[str, list[str]] = field(default_factory=dict)
    """Columns of each file that no cell read; only files with such columns."""
    cached: int = 0
    """Cells whose values were all in the cache."""
    findings: list[Finding] = field(default_factory=list)
    """Of the guard, in all cells."""
    printed: list[str] = field(default_factory=list)
    """The warnings and findings to print, each once."""

    @property
    def entries(self) -> list[Entry]:
        """The entries of all evaluated cells."""
        return [one.entry for one in self.cells]

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of every file read, by path."""
        return _digests(self.inputs)


def evaluate_all(
    config: Config, cells: Sequence[Cell], cache: Cache, pool: Executor | None = None
) -> Evaluated:
    """Evaluate the cells of a config, in this process or by a pool; the results are the same.

    Records are taken from the cache and kept in it as soon as they are computed. VerificationError
    if the cross-check finds a difference; InputError if the guard finds an error that is not one
    run's alone.
    """
    has_groups = any(cell.dataset_entry.groups for cell in cells)
    groups = load_groups(cells) if has_groups else {}
    run = _Run(config, tuple(cells), cache)
    missing = {place: run.look_up(place) for place in range(len(cells))}
    pending = {place: metrics for place, metrics in missing.items() if metrics}
    run.cached = len(cells) - len(pending)
    jobs = list(_jobs(run, pending, getattr(pool, "workers", 1)))
    with tqdm(total=len(cells), initial=run.cached, unit="cell", disable=None) as bar:
        for done in evaluated(pool, jobs):
            run.take(done)
            bar.update()
            bar.set_postfix({"failed": len(run.failed)} if run.failed else {}, refresh=False)
    cache.save()
    return _grouped(config, run.evaluated(), groups) if groups else run.evaluated()


def _grouped(config: Config, evaluated: Evaluated, groups: Mapping[str, Grouping]) -> Evaluated:
    """Return what was evaluated with the groups of its queries."""
    entries, findings = attach(evaluated.entries, groups)
    findings = accepted(findings, config.guard.accept)
    printed = [one.message for one in findings if one.severity == "warning"]
    cells = [one._replace(entry=e) for one, e in zip(evaluated.cells, entries, strict=True)]
    return replace(
        evaluated, cells=cells, findings=[*evaluated.findings, *findings],
        printed=[*evaluated.printed, *printed],
    )  # fmt: skip


class _Run:
    """The state of one call: records and failures of its cells by place, hashes of files read."""

    def __init__(self, config: Config, cells: tuple[Cell, ...], cache: Cache) -> None:
        self.config, self.cells, self.cache = config, cells, cache
        self.metrics, self.policy = config.parsed_metrics(), config.to_policy()
        self.keys = Keys(config, cells)
        self.records: dict[int, Record] = {}
        self.failed: dict[int, HarnessError] = {}
        self.inputs: dict[str, Input] = {}
        self.qids: dict[str, pa.Array] = {}
        self.names: dict[int, dict[str, str]] = {}
        self.cached = 0

    def look_up(self, place: int) -> tuple[Metric, ...]:
        """Look a cell up in the cache, and return the metrics that are still to be computed."""
        cell = self.cells[place]
        paths = (*self.keys.files(cell), *self.keys.others(cell))
        inputs = {path: read for path in paths if (read := self.cache.known(path)) is not None}
        if not inputs.keys() >= {*self.keys.files(cell)}:
            return self.metrics
        digests = _digests(inputs)
        record = self.cache.get(hash_of(self.keys.parts(cell, digests)))
        if record is None:
            return self.metrics
        self.keep(place, record)
        self.inputs |= inputs
        self.names[place] = self.keys.names(cell, digests)
        return record.missing(self.metrics, self.names[place])

    def take(self, done: Done) -> None:
        """Keep a cell's record in memory and in the cache, or its error."""
        place, error = done.place, done.error
        for path, read in done.inputs.items():
            if self.inputs.setdefault(path, read).digest != read.digest:
                error = ChangedInputError(path)
        if done.record is None or error is not None:
            self.failed[place] = error or HarnessError("unknown")
            self.records.pop(place, None)
            return
        for path, read in done.inputs.items():
            self.cache.remember(path, read)
        cell, digests = self.cells[place], _digests(self.inputs)
        self.names[place] = self.keys.names(cell, digests)
        record = done.record.renamed(self.names[place])
        record = self.records[place].joined(record) if place in self.records else record
        self.keep(place, record)
        parts = self.keys.parts(cell, digests)
        files = [Path(path).name for path in self.keys.files(cell)]
        about = {**parts, "files": files, "dataset": cell.dataset, "run": cell.run}
        self.cache.put(hash_of(parts), replace(record, about=about))

    def keep(self, place: int, record: Record) -> None:
        """Keep a record in memory; the qids of a dataset once."""
        qids = self.qids.setdefault(self.cells[place].dataset_entry.path, record.qids)
        self.records[place] = replace(record, qids=qids) if qids.equals(record.qids) else record

    def evaluated(self) -> Evaluated:
        """Return everything in the config's order, after the guard has looked at it."""
        base = self.config.base
        plugins = [str(base / name) for name in self.config.plugins if name.endswith(".py")]
        of_failed = [path for place in self.failed for path in self.keys.files(self.cells[place])]
        groups = [one.dataset_entry.groups for one in self.cells]
        tables = dict.fromkeys(one.path for one in groups if one and one.path)
        for path in (*of_failed, *plugins, *tables):
            if path not in self.inputs and Path(path).is_file():
                with contextlib.suppress(InputError):
                    self.inputs[path] = self.cache.hashed(path)
        observed = {
            place: Seen(record.facts, with_names(record.warnings, self.cells[place]), record.qids)
            for place, record in sorted(self.records.items())
        }
        cells = {place: self.cells[place] for place in observed}
        failed = {place: (self.cells[place], error) for place, error in self.failed.items()}
        ties = self.config.is_given("policy", "ties")
        accept = accepted_rules(self.config.guard.accept, self.policy, self.config.convention, ties)
        guarded = guard(
            cells, observed, _digests(self.inputs), failed,
            accept=accept, pooled=self.config.summary.pool,
        )  # fmt: skip
        self.failed |= guarded.failed
        columns, unused = _columns(cells, self.records)
        found = Evaluated(
            inputs=self.inputs,
            columns=columns,
            unused=unused,
            cached=self.cached,
            findings=guarded.findings,
            printed=guarded.printed,
        )
        for place, cell in enumerate(self.cells):
            if place in self.failed:
                found.failures.append(Failure(cell, self.failed[place]))
                continue
            record = self.records.pop(place)  # the entry has the values now
            entry = record.entry(self.metrics, self.policy, cell, self.names[place])
            entry = replace(entry, warned=guarded.marks.get(cell.run_entry.path, ()))
            found.cells.append(EvaluatedCell(cell, entry, record.audit, record.header))
            found.warnings += guarded.texts[place]
        found.warnings = list(dict.fromkeys(found.warnings))
        return found


def _digests(inputs: Mapping[str, Input]) -> dict[str, str]:
    return {path: read.digest for path, read in inputs.items()}


def _columns(
    cells: Mapping[int, Cell], records: Mapping[int, Record]
) -> tuple[dict[str, dict[str, str]], dict[str, list[str]]]:
    """Return the columns of each table that were read, by content, and those that no cell read."""
    read: dict[str, dict[str, str]] = {}
    unused: dict[str, list[str]] = {}
    for place, cell in cells.items():
        if (facts := records[place].facts) is None:
            continue
        for path, own in (
            (cell.dataset_entry.path, facts.judgements), (cell.run_entry.path, facts.run),
        ):  # fmt: skip
            read[path] = own.columns
            unused[path] = [name for name in unused.get(path, own.unused) if name in own.unused]
    return read, {path: names for path, names in unused.items() if names}


def _jobs(run: _Run, pending: Mapping[int, Sequence[Metric]], workers: int) -> Iterator[Job]:
    """Yield the work in pieces of one dataset each, in the config's order.

    Pieces become smaller towards the end, so that all workers end together.
    """
    left = len(pending)
    entries = {place: run.cells[place].dataset_entry.model_dump_json() for place in pending}
    for _, group in groupby(pending, key=entries.__getitem__):
        members = deque(group)
        while members:
            size = min(MOST, max(1, left // (workers * PIECES))) if workers > 1 else len(members)
            piece = [members.popleft() for _ in range(min(size, len(members)))]
            left -= len(piece)
            yield Job.of(
                run.config, run.cells,
                {place: tuple(map(str, pending[place])) for place in piece},
            )  # fmt: skip
