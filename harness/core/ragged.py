"""Rows of different lengths in one flat array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def frozen(array: Array) -> Array:
    """Return `array`, made read-only (a view if the caller's own must stay writable)."""
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def offsets_of(lengths: npt.ArrayLike) -> Ints:
    """Return the ``(n_rows + 1,)`` offsets of rows with these lengths."""
    lengths = np.asarray(lengths, dtype=np.int64)
    offsets = np.zeros(lengths.size + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def lengths_of(offsets: Ints) -> Ints:
    """Return the length of each row; ``np.diff``, which takes five times as long for few rows."""
    lengths: Ints = offsets[1:] - offsets[:-1]
    return lengths


def rows_of(offsets: Ints) -> Ints:
    """Return the row of each item, ``(n_items,)``."""
    return np.repeat(np.arange(offsets.size - 1, dtype=np.int64), offsets[1:] - offsets[:-1])


def positions_of(offsets: Ints, first: int = 0) -> Ints:
    """Return the position of each item in its row, counted from `first`, ``(n_items,)``."""
    positions: Ints = np.arange(first, int(offsets[-1]) + first, dtype=np.int64)
    positions -= np.repeat(offsets[:-1], offsets[1:] - offsets[:-1])
    return positions


def stretches(*columns: Array) -> tuple[Ints, Ints]:
    """Return the start and the length of each block of rows that are equal in all columns."""
    begins = np.ones(columns[0].size, dtype=bool)
    np.not_equal(columns[0][1:], columns[0][:-1], out=begins[1:])
    for column in columns[1:]:
        begins[1:] |= column[1:] != column[:-1]
    starts = np.flatnonzero(begins)
    return starts, lengths_of(np.append(starts, begins.size))


def sum_by(row: Ints, weights: Array, n_rows: int) -> Floats:
    """Sum `weights` by `row`, one after another as a C loop would, ``(n_rows,)`` float64."""
    # bincount of no rows returns integers for any weights.
    return np.bincount(row, weights=weights, minlength=n_rows).astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class Ragged:
    """Rows of different lengths: row ``i`` is ``values[offsets[i]:offsets[i + 1]]``."""

    offsets: Ints
    values: Array

    def __post_init__(self) -> None:
        offsets = np.ascontiguousarray(self.offsets, dtype=np.int64)
        values = np.ascontiguousarray(self.values)
        if offsets.ndim != 1 or offsets.size == 0 or offsets[0] != 0:
            raise ValueError("offsets must be one-dimensional and start at 0")
        if (offsets[1:] < offsets[:-1]).any() or offsets[-1] != values.shape[0]:
            raise ValueError("offsets must not fall and must end at the number of values")
        object.__setattr__(self, "offsets", frozen(offsets))
        object.__setattr__(self, "values", frozen(values))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.offsets.size - 1

    @cached_property
    def lengths(self) -> Ints:
        """Items in each row, ``(n_rows,)``."""
        return lengths_of(self.offsets)

    @cached_property
    def row(self) -> Ints:
        """Row of each item, ``(n_items,)``."""
        return rows_of(self.offsets)

    @cached_property
    def rank(self) -> Ints:
        """Position of each item in its row, from 1, ``(n_items,)``."""
        return positions_of(self.offsets, first=1)

    def of_rows(self, some: slice | Bools) -> Ragged:
        """Return some rows: from one to before another without a copy, or those of a mask."""
        if isinstance(some, slice):
            offsets = self.offsets[some.start : some.stop + 1]
            return Ragged(offsets - offsets[0], self.values[offsets[0] : offsets[-1]])
        return Ragged(offsets_of(self.lengths[some]), self.values[some[self.row]])

    def spread(self, values: Array) -> Array:
        """Return the value of its row for each item, ``(n_items,)``."""
        return np.repeat(values, self.lengths)

    def sum(self, weights: Array | None = None, where: Array | None = None) -> Floats:
        """Sum each row, ``(n_rows,)`` float64, adding in order as a C loop would.

        ``numpy.bincount`` adds one item after another, so the last bit is that of the plain
        loop; ``np.add.reduceat`` and differences of cumulative sums would not be.
        `weights` are the values by default; `where` says which items to add.
        """
        row, weights = self.row, self.values if weights is None else weights
        if where is not None:
            inside = np.flatnonzero(where)  # to pick by a mask takes five times as long
            row, weights = row[inside], weights[inside]
        return sum_by(row, weights, self.n_rows)

    def count(self, where: Array) -> Ints:
        """Count the items of each row for which `where` is true, ``(n_rows,)`` int64."""
        # One more item, so that an empty row at the end has a place to begin at.
        items = np.append(where, False).view(np.uint8)
        counts: Ints = np.add.reduceat(items, self.offsets[:-1], dtype=np.int64)
        counts[self.lengths == 0] = 0
        return counts

    def head(self, lengths: Ints) -> tuple[Ints, Ints, Ints]:
        """Return row, index and rank (from 1) of the first `lengths` items of each row."""
        offsets = offsets_of(lengths)
        rank = positions_of(offsets, first=1)
        return rows_of(offsets), rank + np.repeat(self.offsets[:-1] - 1, lengths), rank

    def cumsum(self) -> Array:
        """Running total within each row, ``(n_items,)``; exact for integers and booleans."""
        total = np.cumsum(self.values)
        before = np.concatenate([np.zeros(1, dtype=total.dtype), total])[self.offsets[:-1]]
        running: Array = total - np.repeat(before, self.lengths)
        return running
