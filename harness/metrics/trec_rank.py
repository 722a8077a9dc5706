"""trec_eval's metrics at a rank that depends on the query: recip_rank, Rprec, Rprec_mult."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.arguments import Range
from ..core.ragged import Bools, Floats
from .shared import (
    LARGEST_SHARE,
    Above,
    Cutoff,
    Rel,
    Top,
    check_thresholds,
    has_threshold,
    hits_at,
    judged_as,
    largest_only,
    none_relevant,
    share,
    trec_measure,
)
from .tied import expected_hits_at, expected_reciprocal_of_first

Target = Literal["relevant", "largest"]


def _none_to_find(aligned: Aligned, *, target: Target = "relevant", **thresholds: Any) -> Bools:
    """Return a mask of the queries without a target document, ``(n_queries,)``."""
    if target == "largest":
        return aligned.without_grades
    return none_relevant(aligned, **thresholds)


@trec_measure(
    "recip_rank",
    "m_recip_rank.c; with a cutoff as in MS MARCO's MRR@10",
    fractions=has_threshold,
    title="MRR",
    cite=("voorhees1999",),
    aliases=("rr", "mrr", "RR", "MRR"),
    expected="average",
    unbounded_with=("top",),
    empty_of=_none_to_find,
    check=check_thresholds,
)
def reciprocal_rank(
    aligned: Aligned,
    *,
    cutoff: Cutoff | None = None,
    rel: Rel = 1,
    above: Above | None = None,
    top: Top | None = None,
    target: Target = "relevant",
    average: bool = False,
) -> Floats:
    """One divided by the rank of the first relevant document.

    recip_rank = 1 / (rank of the first relevant document), or 0 if the first k documents have none.
    MS MARCO's MRR@10 is ``recip_rank@10``. trec_eval has no cutoff for it, and reads
    ``recip_rank_10`` as ``recip_rank``.

    Parameters
    ----------
    target : {"relevant", "largest"}
        ``relevant``: the first relevant document. ``largest``: the first document with the largest
        grade of the query, as in allRank, without a threshold.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0}})
    >>> run = Run.from_dict({"q": {"b": 2.0, "a": 1.0}})
    >>> aligned = align(qrels, run)
    >>> reciprocal_rank(aligned).tolist(), reciprocal_rank(aligned, cutoff=1).tolist()
    ([0.5], [0.0])
    """
    if target == "largest":
        aligned, rel = largest_only(aligned), 1
    else:
        aligned, rel = judged_as(aligned, rel, above, top)
    if average:
        return expected_reciprocal_of_first(aligned, rel, cutoff)
    relevant = aligned.found(rel)
    leading = relevant.values[relevant.offsets[:-1][relevant.lengths > 0]]
    if cutoff is not None:
        leading = leading[aligned.rank[leading] <= cutoff]
    return aligned.sum(1.0 / aligned.rank[leading], leading)


@trec_measure(
    "Rprec",
    "m_Rprec.c",
    title="R-precision",
    cite=("buckley2005",),
    aliases=("RPrec",),
    expected="average",
)
def r_precision(aligned: Aligned, *, rel: Rel = 1, average: bool = False) -> Floats:
    """Precision at rank R, for R relevant documents.

    Rprec = (relevant documents at ranks 1..R) / R. Precision and recall are equal at this rank.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> r_precision(align(qrels, run)).tolist()
    [0.5]
    """
    n_relevant = aligned.n_relevant(rel)
    hits = (expected_hits_at if average else hits_at)(aligned, n_relevant, rel)
    return share(hits, n_relevant)


@trec_measure(
    "Rprec_mult",
    "m_Rprec_mult.c",
    title="precision after {} times as many documents as are relevant",
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

    Rprec_mult@m = (relevant documents at ranks 1..k) / k, with k = floor(m R + 0.9) for R relevant
    documents. This does not round up: m R = 3.05 means k = 3. The value is 0 if k is 0. As in
    ``P``, a shorter list is filled up with non-relevant documents.

    Parameters
    ----------
    cutoff : float
        Multiple of R, m.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> r_precision_multiple(align(qrels, run), cutoff=2.0).tolist()    # k = floor(4.9) = 4
    [0.5]
    """
    ranks = (cutoff * aligned.n_relevant(rel) + 0.9).astype(np.int64)
    hits = (expected_hits_at if average else hits_at)(aligned, ranks, rel)
    return share(hits, ranks)
