"""LETOR / SVMlight files as datasets: grade, qid and docno of each line; features are not read.

``grade qid:Q f:v f:v ... # comment`` in the dialects of MSLR, LETOR 3 and 4 (``#docid = X``),
RankLib's judgement lists (``# docno words``), Yahoo and Istella; and LightGBM's layout without
qids, whose group sizes are in ``rank.test.query`` or ``rank.test.group`` next to ``rank.test``.

The line starts are found in the bytes; of each line only the first few bytes and the comment are
read. For files that are checked, the features of each row are hashed: rows of two folds with one
hash are the same row, whatever their queries are called.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.lib.stride_tricks import sliding_window_view
from pyarrow._compute import ExtractRegexOptions, StructFieldOptions

from ..core.arrow import as_bytes, call, cast, encode, extract, run_ends, take, to_arrow, to_numpy
from ..core.hashing import hash_features, hash_strings
from ..core.policy import Duplicates
from ..core.qrels_and_runs import GRADE_LIMIT, DuplicateRows, Qrels
from ..core.ragged import Array, Ints, lengths_of
from ..errors import SHOWN, InputError, Place, Problem, counted, shorten
from .columns import CORRECT, NOT_UTF8, Refused, parse_blocks
from .format import Format, add_formats
from .rows import Rows, warn, warn_cut_line, warn_moved
from .source import Source, next_to, no_rows
from .text import check_number, decoded

GROUP = "group: FILE in the config, --set dataset.group=FILE on the command line"
"""Fix that names a file of group sizes."""
_PIECE = 1 << 21  # Bytes of lines that are read together
_LEAST = 2 << 20  # Bytes of a block, at least: of most only the beginnings of lines are looked at
_LINE_HEAD = 48  # Bytes of each line that are looked at first, for its grade and its qid
_NEWLINE, _RETURN, _BLANK, _HASH, _ZERO = np.frombuffer(b"\n\r #0", np.uint8)
_BETWEEN = np.frombuffer(b" qid:", np.uint8)
_QID_FROM = 1 + _BETWEEN.size
_PLACES = np.arange(_LINE_HEAD - _QID_FROM)
_IS_WHITE = np.isin(np.arange(256), [*b"\t\n\v\f\r "])
_SPACE = r"[\t-\r ]"
_HEAD = rf"^(?P<head>{_SPACE}*(?P<grade>[^\t-\r #]+)"
_QID = rf"{_SPACE}+qid:(?P<qid>[^\t-\r #]+)"
_HEAD_END = r")(?:[\t-\r #]|$)"
_DOCID = r"docid\s*=\s*(?P<docno>\S+)"
_FIRST_WORD = r"^#+\s*(?P<docno>\S+)"
_LINE = re.compile(rb"\s*(?P<grade>[^\s#]+)(?:\s+qid:(?P<qid>[^\s#]+))?(?=[\s#]|$)")


Mark = Callable[[pa.Array], Array]
"""Makes a hash of the features of each row."""


class LetorRows(NamedTuple):
    """Content of some lines."""

    grades: Array  # int32, or float64 if some are fractions
    qids: Any  # run-end encoded
    docnos: pa.Array | None  # of comments: X of docid = X if any has one, or the first words
    docids: int  # how many docnos are given as docid = X
    marks: Array | None = None  # hashes of the features, if they are asked for


def read_block(block: bytes, with_qid: bool, mark: Mark | None = None) -> list[LetorRows]:
    """Read grades, qids and docnos of the lines of a block; `mark` hashes their features."""
    data, has_comments = np.frombuffer(block, np.uint8), b"#" in block
    ends = [
        block.find(b"\n", position) + 1 or len(block)
        for position in range(_PIECE, len(block), _PIECE)
    ]
    bounds = np.unique([0, *ends, len(block)]).tolist()
    pieces = (
        _read_lines(data[start:end], with_qid, mark, has_comments)
        for start, end in pairwise(bounds)
    )
    return [rows for rows in pieces if rows is not None]


def _read_lines(
    data: Array, with_qid: bool, mark: Mark | None, has_comments: bool
) -> LetorRows | None:
    """Rows in the bytes of whole lines; None without data."""
    stops = np.flatnonzero(data == _NEWLINE)
    if data[-1] != _NEWLINE:
        stops = np.append(stops, data.size)
    starts = np.concatenate([[0], stops[:-1] + 1])
    ends = stops
    if has_comments:
        hashes = np.append(np.flatnonzero(data == _HASH), data.size)
        ends = np.minimum(hashes[np.searchsorted(hashes, starts)], stops)
    is_return = (data[starts] == _RETURN) & (stops == starts + 1)
    places = np.stack([starts, ends, stops])[:, (ends > starts) & ~is_return]
    heads = _alike(data, places[0], has_comments) if places.size and with_qid else None
    if heads is None and places.size:
        heads = _heads(data, places[0], places[1], _LINE_HEAD, with_qid)
    if heads is None:  # blank lines, or long qids
        is_blank = [not data[start:end].tobytes().strip() for start, end in places[:2].T.tolist()]
        places = places[:, ~np.array(is_blank, bool)]
        if not places.size:
            return None
        heads = _heads(data, places[0], places[1], data.size + 1, with_qid)
        if heads is None:
            raise Refused("not LETOR")
    starts, ends, stops = places
    lengths, grades, qids = heads
    docnos, docids = None, 0
    if (ends < stops).any():
        comments = _texts(_strings(data, ends, stops))
        docnos = extract(comments, _DOCID)
        docids = len(docnos) - docnos.null_count
        docnos = docnos if docids else extract(comments, _FIRST_WORD)
    marks = None
    if mark is not None:
        begins = starts + lengths + 1
        for _ in range(2):  # a carriage return, the blank before a comment
            ends = ends - (data[ends - 1] <= _BLANK)
        marks = mark(_strings(data, np.minimum(begins, ends), ends))
    return LetorRows(grades, qids, docnos, docids, marks)


_Heads = tuple[Ints, Array, Any]
"""Length of the grade and qid of each line, the grades, and the qids, run-end encoded."""


def _alike(data: Array, starts: Ints, has_comments: bool) -> _Heads | None:
    """Return the heads of lines that all begin as ``2 qid:10 `` does; None if some do not.

    This is what most files have, and twice as fast as `_heads`.
    """
    if starts[-1] + _LINE_HEAD > data.size:
        return None
    heads = sliding_window_view(data, _LINE_HEAD)[starts]
    grades, qids = heads[:, 0] - _ZERO, heads[:, _QID_FROM:]
    lengths = (qids <= _BLANK).argmax(axis=1)
    is_alike = (
        grades.max() <= 9
        and (heads[:, 1:_QID_FROM] == _BETWEEN).all()
        and lengths.all()
        and _IS_WHITE[qids[np.arange(lengths.size), lengths]].all()
        and not (has_comments and (heads == _HASH).any())
    )
    if not is_alike:
        return None
    differ = qids[1:] != qids[:-1]
    is_equal = (lengths[1:] == lengths[:-1]) & ~(differ & (lengths[1:, None] > _PLACES)).any(axis=1)
    heads_of_runs = np.append(0, 1 + np.flatnonzero(~is_equal))
    begins = starts[heads_of_runs] + _QID_FROM
    values = _texts(_strings(data, begins, begins + lengths[heads_of_runs]))
    runs = run_ends(np.append(heads_of_runs[1:], starts.size), values)
    return _QID_FROM + lengths, grades.astype(np.int32), runs


def _heads(data: Array, starts: Ints, ends: Ints, n_bytes: int, with_qid: bool) -> _Heads | None:
    """Heads of lines with grade and qid in the first `n_bytes` bytes; None unless all fit."""
    lines = _strings(data, starts, np.minimum(starts + n_bytes, ends)).view(pa.large_binary())
    options = ExtractRegexOptions(_HEAD + (_QID if with_qid else "") + _HEAD_END)
    groups = call("extract_regex", [lines], options=options)
    head, grades, *qids = (
        call("struct_field", [groups], options=StructFieldOptions([group]))
        for group in range(2 + with_qid)
    )
    if head.null_count or (lengths := to_numpy(call("binary_length", [head]))).max() == n_bytes:
        return None
    encoded = call("run_end_encode", [_texts(qids[0])]) if qids else None
    return lengths, _grades(_texts(grades)), encoded


def _texts(strings: pa.Array) -> pa.Array:
    """Return bytes as text, or raise `.columns.Refused`."""
    try:
        return cast(cast(strings, pa.large_binary()), pa.string())
    except pa.ArrowInvalid:
        raise Refused("not LETOR") from None


def _strings(data: Array, starts: Ints, stops: Ints) -> pa.Array:
    """Return the bytes between each start and stop, which do not overlap, as strings."""
    offsets = np.empty(2 * starts.size, np.int64)
    offsets[0::2], offsets[1::2] = starts, stops
    # what lies between two of them is a string too: every second one is wanted
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    strings = pa.Array.from_buffers(pa.large_string(), offsets.size - 1, buffers)
    return take(strings, np.arange(0, offsets.size - 1, 2))


def _grades(texts: pa.Array) -> Array:
    try:
        grades = to_numpy(cast(texts, pa.float64()))
    except pa.ArrowInvalid:
        raise Refused("not LETOR") from None
    if not (np.abs(grades) <= GRADE_LIMIT).all():
        raise Refused("not LETOR")
    return grades if (grades != np.trunc(grades)).any() else grades.astype(np.int32)


def is_data(number: int, line: bytes) -> bool:
    """Whether a line is neither blank nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith(b"#")


