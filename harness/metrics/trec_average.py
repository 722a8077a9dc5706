"""Average precision and its variants, bpref, and interpolated precision."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.arguments import Range
from ..core.policy_views import tied_groups
from ..core.ragged import Array, Floats, Ints, Ragged, offsets_of, positions_of, stretches
from .shared import (
    LARGEST_SHARE,
    LEVELS,
    Above,
    Cutoff,
    Rel,
    Short,
    Top,
    check_short,
    has_threshold,
    judged_as,
    log_of,
    none_relevant,
    precision_at_hits,
    running,
    share,
    too_short,
    trec_measure,
    without_short_lists,
)
from .tied import expected_precision_at_hits

Denominator = Literal["relevant", "cutoff", "list", "hits", "grades"]
NoneFound = Annotated[int, Range(0, 1)]
Tied = Literal["apart", "together"]


def _divisor(
    aligned: Aligned, judged: Aligned, rel: float, cutoff: int | None, denominator: Denominator
) -> Array:
    """Divisor of the sum, for any order of the ranking, ``(n_queries,)``."""
    if denominator == "grades":
        best = aligned.ideal
        return best.sum(where=None if cutoff is None else best.rank <= cutoff)
    divisor: Array = judged.n_relevant(rel)
    if denominator != "relevant" and cutoff is not None:
        divisor = np.minimum(divisor, cutoff)
    return np.minimum(divisor, judged.n_retrieved) if denominator == "list" else divisor


SMALLEST = 0.00001
"""Smallest value whose logarithm is taken; it replaces smaller ones."""
EPSILON = 0.00001
"""Added to the counts of infAP: without judged documents above, half of them are relevant."""


@trec_measure(
    "map",
    "m_map.c and m_map_cut.c; Buckley and Voorhees 2005",
    fractions=has_threshold,
    title="MAP",
    cite=("buckley2005",),
    aliases=("ap", "AP", "MAP"),
    expected="average",
    unbounded_with=(
        "top",
        "short+judged_only",
        "denominator+judged_only",
        "tied+judged_only",
    ),
    empty_of=none_relevant,
    short_of=too_short,
    check=check_short,
)
def average_precision(
    aligned: Aligned,
    *,
    cutoff: Cutoff | None = None,
    rel: Rel = 1,
    above: Above | None = None,
    top: Top | None = None,
    denominator: Denominator = "relevant",
    none_found: NoneFound = 0,
    tied: Tied = "apart",
    short: Short = "cut",
    average: bool = False,
) -> Floats | None:
    """Mean of the precisions at the ranks of the relevant documents.

    AP = (1/R) sum over relevant retrieved documents of (number of relevant documents up to the
    rank) / (the rank). R counts all relevant documents, retrieved or not, also with a cutoff.

    Parameters
    ----------
    top : int, optional
        Largest grade that counts as relevant; 2 in LETOR's scripts.
    denominator : {"relevant", "cutoff", "list", "hits", "grades"}
        Divisor of the sum. ``relevant``: R. ``cutoff``: min(R, k). ``list``: min(R, k, n) for n
        retrieved documents. ``hits``: the number of relevant documents among the first k.
        ``grades``: the sum of the k largest grades.
    none_found : {0, 1}
        Value of a query without a relevant document among the first k; 1 in RankEval.
    tied : {"apart", "together"}
        Rank of tied documents: one after another (``apart``), or all at the last of their ranks
        (``together``), as in scikit-learn.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "b": 3.0, "x": 2.0, "c": 1.0}})
    >>> aligned = align(qrels, run)                     # (1/1 + 2/4) / 2
    >>> average_precision(aligned).tolist(), average_precision(aligned, cutoff=3).tolist()
    ([0.75], [0.5])
    """
    judged, rel = judged_as(aligned, rel, above, top)
    if average and tied == "apart":
        if cutoff is not None and (denominator == "hits" or none_found):
            return None  # the number of relevant documents above it depends on the order
        items, precision = judged.relevant(rel), expected_precision_at_hits(judged, rel, cutoff)
        n_counted = judged.found(rel).lengths
    else:
        items, precision = _precision_at_hits(judged, rel, tied, cutoff)
        n_counted = judged.count(items)
    divisor: Array = n_counted
    if denominator != "hits":
        divisor = _divisor(aligned, judged, rel, cutoff, denominator)
    values = share(judged.sum(precision, items), divisor)
    if none_found:
        values = np.where(n_counted == 0, 1.0, values)
    return without_short_lists(aligned, values, cutoff, short)


def _precision_at_hits(
    aligned: Aligned, rel: float, tied: Tied, cutoff: int | None
) -> tuple[Ints, Floats]:
    """Return the relevant documents within the cutoff, and the precision at their ranks."""
    items = aligned.relevant(rel)
    rank, precision = aligned.rank_of_relevant(rel), precision_at_hits(aligned, rel)
    if tied == "together":
        rank = aligned.tie_last[items]
        starts, sizes = stretches(aligned.row[items], rank)
        last_of_group = np.repeat(starts + sizes - 1, sizes)
        precision = aligned.hits(rel)[last_of_group] / rank
    if cutoff is None:
        return items, precision
    inside = rank <= cutoff
    return items[inside], precision[inside]


@trec_measure(
    "gm_map",
    "m_gm_map.c; Robertson 2006",
    title="GMAP",
    cite=("robertson2006",),
    bounds=(math.log(SMALLEST), 0),
    summary="gm",
    empty=math.log(SMALLEST),
    missing=None,
    aliases=("gmap", "GMAP"),
)
def geometric_average_precision(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Logarithm of ``map``; the summary is its geometric mean over queries.

    gm_map = ln(max(AP, 0.00001)), with exp of the mean as summary. Queries near 0 weigh heavily.
    trec_eval prints only the summary. A query that the run does not answer has AP = 0, as with
    ``trec_eval -c``.

    Returns
    -------
    ndarray, shape (n_queries,)
        ln(0.00001) to 0; ln(0.00001) for a query without relevant documents.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0}})
    >>> geometric_average_precision(align(qrels, run)).tolist()         # ln(0.5)
    [-0.6931471805599453]
    """
    items, precision = _precision_at_hits(aligned, rel, "apart", None)
    values = share(aligned.sum(precision, items), aligned.n_relevant(rel))
    return log_of(np.maximum(values, SMALLEST))


