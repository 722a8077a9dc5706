"""Stretches of bytes as a column of strings, in no more room than they take themselves."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa

from ..core.arrow import cast
from ..core.ragged import Array, Ints, offsets_of

_TOGETHER = 1 << 18
"""Bytes that are copied together, which takes a place of eight bytes for each."""
_WORDY = 256
"""Bytes of a stretch, on average, from which they are copied one by one."""


def spans(data: Array, starts: Ints, stops: Ints) -> pa.Array:
    """Return the bytes between `starts` and `stops` as strings.

    Raises
    ------
    pyarrow.ArrowInvalid
        Where some are no UTF-8.

    >>> data = np.frombuffer(b"1 qid:10 2 qid:7", np.uint8)
    >>> spans(data, np.array([6, 15]), np.array([8, 16])).to_pylist()
    ['10', '7']
    """
    offsets = offsets_of(stops - starts)
    text = np.empty(offsets[-1], np.uint8)
    cuts = np.searchsorted(offsets, np.arange(0, offsets[-1], _TOGETHER))
    for first, stop in pairwise([*cuts.tolist(), starts.size]):
        rows, (begin, end) = slice(first, stop), offsets[[first, stop]].tolist()
        if end - begin > min(_WORDY * (stop - first), 2 * _TOGETHER):
            _copy(data, starts[rows], stops[rows], text[begin:end])
        elif begin < end:
            text[begin:end] = _picked(data, starts[rows], stops[rows])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    strings = pa.Array.from_buffers(pa.large_string(), starts.size, buffers)
    strings.validate(full=True)
    return cast(strings, pa.string())


def _copy(data: Array, starts: Ints, stops: Ints, to: Array) -> None:
    """Copy one stretch after the other."""
    end = 0
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        begin, end = end, end + stop - start
        to[begin:end] = data[start:stop]


def _picked(data: Array, starts: Ints, stops: Ints) -> Array:
    """Return the bytes of all stretches, each picked by its place."""
    offsets = offsets_of(stops - starts)
    found: Array = data[np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], np.diff(offsets))]
    return found
