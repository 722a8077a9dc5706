"""Reads every file of some cells, one after the other, and looks at each and at all together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import pyarrow as pa

from .. import readers
from ..cells import columns, named_twice, shared_rows
from ..cells.again import BY_ROW, format_of
from ..cells.elsewhere import Elsewhere, Held
from ..cells.guarding import guarded_cell
from ..cells.lines import add_lines, places_in
from ..cells.parts import part_of
from ..cells.shared_rows import Marked
from ..config.cells import Cell
from ..core.policy import Policy
from ..core.tables import Qrels
from ..guard import equal_rows
from ..guard.causes import without_effects
from ..guard.facts import Facts, JudgementFacts, RunFacts
from ..guard.finding import Finding, in_order
from ..guard.fits import Rows
from ..guard.following import rows_of
from ..guard.predictions import is_odd
from ..guard.refused import OF_ROWS
from ..guard.registry import accepted
from ..guard.rules import of_dataset, of_rows, of_run
from ..guard.sweep import GuardedCell, of_sweep
from ..guard.watch import Watch
from ..readers import Source
from ..readers.hashed import HashedSource
from . import reading
from .progress import FileProgress, Progress
from .reading import Reading


@dataclass(frozen=True)
class Checked:
    """What was looked at, and what was found.

    Parameters
    ----------
    findings : tuple of Finding
        Errors first.
    cells : tuple of Cell
    rows : int
        Of all runs that could be read.
    alone : int
        Runs that were not held against their dataset, as that could not be read.
    """

    findings: tuple[Finding, ...]
    cells: tuple[Cell, ...]
    rows: int = 0
    alone: int = 0

    def count(self, severity: str) -> int:
        """Return how many findings are of a severity."""
        return sum(one.severity == severity for one in self.findings)


@dataclass(eq=False)
class _Dataset:
    """What is kept of a dataset until all are read."""

    cell: Cell
    rows: Rows | None
    facts: JudgementFacts
    digest: str
    qids: pa.Array

    def held(self) -> Held:
        """Return it as predictions of other datasets are held against it."""
        n_rows = -1 if self.rows is None else self.rows.grades.size
        return Held(self.cell.dataset, self.cell.dataset_entry.path, n_rows, lambda: self.rows)


@dataclass(eq=False)
class _Sweep:
    """What is kept of all cells."""

    pooled: Sequence[str]
    reading: Reading = field(default_factory=Reading)
    datasets: dict[str, _Dataset] = field(default_factory=dict)
    rows: list[shared_rows.Rows] = field(default_factory=list)
    odd: list[tuple[Cell, RunFacts | None]] = field(default_factory=list)
    strangers: list[Cell] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    guarded: list[GuardedCell] = field(default_factory=list)
    n_rows: int = 0
    alone: int = 0


def check_cells(
    cells: Sequence[Cell], policy: Policy, *, fractions: bool = False,
    known: Sequence[Finding] = (), accept: Sequence[str] = (), pooled: Sequence[str] = (),
) -> Checked:  # fmt: skip
    """Read every file of these cells, and return all that is found.

    Parameters
    ----------
    cells : sequence of Cell
        Those of one dataset side by side.
    policy : Policy
        Under which runs are aligned.
    fractions : bool
        Whether grades may be fractions.
    known : sequence of Finding
        What was found before.
    accept : sequence of str
        Rules whose findings are as they should be: they become notes.
    pooled : sequence of str
        Placeholders whose values are parts of one dataset, beside those called so.
    """
    sweep = _Sweep(pooled)
    groups = groupby(cells, key=lambda cell: (cell.dataset, cell.dataset_entry))
    datasets = [list(some) for _, some in groups]
    paths = [some[0].dataset_entry.path for some in datasets]
    with Progress([*paths, *(cell.run_entry.path for cell in cells)]) as progress:
        for some in datasets:
            with progress.file(some[0].dataset_entry.path) as reader:
                qrels = _read_dataset(some[0], fractions, sweep, reader)
            for cell in some:
                with progress.file(cell.run_entry.path) as reader:
                    _read_run(cell, qrels, policy, sweep, reader)
        _look_elsewhere(sweep)
        _other_topics(sweep)
        for later, earlier in shared_rows.candidates(sweep.rows):
            found = shared_rows.findings(sweep.rows[later], sweep.rows[earlier])
            sweep.reading.add(*found)
        sweep.reading.add(*named_twice.of_cells(cells))
        sweep.reading.add(*of_sweep(sweep.guarded, sweep.failed, places_in(cells)))
    every = equal_rows.said_once(sweep.reading.findings, sweep.guarded)
    causes = without_effects([*known, *every], accept)
    all_found = in_order(accepted(causes, accept))
    return Checked(tuple(all_found), tuple(cells), sweep.n_rows, sweep.alone)


def _read_dataset(cell: Cell, fractions: bool, sweep: _Sweep, reader: FileProgress) -> Qrels | None:
    entry = cell.dataset_entry
    qrels, source = reading.dataset(
        entry, cell.dataset, fractions, sweep.reading, follow=reader.follow
    )
    if qrels is None or source is None:
        return None
    sweep.reading.end(source)
    facts = JudgementFacts.of(qrels)
    add_lines(facts.first, source, entry, tuple(facts.first))
    sweep.datasets[cell.dataset] = _Dataset(
        cell, rows_of(qrels), facts, source.sha256(), qrels.qids
    )
    sweep.reading.add(*of_dataset(facts, reading.shown(entry.path)))
    if source.row_marks is not None:
        part = part_of(cell, sweep.pooled)
        about = Marked(entry.path, cell.dataset, source.sha256(), part, source.row_marks)
        rows = shared_rows.Rows.of(about, qrels)
        sweep.rows += [] if rows is None else [rows]
    return qrels


def _read_run(
    cell: Cell, qrels: Qrels | None, policy: Policy, sweep: _Sweep, reader: FileProgress
) -> None:
    entry, into = cell.run_entry, sweep.reading
    form = format_of(entry.path, entry.format, "run")
    follows = form in BY_ROW
    sweep.alone += qrels is None
    if qrels is None and follows:
        with into.of(entry.path):
            Source(entry.path)
        return

    source = None
    with into.of(entry.path, OF_ROWS if follows else {}):
        source = reader.follow(HashedSource(entry.path))
        source.again = True
        options: dict[str, Any] = {"name": cell.run, **entry.options()}
        if qrels is None:
            sweep.n_rows += sum(part.n_rows for part in readers.stream_run(source, **options))
        else:
            run = _align(qrels, source, policy, options)
            sweep.n_rows += run.rows
            run = columns.with_ranks(run, source) if form == "trec" else run
            facts = Facts(sweep.datasets[cell.dataset].facts, run)
            place = reading.shown(entry.path)
            rules = {"upside-down", "unrelated", *(one.rule for one in of_run(facts, place))}
            add_lines(run.first, source, entry, rules)
            into.add(*of_rows(facts, reading.shown(cell.dataset_entry.path)))
            into.add(*of_run(facts, place, cell.dataset))
            sweep.odd += [(cell, run)] if is_odd(run) else []
            held = sweep.datasets[cell.dataset]
            digests = {cell.dataset_entry.path: held.digest, entry.path: source.sha256()}
            sweep.guarded.append(guarded_cell(cell, facts, qrels.qids, digests, sweep.pooled))
    if source is None:
        return
    into.end(source)
    if form == "trec" and into.refused == {"no-common-query"}:
        found = columns.swapped(entry.path, qrels)
        into.add(*([] if found is None else [found]))
        respelled = columns.respelled_qids(entry.path, qrels) if found is None else None
        if respelled is not None:
            into.replace("no-common-query", respelled)
        elif found is None:
            sweep.strangers.append(cell)
    elif form == "trec" and "duplicates" in into.refused:
        blanks = columns.blank_docnos(entry.path)
        if blanks is not None:
            into.replace("duplicates", blanks)
    elif "row-count" in into.refused:
        sweep.failed[entry.path] = source.sha256()
        sweep.odd += [] if "not-finite" in into.refused else [(cell, None)]


def _align(qrels: Qrels, source: Source, policy: Policy, options: Mapping[str, Any]) -> RunFacts:
    facts = Watch(qrels, policy)
    for aligned in readers.align_run(qrels, source, policy, watch=facts.run, **options):
        facts.aligned(aligned)
    return facts.facts()


def _look_elsewhere(sweep: _Sweep) -> None:
    """Hold predictions that do not fit their rows against those of the other datasets."""
    elsewhere = Elsewhere(one.held() for one in sweep.datasets.values())
    odd = [(cell, run) for cell, run in sweep.odd if run is not None]
    sweep.reading.add(*(found for _, found in elsewhere.odd(odd, sweep.guarded)))
    for cell, run in sweep.odd:
        better = elsewhere.count(cell) if run is None else None
        if better is not None:
            sweep.reading.replace("row-count", better)


def _other_topics(sweep: _Sweep) -> None:
    """Look for the dataset whose queries runs answer that share none with their own."""
    for cell in sweep.strangers:
        path = cell.dataset_entry.path
        known = {one.cell.dataset_entry.path: one.qids for one in sweep.datasets.values()}
        others = {other: qids for other, qids in known.items() if other != path}
        better = columns.other_topics(cell.run_entry.path, cell.dataset, others)
        if better is not None:
            sweep.reading.replace("no-common-query", better)