@trec_measure(
    "infAP",
    "m_infap.c; Yilmaz and Aslam 2006",
    title="infAP",
    cite=("yilmaz2006",),
    aliases=("infap",),
    bounded=False,
)
def inferred_average_precision(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Average precision, estimated from a pool that is judged in part.

    Documents with a grade below 0 are in the pool and not judged. Documents without a grade are
    outside the pool and count as non-relevant. Take a relevant document at rank j + 1. Above it are
    p documents of the pool, r of them relevant and n judged non-relevant. Its expected precision is

    1/(j + 1) + (j/(j + 1)) (p/j) (r + e)/(r + n + 2 e),   e = 0.00001

    or 1 for j = 0. infAP is the sum over the relevant documents retrieved, divided by the number of
    relevant documents. If all documents are judged, it is a little below ``map``, because of e.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": -1, "b": 0, "c": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> inferred_average_precision(align(qrels, run)).round(4).tolist() # 1/3 + 2/3 * 2/2 * ~0
    [0.3333]
    """
    items, above = aligned.relevant(rel), aligned.hits(rel) - 1
    j = (aligned.rank[items] - 1).astype(np.float64)
    pool = positions_of(aligned.offsets)[items]
    judged = Ragged(aligned.offsets, (aligned.grade >= 0).astype(np.int64)).cumsum()[items] - 1
    pooled = share(pool, j)
    rate = (above + EPSILON) / (judged + 2 * EPSILON)
    expected = 1.0 / (j + 1.0) + (j / (j + 1.0)) * pooled * rate
    return share(aligned.sum(expected, items), aligned.n_relevant(rel))


def _nonrelevant_above(aligned: Aligned, rel: float) -> Ints:
    """Return min(n, R) of each relevant document retrieved: of n non-relevant ones above it."""
    relevant, unjudged = aligned.found(rel), aligned.unjudged
    above: Ints = relevant.values - relevant.spread(aligned.offsets[:-1]) - relevant.rank + 1
    if unjudged.size:
        above -= np.searchsorted(unjudged, relevant.values)
        above += relevant.spread(aligned.by_query(unjudged).offsets[:-1])
    return np.minimum(above, relevant.spread(aligned.n_relevant(rel)), out=above)


def _expected_nonrelevant_above(aligned: Aligned, rel: float) -> Floats:
    """Return the mean of `_nonrelevant_above` over the orders of tied documents.

    In a random order a relevant document is below 0, 1, ... m of the m non-relevant ones
    that it is tied with, each with probability 1 / (m + 1); so min(n, R) becomes the mean of
    min(n, R), ... min(n + m, R), n of them being above the group.
    """
    is_nonrelevant = (aligned.grade >= 0) & (aligned.grade < rel)
    nonrelevant = Ragged(aligned.offsets, is_nonrelevant.astype(np.int64))
    so_far, above = nonrelevant.cumsum(), _nonrelevant_above(aligned, rel).astype(np.float64)
    positions, groups = tied_groups(aligned, rel).at, tied_groups(aligned)
    if positions.size:
        heads = groups.items[offsets_of(groups.found)[:-1]]
        n = so_far[heads] - nonrelevant.values[heads]
        m = np.bincount(groups.group[nonrelevant.values[groups.items] > 0], minlength=n.size)
        group = groups.group[aligned.grade[groups.items] >= rel]
        n, m = n[group], m[group]
        n_relevant = aligned.n_relevant(rel)[aligned.found(rel).row[positions]]
        rising = np.clip(n_relevant - n, 0, m + 1)  # how many of n, n + 1, ... n + m are below R
        total = n * rising + rising * (rising - 1) // 2 + (m + 1 - rising) * n_relevant
        above[positions] = total / (m + 1)
    return above


@trec_measure(
    "bpref",
    "m_bpref.c; Buckley and Voorhees 2004",
    title="bpref",
    cite=("buckley2004",),
    aliases=("Bpref", "BPref"),
    expected="average",
)
def binary_preference(aligned: Aligned, *, rel: Rel = 1, average: bool = False) -> Floats:
    """Binary preference: mean share of judged non-relevant documents below the relevant ones.

    bpref = (1/R) sum over relevant documents retrieved of 1 - min(n, R) / min(N, R), with R
    relevant documents, N judged non-relevant ones, and n of these above. Unjudged documents do not
    count. The denominator min(N, R) is trec_eval's; the paper has R.

    Parameters
    ----------
    rel : int
        Smallest grade that counts as relevant. Smaller grades from 0 are non-relevant, grades
        below 0 unjudged.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 1, "d": 0}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "x": 3.0, "b": 2.0, "c": 1.0}})
    >>> binary_preference(align(qrels, run)).tolist()       # (1 + (1 - 1/2)) / 2
    [0.75]
    """
    above = (_expected_nonrelevant_above if average else _nonrelevant_above)(aligned, rel)
    relevant, n_relevant = aligned.found(rel), aligned.n_relevant(rel)
    bound = np.minimum(aligned.n_judged - n_relevant, n_relevant)
    # Without non-relevant documents, `above` is 0: avoid 0 / 0.
    gains = 1.0 - above / relevant.spread(np.maximum(bound, 1.0))
    return share(relevant.sum(gains), n_relevant)


@trec_measure(
    "gm_bpref",
    "m_gm_bpref.c",
    title="the geometric mean of bpref",
    cite=("buckley2004",),
    bounds=(math.log(SMALLEST), 0),
    summary="gm",
    empty=math.log(SMALLEST),
    missing=None,
)
def geometric_binary_preference(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Logarithm of ``bpref``; the summary is its geometric mean over queries.

    gm_bpref = ln(max(bpref, 0.00001)); see ``gm_map``.

    Returns
    -------
    ndarray, shape (n_queries,)
        ln(0.00001) to 0; ln(0.00001) for a query without relevant documents.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "c": 1}})
    >>> run = Run.from_dict({"q": {"a": 4.0}})
    >>> geometric_binary_preference(align(qrels, run)).tolist()         # ln(0.5)
    [-0.6931471805599453]
    """
    return log_of(np.maximum(binary_preference(aligned, rel=rel), SMALLEST))


