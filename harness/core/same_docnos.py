"""Rows that name a docno which their query has already."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .arrow import equal
from .docnos import Docnos, byte_ranks
from .grouped import narrow
from .hashing import at_a_time, short_pair_keys
from .ragged import Array, Ints, lengths_of

PART = 1 << 16
"""Rows whose keys are sorted together; they fit a cache."""
_TOGETHER = 1 << 18
"""Rows of one slice that are looked at together, if they are not of as many docnos."""
_MOST, _SLICE = 6, 1 << 14
"""Logarithm of the most slices that the keys of many rows are looked at in, and rows of one."""


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
