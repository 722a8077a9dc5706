"""Text in columns (TREC, MS MARCO, BEIR, prediction files) to Arrow columns.

The usual file goes straight to Arrow's CSV reader. A block that does not fit it (tabs and blanks
mixed, runs of blanks, comments, words after the last column) is brought to that form first. What
still does not fit is read once more, line by line, to say exactly what is wrong and where.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from ..core.arrow import to_numpy
from ..core.hashing import string_views
from ..core.ragged import Array
from ..core.tables import GRADE_LIMIT
from ..errors import InputError, Problem
from ..system import check_room
from .ahead import of_blocks
from .blanks import (
    count_fields,
    delimiter,
    first_fields,
    has_twice,
    is_simple,
    single_blanks,
    without_comments,
)  # fmt: skip
from .layout import Layout as Layout
from .layout import Refused as Refused
from .lines import check_binary
from .number_text import check_number, commas, is_like_number, is_meant_as_number
from .one_number import BELONGS, LOOK, ONE_EACH, are_fractions, wrapped
from .room import give_back, has_long_line, pool_for
from .source import Source, no_rows
from .whole_lines import BOM
from .wrong_lines import doubtful_lines, wrong_lines

_INDENTED = re.compile(rb"\n\s")  # quick, where the exact one is not
_WHITE = b" ", b"\t", b"\r", b"\v", b"\f"
_BLANK = re.compile(rb"^[ \t\r\v\f]*\n", re.MULTILINE)

_HEADING = re.compile(r"'[^'\d]*' is not a number")
"""What is wrong with a header line: a word stands for the number, and no other number is there but
the 0 of judgements."""

NOT_UTF8 = Problem("", "the line is not UTF-8 text", fix="convert the file to UTF-8")
WHOLE_FILE = "get the whole file: lines after this one may be lost too"
WITHOUT_INDEX = "write it without the index, as series.to_csv(path, index=False, header=False) does"


def read_columns(source: Source, layout: Layout) -> Iterator[pa.Table]:
    """Yield the columns of each block of `source`: ``layout.text``, then ``layout.number``.

    Raises
    ------
    InputError
        With the first ten lines that do not fit the layout, and the count of all.
    """
    blocks = after_header(source, layout.header)
    blocks = blocks if layout.n_rows is None else _without_gaps(blocks)
    tables = of_blocks(partial(_read, layout=layout), source, blocks)
    source.cut_blocks = []
    n_rows, at, reason = 0, 0, ""
    try:
        for table, is_cut in tables:  # enumerate would hold the one before
            source.cut_blocks += [at] * is_cut
            at += 1
            n_rows += table.num_rows
            if table.num_rows:
                yield table
            del table
    except Refused as error:
        reason = str(error)
    if reason:  # the error held the block that it came from, as did these
        del tables, blocks
        give_back()
        raise diagnose(source, layout, reason)
    if not n_rows:
        raise no_rows(source.name)
    if not source.one_block:
        give_back()  # what blocks took, before tables are made


def after_header(source: Source, header: int) -> Iterator[bytes]:
    """Yield the blocks without the first lines, so many."""
    for block in source.blocks():
        while header and block:
            block, header = block.partition(b"\n")[2], header - 1
        yield block
        del block


def _without_gaps(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the blocks; refuse a blank line that a row follows."""
    blank = False
    for block in blocks:
        rows = block.rstrip()
        if rows and (blank or _has_gap(rows)):
            raise Refused("a blank line")
        blank = blank or block.count(b"\n", len(rows)) > bool(rows)
        del rows
        yield block
        del block


def _has_gap(rows: bytes) -> bool:
    """Whether a line is blank."""
    return _is_suspect(rows) and _BLANK.search(rows) is not None


def _is_suspect(rows: bytes) -> bool:
    """Whether a line may be blank, told by quick looks; most files have one number a line."""
    if rows[:1].isspace():
        return True
    if has_twice(rows, "\n") or any(white in rows for white in _WHITE):
        return _INDENTED.search(rows) is not None
    return False


def read_block(block: bytes, layout: Layout) -> pa.Table:
    """Return the columns of some whole lines, or raise :class:`Refused`."""
    return _read(block, layout)[0]


