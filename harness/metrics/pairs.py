"""Pairs of documents within each query, all queries together: ties, mid-ranks.

Pairs within blocks of 32 items are compared directly, all others in windows of 64, 128, ... items:
each pair is split by the middle of exactly one window. A window is sorted with the places of its
items, so that the rank of a later item minus its rank in the later half counts the smaller items
of the earlier half.

The keys of a row are below those of the row before, so that pairs across rows are never counted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.aligned import Aligned
from ..core.ragged import (
    Array,
    Bools,
    Floats,
    Ints,
    Ragged,
    lengths_of,
    offsets_of,
    positions_of,
    rows_of,
    stretches,
    sum_by,
)


def judged_items(aligned: Aligned) -> Ragged:
    """Return the judged and retrieved documents of each query, as items in rank order.

    Grades below 0 are unjudged and left out.
    """

    def make() -> Ragged:
        items = aligned.relevant(0)
        return Ragged(offsets_of(aligned.count(items)), items)

    return aligned.memo("judged_items", make)


def numbered(keys: Ints) -> tuple[Ints, Ints]:
    """Number the items that have the same key from 1 in their order, and count them."""
    order = np.argsort(keys, kind="stable")
    starts, sizes = stretches(keys[order])
    number, count = np.empty_like(keys), np.empty_like(keys)
    number[order] = np.arange(1, keys.size + 1) - np.repeat(starts, sizes)
    count[order] = np.repeat(sizes, sizes)
    return number, count


def compress(values: Array) -> Ints:
    """Return small numbers from 0 that compare as `values` do, ``(n_items,)`` int64.

    Grades may be fractions.
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


def tied_pairs(offsets: Ints, values: Array) -> Ints:
    """Count the pairs of each row that have the same value, ``(n_rows,)`` int64."""
    return pairs_in_runs(offsets, np.sort(group_keys(rows_of(offsets), values)))


