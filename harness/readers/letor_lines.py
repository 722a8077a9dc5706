"""Grade, qid and docno of each line of a LETOR block, thousands of lines at once.

The line starts are found in the bytes; of each line only the first few bytes and the comment are
looked at, so that the cost is that of passing over the file once.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.lib.stride_tricks import sliding_window_view

from ..core.arrow import call, cast, extract, run_ends, to_numpy
from ..core.hashing import string_views
from ..core.ragged import Array, Ints
from ..core.tables import GRADE_LIMIT
from ..errors import InputError, Problem
from . import row_marks
from .columns import NOT_UTF8
from .letor_heads import read_heads
from .number_text import check_number
from .source import Source
from .spans import spans
from .wrong_lines import doubtful_lines, wrong_lines

_REPAIR = "repair the line; predictions follow the lines, so delete none"
_HEAD = 48
"""Bytes of each line that are looked at; a longer grade and qid take the slow way."""
_PIECE = 1 << 14
"""Lines that are looked at together: short ones take many times their own room meanwhile."""
_STRETCH = 1 << 16
"""Bytes in which the ends of lines are looked for together, so that they stay in the cache."""
_LONG = 400
"""Bytes of a line from which on it is quicker to ask for one after another."""
_HASHES = 8
"""``#`` of a line, on average, from which on the first of each is asked for."""
_TAB, _NEWLINE, _RETURN, _BLANK, _HASH = np.array([9, 10, 13, 32, 35], np.uint8)
_PLACES = np.arange(_HEAD, dtype=np.uint8)
_QID = np.frombuffer(b"qid:", np.uint8)
_DOCID = r"docid\s*=\s*(?P<docno>\S+)"
_FIRST_WORD = r"^#+\s*(?P<docno>\S+)"
_NO_DATA = re.compile(rb"\s*(#|$)")
_LINE = re.compile(rb"\s*(?P<grade>[^\s#]+)(?:\s+qid:(?P<qid>[^\s#]+))?(?=[\s#]|$)")


class Rows(NamedTuple):
    """What some lines hold: ``(n,)`` grades, qids, and docnos where any line has a comment.

    `docids` is how many of the docnos are given as ``docid = X``; where none is, they are the
    first words of the comments. A docno is null where there is neither. The grades are of the
    smallest integer type that holds them, mostly a byte a row, or float64 where some are
    fractions; the qids are run-end encoded: they take the room of a string a query, not one a row.
    The marks are those of :mod:`harness.readers.row_marks`, where they are asked for.
    """

    grades: Array
    qids: pa.Array | None
    docnos: pa.Array | None
    docids: int
    marks: Array | None = None


class _Lines(NamedTuple):
    """Some lines of a block: where they begin and end, whether it holds a comment anywhere."""

    data: Array
    starts: Ints
    stops: Ints
    commented: bool
    marked: bool

    def with_data(self) -> _Lines:
        """Return the lines that are neither empty nor a comment."""
        first, second = self.data[self.starts], self.data[self.starts + 1]
        rows = (first != _NEWLINE) & (first != _HASH)
        rows &= ~((first == _RETURN) & (second == _NEWLINE))
        return self._replace(starts=self.starts[rows], stops=self.stops[rows])

    def rows(self, grades: Array, qids: pa.Array | None, heads: Ints) -> Rows:
        """Return what the lines hold whose grades and qids end at `heads`."""
        ends, comments = self.stops, None
        if self.commented:
            ends = _ends(self.data, self.starts, self.stops)
            comments = _comments(self.data, ends, self.stops)
        marks = None
        if self.marked:
            marks = row_marks.marks(self.data, heads + 1, ends, self.commented)
        return _rows(grades, qids, comments, marks)


class NotLetor(Exception):  # noqa: N818 - a signal
    """A line of the block has no grade or no qid where one belongs."""


def read_block(block: bytes, with_qid: bool, marked: bool = False) -> list[Rows]:
    """Read grades, qids and docnos of the lines of a block, thousands at once; and their marks."""
    # The block is not copied to have room behind its last lines, only these are: fresh memory of
    # its size would take longer than finding the lines.
    last = block.rfind(b"\n", 0, max(len(block) - _HEAD, 0)) + 1
    end = block[last:] + b"\n" * _HEAD
    parts = (block, last), (end, len(block) - last)
    return [
        rows for part, size in parts if size for rows in _read_lines(part, size, with_qid, marked)
    ]


