"""A leaderboard of systems: one row for all seeds, and for all folds, of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from .comparable import why_not
from .evaluation import Counts
from .incomplete import Incomplete, incomplete
from .leaderboard import Entry, Leaderboard, Spread
from .metric import Metric
from .pooling import lacking
from .summary import Summary
from .systems import System, how_chosen, systems_of

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
