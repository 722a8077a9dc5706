"""Lines of text brought to the form that a CSV reader takes: one blank between fields."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import numpy as np

from ..core.ragged import Array
from .pieces import pieces

_NEWLINE, _BLANK, _HASH = 10, 32, 35
_ODD = b"\t", b"\r", b"\v", b"\f", b"#"
_PIECE = 1 << 18
"""Bytes that are looked at together, so that they stay in the processor's cache."""
_WHITE = np.isin(np.arange(256), list(b" \t\r\v\f"))
_LONG = 1 << 20
"""Bytes of a piece from which on it has a long line: an array of numbers would be many times it."""
_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")


def is_simple(block: bytes) -> bool:
    """Whether no comment is in the block and one and the same character between fields."""
    if _is_plain(block):
        return True
    if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
        return False
    if b"#" in block and (block.startswith(b"#") or b"\n#" in block):
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
    if b"#" not in block:
        return block
    return b"".join(map(_without_comments, pieces(block)))


def _without_comments(lines: bytes) -> bytes:
    if len(lines) > _LONG:
        return b"".join(line for line in io.BytesIO(lines) if not line.startswith(b"#"))
    data = np.frombuffer(lines, np.uint8)
    starts = np.concatenate([[0], np.flatnonzero(data[:-1] == _NEWLINE) + 1])
    keep = np.repeat(data[starts] != _HASH, np.diff(np.append(starts, data.size)))
    return bytes(data[keep])


def single_blanks(block: bytes) -> bytes:
    r"""Return `block` with one blank for each run of white space, and none around a line.

    >>> single_blanks(b" 1\tQ0  d1 \r\n2 Q0 d2\n")
    b'1 Q0 d1\n2 Q0 d2\n'
    """
    return b"".join(map(_single_blanks, pieces(block)))


def _single_blanks(lines: bytes) -> bytes:
    if len(lines) > _LONG:
        lines = lines.translate(_BLANKS)
        while b"  " in lines:
            lines = lines.replace(b"  ", b" ")
        lines = lines.replace(b" \n", b"\n").replace(b"\n ", b"\n")
        return lines.removeprefix(b" ").removesuffix(b" ")
    data = np.frombuffer(lines, np.uint8)
    white = _WHITE[data]
    keep = ~white
    keep[:-1] |= keep[1:] & (data[1:] != _NEWLINE)
    data = np.where(white, np.uint8(_BLANK), data)[keep]
    keep = data != _BLANK
    keep[1:] |= data[:-1] != _NEWLINE
    return bytes(data[keep])


def first_fields(block: bytes, n_fields: int) -> bytes:
    r"""Return `block`, whose fields are one blank apart, with only the first fields of a line.

    >>> first_fields(b"1 Q0 d1\n2 Q0 d2 and more\n", 3)
    b'1 Q0 d1\n2 Q0 d2\n'
    """
    return b"".join(_first_fields(lines, n_fields) for lines in pieces(block))


def _first_fields(lines: bytes, n_fields: int) -> bytes:
    if len(lines) > _LONG:
        return b"".join(_first_of_each(lines, n_fields))
    data = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    blanks = np.append(np.flatnonzero(data == _BLANK), [data.size] * n_fields)
    starts = np.concatenate([[0], ends + 1])
    ends = np.append(ends, data.size)
    cut = blanks[np.searchsorted(blanks, starts) + n_fields - 1]
    long = cut < ends
    step = np.zeros(data.size + 1, np.int8)
    step[cut[long]] += 1
    step[ends[long]] -= 1
    return bytes(data[np.cumsum(step[:-1], dtype=np.int8) == 0])


def _first_of_each(lines: bytes, n_fields: int) -> Iterator[bytes]:
    """Yield the first fields of each line, with its end."""
    start = 0
    while start < len(lines):
        end = lines.find(b"\n", start)
        end = len(lines) if end < 0 else end
        cut = start - 1
        for _ in range(n_fields):
            cut = lines.find(b" ", cut + 1, end)
            if cut < 0:
                cut = end
                break
        yield lines[start:cut]
        yield lines[end : end + 1]
        start = end + 1


def count_fields(line: bytes) -> int:
    """Return how many fields a line has, without making them: it may have millions."""
    return sum(1 for _ in re.finditer(rb"\S+", line))
