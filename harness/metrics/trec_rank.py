"""trec_eval's metrics at a rank that depends on the query: recip_rank, Rprec, Rprec_mult."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.ragged import Floats
from ..core.settings import Range
from .shared import LARGEST_SHARE, Cutoff, Rel, hits_at, judged_as, largest_only, share
from .tied import expected_hits_at, expected_reciprocal_of_first

Target = Literal["relevant", "largest"]


def _sought(
    aligned: Aligned, rel: int, above: float | None, top: int | None, target: Target
) -> tuple[Aligned, int]:
    """Return an alignment and the grade from which a document in it is what is looked for."""
    if target == "largest":
        return largest_only(aligned), 1
    return judged_as(aligned, rel, above, top)


@metric(
    "recip_rank",
    title="MRR",
    cite=("voorhees1999",),
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_recip_rank.c; with a cutoff as in MS MARCO's MRR@10",
    trec_name="recip_rank",
    aliases=("rr", "mrr", "RR", "MRR"),
    expected="average",
    unbounded_with=("top",),
)
def reciprocal_rank(
    aligned: Aligned,
    *,
    cutoff: Cutoff | None = None,
    rel: Rel = 1,
    above: float | None = None,
    top: Rel | None = None,
    target: Target = "relevant",
    average: bool = False,
) -> Floats:
    """One divided by the rank of the first relevant document.

    recip_rank = 1 / (rank of the first relevant document), 0 where none is retrieved, or none
    within the first k. trec_eval's has no cutoff (it reads ``recip_rank_10`` as
    ``recip_rank``); MS MARCO's MRR@10 is ``recip_rank@10``.

    Parameters
    ----------
    cutoff : int, optional
        k, at least 1; the whole list by default.
    rel : int
        Smallest grade that counts as relevant.
    above : float, optional
        Grades above it count as relevant, fractions too, whatever `rel` is.
    top : int, optional
        Largest grade that counts as relevant.
    target : {"relevant", "largest"}
        Whether any relevant document will do, or only one of the query's largest grade, as in
        allRank; the thresholds then say nothing.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents.

    Examples
    --------
    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0}})
    >>> run = Run.from_dict({"q": {"b": 2.0, "a": 1.0}})
    >>> aligned = align(qrels, run)
    >>> reciprocal_rank(aligned).tolist(), reciprocal_rank(aligned, cutoff=1).tolist()
    ([0.5], [0.0])
    """
    aligned, rel = _sought(aligned, rel, above, top, target)
    if average:
        items, reciprocal = expected_reciprocal_of_first(aligned, rel, cutoff)
        return aligned.sum(reciprocal, items)
    found = aligned.found(rel)
    first = found.values[found.offsets[:-1][found.lengths > 0]]
    if cutoff is not None:
        first = first[aligned.rank[first] <= cutoff]
    return aligned.sum(1.0 / aligned.rank[first], first)


@metric(
    "Rprec",
    title="R-precision",
    cite=("buckley2005",),
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_Rprec.c",
    trec_name="Rprec",
    aliases=("RPrec",),
    expected="average",
)
def r_precision(aligned: Aligned, *, rel: Rel = 1, average: bool = False) -> Floats:
    """Precision after as many documents as there are relevant ones.

    Rprec = (relevant documents at ranks 1..R) / R with R relevant documents; the point where
    precision and recall are equal.

    Parameters
    ----------
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
    >>> r_precision(align(qrels, run)).tolist()
    [0.5]
    """
    n_relevant = aligned.n_relevant(rel)
    hits = (expected_hits_at if average else hits_at)(aligned, n_relevant, rel)
    return share(hits, n_relevant)


@metric(
    "Rprec_mult",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_Rprec_mult.c",
    trec_name="Rprec_mult",
    cutoffs=(0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0),
    expected="average",
)
def r_precision_multiple(
    aligned: Aligned,
    *,
    cutoff: Annotated[float, Range(0, LARGEST_SHARE)],
    rel: Rel = 1,
    average: bool = False,
) -> Floats:
    """Precision at a multiple of the number of relevant documents.

    Rprec_mult@m = (relevant documents at ranks 1..k) / k with k = floor(m R + 0.9) for R
    relevant documents: not rounded up, so m R = 3.05 gives k = 3. 0 where k is 0. As in
    ``P``, a shorter list counts as filled with non-relevant documents.

    Parameters
    ----------
    cutoff : float
        m, the multiple of R.
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
    >>> r_precision_multiple(align(qrels, run), cutoff=2.0).tolist()    # k = floor(4.9) = 4
    [0.5]
    """
    ranks = (cutoff * aligned.n_relevant(rel) + 0.9).astype(np.int64)
    hits = (expected_hits_at if average else hits_at)(aligned, ranks, rel)
    return share(hits, ranks)