def _check_line(line: bytes, with_qid: bool) -> Problem | None:
    match = _LINE.match(line)
    try:
        for part in (*(match.groups(b"") if match else ()), line.partition(b"#")[2]):
            part.decode("utf-8")
        grade = match["grade"].decode("utf-8") if match else ""
    except UnicodeDecodeError:
        return NOT_UTF8
    wrong = check_number(grade, "grade")
    if wrong is not None:
        return replace(wrong, fix=wrong.fix or CORRECT)
    if with_qid and (match is None or match["qid"] is None):
        fix = "write 'grade qid:Q features'"
        return Problem("", "no qid after the grade", fix=fix, rule="columns")
    return None


def read_qrels(
    source: Source,
    *,
    duplicates: Duplicates,
    name: str,
    group: str | os.PathLike[str] | None = None,
) -> Qrels:
    """Read a learning-to-rank file as a dataset; `group` is the file of the group sizes.

    Docnos come from the comments if every row has one, and are d0, d1, ... by position
    otherwise. Real files hold rows twice, and predictions follow all of them: under
    ``duplicates="error"`` such a file gets a warning, keeps every row, and has docnos by position.
    Queries of lines without qids are named 1, 2, ...; qids must agree with group sizes.
    """
    sizes = group_file(source, group)
    with_qid = has_qids(source)
    rows = _read_rows(source, with_qid)
    grades = Qrels.check_numbers(rows.grades, source.name)
    qids, docnos = rows.qids, rows.docnos
    unnamed: Problem | None = None
    if 0 < rows.docids < grades.size:
        n = f"{rows.docids:,} of {grades.size:,}"
        message = f"rows with a docid: {n}; named d0, d1, ... instead"
        warn(source, message)
        docnos, unnamed = None, _without_docid(source)
    if sizes is None and not with_qid:
        fix = (
            f"write 'grade qid:Q features', or the group sizes to {source.stem}.query, "
            f"or name their file: {GROUP}"
        )
        raise source.error("the lines have no qid", fix, "columns")
    if sizes is not None:
        qids = _check_sizes(source, sizes, qids, grades.size)
    source.row_marks = rows.marks
    source.by_sizes = not with_qid
    places = Rows(source, is_data)
    try:
        qrels = Qrels.from_columns(qids, docnos, grades, name=name, duplicates=duplicates)
    except DuplicateRows as error:
        assert docnos is not None  # only names repeat
        repeated = np.sort(error.rows.astype(np.int64))[:3]
        lines = [number for number, _ in places.numbered(repeated).values()]
        message = f"the docno is repeated in {counted(error.total, 'row')}"
        examples = tuple(f"line {number}" for number in lines)
        warn(source, message, "repeated-rows", error.total, lines[0], examples)
        place, docno = Place(source.name, lines[0]), docnos[int(repeated[0])].as_py()
        message = f"docno '{docno}' occurs twice in a query, so a run cannot name its documents"
        unnamed = Problem(place, message, fix=f"{_BY_ROW}; or {_KEEP_LAST}", rule="unnamed-rows")
        qrels = Qrels.from_columns(qids, None, grades, name=name)
    qrels = replace(qrels, learning_to_rank=True, unnamed=unnamed)
    _warn_cut(source)
    warn_moved(places, qrels, duplicates, "scattered-queries")
    return qrels


