"""Scores of a TREC run that are its ranks; where the scores stand then."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..core.ragged import Array, Bools
from .finding import Finding
from .first import First
from .registry import RULES, finding

NEARLY_ALL = 0.99
"""Share of the rows whose score is their rank, from which on it is none of its own."""
MOSTLY = 0.5
"""Share of the rows in which numbers count 1, 2, 3, ..., beside others that fall, from which on
they are ranks, as tied documents may be in any order."""
AT_LEAST = 20
"""Rows below which the scores 1, 2, 3 may be a system's own."""
RANK, SCORE, FIELDS = 4, 5, 6
"""Columns of a TREC run, from 1; and how many there are."""


class RankScores(NamedTuple):
    """How many scores are ranks.

    `same` of `n` rows; `falls`: most scores fall down the file; `named`: held against the rank
    written, and not against the place in the file; `whole`: all rows were looked at; `differ`:
    some scores do; `column`: the column, from 1, that the scores stand in, where that is known.
    """

    same: int
    n: int
    falls: bool
    named: bool
    whole: bool
    differ: bool
    column: int = SCORE

    @classmethod
    @np.errstate(over="ignore")
    def of(cls, score: Array, rank: Array | None, follows: Bools, whole: bool) -> RankScores:
        """Return it of some rows.

        Parameters
        ----------
        score : ndarray of float64, shape (n,)
        rank : ndarray of float64, shape (n,), optional
            None where some are no numbers.
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
        differ = bool(score.min() < score.max())
        if rank is not None and _are_swapped(score, rank, follows):
            return cls(same, n, False, False, whole, differ, RANK)
        if rank is not None and (rank == np.trunc(rank)).all():
            n, same = rank.size, int((score == rank).sum())
            return cls(same, n, falls, True, whole, differ)
        return cls(same, n, falls, False, whole, differ)

    @classmethod
    @np.errstate(over="ignore")
    def beyond(cls, lines: Sequence[Sequence[bytes]], whole: bool) -> RankScores | None:
        """Return it of lines whose docnos hold blanks, as many in each; None where they do not.

        So the rank, which counts 1, 2, 3, ..., stands further on, and the score after it; what
        stands in the place of the rank counts nothing.

        >>> rows = [[b"q", b"Q0", b"the", b"end", b"%d" % n, b"%d.5" % -n, b"t"] for n in range(21)]
        >>> RankScores.beyond(rows, True).column
        6
        """
        more = len(lines[0]) - FIELDS if lines else 0
        if more < 1 or len({*map(len, lines)}) > 1:
            return None
        follows = np.array([one[0] == other[0] for one, other in pairwise(lines)], dtype=bool)
        try:
            rank, score = (_numbers(lines, at + more) for at in (RANK, SCORE))
        except ValueError:
            return None
        with contextlib.suppress(ValueError):
            if cls.of(_numbers(lines, RANK), None, follows, whole).are_ranks:
                return None
        found = cls.of(rank, None, follows, whole)
        falls = (follows & (np.diff(score) <= 0)).sum() >= NEARLY_ALL * found.n
        fits = found.same > MOSTLY * found.n and falls and score.min() < score.max()
        found = found._replace(column=SCORE + more)
        return found if fits and found.are_ranks else None

    @property
    def are_ranks(self) -> bool:
        """Whether nearly all scores are ranks, or have changed places with them."""
        nearly_all = self.column != SCORE or self.same >= NEARLY_ALL * self.n
        return self.n >= AT_LEAST and nearly_all and self.differ

    @property
    def rule(self) -> str:
        """The rule that its finding is of."""
        if self.column == SCORE:
            return "rank-as-score"
        return "swapped-columns" if self.column == RANK else "columns"

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
        if self.column == RANK:
            what += (
                f", and the ranks are numbers that fall: the score stands in column {RANK} and the "
                f"rank in column {SCORE}"
            )
            found = finding(
                self.rule, place, what, self.same, names,
                effect=RULES["rank-as-score"].effect, fix="write qid Q0 docno rank score tag",
            )  # fmt: skip
        elif self.column > SCORE:
            more = self.column - SCORE
            what = (
                f"all lines{whole} have {FIELDS + more} fields, of which number {self.column - 1} "
                f"counts 1, 2, 3, ... and number {self.column} falls: the docno holds "
                f"{'a blank' if more == 1 else f'{more} blanks'}, so that "
                f"{'its rank' if more == 1 else 'a piece of it'} is read as its score"
            )
            found = finding(
                self.rule, place, what, self.n, names, fix="write docnos without blanks",
                effect="each document has a name and a score that are not its own",
            )  # fmt: skip
        elif self.falls:  # n, ..., 2, 1: it may be the scores that are right, and the ranks not
            found = finding(
                self.rule, place, f"{what}, and falls down the file", self.same, names,
                severity="warning", effect="where rank 1 is the best, the order is upside down",
                fix="number the ranks from 1 for the best; where they are so, write a score that "
                "falls with the rank",
            )  # fmt: skip
        else:
            found = finding(self.rule, place, what, self.same, names)
        yield replace(found, at_least=not self.whole)


def _are_swapped(score: Array, rank: Array, follows: Bools) -> bool:
    """Whether ranks and scores stand in each other's columns.

    Scores count 1, 2, 3, ... and ranks fall beside them: mostly where these are fractions; nearly
    always, and not one by one, where they are whole.
    """
    n, steps, falls = int(follows.sum()), np.diff(score)[follows], np.diff(rank)[follows]
    if (score != np.trunc(score)).any() or not n:
        return False
    counts, down = (steps == 1).sum() / n, (falls <= 0).sum() / n
    if (rank != np.trunc(rank)).any():
        return bool(counts > MOSTLY and down >= NEARLY_ALL)
    rather = (falls < 0).sum() / n > MOSTLY and (falls != -1).any()
    return bool(min(counts, down) >= NEARLY_ALL and rather)


def _numbers(lines: Sequence[Sequence[bytes]], column: int) -> Array:
    """Return a column of lines, from 1, ``(n,)``; raise ValueError where one is no number."""
    found = np.array([float(line[column - 1]) for line in lines])
    if not np.isfinite(found).all():
        raise ValueError
    return found
