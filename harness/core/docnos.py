"""Identifiers of a table's documents: strings, or positions that stand for them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .arrow import call, cast, encode, string_column, take, to_numpy
from .hashing import hash_strings, short_pair_keys
from .ragged import Array, Ints, frozen, lengths_of, positions_of, rows_of


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


PART = 1 << 16
"""Rows whose keys are sorted together; they fit a cache."""


def repeats(docnos: Docnos, first: int, stop: int) -> tuple[Ints, Ints]:
    """Return the rows of some queries that repeat a docno of theirs, and the row before each.

    Parameters
    ----------
    docnos : Docnos
        Of all queries.
    first, stop : int
        The first query looked at, and the one after the last.

    Returns
    -------
    later, earlier : ndarray of int64, shape (n_repeats,)
        `later` is sorted.

    >>> repeats(Docnos(string_column(["a", "b", "a", "a"]), np.array([0, 3, 4])), 0, 2)
    (array([2]), array([0]))
    """
    begin, end = docnos.offsets[[first, stop]].tolist()
    lengths = lengths_of(docnos.offsets[first : stop + 1])
    keys = short_pair_keys(lengths, docnos.hashes[begin:end].copy())
    in_order = np.sort(keys)
    if not (in_order[1:] == in_order[:-1]).any():
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    rows = np.unique(np.append(order[same], order[same + 1])) + begin
    docno, query = byte_ranks(docnos.take(rows)), docnos.row[rows]
    order = np.lexsort((rows, docno, query))
    same = (np.diff(query[order]) == 0) & (np.diff(docno[order]) == 0)
    later, earlier = rows[order[1:][same]], rows[order[:-1][same]]
    by_row = np.argsort(later)
    return later[by_row], earlier[by_row]
