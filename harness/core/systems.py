"""Systems: the repetitions of one run on one dataset (its seeds), taken together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ..errors import AlignmentError, Problem, UnknownNameError, did_you_mean
from .evaluation import Counts
from .leaderboard import Entry, Failed, Leaderboard, Spread, Summary
from .metric import Metric
from .names import NAMES, parse
from .pooling import lacking, pooled, whole_name
from .ragged import Bools, Floats, frozen

T = TypeVar("T")
SHOWN = 5


@dataclass(frozen=True)
class Chosen:
    """What a system was chosen from: how many values of which columns, by which metric."""

    names: tuple[str, ...]
    of: int
    metric: str


@dataclass(frozen=True, eq=False)
class System:
    """One run on one dataset, with all its repetitions.

    Parameters
    ----------
    dataset, run : str
    entries : tuple of Entry
        A repetition each: one for each seed, or the only one there is. All hold the same
        metrics and queries.
    chosen : Chosen, optional
        Where it is the best of several.
    """

    dataset: str
    run: str
    entries: tuple[Entry, ...]
    chosen: Chosen | None = None
    _memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def memo(self, key: Any, make: Callable[[], T]) -> T:
        """Return `make()`, computed once for each `key`."""
        if key not in self._memo:
            self._memo[key] = make()
        value: T = self._memo[key]
        return value

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
        """Return the value of each query, ``(n_queries,)``: its mean over the repetitions.

        NaN where a repetition has none.
        """
        columns = [entry.evaluation.column(metric) for entry in self.entries]
        return columns[0] if len(columns) == 1 else frozen(np.mean(columns, axis=0))

    def repetitions(self, metric: Metric | str) -> Floats:
        """Return the values of each repetition, ``(n_repetitions, n_queries)``."""
        return np.array([entry.evaluation.column(metric) for entry in self.entries])

    def value(self, metric: Metric | str) -> float:
        """Return the summary: the mean of the repetitions' summaries."""
        found = self._summaries(metric)
        return math.fsum(found) / len(found)

    def deviation(self, metric: Metric | str) -> float:
        """Return the standard deviation of the repetitions' summaries; NaN where there is one."""
        found = self._summaries(metric)
        return float(np.std(found, ddof=1)) if len(found) > 1 else math.nan

    def n(self, metric: Metric | str) -> int:
        """Return how many queries have a value in every repetition."""
        return int((~np.isnan(self.values(metric))).sum())

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

    def _summaries(self, metric: Metric | str) -> list[float]:
        return [entry.summary.get(str(metric), math.nan) for entry in self.entries]


def systems_of(board: Leaderboard) -> tuple[System, ...]:
    """Return the systems of a leaderboard, in its order.

    The parts of a dataset (folds) that the board's summary names are taken together. Entries of
    one dataset and run are repetitions; where a summary is given, only those that differ in the
    columns it spreads, and other columns become part of the run's name.

    Raises
    ------
    AlignmentError
        Where the repetitions of a run were not evaluated on the same queries, or parts do not
        fit together.
    """
    return board.memo("systems", lambda: repetitions_of(pooled(board)))


def repetitions_of(board: Leaderboard) -> tuple[System, ...]:
    """Return the systems of a leaderboard whose parts are taken together already."""
    summary = board.summary
    together: dict[tuple[str, str], list[Entry]] = {}
    for entry in board.entries:
        run = run_name(entry.run, entry.columns, entry.pattern, summary)
        together.setdefault((entry.dataset, run), []).append(entry)
    return tuple(_system(*key, *_best(entries, summary.best)) for key, entries in together.items())


def how_chosen(systems: Iterable[System]) -> str:
    """Return what must be said of systems that are the best of several; else nothing.

    >>> how_chosen([System("d", "a", (), Chosen(("seed",), 3, "map"))])
    'best of 3 values of seed, chosen on these queries by map'
    """
    known = [system.chosen for system in systems if system.chosen is not None]
    if all(one.of == 1 for one in known):
        return ""
    low, high = min(one.of for one in known), max(one.of for one in known)
    how_many = f"{high}" if low == high else f"{low} to {high}"
    metrics = " or ".join(dict.fromkeys(one.metric for one in known))
    names = " and ".join(known[0].names)
    return f"best of {how_many} values of {names}, chosen on these queries by {metrics}"


