"""Scores of a TREC run that are its ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..core.ragged import Array, Bools
from .finding import Finding
from .first import First
from .registry import finding

NEARLY_ALL = 0.99
"""Share of the rows whose score is their rank, from which on it is none of its own."""
AT_LEAST = 20
"""Rows below which the scores 1, 2, 3 may be a system's own."""


class RankScores(NamedTuple):
    """How many scores are ranks.

    `same` of `n` rows; `falls`: most scores fall down the file; `named`: held against the rank
    written, and not against the place in the file; `whole`: all rows were looked at; `differ`:
    some scores do.
    """

    same: int
    n: int
    falls: bool
    named: bool
    whole: bool
    differ: bool

    @classmethod
    def of(cls, score: Array, rank: Array | None, follows: Bools, whole: bool) -> RankScores:
        """Return it of some rows.

        Parameters
        ----------
        score : ndarray of float64, shape (n,)
        rank : ndarray of int64, shape (n,), optional
            None where some are no whole numbers: the score may stand in its place.
        follows : ndarray of bool, shape (n - 1,)
            Whether a row is of the same query as the one before.
        whole : bool

        >>> own = np.array([2.0, 1.0, 2.0, 1.0])
        >>> RankScores.of(own, own, np.array([True, False, True]), True).falls
        True
        """
        step = np.diff(score)
        n, same = int(follows.sum()), int((follows & (step == 1)).sum())
        falls = bool(2 * (follows & (step < 0)).sum() > n)
        if rank is not None:
            n, same = rank.size, int((score == rank).sum())
        return cls(same, n, falls, rank is not None, whole, bool(score.min() < score.max()))

    @property
    def are_ranks(self) -> bool:
        """Whether nearly all scores are ranks."""
        return self.n >= AT_LEAST and self.same >= NEARLY_ALL * self.n and self.differ

    def findings(self, place: str, first: First) -> Iterator[Finding]:
        """Yield what is wrong with the run at `place`; `first` are rows whose score is the rank."""
        if not self.are_ranks:
            return
        place, names = first.at(place), first.names
        whole = "" if self.whole else " looked at"
        what = f"the score is the rank in {self.same:,} of {self.n:,} rows{whole}"
        if not self.named:
            places = f"{self.same:,} of {self.n:,} rows{whole}"
            what = f"the scores are 1, 2, 3, ... in {places} after the first"
        if self.falls:  # n, ..., 2, 1: it may be the scores that are right, and the ranks not
            found = finding(
                "rank-as-score", place, f"{what}, and falls down the file", self.same, names,
                severity="warning", effect="where rank 1 is the best, the order is upside down",
                fix="number the ranks from 1 for the best; where they are so, write a score that "
                "falls with the rank",
            )  # fmt: skip
        else:
            found = finding("rank-as-score", place, what, self.same, names)
        yield replace(found, at_least=not self.whole)
