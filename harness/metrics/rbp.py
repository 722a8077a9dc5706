"""Rank-biased precision, and what unjudged documents leave open of it."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.ragged import Array, Floats, Ints, offsets_of, positions_of, rows_of, sum_by
from .cascade import MaxGrade, check_grades, graded, stop_probabilities, top_grades
from .shared import Cutoff, Persistence, Rel, powers

Gain = Literal["binary", "linear", "exp"]
Form = Literal["value", "residual", "upper"]


def rank_biased_sum(aligned: Aligned, gain: Array, items: Ints, p: float) -> Floats:
    """Return (1 - p) times the sum of gain times p^(rank - 1), ``(n_queries,)``."""
    return (1.0 - p) * aligned.sum(gain * powers(p, aligned.rank[items] - 1), items)


def rank_biased_residual(aligned: Aligned, p: float, cutoff: int | None = None) -> Floats:
    """Return the weight of unjudged documents and of what lies beyond the end, ``(n_queries,)``.

    The end is that of the list, or the cutoff if that comes before.
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
    """Return how much more the documents weigh at their ranks than in the mean of all orders.

    Only tied ones do; a group that reaches over the cutoff has a part of its weight.
    """
    tied = aligned.tie_last[items] > aligned.tie_first[items]
    items, gain = items[tied], gain[tied]
    rank, first, last = aligned.rank[items], aligned.tie_first[items], aligned.tie_last[items]
    limit = last if cutoff is None else np.minimum(last, cutoff)
    here = (1.0 - p) * powers(p, rank - 1) * (rank <= limit)
    inside = np.maximum(limit - first + 1, 0)
    # (1 - p) (1 + p + ... + p^(n-1)) = 1 - p^n, without the loss of digits
    mean = powers(p, first - 1) * -np.expm1(inside * np.log(p)) / (last - first + 1)
    return aligned.sum(gain * (here - mean), items)


def _gains(aligned: Aligned, gain: Gain, max_grade: int | None, rel: int) -> tuple[Ints, Floats]:
    """Return the documents that gain something, and what they gain, ``(n,)`` each."""
    if gain == "binary":
        items = aligned.relevant(rel)
        return items, np.ones(items.size)
    if max_grade is not None:
        check_grades(aligned, max_grade)
    items = graded(aligned)
    top = top_grades(aligned, max_grade)[aligned.row[items]]
    gains = stop_probabilities(aligned.grade[items], top, gain)
    # (2^g - 1) / 2^top is brought to 1 for the largest grade
    return items, gains if gain == "linear" else gains / (1.0 - 0.5**top)


@metric(
    "rbp",
    title="RBP",
    cite=("moffat2008",),
    direction="higher",
    bounds=(0, 1),
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
    """Rank-biased precision: gain per document seen by a reader who goes on with chance p.

    RBP@k = (1 - p) * sum over ranks i = 1..k of p^(i-1) gain(g_i). The weights of all ranks sum
    to 1, so what unjudged documents could add at most is known: the residual.

    Parameters
    ----------
    p : float
        Persistence, in (0, 1): the chance that a reader goes on to the next rank. The expected
        number of documents seen is 1 / (1 - p): 5 at .8.
    gain : {"binary", "linear", "exp"}
        ``binary``: 1 from grade `rel` on. ``linear``: g / max_grade. ``exp``: (2^g - 1) /
        (2^max_grade - 1); note that ``err`` divides by 2^max_grade.
    max_grade : int or None
        The largest grade that the judges could give; it gains 1. ``none``: the largest of the
        query's own judgements. Of no effect on ``binary``.
    form : {"value", "residual", "upper"}
        ``residual``: the weight of the unjudged documents retrieved and of all ranks beyond the
        end of the list or the cutoff, which measures what is left open, not quality. ``upper``:
        value and residual together, as if all those had the largest gain. A grade below 0 is
        unjudged. A query without relevant documents, and one without an answer, have a residual
        all the same (1 for the latter). The orders ``best`` and ``worst`` of tied documents
        bound ``value`` alone.
    rel : int
        Smallest grade that ``binary`` counts as relevant; graded gains ignore it.

    Raises
    ------
    InputError
        If a judgement is above `max_grade` and gains are graded.

    Notes
    -----
    TREC-COVID's leaderboards are ``rbp(p=0.5,gain=linear,max_grade=2)``; trec_eval 10's ``rbp``
    is ``rbp(p=0.9,gain=linear,max_grade=none)``, to the last bit. ir_measures' ``RBP`` without
    ``rel`` takes grades as gains, and so can lie above 1.

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
        items, gains = _gains(aligned, gain, max_grade, rel)
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