def chosen_of(systems: Iterable[System]) -> dict[tuple[str, str], str]:
    """Return what systems that are the best of several were chosen from, by dataset and run."""
    said = {(one.dataset, one.run): how_chosen([one]) for one in systems}
    return {where: text for where, text in said.items() if text}


def dataset_name(entry: Entry | Failed, summary: Summary) -> str:
    """Return what an entry's dataset is called among systems: the whole that it is a part of."""
    if not summary.parts:
        return entry.dataset
    return whole_name(entry.pattern or entry.dataset, entry.columns, summary.parts)


def run_name(run: str, columns: Mapping[str, str], pattern: str, summary: Summary) -> str:
    """Return what a run is called among systems: with the columns that make it another system.

    >>> columns = {"fold": "1", "seed": "2", "lr": "0.1"}
    >>> run_name("gbrt", columns, "mslr-fold{fold}", Summary(spread=("seed",)))
    'gbrt lr=0.1'
    """
    own = [
        f"{name}={value}"
        for name, value in columns.items()
        if name not in (*summary.parts, *summary.spread, *summary.best)
        and f"{{{name}}}" not in pattern
    ]
    return " ".join((run, *own)) if summary else run


def _best(
    entries: Sequence[Entry], names: tuple[str, ...]
) -> tuple[Sequence[Entry], Chosen | None]:
    """Return the entries of the best value of these columns, by the first metric that has one."""
    metric = next(
        (one for one in entries[0].evaluation.metrics if one.definition.direction is not None), None
    )
    if not names or metric is None:
        return entries, None
    groups: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        groups.setdefault(tuple(entry.columns.get(name, "") for name in names), []).append(entry)
    sign = -1 if metric.definition.direction == "lower" else 1

    def mean(group: Sequence[Entry]) -> float:
        return sign * math.fsum(one.summary[str(metric)] for one in group) / len(group)

    return max(groups.values(), key=mean), Chosen(names, len(groups), str(metric))


def _system(dataset: str, run: str, entries: Sequence[Entry], chosen: Chosen | None) -> System:
    first = entries[0]
    qids = first.evaluation.qids
    for other in entries[1:]:
        if not other.evaluation.qids.equals(qids):
            where = " ".join(f"{name}={value}" for name, value in other.columns.items())
            raise AlignmentError(
                unlike(
                    f"{run} on {dataset} ({where})", qids.to_pylist(),
                    other.evaluation.qids.to_pylist(),
                )
            )  # fmt: skip
    return System(dataset, run, tuple(entries), chosen)


def unlike(where: str, expected: Iterable[str], found: Iterable[str]) -> Problem:
    """Return the problem that two evaluations do not hold the same queries, which it lists.

    >>> print(unlike("b on trec", ["q1", "q2"], ["q2", "q3"]))
    b on trec: was evaluated on other queries: q1 lacking; q3 not expected
      fix:   evaluate all runs with 'missing_queries: zero', which gives each the same queries
    """
    expected, found = list(expected), list(found)
    lacking = [qid for qid in expected if qid not in set(found)]
    extra = [qid for qid in found if qid not in set(expected)]
    parts = [
        f"{', '.join(qids[:SHOWN])}{f' and {len(qids) - SHOWN} more' * (len(qids) > SHOWN)} {what}"
        for qids, what in ((lacking, "lacking"), (extra, "not expected"))
        if qids
    ]
    return Problem(
        where,
        f"was evaluated on other queries: {'; '.join(parts) or 'their order differs'}",
        fix="evaluate all runs with 'missing_queries: zero', which gives each the same queries",
    )


