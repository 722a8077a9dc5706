"""trec_eval's averages of precision: map, gm_map, infAP."""

from __future__ import annotations

import math

import numpy as np

from ..core.aligned import Aligned
from ..core.exact import log_of
from ..core.metric import metric
from ..core.ragged import Floats, Ragged, positions_of
from .average_precision import (
    Denominator,
    NoneFound,
    Tied,
    average_precision_of,
    expected_average_precision_of,
    sum_of_precisions,
)
from .short_lists import Short
from .trec_shared import Cutoff, Rel, share

SMALLEST = 0.00001
"""What takes the place of a smaller value before its logarithm is taken."""
EPSILON = 0.00001
"""Added to the counts of infAP, so that nothing judged above counts as half."""
_AS_TREC_EVAL = (None, None, "relevant", 0, "apart", "cut")


@metric(
    "map",
    title="MAP",
    cite=("buckley2005",),
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_map.c and m_map_cut.c; Buckley and Voorhees 2005",
    trec_name="map",
    aliases=("ap", "AP", "MAP"),
    expected=expected_average_precision_of,
    unbounded_with=("top",),
)
def average_precision(
    aligned: Aligned,
    *,
    cutoff: Cutoff | None = None,
    rel: Rel = 1,
    above: float | None = None,
    top: Rel | None = None,
    denominator: Denominator = "relevant",
    none_found: NoneFound = 0,
    tied: Tied = "apart",
    short: Short = "cut",
) -> Floats:
    """Mean over the relevant documents of the precision at their ranks.

    AP = (1/R) sum over relevant retrieved documents of (relevant documents up to its rank) /
    (its rank), with all R relevant documents in the denominator, retrieved or not, and also
    with a cutoff, where some tools divide by other numbers.

    Parameters
    ----------
    aligned : Aligned
    cutoff : int, optional
        Only documents at ranks 1..k count; the whole list by default.
    rel : int
        Smallest grade that counts as relevant.
    above : float, optional
        Grades above it count as relevant, fractions too, whatever `rel` is.
    top : int, optional
        Largest grade that counts as relevant; LETOR's scripts know 1 and 2 only.
    denominator : {"relevant", "cutoff", "list", "hits", "grades"}
        What the sum is divided by: R; min(R, k); min(R, k, n) for n retrieved documents; the
        relevant documents among the first k; or the sum of the k largest grades.
    none_found : {0, 1}
        Value of a query without a relevant document among the first k; 1 in RankEval.
    tied : {"apart", "together"}
        Whether documents of one score count one after another, or together at the last of
        their ranks, as in scikit-learn. Together, their order does not matter.
    short : {"cut", "nan", "zero", "error"}
        What becomes of a list with fewer than k retrieved documents, as in ``P``.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "b": 3.0, "x": 2.0, "c": 1.0}})
    >>> aligned = align(qrels, run)                     # (1/1 + 2/4) / 2
    >>> average_precision(aligned).tolist(), average_precision(aligned, cutoff=3).tolist()
    ([0.75], [0.5])
    """
    if (above, top, denominator, none_found, tied, short) != _AS_TREC_EVAL:
        return average_precision_of(
            aligned, cutoff, rel, above, top, denominator, none_found, tied, short
        )
    return share(sum_of_precisions(aligned, rel, cutoff), aligned.n_relevant(rel))


@metric(
    "gm_map",
    title="GMAP",
    cite=("robertson2006",),
    direction="higher",
    bounds=(math.log(SMALLEST), 0),
    source="trec_eval 9.0.8, m_gm_map.c; Robertson 2006",
    summary="gm",
    empty=math.log(SMALLEST),
    missing=None,
    trec_name="gm_map",
    aliases=("gmap", "GMAP"),
)
def geometric_average_precision(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Logarithm of ``map``, whose summary is the geometric mean over queries.

    gm_map = ln(max(AP, 0.00001)), summed up as exp of the mean: a query near 0 weighs heavily.
    trec_eval prints only the summary. A query that the run does not answer has AP = 0, as with
    ``trec_eval -c``.

    Parameters
    ----------
    aligned : Aligned
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [ln(0.00001), 0]; the former for a query without relevant documents.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0}})
    >>> geometric_average_precision(align(qrels, run)).tolist()         # ln(0.5)
    [-0.6931471805599453]
    """
    return log_of(np.maximum(average_precision(aligned, rel=rel), SMALLEST))


@metric(
    "infAP",
    title="infAP",
    cite=("yilmaz2006",),
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_infap.c; Yilmaz and Aslam 2006",
    trec_name="infAP",
    aliases=("infap",),
    bounded=False,
)
def inferred_average_precision(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Average precision estimated from a pool of which only a sample was judged.

    Documents with a grade below 0 are in the pool and were not judged; documents without a
    grade are outside the pool and count as non-relevant. At a relevant document of rank j + 1
    with, above it, p documents of the pool, r of them relevant and n judged non-relevant, the
    expected precision is

    1/(j + 1) + (j/(j + 1)) (p/j) (r + e)/(r + n + 2 e),   e = 0.00001

    (1 for j = 0); infAP is the sum over the relevant documents retrieved divided by all
    relevant ones. Because of e it stays a little below ``map`` where everything is judged.

    Parameters
    ----------
    aligned : Aligned
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": -1, "b": 0, "c": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> inferred_average_precision(align(qrels, run)).round(4).tolist() # 1/3 + 2/3 * 2/2 * ~0
    [0.3333]
    """
    items, above = aligned.relevant(rel), aligned.hits(rel) - 1
    j = (aligned.rank[items] - 1).astype(np.float64)
    pool = positions_of(aligned.offsets)[items]
    judged = Ragged(aligned.offsets, (aligned.grade >= 0).astype(np.int64)).cumsum()[items] - 1
    pooled = np.divide(pool, j, out=np.zeros(j.shape), where=j > 0)
    rate = (above + EPSILON) / (judged + 2 * EPSILON)
    expected = 1.0 / (j + 1.0) + (j / (j + 1.0)) * pooled * rate
    return share(aligned.sum(expected, items), aligned.n_relevant(rel))