def _read_lines(block: bytes, size: int, with_qid: bool, marked: bool) -> Iterator[Rows]:
    """Yield what the lines hold that begin in the first `size` bytes."""
    data, commented = np.frombuffer(block, np.uint8), b"#" in block
    start = 0
    for stops in _line_ends(block, size):
        starts = np.concatenate([[start], stops[:-1] + 1])
        start = int(stops[-1]) + 1
        whole = starts < size
        starts, stops = starts[whole], stops[whole]
        for at in range(0, starts.size, _PIECE):
            some = slice(at, at + _PIECE)
            lines = _Lines(data, starts[some], stops[some], commented, marked)
            rows = _read_alike(lines) if with_qid else None
            if rows is None and (lines := lines.with_data()).starts.size:
                rows = _read_unlike(lines, with_qid)
            if rows is not None:
                yield rows


def _line_ends(block: bytes, size: int) -> Iterator[Ints]:
    """Yield where the lines end that begin in the first `size` bytes, and maybe some more.

    Those of some ten thousands together: of short lines they would be many times the block.
    """
    if block.count(b"\n", 0, _STRETCH) * _LONG < min(size, _STRETCH):
        lengths, before = map(len, io.BytesIO(block)), -1
        while (ends := np.fromiter(islice(lengths, _PIECE), np.int64)).size:
            np.cumsum(ends, out=ends)
            ends += before
            yield ends
            before = int(ends[-1])
        return
    data, n = np.frombuffer(block, np.uint8), 0
    held: list[Ints] = []
    for at in range(0, size + 1, _STRETCH):
        ends = at + np.flatnonzero(data[at : min(at + _STRETCH, size + 1)] == _NEWLINE)
        if n and n + ends.size > _PIECE:
            yield np.concatenate(held)
            held, n = [], 0
        held.append(ends)
        n += ends.size
    if n:
        yield np.concatenate(held)


def _read_alike(lines: _Lines) -> Rows | None:
    """Read lines of data that all begin as most do; None where one does not."""
    data, starts = lines.data, lines.starts
    heads = read_heads(data, starts)
    if heads is None:
        return None
    ends = np.append(heads.changes[1:], starts.size)
    qids = run_ends(ends, _spans(data, *heads.qids(starts)))
    return lines.rows(heads.grades, qids, heads.stops)


def _read_unlike(lines: _Lines, with_qid: bool) -> Rows | None:
    """Read lines, whatever they begin with; None where none holds data."""
    data, starts = lines.data, lines.starts
    heads = sliding_window_view(data, _HEAD)[starts]
    space = (heads == _BLANK) | (heads - _TAB <= _RETURN - _TAB)  # bytes below _TAB wrap around
    grade_end = space.argmax(axis=1)
    simple = space.any(axis=1) & (grade_end > 0) & (grade_end + 5 < _HEAD)
    qid_end = grade_end
    if with_qid and simple.all():
        marks = np.take_along_axis(heads, grade_end[:, None] + np.arange(1, 5), axis=1)
        later = space & ((grade_end + 4).astype(np.uint8)[:, None] < _PLACES)
        qid_end = later.argmax(axis=1)
        simple = (marks == _QID).all(axis=1) & later.any(axis=1) & (qid_end > grade_end + 5)
    if not simple.all():
        return _read_slowly(lines, with_qid)
    qids = _spans(data, starts + grade_end + 5, starts + qid_end) if with_qid else None
    texts = _spans(data, starts, starts + grade_end)
    if lines.commented and any(_has_hash(text) for text in (texts, qids)):
        return _read_slowly(lines, with_qid)  # a comment begins at once
    stops = starts + (qid_end if with_qid else grade_end)
    return lines.rows(_grades(texts), _encoded(qids), stops)


def _has_hash(texts: pa.Array | None) -> bool:
    return texts is not None and bool((string_views(texts)[1] == _HASH).any())


def _encoded(qids: pa.Array | None) -> pa.Array | None:
    if qids is None:
        return None
    return run_ends(np.array([1]), qids) if len(qids) == 1 else call("run_end_encode", qids)


def _rows(
    grades: Array, qids: pa.Array | None, comments: pa.Array | None, marks: Array | None
) -> Rows:
    """Return the columns in the form that is kept: comments would be most of a file's room."""
    if comments is None:
        return Rows(grades, qids, None, 0, marks)
    docnos = extract(comments, _DOCID)
    docids = len(docnos) - docnos.null_count
    docnos = docnos if docids else extract(comments, _FIRST_WORD)
    return Rows(grades, qids, docnos, docids, marks)