FEWER = "fewer repetitions than there should be"
"""How every list of such systems begins."""
Key = tuple[tuple[str, str], ...]
"""What tells a repetition from the others: captured columns and their values."""


@dataclass(frozen=True)
class Incomplete:
    """A system that has fewer repetitions than it should.

    Parameters
    ----------
    dataset, run : str
    n : int
        Repetitions that its values are means over.
    of : int
        The most that any system of the dataset has whose repetitions are told apart by the same
        columns, or that it has itself together with those that could not be evaluated.
    names : tuple of str
        Columns that tell repetitions apart: ``seed``.
    absent : tuple of tuple of (str, str)
        The repetitions that it lacks, by these columns, as far as they are known.

    Examples
    --------
    >>> one = Incomplete("web", "lmir", 1, 3, ("seed",), ((("seed", "1"),), (("seed", "2"),)))
    >>> print(one)
    lmir on web: 1 of 3 (seed)
    >>> one.share, one.lacks
    ('1 of 3', 'seed=1, seed=2')
    """

    dataset: str
    run: str
    n: int
    of: int
    names: tuple[str, ...] = ()
    absent: tuple[Key, ...] = ()

    def __str__(self) -> str:
        return self.called(self.run, self.dataset)

    def called(self, run: str, dataset: str) -> str:
        """Return what ``str`` does, with other names; none of the dataset where it is empty."""
        by = f" ({' and '.join(self.names)})" if self.names else ""
        return f"{run}{f' on {dataset}' if dataset else ''}: {self.share}{by}"

    @property
    def share(self) -> str:
        """How many of how many: ``1 of 3``."""
        return f"{self.n} of {self.of}"

    @property
    def lacks(self) -> str:
        """The repetitions that it lacks: ``seed=1, seed=2``."""
        return ", ".join(
            " ".join(f"{name}={value}" for name, value in one if name in self.names)
            for one in self.absent
        )


def incomplete(board: Leaderboard) -> dict[tuple[str, str], Incomplete]:
    """Return the systems that have fewer repetitions than they should, by dataset and run.

    A run without columns that tell repetitions apart has one by nature, and lacks none; neither
    does one whose repetitions are others than those of other runs, and as many.
    """
    return board.memo("incomplete", lambda: _incomplete(board))


def failed_systems(board: Leaderboard) -> tuple[tuple[str, str], ...]:
    """Return dataset and run of the systems that have no evaluation, as what they need failed."""
    there = {(system.dataset, system.run) for system in systems_of(board)}
    failed = (
        (one.dataset, run_name(one.run, one.columns, one.pattern, board.summary))
        for one in lacking(board)
    )
    return tuple(where for where in dict.fromkeys(failed) if where not in there)


def _incomplete(board: Leaderboard) -> dict[tuple[str, str], Incomplete]:
    summary, own = board.summary, dict[tuple[str, str], dict[Key, None]]()
    lost: dict[tuple[str, str], dict[Key, None]] = {}
    for one in lacking(board):
        name = run_name(one.run, one.columns, one.pattern, summary)
        lost.setdefault((one.dataset, name), {})[_key(one, summary)] = None
    for system in systems_of(board):
        where = system.dataset, system.run
        own[where] = dict.fromkeys(_key(one, summary) for one in system.entries)
        away = lost.get(where, {}) if system.chosen is None else {}
        lost[where] = {key: None for key in away if key not in own[where]}
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[str, str]]] = {}
    for where, keys in own.items():
        names = tuple(name for name, _ in next(iter(keys)))
        if names:
            groups.setdefault((where[0], names), []).append(where)
    found = {}
    for (_, names), members in groups.items():
        known = {key: None for where in members for key in (*own[where], *lost[where])}
        varying = tuple(name for name in names if len({dict(key).get(name) for key in known}) > 1)
        most = max(len(own[where]) for where in members)
        for where in members:
            n, of = len(own[where]), max(most, len(own[where]) + len(lost[where]))
            absent = [key for key in known if key not in own[where]]
            if len(absent) != of - n:  # those of others are not all its own
                absent = list(lost[where])
            if n < of:
                found[where] = Incomplete(*where, n, of, varying, tuple(absent))
    return {where: found[where] for where in own if where in found}


