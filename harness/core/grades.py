"""Which grades a convention accepts, and what it makes of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .ragged import Array, Bools

Few = Literal["error", "zero", "one", "nan"]


@dataclass(frozen=True)
class GradeRule:
    """What a tool accepts as a grade; :func:`harness.core.views.view` applies it.

    Parameters
    ----------
    low, high : int, optional
        Smallest and largest grade accepted; no bound where left out.
    whole : bool
        Whether grades must be whole numbers.
    truncate : bool
        Whether fractions are cut off first, as in trec_eval.
    documents : int
        Fewest documents that a query may have, retrieved ones; scikit-learn refuses one alone.
    few : {"error", "zero", "one", "nan"}
        What becomes of a query with fewer: an error, or this value.
    act : {"error", "clip"}
        What becomes of grades outside the bounds: an error, or the nearer bound.
    positive_scores : bool
        Whether a document with a score of 0 or below counts as not relevant (torchmetrics).
    relevant_from : int, optional
        Grades from it on become 1 and all others 0, so that none is refused.
    """

    low: int | None = None
    high: int | None = None
    whole: bool = True
    truncate: bool = False
    documents: int = 1
    few: Few = "error"
    act: Literal["error", "clip"] = "error"
    positive_scores: bool = False
    relevant_from: int | None = None

    @property
    def fractions(self) -> bool:
        """Whether a grade may be a fraction, which is taken as it is or cut off."""
        return self.truncate or not self.whole

    @property
    def text(self) -> str:
        """What is accepted, in words."""
        kind = "grades" if self.fractions else "whole grades"
        if self.low is None and self.high is None:
            return f"{kind} of any size"
        if self.low is None or self.high is None:
            bound = f"up to {self.high}" if self.low is None else f"from {self.low}"
            return f"{kind} {bound}"
        return f"{kind} {self.low} to {self.high}"


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
