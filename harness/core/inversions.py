"""Pairs of items of one row in the wrong order, all rows together.

Every pair stands in the two halves of just one window: first within blocks of 32 items, then
from the middle of a window of 64, 128, ... items on. Within blocks all pairs are compared. A
window is sorted whole, each item with its place: an item of the later half then has before it
the smaller items of the earlier one and as many of the later one as it is itself the n-th of.

All rows stand one after another, each below the one before, so that a pair of two rows is never
in the wrong order, and a window counts for the row in its middle alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .pairs import compress
from .ragged import Array, Ints, lengths_of, rows_of, sum_by

_BLOCK = 32


def inversions(offsets: Ints, values: Array) -> Ints:
    """Count the pairs of each row in which a smaller value stands before a larger one.

    O(n (log m)^2) for rows of m items, in a few arrays as long as the values.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_rows + 1,)
    values : ndarray, shape (n_items,)

    Returns
    -------
    ndarray of int64, shape (n_rows,)

    Examples
    --------
    >>> inversions(np.array([0, 3, 6]), np.array([10, 7, 9, 1, 2, 3])).tolist()
    [1, 3]
    """
    lengths, row = lengths_of(offsets), rows_of(offsets)
    keys = _keys(offsets, row, values)
    found = np.add.reduceat(_within_blocks(keys, row.size), offsets[:-1], dtype=np.int64)
    found[lengths == 0] = 0
    for middles, order, places in _windows(keys, row.size, lengths):
        smaller = _smaller(order, places).sum(axis=1)
        found += sum_by(row[middles], smaller, lengths.size).astype(np.int64)
    return found


def smaller_before(offsets: Ints, values: Array) -> Ints:
    """Count for each item the smaller values that stand before it in its row, ``(n_items,)``.

    :func:`inversions` is the sum of a row, and takes half the time.

    >>> smaller_before(np.array([0, 3, 6]), np.array([10, 7, 9, 1, 2, 3])).tolist()
    [0, 0, 1, 0, 1, 2]
    """
    row = rows_of(offsets)
    keys = _keys(offsets, row, values)
    found = np.zeros(keys.size, dtype=np.int64)
    within = _within_blocks(keys, row.size)
    found[: within.size] = within
    for middles, order, places in _windows(keys, row.size, lengths_of(offsets)):
        later = order.reshape(-1)[places] & (places.shape[1] - 1)
        found[middles[:, None] + later] += _smaller(order, places)
    return found[: row.size]


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
    found = np.zeros(across.shape, dtype=np.uint8)
    smaller = np.empty(across.shape, dtype=bool)
    for distance in range(1, _BLOCK):
        np.less(across[:-distance], across[distance:], out=smaller[distance:])
        found[distance:] += smaller[distance:].view(np.uint8)
    counts: Array = found.T.reshape(-1)
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
