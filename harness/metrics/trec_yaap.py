"""trec_eval's yaap, which pytrec_eval does not have."""

from __future__ import annotations

import math

from ..core.aligned import Aligned
from ..core.discount import log_of
from ..core.metric import metric
from ..core.ragged import Floats
from .trec_shared import Rel, precision_at_hits


@metric(
    "yaap",
    direction="higher",
    bounds=(-math.inf, math.inf),
    source="trec_eval 9.0.8, m_yaap.c; Robertson, ECIR 2012",
    unit="log odds",
    empty=0.0,
    trec_name="yaap",
)
def yet_another_average_precision(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Log odds of average precision, smoothed by one document: extremes weigh less in a mean.

    yaap = ln((1 + s) / (1 + R - s)), with s the sum of the precisions at the ranks of the
    relevant documents retrieved and R relevant documents. For one query it rises with ``map``
    (= s/R); over queries it can be averaged where ``map`` is near 0 or 1.

    Parameters
    ----------
    aligned : Aligned
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        From -ln(1 + R) to ln(1 + R); 0 for a query without relevant documents, and for one
        that the run does not answer, as with ``trec_eval -c``.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 4.0, "x": 3.0}})
    >>> yet_another_average_precision(align(qrels, run)).tolist()       # ln((1 + 1) / (1 + 2 - 1))
    [0.0]
    """
    found = aligned.sum(precision_at_hits(aligned, rel), aligned.relevant(rel))
    return log_of((1.0 + found) / (1.0 + aligned.n_relevant(rel) - found))
