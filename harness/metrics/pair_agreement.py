"""Metrics on pairs of documents: swaps, ordered pair accuracy, AUC, pairwise log loss."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ..core.align import levels
from ..core.aligned import Aligned
from ..core.arguments import Range, wrong
from ..core.metric import metric
from ..core.policy_views import tied_groups
from ..core.ragged import Array, Floats, Ints, offsets_of, sum_by
from .error import Over
from .pairs import (
    compress,
    group_keys,
    inversions,
    judged_items,
    pairs_by_distance,
    pairs_in_runs,
    tied_pairs,
)
from .shared import Rel, by_block, share, share_metric

Normalize = Literal[False, True, "all"]


def _change(part: Aligned) -> Floats:
    """Change of the number of wrong pairs if each pair in a tied group counts one half."""
    groups = tied_groups(part, 0)
    grades, offsets = levels(part)[groups.items], offsets_of(groups.found)
    pairs = groups.found * (groups.found - 1) // 2 - tied_pairs(offsets, grades)
    return sum_by(groups.row, pairs / 2 - inversions(offsets, grades), part.n_queries)


def _share(aligned: Aligned, numbers: Array, normalize: Normalize) -> Floats:
    """Return swaps as a count, or as a share of pairs, by `normalize`."""
    if normalize is False:
        return np.where(judged_items(aligned).lengths > 0, numbers, np.nan)

    def count(part: Aligned) -> Ints:
        items = judged_items(part)
        pairs: Ints = items.lengths * (items.lengths - 1) // 2
        if normalize == "all":
            return pairs
        return pairs - tied_pairs(items.offsets, levels(part)[items.values])

    return share(numbers, by_block(aligned, count), np.nan)


@metric(
    "swaps",
    fractions=True,
    title="the number of swaps",
    cite=("kendall1938",),
    variants={
        "normalize=true": ("the share of swapped pairs", ("kendall1938",)),
        "normalize=all": ("the share of swapped pairs among all pairs", ("kendall1938",)),
    },
    direction="lower",
    bounds=(0, np.inf),
    source="Kendall, Biometrika 30, 1938 (distance); counted as the exchanges of a bubble sort",
    unit="swaps",
    missing=np.nan,
    reference=True,
    expected="average",
    unbounded_with=("depth",),
)
def swaps(aligned: Aligned, *, normalize: Normalize = False, average: bool = False) -> Floats:
    """Number of exchanges of neighbouring documents that turn the ranking into the ideal ranking.

    It equals the number of discordant pairs: judged and retrieved documents of different grades,
    the lower grade ranked first. Unjudged documents do not count. The policy orders tied scores;
    ``kendall`` counts them as ties. With ``reference``, the scores of the other run replace the
    grades.

    Parameters
    ----------
    normalize : {False, True, "all"}
        ``true`` divides by the number of pairs with different grades, so the reversed ideal ranking
        has 1. With ``reference`` these are the pairs that the other run does not tie, so an
        exchange of the runs can change the value. ``all`` divides by all n(n-1)/2 pairs of n
        documents. It is symmetric if neither run ties documents, but with equal grades it cannot
        reach 1. Without pairs the value is NaN.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 for the ideal ranking; NaN without a judged document retrieved, because 0 would be the
        best value.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 10, "b": 7, "c": 9}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})   # one exchange: b and c
    >>> swaps(align(qrels, run)).tolist()
    [1.0]
    """
    numbers: Array = discordant(aligned)
    if average:
        numbers = numbers + by_block(aligned, _change)
    return _share(aligned, numbers, normalize)


class Concordance(NamedTuple):
    """Numbers of pairs of judged and retrieved documents of each query, ``(n_queries,)`` each.

    Pairs in ``right`` and ``wrong`` have different grades and different scores. ``tied_scores``,
    ``tied_grades`` and ``tied_both`` have equal ones. ``pairs`` counts all pairs.
    """

    pairs: Ints
    right: Ints
    wrong: Ints
    tied_scores: Ints
    tied_grades: Ints
    tied_both: Ints


def concordance(aligned: Aligned, rel: float | None = None) -> Concordance:
    """Count the pairs of each query by the order of their scores and of their grades.

    Scores are tied if the policy ties them. With `rel`, a grade is either below it or not.
    """
    return aligned.memo(("concordance", rel), lambda: _count(aligned, rel))


def discordant(aligned: Aligned, rel: float | None = None) -> Ints:
    """Count the pairs of each query in which the lower grade is ranked first, ``(n_queries,)``."""

    def count(part: Aligned) -> Ints:
        items = judged_items(part)
        return inversions(items.offsets, _grades(part, rel))

    return aligned.memo(("discordant", rel), lambda: by_block(aligned, count))


def _grades(aligned: Aligned, rel: float | None) -> Array:
    grades = levels(aligned)[judged_items(aligned).values]
    return grades if rel is None else (grades >= rel).astype(np.int64)


def _count(aligned: Aligned, rel: float | None) -> Concordance:
    any_tied = bool(aligned.n_tied.any())

    def count(part: Aligned) -> Ints:
        items, grades = judged_items(part), _grades(part, rel)
        tied_grades = tied_pairs(items.offsets, grades)
        tied_scores = tied_both = wrong = np.zeros_like(tied_grades)
        if any_tied:
            groups = group_keys(items.row, part.tie_first[items.values])
            tied_scores = pairs_in_runs(items.offsets, groups)
            # Grades fall within a tied group, so that its pairs never count as discordant.
            falling = compress(-grades)
            bits = int(falling.max(initial=0)).bit_length()
            both = np.sort((groups << bits) + falling)
            tied_both = pairs_in_runs(items.offsets, both)
            wrong = inversions(items.offsets, -(both & ((1 << bits) - 1)))
        pairs = items.lengths * (items.lengths - 1) // 2
        return np.stack([pairs, wrong, tied_scores, tied_grades, tied_both], axis=1)

    pairs, wrong, tied_scores, tied_grades, tied_both = by_block(aligned, count).T
    if not any_tied:
        wrong = discordant(aligned, rel)
    right = pairs - tied_scores - tied_grades + tied_both - wrong
    return Concordance(pairs, right, wrong, tied_scores, tied_grades, tied_both)


Tied = Literal["half", "wrong", "right"]
_WORTH = {"half": 0.5, "wrong": 0.0, "right": 1.0}


def _share_right(counts: Concordance, tied: Tied) -> Floats:
    differ = counts.pairs - counts.tied_grades
    undecided = counts.tied_scores - counts.tied_both
    right = counts.right + _WORTH[tied] * undecided
    return share(right, differ, np.nan)


def _weight(aligned: Aligned, *, tied: Tied = "half", over: Over = "queries") -> Floats | None:
    """Return each query's number of pairs if the mean is over all pairs."""
    if over == "queries":
        return None
    counts = concordance(aligned)
    return (counts.pairs - counts.tied_grades).astype(np.float64)


