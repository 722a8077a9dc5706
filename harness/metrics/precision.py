"""Precision, recall and hits of the first k documents, or of all retrieved documents."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.arguments import Range
from ..core.metric import metric
from ..core.ragged import Floats
from .shared import (
    CUTOFFS,
    Above,
    Cutoff,
    Rel,
    Short,
    Top,
    check_short,
    has_threshold,
    hits_at,
    judged_as,
    log_of,
    none_relevant,
    precision_at_hits,
    share,
    share_metric,
    too_short,
    trec_measure,
    without_short_lists,
)
from .tied import expected_hits_at, probability_of_a_hit

PrecisionDenominator = Literal["cutoff", "list"]


@trec_measure(
    "P",
    "m_P.c",
    fractions=has_threshold,
    title="P",
    aliases=("precision", "Precision"),
    cutoffs=CUTOFFS,
    expected="average",
    unbounded_with=("top", "short+judged_only", "denominator+judged_only"),
    empty_of=none_relevant,
    short_of=too_short,
    check=check_short,
)
def precision(
    aligned: Aligned,
    *,
    cutoff: Cutoff,
    rel: Rel = 1,
    above: Above | None = None,
    top: Top | None = None,
    denominator: PrecisionDenominator = "cutoff",
    short: Short = "cut",
    average: bool = False,
) -> Floats:
    """Share of the first k documents that are relevant.

    P@k = (relevant documents at ranks 1..k) / k. A list shorter than k is filled up with
    non-relevant documents, unlike in ``set_P``.

    Parameters
    ----------
    denominator : {"cutoff", "list"}
        ``cutoff``: k. ``list``: k or the number of retrieved documents, if that is smaller.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> precision(align(qrels, run), cutoff=2).tolist()
    [0.5]
    """
    judged, level = judged_as(aligned, rel, above, top)
    hits = (expected_hits_at if average else hits_at)(judged, cutoff, level)
    if denominator == "cutoff":
        values: Floats = hits / np.float64(cutoff)
    else:
        values = share(hits, np.minimum(cutoff, aligned.n_retrieved))
    return without_short_lists(aligned, values, cutoff, short)


@trec_measure(
    "recall",
    "m_recall.c",
    title="R",
    aliases=("R", "Recall"),
    cutoffs=CUTOFFS,
    expected="average",
)
def recall(aligned: Aligned, *, cutoff: Cutoff, rel: Rel = 1, average: bool = False) -> Floats:
    """Share of the relevant documents that are among the first k.

    recall@k = (relevant documents at ranks 1..k) / (all relevant documents). Some papers call
    ``success``, one relevant document or more, "recall@k".

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2, "d": 1, "e": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> recall(align(qrels, run), cutoff=2).tolist()
    [0.25]
    """
    hits = (expected_hits_at if average else hits_at)(aligned, cutoff, rel)
    return share(hits, aligned.n_relevant(rel))


@trec_measure(
    "success",
    "m_success.c",
    title="success",
    aliases=("Success",),
    cutoffs=(1, 5, 10),
    expected="average",
)
def success(aligned: Aligned, *, cutoff: Cutoff, rel: Rel = 1, average: bool = False) -> Floats:
    """1 if one of the first k documents is relevant, else 0.

    The mean is the share of queries with a relevant document among the first k ("hit rate").

    Returns
    -------
    ndarray, shape (n_queries,)
        1 or 0; 0 for a query without relevant documents.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0}})
    >>> run = Run.from_dict({"q": {"b": 2.0, "a": 1.0}})
    >>> aligned = align(qrels, run)
    >>> success(aligned, cutoff=1).tolist(), success(aligned, cutoff=2).tolist()
    ([0.0], [1.0])
    """
    if average:
        return probability_of_a_hit(aligned, cutoff, rel)
    return (hits_at(aligned, cutoff, rel) > 0).astype(np.float64)


@trec_measure(
    "relative_P", "m_rel_P.c", title="relative precision", cutoffs=CUTOFFS, expected="average"
)
def relative_precision(
    aligned: Aligned, *, cutoff: Cutoff, rel: Rel = 1, average: bool = False
) -> Floats:
    """Precision at k, divided by the largest possible precision at k.

    relative_P@k = (relevant documents at ranks 1..k) / min(k, R) with R relevant documents. It is
    ``P`` up to rank R, and ``recall`` beyond it. The length of the list does not matter, unlike in
    ``set_relative_P``.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> relative_precision(align(qrels, run), cutoff=5).tolist()
    [1.0]
    """
    hits = (expected_hits_at if average else hits_at)(aligned, cutoff, rel)
    return share(hits, np.minimum(cutoff, aligned.n_relevant(rel)))


@metric(
    "hits",
    title="the number of relevant documents",
    direction="higher",
    bounds=(0, np.inf),
    source="ranx 0.3.21, metrics/hits.py",
    unit="documents",
    cutoffs=(1, 5, 10),
    expected="average",
)
def hits(aligned: Aligned, *, cutoff: Cutoff, rel: Rel = 1, average: bool = False) -> Floats:
    """Number of relevant documents among the first k.

    hits@k = k P@k. Some papers call ``success`` ("hit rate") hits@k. The share of all relevant
    documents is ``recall``.

    Returns
    -------
    ndarray, shape (n_queries,)
        From 0 to k; 0 for a query without relevant documents.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> hits(align(qrels, run), cutoff=2).tolist(), hits(align(qrels, run), cutoff=3).tolist()
    ([1.0], [2.0])
    """
    counted = expected_hits_at if average else hits_at
    return counted(aligned, cutoff, rel).astype(np.float64)


@share_metric(
    "f1",
    title="F1",
    source="van Rijsbergen 1979; ranx 0.3.21, metrics/f1.py",
    cite=("vanrijsbergen1979",),
    aliases=("F1",),
    expected="average",
    unbounded_with=("judged_only",),
)
def f1(
    aligned: Aligned, *, cutoff: Cutoff | None = None, rel: Rel = 1, average: bool = False
) -> Floats:
    """Harmonic mean of precision and recall of the first k documents.

    f1@k = 2 P R / (P + R) with P@k and recall@k, or 2 h / (k + r) if h of the r relevant documents
    are among the first k. A list shorter than k is filled up with non-relevant documents, as in
    ``P``, but not in ``set_F(depth=k)``. Without a cutoff it is ``set_F``.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1; 0 if no relevant document is among the first k.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> f1(align(qrels, run), cutoff=2).tolist()                # 2 * 1 / (2 + 2)
    [0.5]
    """
    if cutoff is None:
        of_list: Floats = set_f(aligned, rel=rel)
        return of_list
    found = (expected_hits_at if average else hits_at)(aligned, cutoff, rel)
    p, r = found / np.float64(cutoff), share(found, aligned.n_relevant(rel))
    return share(2.0 * p * r, p + r)


@trec_measure(
    "set_P",
    "m_set_P.c",
    title="set precision",
    aliases=("SetP",),
    expected="itself",
    unbounded_with=("judged_only",),
)
def set_precision(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Share of the retrieved documents that are relevant.

    set_P = (relevant retrieved) / (retrieved). The denominator is the length of the list, unlike in
    ``P@k``.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1; 0 if nothing is retrieved.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "b": 3.0, "x": 2.0, "y": 1.0}})
    >>> set_precision(align(qrels, run)).tolist()
    [0.25]
    """
    return share(aligned.found(rel).lengths, aligned.n_retrieved)


