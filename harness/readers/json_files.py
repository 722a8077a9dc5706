"""JSON as pytrec_eval takes it, ``{qid: {docno: number}}``, and JSON lines, one row a line."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.json as pajson

from ..core.arrow import cast, string_column
from ..core.policy import Duplicates
from ..core.ragged import Floats, offsets_of
from ..core.tables import GRADE_LIMIT, Docnos, Qrels, Run, T
from ..errors import SHOWN, InputError, Problem, first_of, shorten
from .build import gathered, keep_one, warn
from .column_roles import SAMPLE, Names, by_position, guess, select_columns
from .columns import NOT_UTF8, Refused, parse_blocks
from .files import check_room
from .format import DATA_FRAME, Format, Head, Kind, add_formats
from .frame import table_of
from .source import Source, no_rows
from .text import BOM, LONGEST, check_number

_Pairs = list[tuple[str, Any]]
_ONE_EACH = "write one object a line"


def parse(text: bytes, hook: Callable[[_Pairs], Any] | None = None) -> Any:
    """Return the value of a JSON text in UTF-8, or raise ValueError.

    :func:`json.loads` of bytes would guess other encodings, and let surrogates through.
    """
    try:
        value = json.loads(text.decode("utf-8-sig"), object_pairs_hook=hook)
        if b"\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("too many objects or lists inside each other") from None
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair, which is not a character") from None
    return value


def _repeated(pairs: _Pairs) -> list[str]:
    """Return the keys that come again."""
    seen: set[str] = set()
    return [key for key, _ in pairs if key in seen or seen.add(key)]  # type: ignore[func-returns-value]


def read_dict(
    of: type[T],
    source: Source,
    *,
    duplicates: Duplicates,
    name: str,
    dataset: Qrels | None = None,
    fractions: bool = False,
) -> T:
    """Read ``{qid: {docno: grade or score}}``."""
    word = "grade" if issubclass(of, Qrels) else "score"
    whole = word == "grade" and not fractions
    queries, docnos, repeated = _queries(source, duplicates)
    first = next(iter(queries.values()), {})
    for outer, inner in ((queries, first), (first, queries)):  # columns of rows, rows of columns
        if "0" in inner and {"qid", word} <= guess([*outer], of.kind).keys():
            raise source.error(*DATA_FRAME, "columns")
    if repeated and duplicates == "error":
        what, fix = "expected each qid, and each docno in a query, once", keep_one(of)
        problems = [
            Problem(source.name, what, shorten(key), fix, "duplicates") for key in repeated[:SHOWN]
        ]
        raise InputError(problems, total=len(repeated))
    if repeated:
        what = f"keys that are repeated in one object: {len(repeated):,}; the {duplicates} is kept"
        warn(source, what, "dropped-rows", len(repeated))
    if not any(queries.values()):
        raise no_rows(source.name)
    numbers = _numbers(queries)
    sound = np.isfinite(numbers)
    if word == "grade":
        sound &= np.abs(numbers) <= GRADE_LIMIT
    if whole:
        sound &= numbers == np.trunc(numbers)
    if not sound.all():
        raise _wrong_numbers(source, queries, word, whole)
    offsets = offsets_of([len(rows) for rows in queries.values()])
    if issubclass(of, Qrels):
        numbers = of.check_numbers(numbers, name, fractions=not whole)
    return of(string_column(queries), offsets, Docnos(docnos, offsets), numbers, name)


Queries = dict[str, dict[str, Any]]


def _queries(source: Source, duplicates: Duplicates) -> tuple[Queries, pa.Array, list[str]]:
    """Return the object of the file, the docnos of all its queries, and the keys that repeat."""
    text = source.read()
    found: Any = None
    with contextlib.suppress(ValueError):
        found = orjson.loads(text.removeprefix(BOM))
    if _is_mapping(found):
        docnos = string_column(chain.from_iterable(found.values()))
        if _holds_each_key_once(text, found, docnos):
            return found, docnos, []
    repeated: list[str] = []

    def hook(pairs: _Pairs) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            repeated.extend(_repeated(pairs))
            if duplicates == "first":
                found |= reversed(pairs)
        return found

    try:
        found = parse(text, hook)
    except UnicodeDecodeError:
        fix = "convert the file to UTF-8"
        raise source.error("not UTF-8 text", fix) from None
    except json.JSONDecodeError as error:
        what = f"not JSON ({error.msg}, column {error.colno})"
        raise InputError(Problem(f"{source.name}:{error.lineno}", what)) from None
    except ValueError as error:
        raise source.error(f"not JSON ({error})") from None
    if not _is_mapping(found):
        what, fix = (
            "expected {qid: {docno: number}}, got other JSON",
            'write {"q1": {"d1": 1, "d2": 0}}',
        )
        is_frame = isinstance(found, dict) and "schema" in found
        raise source.error(*(DATA_FRAME if is_frame else (what, fix)))
    return found, string_column(chain.from_iterable(found.values())), repeated


def _is_mapping(found: Any) -> bool:
    return isinstance(found, dict) and all(isinstance(rows, dict) for rows in found.values())


def _holds_each_key_once(text: bytes, queries: Queries, docnos: pa.Array) -> bool:
    """Whether there is a colon for each key that was read; orjson keeps the last of equal keys."""
    inside = "".join(queries).count(":") + docnos.buffers()[2].to_pybytes().count(b":")
    n = len(queries) + len(docnos)
    return b"\\u003" not in text and text.count(b":") == n + inside


def _numbers(queries: Queries) -> Floats:
    """Return every value, ``(n_rows,)``; NaN for all if one is not a number."""
    n, rows = sum(map(len, queries.values())), queries.values()
    with contextlib.suppress(OverflowError):
        if {*map(type, chain.from_iterable(map(dict.values, rows)))} <= {int, float}:
            return np.fromiter(chain.from_iterable(map(dict.values, rows)), np.float64, n)
    return np.full(n, np.nan)


def _wrong_numbers(source: Source, queries: Queries, word: str, whole: bool) -> InputError:
    """Return the error that lists the values that are not sound."""
    wrong = []
    for qid, rows in queries.items():
        for docno, value in rows.items():
            if (problem := check_number(json.dumps(value), word, whole)) is not None:
                where = f"{source.name}: query '{shorten(qid)}', docno '{shorten(docno)}'"
                wrong.append(Problem(where, problem.what, fix=problem.fix, rule=problem.rule))
    return InputError(wrong[:SHOWN], total=len(wrong))


def read_lines(of: type[T], source: Source, *, columns: Names | None = None, **how: Any) -> T:
    """Read rows of qid, docno and grade or score; `columns` names the keys if they are unusual."""
    first = first_object(source)
    sample = []
    for line in source.head.split(b"\n")[:SAMPLE]:
        with contextlib.suppress(ValueError):
            sample += [row for row in [parse(line, _unrepeated)] if isinstance(row, dict)]
    sample = sample or [first]
    keys = [*dict.fromkeys(key for row in sample for key in row)]

    def first_rows(names: list[str]) -> pa.Table:
        return pa.table({key: _column([row.get(key) for row in sample]) for key in names})

    chosen = select_columns(keys, of.kind, columns, source, first_rows)
    names = [chosen[role] for role in ("qid", "docno") if role in chosen]
    kinds = {int: pa.int64(), float: pa.float64()}
    types = {key: kinds.get(type(first.get(key)), pa.string()) for key in names}
    types |= {key: pa.float64() for key in chosen.values() if key not in names}
    blocks = (one for one in source.blocks() if not one.isspace())
    table = gathered(
        parse_blocks(
            source,
            blocks,
            partial(_read_block, types=types),
            lambda lines: (row for row in lines if _is_row(*row)),
            partial(_check_line, types=types),
            has_names=True,
        )
    )
    return table_of(table, of, chosen, source, _is_row, asked=by_position(keys, columns), **how)


def _unrepeated(pairs: _Pairs) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"the key '{_repeated(pairs)[0]:.60}' is repeated")
    return found


def _column(values: list[object]) -> pa.Array:
    """Return values of a key, as texts if they differ in type."""
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return pa.array([None if one is None else str(one) for one in values])


def _read_block(block: bytes, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Return the columns of some lines, identifiers as text."""
    check_room(8 * len(block))
    whole = pajson.ReadOptions(use_threads=False, block_size=len(block))
    schema = pa.schema(list(types.items()))
    options = pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        table = pajson.read_json(pa.BufferReader(block), whole, options)
        table.validate(full=True)  # Arrow takes bytes that are not UTF-8
    except pa.ArrowException as error:
        raise Refused(f"not JSON lines: {error}") from None
    if any(column.null_count for column in table.columns):
        raise Refused("not JSON lines: a value is missing")
    return pa.table(
        {
            key: cast(table[key], pa.string()) if pa.types.is_integer(kind) else table[key]
            for key, kind in types.items()
        }
    )


