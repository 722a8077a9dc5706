"""Where predictions that are too many or too few were put in or lost: one place or several.

A path of offsets goes from 0, at the first row, to the difference of the counts, at the last one.
The likeliest is taken, on which each change of the offset makes scores so much likelier that it is
no chance. Pure: numbers in, numbers out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core.ragged import Array, Ints
from .fits import CLEAR, MOST, TWICE, Fit, Grades, Rows, best, fit, ranks
from .slips import UNSURE, Where, look

MOST_CELLS = 1 << 22
"""Rows times offsets that are tried on the way; of more, the best one alone is."""


class Place(NamedTuple):
    """Some that follow each other: predictions put in, or rows whose own were lost.

    `n` is how many, below 0 where they are rows; `at` where the first of them stands.
    """

    n: int
    at: Where


class Lost(NamedTuple):
    """Where predictions were put in or lost, and how they fit without, and as they stand."""

    places: tuple[Place, ...]
    there: Fit
    own: Fit

    @property
    def n(self) -> int:
        """How many are too many; below 0 where rows have none."""
        return sum(place.n for place in self.places)


def find(rows: Rows, scores: Array) -> Lost | None:
    """Return where scores are too many or too few; None where that cannot be told.

    Parameters
    ----------
    rows : Rows
    scores : ndarray, shape (m,)
        Not as many as the rows.
    """
    own, whole = best(rows, scores)
    if whole.z <= CLEAR / 2:  # each of two parts has half of what fits
        return None
    paths = _Paths(rows, ranks(scores), whole.offset)
    likelihood = paths.likelihood(whole.offset)
    changes: list[tuple[int, int, int]] = []
    for _ in range(2):  # what the first path says of the scores, the second one knows
        changes = paths.best(likelihood)
        kept = paths.kept(changes)
        likelihood = paths.likelihood_of(kept)
    there = fit(*_part(rows, paths.ranked, kept))
    if there.z <= CLEAR or not _is_even(rows, paths.ranked, kept, there):
        return None
    if look(*_part(rows, scores, kept))[1] is not None:
        return None
    return Lost(tuple(paths.places(changes, likelihood)), there, own)


def _part(rows: Rows, scores: Array, kept: tuple[Ints, Ints]) -> tuple[Rows, Array]:
    """Return some rows, and the score of each."""
    row, score = kept
    return Rows(rows.grades[row], rows.query[row]), scores[score]


def _is_even(rows: Rows, ranked: Array, kept: tuple[Ints, Ints], whole: Fit) -> bool:
    """Whether scores fit both halves of the rows about as well as all of them."""
    row, score = kept
    middle = row.size // 2
    halves = ((row[part], score[part]) for part in (slice(middle), slice(middle, None)))
    return all(TWICE * fit(*_part(rows, ranked, half)).r > whole.r for half in halves)


class _Paths:
    """What each of the fewer adds to the fit at each offset on the way.

    What is too many is passed over: predictions, or rows. Where there are more predictions, a
    position is that of a row; where there are fewer, that of a prediction.
    """

    def __init__(self, rows: Rows, ranked: Array, offset: int) -> None:
        self.rows, self.ranked = rows, ranked
        self.more = ranked.size - rows.grades.size
        self.n = min(ranked.size, rows.grades.size)
        steps: Sequence[int] = range(abs(self.more) + 1)
        if len(steps) > MOST or len(steps) * self.n > MOST_CELLS:
            steps = sorted({0, abs(offset), abs(self.more)})
        self.steps = steps
        self.held = Grades(rows.query, rows.grades)
        self.sums = np.zeros((len(steps), self.n + 1))
        for sums, step in zip(self.sums, steps, strict=True):
            np.cumsum(self._products(step), out=sums[1:])

    def _moved(self, step: int) -> Array:
        """Return the score of each row; the mean where there is none."""
        moved = np.full(self.rows.grades.size, self.ranked.mean())
        row, score = self._pairs(step, 0, self.n)
        moved[row] = self.ranked[score]
        return moved

    def _pairs(self, step: int, first: int, end: int) -> tuple[Ints, Ints]:
        """Return the rows and the scores at some positions."""
        at = np.arange(first, end)
        return (at, at + step) if self.more > 0 else (at + step, at)

    def _products(self, step: int) -> Array:
        products = self.held.products(self._moved(step))
        found: Array = products[self._pairs(step, 0, self.n)[0]]
        return found

    def likelihood(self, offset: int) -> float:
        """Return how much likelier scores are by each unit of the sums, at one offset."""
        return self.likelihood_of(self._pairs(abs(offset), 0, self.n))

    def likelihood_of(self, kept: tuple[Ints, Ints]) -> float:
        """Return the same for some rows and scores."""
        some, ranked = _part(self.rows, self.ranked, kept)
        return Grades(some.query, some.grades).likelihood(ranked)

    def best(self, likelihood: float) -> list[tuple[int, int, int]]:
        """Return the changes of the best path: the position, and both places in `steps`."""
        sums = self.sums * likelihood
        chance = UNSURE + math.log(sums.size)  # of so many changes, one is likely by chance
        ways = sums[:1]
        begun = np.zeros_like(sums)
        for to in range(1, len(self.steps)):
            begun[to] = ways.max(axis=0) - chance - sums[to]
            ways = np.append(ways, [sums[to] + np.maximum.accumulate(begun[to])], axis=0)
        changes, to, end = [], len(self.steps) - 1, self.n
        while to:
            end = int(begun[to, : end + 1].argmax())
            of = int(ways[:to, end].argmax())
            changes.append((end, of, to))
            to = of
        return changes[::-1]

    def kept(self, changes: Sequence[tuple[int, int, int]]) -> tuple[Ints, Ints]:
        """Return the rows that have a score on a path, and those scores."""
        ends = [at for at, _, _ in changes]
        steps = [0, *(self.steps[to] for _, _, to in changes)]
        parts = zip(steps, [0, *ends], [*ends, self.n], strict=True)
        row, score = zip(*(self._pairs(*part) for part in parts), strict=True)
        return np.concatenate(row), np.concatenate(score)

    def places(self, changes: Sequence[tuple[int, int, int]], likelihood: float) -> list[Place]:
        """Return each change with the positions that are nearly as likely."""
        found = []
        ends = [0, *(at for at, _, _ in changes), self.n]
        for (at, of, to), begin, end in zip(changes, ends, ends[2:], strict=False):
            gain = (self.sums[of] - self.sums[to])[begin : end + 1] * likelihood
            near = begin + np.flatnonzero(gain > gain[at - begin] - UNSURE)
            first = self.steps[of]
            where = Where(*(int(one) + first for one in (at, near[0], near[-1])))
            n = self.steps[to] - first
            found.append(Place(n if self.more > 0 else -n, where))
        return found