def pairs_in_runs(offsets: Ints, keys: Array) -> Ints:
    """Count the pairs of each row that have the same key, if equal keys are contiguous."""
    starts, sizes = stretches(keys)
    starts, sizes = starts[sizes > 1], sizes[sizes > 1]
    # A run begins and ends in one row, so the runs' pairs add up between the rows' bounds.
    pairs = offsets_of(sizes * (sizes - 1) // 2)
    return lengths_of(pairs[np.searchsorted(starts, offsets)])


def midranks(offsets: Ints, values: Ints) -> Floats:
    """Return each item's rank within its row by rising value; equal values share the mean."""
    row = rows_of(offsets)
    keys = group_keys(row, values)
    order = np.argsort(keys)
    starts, sizes = stretches(keys[order])
    middle = starts - offsets[row[starts]] + (sizes + 1) / 2
    ranks = np.empty(values.size)
    ranks[order] = np.repeat(middle, sizes)
    return ranks


def constant_rows(offsets: Ints, values: Array) -> Bools:
    """Return a mask of the rows whose values are all equal, ``(n_rows,)``, or that are empty."""
    row = rows_of(offsets)
    differs = values != values[offsets[row]]
    constant: Bools = np.bincount(row[differs], minlength=offsets.size - 1) == 0
    return constant


def pairs_by_distance(offsets: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield every pair of items of one row once, as ``(first, second)`` index arrays.

    Each step yields the pairs at one distance, of all rows, so no more
    than ``n_items`` pairs are in memory, and within a step each item is first at most once.
    """
    left = np.repeat(np.diff(offsets), np.diff(offsets)) - positions_of(offsets) - 1
    positions = np.arange(left.size)
    distance = 1
    while (positions := positions[left[positions] >= distance]).size:
        yield positions, positions + distance
        distance += 1


_BLOCK = 32


def inversions(offsets: Ints, values: Array) -> Ints:
    """Count the pairs of each row in which a smaller value comes before a larger one.

    O(n (log m)^2) for rows of m items, in a few arrays as long as the values.
    """
    lengths, row = lengths_of(offsets), rows_of(offsets)
    keys = _keys(offsets, row, values)
    n_smaller = np.add.reduceat(_within_blocks(keys, row.size), offsets[:-1], dtype=np.int64)
    n_smaller[lengths == 0] = 0
    for middles, order, places in _windows(keys, row.size, lengths):
        smaller = _smaller(order, places).sum(axis=1)
        n_smaller += sum_by(row[middles], smaller, lengths.size).astype(np.int64)
    return n_smaller


def smaller_before(offsets: Ints, values: Array) -> Ints:
    """Count for each item the smaller values before it in its row, ``(n_items,)``.

    `inversions` is the sum of a row, and takes half the time.
    """
    row = rows_of(offsets)
    keys = _keys(offsets, row, values)
    counts = np.zeros(keys.size, dtype=np.int64)
    within = _within_blocks(keys, row.size)
    counts[: within.size] = within
    for middles, order, places in _windows(keys, row.size, lengths_of(offsets)):
        later = order.reshape(-1)[places] & (places.shape[1] - 1)
        counts[middles[:, None] + later] += _smaller(order, places)
    return counts[: row.size]


def _keys(offsets: Ints, row: Ints, values: Array) -> Array:
    """Return numbers that compare as the values of a row do, each row's below the last one's.

    Numbers below all of them follow, so that the last window is full.
    """
    codes = compress(values)
    size = int(codes.max(initial=0)) + 1
    longest = int(lengths_of(offsets).max(initial=0))
    widest = 2 * max(_BLOCK, 1 << longest.bit_length())
    dtype = np.int32 if (offsets.size * size + 1) * widest < 2**31 else np.int64
    keys = np.full(row.size + widest, -1, dtype=dtype)
    np.add((offsets.size - 2 - row) * size, codes, out=keys[: row.size], casting="same_kind")
    return keys


def _within_blocks(keys: Array, n_items: int) -> Array:
    """Count the smaller items before each one in its block, ``(at least n_items + 1,)`` uint8."""
    n_blocks = n_items // _BLOCK + 1
    across = np.ascontiguousarray(keys[: n_blocks * _BLOCK].reshape(n_blocks, _BLOCK).T)
    n_smaller = np.zeros(across.shape, dtype=np.uint8)
    smaller = np.empty(across.shape, dtype=bool)
    for distance in range(1, _BLOCK):
        np.less(across[:-distance], across[distance:], out=smaller[distance:])
        n_smaller[distance:] += smaller[distance:].view(np.uint8)
    counts: Array = n_smaller.T.reshape(-1)
    return counts


def _windows(keys: Array, n_items: int, lengths: Ints) -> Iterator[tuple[Ints, Array, Ints]]:
    """Yield windows of two halves, sorted: all of one width together, narrow ones first.

    Each step yields the first item of the later halves, ``(n_windows,)``; the sorted keys, which
    end in an item's number in its half, ``(n_windows, width)``; and the places of the later
    halves' items in them (flat), ``(n_windows, width / 2)``. Windows of the last width begin at
    every half width, so that every row has one that holds it whole.
    """
    longest, start, half = int(lengths.max(initial=0)), 0, _BLOCK
    while True:
        n_windows = (n_items - start + half - 1) // (2 * half)
        if n_windows > 0:
            width = 2 * half
            order = keys[start : start + n_windows * width].reshape(n_windows, width) * width
            # Of equal items those of the later half come first: not larger than the others.
            order += np.arange(width, dtype=keys.dtype) ^ half
            order.sort(axis=1)
            places = np.flatnonzero((order & half) == 0).reshape(n_windows, half)
            yield start + half + width * np.arange(n_windows), order, places
        if start:
            return
        if half >= longest:
            start = half
        else:
            half *= 2


def _smaller(order: Array, places: Ints) -> Ints:
    """Count the items of the earlier half before each place of the later half's items."""
    n_windows, half = places.shape
    before: Ints = places - order.shape[1] * np.arange(n_windows)[:, None]
    before -= np.arange(half)
    return before
