"""64-bit keys of (query, docno) pairs, computed for whole columns at once.

Keys only ever *propose*: whoever finds two equal keys compares the strings themselves, so no
result hangs on the hash being free of collisions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from .ragged import Array, Ints

_WORD = 8
_PIECE = 1 << 14
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_MIXER = np.uint64(0xFF51AFD7ED558CCD)
_SHIFT = np.uint64(32)


def string_views(strings: pa.Array) -> tuple[Array, Array]:
    """Return the offsets ``(n + 1,)`` and the bytes of an Arrow string column, without a copy."""
    width = np.dtype(np.int64 if pa.types.is_large_string(strings.type) else np.int32)
    _, offsets, data = strings.buffers()
    start = np.frombuffer(offsets, dtype=width)[strings.offset : strings.offset + len(strings) + 1]
    if data is None:
        return start, np.zeros(0, dtype=np.uint8)
    return start, np.frombuffer(data, dtype=np.uint8)


def _mix(keys: Array) -> Array:
    keys ^= keys >> _SHIFT
    keys *= _MIXER
    keys ^= keys >> _SHIFT
    return keys


def hash_strings(strings: pa.Array) -> Array:
    """Return a 64-bit hash of each string of a column, ``(n,)`` uint64.

    Reads eight bytes of every string at a time, so its cost follows the longest string's
    length in words; works through the column in pieces that stay in the processor's cache.

    >>> a, b, c = hash_strings(pa.array(["d1", "d2", "d1"]))
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    keys = np.empty(len(strings), dtype=np.uint64)
    for first in range(0, len(strings), _PIECE):
        keys[first : first + _PIECE] = _hash_piece(strings.slice(first, _PIECE))
    return keys


def _hash_piece(strings: pa.Array) -> Array:
    offsets, data = string_views(strings)
    starts = (offsets[:-1] - offsets[0]).astype(np.int64)
    lengths = np.diff(offsets).astype(np.int64)
    data = np.concatenate([data[offsets[0] : offsets[-1]], np.zeros(_WORD, dtype=np.uint8)])
    words: Array = np.ndarray((data.size - _WORD + 1,), dtype="<u8", buffer=data, strides=(1,))
    keys: Array = (lengths.astype(np.uint64) + np.uint64(1)) * _MULTIPLIER
    shortest = int(lengths.min())
    for first in range(0, int(lengths.max()), _WORD):
        # a slice where every string has a byte here: much cheaper than picking rows
        rows: Any = slice(None) if shortest > first else np.flatnonzero(lengths > first)
        word = words[starts[rows] + first]
        if shortest < first + _WORD:
            missing = np.maximum(first + _WORD - lengths[rows], 0).view(np.uint64)
            word <<= missing * np.uint64(8)
        word ^= keys[rows]
        word *= _MULTIPLIER
        keys[rows] = _mix(word)
    return keys


def pair_keys(query: Ints, hashes: Array) -> Array:
    """Return one key for each pair of query code and docno hash, ``(n,)`` uint64."""
    return _mix(hashes + (query.astype(np.uint64) + np.uint64(1)) * _MULTIPLIER)
