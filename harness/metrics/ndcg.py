"""Discounted cumulative gain, plain and normalised, with the gains and discounts of many tools."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, get_args

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.ragged import Floats, Ints, frozen, sum_by
from .gains import DISCOUNTS, Discount, Floor, Gain, Negative, Scale, gains_of
from .shared import Cutoff, Short, share, without_short_lists
from .tied import mean_discounted, spread, within
from .trec_gain import Gains, gain_table, grades_as_gains

_OWN: dict[str, Callable[[Ints], Floats]] = {
    gain: partial(gains_of, gain=gain) for gain in get_args(Gain)
}
_OWN["linear"] = grades_as_gains  # shared with trec_eval's other metrics of gains


def list_dcg(aligned: Aligned, scale: Scale, cutoff: int | None = None) -> Floats:
    """Return the DCG of each query's ranking, ``(n_queries,)``."""

    def total() -> Floats:
        items, rank = scale.items(aligned)
        at, row = items.values, items.row
        if cutoff is not None:
            inside = np.flatnonzero(rank <= cutoff)
            at, row, rank = at[inside], row[inside], rank[inside]
        weights = scale.gains(aligned.grade[at]) / scale.discounts(rank)
        return frozen(sum_by(row, weights, aligned.n_queries))

    return aligned.memo(("dcg", scale, cutoff), total)


def expected_list_dcg(
    aligned: Aligned, scale: Scale, cutoff: int | None = None, spill: bool = False
) -> Floats:
    """Return the expected DCG over the orders of tied documents, ``(n_queries,)``.

    With `spill` a group that reaches past the cutoff counts whole, which is not an expectation.
    """
    last = None if spill else cutoff

    def total() -> Floats:
        items = within(aligned, scale.items(aligned)[0].values, cutoff)
        gains = scale.gains(aligned.grade[items])
        weights = mean_discounted(aligned, items, gains, DISCOUNTS[scale.discount], last)
        return frozen(sum_by(aligned.row[items], weights, aligned.n_queries))

    return aligned.memo(("expected_dcg", scale, cutoff, spill), total)


def ideal_dcg(aligned: Aligned, gain: Gain | Scale = "linear", cutoff: int | None = None) -> Floats:
    """Return the DCG of each query's grades in the ideal order, ``(n_queries,)``.

    All judged documents count, retrieved or not; or the first `cutoff` of them.
    """
    scale = gain if isinstance(gain, Scale) else Scale(gain)

    def total() -> Floats:
        row, at, rank = scale.ideal(aligned, cutoff)
        weights = scale.gains(aligned.ideal.values[at]) / scale.discounts(rank)
        return frozen(sum_by(row, weights, aligned.n_queries))

    return aligned.memo(("ideal_dcg", scale, cutoff), total)


def _share_with_gains(
    aligned: Aligned, gains: Gains, scale: Scale, cutoff: int | None, ideal_cutoff: int | None,
    *, average: bool,
) -> Floats:  # fmt: skip
    """Return nDCG if single grades are given gains."""
    item, ideal = gain_table(aligned, gains, _OWN[scale.gain])
    items = np.flatnonzero(item)
    if average:
        items = within(aligned, items, cutoff)
        discount = DISCOUNTS[scale.discount]
        weights = mean_discounted(aligned, items, item[items], discount, cutoff)
    else:
        items = items if cutoff is None else items[aligned.rank[items] <= cutoff]
        weights = item[items] / scale.discounts(aligned.rank[items])
    inside = None if ideal_cutoff is None else ideal.rank <= ideal_cutoff
    best = ideal.sum(ideal.values / scale.discounts(ideal.rank), inside)
    return share(aligned.sum(weights, items), best)


