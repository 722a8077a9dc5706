"""Means over the possible ranks of a document with a tied score.

In a random order of a tied group, each document has each rank of the group with equal chance. So
the expectation of a sum of (gain) x (weight of the rank) has the mean weight of the ranks
``tie_first`` to ``tie_last`` (McSherry and Najork, ECIR 2008). Documents without ties keep the
plain arithmetic, so no bit of their values changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..core.aligned import Aligned
from ..core.policy_views import TiedGroups, groups_of, tied_groups
from ..core.ragged import (
    Array,
    Floats,
    Ints,
    frozen,
    offsets_of,
    positions_of,
    rows_of,
    stretches,
    sum_by,
)
from .shared import precision_at_hits, running

_STEP = 2.0**-32
_SMALLEST_TABLE = 10


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums of the weights of the first 0, 1, 2... ranks, in two parts.

    ``high`` sums the weights rounded to multiples of 2^-32, which is exact up to 2^21; ``low``
    sums what was rounded off. So their differences have the digits that the sum of a few
    weights at a deep rank has; one running total would lose them.
    """

    high: Floats
    low: Floats

    @classmethod
    def of(cls, weights: Floats) -> Totals:
        """Sum these weights of the ranks 1, 2..."""
        rounded = np.rint(weights / _STEP) * _STEP
        return cls(_summed(rounded), _summed(weights - rounded))

    def over(self, start: Ints, end: Ints) -> Floats:
        """Return the sum of the weights of the ranks `start` to `end`, ends included."""
        before = start - 1
        sums: Floats = self.high[end] - self.high[before] + (self.low[end] - self.low[before])
        return sums


def _summed(numbers: Floats) -> Floats:
    return frozen(np.concatenate([np.zeros(1), np.cumsum(numbers)]))


@lru_cache(maxsize=8)
def _inverse_totals(divisor: Callable[[Ints], Array], size: int) -> Totals:
    return Totals.of(1.0 / divisor(np.arange(1, size + 1)))


def totals_of_inverse(divisor: Callable[[Ints], Array], longest: int) -> Totals:
    """Return the totals of ``1 / divisor(rank)`` for at least the ranks up to `longest`."""
    return _inverse_totals(divisor, 1 << max(_SMALLEST_TABLE, longest.bit_length()))


def within(aligned: Aligned, items: Ints, cutoff: int | None) -> Ints:
    """Return those of the items that can be among the first `cutoff` documents."""
    return items if cutoff is None else items[aligned.tie_first[items] <= cutoff]


def mean_discounted(
    aligned: Aligned,
    items: Ints,
    gain: Floats,
    divisor: Callable[[Ints], Array],
    cutoff: int | None = None,
) -> Floats:
    """Return each document's mean of ``gain / divisor(rank)`` over the ranks it can have.

    Ranks past the cutoff weigh nothing. Totals are kept by `divisor`: pass the same object.
    """
    values: Floats = gain / divisor(aligned.rank[items])
    start, end = aligned.tie_first[items], aligned.tie_last[items]
    tied = np.flatnonzero(end > start)
    if tied.size:
        start, end = start[tied], end[tied]
        size = end - start + 1
        end = end if cutoff is None else np.minimum(end, cutoff)
        totals = totals_of_inverse(divisor, int(end.max()))
        values[tied] = gain[tied] * (totals.over(start, end) / size)
    return values


def spread(aligned: Aligned, items: Ints, gain: Floats) -> tuple[Ints, Ints, Floats]:
    """Return query, rank and mean gain of each place that one of the documents can have, once."""
    groups = groups_of(aligned, items)
    single = np.ones(items.size, dtype=bool)
    single[groups.at] = False
    mean = sum_by(groups.group, gain[groups.at], groups.size.size) / groups.size
    ranks = positions_of(offsets_of(groups.size)) + np.repeat(groups.first, groups.size)
    row, rank = aligned.row[items[single]], aligned.rank[items[single]]
    return (
        np.concatenate([row, np.repeat(groups.row, groups.size)]),
        np.concatenate([rank, ranks]),
        np.concatenate([gain[single], np.repeat(mean, groups.size)]),
    )


def expected_precision_at_hits(aligned: Aligned, rel: float, cutoff: int | None) -> Floats:
    """Return the mean precision at the rank of each relevant document retrieved, ``(n_hits,)``.

    It is 0 beyond the cutoff. In a group of n tied documents at the ranks f to l, h of them
    relevant, with c relevant documents above, a relevant document at rank r has
    c + 1 + (r - f) (h - 1) / (n - 1) relevant documents up to it on average. Its mean precision is

    ((c + 1 - f b) (1/f + ... + 1/e) + b (e - f + 1)) / n,   b = (h - 1) / (n - 1)

    with e the smaller of l and the cutoff (McSherry and Najork, ECIR 2008, cut at k).
    """
    items, precision = aligned.relevant(rel), precision_at_hits(aligned, rel)
    groups = tied_groups(aligned, rel)
    if groups.at.size:
        precision = precision.copy()
        precision[groups.at] = _mean_precision(aligned, groups, rel, cutoff)[groups.group]
    if cutoff is not None:
        precision = np.where(aligned.tie_first[items] <= cutoff, precision, 0.0)
    return precision


