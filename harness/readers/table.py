"""Tables with named columns: CSV, TSV, Parquet, Arrow/Feather, and data frames in memory."""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from ..core.arrow import to_numpy
from ..core.policy import Duplicates
from ..core.tables import DuplicateRows, Qrels, Run, T
from ..errors import InputError, Problem, first_of, said_by
from ..files import check_room
from . import arrow_file as binary_table
from . import beir as beir
from . import trec as trec
from .ahead import of_blocks
from .blocks import BOM, LONGEST
from .build import (
    TEXT,
    check_length,
    doubtful_lines,
    gathered,
    row_names,
    wrong_lines,
)
from .columns import NOT_UTF8, WHOLE_FILE, after_header, without_first_lines
from .format import Format, Head, Kind
from .frame import (
    Names,
    check_pairing,
    check_types,
    choose,
    first_line,
    guess,
    might_pair,
    read_table,
    repeated_rows,
    table_of,
    warn_unused,
    without_gaps,
)
from .number_text import check_number, is_like_number
from .source import BLOCK, Source, no_rows

csv.field_size_limit(max(csv.field_size_limit(), LONGEST))  # a name may be as long as a line
_REPAIR = "repair the line"


def names_in(line: bytes, delimiter: str, where: str) -> list[str]:
    r"""Return the names of columns that a line holds, up to the carriage return that ends it.

    Raises
    ------
    InputError
        If a quote is not closed.

    >>> names_in(b'qid,"a ""b"", c",score\r', ",", "a.csv:1")
    ['qid', 'a "b", c', 'score']
    """
    text = line.strip(b"\r").decode("utf-8")
    if '"' not in text:
        return text.partition("\r")[0].split(delimiter)
    names, *after = csv.reader(re.findall("[^\r]*\r?", text), delimiter=delimiter)
    if not after:
        what = "the first line cannot be split into columns: a quote is not closed"
        raise InputError(Problem(where, what, text[:TEXT], _REPAIR))
    return names


ReadBlock = Callable[[bytes], pa.Table]


def diagnose(
    source: Source,
    read: ReadBlock,
    delimiter: str,
    header: Sequence[str],
    chosen: Mapping[str, str],
    above: int,
    fractions: bool,
    reason: str,
) -> InputError:
    """Return the error that lists the lines which are no rows.

    Parameters
    ----------
    read : callable
        Returns the columns of a block.
    header : sequence of str
        Names of all columns.
    chosen : mapping
        Which of them holds what, as :func:`~harness.readers.frame.choose` returns it.
    above : int
        Lines before the first row: 0 where the columns go by their numbers.
    fractions : bool
        Whether grades may be fractions.
    reason : str
        What the reader that failed said, for want of a wrong line.
    """

    def check(line: bytes) -> Problem | None:
        wrong = _check_line(line, delimiter, header, chosen, fractions)
        return wrong and replace(wrong, fix=wrong.fix or _REPAIR)

    reads = partial(_reads, read=read, chosen=chosen, fractions=fractions)
    found = wrong_lines(source, _rows(doubtful_lines(source, reads), above), check)
    if not found.problems:  # lines that can be read together and not one by one
        found = wrong_lines(source, _rows(source.lines(), above), check)
    problems = found.problems
    if not problems:
        return InputError(Problem(source.name, f"cannot be read as a table ({reason})"))
    last = problems[-1]
    if source.unfinished and last.where == f"{source.name}:{found.last}":
        what = f"the file ends in the middle of a line: {last.what}"
        problems[-1] = replace(last, what=what, fix=WHOLE_FILE, rule="truncated")
    elif not above and found.total == 1 and last.where == f"{source.name}:{_first(source)}":
        what = f"{last.what}; it looks like a header line"
        fix = "give the columns by their names, or delete the header line"
        problems[-1] = replace(last, what=what, fix=fix, rule="header-line")
    return found.error()


def _first(source: Source) -> int:
    """Return the number of the first line that is not empty."""
    return next(_rows(source.lines(), 0))[0]


def _reads(block: bytes, read: ReadBlock, chosen: Mapping[str, str], fractions: bool) -> bool:
    """Return whether some whole lines are rows, all of them."""
    try:
        table = read(block)
    except (pa.ArrowException, UnicodeDecodeError):
        return False
    role = _role(chosen)
    numbers = to_numpy(table[chosen[role]])
    is_whole = fractions or role == "score" or not (numbers != np.trunc(numbers)).any()
    return bool(np.isfinite(numbers).all()) and is_whole


