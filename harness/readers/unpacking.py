"""Bytes as they are unpacked: a small file that unpacks to no end is refused."""

from __future__ import annotations

import io
from typing import Any

from ..errors import InputError, Problem

RATIO = 200
"""Times its own size that a compressed file may unpack to."""
FREE = 64 << 20
"""Bytes that any file may unpack to, however small it is."""
_PIECE = 1 << 20


def check_ratio(name: str, packed: int, unpacked: int) -> None:
    """Raise where so many bytes come out of so few.

    >>> check_ratio("a.gz", 1000, 200_000)
    >>> check_ratio("a.gz", 1000, 80_000_000)
    Traceback (most recent call last):
        ...
    harness.errors.InputError: a.gz: 1,000 bytes that unpack to more than 80,000,000: over 200 \
times as many
      fix:   if it is what it should be, unpack it yourself and name the unpacked file
    """
    if is_too_far(packed, unpacked):
        what = f"{packed:,} bytes that unpack to more than {unpacked:,}: over {RATIO} times as many"
        fix = "if it is what it should be, unpack it yourself and name the unpacked file"
        raise InputError(Problem(name, what, fix=fix, rule="unpacks-too-far"))


def is_too_far(packed: int, unpacked: int) -> bool:
    """Whether so many bytes are more than may come out of so few."""
    return unpacked > FREE and unpacked > RATIO * packed


class Unpacking(io.RawIOBase):
    """A stream of unpacked bytes that stops at :data:`RATIO`.

    Parameters
    ----------
    stream : binary stream
        What unpacks.
    packed : int
        Size of the compressed file in bytes.
    name : str
        What it is called in messages.
    """

    def __init__(self, stream: Any, packed: int, name: str) -> None:
        self._stream, self._packed, self._name = stream, packed, name
        self._n = 0

    def read(self, size: int | None = -1) -> bytes:
        """Return the next `size` unpacked bytes, or all that are left."""
        if size is None or size < 0:
            whole = io.BytesIO()
            while piece := self.read(_PIECE):
                whole.write(piece)
            return whole.getvalue()
        piece = self._stream.read(size)
        self._n += len(piece)
        check_ratio(self._name, self._packed, self._n)
        return piece  # type: ignore[no-any-return]

    def readable(self) -> bool:
        """It can be read."""
        return True

    def close(self) -> None:
        """Close what unpacks, too."""
        if not self.closed:
            self._stream.close()
        super().close()
