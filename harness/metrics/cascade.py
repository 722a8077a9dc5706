"""Metrics of a reader who goes down the list and stops at a document that satisfies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import Range, metric
from ..core.powers import powers
from ..core.ragged import Array, Floats, Ints, sum_by
from .cascade_ties import TiedStops, stops_at
from .short_lists import Short, without_short_lists
from .stopping import Beyond, MaxGrade, Stop, check_grades, graded, stop_probabilities, top_grades
from .trec_shared import Cutoff, running, share

Decay = Annotated[float, Range(0, 1, open=True)]
Weight = Callable[[Ints], Floats]


def _reciprocal(rank: Ints) -> Floats:
    return np.divide(1.0, rank)


def _decaying(decay: float) -> Weight:
    return lambda rank: powers(decay, rank - 1)


def _reached(row: Ints, stop: Floats) -> Floats:
    """Return the probability that a reader gets to each document, past those before it."""
    reached = np.ones_like(stop)
    with np.errstate(over="ignore", invalid="ignore"):  # only where R is above 1, in the padding
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
    row, top = aligned.row[items], top_grades(aligned, max_grade)
    stops = stop_probabilities(aligned.grade[items], top[row], stop)
    weights = weight(aligned.rank[items])
    return sum_by(row, weights * stops * _reached(row, stops), aligned.n_queries)


def _ideal_cascade(
    aligned: Aligned, weight: Weight, stop: Stop, max_grade: int | None, cutoff: int | None
) -> Floats:
    """As :func:`_cascade`, for all judged documents in descending order of grade."""
    ideal, top = aligned.ideal, top_grades(aligned, max_grade)
    keep: Array = ideal.values > 0
    if cutoff is not None:
        keep = keep & (ideal.rank <= cutoff)
    at = np.flatnonzero(keep)
    row = ideal.row[at]
    stops = stop_probabilities(ideal.values[at], top[row], stop)
    return sum_by(row, weight(ideal.rank[at]) * stops * _reached(row, stops), aligned.n_queries)


def _expected_cascade(
    aligned: Aligned, weight: Weight, stop: Stop, max_grade: int | None, cutoff: int | None
) -> Floats:
    """Return the mean of :func:`_cascade` over all orders of tied documents."""
    items = graded(aligned)
    limit = int(aligned.n_retrieved.max(initial=0)) if cutoff is None else cutoff
    items = items[aligned.tie_first[items] <= limit]
    row, first = aligned.row[items], aligned.tie_first[items]
    stops = stop_probabilities(aligned.grade[items], top_grades(aligned, max_grade)[row], stop)
    reached = _reached(row, stops)
    alone = aligned.tie_last[items] == first
    total = sum_by(
        row[alone], weight(first[alone]) * stops[alone] * reached[alone], aligned.n_queries
    )
    tied = np.flatnonzero(~alone)
    if not tied.size:
        return total
    row, first = row[tied], first[tied]
    heads = np.flatnonzero(np.append(True, (row[1:] != row[:-1]) | (first[1:] != first[:-1])))
    row, first, last = row[heads], first[heads], aligned.tie_last[items[tied[heads]]]
    group, place, stopped = stops_at(
        TiedStops(
            stops[tied], np.append(heads, tied.size), last - first + 1,
            np.minimum(last, limit) - first + 1,
        )
    )  # fmt: skip
    weights = weight(first[group] + place) * reached[tied[heads]][group]
    return total + sum_by(row[group], weights * stopped, aligned.n_queries)


def _checked(aligned: Aligned, max_grade: int | None, beyond: Beyond) -> None:
    if max_grade is not None:
        check_grades(aligned, max_grade, keep=beyond == "keep")


def _expected_err(
    aligned: Aligned,
    *,
    stop: Stop = "exp",
    max_grade: MaxGrade | None = 4,
    beyond: Beyond = "error",
    cutoff: Cutoff | None = None,
) -> Floats:
    _checked(aligned, max_grade, beyond)
    return _expected_cascade(aligned, _reciprocal, stop, max_grade, cutoff)


@metric(
    "err",
    direction="higher",
    bounds=(0, 1),
    source="Chapelle, Metzler, Zhang and Grinspan, CIKM 2009",
    aliases=("ERR",),
    expected=_expected_err,
)
def err(
    aligned: Aligned,
    *,
    stop: Stop = "exp",
    max_grade: MaxGrade | None = 4,
    beyond: Beyond = "error",
    cutoff: Cutoff | None = None,
) -> Floats:
    """Expected reciprocal rank: of the document at which a reader is satisfied and stops.

    ERR@k = sum over ranks i = 1..k of (1/i) R_i * product over j < i of (1 - R_j), where the
    document at rank i satisfies with probability R_i = (2^g_i - 1) / 2^max_grade. Unjudged
    documents and grades up to 0 satisfy nobody. With one relevant document it is R times
    ``recip_rank``. gdeval.pl (and ir_measures' ``ERR@k``) rounds it to 5 decimals.

    Parameters
    ----------
    aligned : Aligned
    stop : {"exp", "linear"}
        How a grade becomes the probability R: (2^g - 1) / 2^max_grade, or g / max_grade. With
        ``err(stop=linear,max_grade=1)`` the grade is the probability, as in CatBoost.
    max_grade : int or None
        The largest grade that the judges could give, 4 by default. It is part of the scale: all
        values change with it. ``none``: the largest grade of the query's own judgements
        (RankEval); values of different queries then do not compare.
    beyond : {"error", "keep"}
        What becomes of a judgement above `max_grade`: an error, or a "probability" above 1
        (RankLib, CatBoost), with which values can lie outside the bounds.
    cutoff : int, optional
        k; the whole list where left out.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents. A perfect list has less than 1: see
        ``nerr``.

    Raises
    ------
    InputError
        Where a judgement is above `max_grade`.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> err(align(qrels, run), max_grade=2).tolist()        # 1/4 + (1/3) (3/4) (1 - 1/4)
    [0.4375]
    """
    _checked(aligned, max_grade, beyond)
    return _cascade(aligned, _reciprocal, stop, max_grade, cutoff)


def _expected_nerr(
    aligned: Aligned,
    *,
    stop: Stop = "exp",
    max_grade: MaxGrade | None = 4,
    short: Short = "cut",
    cutoff: Cutoff | None = None,
) -> Floats:
    actual = _expected_err(aligned, stop=stop, max_grade=max_grade, cutoff=cutoff)
    ideal = _ideal_cascade(aligned, _reciprocal, stop, max_grade, cutoff)
    return without_short_lists(aligned, np.minimum(share(actual, ideal), 1.0), cutoff, short)


@metric(
    "nerr",
    direction="higher",
    bounds=(0, 1),
    source="Chapelle, Metzler, Zhang and Grinspan, CIKM 2009; normalised as in PTRanking",
    aliases=("nERR",),
    expected=_expected_nerr,
)
def nerr(
    aligned: Aligned,
    *,
    stop: Stop = "exp",
    max_grade: MaxGrade | None = 4,
    short: Short = "cut",
    cutoff: Cutoff | None = None,
) -> Floats:
    """Expected reciprocal rank as a share of the ideal order's.

    nERR@k = ERR@k / ERR@k of all judged documents in descending order of grade; see ``err``.
    (The NERR8 to NERR11 of ir_measures are other metrics.)

    Parameters
    ----------
    aligned : Aligned
    stop : {"exp", "linear"}
        How a grade becomes a probability: (2^g - 1) / 2^max_grade, or g / max_grade.
    max_grade : int or None
        The largest grade that the judges could give; ``none``: that of the query's own
        judgements.
    short : {"cut", "nan", "zero", "error"}
        What becomes of a list with fewer than k retrieved documents; as in ``ndcg``.
    cutoff : int, optional
        k; the whole list where left out.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents.

    Raises
    ------
    InputError
        Where a judgement is above `max_grade`.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 0, "b": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0}})
    >>> nerr(align(qrels, run)).tolist()
    [0.5]
    """
    actual = err(aligned, stop=stop, max_grade=max_grade, cutoff=cutoff)
    values = share(actual, _ideal_cascade(aligned, _reciprocal, stop, max_grade, cutoff))
    return without_short_lists(aligned, values, cutoff, short)


def _expected_pfound(
    aligned: Aligned,
    *,
    decay: Decay = 0.85,
    stop: Stop = "exp",
    max_grade: MaxGrade | None = 4,
    beyond: Beyond = "error",
    cutoff: Cutoff | None = None,
) -> Floats:
    _checked(aligned, max_grade, beyond)
    return _expected_cascade(aligned, _decaying(decay), stop, max_grade, cutoff)


@metric(
    "pfound",
    direction="higher",
    bounds=(0, 1),
    source="Gulin, Karpovich, Raskovalov and Segalovich, ROMIP 2009; CatBoost (PFound)",
    expected=_expected_pfound,
)
def pfound(
    aligned: Aligned,
    *,
    decay: Decay = 0.85,
    stop: Stop = "exp",
    max_grade: MaxGrade | None = 4,
    beyond: Beyond = "error",
    cutoff: Cutoff | None = None,
) -> Floats:
    """Probability that a reader, who may give up after each document, finds a relevant one.

    pFound@k = sum over ranks i = 1..k of decay^(i-1) R_i * product over j < i of (1 - R_j), with
    R_i = (2^g_i - 1) / 2^max_grade. ``err`` has 1/i where this has decay^(i-1).

    Parameters
    ----------
    aligned : Aligned
    decay : float
        Probability to go on after a document that did not satisfy, in (0, 1): 1 less the 0.15
        with which a reader gives up. (RankEval goes on with 0.15: ``pfound(decay=0.15)``.)
    stop : {"exp", "linear"}
        How a grade becomes the probability R: (2^g - 1) / 2^max_grade, or g / max_grade. With
        ``max_grade=1`` the latter is the grade itself, as in CatBoost.
    max_grade : int or None
        The largest grade that the judges could give; ``none``: that of the query's own
        judgements (RankEval).
    beyond : {"error", "keep"}
        What becomes of a judgement above `max_grade`: an error, or a "probability" above 1, with
        which values can lie outside the bounds.
    cutoff : int, optional
        k; the whole list where left out.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [0, 1]; 0 for a query without relevant documents.

    Raises
    ------
    InputError
        Where a judgement is above `max_grade`.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 1, "b": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0}})
    >>> pfound(align(qrels, run), max_grade=1).tolist()     # 1/2 + .85 * (1/2) (1/2)
    [0.7125]
    """
    _checked(aligned, max_grade, beyond)
    return _cascade(aligned, _decaying(decay), stop, max_grade, cutoff)
