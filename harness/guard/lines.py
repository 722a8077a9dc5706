"""Looks into files again: for the line of a row, the judgements of a cell, a file's format."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Container, Iterator, Sequence

import numpy as np

from .. import readers as readers
from ..config.cells import Cell
from ..config.model import DatasetEntry, RunEntry
from ..core.arrow import string_column
from ..core.tables import Qrels
from ..errors import HarnessError, HarnessWarning
from ..readers.build import find_lines
from ..readers.format import Kind
from ..readers.source import Source
from . import row_order as following
from .parts import First
from .row_order import Rows

BY_ROW = ("scores", "npy")
"""Formats of predictions, one number for each row."""


@contextlib.contextmanager
def reading_again() -> Iterator[None]:
    """Read a file without its warnings, which were given before, and without its errors."""
    with contextlib.suppress(HarnessError), warnings.catch_warnings():
        warnings.simplefilter("ignore", HarnessWarning)
        yield


def qrels_of(cell: Cell) -> Qrels | None:
    """Return the judgements of a cell's dataset, read again; None if they cannot be."""
    entry = cell.dataset_entry
    with reading_again():
        options = entry.options()
        return readers.read_qrels(entry.path, name=cell.dataset, fractions=True, **options)
    return None


def rows_of(cell: Cell) -> Rows | None:
    """Return the rows of a cell's dataset, read again; None if they cannot be."""
    qrels = qrels_of(cell)
    return None if qrels is None else following.rows_of(qrels)


def format_of(path: str, named: str | None, kind: Kind) -> str:
    """Return the format of a file; nothing if it cannot be told, which its reader reports."""
    with reading_again():
        return named or readers.guess_format(path, kind)
    return ""


def add_lines(
    first: dict[str, First],
    source: Source,
    entry: DatasetEntry | RunEntry,
    among: Container[str] | None = None,
) -> None:
    """Add the line of each row, if it is known; its number, if rows are not lines.

    Parameters
    ----------
    first : dict of str to First
        Of facts, by rule; changed in place.
    source : Source
        Their file, after it was read.
    entry : DatasetEntry or RunEntry
        How it was read.
    among : collection of str, optional
        Rules for which the file is read again, up to the line. Without it, lines are those in
        the file's beginning, which is at hand, or in all of a small file.
    """
    rows = {
        rule: one
        for rule, one in first.items()
        if one.row >= 0 and (among is None or rule in among)
    }
    if not rows:
        return
    kind: Kind = "qrels" if isinstance(entry, DatasetEntry) else "run"
    with contextlib.suppress(HarnessError):
        form = readers.FORMATS[entry.format or readers.guess_format(source, kind)]
        is_data = form.is_data(source) if form.is_data is not None else None
        if is_data is not None:
            wanted = {one.row: one.words for one in rows.values()}
            found = find_lines(source, wanted, is_data, whole=among is not None)
            for rule, one in rows.items():
                first[rule] = one._replace(line=found.get(one.row, 0))
        elif form.has_rows:
            for rule, one in rows.items():
                first[rule] = one._replace(line=one.row + 1, is_row=True)


def places_of_queries(cell: Cell, qids: Sequence[str]) -> dict[str, str]:
    """Return the place of the first row of each query in a cell's dataset, which is read again."""
    qrels, path = qrels_of(cell), cell.dataset_entry.path
    if qrels is None:
        return {}
    at = qrels.place(string_column(qids))
    names = [qids[one] for one in np.flatnonzero(at >= 0).tolist()]
    rows = qrels.offsets[at[at >= 0]]
    rows = rows if qrels.order is None else qrels.order[rows]
    first = {
        name: First((name,), row, (name,)) for name, row in zip(names, rows.tolist(), strict=True)
    }
    add_lines(first, Source(path), cell.dataset_entry, tuple(first))
    return {qid: one.at(path) for qid, one in first.items()}
