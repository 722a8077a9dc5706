"""Columns to tables, and what goes wrong on the way, with the line of each row."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pyarrow as pa

from ..core.arrow import call, cast, run_ends, to_numpy
from ..core.grouped import Columns
from ..core.odd import NOTHING
from ..core.odd import Odd as Odd
from ..core.policy import Duplicates
from ..core.ragged import Array, Ints
from ..core.table import DuplicateRows, Table
from ..core.tables import Qrels
from ..errors import HarnessWarning, InputError, Problem
from .lines import find_texts
from .room import give_back
from .source import Source
from .wrong_lines import TEXT

T = TypeVar("T", bound=Table)
IsData = Callable[[int, bytes], bool]

_LIMIT = 2**31 - 1


def keep_one(of: type[Table]) -> str:
    """Return what to do about rows that repeat a docno: in a config, and on the command line."""
    entries = "datasets" if issubclass(of, Qrels) else "runs"
    return (
        "keep one: 'duplicates: last' (or first) in the file's own entry of a config, as in "
        f"{entries}: {{NAME: {{path: ..., duplicates: last}}}}; --duplicates last on the command "
        "line"
    )


def column(chunks: pa.ChunkedArray) -> pa.Array:
    """Return strings in one piece and plain, with wide offsets where they need them."""
    if pa.types.is_run_end_encoded(chunks.type):  # of one piece
        return _texts(call("run_end_decode", chunks.chunk(0)))
    if chunks.num_chunks == 1:
        return chunks.chunk(0)
    if chunks.nbytes > _LIMIT:
        chunks = cast(chunks, pa.large_string())
    combined = chunks.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def qid_column(chunks: pa.ChunkedArray) -> pa.Array:
    """Return qids in one piece, run-end encoded where they are."""
    if not pa.types.is_run_end_encoded(chunks.type):
        return column(chunks)
    runs = chunks.chunk(0)
    return run_ends(to_numpy(runs.run_ends), _texts(runs.values))


def _texts(values: pa.Array) -> pa.Array:
    """Return bytes as texts, unchecked."""
    if pa.types.is_large_binary(values.type):
        return values.view(pa.large_string())
    return values.view(pa.string()) if pa.types.is_binary(values.type) else values


def held(table: pa.Table, numbers: Array) -> Columns:
    """Return the qids and docnos of a table, with numbers, to make a table of."""
    return Columns(qid_column(table["qid"]), column(table["docno"]), numbers, give_back)


def build(
    kind: type[T],
    source: Source,
    columns: Columns,
    is_data: IsData,
    *,
    duplicates: Duplicates,
    name: str,
    before: int = 0,
) -> T:
    """Group columns by query, as :meth:`Table.from_held`, with errors that name lines.

    Parameters
    ----------
    columns : Columns
        Each is taken out when it stands in its new place.
    is_data : callable
        ``is_data(number, line)``: whether a line of `source` is a row.
    before : int
        Rows of the source that precede these columns.
    """
    try:
        return kind.from_held(columns, name=name, duplicates=duplicates)
    except DuplicateRows as error:
        again = error.with_traceback(None)  # which holds the table
    give_back()
    raise repeated(source, kind, again, is_data, before)


def scattered(table: Table, before: int = 0) -> Odd:
    """Return how many queries of a table came back after another had begun, and the first row.

    `before` are the rows of the file before those it was made from.
    """
    return table.scattered.after(before)


def warn_scattered(source: Source, found: Odd, is_data: IsData | None = None) -> None:
    """Warn of queries that came back after another had begun; `is_data` as in :func:`build`."""
    if n := found.queries:
        which = "1 query comes" if n == 1 else f"{n:,} queries come"
        what = f"{which} back after another began; the rows were gathered by qid"
        warn(source, what, "scattered-queries", n, *_first(source, found, is_data))


def dropped(table: Table, before: int = 0) -> Odd:
    """Return how many rows repeated a docno and are not in the table, and the first of them.

    `before` are the rows of the file before those it was made from.
    """
    return NOTHING if table.dropped is None else table.dropped.after(before)


def _first(source: Source | str, found: Odd, is_data: IsData | None) -> tuple[int, tuple[str, ...]]:
    """Return the line of the first row, and its text; its names where that is not at hand."""
    if found.row < 0:
        return 0, ()
    wanted = {found.row: found.words}
    if is_data is not None and isinstance(source, Source):
        held = find_texts(source, wanted, is_data, whole=source.again)
        if found.row in held:
            number, text = held[found.row]
            return number, (text,)
    names = ", document ".join(found.words)
    return 0, (f"query {names}" if is_data else f"row {found.row + 1}: query {names}",)


def warn_dropped(
    where: Source | str, found: Odd, duplicates: Duplicates, is_data: IsData | None = None
) -> None:
    """Warn of rows that were left out, as :func:`dropped` returns them."""
    rows, queries = found.rows, found.queries
    if rows:
        n_rows = "1 row" if rows == 1 else f"{rows:,} rows"
        n_queries = "1 query" if queries == 1 else f"{queries:,} queries"
        repeated = "repeats a docno and was" if rows == 1 else "repeat a docno and were"
        what = f"{n_rows} of {n_queries} {repeated} dropped; the {duplicates} of each is kept"
        warn(where, what, "dropped-rows", rows, *_first(where, found, is_data))


def warn(
    source: Source | str,
    what: str,
    rule: str = "",
    count: int = 1,
    line: int = 0,
    examples: tuple[str, ...] = (),
    at_least: bool = False,
) -> None:
    """Warn of something in `source` that changes what the numbers mean.

    All else as :class:`~harness.errors.HarnessWarning` takes it.
    """
    name = source if isinstance(source, str) else source.name
    said = HarnessWarning(f"{name}: {what}", rule, count, line, examples, at_least)
    warnings.warn(said, stacklevel=2)


def repeated(
    source: Source, of: type[Table], error: DuplicateRows, is_data: IsData, before: int = 0
) -> InputError:
    """Return the error for docnos that a query names twice, with the lines of both."""
    rows, first = (of.astype(np.int64) + before for of in (error.rows, error.first))
    found = lines_of_rows(source, np.concatenate([rows, first]), is_data)
    problems = []
    for later, earlier in zip(rows.tolist(), first.tolist(), strict=True):
        number, text = found[later]
        problems.append(
            Problem(
                f"{source.name}:{number}",
                f"the docno stands already on line {found[earlier][0]}, for the same query",
                text,
                keep_one(of),
                "duplicates",
            )
        )
    return InputError(problems, total=error.total, at_least=error.at_least)


def row_names(source: Source, is_data: IsData | None) -> Callable[[int], str]:
    """Return ``row(position)``: ``path:line`` for lines of text, ``path: row n`` otherwise."""

    def row(position: int) -> str:
        if is_data is None:
            return f"{source.name}: row {position + 1}"
        found = lines_of_rows(source, np.array([position]), is_data)
        return f"{source.name}:{found[position][0]}"

    return row


def lines_of_rows(source: Source, rows: Ints, is_data: IsData) -> dict[int, tuple[int, str]]:
    """Return the line number and the text of these rows, counted from 0."""
    wanted, found, row = set(rows.tolist()), {}, 0
    for number, line in source.lines():
        if is_data(number, line):
            if row in wanted:
                found[row] = number, line[:TEXT].decode("utf-8", "replace")
                if len(found) == len(wanted):
                    break
            row += 1
    for row in wanted - found.keys():  # Arrow ends lines at a carriage return alone, too
        found[row] = row + 1, ""
    return found
