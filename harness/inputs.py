"""What a caller may hand over where qrels or a run is wanted: paths, dicts, arrays, frames."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from . import readers
from .convert import from_batch
from .core.table import DuplicateRows, T
from .core.tables import Qrels, Run
from .errors import InputError, Problem

FIX = (
    "give a path, {qid: {docno: number}}, a table or data frame with columns qid, docno and "
    "grade or score, a tuple of columns, or padded arrays (B, L)"
)


def as_pair(
    qrels: Any, run: Any, *, n: Any = None, qids: Any = None
) -> tuple[Qrels, Run | str | os.PathLike[str]]:
    """Return tables for a pair of anything that is accepted; a run's path is left to the reader.

    Parameters
    ----------
    qrels, run : path, mapping, Arrow table, data frame, tuple of columns, arrays, or the tables
        Paths may name any format that :mod:`harness.readers` knows. A tuple holds the columns
        (qids, docnos, numbers). Two arrays of shape (B, L) are a padded batch; a
        learning-to-rank file goes with a path to, or an array of, one score a row.
    n, qids : array_like, optional
        For a padded batch: the documents and the name of each query.

    Raises
    ------
    InputError
        Where one of them is nothing that can be read.
    """
    if _is_array(qrels) and _is_array(run):
        if n is None:
            n = np.full(np.shape(qrels)[0], np.shape(qrels)[1] if np.ndim(qrels) > 1 else 0)
        return from_batch(run, qrels, n, qids)
    judgements = as_table(Qrels, qrels)
    if isinstance(run, (str, os.PathLike)):
        return judgements, run
    if _is_array(run):
        return judgements, Run.for_rows(judgements, run)
    return judgements, as_table(Run, run)


def as_table(kind: type[T], given: Any, name: str = "") -> T:
    """Return `given` as Qrels or Run; see :func:`as_pair`."""
    if isinstance(given, kind):
        return given
    if isinstance(given, (str, os.PathLike)):
        read = readers.read_qrels if kind is Qrels else readers.read_run
        return read(given)  # type: ignore[return-value]
    if isinstance(given, Mapping):
        return kind.from_dict(given, name=name)
    if isinstance(given, tuple) and len(given) == 3:
        return _from_columns(kind, *given)
    if hasattr(given, "column_names") or hasattr(given, "columns"):
        return readers.from_frame(given, kind)
    raise InputError(
        Problem(name or kind.kind, f"a {type(given).__name__} is no {kind.kind}", fix=FIX)
    )


def _from_columns(kind: type[T], qids: Any, docnos: Any, numbers: Any) -> T:
    checked = kind.check_numbers(numbers, kind.kind)
    columns = [pa.array(np.asarray(column)).cast(pa.string()) for column in (qids, docnos)]
    if len({len(columns[0]), len(columns[1]), checked.size}) != 1:
        raise InputError(
            Problem(
                kind.kind,
                f"columns of {len(columns[0])} qids, {len(columns[1])} docnos and "
                f"{checked.size} numbers",
                fix="give three columns of one length",
            )
        )
    try:
        return kind.from_columns(columns[0], columns[1], checked)
    except DuplicateRows as error:
        row, first = int(error.rows[0]), int(error.first[0])
        raise InputError(
            Problem(
                kind.kind,
                f"docno '{columns[1][row]}' twice in query '{columns[0][row]}', "
                f"at rows {first} and {row}",
                fix="keep one of them",
            )
        ) from error


def _is_array(given: Any) -> bool:
    return hasattr(given, "detach") or (
        isinstance(given, (np.ndarray, list)) or hasattr(given, "__array_interface__")
    )
