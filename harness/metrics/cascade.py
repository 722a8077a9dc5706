"""Metrics of a reader who goes down the list until a document satisfies, or gives up."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.arguments import About, Range
from ..core.ragged import (
    Array,
    Floats,
    Ints,
    lengths_of,
    offsets_of,
    positions_of,
    rows_of,
    stretches,
    sum_by,
)
from ..errors import InputError, Problem
from .shared import (
    Cutoff,
    Persistence,
    Rel,
    Short,
    check_short,
    graded,
    powers,
    running,
    share,
    share_metric,
    too_short,
    without_short_lists,
)


def stops_at(stop: Floats, offsets: Ints, size: Ints, n_read: Ints) -> tuple[Ints, Ints, Floats]:
    """Return group, place in it from 0, and the probability that its reader stops there.

    ``stop[offsets[g]:offsets[g + 1]]`` are the stop probabilities of the documents of group ``g``
    that can stop a reader, at least one. Per group, ``(n_groups,)``: ``size`` (all its documents)
    and ``n_read`` (how many of its ranks count).

    The mean, over all orders of the group's documents, of R at that rank times the product of
    (1 - R) over the ranks before it in the group. A group is built up document by document, each
    put into a random place among those there already: a rank keeps its value if the new
    document comes after it, gets that of the rank before, times (1 - R) of the new one, if it
    comes before, and else is the new one's. Only means are taken, so nothing cancels.
    """
    stopping = lengths_of(offsets)
    # Groups with most documents to put in come first, so that a step's groups are a head of all.
    order = np.argsort(-stopping, kind="stable")
    stopping, starts = stopping[order], offsets[:-1][order]
    harmless = size[order] - stopping
    ranks = offsets_of(n_read[order])
    group, place = rows_of(ranks), positions_of(ranks)
    passed = (place <= harmless[group]).astype(np.float64)
    stopped = np.zeros_like(passed)
    for step in range(int(stopping[0])):
        active = int(np.searchsorted(-stopping, -step, side="left"))
        end = int(ranks[active])
        n, group_of, places = harmless[:active] + step + 1, group[:end], place[:end]
        new = stop[starts[:active] + step]
        through = places * ((1.0 - new) / n)[group_of]
        after = n[group_of] - places
        share = (1.0 / n)[group_of]
        stopped[:end] = (
            (after - 1) * share * stopped[:end]
            + through * _before(stopped[:end])
            + (new / n)[group_of] * passed[:end]
        )
        passed[:end] = after * share * passed[:end] + through * _before(passed[:end])
    return order[group], place, stopped


def _before(values: Floats) -> Floats:
    """Return the value one place before; a group's first place is not used."""
    shifted = np.empty_like(values)
    shifted[0] = 0.0
    shifted[1:] = values[:-1]
    return shifted


Stop = Annotated[
    Literal["exp", "linear"],
    About(
        "Probability R of a grade g: (2^g - 1) / 2^max_grade (exp), or g / max_grade (linear). "
        "CatBoost takes the grade itself: stop=linear,max_grade=1."
    ),
]
MaxGrade = Annotated[
    int,
    Range(1, 1000),
    About(
        "Largest grade that the judges could give. All values depend on it. none: the largest "
        "grade of the query (RankEval); values of different queries are then not comparable."
    ),
]
Beyond = Annotated[
    Literal["error", "keep"],
    About(
        "Treatment of a grade above max_grade: an error, or keep a probability above 1 (RankLib, "
        "CatBoost); values can then be outside the bounds."
    ),
]
_LARGEST_EXPONENT = 1000


def check_grades(aligned: Aligned, max_grade: int | None, beyond: Beyond = "error") -> None:
    """Raise InputError for a judgement above `max_grade`; if kept, only if floats overflow."""
    largest = aligned.ideal.values.max(initial=0)
    limit = _LARGEST_EXPONENT if beyond == "keep" else 0
    if max_grade is None or largest - max_grade <= limit:
        return
    message = f"expected grades of at most {max_grade}, got {largest:g}"
    fix = f"give max_grade={math.ceil(largest)}, or the largest grade that judges could give"
    raise InputError(Problem("max_grade", message, fix=fix))


