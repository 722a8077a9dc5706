"""Rows of a file put in the order of their queries, and rows that are not as the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from .arrow import bytes_at, encode_narrow, equal, take, to_numpy
from .hashing import hash_strings
from .ragged import Ints, lengths_of, offsets_of


class Odd(NamedTuple):
    """Rows that are not as the others: how many, of how many queries, and the first of them.

    `row` is its position in the file, from 0, or -1 if it is unknown; `words` are its qid, and
    its docno if that matters.
    """

    rows: int = 0
    queries: int = 0
    row: int = -1
    words: tuple[str, ...] = ()

    def more(self, later: Odd) -> Odd:
        """Return these and later ones."""
        first = later if self.row < 0 else self
        return Odd(self.rows + later.rows, self.queries + later.queries, first.row, first.words)

    def after(self, rows: int) -> Odd:
        """Return them with their place in a file that has so many rows before."""
        return self if self.row < 0 else self._replace(row=self.row + rows)


NOTHING = Odd()
"""All rows are as the others."""


class Grouped(NamedTuple):
    """Distinct qids, the rows of each, the order that gathers them, and which came back.

    `order` is the place of each row in the columns, or None if no row moves; `scattered` counts
    queries, and knows the first row that came back.
    """

    qids: pa.Array
    offsets: Ints
    order: Ints | None
    scattered: Odd = NOTHING


def heads(qids: pa.Array) -> tuple[pa.Array, Ints]:
    """Return the qid of each stretch of rows that have the same one, and where it ends.

    >>> qids, stops = heads(pa.array(["a", "a", "b", "a"]))
    >>> qids.to_pylist(), stops.tolist()
    (['a', 'b', 'a'], [2, 3, 4])
    """
    encoded = pa.types.is_run_end_encoded(qids.type)
    values = qids.values if encoded else qids
    if len(values) == 0:
        return values, np.zeros(0, np.int64)
    ends = to_numpy(qids.run_ends) if encoded else np.arange(1, len(values) + 1)
    begins = np.append(0, 1 + np.flatnonzero(~equal(values[1:], values[:-1])))
    last = np.append(begins[1:], len(values)) - 1
    if begins.size < len(values):
        values = take(values, begins)
    return values, ends[last].astype(np.int64)


def are_distinct(texts: pa.Array) -> bool:
    """Whether no two texts have one hash, so that none is there twice."""
    hashes = np.sort(hash_strings(texts))
    return not (hashes[1:] == hashes[:-1]).any()


def group_rows(qids: pa.Array) -> Grouped:
    """Return how rows are gathered by query.

    Parameters
    ----------
    qids : pyarrow string array, shape (n_rows,)
        May be run-end encoded.

    >>> qids, offsets, order, scattered = group_rows(pa.array(["a", "b", "b", "a"]))
    >>> qids.to_pylist(), offsets.tolist(), order.tolist(), scattered.row
    (['a', 'b'], [0, 2, 4], [0, 3, 1, 2], 3)
    """
    values, stops = heads(qids)
    if are_distinct(values):
        return Grouped(values, np.append(0, stops), None)
    distinct, query = encode_narrow(values)  # numbered as they first come
    lengths = lengths_of(np.append(0, stops))
    offsets = offsets_of(np.bincount(query, lengths, len(distinct)).astype(np.int64))
    largest = np.maximum.accumulate(query)
    back = np.flatnonzero(query[1:] <= largest[:-1]) + 1
    if not back.size:  # two qids of one hash
        return Grouped(distinct, offsets, None)
    (qid,) = bytes_at(distinct, query[back[:1]])
    returned = int(np.unique(query[back]).size)
    first = int(stops[back[0] - 1])
    scattered = Odd(returned, returned, first, (qid.decode("utf-8", "replace"),))
    order = np.argsort(np.repeat(query, lengths), kind="stable")
    return Grouped(distinct, offsets, order, scattered)