def _is_row(number: int, line: bytes) -> bool:
    return bool(line.strip())


def first_object(source: Source) -> dict[str, Any]:
    """Return the object on the first line."""
    source.check_length()
    source.check_text()
    head = Head.of(source)
    if not head.lines:
        raise no_rows(source.name)
    first, problem = _object_of(head.lines[0])
    if problem is not None:
        place = f"{source.name}:{head.first}"
        raise InputError(Problem(place, problem.what, head.first_text, problem.fix))
    return first


def _object_of(line: bytes) -> tuple[dict[str, Any], Problem | None]:
    """Return the object on a line, or what is wrong with it."""
    try:
        row = parse(line, _unrepeated)
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
        allowed: tuple[type, ...] = (str,)
        wanted, fix = "text, as in the first row", "write it in quotes"
        if is_number := pa.types.is_floating(kind):
            allowed, wanted, fix = (int, float), "a number", "write it as a number"
        elif pa.types.is_integer(kind):
            allowed, wanted, fix = (int,), "a whole number, as in the first row", "write one type"
        if isinstance(value, bool) or not isinstance(value, allowed):
            what = f"{key}: expected {wanted}, got {shorten(json.dumps(value), 60)}"
            return Problem("", what, fix=fix)
        wrong = check_number(json.dumps(value), key, False) if is_number else None
        if wrong is not None:
            return replace(wrong, fix="repair the line")
    return None


