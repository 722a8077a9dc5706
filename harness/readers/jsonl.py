"""JSON lines: one row a line, ``{"qid": ..., "docno": ..., "score": ...}``."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pajson

from ..core.arrow import cast, string_column, to_arrow
from ..core.policy import Duplicates
from ..core.tables import Qrels, Run, T
from ..errors import InputError, Problem, first_of, shorten
from ..files import check_room
from .ahead import of_blocks
from .blocks import LONGEST
from .build import (
    check_length,
    gathered,
    wrong_lines,
)
from .columns import NOT_UTF8
from .format import Format, Head, Kind
from .frame import (
    SAMPLE,
    Names,
    check_pairing,
    choose,
    first_line,
    guess,
    might_pair,
    read_table,
    warn_unused,
)
from .json_dict import is_finite, once, parse
from .source import Source

_PART = 1 << 12
"""Rows that are read one by one and put together."""


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
    sample = _sample(source, first)
    keys = [*dict.fromkeys(key for row in sample for key in row)]
    chosen = choose(keys, of.kind, columns, source.name)
    if others := might_pair(keys, chosen, columns):
        some = {key: _column([row.get(key) for row in sample]) for key in [chosen["qid"], *others]}
        check_pairing(pa.table(some), chosen["qid"], others, source.name)
    warn_unused(source, keys, chosen)
    types = {
        key: pa.int64() if isinstance(first.get(key), int) else pa.string()
        for key in (chosen.get("qid"), chosen.get("docno"))
        if key is not None
    }
    types |= {key: pa.float64() for key in chosen.values() if key not in types}
    try:
        table = gathered(_blocks(source, types))
    except pa.ArrowException:
        table = gathered(_line_by_line(source, types))
    return read_table(
        source, table, of, columns, _is_row, dataset=dataset, duplicates=duplicates, name=name,
        fractions=fractions,
    )  # fmt: skip


def _sample(source: Source, first: dict[str, object]) -> list[dict[str, object]]:
    """Return the objects on the first lines that are sound and short, or the first one."""
    found = []
    for line in source.head.split(b"\n")[:SAMPLE]:
        with contextlib.suppress(ValueError):
            row = parse(line, once)
            found += [row] if isinstance(row, dict) else []
    return found or [first]


def _column(values: list[object]) -> pa.Array:
    """Return values of a key as texts if they differ in type."""
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return pa.array([None if one is None else str(one) for one in values])


def _blocks(source: Source, types: Mapping[str, pa.DataType]) -> Iterator[pa.Table]:
    """Yield the columns of each block of lines, identifiers as text; an error of Arrow's if not."""
    read = partial(_read_block, types=types)
    yield from of_blocks(read, source, (one for one in source.blocks() if not one.isspace()))


def _read_block(block: bytes, types: Mapping[str, pa.DataType]) -> pa.Table:
    check_room(8 * len(block))
    whole = pajson.ReadOptions(use_threads=False, block_size=len(block))
    schema = pa.schema(list(types.items()))
    options = pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    table = pajson.read_json(pa.BufferReader(block), whole, options)
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
    try:
        first = parse(line, once)
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


def _line_by_line(source: Source, types: dict[str, pa.DataType]) -> list[pa.Table]:
    """Return the rows, identifiers as text, though some are text and others integers.

    Raises
    ------
    InputError
        With the lines that lack a key, or have a value of another type.
    """
    rows: list[list[Any]] = []
    tables = []

    def check(line: bytes) -> Problem | None:
        row, wrong = _check_line(line, types)
        if wrong is None:
            rows.append(row)
        if len(rows) == _PART:
            tables.append(_table(rows, types))
            rows.clear()
        return wrong

    found = wrong_lines(source, (one for one in source.lines() if _is_row(*one)), check)
    if found.problems:
        raise found.error()
    return [*tables, _table(rows, types)]


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
    try:
        row = parse(line, once)
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
    try:
        first = parse(head.lines[0], once)
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
