"""Systems: the folds and seeds of one run on one dataset, taken together."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyarrow._compute import SetLookupOptions

from ..errors import AlignmentError, Problem, first_of
from .arrow import call, encode, string_column, to_numpy, unique
from .cell_key import CellKey, Columns, pairs
from .entries import (
    Chosen,
    Entry,
    Failed,
    Incomplete,
    System,
    grouped_by,
    notes_of,
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
    columns = [system.evaluation.qids for system in systems]
    qids, places = encode(pa.concat_arrays(columns))
    of_systems = np.split(places, np.cumsum([*map(len, columns)])[:-1])
    values = np.full((len(systems), len(qids)), np.nan)
    for row, place, system in zip(values, of_systems, systems, strict=True):
        if str(metric) in map(str, system.metrics):
            row[place] = system.values(metric)
    return qids.to_pylist(), values


def reference(name: str, systems: Sequence[System]) -> System:
    """Return the system with the median, or the best, of all systems' values on each query.

    It is no run, but a baseline. The systems are those of one dataset. One without a value on a
    query is left out there. Values of seeds are averaged before.
    """
    first = systems[0].evaluation
    tables = [matrix(systems, metric) for metric in first.metrics]
    columns = [
        _of_queries(name, table, metric)
        for (_, table), metric in zip(tables, first.metrics, strict=True)
    ]
    qids = tables[0][0]
    evaluation = replace(
        first,
        run=name,
        values=np.stack(columns, axis=1),
        qids=string_column(qids),
        weights=first.weights if len(qids) == len(first.qids) else {},
        errors={},
        unanswered=(),
        groups={},
    )
    return System.of([Entry(evaluation, pattern=systems[0].pattern)], name)


def _of_queries(name: str, values: Floats, metric: Metric) -> Floats:
    """Return the median or best of the values ``(n_systems, n_queries)`` of each query."""
    if metric.settings.undefined == "zero":
        values = np.nan_to_num(values, nan=0.0)
    if name == "best":
        best: Floats = (np.fmin if metric.sign < 0 else np.fmax).reduce(values, axis=0)
        return best
    median = np.full(values.shape[1], np.nan)
    has_value = ~np.isnan(values).all(axis=0)
    median[has_value] = np.nanmedian(values[:, has_value], axis=0)
    return median


def systems_of(board: Leaderboard) -> tuple[System, ...]:
    """Return the systems of a leaderboard in its order, its folds pooled.

    Without a summary, all entries of one run on one dataset are repetitions. With one, only those
    that differ in the columns it spreads; other columns become part of the run's name.
    """
    return board.memo("systems", lambda: repetitions_of(pooled(board)))


def repetitions_of(board: Leaderboard) -> tuple[System, ...]:
    """Return the systems of a leaderboard with pooled folds."""
    summary, selection = board.summary, board.selection
    together = grouped_by(board.entries, lambda entry: (entry.dataset, system_name(entry, summary)))
    systems = []
    for (dataset, run), entries in together.items():
        entries, chosen = _best(entries, summary.best)
        numbers = [len(choice.ranked) for entry in entries for choice in entry.choices]
        if selection is not None and numbers:
            plan, metric = selection.settings, entries[0].choices[0].metric
            chosen = Chosen(plan.over, max(numbers), metric, plan.shown, min(numbers))
        reference = entries[0]
        entries = [_in_order_of(reference, entry) for entry in entries]
        for repetition in entries[1:]:
            if not repetition.evaluation.qids.equals(reference.evaluation.qids):
                where = f"{run} on {dataset} ({pairs(repetition.columns.items())})"
                qids = (
                    evaluated.evaluation.qids.to_pylist() for evaluated in (reference, repetition)
                )
                raise AlignmentError(query_mismatch(where, *qids))
        columns = {
            name: value
            for name, value in reference.columns.items()
            if name in summary.best
            or (name not in summary.spread and f"{{{name}}}" in reference.pattern)
        }
        systems.append(System.of(entries, run, columns, chosen))
    return tuple(_with_incomplete(with_slices(systems), board))


def _in_order_of(reference: Entry, entry: Entry) -> Entry:
    """Return an entry with its queries in the order of another's, if they are the same."""
    expected, evaluation = reference.evaluation.qids, entry.evaluation
    if evaluation.qids.equals(expected) or entry.parts or len(expected) != len(evaluation.qids):
        return entry
    place = call("index_in", [expected], options=SetLookupOptions(evaluation.qids))
    if place.null_count:
        return entry
    order = to_numpy(place)
    ordered = replace(
        evaluation,
        values=evaluation.values[order],
        qids=expected,
        weights={column: values[order] for column, values in evaluation.weights.items()},
        errors={column: values[order] for column, values in evaluation.errors.items()},
        groups={name: labels.take(place) for name, labels in evaluation.groups.items()},
    )
    return replace(entry, evaluation=ordered)