def top_grades(aligned: Aligned, max_grade: int | None) -> Array:
    """Largest grade that the stop probabilities of each query assume, ``(n_queries,)``.

    `max_grade`, or if that is None the largest of the query's own judgements; 1 without a
    grade above 0.
    """
    ideal = aligned.ideal
    if max_grade is not None:
        return np.full(aligned.n_queries, max_grade)
    top = np.ones(aligned.n_queries, dtype=ideal.values.dtype)
    filled = np.flatnonzero(ideal.lengths)
    largest = ideal.values[ideal.offsets[filled]]
    top[filled] = np.where(largest > 0, largest, 1)
    return top


def stop_probabilities(grades: Array, top: Array, stop: Stop) -> Floats:
    """Return (2^grade - 1) / 2^top, or grade / top, ``(n,)``; 0 for grades below 0."""
    positive = np.maximum(grades, 0)
    values: Floats
    if stop == "linear":
        values = positive / top
    elif grades.dtype.kind == "f" or top.dtype.kind == "f":
        values = np.exp2(positive - top) - np.exp2(-np.float64(top))
    else:  # exact; exp2 need not be
        values = np.ldexp(1.0, (positive - top).astype(np.intc))
        values = values - np.ldexp(1.0, (-top).astype(np.intc))
    return values


Decay = Annotated[float, Range(0, 1, open=True)]
Weight = Callable[[Ints], Floats]


def _reciprocal(rank: Ints) -> Floats:
    return np.divide(1.0, rank)


def _decaying(decay: float) -> Weight:
    return lambda rank: powers(decay, rank - 1)


def _reached(row: Ints, stop: Floats) -> Floats:
    """Return the probability that a reader gets to each document, past those before it."""
    reached = np.ones_like(stop)
    with np.errstate(over="ignore", invalid="ignore"):  # only if R is above 1, in the padding
        reached[1:] = running(np.multiply, row, 1.0 - stop)[:-1]
    reached[1:][row[1:] != row[:-1]] = 1.0
    return reached


def _cascade(
    aligned: Aligned, weight: Weight, stop: Stop, max_grade: int | None, cutoff: int | None
) -> Floats:
    """Sum weight(rank) times the probability to stop there, ``(n_queries,)``."""
    items = graded(aligned)
    if cutoff is not None:
        items = items[aligned.rank[items] <= cutoff]
    top, row = top_grades(aligned, max_grade), aligned.row[items]
    return _summed(row, weight(aligned.rank[items]), aligned.grade[items], top, stop)


def _ideal_cascade(
    aligned: Aligned, weight: Weight, stop: Stop, max_grade: int | None, cutoff: int | None
) -> Floats:
    """Return `_cascade` of all judged documents in descending order of grade."""
    ideal, top = aligned.ideal, top_grades(aligned, max_grade)
    keep: Array = ideal.values > 0
    if cutoff is not None:
        keep = keep & (ideal.rank <= cutoff)
    positions = np.flatnonzero(keep)
    return _summed(
        ideal.row[positions], weight(ideal.rank[positions]), ideal.values[positions], top, stop
    )


def _summed(row: Ints, weights: Floats, grades: Array, top: Array, stop: Stop) -> Floats:
    """Sum weights times the probability to stop at documents of these grades, by query."""
    stops = stop_probabilities(grades, top[row], stop)
    return sum_by(row, weights * stops * _reached(row, stops), top.size)


