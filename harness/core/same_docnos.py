"""Rows that name a docno which their query has already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from ..errors import SHOWN
from .arrow import call, equal
from .docnos import Docnos, byte_ranks
from .grouped import Columns, grouped, in_order, narrow
from .hashing import at_a_time, short_pair_keys
from .ragged import Array, Ints, lengths_of

PART = 1 << 16
"""Rows whose keys are sorted together; they fit a cache."""
_TOGETHER = 1 << 18
"""Rows of one slice that are looked at together, if they are not of as many docnos."""
_MOST, _SLICE = 6, 1 << 14
"""Logarithm of the most slices that the keys of many rows are looked at in, and rows of one."""
_NARROW = 4
"""Bytes of a row's number, where two of them make one number."""
_SOME, _MANY = 1 << 14, 1 << 18
"""Rows that are looked at together of many, and how many are many."""
_REFUSED = 1_000
"""Rows of some that repeat a docno, from which on the others are not looked at."""


def many_repeats(columns: Columns) -> tuple[Array, Array] | None:
    """Return rows that repeat a docno, and the row before each, where among some are a thousand.

    Of short rows that are all the same, what it takes to find each of them is several times what
    they were read from. So the first of many rows, those in the middle and the last are looked at
    alone.

    Returns
    -------
    later, earlier : ndarray of int64, shape (n_repeats,), or None
        Sorted by the first; None where there are fewer, or few rows.
    """
    n_rows = columns.n_rows
    if n_rows < _MANY or columns.docnos is None:
        return None
    for begin in (0, n_rows // 2, n_rows - _SOME):
        qids, docnos = (of.slice(begin, _SOME) for of in (columns.qids, columns.docnos))
        if pa.types.is_run_end_encoded(qids.type):
            qids = call("run_end_decode", qids)
        distinct, offsets, order, _ = grouped(Columns(qids, None, np.zeros(_SOME)))
        if order is not None:
            docnos = in_order(docnos, order)
        found = repeats(Docnos(docnos, offsets), 0, len(distinct))
        if found is not None and found[0].size >= _REFUSED:
            later, earlier = found if order is None else (order[of] for of in found)
            by_row = np.argsort(later)
            return later[by_row] + np.int64(begin), earlier[by_row] + np.int64(begin)
    return None


def repeats(docnos: Docnos, first: int, stop: int) -> tuple[Array, Array] | None:
    """Return the rows of some queries that repeat a docno of theirs, and the row before each.

    Little memory is taken, since all rows may be repeated: of many rows, those whose keys lie in a
    sixty-fourth of all are looked at at a time.

    Parameters
    ----------
    docnos : Docnos
        Of all queries.
    first, stop : int
        The first query looked at, and the one after the last.

    Returns
    -------
    later, earlier : ndarray of int32 or int64, shape (n_repeats,), or None
        Sorted by neither; None where no two rows have one key.
    """
    begin, end = docnos.offsets[[first, stop]].tolist()
    lengths = lengths_of(docnos.offsets[first : stop + 1])
    keys = short_pair_keys(lengths, docnos.hashes_of(begin, end))
    keys.sort()
    if not (keys[1:] == keys[:-1]).any():
        return None
    del keys  # sorted, they do not tell their rows
    keys = short_pair_keys(lengths, docnos.hashes_of(begin, end))
    kind = narrow(int(docnos.offsets[-1]))
    found = [(np.zeros(0, kind), np.zeros(0, kind))]
    for rows in _slices(keys):
        for later, earlier in _in_turn(docnos, keys, rows, begin):
            found.append((later.astype(kind), earlier.astype(kind)))
    del keys
    return np.concatenate([of for of, _ in found]), np.concatenate([of for _, of in found])


def first_repeats(found: Iterable[tuple[Array, Array]]) -> tuple[Array, Array, int]:
    """Return the first rows that repeat a docno, the row before each, and how many repeat one.

    Parameters
    ----------
    found : iterable of (later, earlier)
        Those of one part of a table after the other: all rows may be among them.

    >>> parts = (np.array([3, 2]), np.array([1, 0])), (np.array([5]), np.array([4]))
    >>> first_repeats(parts)
    (array([2, 3, 5]), array([0, 1, 4]), 3)
    """
    rows = first = np.zeros(0, np.int64)
    total = 0
    for later, earlier in found:
        total += later.size
        if rows.size < SHOWN:
            later, earlier = sorted_pairs(later, earlier)
            rows, first = np.append(rows, later[:SHOWN]), np.append(first, earlier[:SHOWN])
    return rows[:SHOWN], first[:SHOWN], total


def sorted_pairs(later: Array, earlier: Array) -> tuple[Array, Array]:
    """Return rows in their order, and the row before each with it; both in one number.

    To sort these takes no room, where an order of its own would be twice what is sorted.

    >>> sorted_pairs(np.array([7, 2], np.int32), np.array([1, 0], np.int32))
    (array([2, 7], dtype=int32), array([0, 1], dtype=int32))
    """
    if later.dtype.itemsize > _NARROW:
        by_row = np.argsort(later)
        return later[by_row], earlier[by_row]
    pairs = np.empty((later.size, 2), "<i4")
    pairs[:, 0], pairs[:, 1] = earlier, later
    pairs.view("<i8").sort(axis=0)
    return pairs[:, 1], pairs[:, 0]


def _slices(keys: Array) -> Iterator[Ints]:
    """Yield rows whose keys have the same first bits, in order; all rows where they are few."""
    bits = min((keys.size // _SLICE).bit_length(), _MOST)
    if not bits:
        yield np.arange(keys.size)
        return
    step = 1 << (64 - bits)
    for low in range(0, 1 << 64, step):
        inside = keys >= np.uint64(low)
        inside &= keys <= np.uint64(low + step - 1)
        yield np.flatnonzero(inside)


def _in_turn(docnos: Docnos, keys: Array, rows: Ints, begin: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield the rows, of some in order, that repeat an earlier one, and the row before each.

    Of many rows that have few keys, some are looked at at a time, each with the last one of every
    docno before them.
    """
    last, at = rows[:0], 0
    while at < rows.size:
        step = max(_TOGETHER, last.size)
        some = np.append(last, rows[at : at + step])
        later, earlier = _repeats(docnos, keys[some], some + begin)
        yield later, earlier
        at += step
        if at < rows.size:
            stays = np.ones(some.size, bool)
            stays[np.searchsorted(some, earlier - begin)] = False
            last = some[stays]


def _repeats(docnos: Docnos, keys: Array, rows: Ints) -> tuple[Ints, Ints]:
    """Return which of some rows repeat an earlier one of them, by their keys."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    same = np.flatnonzero(keys[1:] == keys[:-1])
    del keys
    earlier, later = rows[order[same]], rows[order[same + 1]]
    step = PART if docnos.strings is None else at_a_time(docnos.strings, PART)
    pieces = (slice(at, at + step) for at in range(0, later.size, step))
    if all(equal(docnos.take(later[at]), docnos.take(earlier[at])).all() for at in pieces):
        return later, earlier
    return _compared(docnos, np.unique(np.append(earlier, later)))  # different docnos, one key


def _compared(docnos: Docnos, rows: Ints) -> tuple[Ints, Ints]:
    """Return which of some rows repeat an earlier one of them, and the row before each."""
    docno = byte_ranks(docnos.take(rows))
    query = docnos.row[rows]
    order = np.lexsort((rows, docno, query))
    same = (np.diff(query[order]) == 0) & (np.diff(docno[order]) == 0)
    return rows[order[1:][same]], rows[order[:-1][same]]
