"""Looks into files a second time: for the line of a row, or the judgements of a cell."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Container, Iterator, Sequence
from functools import partial

import numpy as np

from .. import readers as readers
from ..config.cells import Cell
from ..config.model import DatasetEntry, RunEntry
from ..core.arrow import string_column
from ..core.hashing import hash_strings, splitmix64
from ..core.ragged import Array, lengths_of
from ..core.tables import Qrels
from ..errors import HarnessError, HarnessWarning
from ..readers.build import find_lines
from ..readers.columns import numbers_of, read_columns
from ..readers.format import Kind
from ..readers.numpy_files import NoArrayError, array_of
from ..readers.predictions import RUN as SCORES
from ..readers.source import Source
from .parts import First
from .row_order import At

BY_ROW = ("scores", "npy")
"""Formats of predictions, one number for each row."""


@contextlib.contextmanager
def reading_again() -> Iterator[None]:
    """Read a file without its warnings and errors, which the first reading gave."""
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


def scores_of(path: str) -> tuple[Array, bool] | None:
    """Return the numbers of a file of scores, and whether its last line has no end.

    However many they are; None if some are no numbers.
    """
    with contextlib.suppress(NoArrayError, ValueError, OSError), reading_again():
        source = Source(path)
        if path.endswith(".npy"):
            return np.asarray(array_of(source.read()), np.float64).ravel(), False
        tables = read_columns(source, SCORES)
        found: Array = np.concatenate([numbers_of(table, "score") for table in tables])
        return found, bool(source.unfinished)
    return None


def content_of(cell: Cell) -> str | None:
    """Return a hash of a run's queries, documents and scores; None if it cannot be read again."""
    entry, total = cell.run_entry, 0
    with reading_again():
        for part in readers.stream_run(entry.path, name=cell.run, **entry.options()):
            query = np.repeat(hash_strings(part.qids), lengths_of(part.offsets))
            scores = splitmix64(part.scores.astype(np.float64).view(np.uint64))
            rows = splitmix64(part.docnos.hashes ^ splitmix64(query ^ scores))
            total += int(rows.sum(dtype=np.uint64))
        return f"{total:x}"
    return None


def run_format(cell: Cell) -> str:
    """Return the format of a cell's run; nothing if it cannot be guessed."""
    run = cell.run_entry
    with reading_again():
        return run.format or readers.guess_format(run.path, "run")
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
        Rules for which the file is read again, up to the line. Without it, lines are those in the
        file's beginning, or in all of a small file.
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


def places_of_rows(entry: DatasetEntry | RunEntry) -> At:
    """Return what gives the places of some rows of a file, which is read again for them."""
    return partial(_places_of_rows, entry)


def _places_of_rows(entry: DatasetEntry | RunEntry, rows: Sequence[int]) -> list[str]:
    first = {str(row): First(row=row) for row in rows}
    with contextlib.suppress(HarnessError, OSError):
        add_lines(first, Source(entry.path), entry, tuple(first))
    return [one.at(entry.path) if one.line else "" for one in first.values()]


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
