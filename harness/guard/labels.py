"""Whether the scores of a run are labels: they follow the grades without an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.aligned import Aligned
from ..core.ragged import Array, Ints
from ..errors import Finding
from .parts import EXAMPLES, Firsts, Found, Part

if TYPE_CHECKING:
    from .facts import Facts

MOST = 32
"""Grades, at most: of numbers that are all different any order is a map."""
OTHERS = 10
"""Documents that repeat a grade other than the commonest: with fewer, a map may be chance."""
QUERIES, RARER, PAIRS = 10, 100, 500
"""Queries with documents on both sides of a grade; documents of the rarer side, summed over
queries; and pairs of one of each: with fewer, a good model may order them all."""
ORDERED, RARER_EACH = 30, 3
"""Queries, and documents of the rarer side in each, from which on no system orders all."""


class Split(NamedTuple):
    """What scores separate at a grade without an error, over queries that have both sides."""

    queries: int = 0
    rarer: int = 0
    pairs: int = 0


Splits = Mapping[float, Split | None]
"""By grade, what is separated from it on; None if a document is in the wrong order."""


@dataclass(frozen=True)
class LabelFacts:
    """How the scores of judged documents follow their grades.

    Parameters
    ----------
    judged : int
        Judged documents.
    grades : int
        Grades, if each of them has one score of its own; 0 otherwise.
    falls : bool
        Whether that score falls as the grade rises.
    threshold : float
        The grade from which on scores separate most pairs of documents.
    split : Split, optional
        What they separate; None if it is too little.
    ordered : bool
        Whether they do so at every grade.
    """

    judged: int = 0
    grades: int = 0
    falls: bool = False
    threshold: float = 0.0
    split: Split | None = None
    ordered: bool = False


class Labels:
    """Sums up how scores follow grades, part by part."""

    def __init__(self, first: Firsts) -> None:
        self.first, self.judged = first, 0
        self.counts: Counter[float] = Counter()
        self.scores: dict[float, float] | None = {}
        self.same = True
        self.splits: Splits | None = {}

    def aligned(self, aligned: Aligned) -> None:
        """Look at a part that was aligned."""
        judged = aligned.grade >= 0
        grade, score = aligned.grade[judged], aligned.score[judged]
        self.judged += grade.size
        if not grade.size:
            return
        self.same = self.same and np.array_equal(grade, score)
        if self.scores is not None:
            self._map(grade, score)
        if self.splits is not None and _may_tell(self.splits, grade):
            here = splits_of(aligned.row[judged], aligned.tie_first[judged], grade)
            self.splits = None if here is None else joined(self.splits, here)

    def _map(self, grade: Array, score: Array) -> None:
        """Note the score of each grade, as long as each has one of its own."""
        levels, at, code, counts = np.unique(
            grade, return_index=True, return_inverse=True, return_counts=True
        )
        names = levels.astype(float).tolist()
        own = dict(zip(names, score[at].tolist(), strict=True))
        scores = {**own, **(self.scores or {})}
        one_each = len({*scores.values()}) == len(scores) <= MOST
        if one_each and {**scores, **own} == scores and (score[at][code] == score).all():
            self.scores = scores
            self.counts.update(
                dict(zip(levels.astype(float).tolist(), counts.tolist(), strict=True))
            )
        else:
            self.scores = None

    def facts(self, begin: Part | None) -> LabelFacts:
        """Return the facts of all parts; examples are of the first one."""
        judged, scores = self.judged, self.scores or {}
        several = judged - max(self.counts.values(), default=0) - max(len(scores) - 2, 0)
        n_grades = len(scores) if len(scores) > 1 and several >= OTHERS else 0
        if self.same and self.scores is None and judged >= 2 * OTHERS:
            n_grades, scores = MOST, {}
        falls = bool(scores) and (np.diff([scores[one] for one in sorted(scores)]) < 0).all()
        every = self.splits or {}
        split, threshold = max(
            ((one, grade) for grade, one in every.items() if one is not None and _is_enough(one)),
            key=lambda one: (one[0].pairs, one[1]),
            default=(None, 0.0),
        )
        ordered = split is not None and None not in every.values()
        if begin is not None and (n_grades or split):
            self._name(begin, threshold)
        return LabelFacts(judged, n_grades, bool(n_grades and falls), threshold, split, ordered)

    def _name(self, begin: Part, threshold: float) -> None:
        """Keep the first relevant document of each of the first queries."""
        rows, known = begin.judged()
        above = np.flatnonzero(begin.qrels.numbers[known] >= max(threshold, 1))
        first = np.sort(np.unique(begin.run.row[rows][above], return_index=True)[1])
        rows, known = (one[above[first]][:EXAMPLES] for one in (rows, known))
        scores, grades = begin.run.scores[rows].tolist(), begin.qrels.numbers[known].tolist()
        pairs = zip(scores, grades, strict=True)
        notes = [f"score {score:.9g}, grade {grade:g}" for score, grade in pairs]
        self.first.add("labels-as-scores", begin.documents(rows, notes))


def _is_enough(split: Split) -> bool:
    return split.queries >= QUERIES and split.rarer >= RARER and split.pairs >= PAIRS


def _may_tell(known: Splits, grade: Array) -> bool:
    """Whether documents of these grades may show more than is known."""
    if not known or grade.min() < min(known) or grade.max() > max(known):
        return True
    # at the lowest grade, which all documents have, nothing can be wrong
    return len(known) < 2 or any(known[one] is not None for one in sorted(known)[1:])


def splits_of(query: Ints, rank: Ints, grade: Array) -> Splits | None:
    """Return what is separated at each grade; None if there are too many.

    Parameters
    ----------
    query, rank, grade : ndarray, shape (n,)
        Of documents from the highest score on, query by query; those of one score have one rank.

    >>> splits_of(np.zeros(4, dtype=int), np.array([1, 2, 3, 3]), np.array([1, 2, 0, 0]))
    {0: Split(queries=0, rarer=0, pairs=0), 1: Split(queries=1, rarer=2, pairs=4), 2: None}
    """
    levels, code = np.unique(grade, return_inverse=True)
    if levels.size > MOST:
        return None
    one, other = code[:-1], code[1:]
    wrong = (query[1:] == query[:-1]) & ((other > one) | ((other < one) & (rank[1:] == rank[:-1])))
    low, high = np.minimum(one, other)[wrong], np.maximum(one, other)[wrong]
    # neighbours in the wrong order err at the thresholds above the lower grade, up to the higher
    begins, ends = (np.bincount(at + 1, minlength=levels.size + 1) for at in (low, high))
    errs = np.cumsum(begins - ends)[: levels.size] > 0
    n = np.bincount(query)
    found: dict[float, Split | None] = {}
    for at, level in enumerate(levels.tolist()):
        found[level] = None
        if not errs[at]:
            above = np.bincount(query[code >= at], minlength=n.size)
            few = np.minimum(above, n - above)
            found[level] = Split(
                int((few > 0).sum()), int(few.sum()), int((above * (n - above)).sum())
            )
    return found


def joined(one: Splits, other: Splits) -> Splits:
    """Return what is separated in some queries and in others."""
    found: dict[float, Split | None] = {}
    for level in sorted({*one, *other}):
        mine, theirs = _at(one, level), _at(other, level)
        both = mine is not None and theirs is not None
        found[level] = Split(*map(sum, zip(mine, theirs, strict=True))) if both else None  # type: ignore[arg-type]
    return found


def _at(known: Splits, threshold: float) -> Split | None:
    """Return what is separated at any threshold: as at the next grade that a document has."""
    above = [level for level in known if level >= threshold]
    return known[min(above)] if above else Split()


def findings(facts: Facts, found: Found) -> Iterator[Finding]:
    """Yield that the scores of a run are labels."""
    labels = facts.run.labels
    if labels.grades:
        each = f"each of the {labels.grades} grades has one score of its own"
        what = "the scores are the grades" if labels.grades >= MOST else each
        effect = "the values are those of the labels turned upside down" if labels.falls else ""
        what += f", over {labels.judged:,} judged documents"
        yield found("labels-as-scores", what, labels.judged, None, effect)
    elif labels.split is not None:
        n, rarer, pairs = labels.split
        all_of = labels.ordered and n >= ORDERED and rarer >= RARER_EACH * n
        what = (
            f"in all {n:,} queries, every grade of {labels.threshold:.15g} or more scores above "
            f"every lower one ({pairs:,} pairs)"
        )
        if all_of:
            what = f"in all {n:,} queries, every document scores above those of lower grades"
        yield found("labels-as-scores", what, n, None if all_of else "warning")
