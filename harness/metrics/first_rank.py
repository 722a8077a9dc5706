"""The rank of the first relevant document, with its mean and its median over queries."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np

from ..core.aligned import Aligned
from ..core.arguments import About, Range
from ..core.metric import metric
from ..core.ragged import Floats
from .shared import Rel

Unfound = Annotated[
    int,
    Range(1, None),
    About("Rank of a query if the run retrieves no relevant document."),
]
_rank = partial(
    metric,
    direction="lower",
    bounds=(1, np.inf),
    unit="ranks",
    empty=np.nan,
    missing=None,
    expected="average",
    unbounded_with=("depth",),
)


@_rank(
    "first_rank",
    title="the rank of the first relevant document",
    source="the mean rank of question answering and entity retrieval; PyKEEN (mean_rank)",
)
def first_rank(
    aligned: Aligned, *, rel: Rel = 1, unfound: Unfound | None = None, average: bool = False
) -> Floats:
    """Rank of the first relevant document.

    first_rank = smallest rank of a relevant document; lower is better. ``recip_rank`` is
    1 / first_rank. If the run retrieves no relevant document of a query, the query is left out of
    the mean, or has the rank `unfound`, such as one more than the longest list.

    Returns
    -------
    ndarray, shape (n_queries,)
        In ranks, at least 1; NaN for a query without relevant documents, or without a retrieved one
        and without `unfound`.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"1": {"a": 1, "b": 0}, "2": {"c": 1}})
    >>> run = Run.from_dict({"1": {"b": 2.0, "a": 1.0}, "2": {"x": 1.0}})
    >>> aligned = align(qrels, run)
    >>> first_rank(aligned).tolist(), first_rank(aligned, unfound=1001).tolist()
    ([2.0, nan], [2.0, 1001.0])
    """
    found = aligned.found(rel)
    answered = found.lengths > 0
    values = np.full(aligned.n_queries, np.nan)
    if unfound is not None:
        values[aligned.n_relevant(rel) > 0] = unfound
    first = found.values[found.offsets[:-1][answered]]
    values[answered] = aligned.rank[first]
    if average:
        # Of n tied documents with h relevant ones, the first of these is at place (n + 1) / (h + 1)
        start, end = aligned.tie_first[first], aligned.tie_last[first]
        leading = aligned.tie_first[found.values] == np.repeat(start, found.lengths[answered])
        hits = aligned.count(found.values[leading])[answered]
        values[answered] = start - 1 + (end - start + 2) / (hits + 1)
    return values


@_rank(
    "median_first_rank",
    title="the median rank of the first relevant document",
    source="the median rank of cross-modal retrieval; PyKEEN (median_rank)",
    summary="median",
)
def median_first_rank(
    aligned: Aligned, *, rel: Rel = 1, unfound: Unfound | None = None, average: bool = False
) -> Floats:
    """Rank of the first relevant document; the summary is its median over queries.

    Values are those of ``first_rank``. A few very large ranks change the mean, but hardly the
    median.

    >>> from harness import evaluate
    >>> qrels = {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}}
    >>> scores = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    >>> run = {"1": scores, "2": {"a": 9.0}, "3": {"a": 9.0}}
    >>> evaluate(qrels, run, metrics=["first_rank", "median_first_rank"]).summary()
    {'first_rank': 2.0, 'median_first_rank': 1.0}
    """
    values: Floats = first_rank(aligned, rel=rel, unfound=unfound, average=average)
    return values
