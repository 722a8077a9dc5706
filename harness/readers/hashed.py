"""The SHA-256 of a file, taken while the file is read for its values."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator

from ..core.ragged import Array
from .blocks import BOM
from .source import BLOCK, Source


class HashedSource(Source):
    """A source whose bytes are hashed as they pass.

    The blocks of a large file are read and hashed in a thread of their own. A file that is
    compressed or not read in blocks (JSON, Parquet, ``.npz``) is hashed by :meth:`sha256`.

    Parameters
    ----------
    path : str or path

    Attributes
    ----------
    row_marks : ndarray of uint64, shape (n_rows,), optional
        Hashes of the rows of a learning-to-rank file that was read; see
        :mod:`harness.readers.letor`.
    tell : callable, optional
        Called with the bytes of the file that have passed since the last call.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path)
        self._digest = ""
        self.row_marks: Array | None = None
        self.tell: Callable[[int], None] | None = None

    def sha256(self) -> str:
        """Return the hash of the file's bytes, compressed as they are, in hexadecimal."""
        if not self._digest:
            with self.explained(), open(self.file, "rb") as raw:
                digest = hashlib.sha256()
                while block := raw.read(BLOCK):
                    digest.update(block)
            self._digest = digest.hexdigest()
        return self._digest

    def blocks(self, size: int | None = None) -> Iterator[bytes]:
        """Yield the text in blocks, as :meth:`Source.blocks`; hash what passes."""
        if self.codec:
            yield from super().blocks(size)
            if self.tell is not None:
                self.tell(os.path.getsize(self.file))
            return
        digest = hashlib.sha256(BOM if self.has_mark else b"")
        for block in super().blocks(size):
            digest.update(block)
            if self.tell is not None:
                self.tell(len(block))
            yield block
        self._digest = digest.hexdigest()
