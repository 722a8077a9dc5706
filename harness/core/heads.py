"""Stretches of rows that have the same qid."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .arrow import equal, string_column, take, to_numpy
from .hashing import hash_strings
from .ragged import Ints


def heads(qids: pa.Array) -> tuple[pa.Array, Ints, bool]:
    """Return the qid of each stretch of rows that have the same one, and where it begins.

    Returns
    -------
    qids : pyarrow string array, shape (n,)
    offsets : ndarray of int64, shape (n + 1,)
        The last one is the number of rows.
    differ : bool
        Whether all stretches have another qid.

    >>> qids, offsets, differ = heads(string_column(["a", "a", "b", "a"]))
    >>> qids.to_pylist(), offsets.tolist(), differ
    (['a', 'b', 'a'], [0, 2, 3, 4], False)
    """
    encoded = pa.types.is_run_end_encoded(qids.type)
    values = qids.values if encoded else qids
    if len(values) == 0:
        return string_column([]), np.zeros(1, dtype=np.int64), True
    goes_on = equal(values.slice(1), values.slice(0, len(values) - 1))
    stops = None
    if goes_on.any():
        starts = np.append(0, np.flatnonzero(~goes_on) + 1)
        values, stops = take(values, starts), np.append(starts[1:], len(values))
    del goes_on
    differ = are_distinct(values)  # before the offsets are made: it takes as much room
    if encoded:
        ends = to_numpy(qids.run_ends)
        stops = ends if stops is None else ends[stops - 1]
    if stops is None:
        return values, np.arange(len(values) + 1), differ
    offsets = np.zeros(stops.size + 1, dtype=np.int64)
    offsets[1:] = stops
    return values, offsets, differ


def are_distinct(texts: pa.Array) -> bool:
    """Whether no two texts have one hash, so that none is there twice."""
    hashes = hash_strings(texts)
    hashes.sort()
    return not bool((hashes[1:] == hashes[:-1]).any())
