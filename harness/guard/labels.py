"""Whether the scores of a run are labels: they follow the grades without an error."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.aligned import Aligned
from ..core.ragged import Array, Ints
from ..errors import Finding, Severity
from .parts import EXAMPLES, First, Firsts, Part
from .registry import finding

if TYPE_CHECKING:
    from .facts import RunFacts

ENOUGH_OF_EACH = 10
"""Documents with a grade above 0, and of others, below which a correlation of 1 may be chance."""
EXACT = 1e-9
"""How far a correlation that is exactly 1 may be from it, by rounding."""
LIKE_LABELS = 0.999
"""Correlation of scores and grades from which on examples are kept."""
ORDERED = 30
"""Queries of ten judged documents and more, from which on no system puts all in order."""
RARER = 3
"""Documents of other grades than their query's commonest one, in the mean of these queries: fewer,
such as the one known item of each, a good system may find all."""
MOST = 32
"""Grades, at most: of numbers that are all different any order is a map."""
SEVERAL = 3
"""Grades, at least: a classifier's two answers may be right by chance, or by a simple rule."""
ROWS, REPEATED = 20, 10
"""Rows; and those, but for the commonest grade's, that repeat a grade and so have its score."""
QUERIES, RARER_OF_SPLIT, PAIRS = 10, 100, 500
"""Queries that have both kinds of documents; of the kind that a query has fewer of, summed over
them; and pairs of one of each: with fewer, a good model may order them all."""
TURNED = "the values are those of the labels turned upside down"


@dataclass(frozen=True)
class Moments:
    """Means, and sums of squared and mixed deviations from them.

    Parameters
    ----------
    n : int
        Pairs.
    x, y : float
        Means.
    xx, yy, xy : float
        Sums of the deviations' products.
    """

    n: int = 0
    x: float = 0.0
    y: float = 0.0
    xx: float = 0.0
    yy: float = 0.0
    xy: float = 0.0

    @classmethod
    def of(cls, x: Array, y: Array) -> Moments:
        """Return the moments of two columns of one length, ``(n,)`` each."""
        if not x.size:
            return cls()
        with np.errstate(over="ignore", invalid="ignore"):
            mean_x, mean_y = float(x.sum()) / x.size, float(y.sum()) / y.size
            dx, dy = x - mean_x, y - mean_y
            # by one thread, which "@" might not be
            sums = (float(np.einsum("i,i", one, other)) for one, other in
                    ((dx, dx), (dy, dy), (dx, dy)))  # fmt: skip
            return cls(x.size, mean_x, mean_y, *sums)

    def __add__(self, more: Moments) -> Moments:
        """Return the moments of both together (Chan, Golub and LeVeque, 1979)."""
        if not self.n or not more.n:
            return more if more.n else self
        n = self.n + more.n
        dx, dy, weight = more.x - self.x, more.y - self.y, self.n * more.n / n
        return Moments(
            n,
            self.x + dx * more.n / n,
            self.y + dy * more.n / n,
            self.xx + more.xx + dx * dx * weight,
            self.yy + more.yy + dy * dy * weight,
            self.xy + more.xy + dx * dy * weight,
        )

    @property
    def correlation(self) -> float:
        """Pearson's correlation; NaN if a column is constant, or too large to square.

        >>> moments = Moments.of(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
        >>> round(moments.correlation, 12)
        1.0
        """
        product = math.sqrt(self.xx) * math.sqrt(self.yy) if self.xx > 0 < self.yy else 0.0
        return self.xy / product if 0 < product < math.inf else math.nan


