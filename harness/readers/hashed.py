"""The SHA-256 of a file, taken while the file is read for its values."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pyarrow as pa

from ..core.ragged import Array
from ..system import threads_of
from . import gz
from .source import BLOCK, Source

_BOM = b"\xef\xbb\xbf"
_PACKED = 1 << 18
"""Compressed bytes that are read at a time: the codec would ask for 64 KB, and wait for the
interpreter's lock, which the thread that parses holds, as often."""


class HashedSource(Source):
    """A source whose bytes are hashed as they pass, beside the parsing.

    Hashing runs in a thread of its own, a block behind, but for a file of one block, where starting
    the thread costs half of what hashing does; where a format reads a file in other ways than in
    blocks (JSON, Parquet, ``.npz``: whole), :meth:`sha256` reads it once more.

    Parameters
    ----------
    path : str or path

    Attributes
    ----------
    row_marks : ndarray of uint64, shape (n_rows,), optional
        Of each row of a learning-to-rank file that was read; see :mod:`harness.readers.row_marks`.
    tell : callable, optional
        Is told how many bytes of the file have passed since it was told last.
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
            return
        with _Hash(apart=not self.one_block) as digest:
            with open(self.file, "rb") as raw:
                if raw.read(len(_BOM)) == _BOM:
                    digest.add(_BOM)
            for block in super().blocks(size):
                digest.add(block)
                if self.tell is not None:
                    self.tell(len(block))
                yield block
                del block
            self._digest = digest.hexadecimal()

    def unpacking(self) -> Any:
        """Return the stream that unpacks; the file is hashed when all of it is read."""
        if self.codec == "xz" or (self.codec == "gzip" and gz.is_padded(self.file)):
            return super().unpacking()
        packed = pa.BufferedInputStream(pa.PythonFile(_Teed(self)), _PACKED)
        return pa.CompressedInputStream(packed, self.codec)

    def passed(self, digest: str) -> None:
        """Take note that the whole file has passed."""
        self._digest = digest


class _Hash:
    """A hash that is taken in a thread, one block behind the reader; or at once, if not `apart`."""

    def __init__(self, *, apart: bool = True) -> None:
        self._apart = apart

    def __enter__(self) -> _Hash:
        self._sum = hashlib.sha256()
        self._pool = threads_of(1) if self._apart else None
        self._last: Future[None] | None = None
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def add(self, block: bytes) -> None:
        if self._pool is None:
            self._sum.update(block)
            return
        if self._last is not None:
            self._last.result()
        self._last = self._pool.submit(self._sum.update, block)

    def hexadecimal(self) -> str:
        if self._last is not None:
            self._last.result()
        return self._sum.hexdigest()


class _Teed:
    """The compressed bytes of a source, hashed on their way to the codec."""

    closed = False

    def __init__(self, source: HashedSource) -> None:
        self._source, self._raw = source, open(source.file, "rb")  # noqa: SIM115
        self._hash = _Hash().__enter__()

    def read(self, size: int = -1) -> bytes:
        block = self._raw.read(size)
        if block:
            self._hash.add(block)
            if self._source.tell is not None:
                self._source.tell(len(block))
        elif size:
            self._source.passed(self._hash.hexadecimal())
        return block

    def close(self) -> None:
        self.closed = True
        self._raw.close()
        self._hash.__exit__()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def writable(self) -> bool:
        return False
