"""Systems: the folds and seeds of one run on one dataset, taken together."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import AlignmentError, Problem, UnknownNameError, did_you_mean, first_of
from .aligned import Memo
from .arrow import call, encode, unique
from .evaluation import Counts, joined
from .leaderboard import (
    Entry,
    Failed,
    Leaderboard,
    Slice,
    Summary,
    grouped_by,
    whole_of,
    with_slices,
)
from .metric import Metric
from .names import NAMES, each_cutoff, parse
from .ragged import Floats, frozen

SHOWN = 5
Columns = tuple[tuple[str, str], ...]
"""Captured columns and their values."""


def pairs(columns: Iterable[tuple[str, str]]) -> str:
    """Return columns as text."""
    return " ".join(f"{name}={value}" for name, value in columns)


@dataclass(frozen=True)
class Chosen:
    """What a system is the best of: `of` values of the columns `names`, chosen by `metric`.

    `on` is the validation dataset, or "" for the reported queries. `least` is the smallest number
    of values if its folds and seeds had different numbers.
    """

    names: tuple[str, ...]
    of: int
    metric: str
    on: str = ""
    least: int = 0


@dataclass(frozen=True, eq=False)
class System(Memo):
    """One run on one dataset: an entry for each seed, or the only one, over the same queries."""

    dataset: str
    run: str
    entries: tuple[Entry, ...]
    chosen: Chosen | None = None

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics evaluated."""
        return self.entries[0].evaluation.metrics

    @cached_property
    def qids(self) -> list[str]:
        """The queries, in the order of :meth:`values`."""
        found: list[str] = self.entries[0].evaluation.qids.to_pylist()
        return found

    def values(self, metric: Metric | str) -> Floats:
        """Return each query's mean over the repetitions, ``(n_queries,)``; NaN if one has none."""
        columns = [entry.evaluation.column(metric) for entry in self.entries]
        return columns[0] if len(columns) == 1 else frozen(np.mean(columns, axis=0))

    def repetitions(self, metric: Metric | str) -> Floats:
        """Return the values of each repetition, ``(n_repetitions, n_queries)``."""
        return np.array([entry.evaluation.column(metric) for entry in self.entries])

    def value(self, metric: Metric | str) -> float:
        """Return the mean of the repetitions' summaries."""
        found = self._summaries(metric)
        return math.fsum(found) / len(found)

    def deviation(self, metric: Metric | str) -> float:
        """Return the standard deviation of the repetitions' summaries; NaN for a single one."""
        found = self._summaries(metric)
        return float(np.std(found, ddof=1)) if len(found) > 1 else math.nan

    def n(self, metric: Metric | str) -> int:
        """Return how many queries have a value in every repetition."""
        return int((~np.isnan(self.values(metric))).sum())

    @property
    def warned(self) -> tuple[str, ...]:
        """Rules of the guard's warnings about the files of its repetitions."""
        return tuple(dict.fromkeys(rule for entry in self.entries for rule in entry.warned))

    @property
    def coverage(self) -> tuple[int, int]:
        """How many of the judged queries every repetition answered, and how many there are."""
        each = [entry.evaluation.coverage for entry in self.entries]
        return min(answered for answered, _ in each), each[0][1]

    @cached_property
    def varying(self) -> tuple[str, ...]:
        """Names of the captured columns that tell the repetitions apart: ``seed``."""
        names = dict.fromkeys(name for entry in self.entries for name in entry.columns)
        return tuple(
            name for name in names if len({entry.columns.get(name) for entry in self.entries}) > 1
        )

    @property
    def group(self) -> str:
        """Return column and label of a slice; empty for the whole dataset."""
        return self.entries[0].evaluation.group

    @property
    def whole(self) -> str:
        """The dataset, without the group."""
        return whole_of(self.dataset, self.group)

    def cut(self, one: Slice) -> System | None:
        """Return the system on a slice of the queries; None if it has none of them."""
        parts = [part for entry in self.entries if (part := entry.cut(one)) is not None]
        return System(parts[0].dataset, self.run, tuple(parts), self.chosen) if parts else None

    def _summaries(self, metric: Metric | str) -> list[float]:
        return [entry.summary.get(str(metric), math.nan) for entry in self.entries]


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
    together = grouped_by(
        board.entries, lambda entry: (entry.dataset, system_name(entry, board.summary))
    )
    found = []
    for (dataset, run), entries in together.items():
        entries, chosen = _best(entries, board.summary.best)
        numbers = [len(one.ranked) for entry in entries for one in entry.choices]
        if board.selection is not None and numbers:
            plan, metric = board.selection.settings, entries[0].choices[0].metric
            chosen = Chosen(plan.over, max(numbers), metric, plan.shown, min(numbers))
        qids = entries[0].evaluation.qids
        for other in entries[1:]:
            if not other.evaluation.qids.equals(qids):
                where = f"{run} on {dataset} ({pairs(other.columns.items())})"
                different = other.evaluation.qids.to_pylist()
                raise AlignmentError(query_mismatch(where, qids.to_pylist(), different))
        found.append(System(dataset, run, tuple(entries), chosen))
    return tuple(with_slices(found, lambda one: one.entries[0].evaluation, System.cut))