def _expected_cascade(
    aligned: Aligned, weight: Weight, stop: Stop, max_grade: int | None, cutoff: int | None
) -> Floats:
    """Return the mean of `_cascade` over all orders of tied documents."""
    items = graded(aligned)
    limit = int(aligned.n_retrieved.max(initial=0)) if cutoff is None else cutoff
    items = items[aligned.tie_first[items] <= limit]
    row, start = aligned.row[items], aligned.tie_first[items]
    stops = stop_probabilities(aligned.grade[items], top_grades(aligned, max_grade)[row], stop)
    reached = _reached(row, stops)
    single = aligned.tie_last[items] == start
    total = sum_by(
        row[single], weight(start[single]) * stops[single] * reached[single], aligned.n_queries
    )
    tied = np.flatnonzero(~single)
    if not tied.size:
        return total
    row, start = row[tied], start[tied]
    heads, sizes = stretches(row, start)
    row, start, end = row[heads], start[heads], aligned.tie_last[items[tied[heads]]]
    group, place, stopped = stops_at(
        stops[tied], offsets_of(sizes), end - start + 1, np.minimum(end, limit) - start + 1
    )
    weights = weight(start[group] + place) * reached[tied[heads]][group]
    return total + sum_by(row[group], weights * stopped, aligned.n_queries)


@share_metric(
    "err",
    fractions=True,
    title="ERR",
    cite=("chapelle2009",),
    source="Chapelle, Metzler, Zhang and Grinspan, CIKM 2009",
    aliases=("ERR",),
    expected="average",
)
def err(
    aligned: Aligned,
    *,
    stop: Stop = "exp",
    max_grade: MaxGrade | None = 4,
    beyond: Beyond = "error",
    cutoff: Cutoff | None = None,
    average: bool = False,
) -> Floats:
    """Expected reciprocal rank of the document at which a satisfied reader stops.

    ERR@k = sum over ranks i = 1..k of (1/i) R_i * product over j < i of (1 - R_j), where the
    document at rank i satisfies the reader with probability R_i = (2^g_i - 1) / 2^max_grade.
    Unjudged documents and grades up to 0 have R = 0. With one relevant document, ERR is R times
    ``recip_rank``. gdeval.pl, and so ``ERR@k`` of ir_measures, rounds values to 5 decimals.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 to 1; 0 for a query without relevant documents. The ideal ranking has less than 1; see
        ``nerr``.

    Raises
    ------
    InputError
        If a judgement is above `max_grade`.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> err(align(qrels, run), max_grade=2).tolist()        # 1/4 + (1/3) (3/4) (1 - 1/4)
    [0.4375]
    """
    check_grades(aligned, max_grade, beyond)
    cascade = _expected_cascade if average else _cascade
    return cascade(aligned, _reciprocal, stop, max_grade, cutoff)


@share_metric(
    "nerr",
    fractions=True,
    title="normalised ERR",
    cite=("chapelle2009",),
    source="Chapelle, Metzler, Zhang and Grinspan, CIKM 2009; normalised as in PTRanking",
    aliases=("nERR",),
    expected="average",
    unbounded_with=("short+judged_only",),
    short_of=too_short,
    check=check_short,
)
def nerr(
    aligned: Aligned,
    *,
    stop: Stop = "exp",
    max_grade: MaxGrade | None = 4,
    short: Short = "cut",
    cutoff: Cutoff | None = None,
    average: bool = False,
) -> Floats:
    """ERR divided by the ERR of the ideal ranking.

    nERR@k = ERR@k / ERR@k of all judged documents in descending order of grade; see ``err``. The
    NERR8 to NERR11 of ir_measures are other metrics.

    Raises
    ------
    InputError
        If a judgement is above `max_grade`.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 0, "b": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0}})
    >>> nerr(align(qrels, run)).tolist()
    [0.5]
    """
    actual = err(aligned, stop=stop, max_grade=max_grade, cutoff=cutoff, average=average)
    values = share(actual, _ideal_cascade(aligned, _reciprocal, stop, max_grade, cutoff))
    values = np.minimum(values, 1.0) if average else values
    return without_short_lists(aligned, values, cutoff, short)


