"""Correlations between a run's ranking and the grades: Kendall, Spearman, Pearson."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from ..core.align import levels
from ..core.aligned import Aligned
from ..core.metric import Formula, metric
from ..core.ragged import Floats, Ints, Ragged, positions_of
from .pair_agreement import concordance
from .pairs import (
    constant_rows,
    group_keys,
    judged_items,
    midranks,
    numbered,
    smaller_before,
    tied_pairs,
)
from .shared import by_block, share

Form = Literal["b", "a", "gamma"]
correlation = partial(
    metric,
    direction="higher",
    bounds=(-1, 1),
    empty=np.nan,
    reference=True,
    unbounded_with=("depth",),
)
"""Register a correlation of scores with grades, or with another run's scores."""


def _pearson(items: Ragged, x: Floats, y: Floats) -> Floats:
    """Return Pearson's correlation of each row, NaN if a vector is constant."""
    undefined = constant_rows(items.offsets, x) | constant_rows(items.offsets, y)
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


@correlation(
    "kendall",
    fractions=True,
    title=Formula(r"\tau_b", "Kendall's tau-b"),
    cite=("kendall1945",),
    variants={
        "form=a": (Formula(r"\tau_a", "Kendall's tau-a"), ("kendall1938",)),
        "form=gamma": (Formula(r"\gamma", "Goodman and Kruskal's gamma"), ()),
    },
    source="Kendall, Biometrika 33, 1945 (tau-b) and 30, 1938 (tau-a); Goodman and Kruskal, 1954",
    expected="itself",
)
def kendall(aligned: Aligned, *, form: Form = "b") -> Floats:
    """Kendall's tau between scores and grades.

    tau-b = (C - D) / sqrt((N - T_s) (N - T_g)) over the judged and retrieved documents: of the
    N pairs C are in the right order and D in the wrong one, T_s have tied scores and T_g equal
    grades. The policy decides the precision in which scores are tied. With ``reference``, the ranks
    in the other run replace the grades, for documents that both runs retrieved.

    Parameters
    ----------
    form : {"b", "a", "gamma"}
        ``b``: the formula above; 1 only for the same order with the same ties. ``a``: (C - D) / N;
        ties keep it below 1. ``gamma``: (C - D) / (C + D), without ties.

    Returns
    -------
    ndarray, shape (n_queries,)
        -1 to 1; NaN for fewer than two documents. If all scores or all grades are equal, ``a``
        is 0 and the others are NaN.

    >>> from harness import Qrels, Run, align
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
    values = share(balance, bottom, np.nan)
    return np.clip(values, -1.0, 1.0, out=values)


@correlation(
    "spearman",
    fractions=True,
    title=Formula(r"\rho", "Spearman's rho"),
    cite=("spearman1904",),
    source="Spearman, American Journal of Psychology 15, 1904",
    expected="itself",
)
def spearman(aligned: Aligned) -> Floats:
    """Spearman's rho between scores and grades: Pearson's correlation of their ranks.

    The judged and retrieved documents are ranked among themselves; tied scores, and equal grades,
    share the mean of their ranks. With ``reference``, the ranks in the other run replace the
    grades, for documents that both runs retrieved.

    Returns
    -------
    ndarray, shape (n_queries,)
        -1 to 1; NaN for fewer than two documents, or if all scores or all grades are equal.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 0, "c": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> round(spearman(align(qrels, run)).item(), 12)   # 1 - 6 * (0 + 1 + 1) / (3 * (9 - 1))
    0.5
    """
    items = judged_items(aligned)
    by_score = midranks(items.offsets, aligned.tie_first[items.values])
    by_grade = midranks(items.offsets, -levels(aligned)[items.values])
    return _pearson(items, by_score, by_grade)


@correlation(
    "pearson",
    fractions=True,
    title="Pearson's correlation",
    source="Pearson, Philosophical Transactions A 187, 1896",
    expected="itself",
)
def pearson(aligned: Aligned) -> Floats:
    """Pearson's correlation between scores and grades.

    r = sum of (s_i - mean s)(g_i - mean g) / sqrt(sum (s_i - mean s)^2 sum (g_i - mean g)^2)
    over the judged and retrieved documents of a query. Distances of scores matter; ``spearman`` and
    ``kendall`` only use their order. With ``reference``, the ranks in the other run, counted from
    its end, replace the grades; tied documents have the last of their ranks.

    Returns
    -------
    ndarray, shape (n_queries,)
        -1 to 1; NaN for fewer than two documents, or if all scores or all grades are equal.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 0, "c": 1}})
    >>> run = Run.from_dict({"q": {"a": 5.0, "b": 1.0, "c": 3.0}})
    >>> round(pearson(align(qrels, run)).item(), 12)
    1.0
    """
    items = judged_items(aligned)
    grades = levels(aligned)[items.values].astype(np.float64)
    return _pearson(items, aligned.score[items.values], grades)


Tied = Literal["none", "a", "b"]


@dataclass(frozen=True)
class _Above:
    """Numbers of items above the tied group of each item, ``(n_items,)`` each.

    ``count`` items are above, ``wrong`` of them with a smaller value and ``same`` with an equal
    one. The group has ``size`` items; ``row`` is the query of the item.
    """

    row: Ints
    count: Ints
    wrong: Ints
    same: Ints
    size: Ints

    @property
    def balance(self) -> Ints:
        """Items above with a larger value, less those with a smaller one."""
        return self.count - self.same - 2 * self.wrong

    @property
    def mean_weight(self) -> Floats:
        """Mean of 1 / (rank - 1) over the group's ranks, without rank 1."""
        highest = int((self.count + self.size).max(initial=1))
        harmonic = np.concatenate([[0.0, 0.0], np.cumsum(1 / np.arange(1.0, highest + 1))])
        weight: Floats = (harmonic[self.count + self.size] - harmonic[self.count]) / self.size
        return weight


