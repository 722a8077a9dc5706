"""How well scores fit the rows of a learning-to-rank file: their correlation with its grades.

A model's scores rise with the grades within a query; those of other rows do not. So a file that
has slipped by a line, or belongs to another fold, fits better elsewhere, and it can be told where.
Pure: numbers in, numbers out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core.ragged import Array, Ints, sum_by

CLEAR = 6.0
"""Standard errors that a fit must be from 0, and from the other: no chance in a million sweeps."""
TWICE = 2.0
"""How many times as large it must be: rows sorted by grade correlate with their neighbours too."""
SLIPS = range(-5, 6)
"""Rows by which scores of the right count may have slipped."""
WINDOWS = 4
"""Pieces of a large file that are looked at first, spread over it."""
WINDOW = 512
"""Rows of each."""
MOST = 64
"""Offsets that are tried where counts differ; beyond it, both ends alone."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a dataset in the order of its file.

    Parameters
    ----------
    grades : ndarray, shape (n,)
    query : ndarray of int64, shape (n,)
        Position of each row's query.
    """

    grades: Array
    query: Ints


class Fit(NamedTuple):
    """How scores fit where score ``i + offset`` belongs to row ``i``.

    `r` is Pearson's correlation of grades and ranks of the scores, both less their mean in the
    query; `n` how many rows are in queries where both differ.
    """

    offset: int
    r: float
    n: int

    @property
    def z(self) -> float:
        """In standard errors of what chance gives."""
        return self.r * math.sqrt(self.n)


def ranks(scores: Array) -> Array:
    """Return the rank of each score among all, equal ones alike, so that none stands out.

    >>> ranks(np.array([5.0, 1e30, 5.0, -1.0])).tolist()
    [1.0, 2.0, 1.0, 0.0]
    """
    found: Array = np.unique(scores, return_inverse=True)[1].astype(np.float64)
    return found


def fit(rows: Rows, ranked: Array, offset: int = 0) -> Fit:
    """Return how scores fit at an offset, over the rows that have one there.

    Parameters
    ----------
    rows : Rows
    ranked : ndarray of float64, shape (m,)
        As :func:`ranks` gives them; as many as there are scores.
    offset : int

    >>> rows = Rows(np.array([0, 1, 2, 2, 1]), np.array([0, 0, 0, 1, 1]))
    >>> fit(rows, np.array([9.0, 0.0, 1.0, 2.0, 2.0, 1.0]), 1)
    Fit(offset=1, r=1.0, n=5)
    """
    first, last = max(0, -offset), min(rows.grades.size, ranked.size - offset)
    if last <= first:
        return Fit(offset, 0.0, 0)
    grades = _Grades(rows.query[first:last], rows.grades[first:last])
    return grades.fit(ranked[first + offset : last + offset], offset)


class _Grades:
    """Grades less their mean in the query, to hold several scores against."""

    def __init__(self, query: Ints, grades: Array) -> None:
        self.query = query - query.min()
        self.n_queries = int(self.query.max()) + 1
        self.lengths = np.bincount(self.query, minlength=self.n_queries)
        self.less = self._centred(grades.astype(np.float64))
        self.squares = self._sum(self.less * self.less)

    def _sum(self, values: Array) -> Array:
        return sum_by(self.query, values, self.n_queries)

    def _centred(self, values: Array) -> Array:
        less: Array = values - (self._sum(values) / np.maximum(self.lengths, 1))[self.query]
        return less

    def products(self, ranked: Array) -> Array:
        """Return what each row adds to the sum of which a fit is made."""
        found: Array = self.less * self._centred(ranked)
        return found

    def falling(self, ranked: Array, first: int) -> tuple[Ints, Array]:
        score = self._centred(ranked)
        both, squares = self._sum(self.less * score), self._sum(score * score)
        query = np.flatnonzero(both < 0)
        r: Array = both[query] / np.sqrt(self.squares[query] * squares[query])
        return query + first, r

    def fit(self, ranked: Array, offset: int) -> Fit:
        score = self._centred(ranked)
        squares = self._sum(score * score)
        differ = (self.squares > 0) & (squares > 0)
        if not differ.any():
            return Fit(offset, 0.0, 0)
        both = self._sum(self.less * score)[differ].sum()
        r = both / math.sqrt(self.squares[differ].sum() * squares[differ].sum())
        return Fit(offset, min(1.0, float(r)), int(self.lengths[differ].sum()))


def falling(rows: Rows, scores: Array) -> tuple[Ints, Array]:
    """Return the queries in which scores fall as the grades rise, and Pearson's r in each.

    >>> rows = Rows(np.array([0, 1, 2, 2, 1]), np.array([0, 0, 0, 1, 1]))
    >>> falling(rows, np.array([2.0, 1.0, 0.0, 5.0, 4.0]))
    (array([0]), array([-1.]))
    """
    return _Grades(rows.query, rows.grades).falling(ranks(scores), int(rows.query.min()))


def offsets_to_try(n_rows: int, n_scores: int) -> Iterable[int]:
    """Return where scores may belong: by the rows they have too many or too few.

    >>> [list(offsets_to_try(10, n)) for n in (12, 9)]
    [[0, 1, 2], [-1, 0]]
    """
    more = n_scores - n_rows
    if not more:
        return SLIPS
    if abs(more) > MOST:
        return sorted((0, more))
    return range(min(0, more), max(0, more) + 1)


def best(rows: Rows, scores: Array) -> tuple[Fit, Fit]:
    """Return the fit at offset 0, and the best of all that are tried."""
    ranked = ranks(scores)
    found = [fit(rows, ranked, offset) for offset in offsets_to_try(rows.grades.size, scores.size)]
    return next(one for one in found if not one.offset), max(found, key=lambda one: one.z)


class Break(NamedTuple):
    """Scores that fit at one offset before row `row`, and from there on at another."""

    row: int
    before: Fit
    after: Fit


def broken(rows: Rows, scores: Array, first: int, then: int) -> Break | None:
    """Return where scores stop to fit at the offset `first`, and begin to at `then`.

    Rows were lost or put in there, where both parts fit clearly better than at the other's offset.
    """
    n, ranked = rows.grades.size, ranks(scores)
    grades = _Grades(rows.query, rows.grades)
    here, there = (grades.products(_moved(ranked, n, offset)) for offset in (first, then))
    gain = np.append(0.0, np.cumsum(here - there))
    row = int(gain.argmax())
    before, after = (
        Rows(rows.grades[part], rows.query[part]) for part in (slice(row), slice(row, None))
    )
    if not before.grades.size or not after.grades.size:
        return None
    one, other = fit(before, ranked, first), fit(after, ranked[row:], then)
    found = is_clear(one, fit(before, ranked, then))
    found = found and is_clear(other, fit(after, ranked[row:], first))
    return Break(row, one, other) if found else None


def slipped_at(rows: Rows, scores: Array, offset: int) -> Break | None:
    """Return the row from which on, or up to which, scores of the right count have slipped."""
    return broken(rows, scores, 0, offset) or broken(rows, scores, offset, 0)


def _moved(ranked: Array, n: int, offset: int) -> Array:
    """Return the score of each of `n` rows at an offset; the mean where there is none."""
    at = np.arange(n) + offset
    inside = (at >= 0) & (at < ranked.size)
    found: Array = np.where(inside, ranked[np.clip(at, 0, ranked.size - 1)], ranked.mean())
    return found


def is_even(rows: Rows, scores: Array, whole: Fit) -> bool:
    """Whether scores fit both halves of the rows that have one about as well as all of them."""
    ranked, offset = ranks(scores), whole.offset
    first, last = max(0, -offset), min(rows.grades.size, ranked.size - offset)
    middle = (first + last) // 2
    return all(
        TWICE * fit(Rows(rows.grades[start:end], rows.query[start:end]), ranked[start + offset :]).r
        > whole.r
        for start, end in ((first, middle), (middle, last))
    )


def soon(rows: Rows, scores: Array) -> tuple[Fit, Fit]:
    """Return the same for scores of the right count, of some pieces where they are well in place.

    It looks at all rows only where the fit of these pieces is not clear, or is better elsewhere.

    >>> query = np.arange(100_000) // 100
    >>> scores = np.sin(np.arange(100_000.0))
    >>> own, other = soon(Rows((scores > 0).astype(np.int64), query), scores)
    >>> own.n, own == other
    (2048, True)
    """
    n, most = scores.size, max(SLIPS)
    if n <= 2 * WINDOWS * WINDOW:
        return best(rows, scores)
    starts = np.linspace(most, n - WINDOW - most, WINDOWS).astype(np.int64)[:, None]
    at = (starts + np.arange(WINDOW)).ravel()
    around = ranks(scores[starts + np.arange(-most, WINDOW + most)].ravel()).reshape(WINDOWS, -1)
    query = rows.query[at]
    query = np.append(0, np.cumsum(query[1:] != query[:-1]))
    grades = _Grades(query, rows.grades[at])
    found = [
        grades.fit(around[:, most + offset : most + offset + WINDOW].ravel(), offset)
        for offset in SLIPS
    ]
    own, other = found[SLIPS.index(0)], max(found, key=lambda one: one.z)
    return (own, other) if own.z > CLEAR and other is own else best(rows, scores)


def is_clear(one: Fit, other: Fit) -> bool:
    """Whether scores fit so much better in one way than in the other that chance is none."""
    apart = (one.r - max(other.r, 0.0)) * math.sqrt(max(1, min(one.n, other.n) or one.n))
    return one.z > CLEAR and apart > CLEAR and one.r > TWICE * other.r


def has_slipped(own: Fit, best: Fit) -> bool:
    """Whether scores fit clearly better at another offset than as they stand."""
    return bool(best.offset) and is_clear(best, own)