def _hits_above(aligned: Aligned, groups: TiedGroups, rel: float) -> Ints:
    """Return the relevant documents above each group, ``(n_groups,)``."""
    heads = offsets_of(groups.found)[:-1]
    above: Ints = aligned.hits(rel)[groups.at[heads]] - 1
    return above


def _mean_precision(aligned: Aligned, groups: TiedGroups, rel: float, cutoff: int | None) -> Floats:
    start, end, above = groups.first, groups.last, _hits_above(aligned, groups, rel)
    if cutoff is not None:
        end = np.maximum(np.minimum(end, cutoff), start - 1)
    slope = (groups.found - 1) / (groups.size - 1)
    harmonic = totals_of_inverse(np.positive, int(end.max())).over(start, end)
    total: Floats = (above + 1 - start * slope) * harmonic + slope * (end - start + 1)
    return total / groups.size


def expected_reciprocal_of_first(aligned: Aligned, rel: float, cutoff: int | None) -> Floats:
    """Return each query's mean of 1 / (rank of the first relevant document), ``(n_queries,)``.

    It is 0 without one within the cutoff. In a group of n tied documents from rank f with h
    relevant ones, the first of these is at place j with probability C(n - j, h - 1) / C(n, h);
    each is the one before times (n - j - h + 2) / (n - j + 1).
    """
    is_first = aligned.hits(rel) == 1
    items = aligned.relevant(rel)[is_first]
    reciprocal = 1.0 / aligned.rank[items]
    groups = tied_groups(aligned, rel)
    leading = np.flatnonzero(_hits_above(aligned, groups, rel) == 0)
    if leading.size:
        begin, size, hits = groups.first[leading], groups.size[leading], groups.found[leading]
        places = size - hits + 1
        if cutoff is not None:
            places = np.clip(cutoff - begin + 1, 0, places)
        offsets = offsets_of(places)
        row, j = rows_of(offsets), positions_of(offsets) + 1
        size, hits = size[row], hits[row]
        factor = np.where(j == 1, hits / size, (size - j - hits + 2) / (size - j + 1))
        weights = running(np.multiply, row, factor) / (begin[row] + j - 1)
        tied = aligned.tie_last[items] > aligned.tie_first[items]
        reciprocal[tied] = sum_by(row, weights, leading.size)
    if cutoff is not None:
        reciprocal[aligned.tie_first[items] > cutoff] = 0.0
    return aligned.sum(reciprocal, items)


def expected_hits_at(aligned: Aligned, cutoff: int | Ints, rel: float) -> Floats:
    """Return the expected number of relevant documents among the first `cutoff`.

    ``(n_queries,)``. Of a group of n tied documents that begins at rank f and reaches beyond
    the cutoff k, each is inside with probability (k - f + 1) / n.
    """
    items, limit = _inside(aligned, cutoff, rel)
    hits = aligned.count(items[aligned.tie_last[items] <= limit]).astype(np.float64)
    cut = np.flatnonzero(aligned.tie_last[items] > limit)
    if cut.size:
        items, limit = items[cut], limit if isinstance(limit, int) else limit[cut]
        start, end = aligned.tie_first[items], aligned.tie_last[items]
        hits += aligned.sum((limit - start + 1) / (end - start + 1), items)
    return hits


def probability_of_a_hit(aligned: Aligned, cutoff: int, rel: float) -> Floats:
    """Return the probability that a relevant document is among the first `cutoff`.

    ``(n_queries,)``. If only a group that reaches beyond the cutoff could hold one, with m
    of its n places inside and h relevant documents, it is 1 - C(n - m, h) / C(n, h).
    """
    items, limit = _inside(aligned, cutoff, rel)
    cut = aligned.tie_last[items] > limit
    chance = (aligned.count(items[~cut]) > 0).astype(np.float64)
    items = items[cut]
    if items.size:
        row = aligned.row[items]
        starts, sizes = stretches(row)  # only one group of a query can reach beyond a cutoff
        # The i-th relevant document is outside if those before it do: (n - m - i) / (n - i)
        i = np.arange(items.size) - np.repeat(starts, sizes)
        inside = cutoff - aligned.tie_first[items] + 1
        left = aligned.tie_last[items] - aligned.tie_first[items] + 1 - i
        missed = np.multiply.reduceat(np.maximum(left - inside, 0) / left, starts)
        chance[row[starts]] = np.maximum(chance[row[starts]], 1.0 - missed)
    return chance


def _inside(aligned: Aligned, cutoff: int | Ints, rel: float) -> tuple[Ints, int | Ints]:
    """Return the relevant documents that can be among the first `cutoff`, and their cutoffs."""
    items = aligned.relevant(rel)
    if isinstance(cutoff, int):
        return items[aligned.tie_first[items] <= cutoff], cutoff
    limit = cutoff[aligned.row[items]]
    inside = aligned.tie_first[items] <= limit
    return items[inside], limit[inside]
