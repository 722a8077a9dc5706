"""Shares of pairs of documents whose scores agree with their grades."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.ragged import Floats
from .concordance import Concordance, concordance
from .error import Over
from .trec_shared import Rel

Tied = Literal["half", "wrong", "right"]
_WORTH = {"half": 0.5, "wrong": 0.0, "right": 1.0}


def _share_right(counts: Concordance, tied: Tied) -> Floats:
    differ = counts.pairs - counts.tied_grades
    undecided = counts.tied_scores - counts.tied_both
    right = counts.right + _WORTH[tied] * undecided
    values: Floats = np.divide(right, differ, out=np.full(differ.size, np.nan), where=differ > 0)
    return values


def _weight(aligned: Aligned, *, tied: Tied = "half", over: Over = "queries") -> Floats | None:
    """Return each query's number of pairs where the mean is over all pairs."""
    if over == "queries":
        return None
    counts = concordance(aligned)
    return (counts.pairs - counts.tied_grades).astype(np.float64)


@metric(
    "opa",
    direction="higher",
    bounds=(0, 1),
    source="Joachims, KDD 2002; TF-Ranking (Pasumarthi et al., KDD 2019): OPAMetric",
    empty=np.nan,
    weight=_weight,
    expected="itself",
)
def opa(aligned: Aligned, *, tied: Tied = "half", over: Over = "queries") -> Floats:
    """Ordered pair accuracy: share of the pairs with different grades in the right order.

    OPA = (pairs with g_i > g_j and s_i > s_j, and half of those with s_i = s_j) / (pairs with
    g_i > g_j), over the judged and retrieved documents. It looks at scores, so that no order of
    tied documents changes it; ``swaps(normalize=true)``, which is 1 - OPA where no scores are
    tied, looks at ranks. Scores are tied where the policy holds them tied.

    Parameters
    ----------
    aligned : Aligned
    tied : {"half", "wrong", "right"}
        What a pair with tied scores counts as. CatBoost's QueryAUC (type=Ranking) counts half;
        for SVM-rank, whose swapped pairs are 1 - OPA, it is wrong, and for TF-Ranking too.
    over : {"queries", "pairs"}
        What the summary is a mean over: the queries' own values, or all pairs of the dataset at
        once, so that long lists weigh more (TF-Ranking). The values do not change.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1], 0.5 for scores that are all the same; NaN for a query without two grades among
        its retrieved documents.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 2.0}})
    >>> opa(align(qrels, run)).tolist()      # ab right, ac wrong, bc tied: (1 + 1/2) / 3
    [0.5]
    """
    return _share_right(concordance(aligned), tied)


@metric(
    "auc",
    direction="higher",
    bounds=(0, 1),
    source="Hanley and McNeil, Radiology 143, 1982",
    empty=np.nan,
    aliases=("AUC",),
    expected="itself",
)
def auc(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Area under a query's ROC curve: chance that a relevant document scores above another.

    AUC = (pairs of a relevant and a non-relevant document with s_i > s_j, and half of those with
    s_i = s_j) / (all such pairs), over the judged and retrieved documents of a query. ``opa``
    is the same over all pairs of different grades.

    Parameters
    ----------
    aligned : Aligned
    rel : int
        Smallest grade that counts as relevant.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1], 0.5 for scores that are all the same; NaN for a query of which no relevant,
        or no non-relevant, judged document is retrieved.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 0}})
    >>> run = Run.from_dict({"q": {"a": 2.0, "b": 2.0, "c": 1.0}})
    >>> auc(align(qrels, run)).tolist()
    [0.75]
    """
    return _share_right(concordance(aligned, rel), "half")
