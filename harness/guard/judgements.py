"""What judgements say by themselves: their grades, and queries without relevant documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..core.arrow import as_bytes
from ..core.ragged import Bools, Ints
from ..core.tables import Qrels
from ..errors import Finding
from .parts import EXAMPLES, First, Firsts, of_documents, of_queries, placing, texts_at
from .registry import by_share, plural

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
        Rows whose grade is not a whole number.
    negative : int
        Rows with a grade below 0, which means not judged.
    empty, single : int
        Queries without a grade above 0; with one row alone.
    numbered : bool
        Whether queries are called 0, 1, 2, ... or 1, 2, ... and documents have no names, as in
        files with group sizes: queries of two such files have the same names by chance.
    documents : int
        Different documents that are judged, for any query; 0 if they have no names.
    marks : str
        Of rows of a learning-to-rank file: :func:`harness.readers.letor.kept`.
    unused : tuple of str
        Columns of a table that were not read.
    first : dict of str to First
        By rule, the first of what is counted here.
    """

    queries: int = 0
    rows: int = 0
    lowest: float = 0.0
    highest: float = 0.0
    unusual: int = 0
    beyond: int = 0
    fractional: int = 0
    negative: int = 0
    empty: int = 0
    single: int = 0
    numbered: bool = False
    documents: int = 0
    marks: str = ""
    unused: tuple[str, ...] = ()
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
            starts = _places(qrels, offsets[some[:EXAMPLES]])
            first.add(rule, of_queries(qrels.qids, some, starts))
            return some.size

        before = np.append(0, np.cumsum(grades > 0))[offsets]
        empty, single = before[1:] == before[:-1], offsets[1:] - offsets[:-1] == 1
        fractional = grades != np.trunc(grades) if grades.dtype.kind == "f" else grades[:0] > 0
        return cls(
            queries=qrels.n_queries,
            rows=qrels.n_rows,
            lowest=float(grades.min()),
            highest=float(grades.max()),
            unusual=rows("grades-above-4", grades > USUAL_GRADE),
            beyond=rows("grades-above-30", grades > LARGEST_GRADE),
            fractional=rows("fractional-grades", fractional),
            negative=rows("negative-grades", grades < 0),
            empty=queries("no-relevant-documents" if empty.all() else "empty-queries", empty),
            single=queries("one-document-queries", single),
            numbered=_numbered(qrels),
            documents=0 if qrels.docnos.positional else qrels.n_documents,
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


def of_dataset(facts: JudgementFacts, place: str) -> Iterator[Finding]:
    """Yield what the judgements say by themselves; `place` is their file."""
    found, queries, rows = placing(place, facts.first), facts.queries, facts.rows
    if queries and facts.empty == queries:
        what = f"none of the {plural(queries, 'query')} has a relevant document"
        yield found("no-relevant-documents", what, queries)
    elif facts.empty:
        what = f"no relevant document in {facts.empty:,} of {plural(queries, 'query')}"
        yield found("empty-queries", what, facts.empty, by_share(facts.empty, queries))
    if n := facts.beyond or facts.unusual:
        limit = LARGEST_GRADE if facts.beyond else USUAL_GRADE
        are = "is" if n == 1 else "are"
        what = f"{n:,} of {plural(rows, 'grade')} {are} above {limit}, up to {facts.highest:,.15g}"
        yield found(f"grades-above-{limit}", what, n)
    if facts.fractional:
        verb = "is no whole number" if facts.fractional == 1 else "are no whole numbers"
        grades = f"{facts.fractional:,} of {plural(rows, 'grade')}"
        what = f"{grades}, which are from {facts.lowest:,.15g} to {facts.highest:,.15g}, {verb}"
        yield found("fractional-grades", what, facts.fractional)
    if facts.negative:
        are = "is" if facts.negative == 1 else "are"
        what = f"{facts.negative:,} of {plural(rows, 'grade')} {are} below 0"
        yield found("negative-grades", what, facts.negative)


def of_rows(facts: JudgementFacts, place: str) -> Iterator[Finding]:
    """Yield what is odd of queries in a learning-to-rank file; `place` is the file."""
    if facts.single:
        what = f"one document alone in {facts.single:,} of {plural(facts.queries, 'query')}"
        severity = by_share(facts.single, facts.queries)
        yield placing(place, facts.first)("one-document-queries", what, facts.single, severity)
