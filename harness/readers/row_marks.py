"""A mark of the features of each row of a learning-to-rank file, taken while its lines are read.

Rows whose marks differ are different; of rows with one mark the features are looked at, by
:mod:`harness.readers.rowhash`, as a mark follows from some of their bytes alone.
"""

from __future__ import annotations

import numpy as np

from ..core.ragged import Array, Ints

KEPT = 128
"""Marks that are kept of a dataset: where one row in forty is shared, 96 in 100 times one of them
is of such a row."""
_WORD = 8
_BITS = 8
_BLANK = np.uint8(32)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def marks(data: Array, starts: Ints, stops: Ints, commented: bool = False) -> Array:
    r"""Return the marks of the features between `starts` and `stops`, ``(n,)`` uint64.

    A mark follows from the length of the features and from their words of eight bytes at a half
    and at three quarters of it, where features differ more than at the beginning.

    Parameters
    ----------
    data : ndarray of uint8
        With eight bytes at least after each start.
    starts, stops : ndarray of int64, shape (n,)
        Two blanks, or what ends a line, before a stop are left out; unless `commented`, where the
        first row has them, as looking costs as much as the rest.
    commented : bool
        Whether some stops are those of comments.

    >>> data = np.frombuffer(b"1:3 2:4 \r\n1:3 2:4\n1:3 2:5\n........", np.uint8)
    >>> one, same, other = marks(data, np.array([0, 10, 18]), np.array([9, 17, 25]))
    >>> bool(one == same), bool(one == other)
    (True, False)
    """
    for _ in range(2):  # a carriage return, the blank before a comment
        if not commented and (not stops.size or data[stops[0] - 1] > _BLANK):
            break
        stops = stops - ((data[stops - 1] <= _BLANK) & (stops > starts))
    lengths = stops - starts
    words: Array = np.ndarray((data.size - _WORD + 1,), dtype="<u8", buffer=data, strides=(1,))
    if lengths.min(initial=_WORD) < _WORD:
        return _of_short(words, starts, np.maximum(lengths, 0))
    half = (lengths - _WORD) >> 1
    middle = starts + half
    return _mixed(lengths, words[middle], words[middle + (half >> 1)])


def _of_short(words: Array, starts: Ints, lengths: Ints) -> Array:
    """Return the marks of rows some of which have less than a word."""
    half = np.maximum(lengths - _WORD, 0) >> 1
    lacking = _BITS * np.clip(_WORD - lengths, 0, _WORD - 1)
    parts = [words[starts + at] << lacking.astype(np.uint64) for at in (half, half + (half >> 1))]
    return _mixed(lengths, *(np.where(lengths > 0, part, 0) for part in parts))


def _mixed(lengths: Ints, *words: Array) -> Array:
    found = lengths.astype(np.uint64)
    for word in words:
        found *= _MULTIPLIER
        found ^= found >> np.uint64(29)
        found ^= word
    found *= _MULTIPLIER
    found ^= found >> np.uint64(32)
    return found


def kept(marks: Array) -> str:
    """Return the smallest marks as text, the same of any two files as far as they share rows.

    Rows that a file holds twice are left out: several files hold such ones by chance.
    """
    some = marks
    if marks.size > 4 * KEPT:  # of which some may be of equal rows
        some = np.partition(marks, 4 * KEPT)[: 4 * KEPT]
    found, times = np.unique(some, return_counts=True)
    smallest: bytes = found[times == 1][:KEPT].astype("<u8").tobytes()
    return smallest.hex()


def of_kept(text: str) -> Array:
    """Return the marks that :func:`kept` gave.

    >>> of_kept(kept(np.array([7, 3, 4, 7], dtype=np.uint64))).tolist()
    [3, 4]
    """
    return np.frombuffer(bytes.fromhex(text), "<u8")