def _read(block: bytes, layout: Layout) -> tuple[pa.Table, bool]:
    """Return the columns, and whether words after the last one were passed over."""
    is_long = has_long_line(block)
    for way, attempt in _simpler(block, layout):
        if is_long:
            give_back()  # what was taken to make it
        try:
            table = _csv(attempt, layout, delimiter(attempt))
        except pa.ArrowInvalid as error:
            reason = str(error)
        else:
            if all(_no_empty(table[name].chunk(0)) for name in layout.text):
                return _checked(table, layout), way == "cut"
            reason = "an empty column"
            del table
        del attempt
        if is_long:
            give_back()  # what it took, before the next one is made
    raise Refused(reason)


def _simpler(block: bytes, layout: Layout) -> Iterator[tuple[str, bytes]]:
    """Yield the block in the forms to try, each more work than the one before."""
    tried: bytes | None = None
    if is_simple(block):
        tried = block
        yield "as it is", block
    block = single_blanks(without_comments(block))
    if block != tried:
        yield "single blanks", block
    if layout.more:
        block = first_fields(block, len(layout.fields))
        yield "cut", block


def _csv(block: bytes, layout: Layout, between: str) -> pa.Table:
    types = dict.fromkeys(layout.text, pa.string()) | dict.fromkeys(layout.also, pa.binary())
    types[layout.number] = pa.float64()
    return parse_csv(block, layout.fields, types, between).combine_chunks()


def parse_csv(
    block: bytes, fields: Sequence[str], types: dict[str, pa.DataType], between: str
) -> pa.Table:
    """Return the columns in `types` of lines whose fields are one character apart.

    Parameters
    ----------
    fields : sequence of str
        What a line holds.
    types : dict of str to pyarrow type
        The fields wanted, in this order.

    Raises
    ------
    pyarrow.ArrowInvalid
        Where a line has more or fewer fields, or a value is not of its type.
    """
    if block.startswith(BOM):  # the file's own is gone; Arrow would leave out a block's first one
        block = b"\n" + block
    if not block or block.isspace():
        return pa.table({name: pa.nulls(0, kind) for name, kind in types.items()})
    check_room(8 * len(block))
    return csv.read_csv(
        pa.BufferReader(block),
        csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=list(fields)),
        csv.ParseOptions(
            delimiter=between, quote_char=False, double_quote=False, escape_char=False),
        csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=[],
            strings_can_be_null=False, check_utf8=not block.isascii(),
        ), pool_for(len(block)),
    )  # fmt: skip


def _no_empty(strings: pa.Array) -> bool:
    offsets, _ = string_views(strings)
    return bool((offsets[1:] > offsets[:-1]).all())


def _checked(table: pa.Table, layout: Layout) -> pa.Table:
    numbers = to_numpy(table[layout.number])
    sound = np.isfinite(numbers).all()
    if layout.number == "grade" and not (np.abs(numbers) <= GRADE_LIMIT).all():
        raise Refused("a grade is beyond what grades are")
    if not sound or (layout.whole and (numbers != np.trunc(numbers)).any()):
        raise Refused(f"a {layout.number} is not a {'whole' if sound else 'finite'} number")
    return table


def diagnose(source: Source, layout: Layout, reason: str) -> InputError:
    """Return the error that lists the lines of `source` that do not fit `layout`."""
    lines = _of_data(doubtful_lines(source, partial(_reads, layout=layout)), layout)
    found = wrong_lines(source, lines, partial(check_line, layout=layout))
    problems = found.problems
    if not problems:
        return InputError(Problem(source.name, f"cannot be read ({reason})"))
    check_binary(source)
    last = problems[-1]
    is_last = source.unfinished and last.where == f"{source.name}:{found.last}"
    if is_last and not (layout.n_rows is not None and last.rule == "columns"):  # too much is no cut
        what = f"the file ends in the middle of a line: {last.what}"
        problems[-1] = replace(last, what=what, fix=WHOLE_FILE, rule="truncated")
    elif (
        found.total == 1
        and _HEADING.search(last.what)
        and not any(is_like_number(one) for one in last.found.split() if one != "0")
        and last.where == f"{source.name}:{next(_of_data(source.lines(), layout))[0]}"
    ):
        what, fix = _header(sum(1 for _ in _of_data(source.lines(), layout)) - 1, layout)
        problems[-1] = replace(last, what=f"{last.what}; {what}", fix=fix, rule="header-line")
    return found.error()