def _best(entries: list[Entry], names: tuple[str, ...]) -> tuple[list[Entry], Chosen | None]:
    """Return the entries of the best value of these columns, by the first metric that has one."""
    metrics = entries[0].evaluation.metrics
    metric = next((one for one in metrics if one.definition.direction is not None), None)
    if not names or metric is None:
        return entries, None
    groups = grouped_by(entries, lambda one: tuple(one.columns.get(name, "") for name in names))

    def mean(group: Sequence[Entry]) -> float:
        return metric.sign * math.fsum(one.summary[str(metric)] for one in group) / len(group)

    return max(groups.values(), key=mean), Chosen(names, len(groups), str(metric))


def how_chosen(systems: Iterable[System]) -> str:
    """Return what systems are the best of, for a caption; empty if none was chosen."""
    return best_of([system.chosen for system in systems if system.chosen is not None])


def best_of(known: Sequence[Chosen]) -> str:
    """Return what systems are the best of, in words."""
    if all(one.of == 1 for one in known):
        return ""
    low, high = min(one.least or one.of for one in known), max(one.of for one in known)
    how_many = f"{high}" if low == high else f"{low} to {high}"
    metrics = " or ".join(dict.fromkeys(one.metric for one in known))
    names = " and ".join(known[0].names)
    values, on = ("settings", known[0].on) if known[0].on else ("values", "these queries")
    return f"best of {how_many} {values} of {names}, chosen on {on} by {metrics}"


def chosen_of(systems: Iterable[System]) -> dict[tuple[str, str], str]:
    """Return what systems were chosen from on the reported queries, by dataset and run."""
    own = (one for one in systems if one.chosen is not None and not one.chosen.on)
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
    """Return the name of the system that an entry belongs to, as :func:`run_name` does."""
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


Key = tuple[str, str, Columns]
"""What identifies a system of pooled folds: dataset, run, and the other columns."""


def pooled(board: Leaderboard) -> Leaderboard:
    """Return a leaderboard whose entries hold all folds of their dataset.

    A system without all folds is among the failed ones. Raises AlignmentError if a query is in
    several folds that are pooled, or no system has all folds.
    """
    summary = board.summary
    if not summary.parts:
        return board
    together = grouped_by(board.entries, lambda entry: key_of(entry, summary.parts))
    failed = failed_rows(board)
    out = {(one.dataset, one.run, tuple(one.columns.items())) for one in failed}
    average = bool(summary.average)
    entries = [_joined(key[0], each, average) for key, each in together.items() if key not in out]
    if failed and not entries:
        fix = f"add the missing parts, or leave {' and '.join(summary.parts)} out of 'summary'"
        raise AlignmentError([
            Problem(f"{' '.join(filter(None, (one.run, pairs(one.columns.items()))))} on "
                    f"{one.dataset}", one.error, fix=fix)
            for one in failed
        ])  # fmt: skip
    return Leaderboard(tuple(entries), failed, summary, board.selection)


def failed_rows(board: Leaderboard) -> tuple[Failed, ...]:
    """Return the systems that :func:`pooled` leaves out, each with the reason of every fold.

    The folds of a dataset are those that any run was evaluated on, or failed on. Without pooling
    they are the failed entries.
    """
    names = board.summary.parts
    if not names:
        return board.failed
    folds: dict[str, dict[str, None]] = {}
    cells: dict[Key, dict[str, Entry | Failed]] = {}
    everything: list[Entry | Failed] = [*board.entries, *board.failed]
    for one in everything:
        key = key_of(one, names)
        folds.setdefault(key[0], {})[one.dataset] = None
        cells.setdefault(key, {}).setdefault(one.dataset, one)
    found = []
    for (dataset, run, rest), there in cells.items():
        causes = {}
        for name in folds[dataset]:
            cell = there.get(name)
            if not isinstance(cell, Entry):
                causes[name] = "no predictions" if cell is None else cell.error
        if not causes:
            continue
        text = next(iter(causes.values()))
        if len(folds[dataset]) > 1:
            each = [f"{name} ({cause.splitlines()[0]})" for name, cause in causes.items()]
            shown = first_of(each, SHOWN) if len(each) > SHOWN else ", ".join(each)
            text = f"{len(each)} of {len(folds[dataset])} parts are missing: {shown}"
        found.append(Failed(dataset, run, dict(rest), text, next(iter(there.values())).pattern))
    return tuple(found)


