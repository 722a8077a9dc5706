"""Stretches of rows that have the same qid."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .arrow import equal, string_column, take, to_numpy
from .hashing import hash_strings
from .ragged import Array, Bools

_PIECE = 1 << 16
_FIRST, _MANY = 1 << 12, 16
"""Texts that are looked at first, where there are so many times as many."""


def heads(qids: pa.Array) -> tuple[pa.Array, Array | None, bool]:
    """Return the qid of each stretch of rows that have the same one, and where it ends.

    Returns
    -------
    qids : pyarrow string array, shape (n,)
    stops : ndarray of int32 or int64, shape (n,), or None
        The last one is the number of rows; None where each row is a stretch.
    differ : bool
        Whether all stretches have another qid.

    >>> qids, stops, differ = heads(string_column(["a", "a", "b", "a"]))
    >>> qids.to_pylist(), stops.tolist(), differ
    (['a', 'b', 'a'], [2, 3, 4], False)
    """
    encoded = pa.types.is_run_end_encoded(qids.type)
    values = qids.values if encoded else qids
    if len(values) == 0:
        return string_column([]), None, True
    begins = np.ones(len(values), bool)
    np.logical_not(equal(values.slice(1), values.slice(0, len(values) - 1)), out=begins[1:])
    stops = None
    if not begins.all():
        stops = _places(begins)
        values = take(values, stops)
        stops[:-1] = stops[1:]
        stops[-1] = begins.size
    del begins
    differ = are_distinct(values)  # before the stops are made: it takes as much room
    if encoded:
        ends = to_numpy(qids.run_ends)
        stops = ends if stops is None else ends[stops - 1]
    return values, stops, differ


def _places(where: Bools) -> Array:
    """Return where it is true, in four bytes each where they do."""
    found = np.empty(np.count_nonzero(where), np.int32 if where.size < 2**31 else np.int64)
    n = 0
    for at in range(0, where.size, _PIECE):
        some = np.flatnonzero(where[at : at + _PIECE])
        found[n : n + some.size] = some + at
        n += some.size
    return found


def are_distinct(texts: pa.Array) -> bool:
    """Whether no two texts have one hash, so that none is there twice.

    A few are looked at first: the hashes of all may take more than the file they were read from.
    """
    for some in (texts[:_FIRST], texts) if len(texts) > _MANY * _FIRST else (texts,):
        hashes = hash_strings(some)
        hashes.sort()
        if (hashes[1:] == hashes[:-1]).any():
            return False
    return True