_BY_ROW = "write one score for each row: harness.save_predictions('p.parquet', scores, dataset)"

_KEEP_LAST = "read the dataset with duplicates: last (--set dataset.duplicates=last)"


def _without_docid(source: Source) -> Problem:
    """Return the reason why a run cannot name documents: the first row without a docid."""
    rows = ((number, line) for number, line in source.lines() if is_data(number, line))
    number, line = next(row for row in rows if not re.search(_DOCID.encode(), row[1]))
    message, text = "expected a docid in every row, as a run names documents", decoded(line).strip()
    return Problem(Place(source.name, number), message, text, _BY_ROW, "unnamed-rows")


def _read_rows(source: Source, with_qid: bool) -> LetorRows:
    """Return the rows of a file; the docnos are None unless every row has one."""
    blocks = source.blocks(max(source.block, _LEAST))
    mark = hash_features if source.by_features else hash_strings if source.hashed else None
    parse = partial(read_block, with_qid=with_qid, mark=mark)
    check = partial(_check_line, with_qid=with_qid)
    pieces = parse_blocks(source, blocks, parse, is_data, check, has_names=True)
    parts = [*chain.from_iterable(pieces)]
    if not parts:
        raise no_rows(source.name)
    qids = docnos = marks = None
    if with_qid:
        before = np.cumsum([0, *(rows.grades.size for rows in parts[:-1])])
        pairs = zip(parts, before, strict=True)
        ends = [to_numpy(rows.qids.run_ends) + start for rows, start in pairs]
        values = pa.concat_arrays([rows.qids.values for rows in parts])
        qids = run_ends(np.concatenate(ends), values)
    if all(rows.docnos is not None and not rows.docnos.null_count for rows in parts):
        docnos = pa.concat_arrays([rows.docnos for rows in parts])
    if parts[0].marks is not None:
        marks = np.concatenate([rows.marks for rows in parts])
    grades = np.concatenate([rows.grades for rows in parts])
    return LetorRows(grades, qids, docnos, sum(rows.docids for rows in parts), marks)


