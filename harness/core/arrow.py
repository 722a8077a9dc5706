"""Numbers between numpy and Arrow, and Python strings to Arrow, without copies.

Arrow's own ``pa.array`` and ``to_numpy`` import pandas where it is installed, which takes longer
than evaluating a small run; these do not.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .ragged import Array, Bools, Ints, offsets_of


def to_arrow(numbers: Array) -> pa.Array:
    """Return integers, floats or truth values as an Arrow array.

    >>> to_arrow(np.array([3, 1])).to_pylist(), to_arrow(np.array([True, False])).to_pylist()
    ([3, 1], [True, False])
    """
    kind = pa.from_numpy_dtype(numbers.dtype)
    if numbers.dtype == bool:
        data = np.packbits(numbers, bitorder="little")
    else:
        data = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(kind, numbers.size, [None, pa.py_buffer(data)])


def to_numpy(column: pa.Array | pa.ChunkedArray) -> Array:
    """Return an Arrow column of numbers or truth values, none of them null, as a numpy array.

    >>> to_numpy(to_arrow(np.array([True, False, True])).slice(1)).tolist()
    [False, True]
    """
    if isinstance(column, pa.ChunkedArray):
        chunks = [to_numpy(chunk) for chunk in column.chunks]
        return chunks[0] if len(chunks) == 1 else np.concatenate(chunks)
    if pa.types.is_boolean(column.type):
        return to_numpy(column.cast(pa.uint8())).view(np.bool_)
    return np.from_dlpack(column)


def string_column(texts: Iterable[str]) -> pa.Array:
    """Return Python strings as an Arrow column.

    >>> string_column(["a", "", "é"]).to_pylist()
    ['a', '', 'é']
    """
    texts = list(texts)
    joined = "".join(texts)
    data = joined.encode()
    ascii_only = len(data) == len(joined)
    lengths = map(len, texts if ascii_only else map(str.encode, texts))
    offsets = offsets_of(np.fromiter(lengths, np.int64, len(texts)))
    kind = pa.large_string() if offsets[-1] >= 2**31 else pa.string()
    width = np.int64 if kind == pa.large_string() else np.int32
    buffers = [None, pa.py_buffer(offsets.astype(width)), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(texts), buffers)


def equal(one: pa.Array, other: pa.Array) -> Bools:
    """Return where two string columns of one length are equal, ``(n,)``.

    >>> equal(string_column(["a", "b"]), string_column(["a", "c"])).tolist()
    [True, False]
    """
    return to_numpy(pc.equal(one, other.cast(one.type)))


def index_in(values: pa.Array, among: pa.Array) -> Ints:
    """Return the position of each value `among` others, -1 where it is none of them.

    >>> index_in(string_column(["b", "x"]), string_column(["a", "b"])).tolist()
    [1, -1]
    """
    at = pc.index_in(values, among.cast(values.type))
    positions = to_numpy(
        pa.Array.from_buffers(at.type, len(at), [None, at.buffers()[1]], offset=at.offset)
    )
    return np.where(to_numpy(at.is_valid()), positions, -1).astype(np.int64)
