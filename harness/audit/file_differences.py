"""Two versions of one file: the first difference, and how many there are."""

from __future__ import annotations

import csv
import io
import itertools
import zlib
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from ..core.arrow import call, to_floats, to_numpy
from ..core.ragged import Bools
from ..reports.page.document import unpack

Cause = Literal["input", "edited", "version", "code", "unknown"]
NOTHING = "(nothing)"
_NAMES = ("dataset", "run", "baseline", "metric", "qid")
"""Columns that identify a row."""


class Difference(NamedTuple):
    """One difference: `file` is relative to the results, or an input's path.

    `kind` is an input, a cell that was or is evaluated, a value, or a file beyond its values.
    `cause` follows from the manifest: the input changed, the file was edited after it was
    written, or versions or the code differ.
    """

    kind: Literal["input", "cell", "value", "file"]
    file: str
    where: str
    then: str
    now: str
    cause: Cause = "unknown"


def compare(name: str, then: bytes, now: bytes) -> tuple[Difference | None, int]:
    """Return the first difference of two versions of a file, and how many fields or lines differ.

    CSV and Parquet are compared by rows and columns, a report page by its values, text by lines,
    other files whole.
    """
    is_table = name.endswith(".parquet")
    if then == now:
        return None, 0
    if not is_table and b"\0" in then + now:
        return _one(name, "bytes", f"{len(then)} bytes", f"{len(now)} other bytes")
    if is_table or name.endswith(".csv"):
        read, row, first = (_parquet, "row", 1) if is_table else (_csv, "line", 2)
        new = read(now)
        try:
            old = read(then)
        except (pa.ArrowException, OSError, ValueError) as error:
            return _one(name, "the whole file", f"cannot be read: {error}", f"{len(new)} rows")
        found, total = _tables(name, old, new, row, first)
        if is_table or total:
            return found, total
    if name.endswith(".html"):
        return _pages(name, then.decode("utf-8", "replace"), now.decode("utf-8"))
    a, b = (one.decode("utf-8", "backslashreplace").split("\n") for one in (then, now))
    pairs = enumerate(itertools.zip_longest(a, b, fillvalue=NOTHING), start=1)
    wrong = [(number, old, new) for number, (old, new) in pairs if old != new]
    number, old_line, new_line = wrong[0]
    return Difference("value", name, f"line {number}", old_line, new_line), len(wrong)


def _one(name: str, where: str, then: str, now: str) -> tuple[Difference, int]:
    return Difference("value", name, where, then, now), 1


def _tables(
    name: str, old: pa.Table, new: pa.Table, word: str, first: int
) -> tuple[Difference | None, int]:
    """Compare two tables, whose rows are called ``row 1`` or ``line 2`` and so on."""
    if old.column_names != new.column_names:
        return _one(name, "columns", ", ".join(old.column_names), ", ".join(new.column_names))
    if len(old) != len(new):
        return _one(name, "number of rows", str(len(old)), str(len(new)))
    rows = [np.flatnonzero(~_same(*pair)) for pair in zip(old.columns, new.columns, strict=True)]
    total = sum(some.size for some in rows)
    if not total:
        return None, 0
    # "map tier" and "unsettled" follow from the values of other rows, so they come last
    *_, row, at = min(
        (" " in column or column == "unsettled", int(rows[at][0]), at)
        for at, column in enumerate(new.column_names)
        if rows[at].size
    )
    names = ", ".join(str(new[one][row]) for one in _NAMES if one in new.column_names)
    where = f"{word} {row + first} ({names}), {new.column_names[at]}"
    a, b = (_shown(table.column(at)[row].as_py()) for table in (old, new))
    return Difference("value", name, where, a, b), total


def _pages(name: str, then: str, now: str) -> tuple[Difference, int]:
    """Compare two report pages: the values that they hold, then the rest."""
    try:
        old, new = (_by_name(unpack(page)) for page in (then, now))
    except (ValueError, LookupError, TypeError, EOFError, OSError, zlib.error) as error:
        return _one(name, "the data of the page", f"cannot be read: {error}", "readable")
    found = list(_page_values(name, old, new))
    if not found:
        texts = f"{len(then):,} characters", f"{len(now):,} other characters"
        return _one(name, "text, script or style: no value differs", *texts)
    return found[0][0], sum(count for _, count in found)