@trec_measure(
    "set_recall", "m_set_recall.c", title="set recall", aliases=("SetR",), expected="itself"
)
def set_recall(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Share of the relevant documents that are retrieved.

    set_recall = (relevant retrieved) / (relevant): ``recall`` at the length of the list.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "b": 3.0, "x": 2.0, "y": 1.0}})
    >>> set_recall(align(qrels, run)).tolist()
    [0.5]
    """
    return share(aligned.found(rel).lengths, aligned.n_relevant(rel))


@trec_measure(
    "set_relative_P",
    "m_set_rel_P.c",
    title="relative set precision",
    aliases=("SetRelP",),
    expected="itself",
    unbounded_with=("judged_only",),
)
def set_relative_precision(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Precision of the retrieved set, divided by the largest possible precision of its size.

    set_relative_P = (relevant retrieved) / min(retrieved, relevant).

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1; 0 if no document is retrieved or relevant.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0}})
    >>> set_relative_precision(align(qrels, run)).tolist()
    [1.0]
    """
    return share(
        aligned.found(rel).lengths, np.minimum(aligned.n_retrieved, aligned.n_relevant(rel))
    )


@trec_measure(
    "set_map",
    "m_set_map.c",
    title="the product of set precision and set recall",
    aliases=("SetAP",),
    expected="itself",
    unbounded_with=("judged_only",),
)
def set_average_precision(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Precision times recall of the retrieved set.

    set_map = (relevant retrieved)^2 / (retrieved x relevant). It is ``map`` with the precision of
    the whole set for each relevant document.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1; 0 if no document is retrieved or relevant.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "b": 3.0, "x": 2.0, "y": 1.0}})
    >>> set_average_precision(align(qrels, run)).tolist()           # 1 / (4 * 2)
    [0.125]
    """
    hits = aligned.found(rel).lengths
    return share(hits * hits, aligned.n_retrieved * aligned.n_relevant(rel))


@trec_measure(
    "set_F",
    "m_set_F.c; van Rijsbergen 1979",
    title="set F",
    cite=("vanrijsbergen1979",),
    trec_parameter="beta",
    aliases=("SetF",),
    expected="itself",
    unbounded_with=("judged_only",),
)
def set_f(
    aligned: Aligned, *, beta: Annotated[float, Range(0, None)] = 1.0, rel: Rel = 1
) -> Floats:
    """Weighted harmonic mean of precision and recall of the retrieved set.

    set_F = (beta + 1) P R / (beta P + R). This beta, trec_eval's, is the square of the beta in the
    usual F_beta: F_2 is ``set_F(beta=4)``.

    Parameters
    ----------
    beta : float
        Weight of recall relative to precision.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1; 0 if no relevant document is retrieved.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "b": 3.0, "x": 2.0, "y": 1.0}})
    >>> set_f(align(qrels, run)).round(4).tolist()          # 2 * 1/4 * 1/2 / (1/4 + 1/2)
    [0.3333]
    """
    p, r = set_precision(aligned, rel=rel), set_recall(aligned, rel=rel)
    return share((beta + 1.0) * p * r, beta * p + r)


@trec_measure(
    "utility",
    "m_utility.c",
    bounds=(-math.inf, math.inf),
    unit="utility",
    empty=None,
    trec_parameter="coefficients",
    expected="itself",
    unbounded_with=("judged_only",),
)
def utility(
    aligned: Aligned,
    *,
    coefficients: tuple[float, float, float, float] = (1.0, -1.0, 0.0, 0.0),
    documents: Annotated[int, Range(0, None)] = 0,
    rel: Rel = 1,
) -> Floats:
    """Weighted sum of the counts of relevant and other documents, retrieved and not retrieved.

    utility = c1 (relevant retrieved) + c2 (others retrieved) + c3 (relevant not retrieved) +
    c4 (others not retrieved). The last count needs the size of the collection (trec_eval -N); it is
    negative without that size.

    Parameters
    ----------
    coefficients : tuple of four floats
        c1 to c4, written ``utility(coefficients=1:-1:0:0)``.
    documents : int
        Number of documents in the collection.

    Returns
    -------
    ndarray, shape (n_queries,)
        Any number. A query that the run does not answer counts 0, as with ``trec_eval -c``.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "b": 3.0, "x": 2.0}})
    >>> utility(align(qrels, run), coefficients=(2.0, -1.0, -0.5, 0.0)).tolist()    # 2 - 2 - 0.5
    [-0.5]
    """
    c1, c2, c3, c4 = coefficients
    hits = aligned.found(rel).lengths
    others, missed = aligned.n_retrieved - hits, aligned.n_relevant(rel) - hits
    rest = documents - aligned.n_retrieved - missed
    values: Floats = c1 * hits + c2 * others + c3 * missed + c4 * rest
    return values


@trec_measure(
    "yaap",
    "m_yaap.c; Robertson, ECIR 2012",
    title="yaAP",
    cite=("robertson2012",),
    bounds=(-math.inf, math.inf),
    unit="log odds",
    unbounded_with=("judged_only",),
)
def yet_another_average_precision(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Log odds of average precision, smoothed by one document.

    yaap = ln((1 + s) / (1 + R - s)), with R relevant documents, and s the sum of the precisions at
    the ranks of those retrieved. ``map`` is s/R. The mean of yaap over queries is also meaningful
    if ``map`` is near 0 or 1.

    Returns
    -------
    ndarray, shape (n_queries,)
        From -ln(1 + R) to ln(1 + R). A query without relevant documents has 0, and so has one that
        the run does not answer, as with ``trec_eval -c``.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "x": 3.0}})
    >>> yet_another_average_precision(align(qrels, run)).tolist()       # ln((1 + 1) / (1 + 2 - 1))
    [0.0]
    """
    total = aligned.sum(precision_at_hits(aligned, rel), aligned.relevant(rel))
    return log_of((1.0 + total) / (1.0 + aligned.n_relevant(rel) - total))
