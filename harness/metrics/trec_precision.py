"""trec_eval's metrics on the first k documents: P, recall, success, relative_P."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.ragged import Floats
from .shared import (
    CUTOFFS,
    Above,
    Cutoff,
    Rel,
    Short,
    Top,
    hits_at,
    judged_as,
    share,
    trec_measure,
    without_short_lists,
)
from .tied import expected_hits_at, probability_of_a_hit

PrecisionDenominator = Literal["cutoff", "list"]


@trec_measure(
    "P",
    "m_P.c",
    title="precision",
    aliases=("precision", "Precision"),
    cutoffs=CUTOFFS,
    expected="average",
    unbounded_with=("top",),
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

    P@k = (relevant documents at ranks 1..k) / k. A list shorter than k counts as filled with
    non-relevant documents, unlike ``set_P``.

    Parameters
    ----------
    denominator : {"cutoff", "list"}
        k, or the smaller of k and the number of retrieved documents.

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
    title="recall",
    aliases=("R", "Recall"),
    cutoffs=CUTOFFS,
    expected="average",
)
def recall(aligned: Aligned, *, cutoff: Cutoff, rel: Rel = 1, average: bool = False) -> Floats:
    """Share of the relevant documents that are among the first k.

    recall@k = (relevant documents at ranks 1..k) / (relevant documents judged). Some call
    "recall@k" whether any relevant document is there; that is ``success``.

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
    """Whether any of the first k documents is relevant: 1 or 0.

    Its mean is the share of queries that are answered within k documents ("hit rate").

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


@trec_measure("relative_P", "m_rel_P.c", cutoffs=CUTOFFS, expected="average")
def relative_precision(
    aligned: Aligned, *, cutoff: Cutoff, rel: Rel = 1, average: bool = False
) -> Floats:
    """Precision at k as a share of the best that was possible.

    relative_P@k = (relevant documents at ranks 1..k) / min(k, R) with R relevant documents:
    ``P`` up to R, ``recall`` beyond it. The list's length does not matter, unlike in
    ``set_relative_P``.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> relative_precision(align(qrels, run), cutoff=5).tolist()
    [1.0]
    """
    hits = (expected_hits_at if average else hits_at)(aligned, cutoff, rel)
    return share(hits, np.minimum(cutoff, aligned.n_relevant(rel)))
