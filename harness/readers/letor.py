"""LETOR / SVMlight files as datasets: grade, qid and docno of each line; features are not read.

``grade qid:Q f:v f:v ... # comment`` in the dialects of MSLR, LETOR 3 and 4 (``#docid = X``),
RankLib's judgement lists (``# docno words``), Yahoo and Istella; and LightGBM's layout without
qids, whose group sizes are in ``rank.test.query`` or ``rank.test.group`` next to ``rank.test``.

The line starts are found in the bytes; of each line only the first few bytes and the comment are
read. For files that are checked, the features of each row are hashed: rows of two folds with one
hash are the same row, whatever their queries are called.
"""

from __future__ import annotations

import io
import os
import re
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.lib.stride_tricks import sliding_window_view

from ..core.arrow import as_bytes, call, cast, extract, run_ends, take, to_numpy
from ..core.hashing import hash_strings, splitmix64
from ..core.policy import Duplicates
from ..core.ragged import Array, Ints, rows_of
from ..core.tables import GRADE_LIMIT, DuplicateRows, Qrels
from ..errors import InputError, Problem
from .blocks import pieces
from .build import find_lines, last_lines, readable, warn, warn_cut_line, warn_moved
from .columns import NOT_UTF8, count_fields, diagnose
from .format import Format, Head, Kind
from .group_sizes import GROUP, check_sizes, group_file, has_qids, qids_from_sizes
from .number_text import check_number
from .source import HashedSource, Source, no_rows

KEPT = 128
"""Hashes that are kept of a dataset: if one row in forty is shared, 96 in 100 times one of them
is of such a row."""


def kept(marks: Array) -> str:
    """Return the smallest marks as text, the same of any two files as far as they share rows.

    Rows that a file holds twice are left out: several files hold such ones by chance.
    """
    some = marks
    if marks.size > 4 * KEPT:  # of which some may be of equal rows
        some = np.partition(marks, 4 * KEPT)[: 4 * KEPT]
    found, times = np.unique(some, return_counts=True)
    smallest: bytes = found[times == 1][:KEPT].astype("<u8").tobytes()
    return smallest.hex()


def of_kept(text: str) -> Array:
    """Return the marks that :func:`kept` gave.

    >>> of_kept(kept(np.array([7, 3, 4, 7], dtype=np.uint64))).tolist()
    [3, 4]
    """
    return np.frombuffer(bytes.fromhex(text), "<u8")


def of_queries(rows: Array, offsets: Ints) -> Array:
    """Return a hash of each query's rows, ``(n_queries,)`` uint64, whatever their order.

    >>> rows = np.array([1, 2, 2, 1, 3], dtype=np.uint64)
    >>> first, second, third = of_queries(rows, np.array([0, 2, 4, 5]))
    >>> bool(first == second), bool(first == third)
    (True, False)
    """
    found = np.zeros(offsets.size - 1, np.uint64)
    np.add.at(found, rows_of(offsets), splitmix64(rows))
    return found


_REPAIR = "repair the line; predictions follow the lines, so delete none"
_LONG = 256
"""Bytes of a line from which on lines are long."""
_PIECE = 1 << 20
"""Bytes of lines that are read together."""
_LINE_HEAD = 48
"""Bytes of each line that are looked at; a longer grade and qid take the slow way."""
_TAB, _NEWLINE, _RETURN, _BLANK, _HASH = np.array([9, 10, 13, 32, 35], np.uint8)
_PLACES = np.arange(_LINE_HEAD, dtype=np.uint8)
_QID = np.frombuffer(b"qid:", np.uint8)
_DOCID = r"docid\s*=\s*(?P<docno>\S+)"
_FIRST_WORD = r"^#+\s*(?P<docno>\S+)"
_NO_DATA = re.compile(rb"\s*(#|$)")
_LINE = re.compile(rb"\s*(?P<grade>[^\s#]+)(?:\s+qid:(?P<qid>[^\s#]+))?(?=[\s#]|$)")


class Rows(NamedTuple):
    """What some lines hold: ``(n,)`` grades, qids, and docnos if any line has a comment.

    `docids` is how many of the docnos are given as ``docid = X``; if none is, they are the
    first words of the comments. A docno is null if there is neither. The grades are int32, or
    float64 if some are fractions; the qids are run-end encoded. The marks are hashes of the
    features, if they are asked for.
    """

    grades: Array
    qids: Any
    docnos: pa.Array | None
    docids: int
    marks: Array | None = None


class NotLetor(Exception):  # noqa: N818 - a signal
    """A line of the block has no grade or no qid where one belongs."""