@share_metric(
    "pfound",
    fractions=True,
    title="pFound",
    cite=("gulin2009",),
    source="Gulin, Karpovich, Raskovalov and Segalovich, ROMIP 2009; CatBoost (PFound)",
    expected="average",
)
def pfound(
    aligned: Aligned,
    *,
    decay: Decay = 0.85,
    stop: Stop = "exp",
    max_grade: MaxGrade | None = 4,
    beyond: Beyond = "error",
    cutoff: Cutoff | None = None,
    average: bool = False,
) -> Floats:
    """Probability that a reader who may give up after each document finds a relevant one.

    pFound@k = sum over ranks i = 1..k of decay^(i-1) R_i * product over j < i of (1 - R_j), with
    R_i = (2^g_i - 1) / 2^max_grade. ``err`` has 1/i in place of decay^(i-1).

    Parameters
    ----------
    decay : float
        Probability to continue after a document that does not satisfy. RankEval's is
        0.15.

    Raises
    ------
    InputError
        If a judgement is above `max_grade`.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0}})
    >>> pfound(align(qrels, run), max_grade=1).tolist()     # 1/2 + .85 * (1/2) (1/2)
    [0.7125]
    """
    check_grades(aligned, max_grade, beyond)
    cascade = _expected_cascade if average else _cascade
    return cascade(aligned, _decaying(decay), stop, max_grade, cutoff)


Gain = Literal["binary", "linear", "exp"]
Form = Literal["value", "residual", "upper"]


def rank_biased_sum(aligned: Aligned, gain: Array, items: Ints, p: float) -> Floats:
    """Return (1 - p) times the sum of gain times p^(rank - 1), ``(n_queries,)``."""
    return (1.0 - p) * aligned.sum(gain * powers(p, aligned.rank[items] - 1), items)


def rank_biased_residual(aligned: Aligned, p: float, cutoff: int | None = None) -> Floats:
    """Return the weight of unjudged documents and of the ranks beyond the end, ``(n_queries,)``.

    The end is that of the list, or the cutoff if that is earlier.
    """
    lengths = aligned.n_retrieved
    if cutoff is not None:
        lengths = np.minimum(lengths, cutoff)
    offsets = offsets_of(lengths)
    unjudged_at = np.ones(offsets[-1], dtype=bool)
    judged = np.flatnonzero((aligned.grade >= 0) & (aligned.rank <= lengths[aligned.row]))
    unjudged_at[offsets[aligned.row[judged]] + aligned.rank[judged] - 1] = False
    row, place = rows_of(offsets)[unjudged_at], positions_of(offsets)[unjudged_at]
    return powers(p, lengths) + (1 - p) * sum_by(row, powers(p, place), aligned.n_queries)


def _shift(aligned: Aligned, gain: Array, items: Ints, p: float, cutoff: int | None) -> Floats:
    """Weight of the documents at their ranks, less their mean weight over all orders.

    It is 0 for untied documents; a group that reaches past the cutoff has a part of its weight.
    """
    tied = aligned.tie_last[items] > aligned.tie_first[items]
    items, gain = items[tied], gain[tied]
    rank, start, end = aligned.rank[items], aligned.tie_first[items], aligned.tie_last[items]
    limit = end if cutoff is None else np.minimum(end, cutoff)
    actual = (1.0 - p) * powers(p, rank - 1) * (rank <= limit)
    inside = np.maximum(limit - start + 1, 0)
    # (1 - p) (1 + p + ... + p^(n-1)) = 1 - p^n, without the loss of digits
    mean = powers(p, start - 1) * -np.expm1(inside * np.log(p)) / (end - start + 1)
    return aligned.sum(gain * (actual - mean), items)


