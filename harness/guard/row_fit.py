"""How predictions fit the grades of rows: Pearson's correlation within queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ..core.ragged import Array, Ints, sum_by

CLEAR = 6.0
"""Standard errors that a fit must be from 0, and from the other: no chance in a million sweeps."""
TWICE = 2.0
"""How many times as large it must be: rows sorted by grade correlate with their neighbours too."""
CLOSEST = 0.8
"""Correlation beyond which scores are not taken to be closer: some rows may be other ones."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a dataset in the order of its file.

    Parameters
    ----------
    grades : ndarray, shape (n,)
    query : ndarray of int64, shape (n,)
        Position of each row's query.
    qids : pyarrow string array, optional
        What the queries are called.
    """

    grades: Array
    query: Ints
    qids: pa.Array | None = None

    def at(self, rows: Ints | slice) -> Rows:
        """Return some of the rows."""
        return Rows(self.grades[rows], self.query[rows], self.qids)


class Fit(NamedTuple):
    """How scores fit if score ``i + offset`` belongs to row ``i``.

    `r` is Pearson's correlation of grades and ranks of the scores, both less their mean in the
    query; `n` the rows in queries with several grades and scores.
    """

    offset: int
    r: float
    n: int

    @property
    def z(self) -> float:
        """In standard errors of what chance gives."""
        return self.r * math.sqrt(self.n)


def ranks(scores: Array) -> Array:
    """Return the rank of each score among all, equal ones alike, so that none is an outlier.

    >>> ranks(np.array([5.0, 1e30, 5.0, -1.0])).tolist()
    [1.0, 2.0, 1.0, 0.0]
    """
    found: Array = np.unique(scores, return_inverse=True)[1].astype(np.float64)
    return found


class Grades:
    """Grades less their mean in the query, to compare with several scores."""

    def __init__(self, rows: Rows) -> None:
        self.query = rows.query - rows.query.min()
        self.n_queries = int(self.query.max()) + 1
        self.lengths = np.bincount(self.query, minlength=self.n_queries)
        self.less = self.centred(rows.grades.astype(np.float64))
        self.squares = self._sum(self.less * self.less)

    def _sum(self, values: Array) -> Array:
        return sum_by(self.query, values, self.n_queries)

    def centred(self, values: Array) -> Array:
        """Return values less their mean in the query."""
        less: Array = values - (self._sum(values) / np.maximum(self.lengths, 1))[self.query]
        return less

    def likelihood(self, ranked: Array) -> float:
        """Return how much likelier scores are by each unit of ``sum(less * ranked)``, as a log.

        Scores are a line over the grades and noise: for the slope ``b`` and the noise's variance
        ``v`` it is ``b / v``.
        """
        score = self.centred(ranked)
        both = math.sqrt(float(self.less @ self.less) * float(score @ score))
        r = min(float(self.less @ score) / both, CLOSEST) if both else 0.0
        return r / (1 - r * r) * self.less.size / both if both else 0.0

    def by_query(self, ranked: Array) -> tuple[Ints, Array]:
        """Return the queries with several grades and scores, and Pearson's r in each."""
        score = self.centred(ranked)
        squares = self.squares * self._sum(score * score)
        query = np.flatnonzero(squares > 0)
        r: Array = self._sum(self.less * score)[query] / np.sqrt(squares[query])
        return query, r

    def fit(self, ranked: Array, offset: int = 0) -> Fit:
        """Return how well scores fit; `offset` is for the result."""
        score = self.centred(ranked)
        squares = self._sum(score * score)
        differ = (self.squares > 0) & (squares > 0)
        if not differ.any():
            return Fit(offset, 0.0, 0)
        both = self._sum(self.less * score)[differ].sum()
        r = both / math.sqrt(self.squares[differ].sum() * squares[differ].sum())
        return Fit(offset, min(1.0, float(r)), int(self.lengths[differ].sum()))


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
    return Grades(rows.at(slice(first, last))).fit(ranked[first + offset : last + offset], offset)


def starts_of(rows: Rows) -> Ints:
    """Return the first row of each query; the number of rows if it has none."""
    starts = np.full(int(rows.query.max()) + 1, rows.query.size)
    np.minimum.at(starts, rows.query, np.arange(rows.query.size))
    return starts


def is_clear(one: Fit, other: Fit) -> bool:
    """Whether scores fit so much better in one way than in the other that it is no chance."""
    apart = (one.r - max(other.r, 0.0)) * math.sqrt(max(1, min(one.n, other.n) or one.n))
    return one.z > CLEAR and apart > CLEAR and one.r > TWICE * other.r
