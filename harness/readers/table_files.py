"""Tables with named columns: CSV, TSV, Parquet and Arrow (Feather) files."""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from ..core.arrow import as_whole, call
from ..core.hashing import hash_values
from ..core.qrels_and_runs import Qrels, Run, T
from ..core.ragged import Array
from ..errors import InputError, Place, Problem, said_by, shorten
from .column_roles import (
    Names,
    by_name,
    by_position,
    guess,
    naming,
    number_names,
    number_role,
    select_columns,
)
from .columns import CORRECT, Layout, gathered, is_heading, read_columns, single_blanks
from .format import FORMATS, Format, Head, Kind, add_formats, fields_of, mostly, without_names
from .frame import table_of
from .memory_limit import check_fits
from .rows import Rows
from .source import BLOCK, WHOLE_FILE, Source, no_rows
from .text import BOM, LONGEST, IsDataLine, decoded, is_like_number, without_first_lines
from .trec import BEIR_NAMES, has_no_names

csv.field_size_limit(max(csv.field_size_limit(), LONGEST))  # a name may be as long as a line
_PARQUET, _ARROW = b"PAR1", (b"ARROW1", b"FEA1")
_ROWS = 1 << 16  # Rows of a Parquet file that are read at once


def read(rows_type: type[T], source: Source, *, columns: Names | None = None, **settings: Any) -> T:
    """Read a table: columns qid, and grade, score or rank (whose score is -rank), and docno.

    Without docnos, grades go by position, and scores follow the rows of `dataset`. `columns` is
    ``{qid: ..., docno: ..., grade: ...}``: names of columns, or their numbers from 1, which a file
    without a header has. Those left out are found by the usual names. ``docno: none`` declares
    that rows go by position. Columns of a text are separated by blanks, tabs, commas or semicolons.
    """
    is_row = None
    try:
        with source.explained():
            if source.head.startswith((_PARQUET, *_ARROW)):
                chosen, table = _read_binary(source, rows_type.kind, columns)
            else:
                chosen, table, is_row = _read_text(rows_type, source, columns)
                if "qid" in chosen:
                    table = _with_whole_qids(table, chosen["qid"], source.head)
    except (pa.ArrowException, OverflowError, ValueError, KeyError) as error:
        message = f"cannot be read as a table ({said_by(error, 300)})"
        rule = "truncated" if _is_cut(source) else ""
        raise source.error(message, WHOLE_FILE, rule) from None
    if not table.num_rows:
        raise no_rows(source.name)
    if source.hashed and source.may_reread and rows_type is Qrels:
        with contextlib.suppress(pa.ArrowException, ValueError):
            source.row_marks = _row_marks(source, columns)
    return table_of(table, rows_type, chosen, Rows(source, is_row), columns=columns, **settings)


def has_features(source: Source) -> bool:
    """Whether a table has columns of qids, grades and features, and none of scores."""
    if source.head.startswith((_PARQUET, *_ARROW)):
        names = _columns(source, []).column_names
    else:
        head = Head(source.suffix, source.head)
        names = head.fields[0] if head.lines else []
    of_qrels, of_run = guess(names, "qrels"), guess(names, "run")
    has_rows = {"qid", "grade"} <= of_qrels.keys() and of_run.keys().isdisjoint({"score", "rank"})
    return has_rows and len(names) > 1 + len(of_qrels)


def _columns(source: Source, names: Sequence[str]) -> pa.Table:
    """Return some columns of a table; for no names, all of a binary file's with few rows."""
    data = pa.BufferReader(source.read())
    if source.head.startswith(_PARQUET):
        import pyarrow.parquet as parquet

        file = parquet.ParquetFile(data)
        empty: pa.Table = file.schema_arrow.empty_table()
        return file.read(columns=[*names], use_threads=False) if names else empty
    if source.head.startswith(_ARROW):
        table: pa.Table = _open_arrow(data, source).read_all()
        return table.select([*names]) if names else table
    head = Head(source.suffix, source.head)
    options = pa_csv.ConvertOptions(include_columns=[*names])
    begin = pa_csv.ReadOptions(use_threads=False, skip_rows=head.first - 1)
    parse = pa_csv.ParseOptions(delimiter=head.between or " ")
    return pa_csv.read_csv(data, begin, parse, options)


