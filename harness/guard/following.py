"""Predictions for rows, kept while they are read and then held against the grades."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.ragged import Array, Ints
from ..core.tables import Qrels
from .first import EXAMPLES, First, texts_at
from .fits import CLEAR, Rows, by_query, ranks, starts_of
from .slips import Slip, look

HELD = 1 << 20
"""Predictions of a file that are kept; of a longer one the first, which a slip moves too."""
FEW = 6
"""Distinct whole numbers that grades are, at most."""
MANY = 20
"""Distinct fractions from which on grades are rather scores."""


class Following:
    """The scores of a run that follows the rows of a dataset."""

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        self.parts: list[Array] = []
        self.n = self.n_held = 0
        self.found: dict[str, First] = {}

    def add(self, scores: Array) -> None:
        """Keep the scores of the next rows."""
        self.n += scores.size
        if self.n_held < HELD:
            self.parts.append(scores)
            self.n_held += scores.size

    def facts(self) -> dict[str, Any]:
        """Return how they fit, as in :class:`~harness.guard.facts.RunFacts`."""
        rows = rows_of(self.qrels)
        if rows is None or not self.n or self.n != rows.grades.size:
            return {}
        scores = np.concatenate(self.parts)
        if self.n_held == self.n and are_grades(self.qrels, scores):
            different = np.unique(self.qrels.numbers).size
            whole = tuple(np.unique(scores).tolist())
            return {"whole_scores": whole, "different_grades": different}
        if self.qrels.order is not None:  # back to the order of the file
            if self.n_held < self.n:
                return {}
            in_file = np.empty_like(scores)
            in_file[self.qrels.order] = scores
            scores = in_file
        elif self.n_held < self.n:
            rows = Rows(rows.grades[: self.n_held], rows.query[: self.n_held])
        own, slip = look(rows, scores)
        found: dict[str, Any] = {"own_fit": tuple(own)}
        if slip is not None:
            if self.n_held < self.n and slip.end.high == rows.grades.size:
                slip = slip._replace(end=slip.end._replace(high=self.n))
            self._slipped(rows, slip)
            return found | {"slip": slip.plain()}
        if own.z <= CLEAR:
            found |= self._by_query(rows, scores, upside_down=own.z < -CLEAR)
        return found

    def _slipped(self, rows: Rows, slip: Slip) -> None:
        """Keep the first rows that have slipped for certain, at the predictions that are theirs."""
        some = np.array(slip.certain[:EXAMPLES])
        qids = texts_at(self.qrels.qids, rows.query[some])
        row = some + slip.there.offset
        names = (
            f"prediction {of:,} -> row {at:,} (query {qid}, grade {grade:.15g})"
            for of, at, qid, grade in zip(
                (row + 1).tolist(), (some + 1).tolist(), qids, rows.grades[some].tolist(),
                strict=True,
            )
        )  # fmt: skip
        self.found["shifted"] = First(tuple(names), int(row[0]))

    def _by_query(self, rows: Rows, scores: Array, upside_down: bool) -> dict[str, int]:
        """Count the queries in which scores fall as the grades rise, and keep the first.

        Where scores fall on the whole, these are the first of those; else the first of all.
        """
        query, r = by_query(rows, ranks(scores))
        n_falling = int((r < 0).sum())
        if not query.size:
            return {}
        rule = "upside-down" if upside_down else "unrelated"
        wanted = np.flatnonzero((r < 0) | (not upside_down))
        self.found[rule] = first_queries(self.qrels, rows, query[wanted], r[wanted])
        return {"compared": query.size, "falling": n_falling}

    def first(self) -> dict[str, First]:
        """Return the first of each thing, by rule, once the facts were asked for."""
        return self.found


def first_queries(qrels: Qrels, rows: Rows, query: Ints, r: Array) -> First:
    """Return the first of some queries in the file, each with its correlation."""
    starts = starts_of(rows)[query]
    some = np.argsort(starts, kind="stable")[:EXAMPLES]
    names = texts_at(qrels.qids, query[some])
    said = (f"{qid} ({one:.2f})" for qid, one in zip(names, r[some].tolist(), strict=True))
    return First(tuple(said), int(starts[some[0]]))


def rows_of(qrels: Qrels) -> Rows | None:
    """Return the rows of a dataset in the order of its file; None where some were dropped."""
    if qrels.order is None:
        return Rows(qrels.numbers, qrels.row, qrels.qids)
    if qrels.n_source != qrels.n_rows:
        return None
    grades, query = np.empty_like(qrels.numbers), np.empty_like(qrels.row)
    grades[qrels.order], query[qrels.order] = qrels.numbers, qrels.row
    return Rows(grades, query, qrels.qids)


def are_grades(qrels: Qrels, scores: Array) -> bool:
    """Whether grades look like scores, and scores like grades."""
    grades = qrels.numbers
    if grades.dtype.kind != "f" or (scores != np.trunc(scores)).any():
        return False
    return np.unique(scores).size <= FEW and np.unique(grades).size >= MANY