def _reads(lines: bytes, layout: Layout) -> bool:
    """Whether some lines, none of them a comment or blank where that matters, can be read."""
    try:
        if layout.n_rows is not None and (b"#" in lines or _has_gap(lines)):
            return False
        _read(lines, layout)
    except Refused:
        return False
    return True


def _of_data(lines: Iterable[tuple[int, bytes]], layout: Layout) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of data, and blank ones before the end where each stands for a row."""
    blank: list[tuple[int, bytes]] = []
    for number, line in lines:
        if layout.n_rows is not None and not line.strip():
            blank.append((number, line))
            continue
        yield from blank
        blank.clear()
        if layout.is_data(number, line):
            yield number, line


def _header(n_rows: int, layout: Layout) -> tuple[str, str]:
    """Return what a header line means, by the count of the lines after it, and what to do."""
    if layout.n_rows is None or n_rows == layout.n_rows:
        return "it looks like a header line", "delete the header line"
    what = (
        f"it looks like a header line, and {n_rows:,} predictions for {layout.n_rows:,} rows follow"
    )
    if n_rows == layout.n_rows - 1:
        return what, "write the first row's prediction too: the header stands in its place"
    return what, "delete the header line, and predict every row of the dataset, in its order"


def check_line(line: bytes, layout: Layout) -> Problem | None:
    """Return what is wrong with a line of data, wherever it stands; None where nothing is."""
    n = len(layout.fields)
    read = {*layout.text, layout.number}  # whatever bytes the others have
    try:
        fields = [
            field.decode("utf-8", "strict" if name in read else "replace")
            for name, field in zip_longest(layout.fields, line.split(None, n))
            if field is not None
        ]
    except UnicodeDecodeError:
        return NOT_UTF8
    if layout.n_rows is not None:
        if not fields:
            return _columns(f"a blank line where a {layout.number} belongs", layout.repair)
        if (shown := wrapped(line[:LOOK].decode("utf-8", "replace"))) is not None:
            return _columns(*shown)
        n_columns = max(count_fields(line), line.count(b",") + 1)
        if n_columns > 1:
            return _columns(*too_many(line.decode("utf-8", "replace"), n_columns))
    if len(fields) < n or (len(fields) > n and not layout.more):
        n_fields = count_fields(line)
        counted = f"{n_fields} field{'s' * (n_fields != 1)}"
        return _columns(f"{counted} where {n} belong ({' '.join(layout.fields)})", layout.repair)
    number = fields[layout.fields.index(layout.number)]
    wrong = check_number(number, layout.number, layout.whole)
    if wrong is not None and len(fields) > n and not is_meant_as_number(number):
        belong = f"{n} belong ({' '.join(layout.fields)})"
        fix = "write each docno and tag without blanks, or delete the line"
        return _columns(f"{count_fields(line)} fields where {belong}", fix)
    if wrong is not None and wrong.rule == "not-finite":
        wrong = replace(wrong, fix=layout.not_finite)
    return wrong and replace(wrong, fix=wrong.fix or layout.repair)


def too_many(line: str, n_columns: int) -> tuple[str, str]:
    """Return what is wrong with a line of several columns where one number belongs, and the fix."""
    what = f"{n_columns:,} columns {BELONGS}"
    looks, written = commas(line.strip())
    if looks:
        return (
            f"{what}, or a {looks}",
            f"write {written}; or, if there is an index, {WITHOUT_INDEX}",
        )
    return what, ONE_EACH if are_fractions(line) else WITHOUT_INDEX


def _columns(what: str, fix: str) -> Problem:
    return Problem("", what, fix=fix, rule="columns")


def numbers_of(table: pa.Table, name: str) -> Array:
    """Return a column as one numpy array."""
    numbers: Array = to_numpy(table[name])
    return numbers
