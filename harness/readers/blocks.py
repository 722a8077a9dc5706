"""Blocks of text that end where a line ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

PIECE = 1 << 18
"""Bytes of a piece, about: a few arrays of one number a byte fit a processor's cache."""
BOM = b"\xef\xbb\xbf"
LONGEST = 1 << 20
"""Bytes that a line of text may have."""


class LineTooLongError(Exception):
    """A line has more bytes than :data:`LONGEST`."""


def pieces(block: bytes, size: int = PIECE) -> Iterator[bytes]:
    r"""Yield the whole lines of a block in pieces of at least `size` bytes, the last one apart.

    >>> list(pieces(b"1\n22\n3\n4", 2))
    [b'1\n', b'22\n', b'3\n', b'4']
    """
    start = 0
    while start < len(block):
        end = block.find(b"\n", start + size - 1) + 1 or len(block)
        yield block[start:end]
        start = end


def lines_of(block: bytes) -> list[bytes]:
    r"""Return the lines of a block, without their ends.

    >>> lines_of(b"1\n\n22"), lines_of(b"1\n")
    ([b'1', b'', b'22'], [b'1'])
    """
    return block.removesuffix(b"\n").split(b"\n")


def line_blocks(stream: IO[bytes], size: int) -> Iterator[bytes]:
    """Yield the text of a stream in blocks of whole lines, of about `size` bytes.

    Raises
    ------
    LineTooLongError
    """
    block = stream.read(size).removeprefix(BOM) or stream.read(size)
    while block:
        rest = b"" if block.endswith(b"\n") else stream.readline(LONGEST + 1)
        if len(rest) > LONGEST:
            raise LineTooLongError
        yield block + rest
        block = stream.read(size)
