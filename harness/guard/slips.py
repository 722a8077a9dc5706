"""Where in a file scores slipped: a stretch of rows whose scores stand a few rows further on.

Scores that stand right fit their own rows better than those of their neighbours, wherever one
looks; those that slipped do not. So the sum of what each row adds to the fit at another offset,
less what it adds as it stands, falls along rows that stand right and rises along a slip. Pure:
numbers in, numbers out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..core.ragged import Array, Ints
from .fits import CLEAR, SLIPS, TWICE, Fit, Grades, Rows, has_slipped, ranks

WINDOWS = 16
"""Pieces of a large file that are looked at first, spread over it."""
WINDOW = 512
"""Rows of each."""
BETTER = 4.5
"""Standard errors by which a stretch must fit better there than as it stands, where all else stands
right: of 28,800 drawn files of models in place none reached 4 of these and 5.5 of the fit there."""
UNSURE = math.log(100_000)
"""How much less likely a row may be than the likeliest one, and still be where a slip began."""
_FAR = 10
"""Rows apart that may be alike by themselves, as where each stands twice."""


class Where(NamedTuple):
    """A place between two rows: before row `row`, or before one from `low` to `high`."""

    row: int
    low: int
    high: int


class Slip(NamedTuple):
    """Rows whose scores stand elsewhere: score ``i + offset`` belongs to row ``i``.

    Parameters
    ----------
    first : Where
        Before the first of them.
    end : Where
        After the last.
    there, own, others : Fit
        Of these rows at the offset, and as they stand; of all other rows as they stand.
    """

    first: Where
    end: Where
    there: Fit
    own: Fit
    others: Fit

    @property
    def certain(self) -> range:
        """The rows that have slipped wherever it began and ended; one at least."""
        begin = min(self.first.high, self.end.row - 1)
        return range(begin, max(self.end.low, begin + 1))

    def plain(self) -> tuple[float, ...]:
        """Return all numbers, one after the other."""
        return tuple(one for part in self for one in part)

    @classmethod
    def of(cls, plain: tuple[float, ...]) -> Slip:
        """Return what :meth:`plain` gave.

        >>> there, own, others = Fit(1, 0.5, 6), Fit(0, 0.0, 6), Fit(0, 0.5, 3)
        >>> one = Slip(Where(3, 2, 4), Where(9, 8, 9), there, own, others)
        >>> Slip.of(one.plain()) == one, one.certain
        (True, range(4, 8))
        """
        threes = [plain[at : at + 3] for at in range(0, 15, 3)]
        first, end = (Where(*map(int, one)) for one in threes[:2])
        there, own, others = (Fit(int(offset), r, int(n)) for offset, r, n in threes[2:])
        return cls(first, end, there, own, others)


def look(rows: Rows, scores: Array) -> tuple[Fit, Slip | None]:
    """Return how scores fit as they stand, and where they slipped.

    Of many rows it looks at some pieces, and at all only where the fit of these is not clear, or
    some of them have slipped.

    >>> query = np.arange(100_000) // 100
    >>> scores = np.sin(np.arange(100_000.0))
    >>> own, slip = look(Rows((scores > 0).astype(np.int64), query), scores)
    >>> own.n, slip  # three of the 8,192 are of a query that is cut, and of one grade
    (8189, None)
    """
    if scores.size > WINDOWS * WINDOW + SLIPS[-1] - SLIPS[0]:
        own, slip = _pieces(rows, scores).slip()
        if own.z > CLEAR and slip is None:
            return own, None
    ranked = ranks(scores)
    around = np.full((1, scores.size + SLIPS[-1] - SLIPS[0]), ranked.mean())
    around[0, -SLIPS[0] : -SLIPS[-1]] = ranked
    return _Around(rows.query, rows.grades, around).slip()


def _pieces(rows: Rows, scores: Array) -> _Around:
    most = SLIPS[-1]
    starts = np.linspace(most, scores.size - WINDOW - most, WINDOWS).astype(np.int64)[:, None]
    at = (starts + np.arange(WINDOW)).ravel()
    around = ranks(scores[starts + np.arange(-most, WINDOW + most)].ravel()).reshape(WINDOWS, -1)
    query = rows.query[at]
    return _Around(np.append(0, np.cumsum(query[1:] != query[:-1])), rows.grades[at], around)


class _Around:
    """Rows, and the ranks of the scores that stand around each.

    Parameters
    ----------
    query, grades : ndarray, shape (pieces * n,)
    around : ndarray, shape (pieces, n + 10)
        Ranks from five rows before a piece to five after it.
    """

    def __init__(self, query: Ints, grades: Array, around: Array) -> None:
        self.query, self.grades, self.around = query, grades, around
        self.held = Grades(query, grades)

    def at(self, offset: int) -> Array:
        """Return the rank of the score of each row at an offset."""
        start = offset - SLIPS[0]
        n = self.around.shape[1] - SLIPS[-1] + SLIPS[0]
        return self.around[:, start : start + n].ravel()

    def slip(self) -> tuple[Fit, Slip | None]:
        """Return how they fit as they stand, and where they slipped."""
        own = self.held.fit(self.at(0), 0)
        sums = {offset: np.cumsum(self.held.less * self.at(offset)) for offset in SLIPS}
        best = max(sums, key=lambda offset: (sums[offset][-1], not offset))
        whole = self.held.fit(self.at(best), best)
        if max(own.z, whole.z) <= CLEAR:
            return own, None
        slipped = has_slipped(own, whole)
        others = [best] if slipped else [offset for offset in SLIPS if offset]
        gains = {offset: _highest(np.append(0.0, sums[offset] - sums[0])) for offset in others}
        offset = max(gains, key=lambda one: gains[one][0])
        gain, first, end = gains[offset]
        step = (self.held.less * (self.at(offset) - self.at(0)))[first:end]
        chance = BETTER * math.sqrt(float(step @ step))
        if first == end or (not slipped and gain <= chance):
            return own, None
        slip = self._stretch(offset, first, end)
        return own, slip if slip is not None and (slipped or self._is_clear(slip)) else None

    def _stretch(self, offset: int, first: int, end: int) -> Slip | None:
        """Return the rows from `first` to `end`, which fit best at an offset, with their places."""
        inside = slice(first, end)
        held = Grades(self.query[inside], self.grades[inside])
        there, own = (held.fit(self.at(one)[inside], one) for one in (offset, 0))
        if there.r <= 0:
            return None
        gain = np.append(0.0, np.cumsum(self.held.less * (self.at(offset) - self.at(0))))
        gain *= held.likelihood(self.at(offset)[inside])
        begin = np.flatnonzero(gain[:end] < gain[first] + UNSURE)
        stop = first + 1 + np.flatnonzero(gain[first + 1 :] > gain[end] - UNSURE)
        others = np.r_[0:first, end : self.query.size]
        out = Fit(0, 0.0, 0)
        if others.size:
            out = Grades(self.query[others], self.grades[others]).fit(self.at(0)[others], 0)
        least, most = max(0, -offset), self.query.size - max(0, offset)  # which have a score there
        return Slip(
            Where(max(first, least), int(begin[0]), max(int(begin[-1]), least)),
            Where(end, min(int(stop[0]), most), int(stop[-1])),
            there, own, out,
        )  # fmt: skip

    def _is_clear(self, slip: Slip) -> bool:
        """Whether a stretch fits so much better elsewhere that it is no chance, and others do not.

        The limits rise with the rows, as more stretches are looked at.
        """
        if slip.others.z <= CLEAR or slip.there.r <= TWICE * slip.own.r:
            return False
        inside = slice(slip.first.row, slip.end.row)
        held = Grades(self.query[inside], self.grades[inside])
        there, own = (held.products(self.at(one)[inside]) for one in (slip.there.offset, 0))
        more = 2 * math.log(max(1.0, self.query.size / 1000))
        return in_errors(there) > math.sqrt(CLEAR**2 + more) and in_errors(there - own) > math.sqrt(
            BETTER**2 + more
        )


def _highest(gain: Array) -> tuple[float, int, int]:
    """Return the most that sums rise, and from and to which of them.

    >>> _highest(np.cumsum([0.0, -1.0, 2.0, -1.0, 3.0, -5.0]))
    (4.0, 1, 4)
    """
    above = gain - np.minimum.accumulate(gain)
    end = int(above.argmax())
    return float(above[end]), int(gain[: end + 1].argmin()), end


def in_errors(products: Array) -> float:
    """Return a sum in standard errors, those of terms that are alike a few rows apart too.

    >>> in_errors(np.array([1.0, 1.0, -1.0, 1.0]))
    1.0
    """
    own = float((products * products).sum())
    x = products - products.mean()
    far = min(_FAR, x.size - 1)
    both = sum((1 - by / (far + 1)) * float(x[by:] @ x[:-by]) for by in range(1, far + 1))
    square = max(own, float(x @ x) + 2 * both)
    return float(products.sum()) / math.sqrt(square) if square else 0.0
