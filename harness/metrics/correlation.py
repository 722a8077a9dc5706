"""Correlations between a run's ranking and the grades: Kendall, Spearman, Pearson."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.pairs import constant_rows, judged_items, midranks
from ..core.ragged import Array, Bools, Floats, Ints, Ragged
from ..core.reference import levels
from .concordance import concordance

Form = Literal["b", "a", "gamma"]


def _tie_groups(aligned: Aligned, items: Ints) -> Ints:
    """Return a number for each item's group of tied scores, rising with rank in each query."""
    return aligned.tie_first[items]


def _undefined(items: Ragged, x: Array, y: Array) -> Bools:
    return constant_rows(items.offsets, x) | constant_rows(items.offsets, y)


def _pearson(items: Ragged, x: Floats, y: Floats) -> Floats:
    """Return Pearson's correlation of each row, NaN where a vector is constant."""
    undefined = _undefined(items, x, y)
    dx, dy = _deviations(items, x), _deviations(items, y)
    top = items.sum(dx * dy)
    bottom = np.sqrt(items.sum(dx * dx)) * np.sqrt(items.sum(dy * dy))
    undefined |= bottom == 0
    values: Floats = np.divide(top, bottom, out=np.full(top.size, np.nan), where=~undefined)
    return np.clip(values, -1.0, 1.0, out=values)


def _deviations(items: Ragged, x: Floats) -> Floats:
    """Return differences from the row's mean, scaled so that squares stay within floats."""
    scale = np.zeros(items.n_rows)
    filled = items.lengths > 0
    if filled.any():
        scale[filled] = np.maximum.reduceat(np.abs(x), items.offsets[:-1][filled])
    scale[scale == 0] = 1.0
    x = x / scale[items.row]
    mean = items.sum(x) / np.maximum(items.lengths, 1)
    return x - mean[items.row]


@metric(
    "kendall",
    direction="higher",
    bounds=(-1, 1),
    source="Kendall, Biometrika 33, 1945 (tau-b) and 30, 1938 (tau-a); Goodman and Kruskal, 1954",
    empty=np.nan,
    reference=True,
    expected="itself",
)
def kendall(aligned: Aligned, *, form: Form = "b") -> Floats:
    """Kendall's tau between scores and grades.

    tau-b = (C - D) / sqrt((N - T_s) (N - T_g)) over the judged and retrieved documents: of the
    N pairs C are in the right order and D in the wrong one, T_s have tied scores and T_g the
    same grade. Scores are tied where the policy holds them tied. With ``reference`` the grades
    are the other run's ranks of the documents that both retrieved, those that it ties having
    the same.

    Parameters
    ----------
    aligned : Aligned
    form : {"b", "a", "gamma"}
        ``b``: as above, 1 only for the same order and the same ties. ``a``: (C - D) / N, so
        that ties keep it below 1. ``gamma``: (C - D) / (C + D), which leaves ties out.

    Returns
    -------
    ndarray, shape (n_queries,)
        In [-1, 1]; NaN for fewer than two documents. Where all scores or all grades are the
        same, ``a`` is 0 and the others are NaN.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 0, "c": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> round(kendall(align(qrels, run)).item(), 12)        # two pairs right, one wrong
    0.333333333333
    """
    counts = concordance(aligned)
    if form == "a":
        bottom = counts.pairs.astype(np.float64)
    elif form == "gamma":
        bottom = (counts.right + counts.wrong).astype(np.float64)
    else:
        untied_scores = (counts.pairs - counts.tied_scores).astype(np.float64)
        bottom = np.sqrt(untied_scores * (counts.pairs - counts.tied_grades))
    balance = counts.right - counts.wrong
    values: Floats = np.divide(balance, bottom, out=np.full(bottom.size, np.nan), where=bottom > 0)
    return np.clip(values, -1.0, 1.0, out=values)


@metric(
    "spearman",
    direction="higher",
    bounds=(-1, 1),
    source="Spearman, American Journal of Psychology 15, 1904",
    empty=np.nan,
    reference=True,
    expected="itself",
)
def spearman(aligned: Aligned) -> Floats:
    """Spearman's rho between scores and grades: Pearson's correlation of their ranks.

    Tied scores, and equal grades, share the mean of the ranks they take up. Only judged and
    retrieved documents take part, ranked among themselves. With ``reference`` the grades are
    the other run's ranks of the documents that both retrieved, those that it ties having the
    same.

    Parameters
    ----------
    aligned : Aligned

    Returns
    -------
    ndarray, shape (n_queries,)
        In [-1, 1]; NaN for fewer than two documents, or where all scores or all grades are the
        same.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 0, "c": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> round(spearman(align(qrels, run)).item(), 12)   # 1 - 6 * (0 + 1 + 1) / (3 * (9 - 1))
    0.5
    """
    items = judged_items(aligned)
    by_score = midranks(items.offsets, _tie_groups(aligned, items.values))
    by_grade = midranks(items.offsets, -levels(aligned)[items.values])
    return _pearson(items, by_score, by_grade)


@metric(
    "pearson",
    direction="higher",
    bounds=(-1, 1),
    source="Pearson, Philosophical Transactions A 187, 1896",
    empty=np.nan,
    reference=True,
    expected="itself",
)
def pearson(aligned: Aligned) -> Floats:
    """Pearson's correlation between scores and grades.

    r = sum of (s_i - mean s)(g_i - mean g) / sqrt(sum (s_i - mean s)^2 sum (g_i - mean g)^2)
    over the judged and retrieved documents of a query. It sees distances between scores, where
    ``spearman`` and ``kendall`` see their order alone. With ``reference`` the grades are the
    other run's ranks, counted from the end, tied documents having that of their last.

    Parameters
    ----------
    aligned : Aligned

    Returns
    -------
    ndarray, shape (n_queries,)
        In [-1, 1]; NaN for fewer than two documents, or where all scores or all grades are the
        same.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 0, "c": 1}})
    >>> run = Run.from_dict({"q": {"a": 5.0, "b": 1.0, "c": 3.0}})
    >>> round(pearson(align(qrels, run)).item(), 12)
    1.0
    """
    items = judged_items(aligned)
    grades = levels(aligned)[items.values].astype(np.float64)
    return _pearson(items, aligned.score[items.values], grades)
