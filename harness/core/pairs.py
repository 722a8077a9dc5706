"""Pairs of documents within each query, all queries together: ties, mid-ranks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .aligned import Aligned
from .ragged import (
    Array,
    Bools,
    Floats,
    Ints,
    Ragged,
    lengths_of,
    offsets_of,
    positions_of,
    rows_of,
)


def judged_items(aligned: Aligned) -> Ragged:
    """Return the judged and retrieved documents of each query, as items in rank order.

    Grades below 0 are no judgements and left out.
    """

    def make() -> Ragged:
        items = aligned.relevant(0)
        return Ragged(offsets_of(aligned.count(items)), items)

    return aligned.memo("judged_items", make)


def numbered(keys: Ints) -> tuple[Ints, Ints]:
    """Number the items that have the same key from 1 as they stand, and count them.

    >>> [each.tolist() for each in numbered(np.array([7, 3, 7, 7]))]
    [[1, 1, 2, 3], [3, 1, 3, 3]]
    """
    order = np.argsort(keys, kind="stable")
    starts, sizes = _runs(keys[order])
    number, count = np.empty_like(keys), np.empty_like(keys)
    number[order] = np.arange(1, keys.size + 1) - np.repeat(starts, sizes)
    count[order] = np.repeat(sizes, sizes)
    return number, count


def compress(values: Array) -> Ints:
    """Return small numbers from 0 that compare as `values` do, ``(n_items,)`` int64.

    Grades may be fractions.

    >>> compress(np.array([5, 10**12, 5])).tolist(), compress(np.array([0.5, 0.25])).tolist()
    ([0, 1, 0], [1, 0])
    """
    if values.dtype.kind != "f":
        low = int(values.min(initial=0))
        if int(values.max(initial=0)) - low <= 4 * values.size:
            small: Ints = values - low
            return small
    codes: Ints = np.unique(values, return_inverse=True)[1].reshape(-1)
    return codes


def group_keys(row: Ints, values: Array) -> Ints:
    """Return one number for each (row, value), sorting by row and then by value."""
    codes = compress(values)
    return row * (int(codes.max(initial=0)) + 1) + codes


def _runs(ordered: Array) -> tuple[Ints, Ints]:
    """Return where each run of equal numbers starts, and its length."""
    changes = np.ones(ordered.size, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:])
    starts = np.flatnonzero(changes)
    return starts, np.diff(np.append(starts, ordered.size))


def sorted_keys(keys: Array) -> Array:
    """Return numbers from 0 in rising order; those of 32 bits take half the time.

    >>> sorted_keys(np.array([7, 3, 7])).tolist()
    [3, 7, 7]
    """
    if int(keys.max(initial=0)) < 2**31:
        keys = keys.astype(np.int32)
    return np.sort(keys)


def tied_pairs(offsets: Ints, values: Array) -> Ints:
    """Count the pairs of each row that have the same value, ``(n_rows,)`` int64.

    >>> tied_pairs(np.array([0, 4, 5]), np.array([1, 2, 1, 1, 1])).tolist()
    [3, 0]
    """
    return pairs_in_runs(offsets, sorted_keys(group_keys(rows_of(offsets), values)))


def pairs_in_runs(offsets: Ints, keys: Array) -> Ints:
    """Count the pairs of each row that have the same key, where no key stands in two places.

    >>> pairs_in_runs(np.array([0, 4, 5]), np.array([1, 1, 1, 2, 3])).tolist()
    [3, 0]
    """
    starts, sizes = _runs(keys)
    starts, sizes = starts[sizes > 1], sizes[sizes > 1]
    # A run begins and ends in one row, so the runs' pairs add up between the rows' bounds.
    pairs = offsets_of(sizes * (sizes - 1) // 2)
    return lengths_of(pairs[np.searchsorted(starts, offsets)])


def midranks(offsets: Ints, values: Ints) -> Floats:
    """Return each item's rank within its row by rising value; equal values share the mean.

    >>> midranks(np.array([0, 3]), np.array([7, 2, 7])).tolist()
    [2.5, 1.0, 2.5]
    """
    row = rows_of(offsets)
    keys = group_keys(row, values)
    order = np.argsort(keys)
    starts, sizes = _runs(keys[order])
    middle = starts - offsets[row[starts]] + (sizes + 1) / 2
    ranks = np.empty(values.size)
    ranks[order] = np.repeat(middle, sizes)
    return ranks


def constant_rows(offsets: Ints, values: Array) -> Bools:
    """Return which rows hold no two different values, ``(n_rows,)``; empty rows are such.

    >>> constant_rows(np.array([0, 2, 2, 4]), np.array([.1, .1, 1, 2])).tolist()
    [True, True, False]
    """
    row = rows_of(offsets)
    differs = values != values[offsets[row]]
    constant: Bools = np.bincount(row[differs], minlength=offsets.size - 1) == 0
    return constant


def pairs_by_distance(offsets: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield every pair of items of one row once, as ``(first, second)`` index arrays.

    Each step yields the pairs that stand a certain distance apart, of all rows, so no more
    than ``n_items`` pairs are in memory, and within a step each item is first at most once.

    >>> [(i.tolist(), j.tolist()) for i, j in pairs_by_distance(np.array([0, 3, 5]))]
    [([0, 1, 3], [1, 2, 4]), ([0], [2])]
    """
    left = np.repeat(np.diff(offsets), np.diff(offsets)) - positions_of(offsets) - 1
    first = np.arange(left.size)
    distance = 1
    while (first := first[left[first] >= distance]).size:
        yield first, first + distance
        distance += 1
