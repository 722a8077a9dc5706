"""Predictions for rows, kept while they are read and then held against the grades."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.ragged import Array
from ..core.tables import Qrels
from .first import EXAMPLES, First, texts_at
from .fits import CLEAR, Fit, Rows, falling, has_slipped, is_even, slipped_at, soon

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
        self.n = self.n_held = self.n_falling = 0
        self.first_falling = First()

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
        own, best = soon(rows, scores)
        if own.z < -CLEAR:
            self._falls(rows, scores)
        found = {"own_fit": tuple(own), "best_fit": tuple(best), "falling": self.n_falling}
        return found | _parts(rows, scores, own, best)

    def _falls(self, rows: Rows, scores: Array) -> None:
        """Count the queries in which scores fall as the grades rise, and keep the first."""
        query, r = falling(rows, scores)
        self.n_falling = query.size
        starts = np.full(self.qrels.n_queries, rows.query.size)
        np.minimum.at(starts, rows.query, np.arange(rows.query.size))
        some = np.argsort(starts[query], kind="stable")[:EXAMPLES]
        names = texts_at(self.qrels.qids, query[some])
        said = (f"{qid} ({one:.2f})" for qid, one in zip(names, r[some].tolist(), strict=True))
        self.first_falling = First(tuple(said), int(starts[query[some[0]]]))

    def first(self) -> dict[str, First]:
        """Return the first of each thing, by rule, once the facts were asked for."""
        return {"upside-down": self.first_falling}


def _parts(rows: Rows, scores: Array, own: Fit, best: Fit) -> dict[str, Any]:
    """Return in which part of their rows scores have slipped, where it is not all of them."""
    if not best.offset or best.z <= CLEAR:
        return {}
    found = slipped_at(rows, scores, best.offset)
    if found is None:
        return {"uneven": has_slipped(own, best) and not is_even(rows, scores, best)}
    return {"broken": (found.row, *found.before, *found.after)}


def rows_of(qrels: Qrels) -> Rows | None:
    """Return the rows of a dataset in the order of its file; None where some were dropped."""
    if qrels.order is None:
        return Rows(qrels.numbers, qrels.row)
    if qrels.n_source != qrels.n_rows:
        return None
    grades, query = np.empty_like(qrels.numbers), np.empty_like(qrels.row)
    grades[qrels.order], query[qrels.order] = qrels.numbers, qrels.row
    return Rows(grades, query)


def are_grades(qrels: Qrels, scores: Array) -> bool:
    """Whether grades look like scores, and scores like grades."""
    grades = qrels.numbers
    if grades.dtype.kind != "f" or (scores != np.trunc(scores)).any():
        return False
    return np.unique(scores).size <= FEW and np.unique(grades).size >= MANY
