"""A part of a run that is read, and its rows, queries and documents as examples."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from ..core.ragged import Bools, Ints, lengths_of, offsets_of, positions_of, rows_of
from ..core.rules import SHOWN
from ..core.tables import Docnos, Qrels, Run, rows_in_file
from .example_lines import Examples, of_documents, of_queries, texts_at

LOOKED_AT = 64
"""Queries at the beginning of a run that examples are taken from."""


class RunPart:
    """Whole queries of a run; `rows_before` are the rows of the file before them."""

    def __init__(self, run: Run, qrels: Qrels, follows: bool, rows_before: int) -> None:
        self.run, self.qrels, self.follows = run, qrels, follows
        self.rows_before = rows_before

    @cached_property
    def lengths(self) -> Ints:
        """Rows of each query, ``(n_queries,)``."""
        return lengths_of(self.run.offsets)

    @cached_property
    def codes(self) -> Ints:
        """Which queries of the dataset the first ones are; -1 for other queries."""
        return self.qrels.place(self.run.qids.slice(0, LOOKED_AT))

    @property
    def n_source(self) -> int:
        """Rows that the part had in the file, dropped ones among them."""
        n = self.run.n_source
        return self.run.n_rows if n is None or self.follows else n

    def places(self, rows: Ints) -> Ints:
        """Return the positions of some rows in the file, from 0."""
        if self.follows and self.run.order is None:  # RankLib names the row of each score
            return rows_in_file(self.qrels, rows + self.rows_before)
        return rows_in_file(self.run, rows) + self.rows_before

    def query(self, rows: Ints) -> Ints:
        """Return the query of each of some rows, by its position in this part."""
        return np.searchsorted(self.run.offsets, rows, side="right") - 1

    def documents(self, rows: Ints, notes: Iterable[str] | None = None) -> Examples:
        """Return the documents of some rows, with a note on each."""
        rows = rows[:SHOWN]
        qids = texts_at(self.run.qids, self.query(rows))
        notes = [""] * rows.size if notes is None else notes
        found = of_documents(qids, self.run.docnos, rows, notes, self.places(rows))
        return found._replace(words=()) if self.follows else found

    def queries(self, which: Ints) -> Examples:
        """Return some queries, at the first row of the first."""
        which = which[:SHOWN]
        found = of_queries(self.run.qids, which, self.places(self.run.offsets[which]))
        return found._replace(words=()) if self.follows else found

    def head(self, depth: int) -> Ints:
        """Return the first rows of each of the first judged queries."""
        judged = np.flatnonzero(self.codes >= 0)
        offsets = offsets_of(np.minimum(self.lengths[judged], depth))
        found: Ints = self.run.offsets[judged][rows_of(offsets)] + positions_of(offsets)
        return found

    def own(self, rows: Ints) -> Bools:
        """Return which of a few rows of the first queries are judged for the query they answer."""
        docnos = Docnos(self.run.docnos.take(rows), np.array([0, rows.size]))
        found = np.zeros(rows.size, dtype=bool)
        found[self.qrels.find(self.codes[self.query(rows)], docnos)[0]] = True
        return found

    def known(self, rows: Ints) -> Bools:
        """Return which of some rows are judged for any query."""
        return self.qrels.knows(self.run.docnos.hashes[rows])