class GradeScores(NamedTuple):
    """The one score that each grade has, by grade.

    Parameters
    ----------
    scores : mapping of float to float
    counts : mapping of float to int
        Rows of each grade.
    """

    scores: Mapping[float, float]
    counts: Mapping[float, int]

    @classmethod
    def of(cls, score: Array, grade: Array) -> GradeScores | None:
        """Return it of some rows, ``(n,)`` each; None if it is no map from one to the other.

        >>> GradeScores.of(np.array([0.0, 3.0, 0.0]), np.array([0, 2, 0]))
        GradeScores(scores={0.0: 0.0, 2.0: 3.0}, counts={0.0: 2, 2.0: 1})
        >>> GradeScores.of(np.array([0.5, 0.25]), np.array([1, 1])) is None
        True
        """
        grades, at, code, counts = np.unique(
            grade, return_index=True, return_inverse=True, return_counts=True
        )
        scores = score[at]
        if grades.size > MOST or np.unique(scores).size < grades.size:
            return None
        if (scores[code] != score).any():
            return None
        keys = grades.astype(np.float64).tolist()
        return cls(
            dict(zip(keys, scores.tolist(), strict=True)),
            dict(zip(keys, counts.tolist(), strict=True)),
        )

    def more(self, other: GradeScores) -> GradeScores | None:
        """Return both as one; None if they do not agree."""
        scores = {**self.scores, **other.scores}
        if any(scores[grade] != score for grade, score in self.scores.items()):
            return None
        if len({*scores.values()}) < len(scores) or len(scores) > MOST:
            return None
        counts = {g: self.counts.get(g, 0) + other.counts.get(g, 0) for g in scores}
        return GradeScores(scores, counts)

    def facts(self) -> tuple[int, bool] | None:
        """Return how many grades have a score, and whether it falls; None if few rows do."""
        n, several = sum(self.counts.values()), len(self.counts)
        if several < SEVERAL or n < ROWS:
            return None
        if n - max(self.counts.values()) - (several - 1) < REPEATED:
            return None
        falls = np.diff([self.scores[grade] for grade in sorted(self.scores)]) < 0
        return several, bool(falls.all())


class Split(NamedTuple):
    """How much some scores separate without an error: sums over queries that have both kinds."""

    queries: int = 0
    rarer: int = 0
    pairs: int = 0

    @property
    def enough(self) -> bool:
        """Whether no model does it by chance."""
        return self.queries >= QUERIES and self.rarer >= RARER_OF_SPLIT and self.pairs >= PAIRS


class Splits:
    """The thresholds of the grades at which scores separate the documents of every query.

    Of each threshold t: whether, in every query, each document with a grade of t and more has a
    higher score than each other one.
    """

    def __init__(self) -> None:
        self._known: dict[float, Split | None] | None = {}

    def add(self, query: Ints, rank: Ints, grade: Array) -> None:
        """Look at more queries: their documents, ``(n,)`` each, from the highest score on.

        Documents of one score have one `rank`, the first of theirs.

        >>> some = Splits()
        >>> some.add(np.zeros(4, dtype=int), np.array([1, 2, 3, 3]), np.array([1, 2, 0, 0]))
        >>> some.split(1), some.split(2)
        (Split(queries=1, rarer=2, pairs=4), None)
        """
        if self._known is not None and self.wants(grade):
            here = _splits(query, rank, grade)
            self._known = None if here is None else _both(self._known, here)

    def wants(self, grade: Array) -> bool:
        """Whether documents of these grades, ``(n,)``, may tell anything more."""
        known = self._known
        if known is None or not grade.size:
            return False
        if not known or grade.min() < min(known) or grade.max() > max(known):
            return True
        # at the lowest grade, which all documents have, nothing can be wrong
        return len(known) < 2 or any(known[one] is not None for one in sorted(known)[1:])

    def split(self, threshold: float) -> Split | None:
        """Return what is separated at a threshold; None if scores err."""
        return None if self._known is None else _at(self._known, threshold)

    def facts(self) -> tuple[float, int, int] | None:
        """Return the threshold that separates most pairs, queries and pairs; None if few."""
        found = [
            (split.pairs, threshold, split.queries)
            for threshold, split in (self._known or {}).items()
            if split is not None and split.enough
        ]
        if not found:
            return None
        pairs, threshold, queries = max(found)
        return threshold, queries, pairs


