"""trec_eval's metrics on the first k documents: P, recall, success."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from ..core.align import Aligned
from ..core.metric import Range, metric
from ..core.ragged import Floats, Ints

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
Cutoff = Annotated[int, Range(1, None)]
Rel = Annotated[int, Range(1, None)]


def hits_at(aligned: Aligned, cutoff: int, rel: int) -> Ints:
    """Return the relevant documents among the first `cutoff`, ``(n_queries,)``."""
    items = aligned.relevant(rel)
    return aligned.count(items[aligned.rank[items] <= cutoff])


@metric(
    "P",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_P.c",
    trec_name="P",
    aliases=("precision",),
    cutoffs=CUTOFFS,
)
def precision(aligned: Aligned, *, cutoff: Cutoff, rel: Rel = 1) -> Floats:
    """Share of the first k documents that are relevant.

    P@k = (relevant documents at ranks 1..k) / k. A list shorter than k counts as filled with
    non-relevant documents, unlike ``set_P``.

    Parameters
    ----------
    aligned : Aligned
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
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> precision(align(qrels, run), cutoff=2).tolist()
    [0.5]
    """
    values: Floats = hits_at(aligned, cutoff, rel) / np.float64(cutoff)
    return values
