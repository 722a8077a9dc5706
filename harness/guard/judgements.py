"""Rules about qrels alone: their grades, and queries without relevant documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..core.arrow import as_bytes
from ..core.hashing import splitmix64
from ..core.ragged import Array, Bools, Ints
from ..core.tables import Qrels
from ..errors import Finding
from ..reports.phrases import counted
from .examples import Examples, ExamplesByRule, findings_at, of_documents, of_queries, texts_at
from .registry import SHOWN, by_share

LARGEST_GRADE = 30
"""The largest for which LightGBM has a gain."""
_N_MARKS = 128
"""Hashes that are stored of a dataset: if one row in forty is shared, 96 in 100 times one of them
is of such a row."""


@dataclass(frozen=True)
class JudgementFacts:
    """What the rules look at of the qrels of one dataset."""

    queries: int = 0
    rows: int = 0
    lowest: float = 0.0
    highest: float = 0.0
    beyond: int = 0
    """Rows with a grade above :data:`LARGEST_GRADE`."""
    fractional: int = 0
    negative: int = 0
    empty: int = 0
    """Queries without a grade above 0."""
    numbered: bool = False
    """Whether queries are called 0, 1, 2, ... or 1, 2, ... and documents have no names, as in
    files with group sizes: queries of two such files have the same names by chance."""
    marks: str = ""
    """A few of the :func:`query_hashes`, in hexadecimal."""
    unused: tuple[str, ...] = ()
    """Columns of a table that were not read."""
    columns: dict[str, str] = field(default_factory=dict)
    """Columns that were read, by what they hold."""
    first: dict[str, Examples] = field(default_factory=dict)
    """The first examples of each rule."""

    @classmethod
    def of(cls, qrels: Qrels, marks: Array | None = None) -> JudgementFacts:
        """Return the facts of qrels; `marks` are those of a learning-to-rank file's rows.

        >>> JudgementFacts.of(Qrels.from_dict({"q1": {"a": 2, "b": 0}, "q2": {"c": 0}})).empty
        1
        """
        grades, offsets = qrels.numbers, qrels.offsets
        if not grades.size:
            return cls(queries=qrels.n_queries)
        first = ExamplesByRule()

        def rows(rule: str, which: Bools) -> int:
            some = np.flatnonzero(which)[:SHOWN]
            qids = texts_at(qrels.qids, qrels.row[some])
            notes = (f"{grade:.15g}" for grade in grades[some].tolist())
            first.add(rule, of_documents(qids, qrels.docnos, some, notes, _places(qrels, some)))
            return int(which.sum())

        n_relevant = np.append(0, np.cumsum(grades > 0))[offsets]
        empty = np.flatnonzero(n_relevant[1:] == n_relevant[:-1])
        rule = "no-relevant-documents" if empty.size == qrels.n_queries else "empty-queries"
        first.add(rule, of_queries(qrels.qids, empty, _places(qrels, offsets[empty[:SHOWN]])))
        return cls(
            queries=qrels.n_queries,
            rows=qrels.n_rows,
            lowest=float(grades.min()),
            highest=float(grades.max()),
            beyond=rows("grades-above-30", grades > LARGEST_GRADE),
            fractional=rows("fractional-grades", grades != np.trunc(grades)),
            negative=rows("negative-grades", grades < 0),
            empty=empty.size,
            numbered=_numbered(qrels),
            marks=_marks_of(query_hashes(qrels, marks)),
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


def _marks_of(hashes: Array) -> str:
    """Return the smallest hashes of queries as text, shared as far as two files share queries.

    Rows that a file holds twice are left out: several files hold such ones by chance.
    """
    some = hashes
    if hashes.size > 4 * _N_MARKS:  # some may be of equal rows
        some = np.partition(hashes, 4 * _N_MARKS)[: 4 * _N_MARKS]
    found, times = np.unique(some, return_counts=True)
    smallest: bytes = found[times == 1][:_N_MARKS].astype("<u8").tobytes()
    return smallest.hex()


def marks_from_text(text: str) -> Array:
    """Return the marks of :attr:`JudgementFacts.marks`."""
    return np.frombuffer(bytes.fromhex(text), "<u8")


def query_hashes(qrels: Qrels, marks: Array | None) -> Array:
    """Return a hash of the rows of each query, by the marks of a learning-to-rank file's rows.

    It is 0 for queries without a row of their own, as coarse features agree by chance.
    """
    if marks is None or marks.size != qrels.n_rows:
        return np.zeros(0, np.uint64)
    marks, query = marks if qrels.order is None else marks[qrels.order], qrels.row
    order = np.argsort(marks, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(marks[order]) != 0))
    lowest, highest = (ends.reduceat(query[order], starts) for ends in (np.minimum, np.maximum))
    own = np.bincount(lowest[lowest == highest], minlength=qrels.n_queries) > 0
    several = np.zeros(own.size, dtype=bool)
    several[query[1:][(query[1:] == query[:-1]) & (marks[1:] != marks[:-1])]] = True
    hashes = np.zeros(qrels.n_queries, np.uint64)
    np.add.at(hashes, query, splitmix64(marks))
    return np.where(own & several, hashes, np.uint64(0))


def findings(facts: JudgementFacts, place: str) -> Iterator[Finding]:
    """Yield what is wrong with the qrels in the file at `place`."""
    make, n_queries = findings_at(place, facts.first), facts.queries
    queries, grades = counted(n_queries, "query", "queries"), counted(facts.rows, "grade")
    if n_queries and facts.empty == n_queries:
        what = f"none of the {queries} has a relevant document"
        yield make("no-relevant-documents", what, n_queries)
    elif facts.empty:
        what = f"no relevant document in {facts.empty:,} of {queries}"
        yield make("empty-queries", what, facts.empty, by_share(facts.empty, n_queries))
    if n := facts.beyond:
        what = f"{n:,} of {grades} above {LARGEST_GRADE}, up to {facts.highest:,.15g}"
        yield make("grades-above-30", what, n)
    if n := facts.fractional:
        what = f"{n:,} of {grades} with a fraction, from {facts.lowest:,.15g}"
        yield make("fractional-grades", f"{what} to {facts.highest:,.15g}", n)
    if n := facts.negative:
        yield make("negative-grades", f"{n:,} of {grades} below 0", n)