def unit_gains(
    aligned: Aligned, gain: Gain, max_grade: int | None, rel: float
) -> tuple[Ints, Floats]:
    """Return the documents with a gain, and their gains, ``(n,)`` each."""
    if gain == "binary":
        items = aligned.relevant(rel)
        return items, np.ones(items.size)
    check_grades(aligned, max_grade)
    items = graded(aligned)
    top = top_grades(aligned, max_grade)[aligned.row[items]]
    gains = stop_probabilities(aligned.grade[items], top, gain)
    # (2^g - 1) / 2^top is brought to 1 for the largest grade
    return items, gains if gain == "linear" else gains / (1.0 - 0.5**top)


@share_metric(
    "rbp",
    fractions=lambda gain="binary", **_: gain != "binary",
    title="RBP",
    cite=("moffat2008",),
    source="Moffat and Zobel, ACM TOIS 27(1), 2008",
    missing=None,
    aliases=("RBP",),
    expected="average",
    unbounded_with=("form",),
)
def rbp(
    aligned: Aligned,
    *,
    p: Persistence = 0.8,
    gain: Gain = "binary",
    max_grade: MaxGrade | None = 4,
    form: Form = "value",
    rel: Rel = 1,
    cutoff: Cutoff | None = None,
    average: bool = False,
) -> Floats:
    """Rank-biased precision: mean gain per document of a reader who continues with chance p.

    RBP@k = (1 - p) * sum over ranks i = 1..k of p^(i-1) gain(g_i). The weights of all ranks sum to
    1, so unjudged documents can add at most a known amount: the residual.

    Parameters
    ----------
    p : float
        Persistence: the chance that a reader continues to the next rank. A reader sees
        1 / (1 - p) documents on average, 5 for .8.
    gain : {"binary", "linear", "exp"}
        ``binary``: 1 for grades of at least `rel`. ``linear``: g / max_grade. ``exp``: (2^g - 1) /
        (2^max_grade - 1); ``err`` divides by 2^max_grade instead.
    max_grade : int or None
        Largest grade that the judges could give; its gain is 1. ``none``: the largest grade of the
        query. It does not affect ``binary``.
    form : {"value", "residual", "upper"}
        The orders ``best`` and ``worst`` of tied documents bound only ``value``. ``value``: the
        formula above. ``residual``: the weight of the unjudged documents retrieved and of all ranks
        beyond the end of the list or the cutoff. It measures uncertainty, not quality: it also
        exists for a query without relevant documents, and is 1 without an answer. ``upper``: value
        plus residual.
    rel : int
        Smallest relevant grade of the gain ``binary``; graded gains ignore it.

    Raises
    ------
    InputError
        If a judgement is above `max_grade` and gains are graded.

    Notes
    -----
    TREC-COVID's leaderboards have ``rbp(p=0.5,gain=linear,max_grade=2)``. The ``rbp`` of trec_eval
    10 is ``rbp(p=0.9,gain=linear,max_grade=none)``, to the last bit. ``RBP`` of ir_measures without
    ``rel`` takes grades as gains, so it can be above 1.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> aligned = align(qrels, run)
    >>> rbp(aligned, p=0.5).tolist()                    # .5 * (1 + .5^2)
    [0.625]
    >>> rbp(aligned, p=0.5, form="residual").tolist()   # .5^3, beyond the list
    [0.125]
    """
    total = np.zeros(aligned.n_queries)
    if form != "residual":
        items, gains = unit_gains(aligned, gain, max_grade, rel)
        inside = gains if cutoff is None else gains * (aligned.rank[items] <= cutoff)
        value = rank_biased_sum(aligned, inside, items, p)
        if average:
            value = np.minimum(value, 1.0) - _shift(aligned, gains, items, p, cutoff)
        total += value
    if form != "value":
        total += rank_biased_residual(aligned, p, cutoff)
        if average:
            judged = aligned.relevant(0)
            total += _shift(aligned, np.ones(judged.size), judged, p, cutoff)
    return np.clip(total, 0.0, 1.0) if average else np.minimum(total, 1.0)
