"""Lines of text (TREC, MS MARCO, BEIR, predictions, CSV) to Arrow columns, block by block.

The usual block goes straight to Arrow's CSV reader. One that does not fit it (tabs and blanks
mixed, runs of blanks, words after the last column) is brought to that form first. A block that
still does not fit is read once more, line by line, to find the wrong lines.
"""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from ..core.arrow import cast, to_numpy
from ..core.hashing import string_views
from ..core.policy import Duplicates
from ..core.qrels_and_runs import GRADE_LIMIT, Qrels
from ..core.qrels_and_runs import T as Q
from ..core.ragged import Array, offsets_of
from ..errors import SHOWN, InputError, Place, Problem, first_of
from .rows import Rows, build, warn_moved
from .source import Source, no_rows
from .text import (
    BETWEEN,
    BOM,
    ONE_EACH,
    IsDataLine,
    ahead,
    check_number,
    decoded,
    each,
    lines_of,
    not_one_number,
    without_first_lines,
)

_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")

NOT_UTF8 = Problem("", "the line is not UTF-8 text", fix="convert the file to UTF-8")
CORRECT = "correct the line; do not delete it, as rows are matched by position"
_NARROW = 2**31 - 1  # Bytes of strings that narrow offsets reach
_ARE_SCORES = "if they are scores, write above the lines: qid docno score; and name no format"
_WHOLE_FILE = "get the whole file: lines after this one may be lost too"


MOST_WRONG_LINES = 1_000
"""Wrong lines after which a reader stops: to explain a wrong line takes 10 us."""


class Refused(Exception):  # noqa: N818 - a signal: a block does not fit its layout
    """A block of text that Arrow could not read as its layout says."""


@dataclass(frozen=True)
class Layout:
    """The columns of a line of text."""

    fields: tuple[str, ...]  # what the columns hold, in their order
    text: tuple[str, ...]  # columns to read as strings
    number: str  # column to read as a number, if there is one
    also: tuple[str, ...] = ()  # columns to read as bytes, which may be empty or not UTF-8
    whole: bool = False  # whether the number must be whole
    more: bool = False  # whether words after the last column are skipped, as trec_eval does
    header: int = 0  # lines at the beginning that are not data
    between: str = ""  # what separates columns that may be in quotes; white space otherwise
    role: str = ""  # what the number is, if the column has another name
    fix: str = "correct or delete the line"  # of a wrong line

    def is_data(self, source: Source) -> IsDataLine:
        """Return the test for rows of a file: lines below its comments and its header."""
        above = self.header + source.n_comments
        return lambda number, line: number > above and bool(line.strip())


