"""Cumulated gain, plain, discounted and normalised, with the gains and discounts of many tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, get_args

import numpy as np

from ..core.aligned import Aligned
from ..core.arguments import Range
from ..core.metric import Metric, metric
from ..core.ragged import (
    Array,
    Bools,
    Floats,
    Ints,
    Ragged,
    frozen,
    offsets_of,
    positions_of,
    sum_by,
)
from ..errors import InputError, Problem
from .shared import (
    Cutoff,
    Short,
    check_short,
    log2_discount,
    log2_of,
    share,
    share_metric,
    too_short,
    without_short_lists,
)
from .tied import mean_discounted, spread, within
from .trec_gain import Gains, gain_table, grades_as_gains

Gain = Literal["linear", "exp", "letor", "mslr", "exp-int32"]
Discount = Literal["log2", "jarvelin", "position"]
Negative = Literal["zero", "value"]
Floor = Annotated[float, Range(0, None)]
TABLES: dict[str, tuple[int, ...]] = {"letor": (0, 1, 3), "mslr": (0, 1, 3, 7, 15)}
"""Gains of grades 0, 1, ... in the scripts of LETOR 3.0 and 4.0 and of MSLR; 0 beyond."""
_LARGEST_EXPONENT = 1000
_BITS = 32
"""Java shifts a 32-bit number by the lowest 5 bits of the distance: 1 << 40 is 1 << 8."""


class Scale(NamedTuple):
    """Gain and discount of a document in DCG, by its grade and its rank.

    `gain`, `discount`, `negative` and `floor` are the parameters of ``ndcg``.
    """

    gain: Gain = "linear"
    discount: Discount = "log2"
    negative: Negative = "zero"
    floor: float = 0.0

    def counts(self, grades: Array) -> Bools:
        """Return a mask of the grades with a gain, also below 0 if these are kept."""
        counted: Bools = grades > 0 if self.floor == 0 else (grades >= self.floor) & (grades > 0)
        return counted | (grades < 0) if self.keeps_negative else counted

    @property
    def keeps_negative(self) -> bool:
        """Whether grades below 0 gain something."""
        return self.negative == "value" and self.gain in ("linear", "exp")

    def takes_relevant(self, grades: Array) -> bool:
        """Whether exactly the grades from 1 gain something."""
        return grades.dtype.kind == "i" and not self.keeps_negative and self.floor <= 1

    def items(self, aligned: Aligned) -> tuple[Ragged, Ints]:
        """Return the judged and retrieved documents that can gain something, and their ranks."""
        if self.takes_relevant(aligned.grade):
            return aligned.found(1), aligned.rank_of_relevant(1)

        def make() -> tuple[Ragged, Ints]:
            gaining = aligned.by_query(np.flatnonzero(self.counts(aligned.grade)))
            return gaining, aligned.rank[gaining.values]

        return aligned.memo(("items", self), make)

    def ideal(self, aligned: Aligned, cutoff: int | None = None) -> tuple[Ints, Ints, Ints]:
        """Return query, index and ideal rank of the judgements that can gain something.

        The ideal order is by falling grade; by falling gain if a table gives high grades
        nothing. With a cutoff the rest of it is left out.
        """
        best = aligned.ideal
        if self.gain not in TABLES and not self.keeps_negative:  # then they come first
            if self.takes_relevant(best.values):
                lengths = aligned.n_relevant(1)
            else:
                lengths = best.count(self.counts(best.values))
            return best.head(lengths if cutoff is None else np.minimum(lengths, cutoff))
        keep = self.counts(best.values)
        if self.gain in TABLES:
            keep &= self.gains(best.values) > 0
            rank = positions_of(offsets_of(best.count(keep)), first=1)
        else:
            rank = best.rank[keep]
        positions = np.flatnonzero(keep)
        if cutoff is not None:
            positions, rank = positions[rank <= cutoff], rank[rank <= cutoff]
        return best.row[positions], positions, rank

    def ideal_weights(
        self, aligned: Aligned, cutoff: int | None = None
    ) -> tuple[Ints, Ints, Floats]:
        """Return query, ideal rank, and discounted gain of the same judgements."""
        row, positions, rank = self.ideal(aligned, cutoff)
        return (
            row,
            rank,
            self.gains(aligned.ideal.values[positions]) / DISCOUNTS[self.discount](rank),
        )

    def gains(self, grades: Array) -> Floats:
        """Return the gain of each grade, also of those without effect."""
        values = gains_of(grades, self.gain, self.negative)
        return values if self.floor == 0 else values * self.counts(grades)


def scale_of(metric: Metric) -> Scale | None:
    """Return the gains and discounts that a metric adds up; None if it is not DCG or nDCG."""
    arguments = metric.arguments
    if metric.definition.name not in ("dcg", "ndcg") or arguments.get("gains"):
        return None
    return Scale(**{name: arguments[name] for name in Scale._fields if name in arguments})


def gains_of(grades: Array, gain: Gain, negative: Negative = "zero") -> Floats:
    """Return the gain of each grade, ``(n,)``; ``ndcg`` documents the kinds of gain."""
    if gain in ("linear", "exp"):
        allowed = grades if negative == "value" else np.maximum(grades, 0)
        return allowed.astype(np.float64) if gain == "linear" else _exponential(allowed)
    levels = np.maximum(grades, 0).astype(np.int64)
    if gain == "exp-int32":
        return _exponential(levels % _BITS)
    table = np.array([*TABLES[gain], 0], dtype=np.float64)
    return table[np.minimum(levels, table.size - 1)]


def _exponential(grades: Array) -> Floats:
    largest = grades.max(initial=0)
    if largest > _LARGEST_EXPONENT:
        message = f"expected grades of at most {_LARGEST_EXPONENT}, got {largest}"
        raise InputError(Problem("gain=exp", message, fix="use gain=linear, or smaller grades"))
    if grades.dtype.kind == "f":
        fractional: Floats = np.exp2(grades) - 1.0
        return fractional
    gains: Floats = np.ldexp(1.0, grades.astype(np.intc)) - 1.0  # exact; exp2 need not be
    return gains


DISCOUNTS: dict[str, Callable[[Ints], Floats]] = {
    "log2": log2_discount,
    "jarvelin": lambda ranks: log2_of(np.maximum(ranks, 2)),
    "position": lambda ranks: ranks.astype(np.float64),
}
"""Divisors of a gain at each rank (from 1). ``log2``: log2(rank + 1). ``jarvelin``: 1 at ranks 1
and 2, then log2(rank), as in Järvelin and Kekäläinen with base 2. ``position``: the rank.
"""


_OWN: dict[str, Callable[[Ints], Floats]] = {
    gain: partial(gains_of, gain=gain) for gain in get_args(Gain)
}
_OWN["linear"] = grades_as_gains  # shared with trec_eval's other metrics of gains


def list_dcg(aligned: Aligned, scale: Scale, cutoff: int | None = None) -> Floats:
    """Return the DCG of each query's ranking, ``(n_queries,)``."""
    if (key := ("dcg", scale, cutoff)) not in aligned.memos:
        items, rank = scale.items(aligned)
        positions, row = items.values, items.row
        if cutoff is not None:
            inside = np.flatnonzero(rank <= cutoff)
            positions, row, rank = positions[inside], row[inside], rank[inside]
        weights = scale.gains(aligned.grade[positions]) / DISCOUNTS[scale.discount](rank)
        aligned.memos[key] = frozen(sum_by(row, weights, aligned.n_queries))
    values: Floats = aligned.memos[key]
    return values


