"""Pairs of documents within each query, all queries together: inversions, ties, mid-ranks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .aligned import Aligned
from .ragged import Array, Bools, Floats, Ints, Ragged, offsets_of, positions_of, rows_of


def judged_items(aligned: Aligned) -> Ragged:
    """Return the judged and retrieved documents of each query, as items in rank order.

    Grades below 0 are no judgements and left out.
    """

    def make() -> Ragged:
        items = aligned.relevant(0)
        return Ragged(offsets_of(aligned.count(items)), items)

    return aligned.memo("judged_items", make)


def inversions(offsets: Ints, values: Ints) -> Ints:
    """Count the pairs of each row in which a smaller value stands before a larger one.

    All rows at once, one pass for each bit of the values, highest first: documents that agree
    in the bits above form a block that keeps its order; a 1 makes an inversion with every 0
    before it in its block; then each block is parted into its zeros and its ones. O(n log v)
    for v distinct values.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_rows + 1,)
    values : ndarray of int64, shape (n_items,)

    Returns
    -------
    ndarray of int64, shape (n_rows,)

    Examples
    --------
    >>> inversions(np.array([0, 3, 6]), np.array([10, 7, 9, 1, 2, 3])).tolist()
    [1, 3]
    """
    n_rows = offsets.size - 1
    found = np.zeros(n_rows)
    codes = compress(values)
    blocks, row = offsets, np.arange(n_rows)
    for bit in reversed(range(int(codes.max(initial=0)).bit_length())):
        one = (codes >> bit) & 1 == 1
        zeros = _totals(~one)
        pairs = _totals(zeros[:-1] * one)
        n_zeros, n_ones = np.diff(zeros[blocks]), np.diff(_totals(one)[blocks])
        in_block = np.diff(pairs[blocks]) - n_ones * zeros[blocks[:-1]]
        found += np.bincount(row, weights=in_block, minlength=n_rows)

        sizes = np.stack([n_zeros, n_ones], axis=1).reshape(-1)
        filled = np.flatnonzero(sizes)
        sizes, row = sizes[filled], row[filled >> 1]
        of_ones = np.repeat(filled & 1 == 1, sizes)
        codes, blocks = _parted(codes, one, of_ones), offsets_of(sizes)
    return found.astype(np.int64)


def smaller_before(offsets: Ints, values: Ints) -> Ints:
    """Count for each item the smaller values that stand before it in its row, ``(n_items,)``.

    :func:`inversions` is the sum of a row. The same passes over the bits, with the items' places
    carried along, so that it takes about twice as long.

    >>> smaller_before(np.array([0, 3, 6]), np.array([10, 7, 9, 1, 2, 3])).tolist()
    [0, 0, 1, 0, 1, 2]
    """
    found = np.zeros(values.size, dtype=np.int64)
    codes, blocks, place = compress(values), offsets, np.arange(values.size)
    for bit in reversed(range(int(codes.max(initial=0)).bit_length())):
        one = (codes >> bit) & 1 == 1
        zeros = _totals(~one)
        of_block = np.repeat(zeros[blocks[:-1]], np.diff(blocks))
        found[place[one]] += zeros[:-1][one] - of_block[one]
        n_zeros, n_ones = np.diff(zeros[blocks]), np.diff(_totals(one)[blocks])
        sizes = np.stack([n_zeros, n_ones], axis=1).reshape(-1)
        filled = np.flatnonzero(sizes)
        sizes = sizes[filled]
        of_ones = np.repeat(filled & 1 == 1, sizes)
        codes, place = _parted(codes, one, of_ones), _parted(place, one, of_ones)
        blocks = offsets_of(sizes)
    return found


def _parted(numbers: Ints, one: Bools, of_ones: Bools) -> Ints:
    parted = np.empty_like(numbers)
    parted[of_ones], parted[~of_ones] = numbers[one], numbers[~one]
    return parted


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


def _totals(numbers: Array) -> Ints:
    """Return the sum of the first 0, 1, ... numbers, ``(n + 1,)``; differences are exact."""
    return offsets_of(numbers)


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


def group_keys(row: Ints, values: Ints) -> Ints:
    """Return one number for each (row, value), sorting by row and then by value."""
    codes = compress(values)
    return row * (int(codes.max(initial=0)) + 1) + codes


def _runs(ordered: Ints) -> tuple[Ints, Ints]:
    """Return where each run of equal numbers starts, and its length."""
    changes = np.ones(ordered.size, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:])
    starts = np.flatnonzero(changes)
    return starts, np.diff(np.append(starts, ordered.size))


def tied_pairs(offsets: Ints, values: Ints) -> Ints:
    """Count the pairs of each row that have the same value, ``(n_rows,)`` int64.

    >>> tied_pairs(np.array([0, 4, 5]), np.array([1, 2, 1, 1, 1])).tolist()
    [3, 0]
    """
    row = rows_of(offsets)
    starts, sizes = _runs(np.sort(group_keys(row, values)))
    pairs = sizes * (sizes - 1) // 2
    # Rows stay in order when items are sorted by (row, value), so `row` still fits.
    counted = np.bincount(row[starts], weights=pairs, minlength=offsets.size - 1)
    return counted.astype(np.int64)


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
