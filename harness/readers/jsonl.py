"""JSON lines: one row a line, ``{"qid": ..., "docno": ..., "score": ...}``."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pajson

from ..core.arrow import cast, string_column, to_arrow
from ..core.policy import Duplicates
from ..core.table import DuplicateRows, T
from ..core.tables import Qrels, Run
from ..errors import InputError, Problem, first_of, shorten
from ..system import check_room
from .ahead import of_blocks
from .build import repeated, row_names, scattered, warn_scattered
from .columns import NOT_UTF8
from .format import Format, Head, Kind
from .frame import Names, choose, first_line, guess, table_of
from .gathered import Rows, gathered
from .json_long import parse_long
from .json_text import is_finite, once, parse
from .lines import check_length
from .room import POOL, give_back, has_long_line
from .source import Source
from .whole_lines import LONGEST
from .wrong_lines import wrong_lines

_MOST_KEYS = 10_000
_PART = 1 << 12
"""Rows that are read one by one and put together."""
_LONG = 1 << 19
"""Bytes of a line from which on it is read part by part: Python's values may take 30 times it."""
_TOO_WIDE = f"more than {_MOST_KEYS:,} keys, which are the most that are read"
_FEWER = "write the keys that are used"


def read_qrels(
    source: Source,
    *,
    duplicates: Duplicates,
    name: str,
    fractions: bool = False,
    columns: Names | None = None,
) -> Qrels:
    """Read judgements; `columns` names the keys where they are unusual."""
    return _read(Qrels, source, None, duplicates, name, columns, fractions)


def read_run(
    source: Source,
    *,
    dataset: Qrels | None = None,
    duplicates: Duplicates,
    name: str,
    columns: Names | None = None,
) -> Run:
    """Read a run; `columns` names the keys where they are unusual."""
    return _read(Run, source, dataset, duplicates, name, columns)


def _read(
    of: type[T],
    source: Source,
    dataset: Qrels | None,
    duplicates: Duplicates,
    name: str,
    columns: Names | None,
    fractions: bool = False,
) -> T:
    first = first_object(source)
    chosen = choose(list(first), of.kind, columns, source.name)
    types = {
        key: pa.int64() if isinstance(first[key], int) else pa.string()
        for key in (chosen.get("qid"), chosen.get("docno"))
        if key is not None
    }
    types |= {key: pa.float64() for key in chosen.values() if key not in types}
    del first  # whose names may be long
    tables, kept = [], ([chosen["qid"]], chosen.get("grade", ""))
    with contextlib.suppress(pa.ArrowException):
        tables.append(gathered(_blocks(source, types), *kept))
    give_back()  # what blocks took
    if not tables:
        tables.append(_line_by_line(source, types, Rows(*kept)))
    try:
        read = table_of(
            tables, of, chosen, dataset=dataset, duplicates=duplicates, name=name,
            where=source.name, row=row_names(source, _is_row), fractions=fractions,
        )  # fmt: skip
    except DuplicateRows as error:
        raise repeated(source, of, error, _is_row) from None
    warn_scattered(source, scattered(read), _is_row)
    return read


def _blocks(source: Source, types: Mapping[str, pa.DataType]) -> Iterator[pa.Table]:
    """Yield the columns of each block of lines, identifiers as text; an error of Arrow's if not."""
    read = partial(_read_block, types=types)
    yield from of_blocks(read, source, _not_blank(source.blocks()))


def _not_blank(blocks: Iterable[bytes]) -> Iterator[bytes]:
    for block in blocks:
        if not block.isspace():
            yield block
        del block


def _read_block(block: bytes, types: Mapping[str, pa.DataType]) -> pa.Table:
    check_room(8 * len(block))
    whole = pajson.ReadOptions(use_threads=False, block_size=len(block))
    schema = pa.schema(list(types.items()))
    options = pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    pool = POOL if has_long_line(block) else None
    table = pajson.read_json(pa.BufferReader(block), whole, options, pool)
    table.validate(full=True)  # Arrow takes bytes that are no UTF-8
    if any(column.null_count for column in table.columns):
        raise pa.ArrowInvalid("a value is missing")
    return pa.table({key: _as_text(table[key]) for key in types})


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return cast(column, pa.string()) if pa.types.is_integer(column.type) else column


def _is_row(number: int, line: bytes) -> bool:
    return bool(line.strip())


