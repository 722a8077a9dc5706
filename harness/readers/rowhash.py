"""A hash of the features of each row of a learning-to-rank file: grade, qid and comment left out.

Rows of two folds with one hash are the same row, whatever their queries are called.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.lib.stride_tricks import sliding_window_view

from ..core.arrow import take
from ..core.hashing import hash_strings, splitmix64
from ..core.ragged import Array, Bools, Ints, rows_of
from .source import Source

_HEAD = 48
"""Bytes of a line in which its features begin; those of a longer qid are not told apart."""
_PIECE = 1 << 10
"""Rows that are hashed together: they stay in the processor's cache."""
_NEWLINE, _BLANK, _HASH, _COLON, _D = np.frombuffer(b"\n #:d", np.uint8)


def of_rows(source: Source, wanted: Bools | None = None) -> Array:
    """Return a hash of each row's features as they are written, ``(n_rows,)`` uint64.

    Parameters
    ----------
    source : Source
    wanted : ndarray of bool, shape (n_rows,), optional
        Rows that are looked at, all by default; 0 is returned for the others.
    """
    found = [np.zeros(0, np.uint64)]
    n = 0
    for block in source.blocks():
        found.append(of_block(block, None if wanted is None else wanted[n:]))
        n += found[-1].size
    return np.concatenate(found)


def of_queries(rows: Array, offsets: Ints) -> Array:
    """Return a hash of each query's rows, ``(n_queries,)`` uint64, whatever their order.

    >>> rows = np.array([1, 2, 2, 1, 3], dtype=np.uint64)
    >>> first, second, third = of_queries(rows, np.array([0, 2, 4, 5]))
    >>> bool(first == second), bool(first == third)
    (True, False)
    """
    found = np.zeros(offsets.size - 1, np.uint64)
    np.add.at(found, rows_of(offsets), splitmix64(rows))
    return found


def of_block(block: bytes, wanted: Bools | None = None) -> Array:
    r"""Return the hashes of some whole lines; `wanted` says which of the next rows.

    >>> a, b, c = of_block(b"2 qid:7 1:3 2:4 # d\n0 1:3 2:4\n0 qid:7 1:3 2:5\n")
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    starts, stops = _rows(block)
    data = np.frombuffer(block + b"\n" * _HEAD, np.uint8)
    found = np.zeros(starts.size, np.uint64)
    rows = np.arange(starts.size) if wanted is None else np.flatnonzero(wanted[: starts.size])
    for at in range(0, rows.size, _PIECE):
        some = rows[at : at + _PIECE]
        start, stop = starts[some], stops[some]
        first = np.minimum(start + _features(sliding_window_view(data, _HEAD)[start]), stop)
        found[some] = hash_strings(_strings(data, first, stop))
    return found


def _features(heads: Array) -> Ints:
    """Return where in the beginnings of some lines the features begin: after grade and qid."""
    words = heads > _BLANK
    begins = words.copy()
    begins[:, 1:] &= ~words[:, :-1]
    nth = begins.cumsum(axis=1, dtype=np.uint8)
    qid = (heads[:, 1:] == _COLON) & (heads[:, :-1] == _D) & (nth[:, 1:] == 2)
    before = 1 + qid.any(axis=1)
    after = nth > before[:, None]
    found: Ints = np.where(after[:, -1], after.argmax(axis=1), _HEAD)
    return found


def _rows(block: bytes) -> tuple[Ints, Ints]:
    """Return where the rows of a block begin and end, comments and white space left out."""
    data = np.frombuffer(block, np.uint8)
    stops = np.flatnonzero(data == _NEWLINE)
    if not block.endswith(b"\n"):
        stops = np.append(stops, data.size)
    starts = np.concatenate([[0], stops[:-1] + 1])
    if b"#" in block:
        hashes = np.append(np.flatnonzero(data == _HASH), data.size)
        stops = np.minimum(stops, hashes[np.searchsorted(hashes, starts)])
    for _ in range(2):  # a carriage return, the blank before a comment
        stops = stops - ((stops > starts) & (data[np.maximum(stops - 1, 0)] <= _BLANK))
    rows = stops > starts
    return starts[rows], stops[rows]


def _strings(data: Array, starts: Ints, stops: Ints) -> pa.Array:
    """Return the bytes between each start and stop, which do not overlap, as strings."""
    low, high = int(starts[0]), int(stops[-1])
    offsets = np.empty(2 * starts.size, np.int64)
    offsets[0::2], offsets[1::2] = starts - low, stops - low
    # what lies between two of them is a string too: every second one is wanted
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data[low:high])]
    every = pa.Array.from_buffers(pa.large_string(), offsets.size - 1, buffers)
    return take(every, np.arange(0, offsets.size - 1, 2))
