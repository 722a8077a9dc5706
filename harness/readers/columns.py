"""Text in columns (TREC, MS MARCO, BEIR, prediction files) to Arrow columns.

The usual file goes straight to Arrow's CSV reader. A block that does not fit it (tabs and blanks
mixed, runs of blanks, words after the last column) is brought to that form first. What
still does not fit is read once more, line by line, to say exactly what is wrong and where.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from ..core.arrow import to_numpy
from ..core.hashing import string_views
from ..core.policy import Duplicates
from ..core.ragged import Array
from ..core.tables import GRADE_LIMIT, Qrels
from ..errors import InputError, Problem
from ..files import check_room
from .ahead import of_blocks
from .blocks import BOM
from .build import build, check_binary, doubtful_lines, gathered, warn_moved, wrong_lines
from .number_text import (
    BELONGS,
    LOOK,
    ONE_EACH,
    are_fractions,
    check_number,
    commas,
    is_like_number,
    is_meant_as_number,
    wrapped,
)
from .source import Source, no_rows

_ODD = b"\t", b"\r", b"\v", b"\f"
_PIECE = 1 << 18
"""Bytes that are looked at together, so that they stay in the processor's cache."""
_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")
_COMMENT = re.compile(rb"^#.*\n?", re.MULTILINE)


def is_simple(block: bytes) -> bool:
    """Whether one and the same character is between all fields of the block."""
    if _is_plain(block):
        return True
    if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
        return False
    if b"\t" in block and b" " in block:
        return False
    if b"\v" in block or b"\f" in block:  # white space to C, and a part of a field to Arrow
        return False
    return not has_twice(block, delimiter(block))


def _is_plain(block: bytes) -> bool:
    """Whether nothing but single blanks can be between fields: looked at in pieces, for a cache."""
    twice = _pair(" ")
    for at in range(0, len(block), _PIECE):
        if any(block.find(odd, at, at + _PIECE) >= 0 for odd in _ODD) or _has(block, twice, at):
            return False
    return True


def has_twice(block: bytes, character: str) -> bool:
    """Whether an ASCII character stands twice in a row."""
    twice = _pair(character)
    return any(_has(block, twice, at) for at in range(0, len(block), _PIECE))


def _pair(character: str) -> Array:
    return np.frombuffer(character.encode() * 2, np.uint16)


