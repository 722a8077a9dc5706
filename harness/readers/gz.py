"""gzip files with zero bytes behind their data, as tapes leave them: ``gzip`` passes over these."""

from __future__ import annotations

import gzip
import os
from typing import IO

_SIZE = 4
"""Bytes that data end with: how many they are, unpacked."""


def is_padded(path: str) -> bool:
    """Whether zero bytes may follow the data, as these would have become smaller by unpacking."""
    with open(path, "rb") as raw:
        packed = raw.seek(0, os.SEEK_END)
        raw.seek(max(packed - _SIZE, 0))
        end = raw.read()
    return end.endswith(b"\0") and int.from_bytes(end, "little") < packed


def opened(path: str) -> IO[bytes]:
    """Return the unpacked bytes of a file; Arrow takes padding for damaged data.

    Raises
    ------
    EOFError, zlib.error, OSError
        While it is read, where it is cut short or damaged, or something else follows.
    """
    return gzip.open(path)  # type: ignore[return-value]
