"""The order of the systems in two leaderboards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..core.metric import Direction
from ..metrics.similarity import RankSimilarity, rank_similarity, ranks
from .board import Board, Key


@dataclass(frozen=True)
class RankChange:
    """One system's rank in both, among those of both; tied ones have the best of theirs."""

    key: Key
    old: int
    new: int

    @property
    def change(self) -> int:
        """By how many ranks it stands higher."""
        return self.old - self.new


@dataclass(frozen=True)
class Order:
    """How alike the orders by one metric on one dataset are.

    Parameters
    ----------
    dataset, metric : str
    similarity : RankSimilarity
        RBO, average overlap and same top are of the whole leaderboards, the rest of the systems
        of both.
    changes : tuple of RankChange
        Of every system in both, in the order of the new leaderboard.
    """

    dataset: str
    metric: str
    similarity: RankSimilarity
    changes: tuple[RankChange, ...]

    @property
    def has_ties(self) -> bool:
        """Whether one of them has two systems at one rank."""
        sides = {one.old for one in self.changes}, {one.new for one in self.changes}
        return any(len(side) < len(self.changes) for side in sides)

    @property
    def moved(self) -> int:
        """How many systems have another rank."""
        return sum(one.change != 0 for one in self.changes)

    @property
    def max_change(self) -> int:
        """Largest absolute rank change."""
        return max(abs(one.change) for one in self.changes)

    @property
    def mean_change(self) -> float:
        """Mean absolute rank change."""
        return sum(abs(one.change) for one in self.changes) / len(self.changes)


def order(
    dataset: str, metric: str, direction: Direction, old: Board, new: Board, p: float
) -> Order | None:
    """Return how alike two leaderboards order the systems of a dataset; None without a shared one.

    Where one prints fewer digits, both are ranked at these, so that its ties are ties.

    Parameters
    ----------
    dataset, metric : str
    direction : {"higher", "lower"}
    old, new : Board
    p : float
        Persistence of RBO.
    """
    sign = -1.0 if direction == "lower" else 1.0
    slack = max(board.slack.get(metric, 0.0) for board in (old, new))
    digits = round(-math.log10(2 * slack)) if slack else None
    sides = [_values(board, dataset, metric, sign, digits) for board in (old, new)]
    shared = [key for key in sides[0] if key in sides[1]]
    if not shared:
        return None
    first, second = ({key.name: side[key] for key in side} for side in sides)
    found = rank_similarity(first, second, p=p)
    places = [ranks([side[key] for key in shared]) for side in sides]
    changes = [RankChange(*one) for one in zip(shared, *places, strict=True)]
    changes.sort(key=lambda one: (one.new, one.old))
    return Order(dataset, metric, found, tuple(changes))


def _values(
    board: Board, dataset: str, metric: str, sign: float, digits: int | None
) -> Mapping[Key, float]:
    return {
        key: sign * (row[metric] if digits is None else round(row[metric], digits))
        for key, row in board.values.items()
        if key.dataset == dataset and not math.isnan(row.get(metric, math.nan))
    }
