"""A few pieces of a text, from its beginning, its end and evenly between, kept while it is read."""

from __future__ import annotations

PIECE = 1 << 16
"""Bytes of a piece, at most."""
LIMIT = 16
"""Pieces kept, and the last one."""


class Sample:
    r"""Pieces of whole lines.

    >>> sample = Sample()
    >>> sample.add(b"a\nb\n")
    >>> sample.add(b"c\n")
    >>> sample.pieces, sample.whole
    ([b'a\nb\n', b'c\n'], True)
    """

    def __init__(self) -> None:
        self._kept: list[bytes] = []
        self._last = b""
        self._every, self._n_pieces = 1, 0

    @property
    def pieces(self) -> list[bytes]:
        """The pieces, in the order of the text."""
        return [piece for piece in (*self._kept, self._last) if piece]

    @property
    def whole(self) -> bool:
        """Whether the pieces are all there is."""
        return self._every == 1

    def add(self, block: bytes) -> None:
        """Look at the next block of whole lines, and keep some pieces of it."""
        start = 0
        while start < len(block):
            end = block.rfind(b"\n", start, start + PIECE) + 1
            if end == 0 or len(block) - start <= PIECE:  # a line longer than a piece, or the rest
                end = block.find(b"\n", start + PIECE) + 1 or len(block)
            wanted = self._n_pieces % self._every == 0
            if wanted:
                self._keep(block[start:end])
            if end == len(block):
                self._last = b"" if wanted else block[start:end]
            self._n_pieces += 1
            start = end

    def _keep(self, piece: bytes) -> None:
        self._kept.append(piece)
        if len(self._kept) > LIMIT:
            self._kept = self._kept[::2]  # the newest is one of them
            self._every *= 2