def _by_name(report: dict[str, Any]) -> dict[str, Any]:
    """Return a page's report with names of datasets, metrics and runs in place of numbers."""
    metrics, runs = ([one["name"] for one in report[key]] for key in ("metrics", "systems"))
    boards = {}
    for board in report["boards"]:
        columns = dict(zip(metrics, board["columns"], strict=True))
        systems = [runs[at] for at in board["systems"]]
        boards[board["dataset"]] = {**board, "columns": columns, "systems": systems}
    return {**report, "boards": boards}


def _page_values(
    name: str, then: Any, now: Any, path: tuple[str, ...] = (), board: Any = None
) -> Iterator[tuple[Difference, int]]:
    """Yield the first difference of each part of two pages, and how many values of it differ."""
    if isinstance(then, dict) and isinstance(now, dict):
        board = now if "qids" in now else board
        for key in dict.fromkeys((*now, *then)):
            inner = path if key in ("boards", "columns") else (*path, key)
            yield from _page_values(name, then.get(key), now.get(key), inner, board)
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for place, (old, new) in enumerate(zip(then, now, strict=True), start=1):
            yield from _page_values(name, old, new, (*path, str(place)), board)
    elif isinstance(then, np.ndarray) and isinstance(now, np.ndarray) and then.size == now.size:
        wrong = np.flatnonzero(~_same_bits(then, now))
        if wrong.size and board is not None:
            row, query = divmod(int(wrong[0]), now.size // len(board["systems"]))
            per_query = [f"query {board['qids'][query]}"] if path[-1] == "queries" else []
            path = (*path, board["systems"][row], *per_query)
        if wrong.size:
            a, b = (_shown(float(one[wrong[0]])) for one in (then, now))
            yield Difference("value", name, ", ".join(path), a, b), wrong.size
    elif isinstance(then, np.ndarray) or isinstance(now, np.ndarray) or then != now:
        a, b = map(_shown_part, (then, now))
        yield Difference("value", name, ", ".join(path), a, b), 1


def _shown_part(value: Any) -> str:
    is_part = isinstance(value, (dict, list, np.ndarray))
    return f"{len(value)} parts" if is_part else NOTHING if value is None else str(value)


def _csv(content: bytes) -> pa.Table:
    """Return a CSV file as a table of strings."""
    header = next(csv.reader(io.StringIO(content.decode("utf-8"))), [])
    return arrow_csv.read_csv(
        io.BytesIO(content),
        arrow_csv.ReadOptions(use_threads=False),
        arrow_csv.ParseOptions(newlines_in_values=True),
        arrow_csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string())),
    )


def _parquet(content: bytes) -> pa.Table:
    """Return a Parquet file as a table without dictionaries."""
    # without threads: one that is not done when the process ends would abort it
    table = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
    kinds = {one.name: one.type for one in table.schema}
    plain = {n: k.value_type if pa.types.is_dictionary(k) else k for n, k in kinds.items()}
    return table.cast(pa.schema(plain.items())).combine_chunks()


def _same(old: pa.ChunkedArray, new: pa.ChunkedArray) -> Bools:
    """Return which rows are equal: numbers to the last bit, except for the kind of NaN."""
    absent, other = (to_numpy(call("is_null", column)) for column in (old, new))
    same: Bools = absent & other
    if pa.types.is_floating(old.type) and pa.types.is_floating(new.type):
        a, b = (to_floats(column).astype(np.float64) for column in (old, new))
        same = same | (_same_bits(a, b) & (absent == other))
    elif old.type == new.type:
        same = same | to_numpy(call("coalesce", call("equal", old, new), pa.scalar(False)))
    return same


def _same_bits(a: Any, b: Any) -> Bools:
    """Return which floats of two arrays are equal to the last bit, or both NaN."""
    same: Bools = (a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))
    return same


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value or NOTHING
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
