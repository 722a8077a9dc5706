"""Reading qrels as trec_eval does: four fields a line, and a grade is what ``atol`` makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
import pyarrow as pa

from ..core.arrow import to_arrow, to_numpy
from ..core.docnos import Docnos
from ..core.ragged import Array, Ints, offsets_of
from ..core.table import Table
from ..core.tables import Qrels
from ..errors import InputError
from ..readers import Source
from ..readers.blanks import delimiter, is_simple, single_blanks
from ..readers.columns import parse_csv
from .numbers import atol
from .stop import FILES, Stop

T = TypeVar("T", bound=Table)
_FIELDS = ("qid", "iteration", "docno", "grade")
BOM = b"\xef\xbb\xbf"
_EDGE = re.compile(rb"(?:^|\n)[ \t]|[ \t]\r?(?:\n|$)")


class Odd(Exception):  # noqa: N818 - a signal: the file is not of the plain kind
    """The file is not one that Arrow reads as trec_eval does; it is read line by line."""


def read_qrels(path: str, version: int) -> Qrels:
    """Read judgements; rows that a query names twice are kept, see :mod:`.duplicates`.

    Raises
    ------
    Stop
        Where the file cannot be read or a line is malformed.
    """
    try:
        source = Source(path)
        try:
            qids, docnos, grades = _by_arrow(source, version)
        except (Odd, InputError):
            qids, docnos, grades = _line_by_line(source, version)
    except InputError as error:
        raise Stop(FILES, f"the qrels cannot be read: {error}") from None
    return grouped(Qrels, qids, docnos, grades, path)


def grouped(kind: type[T], qids: pa.Array, docnos: pa.Array, numbers: Array, name: str) -> T:
    """Group columns by query, whatever they hold twice."""
    encoded = qids.dictionary_encode()
    codes = to_numpy(encoded.indices).astype(np.int64)
    if (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes, kind="stable")
        docnos, numbers = docnos.take(to_arrow(order)), numbers[order]
    offsets = offsets_of(np.bincount(codes, minlength=len(encoded.dictionary)))
    return kind(encoded.dictionary, offsets, Docnos(docnos, offsets), numbers, name)


def strings(words: Sequence[bytes]) -> pa.Array:
    """Return bytes as strings, without a look at whether they are UTF-8."""
    return pa.array(words, pa.binary()).view(pa.string())


def without_end(block: bytes) -> bytes:
    r"""Return what precedes the first line that begins with a zero byte, where C stops reading.

    >>> without_end(b"1 0 a 1\n\0\0"), without_end(b"\0"), without_end(b"1 0 a\0 1\n")
    (b'1 0 a 1\n', b'', b'1 0 a\x00 1\n')
    """
    end = (b"\n" + block).find(b"\n\0") if b"\0" in block else -1
    return block if end < 0 else block[:end]


def has_comment(block: bytes) -> bool:
    """Return whether a line of the block begins with ``#``."""
    return b"#" in block and (block.startswith(b"#") or b"\n#" in block)


def _by_arrow(source: Source, version: int) -> tuple[pa.Array, pa.Array, Ints]:
    if source.read(len(BOM)) == BOM:
        raise Odd
    table = pa.concat_tables([_read_block(block, version) for block in source.blocks()])
    table = table.combine_chunks().unify_dictionaries()
    grade = table["grade"].combine_chunks().dictionary_encode()
    grade = grade.chunk(0) if isinstance(grade, pa.ChunkedArray) else grade
    known = np.array([atol(text) for text in grade.dictionary.to_pylist()], dtype=np.int64)
    return table["qid"].chunk(0), table["docno"].chunk(0), known[to_numpy(grade.indices)]


def _read_block(block: bytes, version: int) -> pa.Table:
    if b"\v" in block or b"\f" in block or b"\0" in block or (version == 10 and has_comment(block)):
        raise Odd
    n_lines = block.count(b"\n") + (not block.endswith(b"\n"))
    if not is_simple(block) or _EDGE.search(block):
        block = single_blanks(block)
    types = {name: pa.string() for name in _FIELDS if name != "iteration"}
    try:
        table = parse_csv(block, _FIELDS, types, delimiter(block))
    except pa.ArrowInvalid:
        raise Odd from None
    if table.num_rows != n_lines:
        raise Odd
    return table


def _line_by_line(source: Source, version: int) -> tuple[pa.Array, pa.Array, Ints]:
    qids, docnos, grades = [], [], []
    for number, line in _judgement_lines(without_end(source.read()), version):
        fields = line.split()
        if len(fields) != 4:
            found = line.decode("utf-8", "replace")
            raise Stop(
                FILES,
                f"{source.name}:{number}: malformed, {len(fields)} fields where 4 belong "
                f"({' '.join(_FIELDS)})\n  found: {found}",
            )
        qids.append(fields[0].partition(b"\0")[0])  # where a string of C ends
        docnos.append(fields[2].partition(b"\0")[0])
        grades.append(atol(fields[3].decode("latin-1")))
    return strings(qids), strings(docnos), np.array(grades, dtype=np.int64)


def _judgement_lines(data: bytes, version: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with judgements; in version 10 the line after a comment is always one."""
    after_comment = False
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), 1):
        after_comment = version == 10 and not after_comment and line.startswith(b"#")
        if not after_comment:
            yield number, line
