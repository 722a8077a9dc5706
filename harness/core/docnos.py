"""Identifiers of a table's documents: strings, or positions that stand for them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .arrow import call, cast, encode, string_column, take, to_numpy
from .hashing import hash_strings
from .ragged import Array, Ints, frozen, positions_of, rows_of

_FEW = 1 << 18
"""Rows whose hashes are kept whenever some are needed."""


class Docnos:
    """The docnos of a table: an Arrow string column, or positions that stand for d0, d1, ...

    Learning-to-rank rows and batches have no names of their own; ``Docnos(None, offsets)``
    names the row at position ``i`` of its query ``d{i}`` without making the strings.
    """

    __slots__ = ("_keys", "_row", "offsets", "strings")

    def __init__(self, strings: pa.Array | None, offsets: Ints) -> None:
        self.strings, self.offsets = strings, offsets
        self._keys: Array | None = None
        self._row: Ints | None = None

    @property
    def positional(self) -> bool:
        """Whether the docnos are d0, d1, ... by position."""
        return self.strings is None

    def take(self, rows: Ints) -> pa.Array:
        """Return the docnos of these rows as strings."""
        if self.strings is not None:
            return take(self.strings, rows)
        positions = positions_of(self.offsets)[rows]
        return take(_position_names(positions), positions)

    def to_strings(self) -> pa.Array:
        """Return all docnos as strings."""
        if self.strings is not None:
            return self.strings
        return self.take(np.arange(int(self.offsets[-1]), dtype=np.int64))

    def byte_order(self, rows: Ints) -> Ints:
        """Return numbers that sort these rows as their docnos sort by bytes, ``(n,)`` int64."""
        if self.strings is None:
            positions = positions_of(self.offsets)[rows]
            return byte_ranks(_position_names(positions))[positions]
        return byte_ranks(self.take(rows))

    def part(self, begin: int, end: int, offsets: Ints) -> Docnos:
        """Return those of whole queries, from a row to before another; hashes are not lost."""
        strings = None if self.strings is None else self.strings.slice(begin, end - begin)
        some = Docnos(strings, offsets)
        some._keys = None if self._keys is None else self._keys[begin:end]
        return some

    @property
    def row(self) -> Ints:
        """Query of each row, ``(n_rows,)``; computed once for all tables that share the docnos."""
        if self._row is None:
            self._row = frozen(rows_of(self.offsets))
        return self._row

    @property
    def hashes(self) -> Array:
        """64-bit hash of each docno, computed once."""
        if self._keys is None:
            self._keys = hash_strings(self.to_strings())
        return self._keys

    def hashes_of(self, begin: int, end: int) -> Array:
        """Return the hashes of the rows from `begin` to before `end`, the caller's own.

        Those of all rows are not kept, as :attr:`hashes` keeps them, where there are many: 8 bytes
        a row may be more than the text it was read from.
        """
        if self.strings is None or self._keys is not None or int(self.offsets[-1]) <= _FEW:
            kept: Array = self.hashes[begin:end].copy()
            return kept
        return hash_strings(self.strings.slice(begin, end - begin))


def _position_names(positions: Ints) -> pa.Array:
    """Return d0, d1, ... up to the largest of the positions."""
    return string_column(f"d{at}" for at in range(int(positions.max(initial=-1)) + 1))


def byte_ranks(strings: pa.Array) -> Ints:
    """Return numbers that sort as the strings do by bytes; equal strings, equal numbers."""
    distinct, which = encode(strings)
    order = to_numpy(call("array_sort_indices", cast(distinct, pa.large_binary())))
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    ranks: Ints = rank[which]
    return ranks