def _splits(query: Ints, rank: Ints, grade: Array) -> dict[float, Split | None] | None:
    """Return what is separated at each grade; None if there are too many."""
    one, other = grade[:-1], grade[1:]
    wrong = (query[1:] == query[:-1]) & ((other > one) | ((other < one) & (rank[1:] == rank[:-1])))
    lower, higher = np.minimum(one, other)[wrong], np.maximum(one, other)[wrong]
    lowest, highest = grade.min(), grade.max()
    if ((lower == lowest) & (higher == highest)).any():
        return {lowest.item(): Split(), highest.item(): None}
    levels, code = np.unique(grade, return_inverse=True)
    if levels.size > MOST:
        return None
    low, high = np.searchsorted(levels, lower), np.searchsorted(levels, higher)
    # neighbours in the wrong order err at the thresholds above the lower grade, up to the higher
    begins, ends = (np.bincount(at + 1, minlength=levels.size + 1) for at in (low, high))
    errs = np.cumsum(begins - ends)[: levels.size] > 0
    n = np.bincount(query)
    found: dict[float, Split | None] = {}
    for at, level in enumerate(levels.tolist()):
        above = np.bincount(query[code >= at], minlength=n.size)
        few = np.minimum(above, n - above)
        split = Split(int((few > 0).sum()), int(few.sum()), int((above * (n - above)).sum()))
        found[level] = None if errs[at] else split
    return found


def _both(
    one: Mapping[float, Split | None], other: Mapping[float, Split | None]
) -> dict[float, Split | None]:
    """Return what is separated in some queries and in others."""
    found: dict[float, Split | None] = {}
    for level in {*one, *other}:
        mine, theirs = _at(one, level), _at(other, level)
        found[level] = None
        if mine is not None and theirs is not None:
            found[level] = Split(*map(sum, zip(mine, theirs, strict=True)))
    return found


def _at(known: Mapping[float, Split | None], threshold: float) -> Split | None:
    """Return what is separated at any threshold: as at the next grade that a document has."""
    above = [level for level in known if level >= threshold]
    return known[min(above)] if above else Split()


@dataclass(frozen=True)
class LabelFacts:
    """How the scores of judged documents follow their grades.

    Parameters
    ----------
    moments : Moments
        Of scores and grades.
    positive : int
        Documents with a grade above 0.
    grade_scores : (int, bool), optional
        :meth:`GradeScores.facts`, if each grade has one score.
    ordered : int
        Queries whose documents have several grades, if in all of them no document comes after one
        of a lower grade.
    rarer : int
        Their documents of other grades than the commonest one of their query.
    split : (float, int, int), optional
        :meth:`Splits.facts`, if scores separate a grade and more from all others.
    """

    moments: Moments = field(default_factory=Moments)
    positive: int = 0
    grade_scores: tuple[int, bool] | None = None
    ordered: int = 0
    rarer: int = 0
    split: tuple[float, int, int] | None = None


class Labels:
    """Sums up how scores follow grades, part by part."""

    def __init__(self, first: Firsts) -> None:
        self.first = first
        self.moments, self.positive = Moments(), 0
        self.grade_scores: GradeScores | None = GradeScores({}, {})
        self.splits = Splits()
        self.ordered = self.rarer = 0
        self.disordered = False

    def aligned(self, aligned: Aligned) -> None:
        """Look at a part that was aligned."""
        score, grade, judged = aligned.score, aligned.grade, aligned.grade >= 0
        if not judged.all():
            score, grade = score[judged], grade[judged]
        self.positive += int((grade > 0).sum())
        self.moments += Moments.of(score, grade.astype(np.float64))
        if self.grade_scores is not None:
            here = GradeScores.of(score, grade)
            self.grade_scores = None if here is None else self.grade_scores.more(here)
        if grade.size and (not self.disordered or self.splits.wants(grade)):
            query = aligned.row[judged]
            self.splits.add(query, aligned.tie_first[judged], grade)
            if not self.disordered:
                self._count_ordered(query, grade)

    def _count_ordered(self, query: Ints, grade: Array) -> None:
        """Count queries in the order of their grades, until one is not, and their rarer grades."""
        same = query[1:] == query[:-1]
        if (same & (grade[1:] > grade[:-1])).any():
            self.ordered, self.rarer, self.disordered = 0, 0, True
            return
        falls = same & (grade[1:] < grade[:-1])
        self.ordered += np.unique(query[1:][falls]).size
        ends = np.flatnonzero(np.append(falls | ~same, True))  # of a grade in a query
        commonest = np.zeros(int(query[-1]) + 1, np.int64)
        np.maximum.at(commonest, query[ends], np.diff(ends, prepend=-1))
        self.rarer += grade.size - int(commonest.sum())

    def facts(self, begin: Part | None) -> LabelFacts:
        """Return the facts of all parts; examples are of the first one."""
        split = self.splits.facts()
        scores = self.grade_scores.facts() if self.grade_scores else None
        if begin is not None and (
            split or scores or self.ordered or abs(self.moments.correlation) >= LIKE_LABELS
        ):
            rows, known = begin.judged()
            grades = begin.qrels.numbers[known]
            some = _one_of_each(begin.run.row[rows], grades, split[0] if split else 0)[:EXAMPLES]
            pairs = zip(begin.run.scores[rows[some]].tolist(), grades[some].tolist(), strict=True)
            notes = [f"score {score:.9g}, grade {grade:g}" for score, grade in pairs]
            self.first.add("labels-as-scores", begin.documents(rows[some], notes))
        return LabelFacts(self.moments, self.positive, scores, self.ordered, self.rarer, split)


