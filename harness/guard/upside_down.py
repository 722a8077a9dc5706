"""Whether the relevant documents of a run come after the others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..core.aligned import Aligned
from ..core.ragged import Array, Ints
from ..errors import Finding
from .parts import EXAMPLES, First, Firsts, texts_at
from .queries import Queries
from .registry import finding

ENOUGH_QUERIES = 10
"""Queries below which their spread says little."""
CHANCE = 0.5
"""Share of the pairs that are in order by chance."""
BEHIND = 0.4
"""Share below which a run is rather upside down than bad: bad ones are near a half."""
CLEAR = 6.0
"""Standard errors below a half, of what chance gives within queries."""
APART = 5.0
"""The same of what differs between queries, as documents of one query are much alike."""


class Ahead(NamedTuple):
    """Sums over queries of the share of pairs in which the relevant document comes first.

    Of all pairs of a relevant document and another that the query retrieved: a half by chance.

    Parameters
    ----------
    queries : int
        Those that retrieved both.
    shares, squares : float
        Sums of the shares, and of their squares.
    variance : float
        Sum of the shares' variances, were every order as likely.
    behind : int
        Queries whose share is below a half.
    """

    queries: int = 0
    shares: float = 0.0
    squares: float = 0.0
    variance: float = 0.0
    behind: int = 0

    @classmethod
    def of(cls, part: Aligned) -> Ahead:
        """Return the sums of some queries; those are left out where most documents are tied.

        ``share = 1/2 - (S - r (n + 1) / 2) / (r (n - r))`` for the sum S of the ranks of r
        relevant documents among n; its variance by chance is ``(n + 1) / (12 r (n - r))`` (Mann
        and Whitney, 1947).
        """
        return cls._of(*_shares(part))

    @classmethod
    def _of(cls, query: Ints, share: Array, variance: Array) -> Ahead:
        return cls(
            query.size, float(share.sum()), float((share**2).sum()), float(variance.sum()),
            int((share < CHANCE).sum()),
        )  # fmt: skip

    def more(self, other: Ahead) -> Ahead:
        """Return the sums of these queries and of others."""
        return Ahead(
            self.queries + other.queries,
            self.shares + other.shares,
            self.squares + other.squares,
            self.variance + other.variance,
            self.behind + other.behind,
        )

    def findings(self, place: str, first: First) -> Iterator[Finding]:
        """Yield that the run at `place` is upside down; `first` are queries below a half.

        >>> found = Ahead(100, 20.0, 5.0, 0.25, 96).findings("a.run", First())
        >>> next(found).what  # doctest: +NORMALIZE_WHITESPACE
        'a relevant document comes before another one in 20 % of all pairs (mean over 100
        queries; below a half in 96), where chance gives 50 %'
        """
        if self.queries < ENOUGH_QUERIES:
            return
        n, mean = self.queries, self.shares / self.queries
        spread = math.sqrt(max(self.squares / n - mean * mean, 0.0) / (n - 1))
        clear = max(CLEAR * math.sqrt(self.variance) / n, APART * spread)
        if mean < BEHIND and CHANCE - mean > clear:
            what = (
                f"a relevant document comes before another one in {100 * mean:.0f} % of all pairs "
                f"(mean over {n:,} queries; below a half in {self.behind:,}), where chance gives "
                "50 %"
            )
            yield finding("upside-down", first.at(place), what, self.behind, first.names)


class Order:
    """Sums up in which order relevant documents come, part by part."""

    def __init__(self, queries: Queries, first: Firsts) -> None:
        self.queries, self.first, self.ahead = queries, first, Ahead()

    def aligned(self, aligned: Aligned) -> None:
        """Look at a part that was aligned."""
        query, share, variance = _shares(aligned)
        self.ahead = self.ahead.more(Ahead._of(query, share, variance))
        behind = np.flatnonzero(share < CHANCE)[:EXAMPLES]
        if behind.size and self.first.lacks("upside-down"):
            some = self.queries.start_of(texts_at(aligned.qids, query[behind]))
            shares = (100 * share[behind]).tolist()
            names = (f"{qid} ({one:.0f} %)" for qid, one in zip(some.names, shares, strict=True))
            self.first.add("upside-down", some._replace(names=tuple(names)))


def _shares(part: Aligned) -> tuple[Ints, Array, Array]:
    """Return the queries of which :meth:`Ahead.of` is the sum, their shares and the variances."""
    found, ranks = part.found(), part.rank_of_relevant()
    r, n = found.lengths, part.n_retrieved
    query: Ints = np.flatnonzero((r > 0) & (r < n) & (2 * part.n_tied <= n))
    if not query.size:
        return query, np.zeros(0), np.zeros(0)
    sums = np.bincount(found.row, ranks, minlength=r.size)[query]
    r, n = r[query].astype(np.float64), n[query]
    share: Array = CHANCE - (sums - r * (n + 1) / 2) / (r * (n - r))
    variance: Array = (n + 1) / (12 * r * (n - r))
    return query, share, variance