def failed_systems(board: Leaderboard) -> tuple[tuple[str, str], ...]:
    """Return dataset and run of the systems that have no evaluation."""
    there = {(system.dataset, system.run) for system in systems_of(board)}
    failed = ((one.dataset, system_name(one, board.summary)) for one in failed_rows(board))
    return tuple(where for where in dict.fromkeys(failed) if where not in there)


def key_of(one: Entry | Failed, names: Sequence[str]) -> Key:
    """Return which system an entry is a fold of, by the columns that tell folds apart."""
    rest = tuple((name, value) for name, value in one.columns.items() if name not in names)
    return whole_name(one.pattern or one.dataset, one.columns, names), one.run, rest


def whole_name(pattern: str, columns: Mapping[str, str], parts: Sequence[str]) -> str:
    """Return the name of the dataset that others are folds of.

    It is the dataset's name in the config (`pattern`) without the placeholders of the columns
    `parts` that tell folds apart, the words before them that say the same, and what joins them.

    >>> whole_name("mslr-fold{fold}", {"fold": "1"}, ["fold"])
    'mslr'
    >>> whole_name("{name}/part {part}", {"name": "news", "part": "2"}, ["part"])
    'news'
    """
    for name in parts:
        word = re.escape(name)
        pattern = re.sub(rf"[-_. /]*(?:{word})?[-_. ]?\{{{word}\}}", "", pattern, flags=re.I)
    for name, value in columns.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    return pattern.strip("-_. /") or "all"


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
    shared: dict[str, Any] = {
        "choices": tuple(dict.fromkeys(one for part in parts for one in part.choices)),
        "warned": tuple(dict.fromkeys(rule for part in parts for rule in part.warned)),
    }
    alike = tuple(parts) if average else ()
    return Entry(whole, same, parts[0].pattern, parts=alike, **shared)


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
    fix = "use 'average' instead of 'pool', or correct the folds"
    return Problem(dataset, what, fix=fix)


FEWER = "fewer repetitions than expected"
"""First words of every list of such systems."""


@dataclass(frozen=True)
class Incomplete:
    """A system with `n` repetitions `of` as many as expected.

    That is the most of any system of the dataset whose repetitions differ in the same columns
    `names` (``seed``), or its own number with those that failed.
    """

    dataset: str
    run: str
    n: int
    of: int
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.called(self.run, self.dataset)

    def called(self, run: str, dataset: str) -> str:
        """Return what ``str`` does, with other names; without the dataset if it is empty."""
        by = f" ({' and '.join(self.names)})" if self.names else ""
        return f"{run}{f' on {dataset}' if dataset else ''}: {self.share}{by}"

    @property
    def share(self) -> str:
        """Return a share in words: ``1 of 3``."""
        return f"{self.n} of {self.of}"


def incomplete(board: Leaderboard) -> dict[tuple[str, str], Incomplete]:
    """Return the systems that have fewer repetitions than expected, by dataset and run.

    A run without columns that tell repetitions apart has one by nature. A run with other
    repetitions than the other runs, but as many, is complete.
    """
    return board.memo("incomplete", lambda: _incomplete(board))


def _incomplete(board: Leaderboard) -> dict[tuple[str, str], Incomplete]:
    summary = board.summary

    def columns(one: Entry | Failed) -> Columns:
        return tuple(
            pair for pair in one.columns.items() if not summary or pair[0] in summary.spread
        )

    lost: dict[tuple[str, str], set[Columns]] = {}
    for one in failed_rows(board):
        lost.setdefault((one.dataset, system_name(one, summary)), set()).add(columns(one))
    systems = systems_of(board)
    own = {(one.dataset, one.run): {*map(columns, one.entries)} for one in systems}
    names = {where: tuple(name for name, _ in min(keys)) for where, keys in own.items()}
    groups = grouped_by(own, lambda where: (where[0], names[where]))
    found = {}
    for system in systems:
        where = system.dataset, system.run
        alike = groups[where[0], names[where]]
        is_best = summary.best and system.chosen is not None
        away = set() if is_best else lost.get(where, set()) - own[where]
        n = len(own[where])
        of = max(n + len(away), *(len(own[other]) for other in alike))
        varying = tuple(
            name
            for name in names[where]
            if len({dict(key).get(name) for other in alike for key in own[other] | away}) > 1
        )
        if names[where] and n < of:
            found[where] = Incomplete(*where, n, of, varying)
    return found


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


