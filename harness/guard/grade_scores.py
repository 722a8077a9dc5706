"""Whether each grade has one score, and each score one grade: labels under any map."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.ragged import Array

MOST = 32
"""Grades, at most: of numbers that are all different any order is a map."""
SEVERAL = 3
"""Grades, at least: a classifier's two answers may be right by chance, or by a simple rule."""
ROWS, REPEATED = 20, 10
"""Rows; and those, but for the commonest grade's, that repeat a grade and so have its score."""
HEAD = 1 << 10
"""Rows that are looked at first: a model's show there that they are no labels."""


class GradeScores(NamedTuple):
    """The scores that grades have; nothing where a grade has two, or a score has.

    Parameters
    ----------
    grades, scores : tuple of float
        In the order of the grades.
    counts : tuple of int
        Rows of each.
    """

    grades: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()

    @classmethod
    def of(cls, score: Array, grade: Array) -> GradeScores | None:
        """Return it of some rows, ``(n,)`` each; None where it is no map from one to the other.

        >>> GradeScores.of(np.array([0.0, 3.0, 0.0, 1.0]), np.array([0, 2, 0, 1]))
        GradeScores(grades=(0.0, 1.0, 2.0), scores=(0.0, 1.0, 3.0), counts=(2, 1, 1))
        >>> GradeScores.of(np.array([0.5, 0.25]), np.array([1, 1])) is None
        True
        """
        found = None
        for some in (slice(HEAD), slice(None)):
            grades, at, code, counts = np.unique(
                grade[some], return_index=True, return_inverse=True, return_counts=True
            )
            scores = score[at]
            if grades.size > MOST or np.unique(scores).size < grades.size:
                return None
            if (scores[code] != score[some]).any():
                return None
            plain = (one.tolist() for one in (grades.astype(np.float64), scores, counts))
            found = cls(*map(tuple, plain))
            if grade.size <= HEAD:
                break
        return found

    def more(self, other: GradeScores) -> GradeScores | None:
        """Return both as one; None where they do not agree."""
        scores = dict(zip(self.grades, self.scores, strict=True))
        counts = dict(zip(self.grades, self.counts, strict=True))
        for grade, score, n in zip(*other, strict=True):
            if scores.setdefault(grade, score) != score:
                return None
            counts[grade] = counts.get(grade, 0) + n
        if len({*scores.values()}) < len(scores) or len(scores) > MOST:
            return None
        grades = sorted(scores)
        return GradeScores(
            tuple(grades),
            tuple(scores[one] for one in grades),
            tuple(counts[one] for one in grades),
        )

    def facts(self) -> tuple[int, ...]:
        """Return how many grades have a score, and 1 where it falls; ``()`` where few rows do."""
        n, several = sum(self.counts), len(self.grades)
        if several < SEVERAL or n < ROWS or n - max(self.counts) - (several - 1) < REPEATED:
            return ()
        return several, int((np.diff(self.scores) < 0).all())