def _best(entries: list[Entry], names: tuple[str, ...]) -> tuple[list[Entry], Chosen | None]:
    """Return the entries of the best value of these columns, by the first metric that has one."""
    metrics = entries[0].evaluation.metrics
    metric = first_with_direction(metrics)
    if not names or metric is None:
        return entries, None
    groups = grouped_by(entries, lambda entry: tuple(entry.columns.get(name, "") for name in names))

    def mean(group: Sequence[Entry]) -> float:
        return metric.sign * math.fsum(entry.summary[str(metric)] for entry in group) / len(group)

    return max(groups.values(), key=mean), Chosen(names, len(groups), str(metric))


def chosen_of(systems: Iterable[System]) -> dict[tuple[str, str], Chosen]:
    """Choices that were made on the reported queries, by dataset and run."""
    return {
        (system.dataset, system.run): system.best_of
        for system in systems
        if system.best_of is not None and not system.best_of.on and system.chosen
    }


def dataset_name(entry: Entry | Failed, summary: Summary) -> str:
    """Return the name of an entry's dataset without its folds and repetitions."""
    return summary.whole(entry.pattern, entry.columns, entry.dataset)


def run_name(run: str, columns: Mapping[str, str], pattern: str, summary: Summary) -> str:
    """Return a system's name: the run with the columns that are neither folds nor seeds."""
    joint = (*summary.parts, *summary.spread, *summary.best)
    name_columns = {
        n: v for n, v in columns.items() if n not in joint and f"{{{n}}}" not in pattern
    }
    return f"{run} {pairs(name_columns.items())}" if summary and name_columns else run


def system_name(entry: Entry | Failed, summary: Summary) -> str:
    """Return the name of the system that an entry belongs to, as `run_name` does."""
    return run_name(entry.run, entry.columns, entry.pattern, summary)


def query_mismatch(where: str, expected: Iterable[str], actual: Iterable[str]) -> Problem:
    """Return the problem that an evaluation is over other queries than expected."""
    expected_qids, actual_qids = dict.fromkeys(expected), dict.fromkeys(actual)
    missing = [qid for qid in expected_qids if qid not in actual_qids]
    extra = [qid for qid in actual_qids if qid not in expected_qids]
    message = "expected the same queries as the other runs in the same order"
    message += f"; missing: {first_of(missing, SHOWN)}" if missing else ""
    message += f"; extra: {first_of(extra, SHOWN)}" if extra else ""
    fix = "evaluate all runs with 'missing_queries: zero', which gives each the same queries"
    if len(missing) == len(expected_qids):  # such as the queries of another fold
        fix = "if these are folds, write their placeholder under 'pool' or 'average' of 'summary:'"
    return Problem(where, message, fix=fix)


def system_key(part: Entry | Failed, summary: Summary) -> CellKey:
    """Return the key of the system that an entry is a fold of."""
    return replace(part.key.without(summary.parts), dataset=dataset_name(part, summary))


def pooled(board: Leaderboard) -> Leaderboard:
    """Return a leaderboard with the folds of each dataset in one entry.

    A system without all folds is among the failed ones. Raises AlignmentError if a query is in
    several folds that are pooled, or no system has all folds.
    """
    summary = board.summary
    if not summary.parts:
        entries = [
            entry
            if (name := dataset_name(entry, summary)) == entry.dataset
            else replace(entry, evaluation=replace(entry.evaluation, dataset=name))
            for entry in board.entries
        ]
        return Leaderboard(tuple(entries), failed_rows(board), summary, board.selection)
    together = grouped_by(board.entries, lambda entry: system_key(entry, summary))
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
                Problem(
                    f"{failure.key.run_with_columns} on {failure.dataset}", failure.error, fix=fix
                )
                for failure in missing.values()
            ]
        )
    return Leaderboard(tuple(entries), tuple(missing.values()), summary, board.selection)


