"""Systems: the folds and seeds of one run on one dataset, taken together."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from ..errors import AlignmentError, Problem, first_of
from .arrow import call, encode, unique
from .cell_key import CellKey, Columns, pairs
from .entries import (
    Chosen,
    Entry,
    Failed,
    Incomplete,
    System,
    grouped_by,
    how_chosen,
    notes_of,
    whole_name,
    with_slices,
)
from .evaluation import joined
from .leaderboard import Leaderboard, Summary
from .metric import Metric
from .names import first_with_direction, why_not
from .ragged import Floats
from .rules import POOLED

SHOWN = 5


def matrix(systems: Sequence[System], metric: Metric) -> tuple[list[str], Floats]:
    """Return the queries of any system, and values ``(n_systems, n_queries)``, NaN if none."""
    qids = list(dict.fromkeys(qid for one in systems for qid in one.qids))
    column = {qid: place for place, qid in enumerate(qids)}
    values = np.full((len(systems), len(qids)), np.nan)
    for row, system in zip(values, systems, strict=True):
        row[[column[qid] for qid in system.qids]] = system.values(metric)
    return qids, values


def systems_of(board: Leaderboard) -> tuple[System, ...]:
    """Return the systems of a leaderboard in its order, its folds pooled.

    Without a summary, all entries of one run on one dataset are repetitions. With one, only those
    that differ in the columns it spreads; other columns become part of the run's name.
    """
    return board.memo("systems", lambda: repetitions_of(pooled(board)))


def repetitions_of(board: Leaderboard) -> tuple[System, ...]:
    """Return the systems of a leaderboard whose folds are already pooled."""
    summary, selection = board.summary, board.selection
    together = grouped_by(board.entries, lambda one: (one.dataset, system_name(one, summary)))
    found = []
    for (dataset, run), entries in together.items():
        entries, chosen = _best(entries, summary.best)
        numbers = [len(one.ranked) for entry in entries for one in entry.choices]
        if selection is not None and numbers:
            plan, metric = selection.settings, entries[0].choices[0].metric
            chosen = Chosen(plan.over, max(numbers), metric, plan.shown, min(numbers))
        first = entries[0]
        for other in entries[1:]:
            if not other.evaluation.qids.equals(first.evaluation.qids):
                where = f"{run} on {dataset} ({pairs(other.columns.items())})"
                qids = (one.evaluation.qids.to_pylist() for one in (first, other))
                raise AlignmentError(query_mismatch(where, *qids))
        columns = {
            name: value
            for name, value in first.columns.items()
            if name in summary.best or f"{{{name}}}" in first.pattern
        }
        found.append(System.of(entries, run, columns, chosen))
    return tuple(_with_incomplete(with_slices(found), board))


def _best(entries: list[Entry], names: tuple[str, ...]) -> tuple[list[Entry], Chosen | None]:
    """Return the entries of the best value of these columns, by the first metric that has one."""
    metrics = entries[0].evaluation.metrics
    metric = first_with_direction(metrics)
    if not names or metric is None:
        return entries, None
    groups = grouped_by(entries, lambda one: tuple(one.columns.get(name, "") for name in names))

    def mean(group: Sequence[Entry]) -> float:
        return metric.sign * math.fsum(one.summary[str(metric)] for one in group) / len(group)

    return max(groups.values(), key=mean), Chosen(names, len(groups), str(metric))


def chosen_of(systems: Iterable[System]) -> dict[tuple[str, str], str]:
    """Return what systems were chosen from on the reported queries, by dataset and run."""
    own = (one for one in systems if one.best_of is not None and not one.best_of.on)
    texts = {(one.dataset, one.run): how_chosen([one]) for one in own}
    return {where: text for where, text in texts.items() if text}


def dataset_name(entry: Entry | Failed, summary: Summary) -> str:
    """Return the name of an entry's dataset without its folds."""
    if not summary.parts:
        return entry.dataset
    return whole_name(entry.pattern or entry.dataset, entry.columns, summary.parts)


def run_name(run: str, columns: Mapping[str, str], pattern: str, summary: Summary) -> str:
    """Return a system's name: the run with the columns that are neither folds nor seeds."""
    joint = (*summary.parts, *summary.spread, *summary.best)
    own = {n: v for n, v in columns.items() if n not in joint and f"{{{n}}}" not in pattern}
    return f"{run} {pairs(own.items())}" if summary and own else run


