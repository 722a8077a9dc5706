"""Blocks of text cut at the ends of lines, so that what is made of each stays small; and lines."""

from __future__ import annotations

from collections.abc import Iterator

PIECE = 1 << 18
"""Bytes of a piece, about: a few arrays of one number a byte fit a processor's cache."""


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


def lines_of(block: bytes) -> Iterator[bytes]:
    r"""Yield each line of a block, without its end; it may have megabytes: none is there twice.

    >>> list(lines_of(b"1\n\n22"))
    [b'1', b'', b'22']
    """
    start = 0
    while start < len(block):
        end = block.find(b"\n", start)
        end = len(block) if end < 0 else end
        yield block[start:end]
        start = end + 1