def _role(chosen: Mapping[str, str]) -> str:
    return next(role for role in ("grade", "score", "rank") if role in chosen)


def _rows(lines: Iterable[tuple[int, bytes]], above: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty, after the header, with their numbers."""
    for number, line in lines:
        if number > above and line.rstrip(b"\r"):
            yield number, line


def _check_line(
    line: bytes,
    delimiter: str,
    header: Sequence[str],
    chosen: Mapping[str, str],
    fractions: bool,
) -> Problem | None:
    """Return what is wrong with a line, and what to do where it is special; None if nothing."""
    try:
        text = line.decode("utf-8").rstrip("\r")
    except UnicodeDecodeError:
        return NOT_UTF8
    try:
        fields = next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error as error:
        return Problem("", f"the line cannot be split into fields ({error})")
    if len(fields) != len(header):
        counted = f"{len(fields)} field{'s' * (len(fields) != 1)}"
        what = f"{counted} where {len(header)} belong ({first_of(header)})"
        return Problem("", what, rule="columns")
    role = _role(chosen)
    value = fields[header.index(chosen[role])].strip(" \t")
    return check_number(value, role, whole=not (fractions or role == "score"))


def without_names(head: Head, kind: Kind) -> tuple[str, str] | None:
    """Return what is wrong with a file that begins like this, and what to do; None for others.

    >>> without_names(Head("", b"q1,d1,0.5\\n"), "run")[0]
    'it looks like a table of qid, docno, score without a line of names'
    >>> without_names(Head("", b"number,text,value\\nq1,d1,0.5\\nq1,d2,0.25\\n"), "run")[0]
    'it looks like a table of qid, docno, score with other names above'
    """
    number = "grade" if kind == "qrels" else "score"
    for names in (("qid", "docno", number), (trec.QRELS if kind == "qrels" else trec.RUN).fields):
        is_row = partial(_is_row, at=names.index(number))
        for between in ",\t":
            lines = (line.decode("utf-8", "replace").strip().split(between) for line in head.lines)
            rows = [line if len(line) == len(names) else [] for line in lines]
            if head.mostly(rows, is_row):
                looks = f"it looks like a table of {', '.join(names)}"
                if is_row(rows[0]):
                    return f"{looks} without a line of names", _put_above(names, number, between)
                return (f"{looks} with other names above", _rename(number)) if rows[0] else None
    return None


def _put_above(names: tuple[str, ...], number: str, between: str) -> str:
    tabs = " (tabs between)" * (between == "\t")
    above = (", " if tabs else between).join(names) + tabs
    columns = ", ".join(f"{role}: {names.index(role) + 1}" for role in ("qid", "docno", number))
    return (
        f"put a first line above it: {above}; or in a config format: table, columns: {{{columns}}}"
    )


def _rename(number: str) -> str:
    columns = f"{{qid: NAME, docno: NAME, {number}: NAME}}"
    return (
        f"call the columns so, or say in a config which is which: format: table, columns: {columns}"
    )


def check_names(source: Source, header: list[str], kind: str) -> None:
    """Raise where rows of known columns stand where the names of the columns belong."""
    head = Head(source.suffix, source.head)
    found = without_names(head, "qrels" if kind == "qrels" else "run")
    if found is None and len(header) == 1 and len(header[0].split()) > 1:
        number = "grade" if kind == "qrels" else "score"
        fix = f"put commas or tabs there, and the names of the columns above: qid,docno,{number}"
        found = "neither commas nor tabs between the columns of a table", fix
    if found is not None:
        first = head.lines[0].decode("utf-8", "replace")
        raise InputError(
            Problem(f"{source.name}:{head.first}", found[0], first, found[1], "columns")
        )


def _is_row(fields: list[str], at: int) -> bool:
    """Whether a number stands there, and before it what may be identifiers."""
    decimals = ("." in field and is_like_number(field) for field in fields[:at])
    return bool(fields) and is_like_number(fields[at].strip()) and not any(decimals)


_PARQUET, _ARROW = b"PAR1", (b"ARROW1", b"FEA1")
_WIDEST = 10_000
"""Columns of a text: for each Arrow has places for 512 fields, used or not."""


def read_qrels(
    source: Source,
    *,
    duplicates: Duplicates,
    name: str,
    fractions: bool = False,
    columns: Names | None = None,
) -> Qrels:
    """Read a dataset: columns qid and grade, and docno where there is one.

    Parameters
    ----------
    columns : mapping, optional
        ``{qid: ..., docno: ..., grade: ...}``: names of columns, or their numbers from 1 for
        CSV and TSV without a header. Those left out are found by the usual names. ``docno:
        none`` says that no column names the documents: rows go by their position.
    """
    return _read(Qrels, source, None, duplicates, name, columns, fractions)


def read_run(
    source: Source,
    *,
    dataset: Qrels | None = None,
    duplicates: Duplicates,
    name: str,
    columns: Names | None = None,
) -> Run:
    """Read a run: columns qid, docno and score (or rank, whose score is -rank).

    Without docnos, the scores follow the rows of `dataset`.
    """
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
    numbered = any(isinstance(column, int) for column in (columns or {}).values())
    try:
        with source.explained():
            table, above = _open(source, of.kind, columns, numbered, fractions)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        said = said_by(error, 300)
        raise InputError(Problem(source.name, f"cannot be read as a table ({said})")) from None
    if not table.num_rows:
        raise no_rows(source.name)
    return read_table(
        source, table, of, columns, None if above is None else _after(above), dataset=dataset,
        duplicates=duplicates, name=name, fractions=fractions,
    )  # fmt: skip


def _open(
    source: Source, kind: str, columns: Names | None, numbered: bool, fractions: bool
) -> tuple[pa.Table, int | None]:
    """Return the columns that matter, and how many lines stand above the rows if it is text."""
    head = source.head
    if head.startswith((_PARQUET, *_ARROW)):
        read = binary_table.read_parquet if head.startswith(_PARQUET) else binary_table.read_arrow
        _check_end(source, head)
        return read(source, kind, columns), None
    check_length(source)
    line = first_line(source)
    above = head.count(b"\n", 0, head.find(line)) + (not numbered)
    delimiter = "\t" if b"\t" in line else ","
    width = line.count(delimiter.encode()) + 1
    if width > _WIDEST:
        what = f"more than {_WIDEST:,} columns, which are the most that are read"
        fix = "write a file of the columns that are used"
        raise InputError(Problem(source.name, what, fix=fix))
    first = names_in(line, delimiter, f"{source.name}:{above + numbered}")
    header = [str(i + 1) for i in range(len(first))] if numbered else first
    if not columns and not guess(header, kind):
        check_names(source, header, kind)
    chosen = choose(header, kind, columns, source.name)
    parse = pa_csv.ParseOptions(delimiter=delimiter)
    if others := might_pair(header, chosen, columns):
        sample = _sample(source, above, header, parse)
        check_pairing(sample, chosen["qid"], others, source.name)
    warn_unused(source, header, chosen)
    names_of = {str(role): chosen[role] for role in ("qid", "docno") if role in chosen}
    text = dict.fromkeys(names_of.values(), pa.string())
    numbers = {column: pa.float64() for column in chosen.values() if column not in text}
    options = pa_csv.ConvertOptions(
        column_types=text | numbers, include_columns=[*text, *numbers],
        null_values=[], strings_can_be_null=False,
    )  # fmt: skip
    read = partial(_read_block, header=header, parse=parse, options=options)
    blocks = (block for block in after_header(source, above) if block.strip(b"\r\n"))
    try:
        tables = [*without_gaps(of_blocks(read, source, blocks), names_of,
                                row_names(source, _after(above)))]  # fmt: skip
    except pa.ArrowInvalid as error:
        reason = str(error)
        raise diagnose(source, read, delimiter, header, chosen, above, fractions, reason) from None
    if not tables:
        raise no_rows(source.name)
    return gathered(tables), above


def _read_block(
    block: bytes, header: list[str], parse: pa_csv.ParseOptions, options: pa_csv.ConvertOptions
) -> pa.Table:
    check_room(8 * len(block))
    read = pa_csv.ReadOptions(use_threads=False, column_names=header, block_size=len(block) + 1)
    return pa_csv.read_csv(pa.BufferReader(block), read, parse, options)


def _sample(source: Source, above: int, header: list[str], parse: pa_csv.ParseOptions) -> pa.Table:
    """Return the first rows with all columns; nothing where they cannot be read."""
    begin = source.read(BLOCK).removeprefix(BOM)
    begin = begin[: begin.rfind(b"\n") + 1] if len(begin) >= BLOCK - len(BOM) else begin
    rows, _ = without_first_lines(begin, above)
    read = pa_csv.ReadOptions(use_threads=False, column_names=header, block_size=len(rows) + 1)
    with contextlib.suppress(pa.ArrowException):
        return pa_csv.read_csv(pa.BufferReader(rows), read, parse)
    return pa.table({name: pa.nulls(0) for name in {*header}})


def _check_end(source: Source, head: bytes) -> None:
    """Raise where a file that begins as Parquet or Arrow does not end so: it was cut."""
    mark = next(one for one in (_PARQUET, *_ARROW) if head.startswith(one))
    if source.codec:  # one that is cut says so itself
        return
    with open(source.file, "rb") as file:
        file.seek(-min(len(mark), file.seek(0, 2)), 2)
        if file.read() == mark:
            return
    name = "a Parquet" if mark == _PARQUET else "an Arrow"
    what = f"the file is cut short: it begins as {name} file and does not end as one"
    fix = "get the whole file again"
    raise InputError(Problem(source.name, what, fix=fix, rule="truncated"))


def looks(head: Head, kind: Kind) -> bool:
    """Whether it is Parquet or Arrow, or has a header with the usual names."""
    if head.data.startswith((_PARQUET, *_ARROW)):
        return True
    if not head.lines or len(head.lines[0]) > LONGEST:
        return False
    line = head.lines[0].decode("utf-8", "replace").rstrip("\r")
    fields = line.split("\t" if "\t" in line else ",", _WIDEST)[:_WIDEST]
    names = [name.strip('"') for name in fields]
    if head.fields[0] == beir.HEADER and kind == "qrels":
        return False
    found = guess(names, kind)
    return "qid" in found and not found.keys().isdisjoint({"grade", "score", "rank"})


_KINDS: tuple[Kind, ...] = ("qrels", "run")


def is_data(source: Source) -> Callable[[int, bytes], bool] | None:
    """Return what tells the rows of a text from other lines, where its header has usual names."""
    if source.head.startswith((_PARQUET, *_ARROW)):
        return None
    line = first_line(source)
    if not any(looks(Head("", line + b"\n"), kind) for kind in _KINDS):
        return None
    return _after(source.head.count(b"\n", 0, source.head.find(line)) + 1)


def _after(above: int) -> Callable[[int, bytes], bool]:
    return lambda number, line: number > above and bool(line.strip())


FORMAT = Format(
    name="table",
    about="CSV, TSV, Parquet or Arrow with named columns (columns: {qid: ..., docno: ..., ...})",
    suffixes=(".csv", ".tsv", ".parquet", ".arrow", ".feather"),
    looks=looks,
    qrels=read_qrels,
    run=read_run,
    magic=(_PARQUET, *_ARROW),
    is_data=is_data,
    has_rows=True,
)


def from_frame(
    frame: Any,
    of: type[T],
    columns: Mapping[str, str | None] | None = None,
    *,
    dataset: Qrels | None = None,
    duplicates: Duplicates = "error",
    name: str = "",
    fractions: bool = False,
) -> T:
    """Return qrels or a run from an Arrow table, a pandas or a polars data frame.

    Parameters
    ----------
    frame : table or data frame
        Columns qid, docno and grade or score, found by their usual names.
    of : Qrels or Run
        Which of them to make.
    columns : mapping, optional
        ``{"qid": ..., "docno": ..., "grade": ...}`` where the names are others. ``"docno": None``
        says that no column names the documents: rows go by their position.
    dataset : Qrels, optional
        For a run without docnos: whose rows the scores follow.
    fractions : bool
        Whether grades may be fractions.

    Raises
    ------
    InputError
        Where a column is absent, a value is missing, or a docno stands twice in a query.

    Examples
    --------
    >>> table = pa.table({"query_id": ["q1", "q1"], "docid": ["a", "b"], "label": [2, 0]})
    >>> from_frame(table, Qrels).to_dict()
    {'q1': {'a': 2, 'b': 0}}
    """
    where = name or "data frame"
    if hasattr(frame, "__arrow_c_stream__"):
        table = pa.table(frame)
    else:
        table = pa.Table.from_pandas(frame, nthreads=1)
    chosen = choose(table.column_names, of.kind, columns, where)
    check_types(table.schema, chosen, where)
    if others := might_pair(table.column_names, chosen, columns):
        check_pairing(table, chosen["qid"], others, where)
    warn_unused(where, table.column_names, chosen)
    try:
        made = table_of(
            table, of, columns, dataset=dataset, duplicates=duplicates, name=name,
            where=where, row=lambda position: f"{where}: row {position + 1}",
            fractions=fractions,
        )  # fmt: skip
        return replace(made, numbers=made.numbers.copy())  # the frame's own may change
    except DuplicateRows as error:
        raise repeated_rows(where, error, "keep one of them, or give duplicates='last'") from None
