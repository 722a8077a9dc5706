"""Usual ways in which predictions leave the order of a dataset's rows: sorted, grouped, reversed.

Data frames and loaders reorder queries (as text, by size) and keep the rows of each together, so
an order is the first prediction of each query and the step from one to the next.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..core.ragged import Array, Ints, offsets_of, positions_of, rows_of
from .parts import EXAMPLES, texts_at
from .row_fit import CLEAR, Fit, Grades, Rows, is_clear, ranks

MOST = 1 << 12
"""Rows, about, of the queries that an order moves, in which scores are compared."""
NEARLY_ALL = 0.9
"""Share of rows that an order moves, beyond which scores that fit on the whole do not fit it."""
FIRST = 1 << 12
"""Rows that are looked at before all, as nearly every file rises and falls there."""
NO_CHANCE = math.log(1e9)
"""How unlikely it must be that scores in any other order fall, or rise, in every query."""


class Misplaced(NamedTuple):
    """The order that predictions fit instead of the dataset's.

    Parameters
    ----------
    name : str
        What was done to the rows.
    own, there : Fit
        Of the rows that it moves, in the dataset's order and in this one.
    moved : int
        How many rows it moves.
    rows, at : tuple of int
        The first of these, and where their predictions are.
    by_score : bool
        Whether the scores fall or rise in every query in this order, which is why they fit.
    """

    name: str
    own: Fit
    there: Fit
    moved: int
    rows: tuple[int, ...]
    at: tuple[int, ...]
    by_score: bool = False


class Sorted(NamedTuple):
    """Scores that fall, or rise, from row to row in every query that has different ones."""

    falls: bool
    queries: int


def sorted_by_score(query: Ints, scores: Array) -> Sorted | None:
    """Return whether scores fall, or rise, within every query; None if that may be chance.

    >>> sorted_by_score(np.arange(30) // 10, -np.arange(30.0))
    Sorted(falls=True, queries=3)
    >>> sorted_by_score(np.arange(30), -np.arange(30.0))  # queries of one row
    """
    for n in (FIRST, scores.size):
        some = query[:n]
        steps = np.where(some[1:] == some[:-1], np.diff(scores[:n]), 0)
        falls, rises = (steps < 0).any(), (steps > 0).any()
        if falls == rises:  # both, or neither
            return None
    distinct = np.bincount(query[1:][steps != 0])
    chance = np.append(0.0, np.cumsum(np.log(np.arange(1, int(distinct.max()) + 2))))
    if chance[distinct + 1].sum() < NO_CHANCE:
        return None
    return Sorted(bool(falls), int((distinct > 0).sum()))


def orders(rows: Rows, sizes: Ints, is_gathered: bool) -> Iterator[tuple[str, Ints, int]]:
    """Yield usual orders: a name, where the predictions of each query begin, and the step."""
    n = sizes.size
    by: dict[str, Ints] = {}
    if rows.qids is not None:
        qids = texts_at(rows.qids, np.arange(n))
        by["rows sorted by qid as text"] = np.array(sorted(range(n), key=qids.__getitem__))
        numbers = [float(qid) for qid in qids if qid.strip("-").isdecimal()]
        if len(numbers) == n:
            by["rows sorted by qid as numbers"] = np.argsort(numbers, kind="stable")
    by["rows sorted by group size"] = np.argsort(sizes, kind="stable")
    by["rows sorted by group size, largest first"] = np.argsort(-sizes, kind="stable")
    by["queries in reverse order"] = np.arange(n)[::-1]
    if not is_gathered:
        by["rows gathered by qid"] = np.arange(n)
    for name, queries in by.items():
        begin = np.empty(n, np.int64)
        begin[queries] = offsets_of(sizes[queries])[:-1]
        yield name, begin, 1
    yield "rows in reverse order", int(sizes.sum()) - 1 - offsets_of(sizes)[:-1], -1


def look_elsewhere(rows: Rows, scores: Array, *, fits: bool = False) -> Misplaced | None:
    """Return the usual order that scores fit clearly better than the dataset's; None if no one is.

    Parameters
    ----------
    rows : Rows
        All of the dataset.
    scores : ndarray, shape (m,)
        Of the first m rows in the order of their file.
    fits : bool
        Whether they fit on the whole: then only orders that leave some rows in place are tried.
    """
    sizes = np.bincount(rows.query)
    starts = offsets_of(sizes)[:-1]
    is_gathered = bool((rows.query[1:] >= rows.query[:-1]).all())
    in_file = None if is_gathered else np.argsort(rows.query, kind="stable")
    best: Misplaced | None = None
    for name, begin, step in orders(rows, sizes, is_gathered):
        moved = np.flatnonzero((begin != starts) | (step < 0) | (not is_gathered))
        n_moved = int(sizes[moved].sum())
        if fits and n_moved > NEARLY_ALL * rows.query.size:
            continue
        some = moved[:: max(1, n_moved // MOST)]
        offsets = offsets_of(sizes[some])
        query, place = rows_of(offsets), positions_of(offsets)
        row, at = starts[some][query] + place, begin[some][query] + step * place
        row = row if in_file is None else in_file[row]
        known = (row < scores.size) & (at < scores.size)
        row, at, query = row[known], at[known], query[known]
        if not row.size:
            continue
        graded = Grades(Rows(rows.grades[row], query))
        own, there = graded.fit(ranks(scores[row])), graded.fit(ranks(scores[at]))
        by_score = own.z <= CLEAR and sorted_by_score(query, scores[at]) is not None
        differ = np.flatnonzero(row != at)[:EXAMPLES]
        found = Misplaced(
            name, own, there, n_moved, tuple(row[differ].tolist()),
            tuple(at[differ].tolist()), by_score,
        )  # fmt: skip
        if by_score:
            return found
        if is_clear(there, own) and (best is None or there.z > best.there.z):
            best = found
    return best
