"""Parts of a run as they are read, and the first examples of what rules count in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ..core.align import align
from ..core.arrow import bytes_at
from ..core.policy import Policy
from ..core.ragged import Bools, Ints, lengths_of
from ..core.tables import Docnos, Qrels, Run
from ..errors import Finding, Severity
from .registry import finding

EXAMPLES = 3
"""Names that are kept of each thing."""
LOOKED_AT = 64
"""Queries at the beginning of a run that are looked at for examples."""
TOP = 10
"""Ranks that are looked at for unjudged documents: what most papers report."""


class First(NamedTuple):
    """Some queries, documents or rows, :data:`EXAMPLES` at most.

    Parameters
    ----------
    names : tuple of str
    row : int
        Position of the first one's row in its file, from 0; -1 if it has none.
    words : tuple of str
        What the line of that row holds, if files of its format name it.
    line : int
        The line of that row; 0 if it is not known.
    is_row : bool
        Whether `line` is the number of the row, from 1, as the file has no lines.
    """

    names: tuple[str, ...] = ()
    row: int = -1
    words: tuple[str, ...] = ()
    line: int = 0
    is_row: bool = False

    def at(self, place: str) -> str:
        """Return its place in the file at `place`.

        >>> First(("q1",), 0, line=3).at("a.run"), First(("q1",)).at("a.run")
        ('a.run:3', 'a.run')
        >>> First(("q1",), 2, line=3, is_row=True).at("a.npy")
        'a.npy: row 3'
        """
        if not self.line:
            return place
        return f"{place}: row {self.line}" if self.is_row else f"{place}:{self.line}"


class Firsts(dict[str, First]):
    """The first examples of each rule."""

    def add(self, rule: str, later: First) -> None:
        """Add examples, as long as the rule has too few."""
        earlier = self.get(rule)
        if earlier is not None:
            self[rule] = earlier._replace(names=(*earlier.names, *later.names)[:EXAMPLES])
        elif later.names:
            self[rule] = later

    def wants(self, rule: str) -> bool:
        """Whether a rule takes more examples."""
        return rule not in self or len(self[rule].names) < EXAMPLES


Found = Callable[..., Finding]
"""Makes a finding of ``(rule, what, count, severity, effect, fix)``."""


def placing(place: str, first: Mapping[str, First]) -> Found:
    """Return what makes findings in the file at `place`, with the examples of their rule."""

    def found(
        rule: str, what: str, count: int, severity: Severity | None = None, effect: str = "",
        fix: str = "",
    ) -> Finding:  # fmt: skip
        some = first.get(rule, First())
        return finding(rule, some.at(place), what, count, some.names, severity, effect, fix)

    return found


def texts_at(names: pa.Array, rows: Ints) -> tuple[str, ...]:
    """Return a few identifiers as text."""
    return tuple(name.decode("utf-8", "replace") for name in bytes_at(names, rows))


def docnos_at(docnos: Docnos, rows: Ints) -> tuple[str, ...]:
    """Return the docnos of a few rows as text."""
    if docnos.strings is None:
        return texts_at(docnos.take(rows), np.arange(rows.size))
    return texts_at(docnos.strings, rows)


def of_documents(
    qids: Iterable[str], docnos: Docnos, rows: Ints, notes: Iterable[str], places: Ints
) -> First:
    """Return documents with their queries and a note on each.

    Parameters
    ----------
    qids : iterable of str
        The query of each row.
    docnos : Docnos
    rows : ndarray of int64, shape (n,)
        Of these docnos.
    notes : iterable of str
    places : ndarray of int64, shape (n,)
        Of the rows in the file.
    """
    names = list(zip(qids, docnos_at(docnos, rows), strict=True))
    if not names:
        return First()
    shown = (
        f"query {qid}, document {docno}" + (f": {note}" if note else "")
        for (qid, docno), note in zip(names, notes, strict=True)
    )
    return First(tuple(shown), int(places[0]), () if docnos.positional else names[0])


def of_queries(qids: pa.Array, which: Ints, places: Ints) -> First:
    """Return some queries of a column, at the first row of the first of them."""
    if not which.size:
        return First()
    names = texts_at(qids, which[:EXAMPLES])
    return First(names, int(places[0]), names[:1])


def short(place: str) -> str:
    """Return a place for an example: its file with the last folder.

    >>> short("/data/mslr/fold1/test.txt:7")
    'fold1/test.txt:7'
    """
    return "/".join(place.rsplit("/", 2)[-2:])


class Part:
    """Whole queries of a run.

    Parameters
    ----------
    run : Run
    qrels : Qrels
        The dataset.
    follows : bool
        Whether the run's rows are those of the dataset.
    rows_before : int
        Rows of the file before this part.
    """

    def __init__(self, run: Run, qrels: Qrels, follows: bool, rows_before: int) -> None:
        self.run, self.qrels, self.follows = run, qrels, follows
        self.rows_before = rows_before

    @cached_property
    def lengths(self) -> Ints:
        """Rows of each query, ``(n_queries,)``."""
        return lengths_of(self.run.offsets)

    @cached_property
    def codes(self) -> Ints:
        """Which queries of the dataset the first ones are; -1 if they are none."""
        return self.qrels.place(self.run.qids.slice(0, LOOKED_AT))

    @property
    def n_source(self) -> int:
        """Rows that the part had in the file, dropped ones among them."""
        n = self.run.n_source
        return self.run.n_rows if n is None or self.follows else n

    def places(self, rows: Ints) -> Ints:
        """Return the positions of some rows in the file, from 0."""
        if self.follows and self.run.order is None:  # RankLib names the row of each score
            order = self.qrels.order
            return rows + self.rows_before if order is None else order[rows + self.rows_before]
        order = self.run.order
        found: Ints = (rows if order is None else order[rows]) + self.rows_before
        return found

    def query(self, rows: Ints) -> Ints:
        """Return the query of each of some rows, by its place in this part."""
        return np.searchsorted(self.run.offsets, rows, side="right") - 1

    def documents(self, rows: Ints, notes: Iterable[str] | None = None) -> First:
        """Return the documents of some rows, with a note on each."""
        rows = rows[:EXAMPLES]
        qids = texts_at(self.run.qids, self.query(rows))
        notes = [""] * rows.size if notes is None else notes
        found = of_documents(qids, self.run.docnos, rows, notes, self.places(rows))
        return found._replace(words=()) if self.follows else found

    def queries(self, which: Ints) -> First:
        """Return some queries, at the first row of the first."""
        which = which[:EXAMPLES]
        found = of_queries(self.run.qids, which, self.places(self.run.offsets[which]))
        return found._replace(words=()) if self.follows else found

    def head(self, policy: Policy) -> tuple[Ints, Ints]:
        """Return the rows at the first ten ranks of the first judged queries, and their ranks.

        None if the policy ranks judged documents alone, or by something else than scores.
        """
        if policy.judged_only or policy.score_type == "none":
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        run = self.run.part(0, min(LOOKED_AT, self.run.n_queries))
        rows = Qrels(run.qids, run.offsets, run.docnos, np.arange(run.n_rows))
        ranked = align(rows, run, replace(policy, depth=TOP))
        judged = self.codes[self.query(ranked.grade)] >= 0
        return ranked.grade[judged], ranked.rank[judged]

    def own(self, rows: Ints) -> Bools:
        """Return which of a few rows of the first queries are judged for the query they answer."""
        docnos = Docnos(self.run.docnos.take(rows), np.array([0, rows.size]))
        found = np.zeros(rows.size, dtype=bool)
        found[self.qrels.find(self.codes[self.query(rows)], docnos)[0]] = True
        return found

    def known(self, rows: Ints) -> Bools:
        """Return which of some rows are judged for any query."""
        return self.qrels.knows(self.run.docnos.hashes[rows])

    def judged(self) -> tuple[Ints, Ints]:
        """Return the rows of the first queries that are judged for them, and the judgements'."""
        n_queries = min(LOOKED_AT, self.run.n_queries)
        if self.follows:
            rows = np.arange(int(self.run.offsets[n_queries]))
            return rows, rows + self.rows_before
        some = self.run.part(0, n_queries)
        rows, known = self.qrels.find(self.codes[some.row], some.docnos)
        in_order = np.argsort(rows)
        return rows[in_order], known[in_order]
