"""Columns that grow piece by piece in one place; pieces joined at the end would be there twice."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from ..core.arrow import call, string_column, to_numpy
from ..core.hashing import string_views
from ..core.ragged import Array

_NARROW = 2**31
"""Bytes of text that need wide offsets."""


class Numbers:
    """A column of numbers of one type.

    >>> numbers = Numbers(float)
    >>> numbers.add(np.array([1.0, 2.0])), numbers.add(np.array([3]))
    (None, None)
    >>> numbers.array().tolist()
    [1.0, 2.0, 3.0]
    """

    def __init__(self, kind: type) -> None:
        self._kind, self._data = kind, bytearray()

    def add(self, numbers: Array) -> None:
        """Add numbers at the end."""
        self._data += np.ascontiguousarray(numbers, self._kind).data.cast("B")

    def array(self) -> Array:
        """Return all of them, without a copy; none can be added then."""
        return np.frombuffer(self._data, self._kind)


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
        self._data, self._lengths = bytearray(), Numbers(np.int32)
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
        self._lengths.add(np.diff(offsets))
        self._data += data[offsets[0] : offsets[-1]].data

    def column(self) -> pa.Array:
        """Return all of them, with wide offsets where they need them; none can be added then."""
        is_wide = len(self._data) >= _NARROW
        kind, width = (pa.large_string(), np.int64) if is_wide else (pa.string(), np.int32)
        lengths = self._lengths.array()
        offsets = np.zeros(lengths.size + 1, width)
        np.cumsum(lengths, out=offsets[1:])
        nulls = np.concatenate(self._nulls)
        validity = None
        if nulls.size:
            is_there = np.ones(lengths.size, bool)
            is_there[nulls] = False
            validity = pa.py_buffer(np.packbits(is_there, bitorder="little"))
        buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(self._data)]
        return pa.Array.from_buffers(kind, lengths.size, buffers)