def first_object(source: Source) -> dict[str, object]:
    """Return the object on the first line."""
    check_length(source)
    line = first_line(source)
    number = source.head.partition(line)[0].count(b"\n") + 1
    if _is_wide(line):
        raise InputError(Problem(f"{source.name}:{number}", _TOO_WIDE, fix=_FEWER))
    try:
        first = _parsed(line)
    except UnicodeDecodeError:
        what, fix = "the line is not UTF-8 text", "convert the file to UTF-8"
        raise InputError(Problem(f"{source.name}:{number}", what, fix=fix)) from None
    except ValueError as error:
        what, found = f"not JSON ({error})", line.decode("utf-8", "replace")
        raise InputError(Problem(f"{source.name}:{number}", what, found)) from None
    if not isinstance(first, dict):
        found = line.decode("utf-8", "replace")
        raise InputError(Problem(f"{source.name}:{number}", "not a JSON object", found))
    return first


def _is_wide(line: bytes) -> bool:
    """Whether an object has so many keys that its dict would be many times the line."""
    return line.count(b":") > _MOST_KEYS and line.count(b'"') > 2 * _MOST_KEYS


def _parsed(line: bytes) -> Any:
    """Return the value of a line; in a long one, lists and objects inside others stand for any."""
    return parse_long(line) if len(line) > _LONG else parse(line, once)


def _line_by_line(source: Source, types: dict[str, pa.DataType], rows: Rows) -> pa.Table:
    """Return `rows`, identifiers as text, though some are text and others integers.

    Raises
    ------
    InputError
        With the lines that lack a key, or have a value of another type.
    """
    part: list[list[Any]] = []

    def check(line: bytes) -> Problem | None:
        row, wrong = _check_line(line, types)
        if wrong is None:
            part.append(row)
        del row
        if wrong or len(part) == _PART or len(line) > _LONG:
            table = _table(part, types)
            part.clear()
            if len(line) > _LONG:
                give_back()  # what its values took, before its texts are there once more
            rows.add(table)
        return wrong

    found = wrong_lines(source, _rows_of(source), check)
    if found.problems:
        raise found.error()
    rows.add(_table(part, types))
    return rows.table()


def _rows_of(source: Source) -> Iterator[tuple[int, bytes]]:
    for number, line in source.lines():
        if _is_row(number, line):
            yield number, line
        del line  # before the next one is read


def _table(rows: list[list[Any]], types: Mapping[str, pa.DataType]) -> pa.Table:
    """Return rows as a table, identifiers as text."""
    columns = dict(zip(types, zip(*rows, strict=True), strict=True)) if rows else {}
    return pa.table(
        {
            key: to_arrow(np.array(columns.get(key, []), np.float64))
            if pa.types.is_floating(kind)
            else string_column(map(str, columns.get(key, [])))
            for key, kind in types.items()
        }
    )


def _check_line(line: bytes, types: dict[str, pa.DataType]) -> tuple[list[Any], Problem | None]:
    """Return the values of a line, and what is wrong with them."""
    if len(line) > _LONG and _is_wide(line):
        return [], Problem("", _TOO_WIDE, fix=_FEWER)
    try:
        row = _parsed(line)
    except UnicodeDecodeError:
        return [], NOT_UTF8
    except ValueError as error:
        return [], Problem("", f"not JSON ({error})", fix="write one object a line")
    if not isinstance(row, dict):
        return [], Problem("", "not a JSON object", fix="write one object a line")
    for key, type_ in types.items():
        if key not in row:
            fix = f"every line needs {first_of([*types])}"
            return [], Problem("", f"no key '{key}'", fix=fix, rule="columns")
        value, is_name = row[key], not pa.types.is_floating(type_)
        kinds = (str, int) if is_name else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds):
            wanted = "a string or an integer" if is_name else "a number"
            fix = "write it as text, in quotes" if is_name else "write it as a number"
            what = f"{key} {shorten(json.dumps(value), 60)} is not {wanted}"
            return [], Problem("", what, fix=fix)
        if not is_name and not is_finite(value):
            what = f"{key} {shorten(str(value), 60)} is not a finite number"
            return [], Problem("", what, fix="repair the line", rule="not-finite")
    return [row[key] for key in types], None


def looks(head: Head, kind: Kind) -> bool:
    """Whether the first line is a whole object with the usual keys."""
    if not head.data.lstrip().startswith(b"{") or not head.lines:
        return False
    if len(head.data) > LONGEST and b"\n" not in head.data:  # no line of these
        return False
    if _is_wide(head.lines[0]) and head.lines[0].count(b"{") == 1:
        return True  # the reader says it
    try:
        first = _parsed(head.lines[0])
    except ValueError:
        return False
    return (
        isinstance(first, dict)
        and "qid" in guess(list(first), kind)
        and not any(isinstance(v, dict) for v in first.values())
    )


FORMAT = Format(
    name="jsonl",
    about='JSON lines, one row a line: {"qid": ..., "docno": ..., "grade" or "score": ...}',
    suffixes=(".jsonl", ".ndjson"),
    looks=looks,
    qrels=read_qrels,
    run=read_run,
    is_data=lambda source: _is_row,
)