def _one_of_each(query: Ints, grades: Array, least: float) -> Ints:
    """Return the first document above the lowest grade of each query of several, in their order.

    `least` is the grade that it has at least.

    >>> _one_of_each(np.array([4, 4, 4, 2, 2, 3]), np.array([0, 1, 2, 1, 0, 1]), 0).tolist()
    [1, 3]
    """
    _, code = np.unique(query, return_inverse=True)
    lowest = np.full(code.max(initial=-1) + 1, np.inf)
    np.minimum.at(lowest, code, grades)
    above = np.flatnonzero((grades > np.maximum(lowest, 0)[code]) & (grades >= least))
    _, first = np.unique(code[above], return_index=True)
    found: Ints = above[np.sort(first)]
    return found


def are_labels(run: RunFacts) -> bool:
    """Whether scores and grades have a correlation of exactly 1, or -1."""
    labels = run.labels
    enough = min(labels.positive, labels.moments.n - labels.positive) >= ENOUGH_OF_EACH
    return enough and abs(labels.moments.correlation) >= 1 - EXACT


def _are_in_order(labels: LabelFacts) -> bool:
    """Whether every query of many is in the order of its grades."""
    n = labels.ordered
    return n >= ORDERED and labels.moments.n >= ENOUGH_OF_EACH * n and labels.rarer >= RARER * n


def findings(run: RunFacts, place: str) -> Iterator[Finding]:
    """Yield that the scores of the run at `place` are labels."""
    labels = run.labels
    count, effect = labels.moments.n, ""
    severity: Severity | None = None
    if are_labels(run):
        sign = "1" if labels.moments.xy > 0 else "-1"
        effect = TURNED if labels.moments.xy < 0 else ""
        what = (
            f"scores and grades have a correlation of exactly {sign}, over {count:,} judged "
            "documents"
        )
    elif labels.grade_scores is not None:
        n, falls = labels.grade_scores
        effect = TURNED if falls else ""
        what = f"each of the {n} grades has one score of its own, over {count:,} judged documents"
    elif _are_in_order(labels):
        count = labels.ordered
        what = (
            f"in all {count:,} queries of several grades, every judged document comes before "
            "those of a lower grade"
        )
    elif labels.split is not None:
        threshold, count, pairs = labels.split
        severity = "warning"
        what = (
            f"the scores separate grades of {threshold:.15g} and more from those below in all "
            f"{count:,} queries that have both, without an error in {pairs:,} pairs of documents"
        )
        if run.follows and labels.moments.n == run.queries.rows:
            what += ": where the former are relevant, MAP over these queries is 1"
    else:
        return
    first = run.first.get("labels-as-scores", First())
    yield finding("labels-as-scores", first.at(place), what, count, first.names, severity, effect)
