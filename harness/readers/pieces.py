"""Blocks of text cut at the ends of lines, so that what is made of each stays small."""

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
