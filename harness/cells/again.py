"""Datasets that are read again, where something was found."""

from __future__ import annotations

import contextlib
import warnings

from .. import readers
from ..config.cells import Cell
from ..core.tables import Qrels
from ..errors import HarnessError, HarnessWarning
from ..guard import following
from ..guard.fits import Rows
from ..readers.format import Kind

BY_ROW = ("scores", "npy")
"""Formats of predictions, one number for each row."""


def rows_of(cell: Cell) -> Rows | None:
    """Return the rows of a cell's dataset, read again; None where they cannot be."""
    qrels = qrels_of(cell)
    return None if qrels is None else following.rows_of(qrels)


def qrels_of(cell: Cell) -> Qrels | None:
    """Return the judgements of a cell's dataset, read again; None where they cannot be."""
    entry = cell.dataset_entry
    with contextlib.suppress(HarnessError), warnings.catch_warnings():
        warnings.simplefilter("ignore", HarnessWarning)
        options = entry.options()
        return readers.read_qrels(entry.path, name=cell.dataset, fractions=True, **options)
    return None


def format_of(path: str, named: str | None, kind: Kind) -> str:
    """Return the format of a file; nothing where it cannot be told, which its reader says."""
    with contextlib.suppress(HarnessError), warnings.catch_warnings():
        warnings.simplefilter("ignore", HarnessWarning)
        return named or readers.guess_format(path, kind)
    return ""
