"""JSON as pytrec_eval takes it, ``{qid: {docno: number}}``, and JSON lines, one row a line."""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
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
from ..core.qrels_and_runs import NO_ROWS, Docnos, Qrels, Run, T
from ..core.ragged import offsets_of
from ..errors import SHOWN, InputError, Place, Problem, counted, first_of, said_by, shorten
from .adapters import unnested
from .batches import with_documents
from .column_roles import Names, guess, is_list_type, select_columns
from .columns import Refused, gathered, parse_blocks
from .format import OTHER_JSON, Format, Head, Kind, add_formats
from .frame import from_table, table_of
from .lists import are_rows, table_of_rows
from .memory_limit import check_fits
from .rows import Rows, keep_one, kept_row, warn, warn_dropped
from .source import Source, no_rows
from .text import BOM, LONGEST, check_number, lines_of

Queries = dict[str, dict[str, Any]]
_KEY, _QUERY = 110, 220
"""Bytes of a key with its number, and of a query, as Python objects."""
_IS_OBJECT = re.compile(rb"\s*\{(.*)\}\s*")
_ONE_EACH = "write one object a line, with the same types of values in all"


def read_dict(
    rows_type: type[T], source: Source, *, duplicates: Duplicates, name: str, **settings: Any
) -> T:
    """Read ``{qid: {docno: grade or score}}`` or ``{qid: [docno, ...]}``."""
    word = "grade" if issubclass(rows_type, Qrels) else "score"
    queries, docnos, repeated = _queries(source, duplicates)
    if _is_frame(queries, rows_type.kind):
        raise source.error(*OTHER_JSON, "columns")
    if repeated and duplicates == "error":
        message, fix = "expected each qid, and each docno in a query, once", keep_one(rows_type)
        keys = map(shorten, repeated[:SHOWN])
        problems = [Problem(source.name, message, key, fix, "duplicates") for key in keys]
        raise InputError(problems, total=len(repeated))
    if repeated:
        message = f"dropped {counted(len(repeated), 'repeated key')}; {kept_row(duplicates)}"
        warn(source, message, "dropped-rows", len(repeated))
    if not any(queries.values()):
        raise no_rows(source.name)
    queries = dict(with_documents(rows_type, queries, source))
    if _has_lists(queries):
        return _from_lists(rows_type, source, queries, duplicates, name)
    with contextlib.suppress(InputError, OverflowError):
        if {*map(type, _values(queries))} <= {int, float}:
            numbers = np.fromiter(_values(queries), np.float64, len(docnos))
            offsets = offsets_of([len(rows) for rows in queries.values()])
            numbers = rows_type.check_numbers(numbers, name)
            qids = string_column(queries)
            return rows_type(qids, offsets, Docnos(docnos, offsets), numbers, name)
    raise _wrong_numbers(source, queries, word)


def _from_lists(
    kind: type[T], source: Source, lists: Mapping[str, Any], duplicates: Duplicates, name: str
) -> T:
    """Return the table of lists of docnos; report documents that were dropped."""
    try:
        table = kind.from_dict(lists, name=source.name, duplicates=duplicates)
    except InputError as error:
        fix = OTHER_JSON[1]
        if error.problems[0].rule == "duplicates":
            fix = keep_one(kind)
        problems = [replace(problem, fix=fix) for problem in error.problems]
        raise InputError(problems, total=error.total) from None
    warn_dropped(Rows(source), table.dropped or NO_ROWS, duplicates)
    source.has_ranks = True
    return replace(table, name=name)