@share_metric(
    "opa",
    fractions=True,
    title="ordered pair accuracy",
    cite=("joachims2002",),
    source="Joachims, KDD 2002; TF-Ranking (Pasumarthi et al., KDD 2019): OPAMetric",
    empty=np.nan,
    weight=_weight,
    expected="itself",
    unbounded_with=("depth",),
)
def opa(aligned: Aligned, *, tied: Tied = "half", over: Over = "queries") -> Floats:
    """Ordered pair accuracy: share of the pairs with different grades in the right order.

    OPA = (pairs with g_i > g_j and s_i > s_j, and half of those with s_i = s_j) / (pairs with
    g_i > g_j), over the judged and retrieved documents. The order of tied documents does not matter
    here, unlike in ``swaps(normalize=true)``, which equals 1 - OPA without tied scores. The policy
    decides the precision in which scores are tied.

    Parameters
    ----------
    tied : {"half", "wrong", "right"}
        Value of a pair with tied scores: one half, as in CatBoost's QueryAUC (type=Ranking); wrong,
        as for SVM-rank and TF-Ranking; or right.
    over : {"queries", "pairs"}
        Mean over ``queries``, or over all ``pairs`` of the dataset, so that long lists weigh more
        (TF-Ranking). It changes the summary, not the values.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1, 0.5 if all scores are equal; NaN for a query without two different grades among
        its retrieved documents.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 2.0}})
    >>> opa(align(qrels, run)).tolist()      # ab right, ac wrong, bc tied: (1 + 1/2) / 3
    [0.5]
    """
    return _share_right(concordance(aligned), tied)