def _spans(data: Array, starts: Ints, stops: Ints) -> pa.Array:
    """Return the bytes between `starts` and `stops` as strings."""
    try:
        return spans(data, starts, stops)
    except pa.ArrowInvalid:
        raise NotLetor from None


def _grades(texts: pa.Array) -> Array:
    try:
        grades = to_numpy(cast(texts, pa.float64()))
    except pa.ArrowInvalid:
        raise NotLetor from None
    if not (np.abs(grades) <= GRADE_LIMIT).all():
        raise NotLetor
    if (grades != np.trunc(grades)).any():
        return grades
    whole: Array = grades.astype(np.int64)
    low, high = int(whole.min(initial=0)), int(whole.max(initial=0))
    return whole.astype(np.min_scalar_type(min(low, -1 - high)))


def _ends(data: Array, starts: Ints, stops: Ints) -> Ints:
    """Return where the first ``#`` of each line is, or its end where it has none."""
    is_hash = data[starts[0] : stops[-1]] == _HASH
    n_hashes = np.count_nonzero(is_hash)
    if not n_hashes:
        return stops
    if n_hashes > _HASHES * starts.size:  # their places would be eight times the text
        places = starts - starts[0], stops - starts[0]
        own = [is_hash[start:stop].argmax() for start, stop in zip(*places, strict=True)]
        return np.where(is_hash[places[0] + own], starts + own, stops)
    hashes = starts[0] + np.flatnonzero(is_hash)
    hashes = np.append(hashes, data.size)
    found: Ints = np.minimum(hashes[np.searchsorted(hashes, starts)], stops)
    return found


def _comments(data: Array, ends: Ints, stops: Ints) -> pa.Array | None:
    """Return each line from its first ``#`` on, null where it has none; None where none has."""
    has = ends < stops
    if not has.any():
        return None
    comments = _spans(data, ends, stops)
    if has.all():
        return comments
    buffers = [pa.py_buffer(np.packbits(has, bitorder="little")), *comments.buffers()[1:]]
    return pa.Array.from_buffers(comments.type, has.size, buffers)


def _read_slowly(lines: _Lines, with_qid: bool) -> Rows | None:
    """Read some lines one by one: blanks before the grade, runs of blanks, long qids.

    None where no line holds data. Nothing is copied but what is kept: a line may have megabytes.
    """
    found, text = [], lines.data.data
    for at, (start, stop) in enumerate(
        zip(lines.starts.tolist(), lines.stops.tolist(), strict=True)
    ):
        if _NO_DATA.match(text, start, stop):
            continue
        match = _LINE.match(text, start, stop)
        if match is None or (with_qid and match.start("qid") < 0):
            raise NotLetor
        found.append((at, *match.span("grade"), *match.span("qid"), match.end()))
    if not found:
        return None
    rows, grade, grade_end, qid, qid_end, heads = np.array(found, np.int64).T
    lines = lines._replace(starts=lines.starts[rows], stops=lines.stops[rows])
    grades = _grades(_spans(lines.data, grade, grade_end))
    qids = _spans(lines.data, qid, qid_end) if with_qid else None
    return lines.rows(grades, _encoded(qids), heads)


def is_data(number: int, line: bytes) -> bool:
    """Whether a line is neither blank nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith(b"#")


def diagnose(source: Source, with_qid: bool, *, whole: bool) -> InputError:
    """Return the error that lists the lines without a sound grade and qid."""

    def reads(lines: bytes) -> bool:
        try:
            rows = read_block(lines, with_qid)
        except NotLetor:
            return False
        return not whole or all(row.grades.dtype.kind != "f" for row in rows)

    lines = (row for row in doubtful_lines(source, reads) if is_data(*row))
    found = wrong_lines(source, lines, partial(_check_line, with_qid=with_qid, whole=whole))
    if not found.problems:
        return InputError(Problem(source.name, "cannot be read as LETOR"))
    return found.error()


def _check_line(line: bytes, with_qid: bool, whole: bool) -> Problem | None:
    match = _LINE.match(line)
    try:
        for part in (*(match.groups(b"") if match else ()), line.partition(b"#")[2]):
            part.decode("utf-8")
        grade = match["grade"].decode("utf-8") if match else ""
    except UnicodeDecodeError:
        return NOT_UTF8
    wrong = check_number(grade, "grade", whole)
    if wrong is not None:
        return replace(wrong, fix=wrong.fix or _REPAIR)
    if with_qid and (match is None or match["qid"] is None):
        fix = "write 'grade qid:Q features'"
        return Problem("", "no qid after the grade", fix=fix, rule="columns")
    return None