def _queries(source: Source, duplicates: Duplicates) -> tuple[Queries, pa.Array, list[str]]:
    """Return the object of the file, all its docnos, and the keys that repeat."""
    text = source.read()
    # at least: names may have more
    n_keys, n_queries = max(text.count(b":"), text.count(b",")), text.count(b"{")
    check_fits(source.name, 2 * len(text) + _KEY * n_keys + _QUERY * n_queries)
    mapping: Any = None
    with contextlib.suppress(ValueError):
        mapping = orjson.loads(text.removeprefix(BOM))
    if isinstance(mapping, dict) and (plain := unnested(mapping, source.name)) is not mapping:
        lists = _has_lists(dict(plain))
        docnos = string_column(() if lists else chain.from_iterable(plain.values()))
        return dict(plain), docnos, []
    if _is_mapping(mapping) and not _has_lists(mapping):
        docnos = string_column(chain.from_iterable(mapping.values()))
        if _holds_each_key_once(text, mapping, docnos):
            return mapping, docnos, []
    repeated: list[str] = []

    def hook(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        unique = dict(pairs)
        if len(unique) < len(pairs):
            repeated.extend((Counter(key for key, _ in pairs) - Counter([*unique])).elements())
            if duplicates == "first":
                unique |= reversed(pairs)
            elif duplicates in ("best", "lowest"):
                unique = _best(pairs, max if duplicates == "best" else min)
        return unique

    if mapping is None and all(map(_IS_OBJECT.fullmatch, lines_of(text.removeprefix(BOM).strip()))):
        # one object of queries a line, joined so that line numbers stay
        text = b"{%b}" % b",\n".join(
            _IS_OBJECT.sub(rb"\1", line) for line in lines_of(text.strip())
        )
    mapping = _loaded(text, source, hook)
    if not _is_mapping(mapping):
        raise source.error(*OTHER_JSON)
    lists = _has_lists(mapping)  # whose docnos are checked later
    docnos = string_column(() if lists else chain.from_iterable(mapping.values()))
    return mapping, docnos, repeated


def _loaded(text: bytes, source: Source, hook: Callable[..., Any] | None = None) -> Any:
    """Return the content of a text of JSON."""
    try:
        return json.loads(text.decode("utf-8-sig"), object_pairs_hook=hook)
    except json.JSONDecodeError as error:
        message = f"not JSON ({error.msg}, column {error.colno})"
        raise InputError(Problem(Place(source.name, error.lineno), message)) from None
    except (ValueError, RecursionError) as error:
        raise source.error(f"not JSON ({error})") from None


def _best(pairs: list[tuple[str, Any]], choose: Callable[..., Any]) -> dict[str, Any]:
    """Return the score that `choose` takes of each key; queries of one qid are joined."""
    best: dict[str, Any] = {}
    for key, value in pairs:
        before = best.get(key, value)
        if isinstance(before, dict) and isinstance(value, dict):
            best[key] = _best([*before.items(), *value.items()], choose)
        elif isinstance(before, list) and isinstance(value, list) and key in best:
            best[key] = before + value
        elif isinstance(before, (int, float)) and isinstance(value, (int, float)):
            best[key] = choose(before, value)
        else:  # it is no score, and refused
            best[key] = value
    return best


def _is_mapping(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return len({*map(type, value.values())} | {dict}) == 1 or _has_lists(value)


def _has_lists(value: dict[str, Any]) -> bool:
    return bool(value) and all(isinstance(rows, list) for rows in value.values())


def _holds_each_key_once(text: bytes, queries: Queries, docnos: pa.Array) -> bool:
    """Whether there is a colon for each key that was read; orjson keeps the last of equal keys."""
    inside = "".join(queries).count(":") + docnos.buffers()[2].to_pybytes().count(b":")
    n = len(queries) + len(docnos)
    return b"\\u003" not in text and text.count(b":") == n + inside


def _is_frame(queries: Queries, kind: str) -> bool:
    """Whether it is a data frame: columns of the same rows, or rows of the same columns."""
    lists, first_query = _has_lists(queries), next(iter(queries.values()), {})
    shape: Callable[[Any], Any] = len if lists else dict.keys
    if not first_query or any(shape(rows) != shape(first_query) for rows in queries.values()):
        return False
    # a qid may be "query" and a docno "label", but then they have no row numbers
    by_column = [*queries], [] if lists else [*first_query]
    for names, rows in (by_column, by_column[::-1]):
        usual = {role for role, name in guess(names, kind).items() if len(name) > 1}
        if "qid" in usual and len(usual) > 1 and all(map(str.isdigit, rows)):
            return True
    if lists:
        return False
    texts = {all(isinstance(cell, str) for cell in rows.values()) for rows in queries.values()}
    return texts == {False, True}  # the columns of identifiers and of numbers


def _values(queries: Queries) -> Iterator[Any]:
    return chain.from_iterable(map(dict.values, queries.values()))


def _wrong_numbers(source: Source, queries: Queries, word: str) -> InputError:
    """Return the error that lists the values that are not sound."""
    wrong = []
    for qid, rows in queries.items():
        for docno, value in rows.items():
            if (problem := check_number(json.dumps(value), word)) is not None:
                key = f"query '{shorten(qid)}', docno '{shorten(docno)}'"
                wrong.append(replace(problem, where=Place(source.name, key=key)))
    return InputError(wrong[:SHOWN], total=len(wrong))


def read_lines(
    rows_type: type[T], source: Source, *, columns: Names | None = None, **settings: Any
) -> T:
    """Read rows of qid, docno and grade or score; `columns` names the keys if they are unusual.

    The rows are lines, or the items of one array; lines of lists of rows are read as an array is.
    """
    is_array = _is_array(source)
    sample = None if is_array else _first_rows(source)
    if sample is None or any(map(_is_list_of_rows, sample.schema.types)):
        source.check_text()
        text = source.read()
        check_fits(source.name, 2 * len(text) + _KEY * text.count(b","))
        rows = _loaded(text, source) if is_array else load_lines(text, source)
        if not are_rows(rows):
            raise source.error(*OTHER_JSON, "columns") if rows else no_rows(source.name)
        table = table_of_rows(rows, rows_type.kind, source.name)
        return from_table(table, rows_type, source, columns, **settings)
    chosen = select_columns(sample.column_names, rows_type.kind, columns, source, sample.select)
    types = {key: _type_of(sample[key].type, role) for role, key in chosen.items()}
    table = gathered(
        parse_blocks(
            source,
            (block for block in source.blocks() if not block.isspace()),
            partial(_read_block, types=types),
            _is_row,
            partial(_check_line, types=types),
            has_names=True,
        )
    )
    return table_of(table, rows_type, chosen, Rows(source, _is_row), columns=columns, **settings)


def _is_list_of_rows(kind: pa.DataType) -> bool:
    return is_list_type(kind) and pa.types.is_struct(kind.value_type)


def load_lines(text: bytes, source: Source) -> list[Any]:
    """Return the content of each line; InputError with the line that is not JSON."""
    rows = []
    for number, line in enumerate(lines_of(text.removeprefix(BOM)), 1):
        try:
            rows += [orjson.loads(line)] if line.strip() else []
        except ValueError as error:
            message = f"not JSON ({error})"
            raise InputError(Problem(Place(source.name, number), message)) from None
    return rows


def _is_array(source: Source) -> bool:
    return source.head.lstrip().startswith(b"[")


def _first_rows(source: Source) -> pa.Table:
    """Return the rows at the head of a file; the first one alone if one after it is wrong."""
    source.check_length()
    source.check_text()
    head = Head(source.suffix, source.head)
    if not head.lines:
        raise no_rows(source.name)
    for lines in (head.lines, head.lines[:1]):
        try:
            return _parsed(b"\n".join(lines))
        except Refused as error:
            message = str(error)
    raise InputError(Problem(Place(source.name, head.first), message, head.first_text, _ONE_EACH))


def _type_of(kind: pa.DataType, role: str) -> pa.DataType:
    """Return the type to read a key in: a list stays one, and numbers may be identifiers."""
    if is_list_type(kind):
        return pa.list_(_type_of(kind.value_type, role))
    if role not in ("qid", "docno"):
        return pa.float64()
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return kind if is_number else pa.string()


def _parsed(text: bytes, types: Mapping[str, pa.DataType] | None = None) -> pa.Table:
    """Return the objects of some lines as rows; the keys in `types` alone if they are given."""
    reading = pajson.ReadOptions(use_threads=False, block_size=len(text))
    schema = None if types is None else pa.schema(list(types.items()))
    others = "ignore" if types else "infer"
    options = pajson.ParseOptions(explicit_schema=schema, unexpected_field_behavior=others)
    try:
        table = pajson.read_json(pa.BufferReader(text), reading, options)
        table.validate(full=True)  # Arrow takes bytes that are not UTF-8
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise Refused(said_by(error, 300).removesuffix(" in row 0")) from None
    return table


def _read_block(block: bytes, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Return the columns of some lines, identifiers as text."""
    table = _parsed(block, types)
    if any(column.null_count for column in table.columns):
        raise Refused("a value is missing")
    return pa.table(
        {
            key: cast(table[key], pa.string()) if pa.types.is_integer(kind) else table[key]
            for key, kind in types.items()
        }
    )


def _is_row(number: int, line: bytes) -> bool:
    return bool(line.strip())


def _check_line(line: bytes, types: Mapping[str, pa.DataType]) -> Problem | None:
    """Problem of a line, without its place; None if the line is valid."""
    try:
        row = _parsed(line, types)
    except Refused as error:
        return Problem("", str(error), fix=_ONE_EACH)
    missing = [key for key in types if row[key].null_count]
    message = f"expected {first_of([*types])}, got no value of {first_of(missing)}"
    return Problem("", message, fix="correct the line", rule="columns") if missing else None


def looks_like_lines(head: Head, kind: Kind) -> bool:
    """Whether the first line is a whole object with the usual keys, or the first item is a row."""
    try:
        if head.first_text.lstrip().startswith("["):
            text = head.data[head.data.index(b"[") + 1 :].decode("utf-8", "replace")
            return are_rows([json.JSONDecoder().raw_decode(text.lstrip())[0]])
        row = json.loads(head.lines[0][: LONGEST + 1])
        roles = guess([*row], kind)
        columns = [key for key in row.keys() & {*roles.values()} if isinstance(row[key], list)]
        is_frame = roles.get("qid") in columns or (columns and roles.get("docno") not in columns)
        is_row = "qid" in roles or (kind == "run" and "score" in roles)
        return is_row and not (is_frame or any(isinstance(value, dict) for value in row.values()))
    except (ValueError, RecursionError):
        return False


add_formats(
    Format(
        name="json",
        about="JSON object {qid: {docno: number}}, as for pytrec_eval, or {qid: [docno, ...]}",
        suffixes=(".json",),
        first=re.compile(rb'\s*\{\s*("[^,]*"\s*:\s*(\{|\[\s*(["\]{]|$))|"metric_score")'),
        looks=lambda head, kind: not looks_like_lines(head, kind),
        qrels=partial(read_dict, Qrels),
        run=partial(read_dict, Run),
    ),
    Format(
        name="jsonl",
        about='JSON lines, or an array, of rows {"qid": ..., "docno": ..., "grade" or "score": '
        "...}; a row may have a whole ranking as lists. Rows with a score alone follow the dataset",
        suffixes=(".jsonl", ".ndjson"),
        first=re.compile(rb"\s*[{[]"),
        looks=looks_like_lines,
        qrels=partial(read_lines, Qrels),
        run=partial(read_lines, Run),
        is_data=lambda source: None if _is_array(source) else _is_row,
        has_rows=True,
    ),
)
