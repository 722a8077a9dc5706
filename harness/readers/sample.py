"""A few pieces of a text, from its beginning, its end and evenly between, kept while it is read."""

from __future__ import annotations

PIECE = 1 << 16
"""Bytes of a piece, at most."""
LIMIT = 16
"""Pieces kept, and the last one."""
_LONG, _ALL = 8 * PIECE, 32 * PIECE
"""Bytes of a line, and so of a piece, that is left out; of all pieces kept, about."""


class Sample:
    r"""Pieces of whole lines; very long ones are left out.

    Attributes
    ----------
    begins : bool
        Whether the text's first piece is the first one.

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
        self.begins, self._lacks = True, False

    @property
    def pieces(self) -> list[bytes]:
        """The pieces, in the order of the text."""
        return [piece for piece in (*self._kept, self._last) if piece]

    @property
    def whole(self) -> bool:
        """Whether the pieces are all there is."""
        return self._every == 1 and not self._lacks

    def add(self, block: bytes) -> None:
        """Look at the next block of whole lines, and keep some pieces of it."""
        start = 0
        while start < len(block):
            end = block.rfind(b"\n", start, start + PIECE) + 1
            if end == 0 or len(block) - start <= PIECE:  # a line longer than a piece, or the rest
                end = block.find(b"\n", start + PIECE) + 1 or len(block)
            is_long = end - start > _LONG
            wanted = self._n_pieces % self._every == 0 and not is_long
            if wanted:
                self._keep(block[start:end])
            if end == len(block):
                self._last = b"" if wanted or is_long else block[start:end]
            self._lacks |= is_long
            self.begins &= not is_long or self._n_pieces > 0
            self._n_pieces += 1
            start = end

    def _keep(self, piece: bytes) -> None:
        self._kept.append(piece)
        while len(kept := self._kept) > LIMIT or (len(kept) > 2 and sum(map(len, kept)) > _ALL):
            self._kept = [*kept[:-1:2], kept[-1]]
            self._every *= 2
