"""Streams of text cut into blocks of whole lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

BOM = b"\xef\xbb\xbf"
LONGEST = 8 << 20
"""Bytes that a line of text may have, and a block more: what it is made into is many times that."""

_PIECE = 1 << 13
"""Bytes in which the end of a line is looked for; several of them are the longest line."""


def sought(stream: IO[bytes], size: int) -> Iterator[bytes | None]:
    """Yield the whole lines of a file: the end of each block is looked up, then it is read.

    None where a line has no end in :data:`LONGEST` bytes.

    What is read is passed on as it is, where joining costs a copy in memory that is new each time.
    """
    start = stream.seek(len(BOM) if stream.read(len(BOM)) == BOM else 0)
    while True:
        end = _end(stream, start + size - 1)
        if end is None:
            yield None
            return
        stream.seek(start)
        block = stream.read(end - start)
        if not block:
            return
        yield block
        del block  # else it would be there while the next one is read
        start = end


def _end(stream: IO[bytes], at: int) -> int | None:
    """Return where the line ends that goes on at a place; None where that is too far away.

    It is looked for piece by piece: to read what is left of it would hold a long line twice.
    """
    last = at + LONGEST
    stream.seek(at)
    while at < last and (piece := stream.read(_PIECE)):
        found = piece.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(piece)
    return at if at < last else None


def joined(stream: IO[bytes], size: int) -> Iterator[bytes | None]:
    """Yield the whole lines of a stream: what is left of each piece begins the next block.

    None where a line has no end in :data:`LONGEST` bytes.
    """
    parts: list[bytes] = []
    piece = stream.read(size).removeprefix(BOM)
    while piece:
        end = piece.rfind(b"\n") + 1
        if end:
            block = b"".join([*parts, memoryview(piece)[:end]])
            parts = [piece[end:]]
            del piece  # nor is anything else there twice while the block is read
            yield block
            del block
        else:
            parts.append(piece)
        if sum(map(len, parts)) > LONGEST:
            yield None
        piece = stream.read(size)
    if any(parts):
        yield b"".join(parts)
