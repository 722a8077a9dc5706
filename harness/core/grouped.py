"""Columns put in the order of their queries, with little more room than they take.

A column is given up as soon as it stands in its new place, and the order takes four bytes a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from .arrow import bytes_at, encode_narrow, equal, take
from .hashing import at_a_time, hash_strings, sorted_hashes, string_views
from .heads import heads
from .odd import Odd
from .ragged import Array, Ints, lengths_of, offsets_of

_PIECE = 1 << 14
"""Rows that are put in order together."""
_FIRST = 1 << 16
"""Rows that tell whether most are of queries of their own."""
_MANY = 1 << 18
"""Rows from which on memory is given back."""
_OFTEN = 8
"""Pieces after which memory is given back."""
_LONG = 1 << 18
"""Bytes of a text that is put in its place by itself."""
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
    scattered: Odd = Odd()


def narrow(n: int) -> type[np.signedinteger]:
    """Return the type of numbers below `n`: four bytes where they do.

    >>> narrow(2**31), narrow(2**31 + 1)
    (<class 'numpy.int32'>, <class 'numpy.int64'>)
    """
    return np.int32 if n <= 2**31 else np.int64


def grouped(columns: Columns) -> Grouped:
    """Take the qids out of some columns, and return how their rows are gathered.

    Where queries may come back, the numbers are narrow from then on, if narrow ones are the same.

    >>> from harness.core.arrow import string_column
    >>> columns = Columns(string_column(["a", "b", "b", "a"]), None, np.arange(4))
    >>> qids, offsets, order, scattered = grouped(columns)
    >>> qids.to_pylist(), offsets.tolist(), order.tolist(), scattered.row
    (['a', 'b'], [0, 2, 4], [0, 3, 1, 2], 3)
    """
    columns.let_go()
    n_rows = len(columns.qids)
    values, stops, differ = heads(columns.qids, columns.let_go)
    columns.qids = None
    columns.let_go()
    if differ:
        offsets = np.arange(len(values) + 1) if stops is None else np.append(0, stops)
        return Grouped(values, offsets, None)
    columns.numbers = slim(columns.numbers)
    columns.let_go()
    distinct, query = _encoded(values, columns.let_go)
    del values
    columns.let_go()
    returned, back = _returned(query, len(distinct))
    offsets = offsets_of(_counts(query, stops, len(distinct)))
    columns.let_go()
    if not returned:  # two qids of one hash, or neighbours of one qid
        return Grouped(distinct, offsets, None)
    row = back if stops is None else int(stops[back - 1])
    (qid,) = bytes_at(distinct, query[[back]])
    scattered = Odd(returned, returned, row, (qid.decode("utf-8", "replace"),))
    order = _order(query, stops, offsets, n_rows)
    del query, stops
    columns.let_go()
    return Grouped(distinct, offsets, order, scattered)


def slim(numbers: Array) -> Array:
    """Return many float64 numbers in four bytes each where all are the same there.

    >>> slim(np.array([0.5, -3.0] * _MANY)).dtype, slim(np.array([0.5, 0.1] * _MANY)).dtype
    (dtype('float32'), dtype('float64'))
    """
    if numbers.dtype != np.float64 or numbers.size <= _MANY:
        return numbers
    found = np.empty(numbers.size, np.float32)
    with np.errstate(over="ignore"):
        for at in range(0, numbers.size, _PIECE):
            some = numbers[at : at + _PIECE]
            found[at : at + _PIECE] = some
            if (found[at : at + _PIECE] != some).any():
                return numbers
    return found


def _encoded(texts: pa.Array, let_go: Callable[[], None]) -> tuple[pa.Array, Array]:
    """Return what :func:`encode_narrow` does, of many distinct texts by their sorted hashes.

    Arrow's table of them takes up to a hundred bytes for each.
    """
    n = len(texts)
    if n <= _MANY or 2 * sorted_hashes(texts[:_FIRST]).size < _FIRST:
        return encode_narrow(texts)
    known, kind = sorted_hashes(texts), narrow(n)
    let_go()
    first, which = np.full(known.size, n - 1, kind), np.empty(n, kind)
    for at in reversed(range(0, n, _PIECE)):
        some = texts[at : at + _PIECE]
        which[at : at + _PIECE] = np.searchsorted(known, hash_strings(some))
        first[which[at : at + _PIECE][::-1]] = np.arange(at, at + len(some))[::-1]
    del known
    let_go()
    rows = np.sort(first)
    distinct = take(texts, rows)
    for at in range(0, first.size, _PIECE):
        some = first[at : at + _PIECE]
        some[:] = np.searchsorted(rows, some)
    del rows
    let_go()
    step = at_a_time(texts, _PIECE)
    for at in range(0, n, step):
        some = which[at : at + step]
        some[:] = first[some]
        if not equal(texts[at : at + step], take(distinct, some)).all():  # two of one hash
            return encode_narrow(texts)
        if at // step % _OFTEN == 0:
            let_go()
    return distinct, which


def _counts(query: Array, stops: Array | None, n: int) -> Ints:
    """Return how many rows each query has, in all of its stretches."""
    total = np.zeros(n, np.int64)
    for first, stop in _pieces(query.size, None):
        lengths = 1 if stops is None else lengths_of(_bounds(stops, first, stop))
        np.add.at(total, query[first:stop], lengths)
    return total


def _returned(query: Array, n: int) -> tuple[int, int]:
    """Return how many queries come back after another, and the first place where one does.

    They are numbered as they first come, so that those up to the largest so far are not new.
    """
    returned, place, last = np.zeros(n, bool), -1, 0
    for at in range(1, query.size, _PIECE):
        some = query[at - 1 : at + _PIECE]
        begins = np.flatnonzero(some[1:] != some[:-1])
        which = some[1:][begins]
        largest = np.maximum.accumulate(np.append(last, which))
        again = which <= largest[:-1]
        returned[which[again]] = True
        if place < 0 and again.any():
            place = at + int(begins[again.argmax()])
        last = largest[-1]
    return int(returned.sum()), place


def _order(query: Array, stops: Array | None, offsets: Ints, n_rows: int) -> Array:
    """Return the order that puts the rows of each query together: a counting sort, in pieces.

    The stretches of a piece are sorted by query; each goes behind the rows of its query that are
    in their places. So it takes the order, and 4 bytes a query.
    """
    kind = narrow(n_rows)
    order, following = np.empty(n_rows, kind), offsets[:-1].astype(kind)
    for first, stop in _pieces(query.size, stops):
        some, by = _sorted(query[first:stop])
        begins = np.flatnonzero(np.append(True, some[1:] != some[:-1]))
        bounds = np.arange(first, stop + 1) if stops is None else _bounds(stops, first, stop)
        lengths, rows = lengths_of(bounds)[by], bounds[by]
        within = np.cumsum(lengths) - lengths
        which, more = some[begins], np.add.reduceat(lengths, begins)
        times = np.diff(begins, append=by.size)
        place = within + np.repeat(following[which] - within[begins], times)
        following[which] += more.astype(kind)
        if stops is not None:
            inside = np.arange(bounds[-1] - bounds[0]) - np.repeat(within, lengths)
            place, rows = (np.repeat(of, lengths) + inside for of in (place, rows))
        order[place] = rows
    return order


def _sorted(some: Array) -> tuple[Array, Array]:
    """Return numbers in order, and the place of each: both in one number, which sorts soonest."""
    keys = some.astype(np.uint64)
    keys <<= _HALF
    keys |= np.arange(some.size, dtype=np.uint64)
    keys.sort()
    return (keys >> _HALF).view(np.int64), (keys & _LOWER).view(np.int64)


def _bounds(stops: Array, first: int, stop: int) -> Ints:
    """Return where the stretches of a piece begin, and where the last one ends."""
    begin = stops[first - 1 : first] if first else np.zeros(1, np.int64)
    return np.append(begin, stops[first:stop]).astype(np.int64)


def _pieces(n: int, stops: Array | None) -> Iterator[tuple[int, int]]:
    """Yield the first of some stretches and the one after their last: of about as many rows."""
    if stops is None:
        cuts = [*range(0, n, _PIECE), n]
    else:
        ends = np.searchsorted(stops, np.arange(_PIECE, int(stops[-1]), _PIECE)) + 1
        cuts = sorted({0, *ends.tolist(), n})
    return pairwise(cuts)


def in_order(texts: pa.Array, order: Array, let_go: Callable[[], None] = lambda: None) -> pa.Array:
    """Return the texts in another order, all of them; Arrow takes up to twice their room.

    `let_go` gives back what is not needed any more.

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
    stop = 1
    for at in range(0, order.size, step):
        for rows in _apart(order[at : at + step], given):
            one = texts.slice(int(rows[0]), 1)  # no copy
            starts, some = string_views(one if rows.size == 1 else take(texts, rows))
            first, stop = stop, stop + rows.size
            offsets[first:stop] = starts[1:]
            offsets[first:stop] += given.dtype.type(end - int(starts[0]))
            begin, end = end, end + int(starts[-1] - starts[0])
            data[begin:end] = some[starts[0] : starts[-1]]
            del starts, some
        if at // step % _OFTEN == 0:
            let_go()
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(texts.type, order.size, buffers)


def _apart(rows: Array, offsets: Array) -> Iterator[Array]:
    """Yield rows in their turn, each of a long text by itself: Arrow would copy it twice."""
    long = np.flatnonzero(offsets[rows + 1] - offsets[rows] > _LONG)
    cuts = {0, *long.tolist(), *(long + 1).tolist(), rows.size}
    for first, stop in pairwise(sorted(cuts)):
        yield rows[first:stop]
