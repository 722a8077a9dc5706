"""Average relevant position."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.ragged import Array, Floats, Ints
from .ndcg import Negative
from .shared import graded, share

Over = Literal["queries", "grades"]


def _items(aligned: Aligned, negative: Negative) -> Ints:
    """Return the retrieved documents with a rank that counts."""
    return np.flatnonzero(aligned.grade) if negative == "value" else graded(aligned)


def _weight(
    aligned: Aligned, *, over: Over = "queries", negative: Negative = "zero"
) -> Floats | None:
    """Return each query's sum of grades if the mean is weighted by it."""
    if over == "queries":
        return None
    items = _items(aligned, negative)
    return np.maximum(aligned.sum(aligned.grade[items], items), 0.0)


@metric(
    "arp",
    fractions=True,
    title="ARP",
    cite=("joachims2017",),
    direction="lower",
    bounds=(1, np.inf),
    source="Joachims, Swaminathan and Schnabel, WSDM 2017; PyTorchLTR",
    unit="ranks",
    empty=np.nan,
    missing=np.nan,
    aliases=("ARP",),
    weight=_weight,
    expected="average",
    unbounded_with=("negative", "depth"),
)
def arp(
    aligned: Aligned, *, over: Over = "queries", negative: Negative = "zero", average: bool = False
) -> Floats:
    """Average rank of the relevant documents, weighted by their grades.

    ARP = sum of g_i * i / sum of g_i over the retrieved documents, with the grade g_i at rank i.
    Lower is better. Documents that are not retrieved do not count, so use it for rankings of the
    same documents. A list without relevant documents has NaN; in PyTorchLTR it has 0, less than the
    best value.

    Parameters
    ----------
    over : {"queries", "grades"}
        Mean over ``queries``, or over all relevant documents of the dataset, weighted by
        ``grades`` (TF-Ranking). It changes the summary, not the values.
    negative : {"zero", "value"}
        Weight of grades below 0: ``zero``, or their ``value`` (PyTorchLTR).

    Returns
    -------
    ndarray, shape (n_queries,)
        In ranks, at least 1 (except with ``negative=value``); NaN if no relevant document is
        retrieved.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 3}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> arp(align(qrels, run)).tolist()     # (1 * 1 + 3 * 3) / (1 + 3)
    [2.5]
    """
    items = _items(aligned, negative)
    rank: Array = aligned.rank[items]
    if average:  # the mean of the ranks that a tied document can have
        rank = (aligned.tie_first[items] + aligned.tie_last[items]) / 2
    grades = aligned.grade[items]
    total, weighted = aligned.sum(grades, items), aligned.sum(grades * rank, items)
    return share(weighted, total, np.nan)
