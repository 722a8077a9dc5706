"""Significance as signs: which system has which, and which stand beside a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..core.comparison import Comparison, Comparisons
from .marks import dagger, letter
from .settings import Marks


@dataclass(frozen=True, eq=False)
class Signs:
    """The signs of a table.

    Parameters
    ----------
    kind : {"letters", "daggers", "none"}
    of : dict of str to str
        Sign of each system that others are compared with, in order.
    comparisons : Comparisons, optional
    """

    kind: Marks = "none"
    of: dict[str, str] = field(default_factory=dict)
    comparisons: Comparisons | None = None

    def beside(
        self, dataset: str, metric: str, run: str
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the signs of the systems that a run is significantly better, and worse, than.

        The latter for daggers alone: with letters, the better system's own value says it.
        """
        better, worse = [], []
        for other, sign in self.of.items():
            outcome = _outcome(self.comparisons, dataset, metric, run, other)
            if outcome > 0:
                better.append(sign)
            elif outcome < 0 and self.kind == "daggers":
                worse.append(sign)
        return tuple(better), tuple(worse)


def signs_of(comparisons: Comparisons | None, marks: Marks | None, runs: Sequence[str]) -> Signs:
    """Return which system has which sign.

    Parameters
    ----------
    comparisons : Comparisons, optional
    marks : {"letters", "daggers", "none"} or None
        None: daggers where there are baselines, letters otherwise.
    runs : sequence of str
        The rows, in order.
    """
    if comparisons is None or not comparisons.rows or marks == "none":
        return Signs()
    baselines = comparisons.plan.baselines
    kind = marks or ("daggers" if baselines else "letters")
    compared = {name for one in comparisons.rows for name in (one.run, one.baseline)}
    named = [name for name in baselines or runs if name in compared]
    sign = dagger if kind == "daggers" else letter
    return Signs(kind, {name: sign(place) for place, name in enumerate(named)}, comparisons)


def _outcome(
    comparisons: Comparisons | None, dataset: str, metric: str, run: str, other: str
) -> int:
    """Return 1 where `run` is significantly better than `other`, -1 where worse, else 0."""
    if comparisons is None or run == other:
        return 0
    found = comparisons.get(dataset, metric, other, run)
    if found is not None:
        return _way(comparisons, found)
    found = comparisons.get(dataset, metric, run, other)
    return 0 if found is None else -_way(comparisons, found)


def _way(comparisons: Comparisons, one: Comparison) -> int:
    if not comparisons.is_significant(one) or one.difference == 0:
        return 0
    return 1 if one.is_better else -1