def expected_list_dcg(
    aligned: Aligned, scale: Scale, cutoff: int | None = None, spill: bool = False
) -> Floats:
    """Return the expected DCG over the orders of tied documents, ``(n_queries,)``.

    With `spill` a group that reaches past the cutoff counts whole, which is not an expectation.
    """
    limit = None if spill else cutoff

    def total() -> Floats:
        items = within(aligned, scale.items(aligned)[0].values, cutoff)
        gains = scale.gains(aligned.grade[items])
        weights = mean_discounted(aligned, items, gains, DISCOUNTS[scale.discount], limit)
        return frozen(sum_by(aligned.row[items], weights, aligned.n_queries))

    return aligned.memo(("expected_dcg", scale, cutoff, spill), total)


def ideal_dcg(
    aligned: Aligned, scale: Scale, cutoff: int | None = None, *, of_list: bool = False
) -> Floats:
    """Return the DCG of each query's grades in the ideal order, ``(n_queries,)``.

    All judged documents count, retrieved or not; or the first `cutoff` of them, or as many as
    the list has.
    """
    if (key := ("ideal_dcg", scale, cutoff, of_list)) not in aligned.memos:
        row, rank, weights = scale.ideal_weights(aligned, cutoff)
        if of_list:
            inside = rank <= aligned.n_retrieved[row]
            row, weights = row[inside], weights[inside]
        aligned.memos[key] = frozen(sum_by(row, weights, aligned.n_queries))
    values: Floats = aligned.memos[key]
    return values


