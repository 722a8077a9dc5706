"""Columns to tables, and what goes wrong on the way, with the line of each row."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pyarrow as pa

from ..core.policy import Duplicates
from ..core.ragged import Array, Ints
from ..core.table import DuplicateRows, Table
from ..errors import SHOWN, HarnessWarning, InputError, Problem
from .source import Source

T = TypeVar("T", bound=Table)
IsData = Callable[[int, bytes], bool]

_LIMIT = 2**31 - 1


def column(chunks: pa.ChunkedArray) -> pa.Array:
    """Return strings in one piece, with wide offsets where they need them."""
    if chunks.num_chunks == 1:
        return chunks.chunk(0)
    if chunks.nbytes > _LIMIT:
        chunks = chunks.cast(pa.large_string())
    combined = chunks.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def build(
    kind: type[T],
    source: Source,
    qids: pa.ChunkedArray,
    docnos: pa.ChunkedArray | None,
    numbers: Array,
    is_data: IsData,
    *,
    duplicates: Duplicates,
    name: str,
    before: int = 0,
) -> T:
    """Group columns by query, as :meth:`Table.from_columns`, with errors that name lines.

    Parameters
    ----------
    is_data : callable
        ``is_data(number, line)``: whether a line of `source` is a row.
    before : int
        Rows of the source that precede these columns.
    """
    try:
        return kind.from_columns(
            column(qids),
            None if docnos is None else column(docnos),
            numbers,
            name=name,
            duplicates=duplicates,
        )
    except DuplicateRows as error:
        raise repeated(source, error, is_data, before) from None


def warn_scattered(source: Source, n: int) -> None:
    """Warn of `n` queries that came back after another had begun."""
    if n:
        which = "1 query comes" if n == 1 else f"{n} queries come"
        warn(source, f"{which} back after another began; the rows were gathered by qid")


def warn(source: Source, what: str) -> None:
    """Warn of something in `source` that changes what the numbers mean."""
    warnings.warn(HarnessWarning(f"{source.name}: {what}"), stacklevel=2)


def repeated(source: Source, error: DuplicateRows, is_data: IsData, before: int = 0) -> InputError:
    """Return the error for docnos that a query names twice, with the lines of both."""
    rows, first = error.rows[:SHOWN] + before, error.first[:SHOWN] + before
    found = lines_of_rows(source, np.concatenate([rows, first]), is_data)
    problems = []
    for later, earlier in zip(rows.tolist(), first.tolist(), strict=True):
        number, text = found[later]
        problems.append(
            Problem(
                f"{source.name}:{number}",
                f"the docno stands already on line {found[earlier][0]}, for the same query",
                text,
                "delete one of them, or read with duplicates: last (or first)",
            )
        )
    return InputError(problems, total=error.rows.size)


def row_names(source: Source, is_data: IsData | None) -> Callable[[int], str]:
    """Return ``row(position)``: ``path:line`` for lines of text, ``path: row n`` otherwise."""

    def row(position: int) -> str:
        if is_data is None:
            return f"{source.name}: row {position + 1}"
        return f"{source.name}:{lines_of_rows(source, np.array([position]), is_data)[position][0]}"

    return row


def lines_of_rows(source: Source, rows: Ints, is_data: IsData) -> dict[int, tuple[int, str]]:
    """Return the line number and the text of these rows, counted from 0."""
    wanted, found, row = set(rows.tolist()), {}, 0
    for number, line in source.lines():
        if is_data(number, line):
            if row in wanted:
                found[row] = number, line.decode("utf-8", "replace")
                if len(found) == len(wanted):
                    break
            row += 1
    return found