@share_metric(
    "auc",
    title="AUC per query",
    cite=("hanley1982",),
    source="Hanley and McNeil, Radiology 143, 1982",
    empty=np.nan,
    aliases=("AUC",),
    expected="itself",
    unbounded_with=("depth",),
)
def auc(aligned: Aligned, *, rel: Rel = 1) -> Floats:
    """Area under the ROC curve of a query: chance that a relevant document scores above another.

    AUC = (pairs of a relevant and a non-relevant document with s_i > s_j, and half of those with
    s_i = s_j) / (all such pairs), over the judged and retrieved documents of a query. ``opa``
    counts all pairs with different grades.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1, 0.5 if all scores are equal; NaN if no relevant or no judged non-relevant
        document is retrieved.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 0}})
    >>> run = Run.from_dict({"q": {"a": 2.0, "b": 2.0, "c": 1.0}})
    >>> auc(align(qrels, run)).tolist()
    [0.75]
    """
    return _share_right(concordance(aligned, rel), "half")


Alpha = Annotated[float, Range(0, 1e9, open=True)]


def sigmoid(x: npt.ArrayLike) -> Floats:
    """Compute 1 / (1 + exp(-x)) without overflow.

    In RankNet, ``sigmoid(alpha * (s_i - s_j))`` is the chance that document i belongs before j.

    >>> sigmoid([-1000.0, 0.0, 1000.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    from scipy.special import expit

    try:
        numbers = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong("x", "a number or an array of numbers", x) from None
    return np.asarray(expit(numbers), dtype=np.float64)


@metric(
    "pairwise_logloss",
    fractions=True,
    title="pairwise log loss",
    cite=("burges2005",),
    direction="lower",
    bounds=(0, np.inf),
    source="Burges et al., Learning to rank using gradient descent, ICML 2005",
    unit="nats",
    empty=np.nan,
    missing=np.nan,
    expected="itself",
    unbounded_with=("depth",),
)
def pairwise_logloss(aligned: Aligned, *, alpha: Alpha = 1.0) -> Floats:
    """Mean log loss of the order of two documents, over pairs with different grades.

    loss = mean of ln(1 + exp(-alpha (s_i - s_j))) over the pairs of judged and retrieved documents
    with grades g_i > g_j. It is the negative log-likelihood of the right order in RankNet's model.
    Distances of scores matter, so values for different scales of scores are not comparable.
    ``swaps(normalize=true)`` only uses the order of the same pairs.

    Parameters
    ----------
    alpha : float
        Steepness of the model.

    Returns
    -------
    ndarray, shape (n_queries,)
        At least 0, in nats; ln 2 if all scores are equal; NaN for a query without two different
        grades.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0}})
    >>> run = Run.from_dict({"q": {"a": 2.0, "b": 1.0}})
    >>> round(pairwise_logloss(align(qrels, run)).item(), 12)       # ln(1 + exp(-1))
    0.313261687518
    """
    items = judged_items(aligned)
    scores, grades = alpha * aligned.score[items.values], aligned.grade[items.values]
    total, pairs = np.zeros(items.n_rows), np.zeros(items.n_rows, dtype=np.int64)
    for left, right in pairs_by_distance(items.offsets):
        differ = np.flatnonzero(grades[left] != grades[right])
        left, right = left[differ], right[differ]
        right_way = np.where(grades[left] > grades[right], 1.0, -1.0)
        losses = np.logaddexp(0.0, right_way * (scores[right] - scores[left]))
        row = items.row[left]
        total += np.bincount(row, weights=losses, minlength=items.n_rows)
        pairs += np.bincount(row, minlength=items.n_rows)
    return share(total, pairs, np.nan)


def lambdas(
    offsets: Ints,
    scores: Array,
    grades: Ints,
    *,
    alpha: float = 1.0,
    gains: Floats | None = None,
    discounts: Floats | None = None,
) -> Floats:
    """Compute the lambda of each document: the derivative of the pairwise loss by its score.

    A pair with grades g_i > g_j adds lambda_ij = -alpha / (1 + exp(alpha (s_i - s_j))) to the
    lambda of document i, and subtracts it from that of j. `gains` and `discounts` multiply it by
    the change of DCG if the two are exchanged: |gain_i - gain_j| |discount_i - discount_j|
    (LambdaRank).

    Burges, From RankNet to LambdaRank to LambdaMART, MSR-TR-2010-82.
    """
    scaled = alpha * np.asarray(scores, dtype=np.float64)
    slopes = np.zeros(scaled.size)
    for left, right in pairs_by_distance(offsets):
        right_way = np.sign(grades[left] - grades[right])
        pull = alpha * right_way * sigmoid(right_way * (scaled[right] - scaled[left]))
        if gains is not None and discounts is not None:
            pull *= np.abs(gains[left] - gains[right])
            pull *= np.abs(discounts[left] - discounts[right])
        slopes[left] -= pull
        slopes[right] += pull
    return slopes