def _has(block: bytes, pair: Array, at: int) -> bool:
    """Whether two bytes are in the piece at `at`, the second one maybe after it."""
    end = min(at + _PIECE + 1, len(block))
    return any(
        bool((np.frombuffer(block, np.uint16, (end - first) // 2, first) == pair).any())
        for first in (at, at + 1)
    )


def delimiter(block: bytes) -> str:
    """Return what stands between the fields of a simple block."""
    return "\t" if b"\t" in block else " "


def without_comments(block: bytes) -> bytes:
    r"""Return `block` without the lines that begin with ``#``.

    >>> without_comments(b"# made by me\n1 Q0 d#1\n#\n")
    b'1 Q0 d#1\n'
    """
    return _COMMENT.sub(b"", block) if b"#" in block else block


def single_blanks(block: bytes) -> bytes:
    r"""Return `block` with one blank for each run of white space, and none around a line.

    >>> single_blanks(b" 1\tQ0  d1 \r\n2 Q0 d2\n")
    b'1 Q0 d1\n2 Q0 d2\n'
    """
    block = block.translate(_BLANKS)
    while b"  " in block:
        block = block.replace(b"  ", b" ")
    block = block.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    return block.removeprefix(b" ").removesuffix(b" ")


def first_fields(block: bytes, n_fields: int) -> bytes:
    r"""Return `block`, whose fields are one blank apart, with only the first fields of a line.

    >>> first_fields(b"1 Q0 d1\n2 Q0 d2 and more\n", 3)
    b'1 Q0 d1\n2 Q0 d2\n'
    """
    longer = rb"^((?:[^ \n]* ){%d}[^ \n]*) .*" % (n_fields - 1)
    return re.sub(longer, rb"\1", block, flags=re.MULTILINE)


def count_fields(line: bytes) -> int:
    """Return how many fields a line has, without making them: it may have millions."""
    return sum(1 for _ in re.finditer(rb"\S+", line))


@dataclass(frozen=True)
class Layout:
    """The columns of a line of text.

    Parameters
    ----------
    fields : tuple of str
        What the columns hold, in their order.
    text : tuple of str
        Columns to read as strings.
    number : str
        Column to read as a number.
    also : tuple of str
        Columns to read as bytes, which may be any, or none.
    whole : bool
        Whether that number must be whole.
    more : bool
        Whether words after the last column are passed over, as trec_eval does in runs.
    header : int
        Lines at the beginning that are not data; see :meth:`of`.
    repair : str
        What to do with a line that is wrong.
    not_finite : str
        What to do with a number that is NaN or infinite, where that is something else.
    n_rows : int, optional
        How many rows are wanted, where a line belongs to the dataset's row at the same place:
        then a blank line in between is wrong too.
    """

    fields: tuple[str, ...]
    text: tuple[str, ...]
    number: str
    also: tuple[str, ...] = ()
    whole: bool = False
    more: bool = False
    header: int = 0
    repair: str = "repair or delete the line"
    not_finite: str = ""
    n_rows: int | None = None

    def of(self, source: Source) -> Layout:
        """Return the layout of one file, whose head may hold comments above the header."""
        return replace(self, header=self.header + source.n_comments)

    def is_data(self, number: int, line: bytes) -> bool:
        """Whether a line is neither in the head nor blank."""
        return number > self.header and bool(line.strip())


class Refused(Exception):  # noqa: N818 - a signal: a block does not fit its layout
    """A block of text that Arrow could not read as its layout says."""


_HEADING = re.compile(r"'[^'\d]*' is not a number")
"""What is wrong with a header line: a word stands for the number, and no other number is there but
the 0 of judgements."""

NOT_UTF8 = Problem("", "the line is not UTF-8 text", fix="convert the file to UTF-8")
WHOLE_FILE = "get the whole file: lines after this one may be lost too"
AFTER_HEAD = "delete the line, or move it above the first row if it is a comment"
WITHOUT_INDEX = "write it without the index, as series.to_csv(path, index=False, header=False) does"


def read_columns(source: Source, layout: Layout) -> Iterator[pa.Table]:
    """Yield the columns of each block of `source`: ``layout.text``, then ``layout.number``.

    Raises
    ------
    InputError
        With the first ten lines that do not fit the layout, and the count of all.
    """
    layout = layout.of(source)
    blocks = after_header(source, layout.header)
    blocks = blocks if layout.n_rows is None else _without_gaps(blocks)
    tables = of_blocks(partial(_read, layout=layout), source, blocks)
    n_rows = 0
    try:
        for table, has_more in tables:
            source.has_extra_fields |= has_more
            n_rows += table.num_rows
            if table.num_rows:
                yield table
    except Refused as error:
        raise diagnose(source, layout, str(error)) from None
    if not n_rows:
        raise no_rows(source.name)


def read_judgements(
    source: Source, layout: Layout, duplicates: Duplicates, name: str, *, fractions: bool
) -> Qrels:
    """Return the judgements of a file whose lines have the columns of a layout."""
    table = gathered(read_columns(source, replace(layout, whole=not fractions)))
    grades = Qrels.check_numbers(numbers_of(table, "grade"), source.name, fractions=fractions)
    is_data = layout.of(source).is_data
    qrels = build(Qrels, source, table, grades, is_data, duplicates=duplicates, name=name)
    warn_moved(source, qrels, duplicates, is_data)
    return qrels


def after_header(source: Source, header: int) -> Iterator[bytes]:
    """Yield the blocks without the first `header` lines."""
    for block in source.blocks():
        if header:
            block, passed = without_first_lines(block, header)
            header -= passed
        yield block


def without_first_lines(block: bytes, n: int) -> tuple[bytes, int]:
    r"""Return a block without its first `n` lines, and how many it had of them.

    >>> without_first_lines(b"a\nb\nc\n", 2), without_first_lines(b"a\nb", 3)
    ((b'c\n', 2), (b'', 2))
    """
    start = passed = 0
    while passed < n and start < len(block):
        start, passed = block.find(b"\n", start) + 1 or len(block), passed + 1
    return block[start:], passed


def _without_gaps(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the blocks; refuse blank lines at the end of one that rows follow."""
    is_blank = False
    for block in blocks:
        if is_blank and block.strip():
            raise Refused("a blank line")
        is_blank = is_blank or _ends_blank(block)
        yield block


def read_block(block: bytes, layout: Layout) -> pa.Table:
    """Return the columns of some whole lines, or raise :class:`Refused`."""
    return _read(block, layout)[0]


def _read(block: bytes, layout: Layout) -> tuple[pa.Table, bool]:
    """Return the columns, and whether words after the last one were passed over."""
    reason = ""
    for way, attempt in _simpler(block, layout):
        try:
            table = _csv(attempt, layout, delimiter(attempt))
        except pa.ArrowInvalid as error:
            reason = str(error)
        else:
            if layout.n_rows is not None and table.num_rows < _n_lines(block):
                raise Refused("a blank line")
            if all(_no_empty(table[name].chunk(0)) for name in layout.text):
                return _checked(table, layout), way == "cut"
            reason = "an empty column"
    raise Refused(reason)


def _n_lines(block: bytes) -> int:
    rows = block.rstrip()
    return rows.count(b"\n") + bool(rows)


def _ends_blank(block: bytes) -> bool:
    rows = block.rstrip()
    return block.count(b"\n", len(rows)) > bool(rows)


def _simpler(block: bytes, layout: Layout) -> Iterator[tuple[str, bytes]]:
    """Yield the block in the forms to try, each more work than the one before."""
    tried: bytes | None = None
    if is_simple(block):
        tried = block
        yield "as it is", block
    block = single_blanks(block)
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
        ),
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
    """Whether some lines can be read, and end in no blank one that may stand for a row."""
    try:
        if layout.n_rows is not None and _ends_blank(lines):
            return False
        _read(lines, layout)
    except Refused:
        return False
    return True


def _of_data(lines: Iterable[tuple[int, bytes]], layout: Layout) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of data, and blank ones before the end where each stands for a row."""
    blank: list[tuple[int, bytes]] = []
    for number, line in lines:
        if layout.n_rows is not None and number > layout.header and not line.strip():
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
    repair = AFTER_HEAD if line.startswith(b"#") else layout.repair
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
            return _columns(f"a blank line where a {layout.number} belongs", repair)
        if line.startswith(b"#"):
            return _columns(f"a comment where a {layout.number} belongs", repair)
        if (shown := wrapped(line[:LOOK].decode("utf-8", "replace"))) is not None:
            return _columns(*shown)
        n_columns = max(count_fields(line), line.count(b",") + 1)
        if n_columns > 1:
            return _columns(*too_many(line.decode("utf-8", "replace"), n_columns))
    if len(fields) < n or (len(fields) > n and not layout.more):
        n_fields = count_fields(line)
        counted = f"{n_fields} field{'s' * (n_fields != 1)}"
        return _columns(f"{counted} where {n} belong ({' '.join(layout.fields)})", repair)
    number = fields[layout.fields.index(layout.number)]
    wrong = check_number(number, layout.number, layout.whole)
    if wrong is not None and len(fields) > n and not is_meant_as_number(number):
        belong = f"{n} belong ({' '.join(layout.fields)})"
        fix = "write each docno and tag without blanks, or delete the line"
        return _columns(f"{count_fields(line)} fields where {belong}", fix)
    if wrong is not None and wrong.rule == "not-finite":
        wrong = replace(wrong, fix=layout.not_finite)
    return wrong and replace(wrong, fix=wrong.fix or repair)


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
