"""trec_eval's metrics on the first k documents: P, recall, success, relative_P."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.ragged import Floats
from .shared import CUTOFFS, Cutoff, Rel, Short, hits_at, judged_as, share, without_short_lists
from .tied import expected_hits_at, probability_of_a_hit

PrecisionDenominator = Literal["cutoff", "list"]


@metric(
    "P",
    title="precision",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_P.c",
    trec_name="P",
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
    above: float | None = None,
    top: Rel | None = None,
    denominator: PrecisionDenominator = "cutoff",
    short: Short = "cut",
    average: bool = False,
) -> Floats:
    """Share of the first k documents that are relevant.

    P@k = (relevant documents at ranks 1..k) / k. A list shorter than k counts as filled with
    non-relevant documents, unlike ``set_P``.

    Parameters
    ----------
    cutoff : int
        k, at least 1.
    rel : int
        Smallest grade that counts as relevant.
    above : float, optional
        Grades above it count as relevant, fractions too, whatever `rel` is.
    top : int, optional
        Largest grade that counts as relevant.
    denominator : {"cutoff", "list"}
        k, or the smaller of k and the number of retrieved documents.
    short : {"cut", "nan", "zero", "error"}
        What becomes of a list with fewer than k retrieved documents: computed with what is
        there, left out, 0, or an error.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents.

    Examples
    --------
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


@metric(
    "recall",
    title="recall",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_recall.c",
    trec_name="recall",
    aliases=("R", "Recall"),
    cutoffs=CUTOFFS,
    expected="average",
)
def recall(aligned: Aligned, *, cutoff: Cutoff, rel: Rel = 1, average: bool = False) -> Floats:
    """Share of the relevant documents that are among the first k.

    recall@k = (relevant documents at ranks 1..k) / (relevant documents judged). Some call
    "recall@k" whether any relevant document is there; that is ``success``.

    Parameters
    ----------
    cutoff : int
        k, at least 1.
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents.

    Examples
    --------
    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2, "d": 1, "e": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> recall(align(qrels, run), cutoff=2).tolist()
    [0.25]
    """
    hits = (expected_hits_at if average else hits_at)(aligned, cutoff, rel)
    return share(hits, aligned.n_relevant(rel))


@metric(
    "success",
    title="success",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_success.c",
    trec_name="success",
    aliases=("Success",),
    cutoffs=(1, 5, 10),
    expected="average",
)
def success(aligned: Aligned, *, cutoff: Cutoff, rel: Rel = 1, average: bool = False) -> Floats:
    """Whether any of the first k documents is relevant: 1 or 0.

    Its mean is the share of queries that are answered within k documents ("hit rate").

    Parameters
    ----------
    cutoff : int
        k, at least 1.
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        1 or 0; 0 for a query without relevant documents.

    Examples
    --------
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


@metric(
    "relative_P",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_rel_P.c",
    trec_name="relative_P",
    cutoffs=CUTOFFS,
    expected="average",
)
def relative_precision(
    aligned: Aligned, *, cutoff: Cutoff, rel: Rel = 1, average: bool = False
) -> Floats:
    """Precision at k as a share of the best that was possible.

    relative_P@k = (relevant documents at ranks 1..k) / min(k, R) with R relevant documents:
    ``P`` up to R, ``recall`` beyond it. The list's length does not matter, unlike in
    ``set_relative_P``.

    Parameters
    ----------
    cutoff : int
        k, at least 1.
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents.

    Examples
    --------
    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> relative_precision(align(qrels, run), cutoff=5).tolist()
    [1.0]
    """
    hits = (expected_hits_at if average else hits_at)(aligned, cutoff, rel)
    return share(hits, np.minimum(cutoff, aligned.n_relevant(rel)))