def system_name(one: Entry | Failed, summary: Summary) -> str:
    """Return the name of the system that an entry belongs to, as `run_name` does."""
    return run_name(one.run, one.columns, one.pattern, summary)


def query_mismatch(where: str, expected: Iterable[str], found: Iterable[str]) -> Problem:
    """Return the problem that an evaluation is over other queries than expected."""
    one, other = dict.fromkeys(expected), dict.fromkeys(found)
    missing, extra = [q for q in one if q not in other], [q for q in other if q not in one]
    what = "expected the same queries as the other runs in the same order"
    what += f"; missing: {first_of(missing, SHOWN)}" if missing else ""
    what += f"; extra: {first_of(extra, SHOWN)}" if extra else ""
    fix = "evaluate all runs with 'missing_queries: zero', which gives each the same queries"
    return Problem(where, what, fix=fix)


def system_key(part: Entry | Failed, names: Sequence[str]) -> CellKey:
    """Return the key of the system that an entry is a fold of; `names` tell folds apart."""
    dataset = whole_name(part.pattern or part.dataset, part.columns, names)
    return replace(part.key.without(names), dataset=dataset)


def pooled(board: Leaderboard) -> Leaderboard:
    """Return a leaderboard whose entries hold all folds of their dataset.

    A system without all folds is among the failed ones. Raises AlignmentError if a query is in
    several folds that are pooled, or no system has all folds.
    """
    summary = board.summary
    if not summary.parts:
        return board
    together = grouped_by(board.entries, lambda entry: system_key(entry, summary.parts))
    missing = _with_missing_parts(board)
    average = bool(summary.average)
    entries = [
        _joined(key.dataset, parts, average)
        for key, parts in together.items()
        if key not in missing
    ]
    if missing and not entries:
        fix = f"add the missing parts, or leave {' and '.join(summary.parts)} out of 'summary'"
        raise AlignmentError(
            [
                Problem(f"{one.key.run_with_columns} on {one.dataset}", one.error, fix=fix)
                for one in missing.values()
            ]
        )
    return Leaderboard(tuple(entries), tuple(missing.values()), summary, board.selection)


def failed_rows(board: Leaderboard) -> tuple[Failed, ...]:
    """Return the systems that `pooled` leaves out, each with the reason of every fold.

    Without pooling they are the failed entries.
    """
    return tuple(_with_missing_parts(board).values()) if board.summary.parts else board.failed


def _with_missing_parts(board: Leaderboard) -> dict[CellKey, Failed]:
    """Return the systems without all folds of their dataset: those that any run has, or failed."""
    folds: dict[str, dict[str, None]] = {}
    cells: dict[CellKey, dict[str, Entry | Failed]] = {}
    everything: list[Entry | Failed] = [*board.entries, *board.failed]
    for one in everything:
        key = system_key(one, board.summary.parts)
        folds.setdefault(key.dataset, {})[one.dataset] = None
        cells.setdefault(key, {}).setdefault(one.dataset, one)
    found = {}
    for key, there in cells.items():
        causes = {}
        for name in folds[key.dataset]:
            cell = there.get(name)
            if not isinstance(cell, Entry):
                causes[name] = "no predictions" if cell is None else cell.error
        if not causes:
            continue
        text = next(iter(causes.values()))
        if len(folds[key.dataset]) > 1:
            each = [f"{name} ({cause.splitlines()[0]})" for name, cause in causes.items()]
            shown = first_of(each, SHOWN) if len(each) > SHOWN else ", ".join(each)
            text = f"{len(each)} of {len(folds[key.dataset])} parts are missing: {shown}"
        pattern = next(iter(there.values())).pattern
        found[key] = Failed(key.dataset, key.run, dict(key.columns), text, pattern)
    return found


def failed_systems(board: Leaderboard) -> tuple[tuple[str, str], ...]:
    """Return dataset and run of the systems that have no evaluation."""
    there = {(system.dataset, system.run) for system in systems_of(board)}
    failed = ((one.dataset, system_name(one, board.summary)) for one in failed_rows(board))
    return tuple(where for where in dict.fromkeys(failed) if where not in there)


