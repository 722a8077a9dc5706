"""Stretches of rows that have the same qid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from .arrow import equal, select, string_column, take, to_numpy
from .hashing import hash_strings
from .ragged import Array, Bools

_PIECE = 1 << 16
"""Texts that are looked at together."""
_HALF = np.uint64(1 << 63)
"""The first hash of the upper half."""
_FIRST, _MANY = 1 << 12, 16
"""Texts that are looked at first, where there are so many times as many."""


def heads(
    qids: pa.Array, let_go: Callable[[], None] = lambda: None
) -> tuple[pa.Array, Array | None, bool]:
    """Return the qid of each stretch of rows that have the same one, and where it ends.

    Parameters
    ----------
    let_go : callable
        Gives back what is not needed any more.

    Returns
    -------
    qids : pyarrow string array, shape (n,)
        Those of neighbours may be the same where not all differ: to take out the few that are
        would take as much room again.
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
    ends = to_numpy(qids.run_ends) if encoded and len(values) < len(qids) else None
    begins = _begins(values)
    n = np.count_nonzero(begins)
    if n == begins.size:
        del begins
        let_go()
        return values, ends, are_distinct(values, let_go)
    if begins.size > _MANY * _FIRST and 2 * n > begins.size:
        first = select(values[:_PIECE], begins[:_PIECE])
        if not are_distinct(first):
            return values, ends, False
    stops = _places(begins)
    values = take(values, stops)
    stops[:-1] = stops[1:]
    stops[-1] = begins.size
    del begins
    differ = are_distinct(values, let_go)
    return values, stops if ends is None else ends[stops - 1], differ


def _begins(texts: pa.Array) -> Bools:
    """Return where a text is another than the one before, and at the first."""
    begins = np.ones(len(texts), bool)
    for at in range(1, len(texts), _PIECE):
        some = texts[at : at + _PIECE]
        begins[at : at + len(some)] = ~equal(some, texts[at - 1 : at - 1 + len(some)])
    return begins


def _places(where: Bools) -> Array:
    """Return where it is true, in four bytes each where they do."""
    found = np.empty(np.count_nonzero(where), np.int32 if where.size < 2**31 else np.int64)
    n = 0
    for at in range(0, where.size, _PIECE):
        some = np.flatnonzero(where[at : at + _PIECE])
        found[n : n + some.size] = some + at
        n += some.size
    return found


def are_distinct(texts: pa.Array, let_go: Callable[[], None] = lambda: None) -> bool:
    """Whether no two texts have one hash, so that none is there twice.

    A few are looked at first, and one half of the hashes of many, then the other: those of all
    may take more than the file they were read from.
    """
    if len(texts) <= _MANY * _FIRST:
        return not _is_twice(hash_strings(texts))
    if _is_twice(hash_strings(texts[:_FIRST])):
        return False
    for half in (False, True):
        found, n = np.empty(len(texts), np.uint64), 0
        for at in range(0, len(texts), _PIECE):
            some = hash_strings(texts[at : at + _PIECE])
            some = some[(some >= _HALF) == half]
            found[n : n + some.size] = some
            n += some.size
        if _is_twice(found[:n]):
            return False
        del found
        let_go()
    return True


def _is_twice(hashes: Array) -> bool:
    """Whether one stands there twice; they are sorted."""
    hashes.sort()
    pieces = (hashes[at : at + _PIECE + 1] for at in range(0, hashes.size, _PIECE))
    return any((some[1:] == some[:-1]).any() for some in pieces)
