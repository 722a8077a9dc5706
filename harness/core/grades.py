"""What a rule for grades makes of them."""

from __future__ import annotations

import numpy as np

from .grade_rule import GradeRule
from .ragged import Array, Bools


def refused(rule: GradeRule, grades: Array) -> Bools:
    """Return which grades are an error, ``(n,)`` bool.

    >>> refused(GradeRule(low=0, high=4), np.array([-1.0, 0.5, 4.0, 5.0])).tolist()
    [True, True, False, True]
    >>> refused(GradeRule(low=0, truncate=True, act="clip"), np.array([-1.0, 0.5])).tolist()
    [False, False]
    """
    wrong = np.zeros(grades.shape, dtype=bool)
    if grades.dtype.kind == "f" and not rule.fractions:
        wrong |= grades != np.trunc(grades)
    if rule.act == "error" and rule.relevant_from is None:
        wrong |= _outside(rule, _cut(rule, grades))
    return wrong


def applied(rule: GradeRule, grades: Array) -> Array:
    """Return grades that are no error as the tool sees them; themselves where nothing changes.

    >>> applied(GradeRule(high=1, truncate=True, act="clip"), np.array([0.5, 1.5, 2.5])).tolist()
    [0, 1, 1]
    """
    seen = _cut(rule, grades)
    if rule.relevant_from is not None:
        return (seen >= rule.relevant_from).astype(np.int64)
    if rule.act == "clip" and _outside(rule, seen).any():
        return np.clip(seen, rule.low, rule.high)
    return seen


def _cut(rule: GradeRule, grades: Array) -> Array:
    """Return whole numbers where the tool sees nothing else."""
    if rule.whole and grades.dtype.kind == "f":
        return np.trunc(grades).astype(np.int64)
    return grades


def _outside(rule: GradeRule, grades: Array) -> Bools:
    outside = np.zeros(grades.shape, dtype=bool)
    if rule.low is not None:
        outside |= grades < rule.low
    if rule.high is not None:
        outside |= grades > rule.high
    return outside