@metric(
    "dcg",
    title="DCG",
    cite=("jarvelin2002",),
    direction="higher",
    bounds=(0, np.inf),
    source="Järvelin and Kekäläinen, ACM TOIS 20(4), 2002; Burges et al., ICML 2005 (gain=exp)",
    unit="gain",
    aliases=("DCG",),
    expected="average",
    unbounded_with=("gain=letor", "gain=mslr"),
)
def dcg(
    aligned: Aligned,
    *,
    gain: Gain = "linear",
    discount: Discount = "log2",
    negative: Negative = "zero",
    floor: Floor = 0.0,
    short: Short = "cut",
    cutoff: Cutoff | None = None,
    average: bool = False,
) -> Floats:
    """Discounted cumulative gain: gains of the ranked documents, each by log2(rank + 1).

    DCG@k = sum over ranks i = 1..k of gain(g_i) / log2(i + 1). Unjudged documents and grades of
    0 or below gain nothing. Unlike ``ndcg`` it depends on how much there is to be found.

    Parameters
    ----------
    gain, discount, negative, floor, short
        As in ``ndcg``.

    Returns
    -------
    ndarray, shape (n_queries,)
        At least 0 but for ``negative=value``, in units of gain; 0 if nothing relevant is
        retrieved.

    Raises
    ------
    InputError
        If a grade is above 1000 and the gain is exponential, or a list is short and that is
        an error.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 0, "c": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> dcg(align(qrels, run)).tolist(), dcg(align(qrels, run), gain="exp").tolist()
    ([2.5], [3.5])
    """
    dcg_of = expected_list_dcg if average else list_dcg
    values = dcg_of(aligned, Scale(gain, discount, negative, floor), cutoff)
    return without_short_lists(aligned, values, cutoff, short)


@metric(
    "ndcg",
    title="nDCG",
    cite=("jarvelin2002",),
    direction="higher",
    bounds=(0, 1),
    source="trec_eval 9.0.8, m_ndcg.c and m_ndcg_cut.c; Järvelin and Kekäläinen, ACM TOIS 20(4), "
    "2002; Burges et al., ICML 2005 (gain=exp)",
    trec_name="ndcg",
    aliases=("nDCG", "NDCG"),
    expected="average",
    unbounded_with=("gains", "gain=letor", "gain=mslr"),
)
def ndcg(
    aligned: Aligned,
    *,
    gain: Gain = "linear",
    gains: Gains = (),
    short: Short = "cut",
    ideal: Literal["cut", "full", "list"] = "cut",
    discount: Discount = "log2",
    negative: Negative = "zero",
    floor: Floor = 0.0,
    spill: bool = False,
    cutoff: Cutoff | None = None,
    average: bool = False,
) -> Floats:
    """DCG divided by the DCG of the ideal ranking.

    nDCG@k = DCG@k / ideal DCG@k, with DCG@k = sum over ranks i = 1..k of gain(g_i) / log2(i + 1)
    and the ideal taken over all judged documents in descending order of grade. With its default
    parameters it is trec_eval's ``ndcg`` and ``ndcg_cut_k`` to the last bit. Grades of 0 or
    below gain nothing.

    Parameters
    ----------
    gain : {"linear", "exp", "letor", "mslr", "exp-int32"}
        The grade itself; 2^grade - 1 (usual in learning to rank); 0, 1, 3 for grades 0, 1, 2
        and nothing beyond (the scripts of LETOR 3.0 and 4.0); 0, 1, 3, 7, 15 and nothing beyond
        (the script of MSLR); 2^grade - 1 in 32-bit arithmetic, in which a grade of 40 gains
        2^8 - 1 (RankLib).
    gains : tuple of (int, float)
        Gains of single grades, written ``ndcg(gains=1:3;2:9)`` (trec_eval's ``ndcg.1=3,2=9``);
        `gain` holds for all others. A grade of 0 can be given one, and gains can be negative.
    ideal : {"cut", "full", "list"}
        Whether the ideal DCG is cut at k too. With ``full`` a short cutoff cannot reach 1. With
        ``list`` it is also cut at the number of retrieved documents (Elasticsearch), so that a
        list of one relevant document reaches 1. Not with `gains`.
    discount : {"log2", "jarvelin", "position"}
        What a gain at rank i is divided by: log2(i + 1); 1 at ranks 1 and 2, then log2(i); or i.
    negative : {"zero", "value"}
        Whether grades below 0 gain nothing, as unjudged documents do, or what ``linear`` and
        ``exp`` give for them: -1 or 2^-1 - 1 = -0.5, in the ideal order too. Not with `gains`.
    floor : float
        Grades below it gain nothing; matters for grades that are fractions. Not with `gains`.
    spill : bool
        Under ``ties=average``, whether a tied group that reaches past k counts whole, so that
        values can exceed 1 (QuickRank's TNDCG). Not with `gains`.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1], but for ``negative=value`` and ``gain=exp-int32``; 0 for a query without
        relevant documents.

    Raises
    ------
    InputError
        If a grade is above 1000 and the gain is exponential, a list is short and that is an
        error, or `gains` are given and grades are fractions.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 0, "b": 0, "c": 3}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> ndcg(align(qrels, run)).tolist(), ndcg(align(qrels, run), cutoff=2).tolist()
    ([0.5], [0.0])
    """
    ideal_cutoff = None if ideal == "full" else cutoff
    scale = Scale(gain, discount, negative, floor)
    if gains:
        values = _share_with_gains(aligned, gains, scale, cutoff, ideal_cutoff, average=average)
    else:
        actual = list_dcg(aligned, scale, cutoff)
        if average:
            actual = expected_list_dcg(aligned, scale, cutoff, spill)
        best = ideal_dcg(aligned, scale, ideal_cutoff)
        if ideal == "list":
            best = _ideal_of_list(aligned, scale, cutoff)
        values = share(actual, best)
    return without_short_lists(aligned, values, cutoff, short)


