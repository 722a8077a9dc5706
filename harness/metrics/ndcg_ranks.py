"""DCG and nDCG at every rank of each list, and their mean."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.ragged import Floats, Ints
from .dcg_sums import ideal_dcg, share_of_ideal
from .gains import Discount, Gain, Scale
from .short_lists import Short, without_short_lists
from .tied import spread


def _sums(row: Ints, rank: Ints, weights: Floats, shape: tuple[int, int]) -> Floats:
    """Return the running totals of `weights` by rank, ``shape``."""
    keep = np.flatnonzero(rank <= shape[1])
    sums = np.zeros(shape)
    sums[row[keep], rank[keep] - 1] = weights[keep]
    return np.cumsum(sums, axis=1, out=sums)


def dcg_at_every_rank(
    aligned: Aligned,
    *,
    gain: Gain = "linear",
    discount: Discount = "log2",
    list_size: int | None = None,
) -> Floats:
    """Return DCG@1, DCG@2, ... of each query, ``(n_queries, list_size)``.

    Column ``k - 1`` is ``dcg@k`` to the last bit. See :func:`ndcg_at_every_rank`.
    """
    scale = Scale(gain, discount)
    shape = (aligned.n_queries, _longest(aligned) if list_size is None else list_size)
    items, rank = scale.items(aligned)
    weights = scale.gains(aligned.grade[items.values]) / scale.discounts(rank)
    return _sums(items.row, rank, weights, shape)


def ndcg_at_every_rank(
    aligned: Aligned,
    *,
    gain: Gain = "linear",
    short: Short = "cut",
    ideal: Literal["cut", "full"] = "cut",
    discount: Discount = "log2",
    list_size: int | None = None,
) -> Floats:
    """Return nDCG@1, nDCG@2, ... of each query, ``(n_queries, list_size)``.

    Column ``k - 1`` is ``ndcg@k`` with the same parameters, to the last bit; beyond the end of
    a list its last value goes on.

    Parameters
    ----------
    aligned : Aligned
    gain, short, ideal, discount
        As in :func:`~harness.metrics.ndcg.ndcg`.
    list_size : int, optional
        How many ranks; up to the longest list where left out.

    Returns
    -------
    ndarray, shape (n_queries, list_size)

    Raises
    ------
    InputError
        As in :func:`~harness.metrics.ndcg.ndcg`.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 0, "b": 0, "c": 3}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> ndcg_at_every_rank(align(qrels, run)).tolist()
    [[0.0, 0.0, 0.5]]
    """
    scale = Scale(gain, discount)
    actual = dcg_at_every_rank(aligned, gain=gain, discount=discount, list_size=list_size)
    if ideal == "full":
        best = np.broadcast_to(ideal_dcg(aligned, scale)[:, None], actual.shape)
    else:
        best = _ideal_at_every_rank(aligned, scale, actual.shape)
    ranks = np.arange(1, actual.shape[1] + 1)
    return without_short_lists(aligned, share_of_ideal(actual, best), ranks, short)


def _ideal_at_every_rank(aligned: Aligned, scale: Scale, shape: tuple[int, int]) -> Floats:
    row, at, rank = scale.ideal(aligned)
    weights = scale.gains(aligned.ideal.values[at]) / scale.discounts(rank)
    return _sums(row, rank, weights, shape)


def _longest(aligned: Aligned) -> int:
    return int(max(aligned.n_retrieved.max(initial=0), aligned.ideal.lengths.max(initial=0)))


def _expected_mean_ndcg(
    aligned: Aligned, *, gain: Gain = "linear", discount: Discount = "log2"
) -> Floats:
    """Return the expectation of ``mean_ndcg`` over the orders of tied documents."""
    scale = Scale(gain, discount)
    shape = (aligned.n_queries, int(aligned.n_retrieved.max(initial=0)))
    items = scale.items(aligned)[0].values
    row, rank, mean = spread(aligned, items, scale.gains(aligned.grade[items]))
    actual = _sums(row, rank, mean / scale.discounts(rank), shape)
    return _mean(aligned, share_of_ideal(actual, _ideal_at_every_rank(aligned, scale, shape)))


def _mean(aligned: Aligned, values: Floats) -> Floats:
    """Return the mean of the values at the ranks of each list, ``(n_queries,)``."""
    n = aligned.n_retrieved
    within = np.arange(1, values.shape[1] + 1) <= n[:, None]
    total: Floats = (values * within).sum(axis=1)
    return np.divide(total, n, out=np.zeros(n.size), where=n > 0)


@metric(
    "mean_ndcg",
    direction="higher",
    bounds=(0, 1),
    source="LETOR 3.0 and 4.0, Eval-Score-3.0.pl and Eval-Score-4.0.pl; MSLR, eval-score-mslr.pl",
    aliases=("MeanNDCG",),
    expected=_expected_mean_ndcg,
    unbounded_with=("gain=letor", "gain=mslr"),
)
def mean_ndcg(aligned: Aligned, *, gain: Gain = "linear", discount: Discount = "log2") -> Floats:
    """Mean of nDCG at every rank of the list.

    MeanNDCG = (nDCG@1 + ... + nDCG@n) / n for n retrieved documents, judged or not. It weighs
    the first ranks more than ``ndcg`` does. The scripts that came with LETOR print it, with
    ``gain=letor,discount=jarvelin``; that of MSLR with ``gain=mslr,discount=jarvelin``.

    Parameters
    ----------
    aligned : Aligned
    gain, discount
        As in ``ndcg``.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents.

    Raises
    ------
    InputError
        Where a grade is above 1000 and the gain is exponential.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 0, "b": 0, "c": 3}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> mean_ndcg(align(qrels, run)).round(4).tolist()      # (0 + 0 + 1/2) / 3
    [0.1667]
    """
    longest = int(aligned.n_retrieved.max(initial=0))
    return _mean(
        aligned, ndcg_at_every_rank(aligned, gain=gain, discount=discount, list_size=longest)
    )