def _above(offsets: Ints, groups: Ints, values: Ints) -> _Above:
    """Count the items above each group; the items of a row are ordered by group, best first."""
    row, position = np.repeat(np.arange(offsets.size - 1), np.diff(offsets)), positions_of(offsets)
    keys = group_keys(row, groups)
    within, size = np.ones_like(keys), np.ones_like(keys)
    if (keys[1:] == keys[:-1]).any():
        # With the largest value of a group first, no smaller one comes before it.
        order = np.argsort(group_keys(keys, -values), kind="stable")
        values = values[order]
        within, size = numbered(keys)
    wrong, equal = smaller_before(offsets, values), np.zeros_like(keys)
    if tied_pairs(offsets, values).any():
        equal = numbered(group_keys(row, values))[0] - numbered(group_keys(keys, values))[0]
    return _Above(row, position - within + 1, wrong, equal, size)


def _of_sums(items: Ragged, above: _Above, terms: Floats) -> Floats:
    """Sum by query, over the number of items less 1."""
    return np.bincount(above.row, terms, items.n_rows) / np.maximum(items.lengths - 1, 1)


def _one_way(items: Ragged, above: _Above) -> Floats:
    """Return the mean over the items that are not in the first group, scaled to [-1, 1]."""
    later = above.count > 0
    right = (above.count - above.same - above.wrong)[later]
    shares = 2 * right / above.count[later] - 1
    number = np.maximum(np.bincount(above.row[later], minlength=items.n_rows), 1)
    return np.bincount(above.row[later], shares, items.n_rows) / number


def _symmetric(items: Ragged, groups: Ints, grades: Ints) -> Floats:
    order = np.argsort(group_keys(items.row, -grades), kind="stable")
    forth = _above(items.offsets, groups, grades)
    back = _above(items.offsets, -grades[order], -groups[order])
    values = (_one_way(items, forth) + _one_way(items, back)) / 2
    values[constant_rows(items.offsets, groups)] = np.nan
    return values


