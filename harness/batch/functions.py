"""Metrics of padded batches; `harness.batch` describes the arguments that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from ..core.align import align, rank_order
from ..core.aligned import Aligned
from ..core.arguments import FLAG, check_arguments, check_choice
from ..core.metric import REGISTRY, Metric
from ..core.policy import Order, Policy
from ..core.policy_views import check_view
from ..core.ragged import Floats, positions_of
from ..errors import Problem, UnknownNameError
from ..metrics.correlation import Form as TauForm
from ..metrics.correlation import Tied as TauTied
from ..metrics.ndcg import Gain, Scale, dcg_at_every_rank, gains_of, ideal_dcg, ndcg_at_every_rank
from ..metrics.overlap import Tied
from ..metrics.pair_agreement import Normalize, sigmoid
from ..metrics.pair_agreement import lambdas as _lambdas
from ..metrics.rbo import Form, rbo_weight
from ..metrics.shared import log2_discount
from ..readers.batches import as_array, from_batch

__all__ = [
    "ao",
    "arp",
    "dcg",
    "kendall",
    "lambdas",
    "mse",
    "ndcg",
    "pairwise_logloss",
    "pearson",
    "rbo",
    "rbo_weight",
    "sigmoid",
    "spearman",
    "swaps",
    "tau_ap",
]


def __dir__() -> list[str]:
    return __all__


def ndcg(
    scores: Any,
    relevance: Any,
    n: Any = None,
    k: int | Sequence[int] | None = 10,
    gain: Gain = "exp",
    *,
    mask: Any = None,
    short: Literal["cut", "nan"] = "cut",
    ideal: Literal["cut", "full"] = "cut",
    ties: Order = "trec_eval",
) -> Floats:
    """Compute nDCG@k: DCG@k divided by the DCG@k of the ideal ranking.

    The metric `harness.metrics.ndcg.ndcg` has the formula.

    Parameters
    ----------
    k : int, sequence of int, or None
        Cutoff, or several cutoffs. None means every rank; ranks past the end of a list repeat its
        last value.
    gain : {"exp", "linear"}
        Gain of a grade g: 2^g - 1, as usual in learning to rank, or g itself.
    short : {"cut", "nan"}
        Value of a list shorter than k: that of the whole list, or NaN.
    ideal : {"cut", "full"}
        Cut the ideal ranking at k too, or use it whole.

    Returns
    -------
    ndarray, shape (B,), (B, len(k)) for several cutoffs, or (B, L) if k is None

    Raises
    ------
    InputError, UnknownNameError
        If the batch or a parameter is wrong.

    Examples
    --------
    >>> ndcg([[1.0, 0.0, 1.5]], [[0, 1, 0]], [3], k=None).tolist()
    [[0.0, 0.0, 0.5]]
    """
    aligned = _align(scores, relevance, n, mask, ties)
    if k is not None:
        return _values("ndcg", aligned, gain=gain, short=short, ideal=ideal, cutoff=k)
    parameters = _checked("ndcg", aligned, gain=gain, short=short, ideal=ideal)
    return _defined(aligned, ndcg_at_every_rank(aligned, list_size=_width(scores), **parameters))


def dcg(
    scores: Any,
    relevance: Any,
    n: Any = None,
    k: int | Sequence[int] | None = 10,
    gain: Gain = "exp",
    *,
    mask: Any = None,
    ties: Order = "trec_eval",
) -> Floats:
    """Compute DCG@k: the sum over ranks 1 to k of gain / log2(rank + 1).

    >>> dcg([[1.0, 0.0, 1.5]], [[0, 1, 0]], [3]).tolist()
    [0.5]
    """
    aligned = _align(scores, relevance, n, mask, ties)
    if k is not None:
        return _values("dcg", aligned, gain=gain, cutoff=k)
    parameters = _checked("dcg", aligned, gain=gain)
    return _defined(aligned, dcg_at_every_rank(aligned, list_size=_width(scores), **parameters))


def arp(
    scores: Any, relevance: Any, n: Any = None, *, mask: Any = None, ties: Order = "trec_eval"
) -> Floats:
    """Compute the average rank of the relevant documents, weighted by grade.

    A query without relevant documents has NaN (0 in PyTorchLTR). See `harness.metrics.arp.arp`.

    >>> arp([[1.0, 0.0, 1.5], [1.5, 0.2, 0.5]], [[0, 1, 0], [0, 0, 0]], [3, 3]).tolist()
    [3.0, nan]
    """
    return _values("arp", _align(scores, relevance, n, mask, ties))


def swaps(
    scores: Any,
    relevance: Any,
    n: Any = None,
    *,
    mask: Any = None,
    normalize: Normalize = False,
    ties: Order = "trec_eval",
) -> Floats:
    """Count the pairs of documents in the wrong order; see `harness.metrics.pair_agreement.swaps`.

    >>> swaps([[3.0, 2.0, 1.0]], [[10, 7, 9]], [3]).tolist()
    [1.0]
    """
    return _values("swaps", _align(scores, relevance, n, mask, ties), normalize=normalize)


def mse(scores: Any, relevance: Any, n: Any = None, *, mask: Any = None) -> Floats:
    """Compute the mean of (grade - score)^2 of each query; see `harness.metrics.error.mse`.

    >>> mse([[3.0, 2.0, 9.0]], [[1, 0, 0]], [2]).tolist()
    [4.0]
    """
    return _values("mse", _align(scores, relevance, n, mask))


def rbo(
    scores: Any,
    relevance: Any,
    n: Any = None,
    p: float = 0.9,
    *,
    mask: Any = None,
    form: Form = "ext",
    rel: float = 1,
    tied: Tied = "none",
    k: int | None = None,
    ties: Order = "trec_eval",
) -> Floats:
    """Compute the rank-biased overlap with the ideal ranking; see `harness.metrics.rbo.rbo`.

    Parameters
    ----------
    k : int, optional
        Depth of the sum, only for ``form="truncated"``.

    Examples
    --------
    >>> rbo([[3.0, 2.0]], [[1, 2]], [2], p=0.5).round(12).tolist()
    [0.5]
    """
    aligned = _align(scores, relevance, n, mask, ties)
    return _values("rbo", aligned, p=p, form=form, rel=rel, tied=tied, k=k)


def ao(
    scores: Any,
    relevance: Any,
    n: Any = None,
    k: int | None = None,
    *,
    mask: Any = None,
    rel: float = 1,
    tied: Tied = "none",
    ties: Order = "trec_eval",
) -> Floats:
    """Compute the average overlap with the ideal ranking; see `harness.metrics.rbo.ao`.

    Parameters
    ----------
    k : int, optional
        Cutoff; none by default.

    Examples
    --------
    >>> ao([[3.0, 2.0]], [[1, 2]], [2]).tolist()
    [0.5]
    """
    return _values("ao", _align(scores, relevance, n, mask, ties), rel=rel, tied=tied, cutoff=k)


def kendall(
    scores: Any,
    relevance: Any,
    n: Any = None,
    form: TauForm = "b",
    *,
    mask: Any = None,
    ties: Order = "trec_eval",
) -> Floats:
    """Compute Kendall's tau of scores and grades; see `harness.metrics.correlation.kendall`.

    >>> kendall([[3.0, 2.0, 1.0]], [[2, 0, 1]], [3]).round(12).tolist()
    [0.333333333333]
    """
    return _values("kendall", _align(scores, relevance, n, mask, ties), form=form)


def tau_ap(
    scores: Any,
    relevance: Any,
    n: Any = None,
    tied: TauTied = "none",
    *,
    mask: Any = None,
    ties: Order = "trec_eval",
) -> Floats:
    """Compute the AP correlation of scores and grades; see `harness.metrics.correlation.tau_ap`.

    >>> tau_ap([[3.0, 2.0, 1.0]], [[1, 2, 0]], [3]).tolist()
    [0.0]
    """
    return _values("tau_ap", _align(scores, relevance, n, mask, ties), tied=tied)


def spearman(
    scores: Any, relevance: Any, n: Any = None, *, mask: Any = None, ties: Order = "trec_eval"
) -> Floats:
    """Compute Spearman's rho; see `harness.metrics.correlation.spearman`.

    >>> spearman([[3.0, 2.0, 1.0]], [[2, 0, 1]], [3]).round(12).tolist()
    [0.5]
    """
    return _values("spearman", _align(scores, relevance, n, mask, ties))


def pearson(scores: Any, relevance: Any, n: Any = None, *, mask: Any = None) -> Floats:
    """Compute Pearson's correlation; see `harness.metrics.correlation.pearson`.

    >>> pearson([[5.0, 1.0, 3.0]], [[2, 0, 1]], [3]).round(12).tolist()
    [1.0]
    """
    return _values("pearson", _align(scores, relevance, n, mask))


def pairwise_logloss(
    scores: Any, relevance: Any, n: Any = None, alpha: float = 1.0, *, mask: Any = None
) -> Floats:
    """Compute RankNet's loss; see `harness.metrics.pair_agreement.pairwise_logloss`.

    >>> pairwise_logloss([[2.0, 1.0]], [[1, 0]], [2]).round(12).tolist()
    [0.313261687518]
    """
    return _values("pairwise_logloss", _align(scores, relevance, n, mask), alpha=alpha)


def lambdas(
    scores: Any,
    relevance: Any,
    n: Any = None,
    alpha: float = 1.0,
    *,
    mask: Any = None,
    delta_ndcg: bool = False,
    gain: Gain = "exp",
    ties: Order = "trec_eval",
) -> Floats:
    """Compute the lambda of each document: the derivative of the pairwise loss by its score.

    The loss here is a sum over pairs; `harness.batch.pairwise_logloss` is their mean.

    Parameters
    ----------
    alpha : float
        Steepness of the model, above 0.
    delta_ndcg : bool
        Weight each pair by the change of nDCG if its documents are exchanged (LambdaRank), or by
        1 (RankNet).
    gain : {"exp", "linear"}
        Gain in nDCG: 2^g - 1, or the grade g.

    Returns
    -------
    ndarray, shape (B, L)
        Lambdas, 0 beyond the end of each list.

    Examples
    --------
    >>> lambdas([[0.0, 0.0, 5.0]], [[1, 0, 9]], [2]).tolist()
    [[-0.5, 0.5, 0.0]]
    """
    check_arguments(locals(), delta_ndcg=FLAG)
    parameters = _checked("pairwise_logloss", alpha=alpha)
    qrels, run, _ = from_batch(scores, relevance, n, mask=mask, copy=False, keep_empty=True)
    gains = discounts = None
    if delta_ndcg:
        policy = _policy(ties)
        gain = _checked("ndcg", gain=gain)["gain"]
        ideal = ideal_dcg(align(qrels, run, policy), Scale(gain))
        share = np.divide(1.0, ideal, out=np.zeros_like(ideal), where=ideal > 0)
        gains = gains_of(qrels.grades, gain) * share[qrels.row]
        rank = np.empty(run.n_rows, dtype=np.int64)
        rank[rank_order(run, policy)] = positions_of(run.offsets) + 1
        discounts = 1.0 / log2_discount(rank)
    slopes = _lambdas(
        run.offsets, run.scores, qrels.grades, gains=gains, discounts=discounts, **parameters
    )
    if (width := _width(scores)) is None:
        return slopes
    padded = np.zeros((run.n_queries, width))
    if mask is None:
        padded[run.row, positions_of(run.offsets)] = slopes
    else:
        padded[as_array(mask, "mask").reshape(padded.shape).astype(bool)] = slopes
    return padded


def _width(scores: Any) -> int | None:
    """Return the list size of a padded batch; None for rows with group sizes."""
    shape = as_array(scores, "scores").shape
    return shape[1] if len(shape) > 1 else None


def _align(scores: Any, relevance: Any, n: Any, mask: Any, ties: Order = "trec_eval") -> Aligned:
    policy = _policy(ties)
    qrels, run, _ = from_batch(scores, relevance, n, mask=mask, copy=False, keep_empty=True)
    return align(qrels, run, policy)


def _defined(aligned: Aligned, values: Floats) -> Floats:
    """Return values by query; NaN for those without a document."""
    values = np.array(values, dtype=np.float64)
    values[aligned.ideal.lengths == 0] = np.nan
    return values


def _checked(name: str, aligned: Aligned | None = None, **arguments: Any) -> dict[str, Any]:
    """Return the parameters as the metric takes them, refused as in a metric's name.

    Grades of the alignment are refused as the metric with these parameters refuses them.
    """
    parameters = REGISTRY[name].parameters
    checked = {}
    for key, value in arguments.items():
        if value is None and not parameters[key].optional:
            message = f"expected {key}, got None"
            raise UnknownNameError(Problem(f"batch.{name}", message, fix=f"give {key}=..."))
        text = parameters[key].text(value)
        checked[key] = None if value is None else parameters[key].parse(text, f"batch.{name}")
    if aligned is not None:
        changed = ((n, v) for n, v in checked.items() if v != parameters[n].default)
        metric = Metric(REGISTRY[name], params=tuple((n, v) for n, v in changed if n != "cutoff"))
        check_view(aligned, metric, aligned.policy)
    return checked


def _values(name: str, aligned: Aligned, **parameters: Any) -> Floats:
    cutoffs = parameters.get("cutoff")
    if isinstance(cutoffs, (list, tuple)) and cutoffs:
        columns = [_values(name, aligned, **{**parameters, "cutoff": cutoff}) for cutoff in cutoffs]
        return np.stack(columns, axis=1)
    return _defined(
        aligned, REGISTRY[name].function(aligned, **_checked(name, aligned, **parameters))
    )


def _policy(ties: str) -> Policy:
    """Return the policy for ties that follow from the rows; metrics here are of one ranking."""
    check_choice("ties", ties, get_args(Order))
    return Policy(ties=ties)