def _row_marks(source: Source, columns: Names | None) -> Array | None:
    """Return a hash of the features of each row: the columns of numbers without a role.

    It is that of their values in single precision, and 0 if all of them are equal. Columns of
    whole numbers that all differ are identifiers.
    """
    if not source.unused_columns or any(isinstance(name, int) for name in (columns or {}).values()):
        return None
    low = high = marks = None
    for number, values in enumerate(_columns(source, sorted(source.unused_columns)).columns):
        is_whole = pa.types.is_integer(values.type)
        if not (is_whole or pa.types.is_floating(values.type)):
            continue
        numbers = values.cast(pa.float64(), safe=False).to_numpy() + 0.0
        if is_whole and np.unique(numbers).size == numbers.size:
            continue
        if low is None or high is None or marks is None:
            low, high, marks = numbers, numbers, np.zeros(numbers.size, np.uint64)
        low, high = np.minimum(low, numbers), np.maximum(high, numbers)
        marks += hash_values(np.array([number], np.uint64), numbers)
    return None if marks is None else np.where(low == high, np.uint64(0), marks)


def _read_binary(
    source: Source, kind: str, columns: Names | None
) -> tuple[dict[str, str], pa.Table]:
    """Read the needed columns of a Parquet or an Arrow file; return their roles too."""
    opened = pa.BufferReader(source.read()) if source.codec else source.file
    if source.head.startswith(_PARQUET):
        import pyarrow.parquet as parquet

        file = parquet.ParquetFile(opened, pre_buffer=False)
        schema = file.schema_arrow
    else:
        file, batch_file = None, _open_arrow(opened, source)
        schema = batch_file.schema

    def batches(names: list[str]) -> Iterator[pa.RecordBatch]:
        if file is None:
            for number in range(batch_file.num_record_batches):
                yield batch_file.get_batch(number).select(names)
        else:
            yield from file.iter_batches(_ROWS, columns=names, use_threads=False)

    def rows_of(names: list[str], parts: list[pa.RecordBatch]) -> pa.Table:
        empty = pa.schema([field for field in schema if field.name in names])
        table = pa.Table.from_batches(parts, parts[0].schema if parts else empty)
        table.validate(full=True)
        return table

    def first_rows(names: list[str]) -> pa.Table:
        return rows_of(names, [*islice(batches(names), 1)])

    chosen = select_columns(schema.names, kind, columns, source, first_rows)
    columns_read = sorted({*chosen.values()})
    if file is not None:
        row = sum(_least_bytes(schema.field(name).type) for name in columns_read)
        check_fits(source.name, file.metadata.num_rows, row)
    size, parts = 0, []
    # counted as they are read: at damaged sizes of a column, Arrow ends the interpreter
    for batch in batches(columns_read):
        check_fits(source.name, size := size + batch.nbytes)
        parts.append(batch)
    return chosen, rows_of(columns_read, parts)


