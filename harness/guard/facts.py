"""What judgements, and a run joined to them, leave behind: small sums that the rules look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pyarrow as pa

from ..core.arrow import as_bytes
from ..core.ragged import Bools, Ints
from ..core.tables import Qrels
from .first import EXAMPLES, First, of_documents, of_queries, texts_at
from .moments import Moments

USUAL_GRADE = 4
"""The largest grade of the usual scale of five."""
LARGEST_GRADE = 30
"""The largest for which LightGBM has a gain."""


@dataclass(frozen=True)
class JudgementFacts:
    """Of the judgements of one dataset.

    Parameters
    ----------
    queries, rows : int
    lowest, highest : float
        Grades.
    unusual, beyond : int
        Rows with a grade above :data:`USUAL_GRADE`; above :data:`LARGEST_GRADE`.
    fractional : int
        Rows whose grade is no whole number.
    negative : int
        Rows with a grade below 0, which means not judged.
    relevant : int
        Rows with a grade of at least 1; above 0 where there are fractions.
    empty, single : int
        Queries without such a row; with one row alone.
    numbered : bool
        Whether queries are called 0, 1, 2, ... or 1, 2, ... and documents have no names, as in
        files with group sizes: queries of two such files have the same names by chance.
    documents : int
        Different documents that are judged, for any query; 0 where they have no names.
    marks : str
        Of rows of a learning-to-rank file: :func:`harness.readers.row_marks.kept`.
    first : dict of str to First
        By the rule that they are of, the first of what is counted here.
    """

    queries: int = 0
    rows: int = 0
    lowest: float = 0.0
    highest: float = 0.0
    unusual: int = 0
    beyond: int = 0
    fractional: int = 0
    negative: int = 0
    relevant: int = 0
    empty: int = 0
    single: int = 0
    numbered: bool = False
    documents: int = 0
    marks: str = ""
    first: dict[str, First] = field(default_factory=dict)

    @classmethod
    def of(cls, qrels: Qrels) -> JudgementFacts:
        """Return the facts of judgements.

        >>> JudgementFacts.of(Qrels.from_dict({"q1": {"a": 2, "b": 0}, "q2": {"c": 0}})).empty
        1
        """
        grades, offsets = qrels.numbers, qrels.offsets
        if not grades.size:
            return cls(queries=qrels.n_queries)
        relevant = grades > 0
        before = np.append(0, np.cumsum(relevant))[offsets]
        empty, single = before[1:] == before[:-1], offsets[1:] - offsets[:-1] == 1
        first = _Firsts(qrels)
        fractional = grades != np.trunc(grades) if grades.dtype.kind == "f" else grades[:0] > 0
        return cls(
            queries=qrels.n_queries,
            rows=qrels.n_rows,
            lowest=float(grades.min()),
            highest=float(grades.max()),
            unusual=first.rows("grades-above-4", grades > USUAL_GRADE),
            beyond=first.rows("grades-above-30", grades > LARGEST_GRADE),
            fractional=first.rows("fractional-grades", fractional),
            negative=first.rows("negative-grades", grades < 0),
            relevant=int(before[-1]),
            empty=first.queries("no-relevant-documents" if empty.all() else "empty-queries", empty),
            single=first.queries("one-document-queries", single),
            numbered=_numbered(qrels),
            documents=0 if qrels.docnos.positional else qrels.n_documents,
            first=first.found,
        )


class _Firsts:
    """Counts things in judgements, and keeps the first of each."""

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        self.found: dict[str, First] = {}

    def rows(self, rule: str, which: Bools) -> int:
        """Return how many rows it is; those are named with their grades."""
        rows = np.flatnonzero(which)
        if rows.size:
            some = rows[:EXAMPLES]
            qids = texts_at(self.qrels.qids, self.qrels.row[some])
            grades = (f"{grade:.15g}" for grade in self.qrels.numbers[some].tolist())
            self.found[rule] = of_documents(
                qids, self.qrels.docnos, some, grades, self._places(some)
            )
        return rows.size

    def queries(self, rule: str, which: Bools) -> int:
        """Return how many queries it is."""
        queries = np.flatnonzero(which)
        if queries.size:
            starts = self._places(self.qrels.offsets[queries[:EXAMPLES]])
            self.found[rule] = of_queries(self.qrels.qids, queries, starts)
        return queries.size

    def _places(self, rows: Ints) -> Ints:
        order = self.qrels.order
        found: Ints = rows if order is None else order[np.minimum(rows, order.size - 1)]
        return found


def _numbered(qrels: Qrels) -> bool:
    ends = as_bytes(qrels.qids[:1]) + as_bytes(qrels.qids[-1:])
    from_0, from_1 = ([b"%d" % n, b"%d" % (n + qrels.n_queries - 1)] for n in (0, 1))
    return qrels.docnos.positional and ends in (from_0, from_1)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Of one run, and of how it fits its judgements.

    Parameters
    ----------
    follows : bool
        Whether its scores follow the rows of the dataset, as predictions do.
    single : bool
        Whether scores are compared in single precision, as trec_eval 9 does.
    rows, queries : int
        In the file.
    missing, extra : int
        Queries that are judged and not answered; answered and not judged.
    shallowest, median_depth, deepest : float
        Documents of a query; 0 where the run follows rows.
    at_deepest : int
        Queries of the largest depth.
    last_depth : int
        Of the query that ends the file.
    lowest, highest : float
        Scores.
    mean_lowest, mean_highest : float
        Of the queries' own smallest and largest scores.
    several, constant, nearly : int
        Queries with two documents and more; those whose scores are all equal; those of at least
        :data:`~harness.guard.watch.LONG` documents of which nearly all share one score.
    pairs, tied, tied_whole : int
        Pairs of retrieved documents of one query; those with one score; those of queries all of
        whose documents have one.
    overflow, merged : int
        Rows beyond the largest number of single precision; rows that single precision gives the
        score of their neighbour, though they differ.
    judged : int
        Retrieved documents that are judged.
    positive : int
        Of these, with a grade above 0.
    moments : Moments
        Of their scores and grades.
    grade_scores : tuple of int
        Where each grade has one score: :meth:`harness.guard.grade_scores.GradeScores.facts`.
    ordered : int
        Queries whose judged documents have several grades, where in all of them no document comes
        after one of a lower grade; 0 where in some query one does.
    rarer : int
        Their judged documents of other grades than the commonest one of their query.
    split : tuple of float
        Where scores separate the judged documents of a grade and more from all others, in all
        queries: :meth:`harness.guard.splits.Splits.facts`.
    shown, judged_shown : int
        Documents at rank 10 or before; those of them that are judged. 0 where the run follows
        rows.
    looked_at, known : int
        Rows whose docno was looked for among all judgements; those found, for any query.
    respelled, respelled_qids : tuple
        In what docnos, and qids, differ from those of the judgements, and how many do that would be
        found otherwise; ``()`` where none would.
    topics : tuple of int
        For which queries documents at the first ranks are judged:
        :class:`~harness.guard.topics.Topics`; ``()`` where few are for others than their own.
    own_fit : tuple of float
        Of predictions for rows: as :func:`~harness.guard.slips.look` gives it; ``()`` where they
        were not held against the grades.
    compared, falling : int
        Queries in which grades and predictions differ; those in which predictions fall as the
        grades rise. 0 where they fit clearly on the whole.
    slip : tuple
        Of predictions that have slipped: what :meth:`harness.guard.slips.Slip.plain` gives.
    whole_scores : tuple of float
        The scores, where they look like grades, and the grades like scores.
    different_grades : int
        How many there are then.
    rank_scores : tuple
        Of a TREC run whose scores are ranks: :class:`~harness.guard.rank_scores.RankScores`.
    ahead : tuple
        How often relevant documents come first: :class:`~harness.guard.ahead.Ahead`; ``()`` where
        the run follows rows.
    first : dict of str to First
        By the rule that they are of, the first of what is counted here; some are kept that
        are too few for their rule.
    """

    follows: bool = False
    single: bool = True
    rows: int = 0
    queries: int = 0
    missing: int = 0
    extra: int = 0
    shallowest: float = 0.0
    median_depth: float = 0.0
    deepest: float = 0.0
    at_deepest: int = 0
    last_depth: int = 0
    lowest: float = 0.0
    highest: float = 0.0
    mean_lowest: float = 0.0
    mean_highest: float = 0.0
    several: int = 0
    constant: int = 0
    nearly: int = 0
    pairs: int = 0
    tied: int = 0
    tied_whole: int = 0
    overflow: int = 0
    merged: int = 0
    judged: int = 0
    positive: int = 0
    moments: Moments = field(default_factory=Moments)
    grade_scores: tuple[int, ...] = ()
    ordered: int = 0
    rarer: int = 0
    split: tuple[float, ...] = ()
    shown: int = 0
    judged_shown: int = 0
    looked_at: int = 0
    known: int = 0
    respelled: tuple[Any, ...] = ()
    respelled_qids: tuple[Any, ...] = ()
    topics: tuple[int, ...] = ()
    own_fit: tuple[Any, ...] = ()
    compared: int = 0
    falling: int = 0
    slip: tuple[Any, ...] = ()
    whole_scores: tuple[float, ...] = ()
    different_grades: int = 0
    rank_scores: tuple[Any, ...] = ()
    ahead: tuple[Any, ...] = ()
    first: dict[str, First] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """All that the rules of one cell look at."""

    judgements: JudgementFacts
    run: RunFacts

    def as_dict(self) -> dict[str, Any]:
        """Return them as plain data."""
        run = {name: getattr(self.run, name) for name in RunFacts.__slots__}
        run["moments"] = {**vars(self.run.moments)}
        return {"judgements": {**vars(self.judgements)}, "run": run}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Facts:
        """Return the facts that :meth:`as_dict` gave, written to JSON or not.

        Raises
        ------
        KeyError, TypeError
            Where they are other facts.
        """
        run = {**given["run"], "moments": Moments(**given["run"]["moments"])}
        return cls(_made(JudgementFacts, given["judgements"]), _made(RunFacts, run))


_NAMES = {kind: {one.name for one in fields(kind)} for kind in (JudgementFacts, RunFacts)}


def _made(kind: Any, given: Mapping[str, Any]) -> Any:
    if given.keys() != _NAMES[kind]:
        raise KeyError(f"not the facts of {kind.__name__}")
    lists = {name: tuple(one) for name, one in given.items() if type(one) is list}
    named = {rule: First.from_plain(one) for rule, one in given["first"].items()}
    return kind(**{**given, **lists, "first": named})


def first(qids: pa.Array, mask: Bools) -> tuple[str, ...]:
    """Return the first of the qids for which `mask` is true."""
    return texts_at(qids, np.flatnonzero(mask)[:EXAMPLES])
