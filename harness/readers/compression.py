"""What compresses a file: told by its first bytes, whatever its name says."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import warnings
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from ..errors import HarnessWarning, InputError, Problem

_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "bz2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
}
PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}
_KNOWN = re.compile(rb"PAR1|ARROW1|FEA1|\x93NUMPY|PK\x03\x04|\x80[\x02-\x05]|\xff\xfe|\xfe\xff")
"""What other files than text begin with, of which more is said where they are read."""
_ODD = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_MOST = 0.1
"""Share of bytes that no text has from which on it is none; compressed data have half of them."""


def codec_of(first: bytes) -> str:
    r"""Return what compresses data that begin so; ``""`` where nothing does.

    >>> codec_of(b"\x1f\x8b\x08\x00"), codec_of(b"301 0 d1 1")
    ('gzip', '')
    """
    return next((codec for codec, magic in _MAGIC.items() if magic.match(first)), "")


def check_name(name: str, suffix: str, first: bytes) -> None:
    """Look whether a file is compressed as its suffix says.

    Parameters
    ----------
    name : str
        For messages.
    suffix : str
        In lower case.
    first : bytes
        What the file begins with.

    Raises
    ------
    InputError
        Where it is neither compressed nor anything that is known: its beginning is damaged.

    Warns
    -----
    HarnessWarning
        Where it is something else.
    """
    codec = codec_of(first)
    if suffix not in PACKED or codec == PACKED[suffix]:
        return
    odd = _share_of_odd(first)
    if codec or _KNOWN.match(first):
        held = f"{codec} data" if codec else "data that are not compressed"
    elif odd >= _MOST:
        what = f"named {suffix} and has no {suffix[1:]} header, nor is it text"
        raise InputError(Problem(name, what, fix="get the whole file again", rule="damaged"))
    else:
        held = "data that are not compressed" if odd else "plain text"
    what = f"{name}: named {suffix}, but holds {held}; read as what it is"
    warnings.warn(HarnessWarning(what, "other-compression"), stacklevel=4)


def _share_of_odd(first: bytes) -> float:
    """Return the share of bytes that are no UTF-8 text."""
    n_text = len(first.decode("utf-8", "ignore").encode())
    return (len(first) - n_text + len(_ODD.findall(first))) / max(len(first), 1)


def check_unpacked(name: str, size: int) -> None:
    """Raise if so many bytes do not fit into the free memory.

    >>> check_unpacked("a.gz", 1000)
    >>> check_unpacked("a.gz", 2**60)
    Traceback (most recent call last):
        ...
    harness.errors.InputError: a.gz: takes more bytes than the free memory has
      fix:   free memory, or split the file
    """
    if size > _HARMLESS and size > free_memory():
        raise does_not_fit(name)


def most_unpacked() -> int:
    """Return how many bytes a file that is read from now on may unpack to."""
    return max(free_memory(), _HARMLESS)


def does_not_fit(name: str) -> InputError:
    """Return the error of a file that unpacks to more than the free memory."""
    what = "takes more bytes than the free memory has"
    fix = "free memory, or split the file"
    return InputError(Problem(name, what, fix=fix, rule="unpacks-too-far"))


def free_memory() -> int:
    """Return the bytes of memory that the system can give; 2^62 if it does not say."""
    try:
        with open("/proc/meminfo", "rb") as file:
            for line in file:
                if line.startswith(b"MemAvailable:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return 1 << 62


_HARMLESS = 64 << 20
"""Bytes for which nobody is asked."""


class Unpacking(io.RawIOBase):
    """A stream of unpacked bytes that stops when they are more than the free memory."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream, self._name, self._n = stream, name, 0
        self._most = most_unpacked()

    def readinto(self, buffer: Any) -> int:
        """Put the next bytes into a buffer, and return how many there are."""
        piece = self._stream.read(len(buffer))
        buffer[: len(piece)] = piece
        self._n += len(piece)
        if self._n > self._most:
            raise does_not_fit(self._name)
        return len(piece)

    def readable(self) -> bool:
        """It can be read."""
        return True

    def close(self) -> None:
        """Close what unpacks, too."""
        if not self.closed:
            self._stream.close()
        super().close()


_OPEN: dict[str, Callable[[Any], Any]] = {
    "gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open,
    "zstd": lambda path: pa.CompressedInputStream(pa.OSFile(path), "zstd"),
}  # fmt: skip


def unpacked(codec: str, path: str) -> Any:
    """Return a stream of what a compressed file unpacks to."""
    return _OPEN[codec](path)