def _key(one: Entry | Failed, summary: Summary) -> Key:
    return tuple(pair for pair in one.columns.items() if not summary or pair[0] in summary.spread)


@dataclass(frozen=True)
class Unanswered:
    """What one run leaves unanswered on one dataset, under ``missing_queries: zero``.

    Parameters
    ----------
    dataset, run : str
    n : int
        Queries without an answer (of the repetition that leaves the most).
    n_queries : int
        All queries.
    qids : tuple of str
        Which they are, of any repetition; empty where that is not known, as of results that
        were read back.
    """

    dataset: str
    run: str
    n: int
    n_queries: int
    qids: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.run} answered {self.n_queries - self.n} of {self.n_queries} queries"


def unanswered_of(systems: Iterable[System]) -> Iterator[Unanswered]:
    """Yield what each system leaves unanswered, where it leaves anything.

    Queries that are left out (``missing_queries: skip``) are no queries of it.
    """
    for system in systems:
        evaluations = [entry.evaluation for entry in system.entries]
        answered, n_queries = system.coverage
        if answered < n_queries and evaluations[0].policy.missing_queries == "zero":
            qids = dict.fromkeys(qid for one in evaluations for qid in one.unanswered)
            yield Unanswered(
                system.dataset, system.run, n_queries - answered, n_queries, tuple(qids)
            )


UNLIKE = "not over the same queries, so none is the best"
"""What is said of a metric whose best value is not marked for that reason."""


def over_same_queries(metric: Metric, runs: Iterable[tuple[pa.Array, Floats]]) -> bool:
    """Whether the summaries of several runs are over the same queries.

    Undefined values (NaN) are over no query, but where the metric's setting `undefined` counts
    them. A run without any value takes no part.

    Parameters
    ----------
    metric : Metric
    runs : iterable of (pyarrow string array, ndarray), shapes (n_queries,)
        The queries of each run, and the metric's values for them.

    Examples
    --------
    >>> from harness.core.names import parse
    >>> metric, qids, nan = parse("P@5")[0], pa.array(["q1", "q2"]), np.nan
    >>> over_same_queries(metric, [(qids, np.array([nan, 1.0])), (qids, np.array([nan, 0.5]))])
    True
    >>> over_same_queries(metric, [(qids, np.array([nan, 1.0])), (qids, np.array([0.2, 0.5]))])
    False
    """
    some = [(qids, np.isnan(values)) for qids, values in runs]
    some = [(qids, undefined) for qids, undefined in some if not undefined.all()]
    if not some:
        return True
    first, lacking = some[0]
    is_counted = metric.settings.undefined not in (None, "skip")
    return all(
        qids.equals(first) and (is_counted or np.array_equal(undefined, lacking))
        for qids, undefined in some[1:]
    )


def why_not(metric: Metric) -> str:
    """Return why runs cannot be compared by a metric; nothing where they can.

    >>> why_not(parse("num_ret")[0])
    'it is a sum over the queries, and no mean'
    >>> why_not(parse("map")[0])
    ''
    """
    definition = metric.definition
    if definition.summary == "sum":
        return "it is a sum over the queries, and no mean"
    if definition.summary == "gm":
        return "its values are logarithms, of which the summary is no mean"
    if definition.direction is None:
        return "it has no better and no worse"
    if definition.weight is not None and dict(metric.params).get("over", "queries") != "queries":
        return "its queries do not weigh the same"
    return ""


def compared(metrics: Sequence[Metric], names: Sequence[str] = ()) -> tuple[Metric, ...]:
    """Return which of `metrics` runs are compared by.

    Parameters
    ----------
    metrics : sequence of Metric
        Those evaluated.
    names : sequence of str
        Those asked for, in any spelling, without the settings that all of them take; every
        one that can be where empty, but for the bounds of ties.

    Raises
    ------
    UnknownNameError
        Where a name is none of the metrics, or runs cannot be compared by it.
    """
    if not names:
        return tuple(one for one in metrics if not why_not(one) and not _is_bound(one))
    return tuple(dict.fromkeys(_named(name, metrics) for name in names))


