"""The cells of two leaderboards: which moved, and which way."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ..core.metric import Direction
from .board import Board, Key
from .queries import Paired

Status = Literal["better", "worse", "changed", "queries", "same"]
_ROUNDING = 1e-9
"""What the sums behind two values may add to a difference, as a share of the tolerance."""


@dataclass(frozen=True)
class Cell:
    """One run by one metric, in both leaderboards.

    Parameters
    ----------
    key : Key
    metric : str
    direction : {"higher", "lower"} or None
        Which way is better; None for counts.
    old, new : float
        NaN where there is no value.
    tolerance : float
        The largest difference that is none.
    status : str
        ``better`` or ``worse`` by more than the tolerance, ``changed`` where the metric has no
        better, ``queries`` where the values are within it and those of some query are not the
        same, ``same``. A value that is gone is ``worse``; one that was not there is ``changed``.
    queries : Paired, optional
        With two folders.
    """

    key: Key
    metric: str
    direction: Direction | None
    old: float
    new: float
    tolerance: float
    status: Status
    queries: Paired | None = None

    @property
    def difference(self) -> float:
        """New minus old."""
        return self.new - self.old

    @property
    def has_moved(self) -> bool:
        """Whether the value moved by more than the tolerance, came, or went."""
        return self.status in ("better", "worse", "changed")


def tolerance_of(old: Board, new: Board, metric: str, given: float | None) -> float:
    """Return the largest difference by a metric that counts as none.

    That given; otherwise half a unit of the last digit of the board that has fewer of them, and 0
    where both have every digit.
    """
    if given is not None:
        return given
    return max(board.slack.get(metric, 0.0) for board in (old, new))


def status_of(old: float, new: float, tolerance: float, direction: Direction | None) -> Status:
    """Return which way a value went.

    A difference as large as the tolerance is within it, also where floating point makes it a
    little larger: 0.51 - 0.5 is above 0.01.

    >>> status_of(0.51, 0.5, 0.01, "higher"), status_of(0.51, 0.4999, 0.01, "higher")
    ('same', 'worse')
    >>> status_of(0.3, 0.2, 0.0, "higher"), status_of(0.3, 0.2, 0.0, "lower")
    ('worse', 'better')
    >>> status_of(0.3, 0.25, 0.05, "higher"), status_of(0.3, float("nan"), 0.05, "higher")
    ('same', 'worse')
    """
    if math.isnan(old) or math.isnan(new):
        if math.isnan(old) and math.isnan(new):
            return "same"
        return "worse" if math.isnan(new) else "changed"
    if old == new or abs(new - old) <= _allowed(old, new, tolerance):
        return "same"
    if direction is None:
        return "changed"
    return "better" if (new > old) == (direction == "higher") else "worse"


def _allowed(old: float, new: float, tolerance: float) -> float:
    """Return the tolerance with what floating point may add to a difference that is as large."""
    if not tolerance:
        return 0.0
    return tolerance * (1 + _ROUNDING) + 4 * math.ulp(max(abs(old), abs(new)))


def directions_of(
    old: Board, new: Board, metrics: Collection[str], lower: Collection[str]
) -> tuple[dict[str, Direction | None], list[str]]:
    """Return which way each metric is better, and those for which it was only assumed.

    Parameters
    ----------
    old, new : Board
    metrics : collection of str
        Those of both.
    lower : collection of str
        Those of which it was said that lower is better.
    """
    found: dict[str, Direction | None] = {}
    assumed = []
    for name in metrics:
        known = old.metrics[name] or new.metrics[name]
        if name in lower:
            found[name] = "lower"
        elif known is not None:
            found[name] = known.definition.direction
        else:
            found[name] = "higher"
            assumed.append(name)
    return found, assumed


def shared_keys(old: Board, new: Board) -> list[Key]:
    """Return the rows of both, in the order of the old one."""
    return [key for key in old.values if key in new.values]


def other_repetitions(old: Board, new: Board, keys: Iterable[Key]) -> dict[Key, tuple[int, int]]:
    """Return the rows that stand for another number of repetitions in `new` than in `old`."""
    both = [key for key in keys if key in old.repetitions and key in new.repetitions]
    found = {key: (old.repetitions[key], new.repetitions[key]) for key in both}
    return {key: (before, after) for key, (before, after) in found.items() if before != after}


def only_in(board: Board, other: Mapping[Key, object]) -> tuple[Key, ...]:
    """Return the rows of a board that the other has not."""
    return tuple(key for key in board.values if key not in other)