class _Lines(NamedTuple):
    """Where some lines begin, where their data end, and where the lines do."""

    starts: Ints
    ends: Ints
    stops: Ints

    def among(self, rows: Array) -> _Lines:
        return _Lines(*(places[rows] for places in self))


class _Heads(NamedTuple):
    """Where the grade and the qid of some lines begin and end."""

    grade: Ints
    grade_end: Ints
    qid: Ints
    qid_end: Ints


def read_block(block: bytes, with_qid: bool, marked: bool = False) -> list[Rows]:
    """Read grades, qids and docnos of the lines of a block; hash their features if `marked`."""
    found = (_read_lines(piece, with_qid, marked) for piece in pieces(block, _PIECE))
    return [rows for rows in found if rows is not None]


def _read_lines(piece: bytes, with_qid: bool, marked: bool) -> Rows | None:
    """Return what some whole lines hold; None if none holds data."""
    data = np.frombuffer(piece + b"\n" * _LINE_HEAD, np.uint8)
    stops = _line_ends(piece, data)
    starts = np.concatenate([[0], stops[:-1] + 1])
    ends = stops
    if b"#" in piece:
        hashes = np.append(np.flatnonzero(data == _HASH), data.size)
        ends = np.minimum(hashes[np.searchsorted(hashes, starts)], stops)
    lines = _Lines(starts, ends, stops)
    is_return = (data[starts] == _RETURN) & (data[starts + 1] == _NEWLINE)
    lines = lines.among((ends > starts) & ~is_return)
    if not lines.starts.size:
        return None
    heads = _find_heads(data, lines, with_qid)
    if heads is None:
        lines, heads = _search_heads(piece, lines, with_qid)
        if not lines.starts.size:
            return None
    grades = _grades(_texts(data, heads.grade, heads.grade_end))
    qids = _encoded(_texts(data, heads.qid, heads.qid_end)) if with_qid else None
    docnos, docids = _docnos_of(data, lines)
    marks = None
    if marked:
        first = (heads.qid_end if with_qid else heads.grade_end) + 1
        ends = lines.ends
        for _ in range(2):  # a carriage return, the blank before a comment
            ends = ends - (data[ends - 1] <= _BLANK)
        marks = hash_strings(_strings(data, np.minimum(first, ends), ends))
    return Rows(grades, qids, docnos, docids, marks)


def _line_ends(piece: bytes, data: Array) -> Ints:
    """Return where each line ends; the C library finds the ends of long lines faster."""
    is_cut = not piece.endswith(b"\n")
    if piece.count(b"\n", 0, _LONG * 64) < 64:
        ends: Ints = np.cumsum(np.fromiter(map(len, io.BytesIO(piece)), np.int64)) - 1
        ends[-1] += is_cut
        return ends
    return np.flatnonzero(data[: len(piece) + is_cut] == _NEWLINE)


def _find_heads(data: Array, lines: _Lines, with_qid: bool) -> _Heads | None:
    """Return the places in lines that begin as most do; None if one does not."""
    starts = lines.starts
    heads = sliding_window_view(data, _LINE_HEAD)[starts]
    space = (heads == _BLANK) | (heads - _TAB <= _RETURN - _TAB)  # bytes below it wrap around
    grade_end = space.argmax(axis=1)
    if not grade_end.all() or (grade_end + 5 >= _LINE_HEAD).any():  # 0 stands for none, too
        return None
    qid_end = grade_end
    if with_qid:
        words = sliding_window_view(data, _QID.size)[starts + grade_end + 1]
        first = grade_end.min() + 1 + _QID.size
        space[(grade_end + _QID.size).astype(np.uint8)[:, None] >= _PLACES] = False
        qid_end = space[:, first:].argmax(axis=1) + first
        if (words != _QID).any() or (qid_end <= grade_end + 5).any():
            return None
    if (starts + qid_end > lines.ends).any():  # a comment begins at once
        return None
    return _Heads(starts, starts + grade_end, starts + grade_end + 5, starts + qid_end)


def _search_heads(piece: bytes, lines: _Lines, with_qid: bool) -> tuple[_Lines, _Heads]:
    """Return the lines with data, and the places in them, one by one: runs of blanks, long qids."""
    rows, found = [], []
    for row, (start, stop) in enumerate(
        zip(lines.starts.tolist(), lines.stops.tolist(), strict=True)
    ):
        if _NO_DATA.match(piece, start, stop):
            continue
        match = _LINE.match(piece, start, stop)
        if match is None or (with_qid and match.start("qid") < 0):
            raise NotLetor
        rows.append(row)
        found.append(
            (*match.span("grade"), *(match.span("qid") if with_qid else match.span("grade")))
        )
    heads = _Heads(*np.array(found, np.int64).reshape(-1, 4).T)
    return lines.among(np.array(rows, np.int64)), heads