def _of_retrieved(aligned: Aligned) -> Aligned:
    """Return an alignment with the judgements of the retrieved documents only."""

    def make() -> Aligned:
        falling = aligned.grade[np.lexsort((-aligned.grade, aligned.row))]
        return replace(
            aligned, ideal=Ragged(aligned.offsets, falling), reference_ties=None, views={}
        )

    return aligned.memo("of_retrieved", make)


def _share_with_gains(
    aligned: Aligned,
    gains: Gains,
    scale: Scale,
    cutoff: int | None,
    ideal_cutoff: int | None,
    average: bool,
) -> Floats:
    """Return nDCG if single grades are given gains."""
    item, ideal = gain_table(aligned, gains, _OWN[scale.gain])
    items = np.flatnonzero(item)
    if average:
        items = within(aligned, items, cutoff)
        discount = DISCOUNTS[scale.discount]
        weights = mean_discounted(aligned, items, item[items], discount, cutoff)
    else:
        items = items if cutoff is None else items[aligned.rank[items] <= cutoff]
        weights = item[items] / DISCOUNTS[scale.discount](aligned.rank[items])
    inside = None if ideal_cutoff is None else ideal.rank <= ideal_cutoff
    best = ideal.sum(ideal.values / DISCOUNTS[scale.discount](ideal.rank), inside)
    return share(aligned.sum(weights, items), best)


def _takes_fractions(*, gain: Gain = "linear", gains: Gains = (), **_: Any) -> bool:
    """Whether every gain follows from the grade by a formula, not by a table."""
    return gain in ("linear", "exp") and not gains


def _no_gain(aligned: Aligned, *, floor: float = 0.0, **_: Any) -> Bools:
    """Return a mask of the queries without a gaining document, ``(n_queries,)``."""
    grades = aligned.ideal.values
    if floor <= (0 if grades.dtype.kind == "f" else 1):
        return aligned.without_grades
    return np.equal(aligned.ideal.count((grades > 0) & (grades >= floor)), 0)