def _joined(dataset: str, parts: Sequence[Entry], average: bool) -> Entry:
    """Return one entry with the queries of all folds."""
    evaluations = [part.evaluation for part in parts]
    qids = pa.concat_arrays([one.qids for one in evaluations])
    if len(unique(qids)) < len(qids):
        if not average:
            raise AlignmentError(_shared_queries(dataset, parts, qids))
        qids = pa.concat_arrays([
            call("binary_join_element_wise", pa.scalar(f"{one.dataset}/", one.qids.type), one.qids,
                 pa.scalar("", one.qids.type))
            for one in evaluations
        ])  # fmt: skip
    whole = replace(joined(evaluations, qids), dataset=dataset)
    if not whole.groups or average:  # slices alone need to know them
        whole = replace(whole, unanswered=())
    same = {
        name: value
        for name, value in parts[0].columns.items()
        if all(part.columns.get(name) == value for part in parts)
    }
    alike = tuple(parts) if average else ()
    return Entry(whole, same, parts[0].pattern, parts=alike, **notes_of(parts))


def _shared_queries(dataset: str, parts: Sequence[Entry], qids: pa.Array) -> Problem:
    """Return the problem that queries are in several folds, so that they would count twice."""
    names, query = encode(qids)
    of = np.repeat(np.arange(len(parts)), [len(part.evaluation.qids) for part in parts])
    several = np.flatnonzero(np.bincount(query) > 1)
    named = [
        f"{names[one]} ({', '.join(parts[part].dataset for part in of[query == one])})"
        for one in several[:SHOWN]
    ]
    what = f"expected each query in one part, got {several.size:,} in several: {', '.join(named)}"
    return Problem(dataset, what, fix=POOLED.fix)


def incomplete(board: Leaderboard) -> list[Incomplete]:
    """Return which systems have fewer repetitions than expected, and how many."""
    return [one.incomplete for one in systems_of(board) if one.incomplete is not None]


def _with_incomplete(systems: Sequence[System], board: Leaderboard) -> Iterator[System]:
    """Yield the systems; those with fewer repetitions than expected say so.

    A run without columns that tell repetitions apart has one by nature. A run with other
    repetitions than the other runs, but as many, is complete.
    """
    summary = board.summary

    def repetition(one: Entry | Failed) -> Columns:
        columns = one.columns.items()
        return tuple(pair for pair in columns if not summary or pair[0] in summary.spread)

    lost: dict[tuple[str, str], set[Columns]] = defaultdict(set)
    for one in board.failed:
        lost[one.dataset, system_name(one, summary)].add(repetition(one))
    own = [{*map(repetition, system.entries)} for system in systems]
    names = [tuple(name for name, _ in min(columns)) for columns in own]
    groups = grouped_by(range(len(systems)), lambda at: (systems[at].dataset, names[at]))
    for system, here, columns in zip(systems, own, names, strict=True):
        alike = [own[at] for at in groups[system.dataset, columns]]
        is_best = summary.best and system.best_of is not None
        away = set() if is_best else lost[system.dataset, system.run] - here
        n = len(here)
        of = max(n + len(away), *map(len, alike))
        if not columns or n == of:
            yield system
            continue
        every = [dict(one) for one in away.union(*alike)]
        varying = tuple(name for name in columns if len({one.get(name) for one in every}) > 1)
        few = Incomplete(system.dataset, system.run, n, of, varying)
        yield replace(system, incomplete=few)


@dataclass(frozen=True)
class Unanswered:
    """How many queries one run leaves unanswered on one dataset, under ``missing_queries: zero``.

    `n` is that of the repetition that leaves the most; `qids` are those of any repetition, and
    empty for results that were read back.
    """

    dataset: str
    run: str
    n: int
    n_queries: int
    qids: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.run} answered {self.n_queries - self.n} of {self.n_queries} queries"


def unanswered_of(systems: Iterable[System]) -> Iterator[Unanswered]:
    """Yield what each system leaves unanswered, if anything, under ``missing_queries: zero``."""
    for system in systems:
        evaluations = [entry.evaluation for entry in system.entries]
        answered, n = system.coverage
        if answered < n and evaluations[0].policy.missing_queries == "zero":
            qids = dict.fromkeys(qid for one in evaluations for qid in one.unanswered)
            yield Unanswered(system.dataset, system.run, n - answered, n, tuple(qids))


def of_systems(
    board: Leaderboard, interval: Callable[[System, Metric], tuple[float, float]] | None = None
) -> Leaderboard:
    """Return the leaderboard with one entry a system.

    `interval` is asked for metrics that are plain means only, and not for averages over folds.
    """
    rows = systems_of(board)
    if interval is not None and not board.summary.average:
        rows = tuple(
            replace(
                row,
                intervals={str(one): interval(row, one) for one in row.metrics if not why_not(one)},
            )
            for row in rows
        )
    return Leaderboard(rows, failed_rows(board), selection=board.selection)
