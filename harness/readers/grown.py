"""Columns that grow piece by piece in one place; pieces joined at the end would be there twice."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from ..core.arrow import call, string_column, to_numpy
from ..core.hashing import string_views
from ..core.ragged import Array

_NARROW = 2**31
"""The first number that needs eight bytes."""
_MAPPED = 1 << 22
"""Bytes from which on a column has pages of its own."""


class Bytes:
    """Bytes that grow where they stand.

    The C library copies what it cannot extend, and all would be there twice meanwhile. On Linux
    the pages of large columns are the system's, which moves them without a copy.

    >>> some = Bytes()
    >>> some.add(b"ab"), some.add(b"c"), len(some), bytes(some.all())
    (None, None, 3, b'abc')
    """

    def __init__(self) -> None:
        self._room: bytearray | mmap.mmap = bytearray()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, data: bytes | memoryview) -> None:
        """Add bytes at the end."""
        begin, self._size = self._size, self._size + len(data)
        if isinstance(self._room, bytearray) and (sys.platform != "linux" or self._size < _MAPPED):
            self._room += data
            return
        try:
            self._make_room()
        except OSError:
            raise MemoryError from None
        self._room[begin : self._size] = data

    def _make_room(self) -> None:
        """Have pages for all bytes; those that are not written to take no room."""
        if isinstance(self._room, bytearray):
            short = self._room
            self._room = mmap.mmap(-1, 2 * _MAPPED, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            self._room[: len(short)] = short
        if self._size > len(self._room):
            self._room.resize(self._size + self._size // 8)

    def all(self) -> memoryview:
        """Return all of them, without a copy; none can be added then."""
        return memoryview(self._room)[: self._size]


class Numbers:
    """A column of numbers of one type.

    >>> numbers = Numbers(float)
    >>> numbers.add(np.array([1.0, 2.0])), numbers.add(np.array([3]))
    (None, None)
    >>> numbers.array().tolist()
    [1.0, 2.0, 3.0]
    """

    def __init__(self, kind: type) -> None:
        self._kind, self._data = kind, Bytes()

    def add(self, numbers: Array) -> None:
        """Add numbers at the end."""
        self._data.add(np.ascontiguousarray(numbers, self._kind).data.cast("B"))

    def array(self) -> Array:
        """Return all of them, without a copy; none can be added then."""
        return np.frombuffer(self._data.all(), self._kind)


class Ends:
    """A column of numbers that never fall, in four bytes each until one needs eight.

    >>> ends = Ends()
    >>> ends.add(np.array([2, 3])), ends.array().dtype
    (None, dtype('int32'))
    >>> ends.add(np.array([2**31])), ends.array().tolist(), ends.array().dtype
    (None, [2, 3, 2147483648], dtype('int64'))
    """

    def __init__(self) -> None:
        self._numbers, self._is_wide = Numbers(np.int32), False

    def add(self, numbers: Array) -> None:
        """Add numbers at the end, none below those that are there."""
        if not self._is_wide and numbers.size and numbers[-1] >= _NARROW:
            narrow, self._numbers, self._is_wide = self._numbers, Numbers(np.int64), True
            self._numbers.add(narrow.array())
        self._numbers.add(numbers)

    def array(self) -> Array:
        """Return all of them, without a copy; none can be added then."""
        return self._numbers.array()


class Texts:
    """A column of texts.

    >>> texts = Texts()
    >>> texts.add(["a", "bc"]), texts.add([""])
    (None, None)
    >>> texts.add_column(pa.array([None, "d"]))
    >>> texts.column().to_pylist()
    ['a', 'bc', '', None, 'd']
    """

    def __init__(self) -> None:
        self._data, self._ends = Bytes(), Ends()
        self._ends.add(np.zeros(1, np.int64))
        self._n_rows, self._nulls = 0, [np.zeros(0, np.int64)]

    def add(self, texts: Iterable[str]) -> None:
        """Add texts at the end."""
        self.add_column(string_column(texts))

    def add_column(self, column: pa.Array) -> None:
        """Add the texts of an Arrow column at the end."""
        if column.null_count:
            nulls = np.flatnonzero(to_numpy(call("is_null", column)))
            self._nulls.append(self._n_rows + nulls)
        self._n_rows += len(column)
        offsets, data = string_views(column)
        self._ends.add(offsets[1:] + (len(self._data) - np.int64(offsets[0])))
        self._data.add(data[offsets[0] : offsets[-1]].data)

    def column(self) -> pa.Array:
        """Return all of them, with wide offsets where they need them; none can be added then."""
        offsets = self._ends.array()
        kind = pa.large_string() if offsets.dtype == np.int64 else pa.string()
        nulls = np.concatenate(self._nulls)
        validity = None
        if nulls.size:
            is_there = np.ones(self._n_rows, bool)
            is_there[nulls] = False
            validity = pa.py_buffer(np.packbits(is_there, bitorder="little"))
        buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(self._data.all())]
        return pa.Array.from_buffers(kind, self._n_rows, buffers)
