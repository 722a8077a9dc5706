"""Predictions that belong to other rows than their own, by counts and by correlation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..core.ragged import Array
from ..core.tables import Qrels
from ..guard.finding import Finding
from ..guard.registry import finding
from . import fits
from .fits import Fit, Rows

FEW = 6
"""Distinct whole numbers that grades are, at most."""
MANY = 20
"""Distinct fractions from which on grades are rather scores."""
ENOUGH = 200
"""Rows from which on a model's predictions show that they have to do with the grades."""
CHANCE = 3.0
"""Standard errors up to which a correlation is what chance gives."""
LARGEST = 20_000_000
"""Predictions of one file beyond which they are not held against the grades at every offset."""


def rows_of(qrels: Qrels) -> Rows | None:
    """Return the rows of a dataset in the order of its file; None where some were dropped."""
    if qrels.order is None:
        return Rows(qrels.numbers, qrels.row)
    if qrels.n_source != qrels.n_rows:
        return None
    grades, query = np.empty_like(qrels.numbers), np.empty_like(qrels.row)
    grades[qrels.order], query[qrels.order] = qrels.numbers, qrels.row
    return Rows(grades, query)


def of_count(
    place: str, name: str, rows: Rows | None, scores: Array, others: Mapping[str, Rows]
) -> Finding:
    """Return the finding for more or fewer predictions than rows: where they would fit.

    Parameters
    ----------
    place : str
        The file of predictions.
    name : str
        The dataset's.
    rows : Rows, optional
        Its own.
    scores : ndarray, shape (m,)
    others : mapping of str to Rows
        The other datasets of the sweep.
    """
    n_rows = 0 if rows is None else rows.grades.size
    what = f"{scores.size:,} predictions for {n_rows:,} rows of {name}"
    same = [other for other, held in others.items() if held.grades.size == scores.size]
    if same:
        ranked = fits.ranks(scores)
        best = max(same, key=lambda other: fits.fit(others[other], ranked).z)
        found = fits.fit(others[best], ranked)
        also = f", and correlate with its grades ({found.r:.2f})" if found.z > fits.CLEAR else ""
        what += f"; they are as many as the rows of {_some([best, *same])}{also}"
        return finding("row-count", place, what, fix=f"name the predictions of {name}")
    if rows is not None and scores.size and scores.size <= LARGEST:
        at_0, best_fit = fits.best(rows, scores)
        if best_fit.z > fits.CLEAR:
            return finding("row-count", place, f"{what}; {_where(rows, scores, best_fit, at_0)}")
    return finding("row-count", place, what)


def _some(names: list[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _where(rows: Rows, scores: Array, best: Fit, at_0: Fit) -> str:
    """Return in words where scores fit that are too many or too few."""
    more = scores.size - rows.grades.size
    as_they_are = f"correlation with the grades {best.r:.2f}"
    if best.offset:
        as_they_are += f", against {at_0.r:.2f} as they stand"
    if more > 0:
        head, tail = best.offset, more - best.offset
        left_out = [f"the first {_n(head)}"] * (head > 0) + [f"the last {_n(tail)}"] * (tail > 0)
        return f"they fit without {' and '.join(left_out)} ({as_they_are})"
    head, tail = -best.offset, -more + best.offset
    lacking = [f"the first {_n(head)}"] * (head > 0) + [f"the last {_n(tail)}"] * (tail > 0)
    return f"they fit if {' and '.join(lacking)} of the dataset had none ({as_they_are})"


def _n(lines: int) -> str:
    return "line" if lines == 1 else f"{lines} lines"


def of_fit(place: str, name: str, rows: Rows, scores: Array) -> tuple[Fit, list[Finding]]:
    """Return how predictions fit their rows, and a finding where they fit better at an offset."""
    at_0, best = fits.best(rows, scores)
    if not best.offset or not fits.is_clear(best, at_0):
        return at_0, []
    slip = f"line {best.offset + 1} belongs to row 1"
    if best.offset < 0:
        slip = f"line 1 belongs to row {1 - best.offset}"
    what = (
        f"the predictions fit the rows of {name} better if {slip}: correlation with the grades "
        f"within queries {best.r:.2f}, against {at_0.r:.2f} as they stand"
    )
    return at_0, [finding("shifted", place, what, scores.size)]


def of_order(place: str, name: str, own: Fit) -> Iterator[Finding]:
    """Yield that predictions have nothing to do with the grades, or the contrary."""
    what = f"predictions and grades of {name} have a correlation of {own.r:.2f} within queries"
    if own.z < -fits.CLEAR:
        yield finding("upside-down", place, what, own.n)
    elif own.n >= ENOUGH and own.z < CHANCE:
        yield finding("unrelated", place, what, own.n)


def of_others(
    place: str, name: str, own: Fit, scores: Array, others: Mapping[str, Rows]
) -> Iterator[Finding]:
    """Yield the dataset of as many rows whose grades predictions fit in place of their own."""
    ranked = fits.ranks(scores)
    found = {other: fits.fit(rows, ranked) for other, rows in others.items()}
    if found:
        other = max(found, key=lambda one: found[one].z)
        if fits.is_clear(found[other], own):
            what = (
                f"the predictions fit the rows of {other} (correlation with the grades within "
                f"queries {found[other].r:.2f}) and not those of {name} ({own.r:.2f}), as many"
            )
            yield finding("swapped-fold", place, what, scores.size)


def are_grades(qrels: Qrels, scores: Array) -> bool:
    """Whether grades look like scores, and scores like grades."""
    grades = qrels.numbers
    if grades.dtype.kind != "f" or (scores != np.trunc(scores)).any():
        return False
    return np.unique(scores).size <= FEW and np.unique(grades).size >= MANY


def swapped(place: str, name: str, qrels: Qrels, scores: Array) -> Finding:
    """Return the finding for grades and scores that have changed places."""
    distinct = np.unique(scores)
    listed = ", ".join(f"{one:g}" for one in distinct)
    what = (
        f"the predictions are whole numbers ({listed}), and the grades of {name} are "
        f"{np.unique(qrels.numbers).size:,} different fractions: the columns have changed places"
    )
    return finding("swapped-columns", place, what, scores.size)