def _ideal_of_list(aligned: Aligned, scale: Scale, cutoff: int | None) -> Floats:
    """Return the ideal DCG of as many documents as the list has, ``(n_queries,)``."""
    row, at, rank = scale.ideal(aligned, cutoff)
    inside = rank <= aligned.n_retrieved[row]
    weights = scale.gains(aligned.ideal.values[at[inside]]) / scale.discounts(rank[inside])
    return sum_by(row[inside], weights, aligned.n_queries)


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
    if list_size is None:
        lists = aligned.n_retrieved, aligned.ideal.lengths
        list_size = int(max(lengths.max(initial=0) for lengths in lists))
    shape = (aligned.n_queries, list_size)
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

    Column ``k - 1`` is ``ndcg@k`` with the same parameters, to the last bit; ranks past
    the end of a list repeat the last value. By default `list_size` is the longest list.
    """
    scale = Scale(gain, discount)
    actual = dcg_at_every_rank(aligned, gain=gain, discount=discount, list_size=list_size)
    if ideal == "full":
        best = np.broadcast_to(ideal_dcg(aligned, scale)[:, None], actual.shape)
    else:
        best = _ideal_at_every_rank(aligned, scale, actual.shape)
    ranks = np.arange(1, actual.shape[1] + 1)
    return without_short_lists(aligned, share(actual, best), ranks, short)


def _ideal_at_every_rank(aligned: Aligned, scale: Scale, shape: tuple[int, int]) -> Floats:
    row, at, rank = scale.ideal(aligned)
    weights = scale.gains(aligned.ideal.values[at]) / scale.discounts(rank)
    return _sums(row, rank, weights, shape)


def _mean(aligned: Aligned, values: Floats) -> Floats:
    """Return the mean of the values at the ranks of each list, ``(n_queries,)``."""
    n = aligned.n_retrieved
    within = np.arange(1, values.shape[1] + 1) <= n[:, None]
    total: Floats = (values * within).sum(axis=1)
    return share(total, n)


@metric(
    "mean_ndcg",
    title="the mean of nDCG over all ranks",
    cite=("jarvelin2002",),
    direction="higher",
    bounds=(0, 1),
    source="LETOR 3.0 and 4.0, Eval-Score-3.0.pl and Eval-Score-4.0.pl; MSLR, eval-score-mslr.pl",
    aliases=("MeanNDCG",),
    expected="average",
    unbounded_with=("gain=letor", "gain=mslr"),
)
def mean_ndcg(
    aligned: Aligned,
    *,
    gain: Gain = "linear",
    discount: Discount = "log2",
    average: bool = False,
) -> Floats:
    """Mean of nDCG at every rank of the list.

    MeanNDCG = (nDCG@1 + ... + nDCG@n) / n for n retrieved documents, judged or not. It weighs
    the first ranks more than ``ndcg`` does. The scripts that came with LETOR print it, with
    ``gain=letor,discount=jarvelin``; that of MSLR with ``gain=mslr,discount=jarvelin``.

    Parameters
    ----------
    gain, discount
        As in ``ndcg``.

    Raises
    ------
    InputError
        If a grade is above 1000 and the gain is exponential.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 0, "b": 0, "c": 3}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> mean_ndcg(align(qrels, run)).round(4).tolist()      # (0 + 0 + 1/2) / 3
    [0.1667]
    """
    longest = int(aligned.n_retrieved.max(initial=0))
    if not average:
        values = ndcg_at_every_rank(aligned, gain=gain, discount=discount, list_size=longest)
        return _mean(aligned, values)
    scale, shape = Scale(gain, discount), (aligned.n_queries, longest)
    items = scale.items(aligned)[0].values
    row, rank, mean = spread(aligned, items, scale.gains(aligned.grade[items]))
    actual = _sums(row, rank, mean / scale.discounts(rank), shape)
    return _mean(aligned, share(actual, _ideal_at_every_rank(aligned, scale, shape)))
