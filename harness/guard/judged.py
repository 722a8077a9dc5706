"""How many documents of a run are judged, how far up, and whether its scores are the grades."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..core.aligned import Aligned
from ..core.policy import Policy
from ..core.ragged import Array, Bools, Ints, rows_of
from .ahead import Ahead, behind
from .first import EXAMPLES, First, joined, texts, texts_at
from .grade_scores import GradeScores
from .moments import Moments
from .part import Part, mask
from .queries import Queries
from .splits import Splits

TOP = 10
"""Ranks that are looked at for documents that nobody judged: what most papers report."""
MANY = 0.1
"""Share of unjudged documents from which on that is said, and some are named."""
BELOW_0 = " or have a grade below 0"
"""What is said beside "are not judged" where there are such grades: -1 and -2 mean the same to
trec_eval, though somebody may have seen those documents, as the web track's junk."""
HEAD = 1 << 10
"""Documents that are looked at first for one that comes after one of a lower grade."""
LIKE_LABELS = 0.999
"""Correlation of scores and grades from which on the first of them are kept."""


class Judged:
    """Sums up judged documents, part by part.

    Parameters
    ----------
    policy : Policy
        Under which the run is aligned.
    queries : Queries
        Of the same run.
    """

    def __init__(self, policy: Policy, queries: Queries) -> None:
        self.policy, self.queries = policy, queries
        self.n = self.positive = self.shown = self.shown_judged = self.ordered = self.rarer = 0
        self.moments, self.ahead, self.disordered = Moments(), Ahead(), False
        self.grade_scores: GradeScores | None = GradeScores()
        self.splits = Splits()
        self._unjudged_in: list[Callable[[], First]] = []
        self._behind_in: list[Callable[[], First]] = []

    def aligned(self, aligned: Aligned, part: Part, before: int) -> None:
        """Look at a part that was aligned; as :meth:`harness.guard.ties.Ties.aligned`."""
        judged = aligned.grade >= 0
        score, grade = aligned.score, aligned.grade
        if not judged.all():
            score, grade = score[judged], grade[judged]
        self.n += grade.size
        self.positive += int((grade > 0).sum())
        self.moments += Moments.of(score, grade.astype(np.float64))
        if self.grade_scores is not None:
            here = GradeScores.of(score, grade)
            self.grade_scores = None if here is None else self.grade_scores.more(here)
        if not self.disordered or self.splits.wants(grade):
            query = rows_of(aligned.offsets)[judged]
            self.splits.add(query, aligned.tie_first[judged], grade)
            if not self.disordered:
                self._order(query, grade)
        if not part.follows:
            ahead = Ahead.of(aligned)
            self.ahead = self.ahead.more(ahead)
            if ahead.behind and len(self._behind_in) < EXAMPLES:
                self._behind_in.append(partial(self._behind, aligned, part, before))
            self._top(aligned, part, before, judged)

    def _order(self, query: Ints, grade: Array) -> None:
        """Count queries in the order of their grades, until one is not, and their rarer grades."""
        if not grade.size:
            return
        for some in (slice(HEAD), slice(None)):
            same = query[some][1:] == query[some][:-1]
            if (same & (grade[some][1:] > grade[some][:-1])).any():
                self.ordered, self.rarer, self.disordered = 0, 0, True
                return
        falls = same & (grade[1:] < grade[:-1])
        self.ordered += np.unique(query[1:][falls]).size
        ends = np.flatnonzero(np.append(falls | ~same, True))  # of a grade in a query
        commonest = np.zeros(int(query[-1]) + 1, np.int64)
        np.maximum.at(commonest, query[ends], np.diff(ends, prepend=-1))
        self.rarer += grade.size - int(commonest.sum())

    def _top(self, aligned: Aligned, part: Part, before: int, judged: Bools) -> None:
        """Count the documents of the first ranks that are judged, and name some that are not."""
        n = np.minimum(aligned.n_retrieved, TOP)
        top = judged & (aligned.rank <= TOP)
        shown, n_top = int(n.sum()), int(top.sum())
        self.shown += shown
        self.shown_judged += n_top
        if n_top < shown and len(self._unjudged_in) < EXAMPLES:
            self._unjudged_in.append(partial(self._unjudged, aligned, part, before, top))

    def _unjudged(self, aligned: Aligned, part: Part, before: int, top: Bools) -> First:
        """Return documents of the first ranks that are not judged; by rank if they are not here."""
        found, rows, said = First(), aligned.offsets[:0], []
        n = np.minimum(aligned.n_retrieved, TOP)
        for code, here in part.first_of(aligned.count(top) < n, before):
            inside = slice(aligned.offsets[code], aligned.offsets[code + 1])
            judged = {*aligned.rank[inside][top[inside]].tolist()}
            ranks = sorted({*range(1, int(n[code]) + 1)} - judged)[:EXAMPLES]
            here_rows = part.at_ranks(here, ranks, self.policy)
            if here_rows.size:
                rows = np.append(rows, here_rows)
                said += [f"rank {rank}" for rank in ranks]
            elif not rows.size:
                some = self.queries.start_of(texts(aligned.qids.slice(code, 1)))
                named = (f"query {some.names[0]}, rank {rank}" for rank in ranks)
                found = found.more(some._replace(names=tuple(named)))
            if found.full or rows.size >= EXAMPLES:
                break
        named_rows = part.documents(rows[:EXAMPLES], said[:EXAMPLES])
        return found.more(named_rows)

    def _behind(self, aligned: Aligned, part: Part, before: int) -> First:
        """Return queries whose relevant documents come after the others, with their shares."""
        codes, shares = behind(aligned)
        share = dict(zip(codes.tolist(), shares.tolist(), strict=True))
        some = [code for code, _ in part.first_of(mask(aligned, codes), before)]
        found = self.queries.start_of([*texts_at(aligned.qids, np.array(some))])
        names = (
            f"{qid} ({100 * share[code]:.0f} %)"
            for qid, code in zip(found.names, some, strict=True)
        )
        return found._replace(names=tuple(names))

    def facts(self) -> dict[str, Any]:
        """Return what :class:`~harness.guard.facts.RunFacts` has of it."""
        return {
            "judged": self.n,
            "positive": self.positive,
            "moments": self.moments,
            "grade_scores": self.grade_scores.facts() if self.grade_scores else (),
            "ordered": self.ordered,
            "rarer": self.rarer,
            "split": self.splits.facts(),
            "shown": self.shown,
            "judged_shown": self.shown_judged,
            "ahead": () if self.queries.follows else tuple(self.ahead),
        }

    def first(self, begin: Part) -> dict[str, First]:
        """Return the first of each thing, by rule; `begin` is the first part of the run."""
        many = self.shown - self.shown_judged >= MANY * self.shown
        found = {"unjudged-at-10": joined(self._unjudged_in if many else ())}
        if any(self.ahead.findings("")):
            found["upside-down"] = joined(self._behind_in)
        self._unjudged_in.clear()  # a task holds this, and parts of the run as long as it is there
        self._behind_in.clear()
        split = self.splits.facts()
        if (
            split
            or self.grade_scores
            or self.ordered
            or abs(self.moments.correlation) >= LIKE_LABELS
        ):
            rows, known = begin.judged()
            grades = begin.qrels.numbers[known]
            least = split[0] if split else 0
            some = _one_of_each(begin.run.row[rows], grades, least)[:EXAMPLES]
            pairs = zip(begin.run.scores[rows[some]].tolist(), grades[some].tolist(), strict=True)
            said = (f"score {score:.9g}, grade {grade:g}" for score, grade in pairs)
            found["labels-as-scores"] = begin.documents(rows[some], said)
        return found


def _one_of_each(query: Ints, grades: Array, least: float = 0) -> Ints:
    """Return the first document above the lowest grade of each query of several, in their order.

    `least` is the grade that it has at least.

    >>> _one_of_each(np.array([4, 4, 4, 2, 2, 3]), np.array([0, 1, 2, 1, 0, 1])).tolist()
    [1, 3]
    """
    _, code = np.unique(query, return_inverse=True)
    lowest = np.full(code.max(initial=-1) + 1, np.inf)
    np.minimum.at(lowest, code, grades)
    above = np.flatnonzero((grades > np.maximum(lowest, 0)[code]) & (grades >= least))
    _, first = np.unique(code[above], return_index=True)
    found: Ints = above[np.sort(first)]
    return found