def _docnos_of(data: Array, lines: _Lines) -> tuple[pa.Array | None, int]:
    """Return the docno in the comment of each line, and how many are given as ``docid = X``."""
    if (lines.ends == lines.stops).all():
        return None, 0
    comments = _texts(data, lines.ends, lines.stops)
    docnos = extract(comments, _DOCID)
    docids = len(docnos) - docnos.null_count
    return (docnos if docids else extract(comments, _FIRST_WORD)), docids


def _encoded(qids: pa.Array) -> pa.Array:
    return run_ends(np.array([1]), qids) if len(qids) == 1 else call("run_end_encode", qids)


def _texts(data: Array, starts: Ints, stops: Ints) -> pa.Array:
    """Return the bytes between each start and stop as texts."""
    strings = _strings(data, starts, stops)
    try:
        strings.validate(full=True)
    except pa.ArrowInvalid:
        raise NotLetor from None
    return cast(strings, pa.string())


def _strings(data: Array, starts: Ints, stops: Ints) -> pa.Array:
    """Return the bytes between each start and stop, which do not overlap, as strings."""
    offsets = np.empty(2 * starts.size, np.int64)
    offsets[0::2], offsets[1::2] = starts, stops
    # what lies between two of them is a string too: every second one is wanted
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    every = pa.Array.from_buffers(pa.large_string(), offsets.size - 1, buffers)
    return take(every, np.arange(0, offsets.size - 1, 2))


def _grades(texts: pa.Array) -> Array:
    try:
        grades = to_numpy(cast(texts, pa.float64()))
    except pa.ArrowInvalid:
        raise NotLetor from None
    if not (np.abs(grades) <= GRADE_LIMIT).all():
        raise NotLetor
    if (grades != np.trunc(grades)).any():
        return grades
    return grades.astype(np.int32)


