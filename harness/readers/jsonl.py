"""JSON lines: one row a line, ``{"qid": ..., "docno": ..., "score": ...}``."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.json as pajson

from ..core.arrow import cast
from ..core.policy import Duplicates
from ..core.tables import Qrels, Run, T
from ..errors import InputError, Problem, first_of, shorten
from ..files import check_room
from .blocks import LONGEST
from .build import gathered
from .column_roles import SAMPLE, Names, by_position, guess, select_columns
from .columns import NOT_UTF8, diagnose
from .format import Format, Head, Kind
from .frame import table_of
from .json_dict import is_finite, parse, unrepeated
from .source import Source, no_rows

_ONE_EACH = "write one object a line"


def read(
    of: type[T],
    source: Source,
    *,
    duplicates: Duplicates,
    name: str,
    dataset: Qrels | None = None,
    fractions: bool = False,
    columns: Names | None = None,
) -> T:
    """Read rows of qid, docno and grade or score; `columns` names the keys if they are unusual."""
    first = first_object(source)
    sample = [first]
    for line in source.head.split(b"\n")[:SAMPLE]:
        with contextlib.suppress(ValueError):
            sample += [row for row in [_parsed(line)] if isinstance(row, dict)]
    sample = sample[1:] or sample
    keys = [*dict.fromkeys(key for row in sample for key in row)]

    def first_rows(names: list[str]) -> pa.Table:
        return pa.table({key: _column([row.get(key) for row in sample]) for key in names})

    chosen = select_columns(keys, of.kind, columns, source, first_rows)
    names = [chosen[role] for role in ("qid", "docno") if role in chosen]
    types = {
        key: pa.int64() if isinstance(first.get(key), int) else pa.string() for key in names
    } | {key: pa.float64() for key in chosen.values() if key not in names}
    read = partial(_read_block, types=types)
    blocks = (one for one in source.blocks() if not one.isspace())
    try:
        table = gathered(source.map_blocks(read, blocks))
    except pa.ArrowException as error:
        raise diagnose(
            source,
            partial(_reads, types=types),
            lambda lines: (row for row in lines if _is_row(*row)),
            partial(_check_line, types=types),
            f"not JSON lines: {error}",
            has_names=True,
        ) from None
    return table_of(
        table, of, chosen, source, _is_row, asked=by_position(keys, columns), dataset=dataset,
        duplicates=duplicates, name=name, fractions=fractions,
    )  # fmt: skip


def _parsed(line: bytes) -> Any:
    return parse(line, unrepeated)


def _column(values: list[object]) -> pa.Array:
    """Return values of a key, as texts if they differ in type."""
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return pa.array([None if one is None else str(one) for one in values])


def _read_block(block: bytes, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Return the columns of some lines, identifiers as text; an error of Arrow's if not sound."""
    check_room(8 * len(block))
    whole = pajson.ReadOptions(use_threads=False, block_size=len(block))
    schema = pa.schema(list(types.items()))
    options = pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    table = pajson.read_json(pa.BufferReader(block), whole, options)
    table.validate(full=True)  # Arrow takes bytes that are not UTF-8
    if any(column.null_count for column in table.columns):
        raise pa.ArrowInvalid("a value is missing")
    return pa.table(
        {
            key: cast(table[key], pa.string()) if pa.types.is_integer(kind) else table[key]
            for key, kind in types.items()
        }
    )


def _reads(block: bytes, types: Mapping[str, pa.DataType]) -> bool:
    try:
        return block.isspace() or bool(_read_block(block, types))
    except pa.ArrowException:
        return False


def _is_row(number: int, line: bytes) -> bool:
    return bool(line.strip())


def first_object(source: Source) -> dict[str, Any]:
    """Return the object on the first line."""
    source.check_length()
    source.check_text()
    head = Head("", source.head)
    if not head.lines:
        raise no_rows(source.name)
    first, problem = _object_of(head.lines[0])
    if problem is not None:
        found = head.lines[0].decode("utf-8", "replace")
        raise InputError(Problem(f"{source.name}:{head.first}", problem.what, found, problem.fix))
    return first


def _object_of(line: bytes) -> tuple[dict[str, Any], Problem | None]:
    """Return the object on a line, or what is wrong with it."""
    try:
        row = _parsed(line)
    except UnicodeDecodeError:
        return {}, NOT_UTF8
    except ValueError as error:
        return {}, Problem("", f"not JSON ({error})", fix=_ONE_EACH)
    if not isinstance(row, dict):
        return {}, Problem("", "not a JSON object", fix=_ONE_EACH)
    return row, None


def _check_line(line: bytes, types: Mapping[str, pa.DataType]) -> Problem | None:
    """Return what is wrong with a line, without its place, or None."""
    row, wrong = _object_of(line)
    if wrong is not None:
        return wrong
    for key, kind in types.items():
        if key not in row:
            fix = f"every line needs {first_of([*types])}"
            return Problem("", f"no key '{key}'", fix=fix, rule="columns")
        value = row[key]
        allowed: tuple[type, ...]
        if pa.types.is_floating(kind):
            allowed, wanted, fix = (int, float), "a number", "write it as a number"
        elif pa.types.is_integer(kind):
            allowed, wanted, fix = (int,), "a whole number, as in the first row", "write one type"
        else:
            allowed, wanted, fix = (str,), "text, as in the first row", "write it in quotes"
        if isinstance(value, bool) or not isinstance(value, allowed):
            what = f"{key}: expected {wanted}, got {shorten(json.dumps(value), 60)}"
            return Problem("", what, fix=fix)
        if pa.types.is_floating(kind) and not is_finite(value):
            what = f"{key}: expected a finite number, got {shorten(str(value), 60)}"
            return Problem("", what, fix="repair the line", rule="not-finite")
    return None


def looks(head: Head, kind: Kind) -> bool:
    """Whether the first line is a whole object with the usual keys."""
    if not head.data.lstrip().startswith(b"{") or not head.lines:
        return False
    first, problem = _object_of(head.lines[0][: LONGEST + 1])
    return (
        problem is None
        and "qid" in guess(list(first), kind)
        and not any(isinstance(value, dict) for value in first.values())
    )


FORMAT = Format(
    name="jsonl",
    about='JSON lines, one row a line: {"qid": ..., "docno": ..., "grade" or "score": ...}',
    suffixes=(".jsonl", ".ndjson"),
    looks=looks,
    qrels=partial(read, Qrels),
    run=partial(read, Run),
    is_data=lambda source: _is_row,
)
