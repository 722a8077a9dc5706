"""Rules about judgements alone: their grades, and queries without relevant documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..core.arrow import as_bytes
from ..core.ragged import Bools, Ints
from ..core.tables import Qrels
from ..errors import Finding
from ..reports.phrases import counted
from .parts import EXAMPLES, First, Firsts, of_documents, of_queries, placing, texts_at
from .registry import by_share

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
    beyond, fractional, negative : int
        Rows with a grade above :data:`LARGEST_GRADE`; with a fraction; below 0.
    empty, single : int
        Queries without a grade above 0; with one row alone.
    numbered : bool
        Whether queries are called 0, 1, 2, ... or 1, 2, ... and documents have no names, as in
        files with group sizes: queries of two such files have the same names by chance.
    marks : str
        Of rows of a learning-to-rank file: :func:`harness.readers.letor.kept`.
    unused : tuple of str
        Columns of a table that were not read.
    columns : dict of str to str
        Those that were read, by what they hold.
    first : dict of str to First
        By rule, the first of what is counted here.
    """

    queries: int = 0
    rows: int = 0
    lowest: float = 0.0
    highest: float = 0.0
    beyond: int = 0
    fractional: int = 0
    negative: int = 0
    empty: int = 0
    single: int = 0
    numbered: bool = False
    marks: str = ""
    unused: tuple[str, ...] = ()
    columns: dict[str, str] = field(default_factory=dict)
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
        first = Firsts()

        def rows(rule: str, which: Bools) -> int:
            some = np.flatnonzero(which)[:EXAMPLES]
            qids = texts_at(qrels.qids, qrels.row[some])
            notes = (f"{grade:.15g}" for grade in grades[some].tolist())
            first.add(rule, of_documents(qids, qrels.docnos, some, notes, _places(qrels, some)))
            return int(which.sum())

        def queries(rule: str, which: Bools) -> int:
            some = np.flatnonzero(which)
            first.add(rule, of_queries(qrels.qids, some, _places(qrels, offsets[some[:EXAMPLES]])))
            return some.size

        before = np.append(0, np.cumsum(grades > 0))[offsets]
        empty, single = before[1:] == before[:-1], offsets[1:] - offsets[:-1] == 1
        fractional = grades != np.trunc(grades) if grades.dtype.kind == "f" else grades[:0] > 0
        return cls(
            queries=qrels.n_queries,
            rows=qrels.n_rows,
            lowest=float(grades.min()),
            highest=float(grades.max()),
            beyond=rows("grades-above-30", grades > LARGEST_GRADE),
            fractional=rows("fractional-grades", fractional),
            negative=rows("negative-grades", grades < 0),
            empty=queries("no-relevant-documents" if empty.all() else "empty-queries", empty),
            single=queries("one-document-queries", single),
            numbered=_numbered(qrels),
            first=dict(first),
        )


def _places(qrels: Qrels, rows: Ints) -> Ints:
    """Return the positions of some rows in the file."""
    order = qrels.order
    found: Ints = rows if order is None else order[np.minimum(rows, order.size - 1)]
    return found


def _numbered(qrels: Qrels) -> bool:
    ends = as_bytes(qrels.qids[:1]) + as_bytes(qrels.qids[-1:])
    from_0, from_1 = ([b"%d" % n, b"%d" % (n + qrels.n_queries - 1)] for n in (0, 1))
    return qrels.docnos.positional and ends in (from_0, from_1)


def findings(facts: JudgementFacts, place: str, follows: bool) -> Iterator[Finding]:
    """Yield what is wrong with judgements.

    Parameters
    ----------
    facts : JudgementFacts
    place : str
        Their file.
    follows : bool
        Whether predictions follow their rows, as in learning to rank.
    """
    found, n_queries = placing(place, facts.first), facts.queries
    queries, grades = counted(n_queries, "query", "queries"), counted(facts.rows, "grade")
    if n_queries and facts.empty == n_queries:
        what = f"none of the {queries} has a relevant document"
        yield found("no-relevant-documents", what, n_queries)
    elif facts.empty:
        what = f"no relevant document in {facts.empty:,} of {queries}"
        yield found("empty-queries", what, facts.empty, by_share(facts.empty, n_queries))
    if n := facts.beyond:
        what = f"{n:,} of {grades} above {LARGEST_GRADE}, up to {facts.highest:,.15g}"
        yield found("grades-above-30", what, n)
    if n := facts.fractional:
        what = f"{n:,} of {grades} with a fraction, from {facts.lowest:,.15g}"
        yield found("fractional-grades", f"{what} to {facts.highest:,.15g}", n)
    if n := facts.negative:
        yield found("negative-grades", f"{n:,} of {grades} below 0", n)
    if follows and (n := facts.single):
        what = f"only one document in {n:,} of {queries}"
        yield found("one-document-queries", what, n, by_share(n, n_queries))