def looks_like_lines(head: Head, kind: Kind) -> bool:
    """Whether the first line is a whole object with the usual keys."""
    if not head.data.lstrip().startswith(b"{"):
        return False
    first, problem = _object_of(head.lines[0][: LONGEST + 1])
    roles = guess(list(first), kind)
    return (
        problem is None
        and ("qid" in roles or (kind == "run" and "score" in roles))
        and not any(isinstance(value, dict) for value in first.values())
        and not any(isinstance(first[name], list) for name in roles.values())
    )


add_formats(
    Format(
        name="json",
        about="JSON as pytrec_eval takes it: {qid: {docno: number}}",
        suffixes=(".json",),
        first=re.compile(rb'\s*\{\s*"[^,]*"\s*:\s*\{'),
        qrels=partial(read_dict, Qrels),
        run=partial(read_dict, Run),
    ),
    Format(
        name="jsonl",
        about='JSON lines, one row a line: {"qid": ..., "docno": ..., "grade" or "score": ...}; '
        "scores alone follow the dataset's rows",
        suffixes=(".jsonl", ".ndjson"),
        first=re.compile(rb"\s*\{"),
        looks=looks_like_lines,
        qrels=partial(read_lines, Qrels),
        run=partial(read_lines, Run),
        is_data=lambda source: _is_row,
    ),
)