def _warn_cut(source: Source) -> None:
    """Warn if the last line has no end and fewer fields than each of the five lines before it."""
    lines = source.report.last_lines[-6:] if source.report.unfinished else []
    parts = [line.partition(b"#") for line in lines if is_data(0, line)]
    *before, n_last = [len(fields.split()) + len(mark) for fields, mark, _ in parts] or [0]
    if len(lines) == 6 and len({*before}) == 1 and n_last < before[0]:
        warn_cut_line(source, f"expected {before[0]} fields, as in the lines before, got {n_last}")


def has_qids(source: Source) -> bool:
    """Whether one of the first lines of a learning-to-rank file has a qid."""
    rows = (line.partition(b"#")[0] for line in source.head.split(b"\n"))
    return any(b"qid:" in row for row in islice(filter(bytes.strip, rows), 20))


def group_file(source: Source, group: str | os.PathLike[str] | None) -> Source | None:
    """Return the file with the group sizes: the named one, or the one next to `source`.

    If lines have qids, a file next to them counts only if it has whole numbers only.
    """
    path = group or next_to(source.name)
    if not path:
        return None
    sizes = Source(path)
    source.findings += sizes.findings
    sizes.findings = source.findings
    is_other = has_qids(source) and not all(map(bytes.isdigit, sizes.read().split()))
    return None if is_other and group is None else sizes


