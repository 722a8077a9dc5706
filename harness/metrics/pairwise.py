"""RankNet's loss over pairs of documents, and the lambdas that push them apart."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from ..core.aligned import Aligned
from ..core.metric import Range, metric
from ..core.pairs import judged_items, pairs_by_distance
from ..core.ragged import Array, Floats, Ints

Alpha = Annotated[float, Range(0, 1e9, open=True)]


def sigmoid(x: npt.ArrayLike) -> Floats:
    """Return 1 / (1 + exp(-x)), without overflow.

    In RankNet, ``sigmoid(alpha * (s_i - s_j))`` is the chance that document i belongs before j.

    >>> sigmoid([-1000.0, 0.0, 1000.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    from scipy.special import expit

    return np.asarray(expit(np.asarray(x, dtype=np.float64)), dtype=np.float64)


@metric(
    "pairwise_logloss",
    direction="lower",
    bounds=(0, np.inf),
    source="Burges et al., Learning to rank using gradient descent, ICML 2005",
    unit="nats",
    empty=np.nan,
    missing=np.nan,
    expected="itself",
)
def pairwise_logloss(aligned: Aligned, *, alpha: Alpha = 1.0) -> Floats:
    """Mean log loss of the order of two documents, over pairs with different grades.

    The mean of ln(1 + exp(-alpha (s_i - s_j))) over the pairs of judged and retrieved documents
    with grades g_i > g_j: the negative log-likelihood of the right order in RankNet's model.
    ``swaps(normalize=true)`` counts the same pairs by order alone; here distances matter, so
    scores on different scales do not compare.

    Parameters
    ----------
    aligned : Aligned
    alpha : float
        Steepness of the model, above 0.

    Returns
    -------
    ndarray, shape (n_queries,)
        At least 0, in nats; ln 2 where all scores are the same; NaN for a query without two
        grades.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0}})
    >>> run = Run.from_dict({"q": {"a": 2.0, "b": 1.0}})
    >>> round(pairwise_logloss(align(qrels, run)).item(), 12)       # ln(1 + exp(-1))
    0.313261687518
    """
    items = judged_items(aligned)
    scores, grades = alpha * aligned.score[items.values], aligned.grade[items.values]
    total, pairs = np.zeros(items.n_rows), np.zeros(items.n_rows, dtype=np.int64)
    for first, second in pairs_by_distance(items.offsets):
        differ = np.flatnonzero(grades[first] != grades[second])
        first, second = first[differ], second[differ]
        right_way = np.where(grades[first] > grades[second], 1.0, -1.0)
        losses = np.logaddexp(0.0, right_way * (scores[second] - scores[first]))
        row = items.row[first]
        total += np.bincount(row, weights=losses, minlength=items.n_rows)
        pairs += np.bincount(row, minlength=items.n_rows)
    values: Floats = np.divide(total, pairs, out=np.full(pairs.size, np.nan), where=pairs > 0)
    return values


def lambdas(
    offsets: Ints,
    scores: Array,
    grades: Ints,
    *,
    alpha: float = 1.0,
    gains: Floats | None = None,
    discounts: Floats | None = None,
) -> Floats:
    """Return the lambda of each document: the slope of its query's pairwise loss by its score.

    For a pair with grades g_i > g_j, lambda_ij = -alpha / (1 + exp(alpha (s_i - s_j))); it is
    added to document i's lambda and taken from j's. With `gains` and `discounts` each is
    multiplied by what exchanging the two would change: |gain_i - gain_j| |discount_i -
    discount_j| (LambdaRank).

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_queries + 1,)
        Documents of query ``q`` are ``offsets[q]:offsets[q + 1]``.
    scores, grades : ndarray, shape (n_documents,)
    alpha : float
        Steepness of the model.
    gains, discounts : ndarray, shape (n_documents,), optional
        For |delta nDCG|: gains divided by the query's ideal DCG, and 1 / log2(rank + 1).

    Returns
    -------
    ndarray, shape (n_documents,)
        Negative where a higher score lowers the loss. Sums to 0 in each query.

    Notes
    -----
    Burges, From RankNet to LambdaRank to LambdaMART, MSR-TR-2010-82.

    Examples
    --------
    >>> lambdas(np.array([0, 2]), np.zeros(2), np.array([1, 0])).tolist()
    [-0.5, 0.5]
    """
    scaled = alpha * np.asarray(scores, dtype=np.float64)
    slopes = np.zeros(scaled.size)
    for first, second in pairs_by_distance(offsets):
        right_way = np.sign(grades[first] - grades[second])
        pull = alpha * right_way * sigmoid(right_way * (scaled[second] - scaled[first]))
        if gains is not None and discounts is not None:
            pull *= np.abs(gains[first] - gains[second])
            pull *= np.abs(discounts[first] - discounts[second])
        slopes[first] -= pull
        slopes[second] += pull
    return slopes