@metric(
    "dcg",
    fractions=_takes_fractions,
    title="DCG",
    cite=("jarvelin2002",),
    direction="higher",
    bounds=(0, np.inf),
    source="Järvelin and Kekäläinen, ACM TOIS 20(4), 2002; Burges et al., ICML 2005 (gain=exp)",
    unit="gain",
    aliases=("DCG",),
    expected="average",
    unbounded_with=("gain=letor", "gain=mslr", "short+judged_only"),
    empty_of=_no_gain,
    short_of=too_short,
    check=check_short,
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
    """Discounted cumulative gain: sum of gains, each divided by log2(rank + 1).

    DCG@k = sum over ranks i = 1..k of gain(g_i) / log2(i + 1). Unjudged documents and grades of
    0 or below gain nothing. Unlike ``ndcg``, it grows with the number of relevant documents.

    Parameters
    ----------
    gain, discount, negative, floor, short
        As in ``ndcg``.

    Returns
    -------
    ndarray, shape (n_queries,)
        In units of gain, at least 0 (except with ``negative=value``); 0 if no relevant document is
        retrieved.

    Raises
    ------
    InputError
        If a grade is above 1000 and the gain is exponential, or a list is too short under
        ``short=error``.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 0, "c": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> dcg(align(qrels, run)).tolist(), dcg(align(qrels, run), gain="exp").tolist()
    ([2.5], [3.5])
    """
    dcg_of = expected_list_dcg if average else list_dcg
    values = dcg_of(aligned, Scale(gain, discount, negative, floor), cutoff)
    return without_short_lists(aligned, values, cutoff, short)


@share_metric(
    "ndcg",
    fractions=_takes_fractions,
    title="nDCG",
    cite=("jarvelin2002",),
    source="trec_eval 9.0.7, m_ndcg.c and m_ndcg_cut.c; Järvelin and Kekäläinen, ACM TOIS 20(4), "
    "2002; Burges et al., ICML 2005 (gain=exp)",
    trec_name="ndcg",
    aliases=("nDCG", "NDCG"),
    expected="average",
    unbounded_with=(
        "gains",
        "gain=letor",
        "gain=mslr",
        "short+judged_only",
        "ideal=retrieved+depth",
    ),
    empty_of=_no_gain,
    short_of=too_short,
    check=check_short,
)
def ndcg(
    aligned: Aligned,
    *,
    gain: Gain = "linear",
    gains: Gains = (),
    short: Short = "cut",
    ideal: Literal["cut", "full", "list", "retrieved"] = "cut",
    discount: Discount = "log2",
    negative: Negative = "zero",
    floor: Floor = 0.0,
    spill: bool = False,
    cutoff: Cutoff | None = None,
    average: bool = False,
) -> Floats:
    """DCG divided by the DCG of the ideal ranking.

    nDCG@k = DCG@k / ideal DCG@k, with DCG@k = sum over ranks i = 1..k of gain(g_i) / log2(i + 1).
    The ideal ranking has all judged documents in descending order of grade. With the default
    parameters, values equal trec_eval's ``ndcg`` and ``ndcg_cut_k`` to the last bit. Grades of 0
    or below gain nothing.

    Parameters
    ----------
    gain : {"linear", "exp", "letor", "mslr", "exp-int32"}
        ``linear``: the grade g. ``exp``: 2^g - 1, usual in learning to rank. ``letor``: 0, 1, 3 for
        grades 0, 1, 2, and 0 for others (the scripts of LETOR 3.0 and 4.0). ``mslr``: 0, 1, 3, 7,
        15, and 0 for others (the script of MSLR). ``exp-int32``: 2^g - 1 in 32-bit arithmetic, in
        which a grade of 40 gains 2^8 - 1 (RankLib).
    gains : tuple of (int, float)
        Gains of single grades, written ``ndcg(gains=1:3;2:9)``, as trec_eval's ``ndcg.1=3,2=9``;
        other grades follow `gain`. A grade of 0 can have a gain, and gains can be negative.
    ideal : {"cut", "full", "list", "retrieved"}
        End of the ideal ranking. ``cut``: rank k. ``full``: all documents, so a small k cannot
        reach 1. ``list``: rank k or the length of the list, if that is smaller (Elasticsearch); not
        with `gains`. ``retrieved``: the best order of the retrieved documents, up to rank k. A
        relevant document that is not retrieved costs nothing.
    discount : {"log2", "jarvelin", "position"}
        Divisor of a gain at rank i. ``log2``: log2(i + 1). ``jarvelin``: 1 at ranks 1 and 2, then
        log2(i). ``position``: i.
    negative : {"zero", "value"}
        Gain of grades below 0: ``zero``, or the ``value`` of ``linear`` (-1) or ``exp``
        (2^-1 - 1 = -0.5), in the ideal ranking too. Not with `gains`.
    floor : float
        Smallest grade with a gain; matters if grades are fractions. Not with `gains`.
    spill : bool
        Under ``ties=average``, if a tied group begins at or before rank k and ends after it, count
        the whole group, as in QuickRank's TNDCG; values can exceed 1. Not with `gains`.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1, except with ``negative=value`` and ``gain=exp-int32``; 0 for a query without
        relevant documents.

    Raises
    ------
    InputError
        If a grade is above 1000 and the gain is exponential, a list is too short under
        ``short=error``, or grades are fractions and `gains` are given.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 0, "b": 0, "c": 3}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> ndcg(align(qrels, run)).tolist(), ndcg(align(qrels, run), cutoff=2).tolist()
    ([0.5], [0.0])
    """
    ideal_cutoff = None if ideal == "full" else cutoff
    scale = Scale(gain, discount, negative, floor)
    judged = _of_retrieved(aligned) if ideal == "retrieved" else aligned
    if gains:
        values = _share_with_gains(judged, gains, scale, cutoff, ideal_cutoff, average)
    else:
        actual = list_dcg(aligned, scale, cutoff)
        if average:
            actual = expected_list_dcg(aligned, scale, cutoff, spill)
        best = ideal_dcg(judged, scale, ideal_cutoff, of_list=ideal == "list")
        values = share(actual, best)
    return without_short_lists(aligned, values, cutoff, short)


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

    Column ``k - 1`` is ``dcg@k`` to the last bit. See `ndcg_at_every_rank`.
    """
    scale = Scale(gain, discount)
    if list_size is None:
        lists = aligned.n_retrieved, aligned.ideal.lengths
        list_size = int(max(lengths.max(initial=0) for lengths in lists))
    shape = (aligned.n_queries, list_size)
    items, rank = scale.items(aligned)
    weights = scale.gains(aligned.grade[items.values]) / DISCOUNTS[scale.discount](rank)
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
        best = _sums(*scale.ideal_weights(aligned), actual.shape)
    values, ranks = share(actual, best), np.arange(1, actual.shape[1] + 1)
    return without_short_lists(aligned, values, ranks, short)


def _mean(aligned: Aligned, values: Floats) -> Floats:
    """Return the mean of the values at the ranks of each list, ``(n_queries,)``."""
    n = aligned.n_retrieved
    within = np.arange(1, values.shape[1] + 1) <= n[:, None]
    total: Floats = (values * within).sum(axis=1)
    return share(total, n)


@share_metric(
    "mean_ndcg",
    fractions=_takes_fractions,
    title="the mean of nDCG over all ranks",
    cite=("jarvelin2002",),
    source="LETOR 3.0 and 4.0, Eval-Score-3.0.pl and Eval-Score-4.0.pl; MSLR, eval-score-mslr.pl",
    aliases=("MeanNDCG",),
    expected="average",
    unbounded_with=("gain=letor", "gain=mslr", "judged_only"),
)
def mean_ndcg(
    aligned: Aligned, *, gain: Gain = "linear", discount: Discount = "log2", average: bool = False
) -> Floats:
    """Mean of nDCG at every rank of the list.

    MeanNDCG = (nDCG@1 + ... + nDCG@n) / n for n retrieved documents, judged or not. The first ranks
    weigh more than in ``ndcg``. The scripts of LETOR print it with
    ``gain=letor,discount=jarvelin``, the script of MSLR with ``gain=mslr,discount=jarvelin``.

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
    actual = _sums(row, rank, mean / DISCOUNTS[scale.discount](rank), shape)
    return _mean(aligned, share(actual, _sums(*scale.ideal_weights(aligned), shape)))


@share_metric(
    "ncg",
    fractions=_takes_fractions,
    title="nCG",
    cite=("jarvelin2002",),
    source="Järvelin and Kekäläinen, ACM TOIS 20(4), 2002; TREC Deep Learning track (NCG@100)",
    aliases=("NCG", "nCG"),
    cutoffs=(100,),
    expected="average",
    unbounded_with=("gain=letor", "gain=mslr"),
)
def ncg(
    aligned: Aligned, *, gain: Gain = "linear", cutoff: Cutoff, average: bool = False
) -> Floats:
    """Sum of the gains of the first k documents, divided by that sum in the ideal ranking.

    nCG@k = sum over ranks i = 1..k of gain(g_i) / the same sum in the ideal ranking. It is nDCG
    without a discount, for a first stage before a reranker.

    Parameters
    ----------
    gain
        As in ``ndcg``.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> ncg(align(qrels, run), cutoff=1).tolist(), ncg(align(qrels, run), cutoff=3).tolist()
    ([0.5], [1.0])
    """
    scale = Scale(gain)
    items = scale.items(aligned)[0].values
    if average:
        items = within(aligned, items, cutoff)
        gains = scale.gains(aligned.grade[items])
        gains = mean_discounted(aligned, items, gains, _undiscounted, cutoff)
    else:
        items = items[aligned.rank[items] <= cutoff]
        gains = scale.gains(aligned.grade[items])
    row, positions, _ = scale.ideal(aligned, cutoff)
    best = sum_by(row, scale.gains(aligned.ideal.values[positions]), aligned.n_queries)
    return share(aligned.sum(gains, items), best)


def _undiscounted(rank: Ints) -> Array:
    return np.ones(rank.shape)
