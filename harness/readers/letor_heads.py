"""Grades and qids of LETOR lines that all begin alike: a digit, one blank, and a short qid.

Nearly all lines do. The few bytes of each are compared as words then, and a qid is made a string
once for all the rows in a row that have it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..core.ragged import Array, Ints

_HEAD = 16
"""Bytes of each line that are looked at: two words."""
_QID = np.frombuffer(b"\0 qid:\0\0", np.uint64)
_QID_BITS = np.frombuffer(b"\0\xff\xff\xff\xff\xff\0\0", np.uint64)
_QID_AT = 6
_QID_TO = np.tri(_HEAD, _HEAD, -1, dtype=np.uint8) * np.uint8(255)
_QID_TO[:, :_QID_AT] = 0
_QID_TO = _QID_TO.view(np.uint64)
"""Row n has the bits of a qid that ends before byte n, as two words."""
_TAB, _RETURN, _BLANK, _HASH, _ZERO = np.array([9, 13, 32, 35, 48], np.uint8)


class Heads(NamedTuple):
    """What some lines begin with.

    Parameters
    ----------
    grades : ndarray of int8, shape (n,)
    stops : ndarray of int64, shape (n,)
        Where in the bytes each qid ends.
    changes : ndarray of int64, shape (n_runs,)
        The first row, and those whose qid is not that of the row before.
    """

    grades: Array
    stops: Ints
    changes: Ints

    def qids(self, starts: Ints) -> tuple[Ints, Ints]:
        """Return where in the bytes the qids at the changes begin and end."""
        return starts[self.changes] + _QID_AT, self.stops[self.changes]


def read_heads(data: Array, starts: Ints) -> Heads | None:
    r"""Return what the lines at `starts` begin with; None where one of them begins otherwise.

    Parameters
    ----------
    data : ndarray of uint8
        With 16 bytes at least after each start.

    >>> data = np.frombuffer(b"2 qid:10 1:0.5\n0 qid:10 1:0.25\n1 qid:7 1:0.75\n....", np.uint8)
    >>> grades, stops, changes = read_heads(data, np.array([0, 15, 31]))
    >>> grades.tolist(), stops.tolist(), changes.tolist()
    ([2, 0, 1], [8, 23, 38], [0, 2])
    """
    heads = sliding_window_view(data, _HEAD)[starts]
    words = heads.view(np.uint64)
    grades = heads[:, 0] - _ZERO  # bytes below it wrap around
    if (grades > 9).any() or ((words[:, 0] & _QID_BITS) != _QID).any():
        return None
    texts = heads[:, _QID_AT:]
    white = (texts == _BLANK) | (texts - _TAB <= _RETURN - _TAB)
    length = white.argmax(axis=1)
    if not length.all() or (texts == _HASH).any():  # 0 stands for none, too
        return None
    stops = length + _QID_AT
    own = words & _QID_TO[stops]
    other = stops[1:] != stops[:-1]
    for word in own.T:
        other |= word[1:] != word[:-1]
    changes = np.append(0, np.flatnonzero(other) + 1)
    return Heads(grades.view(np.int8), starts + stops, changes)