def failed_rows(board: Leaderboard) -> tuple[Failed, ...]:
    """Return the systems that `pooled` leaves out, each with the reason of every fold.

    Without pooling they are the failed entries.
    """
    summary = board.summary
    if summary.parts:
        return tuple(_with_missing_parts(board).values())
    return tuple(replace(row, dataset=dataset_name(row, summary)) for row in board.failed)


def _with_missing_parts(board: Leaderboard) -> dict[CellKey, Failed]:
    """Return the systems without all folds of their dataset: those that any run has, or failed."""
    folds: dict[str, dict[str, None]] = {}
    cells: dict[CellKey, dict[str, Entry | Failed]] = {}
    everything: list[Entry | Failed] = [*board.entries, *board.failed]
    for member in everything:
        key = system_key(member, board.summary)
        folds.setdefault(key.dataset, {})[member.dataset] = None
        cells.setdefault(key, {}).setdefault(member.dataset, member)
    failures = {}
    for key, by_dataset in cells.items():
        causes = {}
        for name in folds[key.dataset]:
            cell = by_dataset.get(name)
            if not isinstance(cell, Entry):
                causes[name] = "no predictions" if cell is None else cell.error
        if not causes:
            continue
        text = next(iter(causes.values()))
        if len(folds[key.dataset]) > 1:
            reasons = [f"{name} ({cause.splitlines()[0]})" for name, cause in causes.items()]
            listed = first_of(reasons, SHOWN) if len(reasons) > SHOWN else ", ".join(reasons)
            text = f"{len(reasons)} of {len(folds[key.dataset])} parts are missing: {listed}"
        pattern = next(iter(by_dataset.values())).pattern
        failures[key] = Failed(key.dataset, key.run, dict(key.columns), text, pattern)
    return failures


def failed_systems(board: Leaderboard) -> tuple[tuple[str, str], ...]:
    """Return dataset and run of the systems that have no evaluation."""
    evaluated = {(system.dataset, system.run) for system in systems_of(board)}
    failed = ((row.dataset, system_name(row, board.summary)) for row in failed_rows(board))
    return tuple(where for where in dict.fromkeys(failed) if where not in evaluated)


def _joined(dataset: str, parts: Sequence[Entry], average: bool) -> Entry:
    """Return one entry with the queries of all folds."""
    evaluations = [part.evaluation for part in parts]
    if len({bool(evaluation.weighted_by) for evaluation in evaluations}) > 1:
        message = "expected query weights for all parts or for none, got them for some"
        fix = "write 'weights:' for every dataset that is a part"
        raise AlignmentError(Problem(dataset, message, fix=fix))
    qids = pa.concat_arrays([evaluation.qids for evaluation in evaluations])
    if not average:
        check_distinct(dataset, parts)
    elif len(unique(qids)) < len(qids):
        qids = pa.concat_arrays([_prefixed(fold.qids, fold.dataset) for fold in evaluations])
    pooled_evaluation = replace(joined(evaluations, qids), dataset=dataset)
    if not pooled_evaluation.groups or average:  # slices alone need to know them
        pooled_evaluation = replace(pooled_evaluation, unanswered=())
    shared = {
        name: value
        for name, value in parts[0].columns.items()
        if all(part.columns.get(name) == value for part in parts)
    }
    alike = tuple(parts) if average else ()
    return Entry(pooled_evaluation, shared, parts[0].pattern, parts=alike, **notes_of(parts))


def check_distinct(dataset: str, parts: Sequence[Entry], fix: str = POOLED.fix) -> None:
    """Raise AlignmentError if a query is in two parts that are pooled."""
    if parts:
        qids = pa.concat_arrays([part.evaluation.qids for part in parts])
        if len(unique(qids)) < len(qids):
            raise AlignmentError(replace(_shared_queries(dataset, parts, qids), fix=fix))