def _check_sizes(source: Source, sizes: Source, qids: pa.Array | None, n_rows: int) -> pa.Array:
    """Return the qid of each row, by group sizes 1, 2, ...; raise if sizes do not fit the rows."""
    lines, counts = _read_sizes(sizes)
    if empty := [f"size {group + 1:,}" for group in np.flatnonzero(counts == 0).tolist()]:
        message, examples = f"group sizes of 0: {len(empty):,}", tuple(empty[:SHOWN])
        warn(sizes, message, "empty-groups", len(empty), lines[int(counts.argmin())], examples)
    places = np.flatnonzero(counts)
    if qids is not None:
        _, which = encode(qids.values)
        last_runs = np.flatnonzero(np.append(which[1:] != which[:-1], True))
        lengths = lengths_of(np.append(0, to_numpy(qids.run_ends)[last_runs]))
        pairs = zip(places.tolist(), counts[places].tolist(), lengths.tolist(), strict=False)
        for index, (place, size, length) in enumerate(pairs):
            if size != length:
                qid = decoded(as_bytes(qids.values.slice(int(last_runs[index]), 1))[0])
                message = (
                    f"group size {place + 1:,}: expected {length:,}, the rows of qid '{qid}', "
                )
                where, fix = Place(sizes.name, lines[place]), "write or delete the sizes"
                raise InputError(Problem(where, f"{message}got {size:,}", "", fix, "group-sizes"))
    total = sum(counts.tolist())
    if total != n_rows:
        message = f"expected sizes that add up to the {n_rows:,} rows of {source.name}, "
        message += f"got {total:,}"
        fix = f"name the file of sizes that belongs to it: {GROUP}"
        raise sizes.error(message, fix, "group-sizes")
    if qids is not None:
        return qids
    return run_ends(np.cumsum(counts[places]), cast(to_arrow(places + 1), pa.string()))


def _read_sizes(sizes: Source) -> tuple[list[int], Ints]:
    """Return the line numbers of the sizes, and the sizes."""
    rows = [(number, line.strip()) for number, line in sizes.lines() if line.strip()]
    problems = [
        Problem(
            Place(sizes.name, number),
            f"group size: expected a whole number, got '{shorten(decoded(word), 60)}'",
            fix="write one size a line",
            rule="group-sizes",
        )
        for number, word in rows
        if not (word.isdigit() and len(word) < 19)
    ]
    if problems:
        raise InputError(problems[:SHOWN], total=len(problems))
    return [number for number, _ in rows], np.array([int(word) for _, word in rows], np.int64)


add_formats(
    Format(
        name="letor",
        about="LETOR / SVMlight learning-to-rank file (grade qid:Q f:v ... # comment). A file "
        "without qids needs group sizes in FILE.query or FILE.group. If a file has qids and there "
        "are group sizes too, the two must agree",
        suffixes=(".txt", ".test", ".train", ".letor", ".svm", ".libsvm"),
        rows={"qrels": re.compile(rb"\s*\S+\s+qid:\S|\s*[-+.\d]+(\s+\d+:\S+)+\s*(#.*)?$")},
        qrels=read_qrels,
        is_data=lambda source: is_data,
    )
)
