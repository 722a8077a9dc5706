"""64-bit keys of (query, docno) pairs, computed for whole columns.

Keys only ever *propose*: whoever finds two equal keys compares the strings themselves, so no
result depends on the hash being free of collisions.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow._compute import SplitPatternOptions

from .arrow import call, cast, select, to_numpy
from .ragged import Array, Bools, Ints

_WORD = 8
_PIECE, _BYTES = 1 << 14, 1 << 20
"""Strings that are hashed together, and their bytes, about."""
_LONG = 1 << 12
"""Smallest number of bytes of strings that a library hashes: eight at a time would be slow."""
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_MIXER = np.uint64(0xFF51AFD7ED558CCD)
_SHIFT = np.uint64(32)
_SPLITMIX = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
_SPARSE = 16
"""Truth values of a sieve for each hash that it knows, at least."""
_LARGEST = 24
"""Logarithm of the most truth values of a sieve; beyond it they would not fit a cache."""


def string_views(strings: pa.Array) -> tuple[Array, Array]:
    """Return the offsets ``(n + 1,)`` and the bytes of an Arrow string column, without a copy."""
    width = np.dtype(np.int64 if pa.types.is_large_string(strings.type) else np.int32)
    _, offsets, data = strings.buffers()
    n_offsets = offsets.size // width.itemsize  # what is behind them may be of any length
    start = np.frombuffer(offsets, width, n_offsets)[
        strings.offset : strings.offset + len(strings) + 1
    ]
    if data is None:
        return start, np.zeros(0, dtype=np.uint8)
    return start, np.frombuffer(data, dtype=np.uint8)


def share_memory(strings: pa.Array, others: pa.Array) -> bool:
    """Whether some of `strings` are in memory where `others` are.

    >>> qids = pa.array(["a", "b"])
    >>> share_memory(qids.slice(1), qids), share_memory(pa.array(["a", "b"]), qids)
    (True, False)
    """
    return bool(np.shares_memory(string_views(strings)[1], string_views(others)[1]))


def hash_strings(strings: pa.Array) -> Array:
    """Return a 64-bit hash of each string of a column, ``(n,)`` uint64.

    Reads eight bytes of every string at a time, so its cost follows the longest string's
    length in words, up to 4 KiB; works through the column in pieces that stay in the
    processor's cache.

    >>> a, b, c = hash_strings(pa.array(["d1", "d2", "d1"]))
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    keys = np.empty(len(strings), dtype=np.uint64)
    for start in range(0, len(strings), _PIECE):
        piece, of_piece = strings.slice(start, _PIECE), keys[start : start + _PIECE]
        offsets, data = string_views(piece)
        step = max(len(piece) * _BYTES // max(int(offsets[-1] - offsets[0]), _BYTES), 1)
        for row in range(0, len(piece), step):
            of_piece[row : row + step] = _hash_piece(offsets[row : row + step + 1], data)
    return keys


def _hash_piece(offsets: Array, data: Array) -> Array:
    data = data[offsets[0] : offsets[-1]]
    starts = (offsets[:-1] - offsets[0]).astype(np.int64)
    lengths = np.diff(offsets).astype(np.int64)
    keys: Array = (lengths.astype(np.uint64) + np.uint64(1)) * _MULTIPLIER
    for row in np.flatnonzero(lengths >= _LONG).tolist():
        text = data[starts[row] : starts[row] + lengths[row]]
        keys[row] = int.from_bytes(blake2b(text.data, digest_size=_WORD).digest(), "little")
        lengths[row] = 0
    if not lengths.any():  # and so no copy
        return keys
    data = np.concatenate([data, np.zeros(_WORD, dtype=np.uint8)])
    words: Array = np.ndarray((data.size - _WORD + 1,), dtype="<u8", buffer=data, strides=(1,))
    shortest = int(lengths.min())
    for position in range(0, int(lengths.max()), _WORD):
        # a slice if every string has a byte here: much cheaper than picking rows
        rows: Any = slice(None) if shortest > position else np.flatnonzero(lengths > position)
        word = words[starts[rows] + position]
        if shortest < position + _WORD:
            missing = np.maximum(position + _WORD - lengths[rows], 0).view(np.uint64)
            word <<= missing * np.uint64(8)
        word ^= keys[rows]
        word *= _MULTIPLIER
        word ^= word >> _SHIFT
        word *= _MIXER
        word ^= word >> _SHIFT
        keys[rows] = word
    return keys


def hash_features(features: pa.Array) -> Array:
    """Return a hash of the features of each row, written ``number:value ...``, ``(n,)`` uint64.

    It is the same for values that are equal in single precision, and for any order of the
    numbers. It is 0 for rows in which all features are equal; one that is left out is 0. If some
    fields are not features, it is that of the strings.

    >>> a, b, c, d = hash_features(pa.array(["1:.5 2:1", "2:1 1:0.50", "1:1 2:.5", "1:3 2:3"]))
    >>> bool(a == b), bool(a == c), bool(d == 0)
    (True, False, True)
    """
    fields = call("ascii_split_whitespace", [features])
    texts, row = call("list_flatten", [fields]), to_numpy(call("list_parent_indices", [fields]))
    is_field = to_numpy(call("binary_length", [texts])) > 0
    texts, row, n = select(texts, is_field), row[is_field], len(features)
    pairs = call("split_pattern", [texts], options=SplitPatternOptions(":"))
    try:
        numbers = to_numpy(cast(call("list_flatten", [pairs]), pa.float64()))
        number, value = numbers.reshape(row.size, 2).T
    except (pa.ArrowInvalid, ValueError):
        return hash_strings(features)
    n_fields = np.bincount(row, minlength=n)
    starts = np.append(0, np.cumsum(n_fields))
    sums = np.append(np.uint64(0), np.cumsum(hash_values(number.view(np.uint64), value)))
    differs = np.bincount(row, value != value[starts[row]], minlength=n) > 0
    has_all = n_fields > np.ptp(number) if number.size else n_fields > 0
    hashes: Array = np.where(differs | ~has_all, np.diff(sums[starts]), np.uint64(0))
    return hashes


def hash_values(keys: Array, values: Array) -> Array:
    """Return a hash of each key and its value in single precision; 0 if the value is."""
    with np.errstate(over="ignore"):
        singles = values.astype(np.float32)
    bits = singles.view(np.uint32)
    hashes: Array = np.where(singles != 0, splitmix64(splitmix64(keys) ^ bits), np.uint64(0))
    return hashes


def splitmix64(numbers: Array) -> Array:
    """Return numbers mixed so that those of neighbours share nothing, ``(n,)`` uint64.

    The output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), which maps the
    64-bit numbers one to one.

    >>> [hex(key) for key in splitmix64(np.array([0, 1], dtype=np.uint64)).tolist()]
    ['0xe220a8397b1dcdaf', '0x910a2dec89025cc1']
    """
    keys: Array = numbers + _MULTIPLIER
    for shift, multiplier in _SPLITMIX:
        keys ^= keys >> shift
        keys *= multiplier
    keys ^= keys >> np.uint64(31)
    return keys


def pair_keys(query: Ints, hashes: Array) -> Array:
    """Return one key for each pair of query code and docno hash, ``(n,)`` uint64.

    The query is its upper half, so that keys of one query lie side by side when sorted.
    """
    keys = query.astype(np.uint64)
    keys <<= _SHIFT
    keys |= hashes >> _SHIFT
    return keys


class Index:
    """Finds keys among known ones; the strings behind equal keys are compared by the caller.

    >>> index = Index(np.array([7, 3, 7], dtype=np.uint64))   # two strings share the key 7
    >>> wanted, known = np.array([5, 7, 3], dtype=np.uint64), ["a", "b", "c"]
    >>> equal_strings = lambda rows, known_rows: np.array([known[i] in "bc" for i in known_rows])
    >>> [positions.tolist() for positions in index.find(wanted, equal_strings)]
    [[1, 2], [2, 1]]
    """

    def __init__(self, keys: Array) -> None:
        self.order = np.argsort(keys, kind="stable")
        self.keys = np.append(keys[self.order], np.uint64(0))

    def find(self, keys: Array, equal_strings: Callable[[Ints, Ints], Bools]) -> tuple[Ints, Ints]:
        """Return the rows of known keys, and the positions of the known keys that they equal.

        ``equal_strings(rows, known_rows)`` compares the strings behind pairs of equal keys.
        """
        place = np.full(keys.size, -1)
        position = np.searchsorted(self.keys[:-1], keys)
        rows = np.arange(keys.size)
        while rows.size:
            rows = rows[
                (self.keys[position[rows]] == keys[rows]) & (position[rows] < self.order.size)
            ]
            known_rows = self.order[position[rows]]
            equal = equal_strings(rows, known_rows)
            place[rows[equal]] = known_rows[equal]
            rows = rows[~equal]
            position[rows] += 1
        is_placed = np.flatnonzero(place >= 0)
        return is_placed, place[is_placed]


class SeenKeys:
    """Tells hashes that came before; keeps 8 bytes for each, a tenth of a set."""

    def __init__(self) -> None:
        self._sorted: list[Array] = []  # each more than twice as long as the next one

    def any(self, hashes: Array) -> bool:
        """Whether any of the hashes occurred before; adds the others."""
        new = np.sort(hashes)
        for earlier in self._sorted:
            position = np.minimum(np.searchsorted(earlier, new), earlier.size - 1)
            if (earlier[position] == new).any():
                return True
        while self._sorted and self._sorted[-1].size <= 2 * new.size:
            new = np.concatenate([self._sorted.pop(), new])
            new.sort()
        if new.size:
            self._sorted.append(new)
        return False


class Sieve:
    """Passes on the hashes that may be among known ones: all that are, and few of the others.

    One look at a table of truth values, most of them False, per hash.
    """

    def __init__(self, hashes: Array) -> None:
        bits = min((_SPARSE * hashes.size + 1).bit_length(), _LARGEST)
        self._shift = np.uint64(64 - bits)
        self._marks = np.zeros(1 << bits, dtype=bool)
        self._marks[hashes >> self._shift] = True

    def pass_on(self, hashes: Array) -> Ints:
        """Return the positions of the hashes that may be known."""
        places = (hashes >> self._shift).view(np.int64)  # else each would be converted
        return np.flatnonzero(self._marks.take(places))