def is_data(number: int, line: bytes) -> bool:
    """Whether a line is neither blank nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith(b"#")


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


_LEAST = 2 << 20
"""Bytes of a block, at least: of most only the beginnings of lines are looked at."""
_BEFORE = 5
"""Lines before the last one that tell how many fields a line has."""
_NAMED = 3
"""Repeated rows that a warning names."""


def read_qrels(
    source: Source,
    *,
    duplicates: Duplicates,
    name: str,
    fractions: bool = False,
    group: str | os.PathLike[str] | None = None,
) -> Qrels:
    """Read a learning-to-rank file as a dataset.

    Docnos come from the comments if every row has one, and are d0, d1, ... by position
    otherwise. Real files hold rows twice, and predictions follow all of them: under
    ``duplicates="error"`` such a file is warned about, keeps every row and is named by position.

    Parameters
    ----------
    group : path, optional
        File with the number of rows of each query; by default ``<path>.query`` or ``<path>.group``
        if it exists. Queries of lines without qids are named 1, 2, ...; qids must agree with the
        sizes.
    """
    sizes = group_file(source, group)
    with_qid = has_qids(source)
    rows = _read_rows(source, with_qid, whole=not fractions)
    grades = Qrels.check_numbers(rows.grades, source.name, fractions=fractions)
    qids, docnos = rows.qids, rows.docnos
    if 0 < rows.docids < grades.size:
        what = f"rows with a docid: {rows.docids:,} of {grades.size:,}; named d0, d1, ... instead"
        warn(source, what)
        docnos = None
    if with_qid:
        if sizes is not None:
            check_sizes(source, sizes, qids)
    elif sizes is None:
        fix = (
            f"write 'grade qid:Q features', or the group sizes to {source.stem}.query next to it, "
            f"or name their file: {GROUP}"
        )
        raise InputError(Problem(source.name, "the lines have no qid", fix=fix, rule="columns"))
    else:
        qids = qids_from_sizes(source, sizes, grades.size)
    if isinstance(source, HashedSource):
        source.row_marks = rows.marks
    try:
        qrels = Qrels.from_columns(qids, docnos, grades, name=name, duplicates=duplicates)
    except DuplicateRows as error:
        _warn_repeated(source, error, qids, docnos)
        qrels = Qrels.from_columns(qids, None, grades, name=name)
    _warn_cut(source)
    warn_moved(source, qrels, duplicates, is_data)
    return qrels


def _read_rows(source: Source, with_qid: bool, *, whole: bool) -> Rows:
    """Return what the rows of a file hold."""
    parse = partial(read_block, with_qid=with_qid, marked=isinstance(source, HashedSource))

    def is_sound(parts: list[Rows]) -> bool:
        return not (whole and any(rows.grades.dtype.kind == "f" for rows in parts))

    def reads(block: bytes) -> bool:
        try:
            return is_sound(read_block(block, with_qid))
        except NotLetor:
            return False

    parts: list[Rows] = []
    try:
        for some in source.map_blocks(parse, source.blocks(max(source.block, _LEAST))):
            if not is_sound(some):
                raise NotLetor
            parts += some
    except NotLetor:
        raise diagnose(
            source, reads, lambda lines: (row for row in lines if is_data(*row)),
            partial(_check_line, with_qid=with_qid, whole=whole), "not LETOR", has_names=True,
        ) from None  # fmt: skip
    if not parts:
        raise no_rows(source.name)
    return _joined(parts, with_qid)


def _joined(parts: list[Rows], with_qid: bool) -> Rows:
    """Return the rows of all parts; the docnos are None if not every row has one."""
    qids = docnos = marks = None
    if with_qid:
        before = np.cumsum([0, *(rows.grades.size for rows in parts[:-1])])
        ends = [to_numpy(one.qids.run_ends) + at for one, at in zip(parts, before, strict=True)]
        values = pa.concat_arrays([rows.qids.values for rows in parts])
        qids = run_ends(np.concatenate(ends), values)
    if all(rows.docnos is not None and not rows.docnos.null_count for rows in parts):
        docnos = pa.concat_arrays([rows.docnos for rows in parts])
    if parts[0].marks is not None:
        marks = np.concatenate([rows.marks for rows in parts])
    grades = np.concatenate([rows.grades for rows in parts])
    return Rows(grades, qids, docnos, sum(rows.docids for rows in parts), marks)


def _warn_cut(source: Source) -> None:
    """Warn if the last line has no end and fewer fields than each of the lines before it."""
    lines = last_lines(source, _BEFORE)
    lengths = {_n_fields(line) for line in lines[:-1] if is_data(0, line)}
    if len(lengths) == 1 and (n := _n_fields(lines[-1])) < min(lengths):
        warn_cut_line(source, f"{n} fields, where the lines before have {min(lengths)}")


def _n_fields(line: bytes) -> int:
    """Return how many fields are before the comment; one more if there is a comment."""
    fields, mark, _ = line.partition(b"#")
    return count_fields(fields) + len(mark)


def _warn_repeated(source: Source, error: DuplicateRows, qids: pa.Array, docnos: pa.Array) -> None:
    """Warn of rows that repeat a docno of their query, with the first of them."""
    rows = np.sort(error.rows.astype(np.int64))[:_NAMED]
    query = np.searchsorted(to_numpy(qids.run_ends), rows, "right")
    names = [map(readable, as_bytes(one)) for one in (take(qids.values, query), take(docnos, rows))]
    found = dict(zip(rows.tolist(), zip(*names, strict=True), strict=True))
    wanted = {row: (docno,) for row, (_, docno) in found.items()}
    lines = find_lines(source, wanted, is_data, whole=True)
    examples = tuple(
        f"query {qid}, document {docno}" + (f": line {lines[row]}" if row in lines else "")
        for row, (qid, docno) in found.items()
    )
    what = (
        f"rows that repeat a docno of their query: {error.total:,}; all rows are kept, and named "
        "d0, d1, ... by position"
    )
    warn(source, what, "repeated-rows", error.total, lines.get(int(rows[0]), 0), examples)


_QID_LINE = re.compile(rb"\s*\S+\s+qid:\S")
_FEATURE_LINE = re.compile(rb"\s*[-+.\d]+(\s+\d+:\S+)+\s*(#.*)?$")


def looks(head: Head, kind: Kind) -> bool:
    """Whether every line begins with a grade and a qid, or has features alone."""
    lines = head.lines
    return kind == "qrels" and (
        head.mostly(lines, lambda line: bool(_QID_LINE.match(line)))
        or head.mostly(lines, lambda line: bool(_FEATURE_LINE.match(line)))
    )


FORMAT = Format(
    name="letor",
    about="LETOR / SVMlight learning-to-rank file (grade qid:Q f:v ... # comment), as a dataset; "
    "without qids, as LightGBM's, FILE.query or FILE.group beside it is used for the group sizes, "
    "which must agree with qids where there are both",
    suffixes=(".txt", ".test", ".train", ".letor", ".svm", ".libsvm"),
    looks=looks,
    qrels=read_qrels,
    is_data=lambda source: is_data,
)
