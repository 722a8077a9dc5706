"""Discounted cumulative gain, plain and normalised, with linear or exponential gains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.discount import log2_discount
from ..core.metric import Range, metric
from ..core.pairs import judged_items
from ..core.ragged import Floats, Ints, frozen, sum_by
from ..errors import InputError
from .trec_gain_table import Gains, gain_table, grades_as_gains

Cutoff = Annotated[int, Range(1, None)]
Gain = Literal["linear", "exp"]
_LARGEST_EXPONENT = 1000


def gains_of(grades: Ints, gain: Gain) -> Floats:
    """Return the gain of each grade: the grade itself, or 2^grade - 1; 0 below grade 1.

    Raises
    ------
    InputError
        Where 2^grade does not fit a float.

    >>> gains_of(np.array([-1, 0, 1, 4]), "exp").tolist()
    [0.0, 0.0, 1.0, 15.0]
    """
    positive = np.maximum(grades, 0)
    if gain == "linear":
        return positive.astype(np.float64)
    if int(positive.max(initial=0)) > _LARGEST_EXPONENT:
        raise InputError(
            f"gain=exp: a grade of {int(positive.max())} gives a gain beyond all numbers; "
            "use gain=linear, or smaller grades"
        )
    gains: Floats = np.ldexp(1.0, positive.astype(np.intc)) - 1.0  # exact; exp2 need not be
    return gains


def _discounted(row: Ints, rank: Ints, grade: Ints, n_rows: int, gain: Gain) -> Floats:
    return frozen(sum_by(row, gains_of(grade, gain) / log2_discount(rank), n_rows))


def _own(gain: Gain) -> Callable[[Ints], Floats]:
    return grades_as_gains if gain == "linear" else _exponential


def _exponential(grades: Ints) -> Floats:
    return gains_of(grades, "exp")


def _dcg(aligned: Aligned, gain: Gain, cutoff: int | None) -> Floats:
    def total() -> Floats:
        items = aligned.relevant(1)
        if cutoff is not None:
            items = items[aligned.rank[items] <= cutoff]
        return _discounted(
            aligned.row[items], aligned.rank[items], aligned.grade[items], aligned.n_queries, gain
        )

    return aligned.memo(("dcg", gain, cutoff), total)


def ideal_dcg(aligned: Aligned, gain: Gain = "linear", cutoff: int | None = None) -> Floats:
    """Return the DCG of each query's grades in descending order, ``(n_queries,)``.

    All judged documents count, retrieved or not; the first `cutoff` of them where that is given.
    """

    def total() -> Floats:
        ideal = aligned.ideal
        keep = ideal.values > 0
        if cutoff is not None:
            keep &= ideal.rank <= cutoff
        at = np.flatnonzero(keep)
        return _discounted(ideal.row[at], ideal.rank[at], ideal.values[at], aligned.n_queries, gain)

    return aligned.memo(("ideal_dcg", gain, cutoff), total)


def _ratio(dcg: Floats, ideal: Floats) -> Floats:
    return np.divide(dcg, ideal, out=np.zeros_like(dcg), where=ideal > 0)


@metric(
    "dcg",
    direction="higher",
    bounds=(0, np.inf),
    source="Järvelin and Kekäläinen, ACM TOIS 20(4), 2002; Burges et al., ICML 2005 (gain=exp)",
    unit="gain",
    aliases=("DCG",),
)
def dcg(aligned: Aligned, *, gain: Gain = "linear", cutoff: Cutoff | None = None) -> Floats:
    """Discounted cumulative gain: gains of the ranked documents, each by log2(rank + 1).

    DCG@k = sum over ranks i = 1..k of gain(g_i) / log2(i + 1). Unjudged documents and grades
    below 1 gain nothing. Unlike ``ndcg`` it depends on how much there is to be found.

    Parameters
    ----------
    aligned : Aligned
    gain : {"linear", "exp"}
        The grade itself, or 2^grade - 1.
    cutoff : int, optional
        k; the whole list where left out.

    Returns
    -------
    ndarray, shape (n_queries,)
        At least 0, in units of gain; 0 where nothing relevant is retrieved.

    Raises
    ------
    InputError
        Where a grade is above 1000 and the gain is exponential.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 0, "c": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> dcg(align(qrels, run)).tolist(), dcg(align(qrels, run), gain="exp").tolist()
    ([2.5], [3.5])
    """
    return _dcg(aligned, gain, cutoff)


@metric(
    "ndcg",
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_ndcg.c and m_ndcg_cut.c; Järvelin and Kekäläinen, ACM TOIS 20(4), "
    "2002; Burges et al., ICML 2005 (gain=exp)",
    trec_name="ndcg",
    aliases=("nDCG", "NDCG"),
)
def ndcg(
    aligned: Aligned,
    *,
    gain: Gain = "linear",
    gains: Gains = (),
    short: Literal["cut", "nan"] = "cut",
    ideal: Literal["cut", "full"] = "cut",
    cutoff: Cutoff | None = None,
) -> Floats:
    """Discounted cumulative gain as a share of the ideal order's.

    nDCG@k = DCG@k / ideal DCG@k, with DCG@k = sum over ranks i = 1..k of gain(g_i) / log2(i + 1)
    and the ideal taken over all judged documents in descending order of grade. With its default
    parameters it is trec_eval's ``ndcg`` and ``ndcg_cut_k`` to the last bit. Grades below 1 gain
    nothing.

    Parameters
    ----------
    aligned : Aligned
    gain : {"linear", "exp"}
        The grade itself, or 2^grade - 1 (usual in learning to rank).
    gains : tuple of (int, float)
        Gains of single grades, written ``ndcg(gains=1:3;2:9)`` (trec_eval's ``ndcg.1=3,2=9``);
        `gain` holds for all others. A grade of 0 can be given one, and gains can be negative.
    short : {"cut", "nan"}
        What becomes of a list with fewer than k documents (judged and retrieved ones): ``cut``
        computes with what is there, ``nan`` leaves the query out.
    ideal : {"cut", "full"}
        Whether the ideal DCG is cut at k too. With ``full`` a short cutoff cannot reach 1.
    cutoff : int, optional
        k; the whole list where left out.

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
    >>> ndcg(align(qrels, run)).tolist(), ndcg(align(qrels, run), cutoff=2).tolist()
    ([0.5], [0.0])
    """
    ideal_cutoff = cutoff if ideal == "cut" else None
    if gains:
        actual, best = _dcg_of_gains(aligned, gains, gain, cutoff, ideal_cutoff)
    else:
        actual, best = _dcg(aligned, gain, cutoff), ideal_dcg(aligned, gain, ideal_cutoff)
    values = _ratio(actual, best)
    if short == "nan" and cutoff is not None:
        values[judged_items(aligned).lengths < cutoff] = np.nan
    return values


def _dcg_of_gains(
    aligned: Aligned, gains: Gains, gain: Gain, cutoff: int | None, ideal_cutoff: int | None
) -> tuple[Floats, Floats]:
    """Return the DCG of the ranking and of the ideal order, where grades are given gains."""
    table = gain_table(aligned, gains, _own(gain))
    item, ideal = table.item, table.ideal
    here = np.flatnonzero(item if cutoff is None else item * (aligned.rank <= cutoff))
    best = ideal.values / log2_discount(ideal.rank)
    return (
        aligned.sum(item[here] / log2_discount(aligned.rank[here]), here),
        ideal.sum(best, None if ideal_cutoff is None else ideal.rank <= ideal_cutoff),
    )


def _every_rank(row: Ints, rank: Ints, grade: Ints, shape: tuple[int, int], gain: Gain) -> Floats:
    keep = np.flatnonzero((rank <= shape[1]) & (grade > 0))
    gains = np.zeros(shape)
    gains[row[keep], rank[keep] - 1] = gains_of(grade[keep], gain) / log2_discount(rank[keep])
    return np.cumsum(gains, axis=1, out=gains)


def dcg_at_every_rank(
    aligned: Aligned, *, gain: Gain = "linear", list_size: int | None = None
) -> Floats:
    """Return DCG@1, DCG@2, ... of each query, ``(n_queries, list_size)``.

    Column ``k - 1`` is ``dcg@k`` to the last bit. See :func:`ndcg_at_every_rank`.
    """
    shape = (aligned.n_queries, _longest(aligned) if list_size is None else list_size)
    return _every_rank(aligned.row, aligned.rank, aligned.grade, shape, gain)


def ndcg_at_every_rank(
    aligned: Aligned,
    *,
    gain: Gain = "linear",
    short: Literal["cut", "nan"] = "cut",
    ideal: Literal["cut", "full"] = "cut",
    list_size: int | None = None,
) -> Floats:
    """Return nDCG@1, nDCG@2, ... of each query, ``(n_queries, list_size)``.

    Column ``k - 1`` is ``ndcg@k`` with the same parameters, to the last bit; beyond the end of
    a list its last value goes on.

    Parameters
    ----------
    aligned : Aligned
    gain, short, ideal
        As in :func:`ndcg`.
    list_size : int, optional
        How many ranks; up to the longest list where left out.

    Returns
    -------
    ndarray, shape (n_queries, list_size)

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 0, "b": 0, "c": 3}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> ndcg_at_every_rank(align(qrels, run)).tolist()
    [[0.0, 0.0, 0.5]]
    """
    actual = dcg_at_every_rank(aligned, gain=gain, list_size=list_size)
    best = aligned.ideal
    if ideal == "full":
        values = _ratio(actual, np.broadcast_to(ideal_dcg(aligned, gain)[:, None], actual.shape))
    else:
        values = _ratio(actual, _every_rank(best.row, best.rank, best.values, actual.shape, gain))
    if short == "nan":
        lengths = judged_items(aligned).lengths
        values[np.arange(1, values.shape[1] + 1) > lengths[:, None]] = np.nan
    return values


def _longest(aligned: Aligned) -> int:
    return int(max(aligned.n_retrieved.max(initial=0), aligned.ideal.lengths.max(initial=0)))