Level = Annotated[float, Range(0, LARGEST_SHARE)]


def precision_from(aligned: Aligned, n_wanted: Ints, rel: float) -> Floats:
    """Return the largest precision at or below the relevant document number `n_wanted`.

    ``(n_queries,)``: 0 if that document is not retrieved. Numbers below 1 mean the largest
    precision at any rank; for an empty list that is NaN, as trec_eval computes 0/0.
    """
    items = aligned.relevant(rel)

    def best_from() -> Floats:
        row, precision = aligned.row[items], precision_at_hits(aligned, rel)
        return running(np.maximum, row[::-1], precision[::-1])[::-1]

    is_reached = aligned.hits(rel) == np.maximum(n_wanted, 1)[aligned.row[items]]
    best = aligned.memo(("best_from", rel), best_from)
    values = aligned.sum(best[is_reached], items[is_reached])
    values[aligned.answered & (aligned.n_retrieved == 0) & (n_wanted <= 0)] = np.nan
    return values


@trec_measure(
    "iprec_at_recall",
    "m_iprec_at_recall.c",
    title="interpolated precision at recall {}",
    aliases=("IPrec",),
    cutoffs=LEVELS,
)
def interpolated_precision(aligned: Aligned, *, cutoff: Level, rel: Rel = 1) -> Floats:
    """Interpolated precision: the largest precision at any rank with a level of recall.

    With R relevant documents, the level x is reached at relevant document number
    floor(x R + 0.9). This does not round up: x R = 3.05 means 3 documents. The value is the
    largest precision at or below the rank of that document, or 0 if the run does not retrieve it.
    ``iprec_at_recall@0`` is the largest precision at any rank.

    Parameters
    ----------
    cutoff : float
        Level of recall, x.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1; 0 for a query without relevant documents. At the level 0, an empty list has
        NaN, because trec_eval computes 0/0.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "c": 2}})
    >>> run = Run.from_dict({"q": {"x": 4.0, "a": 3.0, "c": 2.0}})      # precision 1/2, 2/3
    >>> interpolated_precision(align(qrels, run), cutoff=0.1).round(4).tolist()
    [0.6667]
    """
    n_wanted = (cutoff * aligned.n_relevant(rel) + 0.9).astype(np.int64)
    return precision_from(aligned, n_wanted, rel)


@trec_measure(
    "11pt_avg", "m_11pt_avg.c", title="interpolated average precision", trec_parameter="levels"
)
def eleven_point_average(
    aligned: Aligned,
    *,
    levels: Annotated[tuple[float, ...], Range(0, LARGEST_SHARE)] = LEVELS,
    rel: Rel = 1,
) -> Floats:
    """Mean of the interpolated precision at several levels of recall.

    The levels are 0, 0.1, ..., 1 by default. ``11pt_avg(levels=0.2:0.5:0.8)`` has three others.
    Their order does not matter here; trec_eval needs them in ascending order.

    Parameters
    ----------
    levels : tuple of float
        Levels of recall.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1; 0 for a query without relevant documents, NaN if
        ``iprec_at_recall`` is NaN at one of the levels.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0}})
    >>> eleven_point_average(align(qrels, run), levels=(0.5, 1.0)).tolist()     # (1 + 0) / 2
    [0.5]
    """
    total = np.zeros(aligned.n_queries)
    for level in sorted(levels, reverse=True):  # trec_eval adds from the highest level down
        total += interpolated_precision(aligned, cutoff=level, rel=rel)
    return total / len(levels)
