"""Conversions between numpy and Arrow without copies, and computations on Arrow columns.

Arrow's own ``pa.array`` and ``to_numpy`` import pandas if it is installed, which takes longer
than evaluating a small run; these do not. ``pyarrow.compute``, which methods such as
``Array.take`` import, writes a Python function with its documentation for each of 300 kernels
(40 ms); here the kernels are called by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow._compute import (
    CastOptions,
    ExtractRegexOptions,
    MatchSubstringOptions,
    SetLookupOptions,
    SliceOptions,
    StructFieldOptions,
    call_function,
)

from .ragged import Array, Bools, Ints, offsets_of


def to_arrow(numbers: Array) -> pa.Array:
    """Return integers, floats or truth values as an Arrow array."""
    kind = pa.from_numpy_dtype(numbers.dtype)
    if numbers.dtype == bool:
        data = np.packbits(numbers, bitorder="little")
    else:
        data = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(kind, numbers.size, [None, pa.py_buffer(data)])


def to_numpy(column: pa.Array | pa.ChunkedArray) -> Array:
    """Return an Arrow column of numbers or truth values, none of them null, as a numpy array."""
    if isinstance(column, pa.ChunkedArray):
        chunks = [to_numpy(chunk) for chunk in column.chunks]
        return chunks[0] if len(chunks) == 1 else np.concatenate(chunks)
    if pa.types.is_boolean(column.type):
        end = column.offset + len(column)
        packed = np.frombuffer(column.buffers()[1] or b"", np.uint8)
        return np.unpackbits(packed, count=end, bitorder="little")[column.offset :].view(np.bool_)
    return np.from_dlpack(column)


def nan_as_null(numbers: Array) -> pa.Array:
    """Return floats as an Arrow array, null for NaN."""
    validity = np.packbits(~np.isnan(numbers), bitorder="little")
    buffers = [pa.py_buffer(validity), *to_arrow(numbers).buffers()[1:]]
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), numbers.size, buffers)


def to_doubles(column: Any) -> Any:
    """Return float32 numbers as the float64 with the same text: .7 is not .699999988."""
    return cast(cast(column, pa.string()), pa.float64())


def to_floats(column: pa.Array | pa.ChunkedArray) -> Array:
    """Return an Arrow column of floats as a numpy array, NaN if one is null."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    nan = to_arrow(np.array([np.nan], f"f{column.type.bit_width // 8}"))[0]
    return to_numpy(call("coalesce", [column, nan]))


def string_column(texts: Iterable[Any]) -> pa.Array:
    """Return Python strings as an Arrow column; TypeError if one is not text."""
    texts = list(texts)
    try:
        joined = "".join(texts)
    except TypeError:
        column = pa.array(texts, pa.string())  # which takes bytes too
        if column.null_count:
            raise TypeError("expected text, got None") from None
        return column
    data = joined.encode()
    ascii_only = len(data) == len(joined)
    lengths = map(len, texts if ascii_only else map(str.encode, texts))
    offsets = offsets_of(np.fromiter(lengths, np.int64, len(texts)))
    kind = pa.large_string() if offsets[-1] >= 2**31 else pa.string()
    width = np.int64 if kind == pa.large_string() else np.int32
    buffers = [None, pa.py_buffer(offsets.astype(width)), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(texts), buffers)


def repeated(text: str | None, n: int) -> pa.DictionaryArray:
    """Return `n` times the same text, or null if there is none, as a dictionary column."""
    if text is None:
        return pa.nulls(n, pa.dictionary(pa.int32(), pa.string()))
    return among(np.zeros(n, np.int32), [text])


def among(which: Array, texts: Iterable[str]) -> pa.DictionaryArray:
    """Return a dictionary column: of each row, `which` of the texts it has."""
    return pa.DictionaryArray.from_arrays(to_arrow(which), string_column(texts))


def run_ends(ends: Ints, values: pa.Array) -> pa.RunEndEncodedArray:
    """Return a run-end encoded column; the runs of `values` end before the rows `ends`."""
    rows, n_rows = to_arrow(ends), int(ends[-1]) if ends.size else 0
    kind = pa.run_end_encoded(rows.type, values.type)
    return pa.RunEndEncodedArray.from_buffers(kind, n_rows, [None], children=[rows, values])


def as_bytes(column: pa.Array) -> list[bytes]:
    """Return the bytes of strings, which need not be UTF-8."""
    wide = pa.types.is_large_string(column.type)
    words: list[bytes] = column.view(pa.large_binary() if wide else pa.binary()).to_pylist()
    return words


def bytes_at(column: pa.Array, rows: Ints) -> list[bytes]:
    """Return the bytes of the strings of a few rows: `as_bytes` of `take`, sooner."""
    return [column[row].as_buffer().to_pybytes() for row in rows.tolist()]


call: Callable[..., Any] = call_function
"""Applies one of Arrow's kernels, by its name, to a list of columns."""


def cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return a column as another type; an error if a value does not fit it."""
    return column if column.type == kind else call("cast", [column], options=CastOptions.safe(kind))


def as_whole(strings: pa.Array) -> pa.Array:
    """Return 7 in place of 7.0, as data frames write whole numbers, if all strings end so."""
    if len(strings) and as_bytes(strings[:1])[0].endswith(b".0"):
        options = MatchSubstringOptions(r"^-?[0-9]+\.0$")
        if call("all", [call("match_substring_regex", [strings], options=options)]).as_py():
            return call("utf8_slice_codeunits", [strings], options=SliceOptions(0, -2))
    return strings


def take(column: pa.Array, rows: Ints) -> pa.Array:
    """Return the values of these rows."""
    return call("take", [column, to_arrow(rows)])


def select(column: pa.Array, where: Bools) -> pa.Array:
    """Return the values of the rows `where` it is true."""
    return call("filter", [column, to_arrow(where)])


def unique(column: pa.Array) -> pa.Array:
    """Return the distinct values, in the order of their first appearance."""
    return call("unique", [column])


def encode(column: pa.Array) -> tuple[pa.Array, Ints]:
    """Return the distinct values, as `unique`, and which of them each row has."""
    distinct, which = encode_narrow(column)
    return distinct, which.astype(np.int64)


def encode_narrow(column: pa.Array) -> tuple[pa.Array, Array]:
    """Return the result of `encode` in four bytes a row, as Arrow has it."""
    encoded = call("dictionary_encode", [column])
    return encoded.dictionary, to_numpy(encoded.indices)


def extract(texts: pa.Array, pattern: str) -> pa.Array:
    """Match of the only named group of `pattern` in each text, null if there is none."""
    groups = call("extract_regex", [texts], options=ExtractRegexOptions(pattern))
    return call("struct_field", [groups], options=StructFieldOptions([0]))


def equal(left: pa.Array, right: pa.Array) -> Bools:
    """Mask of the rows in which two string columns are equal, ``(n,)``."""
    return to_numpy(call("equal", [left, cast(right, left.type)]))


def index_in(values: pa.Array, among: pa.Array) -> Ints:
    """Return the position of each value `among` others, -1 if it is none of them."""
    places = call("index_in", [values], options=SetLookupOptions(cast(among, values.type)))
    positions = to_numpy(
        pa.Array.from_buffers(
            places.type, len(places), [None, places.buffers()[1]], offset=places.offset
        )
    )
    return np.where(to_numpy(call("is_valid", [places])), positions, -1).astype(np.int64)
