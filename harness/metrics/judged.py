"""Shares of the retrieved documents with and without a judgement."""

from __future__ import annotations

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.ragged import Floats, Ints
from .shared import Cutoff, share


def n_looked_at(aligned: Aligned, cutoff: int | None = None) -> Ints:
    """Return the documents among the first `cutoff`, fewer in a short list, ``(n_queries,)``."""
    return aligned.n_retrieved if cutoff is None else np.minimum(aligned.n_retrieved, cutoff)


def n_judged_at(aligned: Aligned, cutoff: int | None = None) -> Ints:
    """Return the judged documents among the first `cutoff`, ``(n_queries,)``."""
    items = aligned.relevant(0)
    return aligned.count(items if cutoff is None else items[aligned.rank[items] <= cutoff])


@metric(
    "judged",
    title="the share of judged documents",
    fractions=True,
    direction=None,
    bounds=(0, 1),
    source="ir_measures (Judged); OpenNIR",
    empty=None,
    missing=None,
    aliases=("Judged",),
    expected="average",
    bounded=False,
)
def judged(aligned: Aligned, *, cutoff: Cutoff | None = None, average: bool = False) -> Floats:
    """Share of the first k documents that are judged.

    judged@k = (documents with a grade of at least 0 at ranks 1..k) / min(k, n) for a list of n
    documents, as in ir_measures. A small value means that unjudged documents may change the other
    metrics. A grade below 0 is unjudged; ir_measures counts it as judged.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1; NaN if no document is retrieved.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0}})
    >>> run = Run.from_dict({"q": {"x": 9.0, "a": 3.0, "y": 2.0, "b": 1.0}})
    >>> judged(align(qrels, run)).tolist(), judged(align(qrels, run), cutoff=1).tolist()
    ([0.5], [0.0])
    """
    if not average:
        return share(n_judged_at(aligned, cutoff), n_looked_at(aligned, cutoff), np.nan)
    items = aligned.relevant(0)
    start, end = aligned.tie_first[items], aligned.tie_last[items]
    inside = end if cutoff is None else np.minimum(end, cutoff)
    number = aligned.sum(np.maximum(inside - start + 1, 0) / (end - start + 1), items)
    return np.minimum(share(number, n_looked_at(aligned, cutoff), np.nan), 1.0)


@metric(
    "unjudged",
    title="the share of unjudged documents",
    fractions=True,
    direction=None,
    bounds=(0, 1),
    source="trec_eval 10.0, m_unj.c, but for short lists",
    empty=None,
    missing=None,
    expected="average",
    bounded=False,
)
def unjudged(aligned: Aligned, *, cutoff: Cutoff | None = None, average: bool = False) -> Floats:
    """Share of the first k documents that are not judged.

    unjudged@k = (unjudged documents at ranks 1..k) / min(k, n) for a list of n documents, or
    1 - ``judged@k``. ``harness trec_eval --as 10 -m unj`` divides by k, so values of short lists
    are smaller.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1; NaN if no document is retrieved.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "x": 2.0}})
    >>> unjudged(align(qrels, run), cutoff=5).tolist()
    [0.5]
    """
    if average:
        of_judged: Floats = judged(aligned, cutoff=cutoff, average=True)
        return 1.0 - of_judged
    n = n_looked_at(aligned, cutoff)
    return share(n - n_judged_at(aligned, cutoff), n, np.nan)
