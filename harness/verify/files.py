"""Two versions of one file compared: what differs first, and how much of it there is."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..core.arrow import call, cast, to_floats, to_numpy
from ..core.ragged import Bools
from ..system import check_room
from .findings import Difference

_NAMES = ("dataset", "run", "baseline", "metric", "qid")
"""Columns that say which row is meant."""
NOTHING = "(nothing)"


@dataclass(frozen=True)
class Compared:
    """What came of it.

    Parameters
    ----------
    first : Difference, optional
        None where no value differs.
    total : int
        How many fields or lines differ.
    fields : int
        How many were compared.
    """

    first: Difference | None
    total: int
    fields: int


def compare(name: str, then: bytes, now: bytes) -> Compared:
    """Compare a file as it stands in the folder with the same file derived anew.

    Parameters
    ----------
    name : str
        Its ending says how: CSV and Parquet by rows and columns, text by lines, others whole.
    then, now : bytes
    """
    if name.endswith(".parquet"):
        return _parquet(name, then, now)
    if name.endswith(".csv"):
        found = _csv(name, then, now)
        if found.total or then == now:
            return found
    return _text(name, then, now)


def _csv(name: str, then: bytes, now: bytes) -> Compared:
    a, b = (list(csv.reader(io.StringIO(one.decode("utf-8", "replace")))) for one in (then, now))
    header_a, header_b = a[0] if a else [], b[0] if b else []
    if header_a != header_b:
        return _one(name, "columns", ", ".join(header_a), ", ".join(header_b))
    at = [header_b.index(one) for one in _NAMES if one in header_b]
    follows = [_follows(column, header_b) for column in header_b]
    first, total, fields, is_last = None, 0, 0, False
    for number, (old, new) in enumerate(itertools.zip_longest(a[1:], b[1:]), start=2):
        fields += len(header_b)
        if old == new:
            continue
        if old is None or new is None or len(old) != len(new):
            total += 1
            lines = [None if row is None else ",".join(row) for row in (old, new)]
            first = first or _line(name, number, lines[0], lines[1])
            continue
        row = ", ".join(new[place] for place in at)
        for column, x, y, of_others in zip(header_b, old, new, follows, strict=True):
            if x != y:
                total += 1
                where = f"line {number} ({row}), {column}"
                if first is None or (is_last and not of_others):
                    first = Difference("value", name, where, x or NOTHING, y or NOTHING)
                    is_last = of_others
    return Compared(first, total, fields)


def _follows(column: str, header: Sequence[str]) -> bool:
    """Whether a column of a leaderboard follows from other rows or columns: ``map tier``."""
    return column == "unsettled" or any(column.startswith(f"{one} ") for one in header)


def _text(name: str, then: bytes, now: bytes) -> Compared:
    if b"\0" in then or b"\0" in now:
        if then == now:
            return Compared(None, 0, 1)
        return _one(name, "bytes", f"{len(then)} bytes", f"{len(now)} other bytes")
    a, b = (one.decode("utf-8", "backslashreplace").split("\n") for one in (then, now))
    wrong = [
        (number, old, new)
        for number, (old, new) in enumerate(itertools.zip_longest(a, b), start=1)
        if old != new
    ]
    if not wrong:
        return Compared(None, 0, len(b))
    return Compared(_line(name, *wrong[0]), len(wrong), len(b))


def _line(name: str, number: int, then: str | None, now: str | None) -> Difference:
    a, b = (NOTHING if line is None else line for line in (then, now))
    return Difference("value", name, f"line {number}", a, b)


def _parquet(name: str, then: bytes, now: bytes) -> Compared:
    new = read_table(now)
    try:
        old = read_table(then)
    except MemoryError:  # Arrow's own is of both kinds, and says nothing of the file
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        return _one(name, "the whole file", f"cannot be read: {error}", f"{len(new)} rows")
    if old.column_names != new.column_names:
        return _one(name, "columns", ", ".join(old.column_names), ", ".join(new.column_names))
    if len(old) != len(new):
        return _one(name, "number of rows", str(len(old)), str(len(new)))
    wrong = {
        column: differ
        for column in new.column_names
        if (differ := np.flatnonzero(~_same(old[column], new[column]))).size
    }
    total = sum(places.size for places in wrong.values())
    if not total:
        return Compared(None, 0, new.num_rows * new.num_columns)
    column, row = min(
        ((column, int(places[0])) for column, places in wrong.items()), key=lambda pair: pair[1]
    )
    names = ", ".join(str(new[one][row]) for one in _NAMES if one in new.column_names)
    a, b = (_shown(table[column][row].as_py()) for table in (old, new))
    first = Difference("value", name, f"row {row + 1} ({names}), {column}", a, b)
    return Compared(first, total, new.num_rows * new.num_columns)


def read_table(content: bytes) -> pa.Table:
    """Return a Parquet file as a table."""
    check_room(len(content))
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
    except pa.ArrowNotImplementedError:  # a number is no text
        equal = pa.nulls(len(one), pa.bool_())
    same = to_numpy(call("coalesce", equal, call("and", *missing)))
    return same


def _decoded(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, categories as the values they stand for."""
    is_encoded = pa.types.is_dictionary(column.type)
    return (cast(column, column.type.value_type) if is_encoded else column).combine_chunks()


def _shown(value: Any) -> str:
    return "undefined" if value is None or value != value else repr(value)


def _one(name: str, where: str, then: str, now: str) -> Compared:
    return Compared(Difference("value", name, where, then, now), 1, 0)


def compare_plain(name: str, then: Any, now: Any, where: str = "$") -> Iterator[Difference]:
    """Yield where two pieces of plain data (JSON) differ.

    Parameters
    ----------
    name : str
        The file.
    then, now : plain data
    where : str
        Their place in it.
    """
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*now, *then)):
            yield from compare_plain(name, then.get(key), now.get(key), f"{where}.{key}")
    elif isinstance(then, list) and isinstance(now, list):
        for place, (old, new) in enumerate(itertools.zip_longest(then, now)):
            yield from compare_plain(name, old, new, f"{where}[{place}]")
    elif then != now and not (then != then and now != now):
        a, b = (NOTHING if one is None else str(one) for one in (then, now))
        yield Difference("value", name, where, a, b)
