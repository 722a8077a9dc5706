"""Compressed files: recognised by their first bytes, unpacked up to the free memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
from collections.abc import Callable
from typing import IO, Any

import pyarrow as pa

from ..errors import InputError, Problem

_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "bz2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
}
PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}
_OPEN: dict[str, Callable[[str], Any]] = {
    "gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open,
    "zstd": lambda path: pa.CompressedInputStream(pa.OSFile(path), "zstd"),
}  # fmt: skip
_HARMLESS = 64 << 20
"""Bytes that are always allowed."""
_PIECE = 1 << 18


def codec_of(first: bytes) -> str:
    r"""Return the compression of data with these first bytes, or ``""``.

    >>> codec_of(b"\x1f\x8b\x08\x00"), codec_of(b"301 0 d1 1")
    ('gzip', '')
    """
    return next((codec for codec, magic in _MAGIC.items() if magic.match(first)), "")


def most_unpacked() -> int:
    """Return how many bytes a file may unpack to: the free memory, if the system tells it."""
    try:
        with open("/proc/meminfo", "rb") as file:
            free = next(line for line in file if line.startswith(b"MemAvailable:"))
        return max(int(free.split()[1]) << 10, _HARMLESS)
    except (OSError, StopIteration):
        return 1 << 62


def check_unpacked(name: str, size: int) -> None:
    """Raise if so many bytes do not fit into the free memory.

    >>> check_unpacked("a.gz", 1000)
    >>> check_unpacked("a.gz", 2**60)
    Traceback (most recent call last):
        ...
    harness.errors.InputError: a.gz: takes more bytes than the free memory has
      fix:   free memory, or split the file
    """
    if size > _HARMLESS and size > most_unpacked():
        raise does_not_fit(name)


def does_not_fit(name: str) -> InputError:
    """Return the error of a file that unpacks to more than the free memory."""
    what = "takes more bytes than the free memory has"
    fix = "free memory, or split the file"
    return InputError(Problem(name, what, fix=fix, rule="unpacks-too-far"))


class _Unpacking(io.RawIOBase):
    """A stream of unpacked bytes that stops when they are more than the free memory."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream, self._name, self._left = stream, name, most_unpacked()

    def readinto(self, buffer: Any) -> int:
        piece = self._stream.read(len(buffer))
        buffer[: len(piece)] = piece
        self._left -= len(piece)
        if self._left < 0:
            raise does_not_fit(self._name)
        return len(piece)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def unpacked(codec: str, path: str, name: str) -> IO[bytes]:
    """Return a stream of what a compressed file unpacks to; `name` is for messages."""
    return io.BufferedReader(_Unpacking(_OPEN[codec](path), name), _PIECE)