def _is_bound(metric: Metric) -> bool:
    return metric.label is not None and metric.label.endswith(tuple(f"_{name}" for name in NAMES))


def _named(name: str, metrics: Sequence[Metric]) -> Metric:
    found = [one for one in metrics if str(one) == name] or _spelt(name, metrics)
    if not found:
        known = [str(one) for one in metrics]
        raise UnknownNameError(
            f"no metric '{name}' was evaluated{did_you_mean(name, known)}  "
            f"(there are: {', '.join(known)})"
        )
    reason = why_not(found[0])
    if reason:
        raise UnknownNameError(f"runs cannot be compared by {found[0]}: {reason}")
    return found[0]


def _spelt(name: str, metrics: Sequence[Metric]) -> list[Metric]:
    """Return the one metric that a name in another spelling stands for, in a list."""
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


Interval = Callable[[System, Metric], tuple[float, float]]
"""Gives the interval of a system's mean."""


@dataclass(frozen=True, eq=False)
class Repeated(Entry):
    """An entry for several repetitions: means of their summaries, with how far they spread."""

    system: System | None = None
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    incomplete: Incomplete | None = None

    @cached_property
    def summary(self) -> dict[str, float]:
        """Each metric: the mean of the repetitions' summaries."""
        return {str(metric): self._whole.value(metric) for metric in self._whole.metrics}

    def summary_over(self, metric: str, queries: Bools) -> float:
        """Return the mean of the repetitions' summaries over some queries."""
        found = [entry.summary_over(metric, queries) for entry in self._whole.entries]
        return math.fsum(found) / len(found)

    @cached_property
    def spread(self) -> dict[str, Spread]:
        """Repetitions, deviation and interval of each metric."""
        n = len(self._whole.entries)
        nothing = (float("nan"), float("nan"))
        return {
            str(metric): Spread(
                n, self._whole.deviation(metric), *self.intervals.get(str(metric), nothing)
            )
            for metric in self._whole.metrics
        }

    @property
    def chosen(self) -> str:
        """What the entry is the best of: ``best of 3 values of seed, chosen on ...``."""
        return how_chosen([self._whole])

    @property
    def _whole(self) -> System:
        if self.system is None:
            raise ValueError("an entry of repetitions needs its system")
        return self.system


def of_systems(board: Leaderboard, interval: Interval) -> Leaderboard:
    """Return the leaderboard with one entry a system.

    Counts are the largest of the repetitions; values are means over them, query by query.

    Parameters
    ----------
    board : Leaderboard
        Whose summary says what is taken together.
    interval : callable
        Of each mean; asked for metrics that are plain means alone, and not for averages over
        parts, which are no means over queries.
    """
    fewer = incomplete(board)
    entries = [
        replace(
            _entry(system, board.summary, interval),
            incomplete=fewer.get((system.dataset, system.run)),
        )
        for system in systems_of(board)
    ]
    return Leaderboard(tuple(entries), lacking(board))


def _entry(system: System, summary: Summary, interval: Interval) -> Repeated:
    first = system.entries[0]
    values = np.mean([entry.evaluation.values for entry in system.entries], axis=0)
    counted = [entry.evaluation.counts.as_dict() for entry in system.entries]
    counts = Counts(**{name: max(each[name] for each in counted) for name in counted[0]})
    evaluation = replace(first.evaluation, values=values, counts=counts, run=system.run, errors={})
    intervals = {}
    for metric in system.metrics:
        if not summary.average and not why_not(metric):
            intervals[str(metric)] = interval(system, metric)
    columns = {
        name: value
        for name, value in first.columns.items()
        if name in summary.best or f"{{{name}}}" in first.pattern
    }
    return Repeated(evaluation, columns, first.pattern, system=system, intervals=intervals)
