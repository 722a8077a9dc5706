"""INSQ and INST: mean gain of a reader who continues longer if more gain is left to collect."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Annotated

import numpy as np

from ..core.aligned import Aligned
from ..core.arguments import SHOWN, About, Range
from ..core.ragged import Array, Floats, Ints
from .cascade import Gain, MaxGrade, unit_gains
from .shared import Cutoff, Rel, running, share_metric
from .tied import mean_discounted

Wanted = Annotated[
    float,
    Range(0.5, 1e6),
    SHOWN,
    About("Gain that the reader wants to collect, T: such as 1 to 10 documents."),
]
_adaptive = partial(share_metric, fractions=lambda gain="binary", **_: gain != "binary")


def _tail(start: Array) -> Floats:
    """Return the sum of 1 / (start + i)^2 over i = 0, 1, 2...; 0 for infinity."""
    from scipy.special import zeta

    sums: Floats = np.asarray(zeta(2.0, start), dtype=np.float64)
    return sums


@lru_cache(maxsize=16)
def _squares(t: float) -> partial[Array]:
    """Return ((rank + 2T - 1) / 2T)^2 as a function of the rank; the same one for the same T."""
    return partial(_square, t)


def _square(t: float, rank: Ints) -> Array:
    base: Array = (rank + (2.0 * t - 1.0)) / (2.0 * t)
    return base * base


@_adaptive(
    "insq",
    title="INSQ",
    source="Moffat, Scholer and Thomas, ADCS 2012; cwl_eval 1.0.12 (with @1000)",
    cite=("moffat2012",),
    expected="average",
)
def insq(
    aligned: Aligned,
    *,
    t: Wanted = 1.0,
    gain: Gain = "binary",
    max_grade: MaxGrade | None = 4,
    rel: Rel = 1,
    cutoff: Cutoff | None = None,
    average: bool = False,
) -> Floats:
    """Inverse squares: mean gain per document of a reader who gets more patient with depth.

    INSQ@k = sum over ranks i = 1..k of W(i) gain(g_i), with W(i) proportional to
    1 / (i + 2T - 1)^2 and of sum 1. The reader continues from rank i with chance
    ((i + 2T - 1) / (i + 2T))^2. Without a cutoff the ranks are unlimited, as in the paper; cwl_eval
    and ir_measures compute ``insq(t=T,gain=linear,max_grade=N)@1000``.

    Parameters
    ----------
    gain, max_grade
        As in ``rbp``.
    rel : float
        Smallest relevant grade of the gain ``binary``; graded gains ignore it.

    Raises
    ------
    InputError
        If a judgement is above `max_grade` and gains are graded.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> insq(align(qrels, run), cutoff=2).round(4).tolist()     # 1/4 / (1/4 + 1/9)
    [0.6923]
    """
    items, gains = unit_gains(aligned, gain, max_grade, rel)
    divisor = _squares(t)
    rank = (aligned.tie_first if average else aligned.rank)[items]
    if average:
        weighted = mean_discounted(aligned, items, gains, divisor, cutoff)
    else:
        weighted = gains / divisor(rank)
    if cutoff is not None:
        weighted = np.where(rank <= cutoff, weighted, 0.0)
    end = np.inf if cutoff is None else cutoff + 2.0 * t
    total = (2.0 * t) ** 2 * (_tail(np.float64(2.0 * t)) - _tail(np.float64(end)))
    return np.minimum(aligned.sum(weighted, items) / total, 1.0)


@_adaptive(
    "inst",
    title="INST",
    source="Moffat, Bailey, Scholer and Thomas, ADCS 2015; cwl_eval 1.0.12 (with @1000)",
    cite=("moffat2015",),
    bounded=False,
)
def inst(
    aligned: Aligned,
    *,
    t: Wanted = 1.0,
    gain: Gain = "binary",
    max_grade: MaxGrade | None = 4,
    rel: Rel = 1,
    cutoff: Cutoff | None = None,
) -> Floats:
    """Mean gain per document of a reader who continues longer if more wanted gain is left.

    INST@k = sum over ranks i = 1..k of W(i) gain(g_i), with W of sum 1 and
    W(i + 1) = W(i) ((i + T + T_i - 1) / (i + T + T_i))^2. The gain left to collect is
    T_i = T - (gain of ranks 1..i). Unlike in ``insq``, the documents seen change the reader's
    patience. Without a cutoff the ranks are unlimited, as in the paper; cwl_eval and ir_measures
    compute ``inst(t=T,gain=linear,max_grade=N)@1000``.

    Parameters
    ----------
    gain, max_grade
        As in ``rbp``.
    rel : float
        Smallest relevant grade of the gain ``binary``; graded gains ignore it.

    Raises
    ------
    InputError
        If a judgement is above `max_grade` and gains are graded.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> inst(align(qrels, run), cutoff=2).round(4).tolist()     # 1 / (1 + 1/4)
    [0.8]
    """
    items, gains = unit_gains(aligned, gain, max_grade, rel)
    if cutoff is not None:
        inside = aligned.rank[items] <= cutoff
        items, gains = items[inside], gains[inside]
    row, rank = aligned.row[items], aligned.rank[items]
    # Between two gains the chances to go on telescope: from rank i to rank j they multiply to
    # ((i + left - 1) / (j + left - 1))^2, where `left` is 2T less the gain so far.
    left = 2.0 * t - running(np.add, row, gains)
    first = np.ones(row.size, dtype=bool)
    first[1:] = row[1:] != row[:-1]
    left_before = np.where(first, 2.0 * t, np.roll(left, 1))
    rank_before = np.where(first, 1, np.roll(rank, 1))
    step = (rank_before + left_before - 1.0) / (rank + left_before - 1.0)
    reached = running(np.multiply, row, step * step)
    reached_before = np.where(first, 1.0, np.roll(reached, 1))

    def between(start: Ints, end: Array, left: Floats, reached: Floats) -> Floats:
        """Weight of the ranks after `start` up to `end`."""
        base = start + left
        weight: Floats = reached * (base - 1.0) ** 2 * (_tail(base) - _tail(end + left))
        return weight

    last = np.roll(first, -1)  # the last gain of each query: the next one is another's first
    end = np.full(int(last.sum()), np.inf if cutoff is None else cutoff)
    beyond = between(rank[last], end, left[last], reached[last])
    total = 1.0 + aligned.sum(between(rank_before, rank, left_before, reached_before), items)
    total[row[last]] += beyond
    return np.minimum(aligned.sum(gains * reached, items) / total, 1.0)
