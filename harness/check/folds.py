"""Queries that several folds of a sweep hold, told by the features of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from ..core.arrow import index_in, select
from ..core.ragged import Array, Bools, Ints
from ..core.tables import Qrels
from ..guard.finding import Finding
from ..guard.registry import finding
from ..readers import Source
from . import rowhash

HEAD = 128
"""Bytes of each row's features by which queries are told apart at first: the whole rows of a
large file take several times as long, and are only looked at where these are the same."""


@dataclass(frozen=True, eq=False)
class Fold:
    """One dataset of a learning-to-rank sweep.

    Parameters
    ----------
    path, name : str
    qids, offsets, order
        As the dataset has them.
    queries : ndarray of uint64, shape (n_queries,)
        A hash of the beginnings of each one's rows; 0 where they are alike.
    """

    path: str
    name: str
    qids: pa.Array
    offsets: Ints
    order: Ints | None
    queries: Array


def fold(path: str, name: str, qrels: Qrels) -> Fold | None:
    """Return what is kept of a learning-to-rank file; None where its rows are not the dataset's."""
    rows = rowhash.of_rows(Source(path), HEAD)
    if rows.size != (qrels.n_rows if qrels.n_source is None else qrels.n_source):
        return None
    empty = np.zeros(0, np.uint64)
    one = Fold(path, name, qrels.qids, qrels.offsets, qrels.order, empty)
    return replace(one, queries=_queries(one, rows))


def _queries(one: Fold, rows: Array) -> Array:
    """Return a hash of each query's rows; 0 where they are all alike, as chance makes some."""
    if one.order is not None:
        rows = rows[one.order]
    starts, filled = one.offsets[:-1], np.diff(one.offsets) > 0
    queries = rowhash.of_queries(rows, one.offsets)
    alike = np.ones(queries.size, dtype=bool)
    low, high = (bound.reduceat(rows, starts[filled]) for bound in (np.minimum, np.maximum))
    alike[filled] = low == high
    queries[alike] = 0
    return queries


def findings(folds: Sequence[Fold]) -> Iterator[Finding]:
    """Yield, for each fold, the queries that an earlier one holds too."""
    whole: dict[str, Array] = {}

    def queries(one: Fold) -> Array:
        if one.path not in whole:
            whole[one.path] = _queries(one, rowhash.of_rows(Source(one.path)))
        return whole[one.path]

    for place, later in enumerate(folds):
        for earlier in folds[:place]:
            if earlier.path == later.path or not _same(later.queries, earlier.queries).any():
                continue
            same = _same(queries(later), queries(earlier))
            n = int(same.sum())
            if n:
                qids = select(later.qids, same)
                others = int((index_in(qids, earlier.qids) < 0).sum())
                names = f", {others:,} of them under another qid" if others else ""
                what = (
                    f"{n:,} of {len(later.qids):,} queries of {later.name} hold the same rows as "
                    f"queries of {earlier.name}{names}"
                )
                yield finding("same-rows", later.path, what, n, qids[:3].to_pylist())


def _same(one: Array, other: Array) -> Bools:
    """Return which hashes of one are among the other's, 0 never."""
    found: Bools = np.isin(one, other) & (one != 0)
    return found
