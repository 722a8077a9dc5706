"""Two versions of one file compared: what differs first, and how much of it there is."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..core.arrow import call, cast, to_floats, to_numpy
from ..core.ragged import Bools

Kind = Literal["input", "cell", "value", "file"]
Cause = Literal["input", "edited", "version", "code", "unhashed", "unknown"]
NOTHING = "(nothing)"
_NAMES = ("dataset", "run", "baseline", "metric", "qid")
"""Columns that say which row is meant."""


class Difference(NamedTuple):
    """One thing that is not as it was.

    `kind` says of what: an input, a cell that is evaluated now or was then, a value, or a file
    beyond its values. `file` is relative to the folder of results, or that of an input; `where`
    the row and the column. `cause` says what follows from the manifest: the input changed, the
    file was edited after it was written, versions or the code differ, or a file of a cell that
    failed then could not be hashed.
    """

    kind: Kind
    file: str
    where: str
    then: str
    now: str
    cause: Cause = "unknown"


class Compared(NamedTuple):
    """The first difference of a file if there is any, and how many fields or lines differ."""

    first: Difference | None
    total: int


def compare(name: str, then: bytes, now: bytes) -> Compared:
    """Compare a file of the folder with the same file computed again.

    Parameters
    ----------
    name : str
        Its ending says how: CSV and Parquet by rows and columns, text by lines, others whole.
    then, now : bytes
    """
    if name.endswith(".parquet"):
        return _parquet(name, then, now)
    if then == now:
        return Compared(None, 0)
    if b"\0" in then or b"\0" in now:
        return _one(name, "bytes", f"{len(then)} bytes", f"{len(now)} other bytes")
    found = Compared(None, 0)
    if name.endswith(".csv"):
        found = _csv(name, then, now)
    return found if found.total else _text(name, then, now)


def _csv(name: str, then: bytes, now: bytes) -> Compared:
    """Compare by rows and columns; what is no CSV has no differences here."""
    try:
        a, b = (list(csv.reader(io.StringIO(x.decode("utf-8", "replace")))) for x in (then, now))
    except csv.Error:
        return Compared(None, 0)
    header_a, header_b = a[0] if a else [], b[0] if b else []
    if header_a != header_b:
        return _one(name, "columns", ", ".join(header_a), ", ".join(header_b))
    at = [header_b.index(one) for one in _NAMES if one in header_b]
    found: list[tuple[bool, Difference]] = []
    for number, (old, new) in enumerate(itertools.zip_longest(a[1:], b[1:]), start=2):
        if old == new:
            continue
        if old is None or new is None or len(old) != len(new):
            lines = (None if row is None else ",".join(row) for row in (old, new))
            found.append((False, _line(name, number, *lines)))
            continue
        row = ", ".join(new[place] for place in at)
        for column, x, y in zip(header_b, old, new, strict=True):
            if x != y:
                where = f"line {number} ({row}), {column}"
                one = Difference("value", name, where, x or NOTHING, y or NOTHING)
                found.append((_follows(column, header_b), one))
    first = min(found, key=lambda pair: pair[0], default=(False, None))[1]
    return Compared(first, len(found))


def _follows(column: str, header: Sequence[str]) -> bool:
    """Whether a column of a leaderboard follows from other rows or columns: ``map tier``."""
    return column == "unsettled" or any(column.startswith(f"{one} ") for one in header)


def _text(name: str, then: bytes, now: bytes) -> Compared:
    a, b = (one.decode("utf-8", "backslashreplace").split("\n") for one in (then, now))
    pairs = enumerate(itertools.zip_longest(a, b), start=1)
    wrong = [(number, old, new) for number, (old, new) in pairs if old != new]
    return Compared(_line(name, *wrong[0]) if wrong else None, len(wrong))


def _line(name: str, number: int, *texts: str | None) -> Difference:
    then, now = (NOTHING if text is None else text for text in texts)
    return Difference("value", name, f"line {number}", then, now)


def _one(name: str, where: str, then: str, now: str) -> Compared:
    return Compared(Difference("value", name, where, then, now), 1)


def _parquet(name: str, then: bytes, now: bytes) -> Compared:
    new = read_table(now)
    try:
        n_rows = pq.ParquetFile(pa.BufferReader(then)).metadata.num_rows
        if n_rows != len(new):  # before it is read: a small file can have any number
            return _one(name, "number of rows", str(n_rows), str(len(new)))
        old = read_table(then)
    except MemoryError:  # Arrow's own is an ArrowException too
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        return _one(name, "the whole file", f"cannot be read: {error}", f"{len(new)} rows")
    if old.column_names != new.column_names:
        return _one(name, "columns", ", ".join(old.column_names), ", ".join(new.column_names))
    wrong = {one: np.flatnonzero(~_same(old[one], new[one])) for one in new.column_names}
    wrong = {column: rows for column, rows in wrong.items() if rows.size}
    if not wrong:
        return Compared(None, 0)
    column = min(wrong, key=lambda one: int(wrong[one][0]))
    row = int(wrong[column][0])
    names = ", ".join(str(new[one][row]) for one in _NAMES if one in new.column_names)
    a, b = (_shown(table[column][row].as_py()) for table in (old, new))
    first = Difference("value", name, f"row {row + 1} ({names}), {column}", a, b)
    return Compared(first, sum(rows.size for rows in wrong.values()))


def read_table(content: bytes) -> pa.Table:
    """Return a Parquet file as a table."""
    # without threads: one that is not done when the process ends would abort it
    return pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)


def _same(old: pa.ChunkedArray, new: pa.ChunkedArray) -> Bools:
    """Return which rows are the same: numbers to the last bit, but for what kind of NaN."""
    one, other = _decoded(old), _decoded(new)
    missing = [call("is_null", column) for column in (one, other)]
    same: Bools
    if pa.types.is_floating(one.type) and pa.types.is_floating(other.type):
        a, b = (to_floats(column).astype(np.float64) for column in (one, other))
        same = (a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))
        same &= to_numpy(missing[0]) == to_numpy(missing[1])
        return same
    try:
        equal = call("equal", one, other)  # null where either is
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # a number and a text
        equal = pa.nulls(len(one), pa.bool_())
    same = to_numpy(call("coalesce", equal, call("and", *missing)))
    return same


def _decoded(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, categories as the values they stand for."""
    is_encoded = pa.types.is_dictionary(column.type)
    return (cast(column, column.type.value_type) if is_encoded else column).combine_chunks()


def _shown(value: Any) -> str:
    return "undefined" if value is None or value != value else repr(value)


def compare_plain(name: str, then: Any, now: Any, where: str = "$") -> Iterator[Difference]:
    """Yield where two pieces of plain data (JSON) differ; `where` is their place in the file."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*now, *then)):
            yield from compare_plain(name, then.get(key), now.get(key), f"{where}.{key}")
    elif isinstance(then, list) and isinstance(now, list):
        for place, (old, new) in enumerate(itertools.zip_longest(then, now)):
            yield from compare_plain(name, old, new, f"{where}[{place}]")
    elif then != now and not (then != then and now != now):
        a, b = (NOTHING if one is None else str(one) for one in (then, now))
        yield Difference("value", name, where, a, b)