def _prefixed(qids: pa.Array, fold: str) -> pa.Array:
    """Return the qids of a fold with its name, so that those of all folds are distinct."""
    prefix, no_blank = pa.scalar(f"{fold}/", qids.type), pa.scalar("", qids.type)
    return call("binary_join_element_wise", [prefix, qids, no_blank])


def _shared_queries(dataset: str, parts: Sequence[Entry], qids: pa.Array) -> Problem:
    """Return the problem that queries are in several folds, so that they would count twice."""
    names, query = encode(qids)
    part_of = np.repeat(np.arange(len(parts)), [len(part.evaluation.qids) for part in parts])
    several = np.flatnonzero(np.bincount(query) > 1)
    named = [
        f"{names[row]} ({', '.join(parts[part].dataset for part in part_of[query == row])})"
        for row in several[:SHOWN]
    ]
    message = (
        f"expected each query in one part, got {several.size:,} in several: {', '.join(named)}"
    )
    return Problem(dataset, message)


def incomplete(board: Leaderboard) -> list[Incomplete]:
    """Return the systems with fewer repetitions than expected, and their numbers."""
    return [system.incomplete for system in systems_of(board) if system.incomplete is not None]


def _with_incomplete(systems: Sequence[System], board: Leaderboard) -> Iterator[System]:
    """Yield the systems; those with fewer repetitions than expected say so.

    A run without columns that tell repetitions apart has one by nature. A run with other
    repetitions than the other runs, but as many, is complete.
    """
    summary = board.summary

    def repetition(entry: Entry | Failed) -> Columns:
        columns = entry.columns.items()
        return tuple(pair for pair in columns if not summary or pair[0] in summary.spread)

    lost: dict[tuple[str, str], set[Columns]] = defaultdict(set)
    for failure in board.failed:
        lost[dataset_name(failure, summary), system_name(failure, summary)].add(repetition(failure))
    repetitions = [{*map(repetition, system.entries)} for system in systems]
    names = [tuple(name for name, _ in min(columns)) for columns in repetitions]
    groups = grouped_by(range(len(systems)), lambda place: (systems[place].dataset, names[place]))
    for system, own_repetitions, columns in zip(systems, repetitions, names, strict=True):
        alike = [repetitions[place] for place in groups[system.dataset, columns]]
        is_best = summary.best and system.best_of is not None
        away = set() if is_best else lost[system.dataset, system.run] - own_repetitions
        n = len(own_repetitions)
        expected = max(n + len(away), *map(len, alike))
        if not columns or n == expected:
            yield system
            continue
        all_columns = [dict(columns_of) for columns_of in away.union(*alike)]
        varying = tuple(name for name in columns if len({row.get(name) for row in all_columns}) > 1)
        shortfall = Incomplete(system.dataset, system.run, n, expected, varying)
        yield replace(system, incomplete=shortfall)


@dataclass(frozen=True)
class Unanswered:
    """Number of queries that a run does not answer on a dataset, under ``missing_queries: zero``.

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
    """Yield the unanswered queries of each system, under ``missing_queries: zero``."""
    for system in systems:
        evaluations = [entry.evaluation for entry in system.entries]
        answered, n = system.coverage
        if answered < n and evaluations[0].policy.missing_queries == "zero":
            qids = dict.fromkeys(qid for evaluation in evaluations for qid in evaluation.unanswered)
            yield Unanswered(system.dataset, system.run, n - answered, n, tuple(qids))


def of_systems(
    board: Leaderboard, interval: Callable[[System, Metric], tuple[float, float]] | None = None
) -> Leaderboard:
    """Return the leaderboard with one entry for each system.

    `interval` is asked for metrics that are plain means only, and not for averages over folds.
    """
    rows = systems_of(board)
    if interval is not None and not board.summary.average:
        rows = tuple(
            replace(
                row,
                intervals={
                    str(metric): interval(row, metric)
                    for metric in row.metrics
                    if not why_not(metric)
                },
            )
            for row in rows
        )
    return Leaderboard(rows, failed_rows(board), selection=board.selection)
