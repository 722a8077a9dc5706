"""Errors of scores that predict grades."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.ragged import Floats
from .pairs import judged_items
from .shared import share

Over = Literal["queries", "pairs"]


def _weight(aligned: Aligned, *, over: Over = "queries") -> Floats | None:
    """Return each query's number of documents if the mean is over all pairs."""
    if over == "queries":
        return None
    return judged_items(aligned).lengths.astype(np.float64)


@metric(
    "mse",
    fractions=True,
    title="mean squared error",
    direction="lower",
    bounds=(0, np.inf),
    source="Gauss, Theoria combinationis observationum, 1821",
    unit="squared grades",
    empty=None,
    missing=np.nan,
    aliases=("MSE",),
    weight=_weight,
    expected="itself",
    unbounded_with=("depth",),
)
def mse(aligned: Aligned, *, over: Over = "queries") -> Floats:
    """Mean squared difference between a document's grade and its score.

    MSE = (1/n) * sum of (g_i - s_i)^2 over the n judged and retrieved documents of a query. Scores
    must be predictions of the grades, unlike for metrics of order.

    Parameters
    ----------
    over : {"queries", "pairs"}
        Mean over ``queries``, or over all ``pairs`` of query and document in the dataset, so that
        long lists weigh more. It changes the summary, not the values.

    Returns
    -------
    ndarray, shape (n_queries,)
        In squared grades; NaN if no judged document is retrieved.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0}})
    >>> mse(align(qrels, run)).tolist()     # ((1 - 3)^2 + (0 - 2)^2) / 2
    [4.0]
    """
    items = judged_items(aligned)
    squares = (aligned.grade[items.values] - aligned.score[items.values]) ** 2
    n = items.lengths
    return share(items.sum(squares), n, np.nan)
