"""Which grades a convention accepts, and what it makes of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .ragged import Array, Bools


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
    act : {"error", "clip"}
        What becomes of grades outside the bounds: an error, or the nearer bound.
    positive_scores : bool
        Whether a document with a score of 0 or below counts as not relevant (torchmetrics).
    """

    low: int | None = None
    high: int | None = None
    whole: bool = True
    truncate: bool = False
    documents: int = 1
    act: Literal["error", "clip"] = "error"
    positive_scores: bool = False

    @property
    def fractions(self) -> bool:
        """Whether a grade may be a fraction, which is taken as it is or cut off."""
        return self.truncate or not self.whole

    def refused(self, grades: Array) -> Bools:
        """Return which grades are an error, ``(n,)`` bool.

        >>> GradeRule(low=0, high=4).refused(np.array([-1.0, 0.5, 4.0, 5.0])).tolist()
        [True, True, False, True]
        >>> GradeRule(low=0, truncate=True, act="clip").refused(np.array([-1.0, 0.5])).tolist()
        [False, False]
        """
        wrong = np.zeros(grades.shape, dtype=bool)
        if grades.dtype.kind == "f" and not self.fractions:
            wrong |= grades != np.trunc(grades)
        if self.act == "error":
            wrong |= self._outside(self._cut(grades))
        return wrong

    def applied(self, grades: Array) -> Array:
        """Return grades that are no error as the tool sees them; itself where nothing changes.

        >>> GradeRule(high=1, truncate=True, act="clip").applied(np.array([0.5, 1.5, 2.5])).tolist()
        [0, 1, 1]
        """
        seen = self._cut(grades)
        if self.act == "clip" and self._outside(seen).any():
            return np.clip(seen, self.low, self.high)
        return seen

    def _cut(self, grades: Array) -> Array:
        """Return whole numbers where the tool sees nothing else."""
        if self.whole and grades.dtype.kind == "f":
            return np.trunc(grades).astype(np.int64)
        return grades

    def _outside(self, grades: Array) -> Bools:
        outside = np.zeros(grades.shape, dtype=bool)
        if self.low is not None:
            outside |= grades < self.low
        if self.high is not None:
            outside |= grades > self.high
        return outside

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