def _in_arrow(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.RecordBatchFileWriter(sink, table.schema) as file:
        file.write_table(table)
    return sink.getvalue()


def _open_arrow(opened: Any, source: Source) -> Any:
    """Return a reader of an Arrow file's batches."""
    import pyarrow.feather as feather
    import pyarrow.ipc as ipc

    if source.head.startswith(_ARROW[1]):  # the first version of Feather is read whole
        opened = _in_arrow(feather.read_table(opened, use_threads=False))
    options = ipc.IpcReadOptions(use_threads=False)
    file = pa.OSFile(opened) if isinstance(opened, str) else opened
    return ipc.open_file(file, options=options)


def _least_bytes(kind: pa.DataType) -> float:
    """Lower bound of the bytes of one value of a column."""
    try:
        return int(kind.bit_width) / 8
    except ValueError:  # texts have an offset each
        return 4.0


def _with_whole_qids(table: pa.Table, name: str, head: bytes) -> pa.Table:
    """Return a CSV's table with 7 for the qid 7.0 if all are such numbers, as pandas writes them.

    CSV has no types, so a column of numbers is one of floating point here, too, unless quoted.
    """
    qids = table[name]
    if not pa.types.is_string(qids.type) and not pa.types.is_large_string(qids.type):
        return table
    if len(qids) and f'"{qids[0]}"'.encode() in head:
        return table
    place = table.column_names.index(name)
    return table.set_column(place, name, as_whole(qids.combine_chunks()))


def _is_cut(source: Source) -> bool:
    """Whether a file begins as Parquet or Arrow and does not end so."""
    mark = next((magic for magic in (_PARQUET, *_ARROW) if source.head.startswith(magic)), b"")
    return bool(mark) and not source.codec and not source.read().endswith(mark)


def _read_text(
    rows_type: type[T], source: Source, columns: Names | None
) -> tuple[dict[str, str], pa.Table, IsDataLine]:
    """Read the needed columns of a CSV or TSV file; return the lines of the rows too."""
    source.check_length()
    source.check_text()
    kind: Kind = "qrels" if rows_type is Qrels else "run"
    head = Head(source.suffix, source.head)
    if not head.lines:
        raise no_rows(source.name)
    line, place = head.lines[0], Place(source.name, head.first)
    between = _between(head, columns or {})
    parse = pa_csv.ParseOptions(delimiter=between or " ")
    begin = pa_csv.ReadOptions(use_threads=False, block_size=len(line) + 2)
    try:
        words = line if between else single_blanks(line + b"\n").strip()
        names = pa_csv.read_csv(pa.BufferReader(words + b"\n"), begin, parse).column_names
    except pa.ArrowInvalid as error:
        message = f"expected a line of column names ({said_by(error, 300)})"
        raise InputError(Problem(place, message, head.first_text, "correct the line")) from None
    has_names = _has_names(place, kind, names, head.first_text, columns or {})
    above = head.first - (not has_names)
    names = [name.strip() for name in names] if has_names else number_names(len(names))
    columns = by_name(columns, names, source.name, have_numbers=False)
    is_unnamed = len(names) == 1 < len(fields_of(line)) or any(map(is_like_number, names))
    if is_unnamed and not (columns or guess(names, kind) or head.has_heading):
        raise without_names(source, head, kind)

    def first_rows(columns_read: list[str]) -> pa.Table:
        text = source.read(BLOCK).removeprefix(BOM)
        text = text[: text.rfind(b"\n") + 1] if len(text) >= BLOCK - len(BOM) else text
        rows, _ = without_first_lines(text, above)
        rows = rows if between else single_blanks(rows)
        read = pa_csv.ReadOptions(use_threads=False, column_names=names, block_size=len(rows) + 1)
        with contextlib.suppress(pa.ArrowException):
            return pa_csv.read_csv(pa.BufferReader(rows), read, parse)
        return pa.table({})

    chosen = select_columns(names, kind, columns, source, first_rows)
    role = number_role(chosen)
    quoted = " " if '"' in head.first_text else ""  # as R's write.table has it
    layout = Layout(
        tuple(names),
        tuple(dict.fromkeys(name for column_role, name in chosen.items() if column_role != role)),
        number=chosen.get(role, ""),
        whole=role == "rank",
        header=above - source.n_comments,
        between=between or quoted,
        role=role,
        fix=Layout.fix if "docno" in chosen else CORRECT,
    )
    table = gathered(read_columns(source, layout))
    if between and re.search(f" {between}|{between} ", head.first_text):  # not part of a name
        for index, name in enumerate(layout.text):
            table = table.set_column(index, name, call("utf8_trim_whitespace", [table[name]]))
    source.is_row = layout.is_data(source)
    return chosen, table, source.is_row


def _between(head: Head, columns: Names) -> str:
    """Return the separator of fields that gives each row the requested columns."""
    names, numbers = _asked(columns)
    of_numbers = {numbers[role] for role in ("grade", "score", "rank") if role in numbers}

    def has_columns(row: list[str]) -> bool:
        return max(numbers.values(), default=0) <= len(row) and all(
            is_like_number(row[number - 1]) for number in of_numbers
        )

    def fits(between: str) -> bool:
        heading, *rows = (_fields(line, between) for line in head.lines)
        return names <= {*heading} and mostly(rows or [heading], has_columns)

    return next(filter(fits, (head.between, "", "\t", ",", ";")), head.between)


def _asked(columns: Names) -> tuple[set[str], dict[str, int]]:
    """Return the columns requested by name, and the numbers of the others by role."""
    asked = {role: column for role, column in columns.items() if not by_position(columns, role)}
    numbers = {role: int(name) for role, name in asked.items() if not isinstance(name, str | None)}
    return {str(asked[role]).strip() for role in asked.keys() - numbers}, numbers


def _fields(line: bytes, between: str) -> list[str]:
    """Return the fields of a line, which may be in quotes."""
    text, fields = decoded(line).strip(), list[str]()
    if not between and '"' not in text:
        return text.split()
    with contextlib.suppress(csv.Error):
        fields = next(csv.reader([text], delimiter=between or " "), [])
    return [field.strip() for field in fields if between or field]


def _has_names(place: Place, kind: Kind, names: Sequence[str], text: str, columns: Names) -> bool:
    """Whether the first line has names of columns, if these are requested by number.

    InputError if words that are no usual names are where a number belongs.
    """
    asked, numbers = _asked(columns)
    if asked or not numbers:
        return True
    if any(map(is_like_number, names)) or max(numbers.values()) > len(names):
        return False
    if any(len(name) > 1 for name in guess(names, kind).values()):
        return True
    role = next((role for role in ("score", "rank", "grade") if role in numbers), "")
    if not role or not is_heading(text):
        return False
    word = shorten(names[numbers[role] - 1], 60)
    message = f"{role}: expected a number, got '{word}'; it looks like a header line"
    fix = naming(kind, {role: names[number - 1] for role, number in numbers.items()})
    raise InputError(Problem(place, message, text, f"delete the line, or {fix}", "header-line"))


def looks(head: Head, kind: Kind) -> bool:
    """Whether it is Parquet or Arrow, or has a header with the usual names."""
    if head.data.startswith((_PARQUET, *_ARROW)):
        return True
    if len(head.lines[0]) > LONGEST:
        return False
    if head.first_text.split() == BEIR_NAMES and kind == "qrels":
        return False
    line = head.first_text.rstrip("\r")
    names = [name.strip('"') for name in line.split(head.between or None)]
    columns = guess(names, kind)
    is_trec = not head.between and mostly(head.lines, FORMATS["trec"].rows[kind].match)
    if is_trec and has_no_names(head, kind):
        return False
    if "qid" in columns and not columns.keys().isdisjoint({"grade", "score", "rank"}):
        return True
    if kind == "qrels" and columns.keys() == {"qid", "docno"} and len(names) == 2:
        return True
    is_named = not columns.keys().isdisjoint({"qid", "score"}) and len(names) > 1
    has_words = all(len(columns.get(role, "")) > 1 for role in ("qid", "docno"))  # not q and d
    is_named = is_named and (has_words or not any(map(is_like_number, names)))
    return kind == "run" and (head.has_heading or is_named)


def is_data(source: Source) -> IsDataLine | None:
    """Return the test for rows that was used when a text was read."""
    return source.is_row


add_formats(
    Format(
        name="table",
        about="CSV, TSV, Parquet or Arrow with named columns "
        "(columns: {qid: ..., docno: ..., ...})",
        suffixes=(".csv", ".tsv", ".parquet", ".arrow", ".feather"),
        looks=looks,
        qrels=partial(read, Qrels),
        run=partial(read, Run),
        magic=re.compile(b"|".join((_PARQUET, *_ARROW))),
        first=re.compile(b""),
        is_data=is_data,
        has_rows=True,
    )
)