def _mean(aligned: Aligned) -> Floats:
    items = judged_items(aligned)
    grades, groups = aligned.grade[items.values], aligned.tie_first[items.values]
    above = _above(items.offsets, groups, grades)
    # Of the j documents of its group above one, as many are wrong as of any two of the group.
    keys = group_keys(items.row, groups)
    alike = numbered(group_keys(keys, grades))[1] if (above.size > 1).any() else above.size
    differing = (above.size - alike) / np.maximum(2 * (above.size - 1), 1)
    ranks = above.size - (above.count == 0)
    within = differing * (ranks / above.size - above.count * above.mean_weight)
    wrong = above.wrong * above.mean_weight + within
    return _finished(items, grades, 1 - 2 * _of_sums(items, above, wrong))


def _finished(items: Ragged, grades: Ints, values: Floats) -> Floats:
    values[constant_rows(items.offsets, grades)] = np.nan
    return np.clip(values, -1.0, 1.0, out=values)


@correlation(
    "tau_ap",
    fractions=True,
    title=Formula(r"\tau_\mathrm{AP}", "AP correlation"),
    cite=("yilmaz2008",),
    variants={
        f"tied={form}": (
            Formula(r"\tau_\mathrm{AP}", "AP correlation"),
            ("yilmaz2008", "urbano2017"),
        )
        for form in ("a", "b")
    },
    source="Yilmaz, Aslam and Robertson, SIGIR 2008; ties: Urbano and Marrero, ICTIR 2017",
    expected="average",
)
def tau_ap(aligned: Aligned, *, tied: Tied = "none", average: bool = False) -> Floats:
    """AP correlation between the ranking and the grades.

    tau_ap = 2 / (n - 1) * sum over i = 2..n of C(i) / (i - 1), less 1, over the judged and
    retrieved documents in rank order: C(i) of the i - 1 documents above the i-th belong above it.
    An error near the top costs more than one further down, unlike in ``kendall``. The value is not
    symmetric: the grades are the truth, or with ``reference`` the other run.

    Parameters
    ----------
    tied : {"none", "a", "b"}
        ``none``: the policy orders tied scores, and documents with equal grades are in the right
        order. ``a``: the mean over all orders of tied scores and of equal grades; equal grades keep
        it below 1. ``b``: C(i) counts only documents in tied groups above that of i, with a higher
        grade, and i runs over documents below the first group. It is the mean of this value and
        that with scores and grades exchanged: symmetric, and 1 for the same order and ties.

    Returns
    -------
    ndarray, shape (n_queries,)
        -1 to 1; NaN for fewer than two documents, or if all grades (for ``b`` also if all
        scores) are equal.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 1, "c": 0}})
    >>> run = Run.from_dict({"q": {"b": 3.0, "a": 2.0, "c": 1.0}})
    >>> tau_ap(align(qrels, run)).tolist()      # C(2) = 0 of 1, C(3) = 2 of 2: 2/2 * 1 - 1
    [0.0]
    """
    if tied != "none":  # no order matters
        return by_block(aligned, lambda part: _tied(part, tied))
    return by_block(aligned, _mean if average else _untied)


def _untied(aligned: Aligned) -> Floats:
    items = judged_items(aligned)
    grades = aligned.grade[items.values]
    above = _above(items.offsets, positions_of(items.offsets), grades)
    wrong = above.wrong / np.maximum(above.count, 1)
    return _finished(items, grades, 1 - 2 * _of_sums(items, above, wrong))


def _tied(aligned: Aligned, tied: Tied) -> Floats:
    items = judged_items(aligned)
    grades, groups = levels(aligned)[items.values], aligned.tie_first[items.values]
    if tied == "b":
        values = _symmetric(items, groups, grades)
    else:
        above = _above(items.offsets, groups, grades)
        values = _of_sums(items, above, above.balance * above.mean_weight)
    return _finished(items, grades, values)