def is_simple(block: bytes) -> bool:
    """Whether the same character is between all fields of the block, once."""
    between = delimiter(block)
    odd = b"\v", b"\f", b"\t" if between == " " else b" "
    if any(character in block for character in odd):
        return False
    twice = np.frombuffer(between.encode() * 2, np.uint16)
    for start in range(min(2, len(block))):
        if (np.frombuffer(block, np.uint16, (len(block) - start) // 2, start) == twice).any():
            return False
    return b"\r" not in block or block.count(b"\r") == block.count(b"\r\n")


def delimiter(block: bytes) -> str:
    """Return the character between the fields of a simple block."""
    return "\t" if b"\t" in block else " "


def single_blanks(block: bytes) -> bytes:
    """Return `block` with one blank for each run of white space, and none around a line."""
    block = block.translate(_BLANKS)
    while b"  " in block:
        block = block.replace(b"  ", b" ")
    block = block.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    return block.removeprefix(b" ").removesuffix(b" ")


def after_header(source: Source, header: int) -> Iterator[bytes]:
    """Yield the blocks without the first `header` lines."""
    for block in source.blocks():
        block, passed = without_first_lines(block, header)
        header -= passed
        yield block


def parse_csv(
    block: bytes,
    names: Sequence[str],
    types: dict[str, pa.DataType],
    between: str,
    *,
    quotes: bool = False,
) -> pa.Table:
    """Return the columns in `types` of lines with the columns `names`; or ArrowInvalid."""
    if block.startswith(BOM):  # the file's own is gone; Arrow would leave out a block's first one
        block = b"\n" + block
    if not block or block.isspace():
        return pa.table({name: pa.nulls(0, kind) for name, kind in types.items()})
    size, quote, check = len(block) + 1, '"' if quotes else False, not block.isascii()
    reading = pa_csv.ReadOptions(use_threads=False, block_size=size, column_names=list(names))
    parsing = pa_csv.ParseOptions(delimiter=between, quote_char=quote, double_quote=quotes)
    converting = pa_csv.ConvertOptions(
        column_types=types, include_columns=list(types), null_values=[], check_utf8=check
    )
    return pa_csv.read_csv(pa.BufferReader(block), reading, parsing, converting)


def read_columns(source: Source, layout: Layout) -> Iterator[pa.Table]:
    """Yield the columns of each block of `source`: ``layout.text``, then ``layout.number``.

    InputError names the first ten lines that do not fit the layout, and counts all.
    """
    source.n_rows = 0
    header = layout.header + source.n_comments
    for table, has_more in parse_blocks(
        source,
        after_header(source, header) if header else source.blocks(),
        partial(read_block, layout=layout),
        layout.is_data(source),
        partial(check_line, layout=layout),
        columns_cut=len(layout.fields) > 1,
        has_names=layout.header > 0,
    ):
        source.has_extra_fields |= has_more
        source.n_rows += table.num_rows
        if table.num_rows:
            yield table
    if not source.n_rows:
        raise no_rows(source.name)


def read_judgements(layout: Layout, source: Source, *, duplicates: Duplicates, name: str) -> Qrels:
    """Return the judgements of a file in the columns of a layout."""
    table = gathered(read_columns(source, layout))
    if layout.number:
        grades = Qrels.check_numbers(to_numpy(table["grade"]), source.name)
    else:
        grades = Qrels.numbers_of_lists(offsets_of([table.num_rows]))
    return build_table(Qrels, source, layout, table, grades, duplicates, name)


def build_table(
    kind: type[Q],
    source: Source,
    layout: Layout,
    table: pa.Table,
    numbers: Array,
    duplicates: Duplicates,
    name: str,
) -> Q:
    """Return qrels or a run of a file's columns; report rows that were moved or dropped."""
    rows = Rows(source, layout.is_data(source))
    qids, docnos = column(table["qid"]), column(table["docno"])
    rows_read = build(kind, rows, qids, docnos, numbers, duplicates, name)
    if rows_read.scattered.rows or rows_read.dropped:
        warn_moved(rows, rows_read, duplicates)
    return rows_read


def column(chunks: pa.ChunkedArray) -> pa.Array:
    """Return strings in one piece, with wide offsets if they need them."""
    if chunks.num_chunks == 1:
        return chunks.chunk(0)
    if chunks.nbytes > _NARROW:
        chunks = cast(chunks, pa.large_string())
    combined = chunks.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def gathered(tables: Iterable[pa.Table]) -> pa.Table:
    """Return tables of the same columns as one, each column in one piece."""
    return pa.concat_tables(tables).combine_chunks()


def read_block(block: bytes, layout: Layout) -> tuple[pa.Table, bool]:
    """Return the columns of some whole lines, and whether words after the last one were skipped.

    Raises `Refused` if the lines do not fit the layout.
    """
    types = dict.fromkeys(layout.text, pa.string()) | dict.fromkeys(layout.also, pa.binary())
    types |= {layout.number: pa.float64()} if layout.number else {}
    reason = ""
    for is_cut, attempt in _simpler(block, layout):
        try:
            between, quotes = layout.between or delimiter(attempt), layout.between != ""
            table = parse_csv(attempt, layout.fields, types, between, quotes=quotes)
            table = table.combine_chunks()
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            reason = str(error)
            continue
        ends = [string_views(table[name].chunk(0))[0] for name in layout.text]
        if all((stops[1:] > stops[:-1]).all() for stops in ends):
            if layout.number:
                _check_numbers(to_numpy(table[layout.number]), layout)
            return table, is_cut
        reason = "an empty column"
    raise Refused(reason)


def _simpler(block: bytes, layout: Layout) -> Iterator[tuple[bool, bytes]]:
    """Yield the block in the forms to try, and whether fields were cut off."""
    if layout.between:
        yield False, block
        return
    simple = block if is_simple(block) else None
    if simple is not None:
        yield False, simple
    block = single_blanks(block)
    if block != simple:
        yield False, block
    if layout.more:
        longer = rb"^((?:[^ \n]* ){%d}[^ \n]*) .*" % (len(layout.fields) - 1)
        yield True, re.sub(longer, rb"\1", block, flags=re.MULTILINE)


def _check_numbers(numbers: Array, layout: Layout) -> None:
    """Raise `Refused` if a number is not finite, beyond what grades are, or not whole."""
    role = layout.role or layout.number
    if not np.isfinite(numbers).all():
        raise Refused(f"a {role} is not finite")
    if role == "grade" and not (np.abs(numbers) <= GRADE_LIMIT).all():
        raise Refused("a grade is too large")
    if layout.whole and (numbers != np.trunc(numbers)).any():
        raise Refused(f"a {role} is not whole")


T = TypeVar("T")


def parse_blocks(
    source: Source,
    blocks: Iterable[bytes],
    parse: Callable[[bytes], T],
    is_data: IsDataLine,
    check: Callable[[bytes], Problem | None],
    *,
    columns_cut: bool = True,
    has_names: bool = False,
) -> Iterator[T]:
    """Yield `parse` of each block; if one is `Refused`, raise an error with the wrong lines.

    `check` returns the mistake in a row. `columns_cut`: a wrong number of fields on an unfinished
    last line means that the file is cut. `has_names`: a header line was read before.
    """
    try:
        # several at a time if the file is large
        yield from map(parse, blocks) if source.one_block else each(parse, ahead(blocks))
    except Refused as error:
        reason = str(error)
    else:
        return
    problems, total = list[Problem](), 0
    for number, line in _refused_lines(source, parse, is_data):
        if wrong := check(line):
            total += 1
            if len(problems) < SHOWN:
                where = Place(source.name, number)
                problems.append(replace(wrong, where=where, found=decoded(line)))
            if total == MOST_WRONG_LINES:
                break
    if not problems:  # lines that can be read one by one and not together
        raise source.error(f"cannot be read ({reason})")
    last_problem = problems[-1]
    is_last = source.report.unfinished and last_problem.found == decoded(source.report.unfinished)
    if is_last and (columns_cut or last_problem.rule != "columns"):
        message = f"the file ends in the middle of a line: {last_problem.what}"
        problems[-1] = replace(last_problem, what=message, fix=_WHOLE_FILE, rule="truncated")
    elif total == 1 and not has_names and is_heading(last_problem.found):
        heading_line = next(number for number, line in source.lines() if is_data(number, line))
        if last_problem.where == Place(source.name, heading_line):
            message = f"{last_problem.what}; it looks like a header line"
            fix = "delete the header line, or read the columns by their names: "
            fix += "--run-format table or --qrels-format table (in a config format: table)"
            problems[-1] = replace(last_problem, what=message, fix=fix, rule="header-line")
    raise InputError(problems, total=total, at_least=total == MOST_WRONG_LINES)


def _refused_lines(
    source: Source, parse: Callable[[bytes], object], is_data: IsDataLine
) -> Iterator[tuple[int, bytes]]:
    """Yield the rows of the blocks that cannot be read."""
    number = 1
    for block in source.blocks():
        try:
            parse(block)
        except Refused:
            yield from (row for row in enumerate(lines_of(block), number) if is_data(*row))
        number += block.count(b"\n")


def is_heading(line: str) -> bool:
    """Whether a line has no number, except the 0 of judgements."""
    words = {*BETWEEN.split(line.strip())} - {"0"}
    return words != {""} and not any(word.lstrip("+-.")[:1].isdigit() for word in words)


def check_line(line: bytes, layout: Layout) -> Problem | None:
    """Problem of a line of data, without its place; None if the line is valid."""
    n = len(layout.fields)
    try:
        fields = _split(line, layout)
    except UnicodeDecodeError:
        return NOT_UTF8
    if n == 1 and (message := not_one_number(decoded(line))):
        return Problem("", message, fix=ONE_EACH, rule="columns")
    n_fields = "1 field" if n == 1 else f"{n} fields"
    message = f"expected {n_fields} ({' '.join(layout.fields)}), got {len(fields)}"
    columns = Problem("", message, fix=layout.fix, rule="columns")
    if layout.number == "rank" and not layout.between and len(fields) == n + 1:
        return replace(columns, fix="if the last is a score: format: ranking, or name no format")
    if len(fields) < n or (len(fields) > n and not layout.more):
        return columns
    row = dict(zip(layout.fields, fields, strict=False))
    if empty := [name for name in layout.text if not row[name]]:
        return Problem("", f"expected a value of {first_of(empty)}, got nothing", fix=layout.fix)
    if not layout.number:
        return None
    wrong = check_number(row[layout.number].strip(), layout.role or layout.number, layout.whole)
    if wrong is None:
        return None
    if len(fields) > n and not wrong.rule:
        return columns
    if layout.number == "rank" and not layout.between:
        wrong = replace(wrong, fix=_ARE_SCORES)
    return replace(wrong, fix=wrong.fix or layout.fix)


def _split(line: bytes, layout: Layout) -> list[str]:
    """Return the fields of a line; UnicodeDecodeError if one that is read is not UTF-8."""
    if layout.between:
        with contextlib.suppress(csv.Error):
            return next(csv.reader([line.decode().rstrip("\r")], delimiter=layout.between), [])
        return []
    read = {*layout.text, layout.number}  # the others may have any bytes
    return [
        field.decode("utf-8", "strict" if name in read else "replace")
        for name, field in zip_longest(layout.fields, line.split())
        if field is not None
    ]
