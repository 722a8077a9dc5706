"""Systems: the repetitions of one run on one dataset (its seeds), taken together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ..errors import AlignmentError, Problem
from .leaderboard import Entry, Failed, Leaderboard
from .metric import Metric
from .pooling import pooled, whole_name
from .ragged import Floats, frozen
from .summary import Summary

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
