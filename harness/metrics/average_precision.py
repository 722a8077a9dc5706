"""Average precision with the denominators and the relevance of learning-to-rank tools."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.ragged import Array, Floats, Ints
from ..core.settings import Range
from .binary import judged_as
from .short_lists import Short, without_short_lists
from .tied import expected_precision_at_hits
from .trec_shared import n_hits, precision_at_hits, share

Denominator = Literal["relevant", "cutoff", "list", "hits", "grades"]
NoneFound = Annotated[int, Range(0, 1)]
Tied = Literal["apart", "together"]


def average_precision_of(
    aligned: Aligned,
    cutoff: int | None,
    rel: int,
    above: float | None,
    top: int | None,
    denominator: Denominator,
    none_found: int,
    tied: Tied,
    short: Short,
) -> Floats:
    """Return ``map`` with these parameters, ``(n_queries,)``."""
    judged, rel = judged_as(aligned, rel, above, top)
    if tied == "apart" and denominator != "hits" and not none_found:
        divisor: Array = _divisor(aligned, judged, rel, cutoff, denominator)
        values = share(sum_of_precisions(judged, rel, cutoff), divisor)
        return without_short_lists(aligned, values, cutoff, short)
    items = judged.relevant(rel)
    if tied == "apart":
        rank, precision = judged.rank[items], precision_at_hits(judged, rel)
    else:
        rank = judged.tie_last[items]
        precision = judged.memo(
            ("precision_together", rel),
            lambda: judged.hits(rel)[_last_of_group(judged, items)] / rank,
        )
    if cutoff is not None:
        inside = rank <= cutoff
        items, precision = items[inside], precision[inside]
    if denominator == "hits":
        divisor = judged.count(items)
    else:
        divisor = _divisor(aligned, judged, rel, cutoff, denominator)
    values = share(judged.sum(precision, items), divisor)
    if none_found:
        values = np.where(judged.count(items) == 0, 1.0, values)
    return without_short_lists(aligned, values, cutoff, short)


def sum_of_precisions(aligned: Aligned, rel: int, cutoff: int | None) -> Floats:
    """Return the sum of the precisions at relevant documents' ranks, up to a cutoff."""
    inside = None if cutoff is None else aligned.rank_of_relevant(rel) <= cutoff
    return aligned.found(rel).sum(precision_at_hits(aligned, rel), inside)


def _last_of_group(aligned: Aligned, items: Ints) -> Ints:
    """Return, for each item, the position of the last one of its group of tied scores."""
    row, last = aligned.row[items], aligned.tie_last[items]
    ends = np.append((row[1:] != row[:-1]) | (last[1:] != last[:-1]), True)[: items.size]
    places = np.flatnonzero(ends)
    return places[np.searchsorted(places, np.arange(items.size))]


def _divisor(
    aligned: Aligned, judged: Aligned, rel: int, cutoff: int | None, denominator: Denominator
) -> Array:
    """Return what does not hang on the order of the ranking, ``(n_queries,)``."""
    if denominator == "grades":
        best = aligned.ideal
        return best.sum(where=None if cutoff is None else best.rank <= cutoff)
    divisor: Array = judged.n_relevant(rel)
    if denominator != "relevant" and cutoff is not None:
        divisor = np.minimum(divisor, cutoff)
    return np.minimum(divisor, judged.n_retrieved) if denominator == "list" else divisor


def expected_average_precision_of(
    aligned: Aligned,
    *,
    cutoff: int | None = None,
    rel: int = 1,
    above: float | None = None,
    top: int | None = None,
    denominator: Denominator = "relevant",
    none_found: int = 0,
    tied: Tied = "apart",
    short: Short = "cut",
) -> Floats | None:
    """Return the expectation of ``map`` over the orders of tied documents.

    None where it is no sum over documents: with a cutoff the number of relevant documents above
    it, and whether there are any, hang on the order.
    """
    if tied == "together":
        return average_precision_of(
            aligned, cutoff, rel, above, top, denominator, none_found, tied, short
        )
    if cutoff is not None and (denominator == "hits" or none_found):
        return None
    judged, rel = judged_as(aligned, rel, above, top)
    items, precision = expected_precision_at_hits(judged, rel, cutoff)
    if denominator == "hits":
        divisor: Array = n_hits(judged, rel)
    else:
        divisor = _divisor(aligned, judged, rel, cutoff, denominator)
    values = share(judged.sum(precision, items), divisor)
    if none_found:
        values = np.where(n_hits(judged, rel) == 0, 1.0, values)
    return without_short_lists(aligned, values, cutoff, short)
