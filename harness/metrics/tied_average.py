"""Expectations over the orders of tied documents: precision and rank of relevant documents."""

from __future__ import annotations

import numpy as np

from ..core.aligned import Aligned
from ..core.ragged import Array, Floats, Ints, offsets_of, positions_of, rows_of, sum_by
from ..core.tied import TiedGroups, tied_groups
from .tied import totals_of_inverse
from .trec_shared import precision_at_hits, running


def _rank(rank: Ints) -> Array:
    return rank


def expected_precision_at_hits(
    aligned: Aligned, rel: int, cutoff: int | None = None
) -> tuple[Ints, Floats]:
    """Return the relevant documents that can be within the cutoff, and their mean precision.

    ``(n,)`` each; the precision at the document's rank, 0 beyond the cutoff. In a group of n
    tied documents at the ranks f to l, of which h are relevant, with c relevant documents
    above, a relevant document at rank r has c + 1 + (r - f) (h - 1) / (n - 1) relevant
    documents up to it on average. Its mean precision is therefore

    ((c + 1 - f b) (1/f + ... + 1/e) + b (e - f + 1)) / n,   b = (h - 1) / (n - 1)

    with e the smaller of l and the cutoff (McSherry and Najork, ECIR 2008, cut at k).
    """
    items, precision = aligned.relevant(rel), precision_at_hits(aligned, rel)
    groups = tied_groups(aligned, rel)
    if groups.at.size:
        precision = precision.copy()
        precision[groups.at] = _mean_precision(aligned, groups, rel, cutoff)[groups.group]
    if cutoff is not None:
        inside = aligned.tie_first[items] <= cutoff
        items, precision = items[inside], precision[inside]
    return items, precision


def _hits_above(aligned: Aligned, groups: TiedGroups, rel: int) -> Ints:
    """Return the relevant documents above each group, ``(n_groups,)``."""
    heads = offsets_of(groups.found)[:-1]
    above: Ints = aligned.hits(rel)[groups.at[heads]] - 1
    return above


def _mean_precision(aligned: Aligned, groups: TiedGroups, rel: int, cutoff: int | None) -> Floats:
    first, last, above = groups.first, groups.last, _hits_above(aligned, groups, rel)
    if cutoff is not None:
        last = np.maximum(np.minimum(last, cutoff), first - 1)
    slope = (groups.found - 1) / (groups.size - 1)
    harmonic = totals_of_inverse(_rank, int(last.max())).over(first, last)
    total: Floats = (above + 1 - first * slope) * harmonic + slope * (last - first + 1)
    return total / groups.size


def expected_reciprocal_of_first(
    aligned: Aligned, rel: int, cutoff: int | None = None
) -> tuple[Ints, Floats]:
    """Return each query's first relevant document and the mean of 1 / (rank of the first one).

    ``(n,)`` each: those that can be within the cutoff, one a query at most. In a group of n
    tied documents from rank f with h relevant ones, the first of these stands at place j with
    probability C(n - j, h - 1) / C(n, h); each is the one before times
    (n - j - h + 2) / (n - j + 1).
    """
    first = aligned.hits(rel) == 1
    items = aligned.relevant(rel)[first]
    reciprocal = 1.0 / aligned.rank[items]
    groups = tied_groups(aligned, rel)
    leading = np.flatnonzero(_hits_above(aligned, groups, rel) == 0)
    if leading.size:
        begin, size, found = groups.first[leading], groups.size[leading], groups.found[leading]
        places = size - found + 1
        if cutoff is not None:
            places = np.clip(cutoff - begin + 1, 0, places)
        offsets = offsets_of(places)
        row, j = rows_of(offsets), positions_of(offsets) + 1
        size, found = size[row], found[row]
        factor = np.where(j == 1, found / size, (size - j - found + 2) / (size - j + 1))
        weights = running(np.multiply, row, factor) / (begin[row] + j - 1)
        tied = aligned.tie_last[items] > aligned.tie_first[items]
        reciprocal[tied] = sum_by(row, weights, leading.size)
    if cutoff is not None:
        inside = aligned.tie_first[items] <= cutoff
        items, reciprocal = items[inside], reciprocal[inside]
    return items, reciprocal


def expected_reciprocal_rank(
    aligned: Aligned, *, cutoff: int | None = None, rel: int = 1
) -> Floats:
    """Return the expectation of ``recip_rank``."""
    items, reciprocal = expected_reciprocal_of_first(aligned, rel, cutoff)
    return aligned.sum(reciprocal, items)
