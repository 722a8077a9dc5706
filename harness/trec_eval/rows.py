"""The rows of a run as trec_eval reads them: six fields, a score is what ``atof`` makes of it.

A usual block goes through the harness's own reader. One that holds an odd line (a number that
only C reads, bytes that are not UTF-8, a comment that version 9 takes for a row) is read by
trec_eval's rules, alone; the blocks around it pay nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice

import numpy as np
import pyarrow as pa

from ..core.arrow import cast, to_numpy
from ..core.ragged import Array
from ..errors import InputError
from ..readers import Source
from ..readers.ahead import ahead, each
from ..readers.blanks import first_fields, single_blanks, without_comments
from ..readers.columns import Refused, parse_csv, read_block
from ..readers.trec import RUN
from .judgements import BOM, has_comment, strings, without_end
from .numbers import atof
from .stop import FILES, Stop

_INDENTED_COMMENT = re.compile(rb"(?:^|\n)[ \t\r]+#")
_N_FIELDS = len(RUN.fields)
_PIECE = 4096
"""Scores that are turned into numbers at a time; an odd one makes its piece slow."""


class RunSource(Source):
    """A run's text with all that trec_eval sees: a byte order mark, and what is not text."""

    def check_text(self) -> None:
        """Take anything."""

    def blocks(self, size: int | None = None) -> Iterator[bytes]:
        """Yield the text in blocks of whole lines, to the first line that begins with a zero."""
        mark = BOM if self.read(len(BOM)) == BOM else b""
        for block in super().blocks(size):
            whole = mark + block
            mark = b""
            kept = without_end(whole)
            yield kept
            if len(kept) < len(whole):
                return


class _Malformed(Exception):  # noqa: N818 - a signal that becomes a Stop
    """A line of a block has too few fields; `number` counts from 1."""

    def __init__(self, number: int, line: bytes, n_fields: int) -> None:
        super().__init__(number)
        self.number, self.line, self.n_fields = number, line, n_fields


def read_rows(source: RunSource, version: int) -> Iterator[pa.Table]:
    """Yield the columns qid, docno, tag and score of each block that has rows.

    Raises
    ------
    Stop
        Where the file cannot be read or a line has too few fields.
    """
    n_blocks = 0
    try:
        for table in each(partial(rows_of, version=version), ahead(source.blocks())):
            n_blocks += 1
            if table.num_rows:
                yield table
    except _Malformed as error:
        above = sum(block.count(b"\n") for block in islice(source.blocks(), n_blocks))
        found = error.line.decode("utf-8", "replace")
        raise Stop(
            FILES,
            f"{source.name}:{above + error.number}: malformed, {error.n_fields} fields where "
            f"{_N_FIELDS} belong ({' '.join(RUN.fields)})\n  found: {found}",
        ) from None
    except InputError as error:
        raise Stop(FILES, f"the run cannot be read: {error}") from None


def rows_of(block: bytes, version: int) -> pa.Table:
    r"""Return the columns of some whole lines.

    >>> rows_of(b"q1 Q0 a 1 0x1p4 tag\nq1 Q0 b 2 1,5 tag more\n", 9)["score"].to_pylist()
    [16.0, 1.0]
    """
    if b"\0" in block:
        what = "it holds zero bytes before its end, where trec_eval takes its lines for fewer than"
        raise Stop(FILES, f"the run cannot be read: {what} they are and may crash")
    if not _is_odd(block, version):
        try:
            return read_block(block, RUN)
        except Refused:
            pass
    columns = _by_columns(block, version)
    return _by_lines(block, version) if columns is None else columns


def _is_odd(block: bytes, version: int) -> bool:
    """Whether the reader may take a line otherwise than trec_eval."""
    if b"\v" in block or b"\f" in block or block.startswith(BOM):
        return True
    if version == 10:
        indented = b" #" in block or b"\t#" in block or b"\r#" in block
        return indented and bool(_INDENTED_COMMENT.search(block))
    return has_comment(block)


def _by_columns(block: bytes, version: int) -> pa.Table | None:
    """Return the columns, their text taken as bytes; None where Arrow does not take the lines."""
    if block.startswith(BOM):  # which Arrow would leave out
        return None
    block = single_blanks(block)
    if version == 10:
        block = without_comments(block)
    block = first_fields(block, _N_FIELDS)
    types = dict.fromkeys((*RUN.text, RUN.number), pa.binary())
    try:
        table = parse_csv(block, RUN.fields, types, " ").combine_chunks()
    except pa.ArrowInvalid:
        return None
    text = {name: pa.chunked_array([_one(table[name]).view(pa.string())]) for name in RUN.text}
    return pa.table(text | {RUN.number: scores(_one(table[RUN.number]))})


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)


def scores(written: pa.Array) -> Array:
    """Return what ``atof`` makes of each text of a binary array, ``(n,)``."""
    starts = range(0, len(written), _PIECE)
    pieces = [_scores(written.slice(start, _PIECE)) for start in starts]
    return np.concatenate([np.zeros(0), *pieces])


def _scores(written: pa.Array) -> Array:
    try:
        return to_numpy(cast(written.view(pa.string()), pa.float64()))
    except pa.ArrowInvalid:
        return np.array([atof(text.decode("latin-1")) for text in written.to_pylist()])


def _by_lines(block: bytes, version: int) -> pa.Table:
    """Return the columns, line by line."""
    rows = []
    for number, line in enumerate(block.split(b"\n"), 1):
        fields = line.split(None, _N_FIELDS)
        if not fields or (version == 10 and fields[0].startswith(b"#")):
            continue
        if len(fields) < _N_FIELDS:
            raise _Malformed(number, line, len(fields))
        rows.append(fields)
    text = {name: strings([row[RUN.fields.index(name)] for row in rows]) for name in RUN.text}
    at = RUN.fields.index(RUN.number)
    return pa.table(text | {RUN.number: scores(pa.array([row[at] for row in rows], pa.binary()))})
