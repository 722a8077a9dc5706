"""Columns put in the order of their queries, with little more room than they take.

A column is given up as soon as it stands in its new place, and the order takes four bytes a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from .arrow import bytes_at, encode_narrow, equal, take
from .hashing import at_a_time, hash_strings, sorted_hashes, string_views
from .heads import heads
from .odd import NOTHING, Odd
from .ragged import Array, Ints, lengths_of, offsets_of, sum_by

_PIECE = 1 << 16
"""Rows that are put in order together."""
_MANY = 1 << 18
"""Rows from which on memory is given back."""
_OFTEN = 4
"""Pieces after which memory is given back."""
_HALF = np.uint64(32)
_LOWER = np.uint64((1 << 32) - 1)


@dataclass
class Columns:
    """Columns of a table to be. Whoever makes it takes them out: none is there twice for long.

    Parameters
    ----------
    qids, docnos : pyarrow string array, shape (n_rows,), optional
        As :meth:`~harness.core.table.Table.from_columns` takes them.
    numbers : ndarray, shape (n_rows,)
    give_back : callable, optional
        Gives what was let go of back to the system, which the C library may keep; it is asked
        where there are many rows.
    """

    qids: pa.Array
    docnos: pa.Array | None
    numbers: Array
    give_back: Callable[[], None] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.numbers)

    def let_go(self) -> None:
        """Give back what was taken out, or in other ways used, and is not needed any more."""
        if self.give_back is not None and self.n_rows > _MANY:
            self.give_back()


class Grouped(NamedTuple):
    """Distinct qids, the rows of each, the order that gathers them, and which came back.

    `order` is the place of each row in the columns, in four bytes where they do, or None where
    no row moves; `scattered` counts queries, and knows the first row that came back.
    """

    qids: pa.Array
    offsets: Ints
    order: Array | None
    scattered: Odd = NOTHING


def narrow(n: int) -> type[np.signedinteger]:
    """Return the type of numbers below `n`: four bytes where they do.

    >>> narrow(2**31), narrow(2**31 + 1)
    (<class 'numpy.int32'>, <class 'numpy.int64'>)
    """
    return np.int32 if n <= 2**31 else np.int64


def grouped(columns: Columns) -> Grouped:
    """Take the qids out of some columns, and return how their rows are gathered.

    >>> from harness.core.arrow import string_column
    >>> columns = Columns(string_column(["a", "b", "b", "a"]), None, np.arange(4))
    >>> qids, offsets, order, scattered = grouped(columns)
    >>> qids.to_pylist(), offsets.tolist(), order.tolist(), scattered.row
    (['a', 'b'], [0, 2, 4], [0, 3, 1, 2], 3)
    """
    columns.let_go()
    n_rows = len(columns.qids)
    values, stops, differ = heads(columns.qids)
    columns.qids = None
    columns.let_go()
    if differ:
        offsets = np.arange(len(values) + 1) if stops is None else np.append(0, stops)
        return Grouped(values, offsets, None)
    distinct, query = _encoded(values, columns.let_go)
    del values
    columns.let_go()
    n = len(distinct)
    times = _counts(query, None, n)
    lengths = None if stops is None else np.append(stops[:1], lengths_of(stops))
    offsets = offsets_of(times if lengths is None else _counts(query, lengths, n))
    n_back = int((times > 1).sum())
    del times
    if not n_back:  # two qids of one hash
        return Grouped(distinct, offsets, None)
    back = _first_again(query)
    row = back if stops is None else int(stops[back - 1])
    (qid,) = bytes_at(distinct, query[[back]])
    scattered = Odd(n_back, n_back, row, (qid.decode("utf-8", "replace"),))
    by = _order(query)
    del query
    columns.let_go()
    if lengths is None:
        return Grouped(distinct, offsets, by, scattered)
    starts = (stops - lengths)[by]
    del stops
    lengths = lengths[by]
    order = np.arange(n_rows, dtype=narrow(n_rows))
    starts -= np.cumsum(lengths, dtype=lengths.dtype)
    starts += lengths
    order += np.repeat(starts, lengths)
    return Grouped(distinct, offsets, order, scattered)


def _encoded(texts: pa.Array, let_go: Callable[[], None]) -> tuple[pa.Array, Array]:
    """Return what :func:`encode_narrow` does, of many distinct texts by their sorted hashes.

    Arrow's table of them takes up to a hundred bytes for each.
    """
    n = len(texts)
    if n <= _MANY or 2 * sorted_hashes(texts[:_PIECE]).size < _PIECE:
        return encode_narrow(texts)
    known = sorted_hashes(texts)
    first, which = np.full(known.size, n), np.empty(n, narrow(n))
    for at in reversed(range(0, n, _PIECE)):
        some = texts[at : at + _PIECE]
        which[at : at + _PIECE] = np.searchsorted(known, hash_strings(some))
        first[which[at : at + _PIECE][::-1]] = np.arange(at, at + len(some))[::-1]
    del known
    by = np.argsort(first)
    place = np.empty(by.size, which.dtype)
    place[by] = np.arange(by.size)
    distinct = take(texts, first[by])
    del first, by
    let_go()
    step = at_a_time(texts, _PIECE)
    for at in range(0, n, step):
        some = which[at : at + step]
        some[:] = place[some]
        if not equal(texts[at : at + step], take(distinct, some)).all():  # two of one hash
            return encode_narrow(texts)
        if at // step % _OFTEN == 0:
            let_go()
    return distinct, which


def _counts(query: Array, weights: Array | None, n: int) -> Ints:
    """Return how many, or the sum of the weights, of each query; few are widened at a time."""
    total = np.zeros(n, np.int64)
    step = max(_PIECE, n)
    for at in range(0, query.size, step):
        some = query[at : at + step]
        if weights is None:
            total += np.bincount(some, minlength=n)
        else:
            total += sum_by(some, weights[at : at + step], n).astype(np.int64)
    return total


def _first_again(query: Array) -> int:
    """Return the first place that holds no new number: these are given as they first come."""
    for at in range(0, query.size, _PIECE):
        some = query[at : at + _PIECE]
        again = some != np.arange(at, at + some.size)
        if again.any():
            return at + int(again.argmax())
    raise ValueError("all are new")


def _order(query: Array) -> Array:
    """Return the stable order of queries: both in one number, as to sort takes no room."""
    if query.size > 2**31:
        return np.argsort(query, kind="stable")
    keys = query.astype(np.uint64)
    keys <<= _HALF
    for at in range(0, keys.size, _PIECE):
        some = keys[at : at + _PIECE]
        some |= np.arange(at, at + some.size, dtype=np.uint64)
    keys.sort()
    keys &= _LOWER
    return keys.astype(np.int32)


def in_order(texts: pa.Array, order: Array) -> pa.Array:
    """Return the texts in another order, all of them; Arrow takes up to twice their room.

    >>> from harness.core.arrow import string_column
    >>> in_order(string_column(["a", "bc", ""]), np.array([2, 1, 0])).to_pylist()
    ['', 'bc', 'a']
    """
    step = at_a_time(texts, _PIECE)
    if texts.null_count or order.size <= step:
        return take(texts, order)
    given, _ = string_views(texts)
    offsets = np.zeros(order.size + 1, given.dtype)
    data = np.empty(int(given[-1] - given[0]), np.uint8)
    end = 0
    for at in range(0, order.size, step):
        starts, some = string_views(take(texts, order[at : at + step]))
        stop = at + starts.size
        offsets[at + 1 : stop] = starts[1:]
        offsets[at + 1 : stop] += given.dtype.type(end - int(starts[0]))
        begin, end = end, end + int(starts[-1] - starts[0])
        data[begin:end] = some[starts[0] : starts[-1]]
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(texts.type, order.size, buffers)