NOT_COMPARABLE = "runs were scored on different queries"
"""Why no best value of a metric is marked."""


def over_same_queries(metric: Metric, runs: Iterable[tuple[pa.Array, Floats]]) -> bool:
    """Whether the summaries of several runs, (qids, values) each, are over the same queries.

    Undefined values (NaN) count as the metric's setting `undefined` says. Runs without any value
    are left out.
    """
    some = [(qids, np.isnan(values)) for qids, values in runs]
    some = [(qids, undefined) for qids, undefined in some if not undefined.all()]
    is_counted = metric.settings.undefined not in (None, "skip")
    return all(
        qids.equals(some[0][0]) and (is_counted or np.array_equal(undefined, some[0][1]))
        for qids, undefined in some[1:]
    )


def why_not(metric: Metric) -> str:
    """Return why runs cannot be compared by a metric; empty if they can."""
    definition = metric.definition
    if definition.summary == "sum":
        return "it is a sum over the queries, not a mean"
    if definition.summary == "gm":
        return "its values are logarithms, summarised by a geometric mean"
    if definition.direction is None:
        return "it has no better and no worse"
    if definition.weight is not None and dict(metric.params).get("over", "queries") != "queries":
        return "its queries have different weights"
    return ""


def compared(metrics: Sequence[Metric], names: Sequence[str] = ()) -> tuple[Metric, ...]:
    """Return which of the evaluated `metrics` runs are compared by.

    `names` may have any spelling and may leave out settings that all metrics share; without names
    it is every metric that can be compared, without the bounds of ties. Raises UnknownNameError
    for a name that was not evaluated or cannot be compared.
    """
    if not names:
        return tuple(one for one in metrics if not why_not(one) and not _is_bound(one))
    found: dict[Metric, None] = {}
    for name in chain.from_iterable(map(each_cutoff, names)):
        same = [one for one in metrics if str(one) == name] or _spelt(name, metrics)
        if not same:
            known = [str(one) for one in metrics]
            what = f"no metric '{name}' was evaluated{did_you_mean(name, known)}"
            raise UnknownNameError(f"{what}  (there are: {', '.join(known)})")
        if reason := why_not(same[0]):
            what = f"runs cannot be compared by {same[0]}: {reason}"
            raise UnknownNameError(Problem("", what, fix="choose another metric, such as ndcg@10"))
        found[same[0]] = None
    return tuple(found)


def _is_bound(metric: Metric) -> bool:
    return metric.label is not None and metric.label.endswith(tuple(f"_{name}" for name in NAMES))


def _spelt(name: str, metrics: Sequence[Metric]) -> list[Metric]:
    """Return the one metric that a name in another spelling means, in a list."""
    try:
        (asked,) = parse(name)
    except (UnknownNameError, ValueError):
        return []
    same = [one for one in metrics if str(one) == str(asked)]
    if same or asked.params or asked.given:
        return same
    like = [
        one
        for one in metrics
        if (one.definition, one.cutoff) == (asked.definition, asked.cutoff) and not _is_bound(one)
    ]
    return like if len(like) == 1 else []


def of_systems(
    board: Leaderboard, interval: Callable[[System, Metric], tuple[float, float]]
) -> Leaderboard:
    """Return the leaderboard with one entry a system.

    Counts are the largest of the repetitions; values are means over them, query by query.
    `interval` is asked for metrics that are plain means only, and not for averages over folds.
    """
    fewer = incomplete(board)
    entries = []
    for system in systems_of(board):
        first = system.entries[0]
        values = np.mean([entry.evaluation.values for entry in system.entries], axis=0)
        counted = [entry.evaluation.counts.as_dict() for entry in system.entries]
        counts = Counts(**{name: max(each[name] for each in counted) for name in counted[0]})
        whole = replace(first.evaluation, values=values, counts=counts, run=system.run, errors={})
        intervals = {
            str(metric): interval(system, metric)
            for metric in system.metrics
            if not board.summary.average and not why_not(metric)
        }
        columns = {
            name: value
            for name, value in first.columns.items()
            if name in board.summary.best or f"{{{name}}}" in first.pattern
        }
        choices = tuple(dict.fromkeys(c for one in system.entries for c in one.choices))
        entries.append(
            Entry(
                whole, columns, first.pattern, choices=choices, warned=system.warned,
                system=system, intervals=intervals, best_of=how_chosen([system]),
                incomplete=fewer.get((system.dataset, system.run)),
            )
        )  # fmt: skip
    return Leaderboard(tuple(entries), failed_rows(board), selection=board.selection)
