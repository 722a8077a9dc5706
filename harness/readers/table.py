"""Tables with named columns: CSV, TSV, Parquet, Arrow/Feather, and data frames in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as csv

from ..core.policy import Duplicates
from ..core.table import DuplicateRows, T
from ..core.tables import Qrels, Run
from ..errors import InputError, Problem, said_by
from ..system import check_room
from . import binary_table
from .build import keep_one, repeated, row_names, scattered, warn_scattered
from .columns import after_header
from .format import Format, Head, Kind
from .frame import Names, check_types, choose, first_line, guess, repeated_rows, table_of
from .gathered import gathered
from .room import POOL, give_back, has_long_line
from .source import Source, no_rows
from .table_gaps import without_gaps
from .table_lines import diagnose, names_in
from .whole_lines import BOM, LONGEST
from .without_names import check_names

_PARQUET, _ARROW = b"PAR1", (b"ARROW1", b"FEA1")
_BLOCK = 1 << 17
"""Bytes that Arrow parses at a time, unless a row is longer."""
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
        CSV and TSV without a header. Those left out are found by the usual names.
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
            tables = [table]
    except (pa.ArrowException, UnicodeDecodeError) as error:
        said = said_by(error, 300)
        raise InputError(Problem(source.name, f"cannot be read as a table ({said})")) from None
    if not table.num_rows:
        raise no_rows(source.name)
    del table  # which `table_of` lets go of

    is_row = _after(above or 0)
    is_text = above is not None
    try:
        read = table_of(
            tables, of, columns, dataset=dataset, duplicates=duplicates, name=name,
            where=source.name, row=row_names(source, is_row if is_text else None),
            fractions=fractions,
        )  # fmt: skip
    except DuplicateRows as error:
        if is_text:
            raise repeated(source, of, error, is_row) from None
        raise repeated_rows(source.name, error, keep_one(of)) from None
    warn_scattered(source, scattered(read), is_row if is_text else None)
    return read


def _open(
    source: Source, kind: str, columns: Names | None, numbered: bool, fractions: bool
) -> tuple[pa.Table, int | None]:
    """Return the columns that matter, and how many lines stand above the rows if it is text."""
    head = source.head
    if head.startswith((_PARQUET, *_ARROW)):
        read = binary_table.read_parquet if head.startswith(_PARQUET) else binary_table.read_arrow
        _check_end(source, head)
        return read(source, kind, columns), None
    line = first_line(source)
    start = head.find(line)
    above = head.count(b"\n", 0, start) + (not numbered)
    delimiter = "\t" if b"\t" in line else ","
    width = line.count(delimiter.encode()) + 1
    if width > _WIDEST:
        what = f"more than {_WIDEST:,} columns, which are the most that are read"
        fix = "write a file of the columns that are used"
        raise InputError(Problem(source.name, what, fix=fix))
    names = [str(i + 1) for i in range(width)] if numbered else None
    parse = csv.ParseOptions(delimiter=delimiter)
    header = names or names_in(line, delimiter, f"{source.name}:{above}")
    if not columns and not guess(header, kind):
        check_names(source, header, kind)
    chosen = choose(header, kind, columns, source.name)
    names_of = {str(role): chosen[role] for role in ("qid", "docno") if role in chosen}
    text = dict.fromkeys(names_of.values(), pa.string())
    numbers = {column: pa.float64() for column in chosen.values() if column not in text}
    options = csv.ConvertOptions(
        column_types=text | numbers, include_columns=[*text, *numbers],
        null_values=[], strings_can_be_null=False,
    )  # fmt: skip
    text_of = _Text(source, parse, options)
    del head, line
    for tables in (text_of.streamed(start, names), text_of.in_blocks(above, header)):
        try:
            named = without_gaps(tables, names_of, row_names(source, _after(above)))
            table = gathered(named, [chosen["qid"]], chosen.get("grade", ""))
            give_back()  # what blocks took
            return table, above
        except pa.ArrowInvalid as error:
            reason = str(error)
        give_back()
        if not _is_cut(reason):
            break
    raise diagnose(source, delimiter, header, chosen, above, fractions, reason) from None


class _Text(NamedTuple):
    """How the rows of a CSV or TSV are read."""

    source: Source
    parse: csv.ParseOptions
    options: csv.ConvertOptions

    def streamed(self, start: int, names: list[str] | None) -> Iterator[pa.Table]:
        """Yield the rows after the first bytes, so many; ArrowInvalid where one is long."""
        read = csv.ReadOptions(use_threads=False, column_names=names, block_size=_BLOCK)
        with self.source.open() as stream:
            mark = len(BOM) if self.source.has_mark else 0
            stream.read(mark + start)  # blank lines and comments above
            check_room()
            for batch in csv.open_csv(stream, read, self.parse, self.options, POOL):
                yield pa.Table.from_batches([batch])
                check_room()

    def in_blocks(self, above: int, header: list[str]) -> Iterator[pa.Table]:
        """Yield the rows after the first lines, so many, of one block after the other."""
        for block in after_header(self.source, above):
            if block.strip(b"\r\n"):
                check_room(8 * len(block))
                whole = csv.ReadOptions(
                    use_threads=False, column_names=header, block_size=len(block) + 1
                )
                given = pa.BufferReader(block)
                yield csv.read_csv(given, whole, self.parse, self.options, POOL)
                del given
            if has_long_line(block):
                give_back()
            del block


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


def _is_cut(reason: str) -> bool:
    """Return whether Arrow failed as a row is longer than the blocks it reads."""
    return "straddl" in reason or "Empty CSV file or block" in reason


def looks(head: Head, kind: Kind) -> bool:
    """Whether it is Parquet or Arrow, or has a header with the usual names."""
    if head.data.startswith((_PARQUET, *_ARROW)):
        return True
    if not head.lines or len(head.lines[0]) > LONGEST:
        return False
    line = head.lines[0].decode("utf-8", "replace").rstrip("\r")
    fields = line.split("\t" if "\t" in line else ",", _WIDEST)[:_WIDEST]
    names = [name.strip('"') for name in fields]
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
    columns: Mapping[str, str] | None = None,
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
        ``{"qid": ..., "docno": ..., "grade": ...}`` where the names are others.
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
        table = pa.Table.from_pandas(frame, preserve_index=False, nthreads=1)
    check_types(table.schema, choose(table.column_names, of.kind, columns, where), where)
    try:
        made = table_of(
            [table], of, columns, dataset=dataset, duplicates=duplicates, name=name,
            where=where, row=lambda position: f"{where}: row {position + 1}",
            fractions=fractions,
        )  # fmt: skip
        return replace(made, numbers=made.numbers.copy())  # the frame's own may change
    except DuplicateRows as error:
        raise repeated_rows(where, error, "keep one of them, or give duplicates='last'") from None
