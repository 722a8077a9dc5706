"""Queries that several folds of a sweep hold, told by the features of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..core.arrow import index_in, select
from ..core.ragged import Array, Bools, Ints
from ..core.tables import Qrels
from ..guard.finding import Finding, Severity
from ..guard.registry import finding
from ..readers import Source
from . import rowhash

HEAD = 128
"""Bytes of each row's features by which queries are told apart at first: the whole rows of a
large file take several times as long, and are only looked at where these are the same."""
MANY = 0.01
"""Share of the rows from which on those in common are a warning: fewer may be chance, where there
are few features."""


@dataclass(frozen=True, eq=False)
class Fold:
    """One dataset of a learning-to-rank sweep.

    Parameters
    ----------
    path, name : str
    qids, offsets, order
        As the dataset has them.
    rows : ndarray of uint64, shape (n_rows,)
        Hashes of the rows' beginnings, query by query.
    """

    path: str
    name: str
    qids: pa.Array
    offsets: Ints
    order: Ints | None
    rows: Array


def fold(path: str, name: str, qrels: Qrels) -> Fold | None:
    """Return what is kept of a learning-to-rank file; None where its rows are not the dataset's."""
    rows = rowhash.of_rows(Source(path), HEAD)
    if rows.size != (qrels.n_rows if qrels.n_source is None else qrels.n_source):
        return None
    rows = rows if qrels.order is None else rows[qrels.order]
    return Fold(path, name, qrels.qids, qrels.offsets, qrels.order, rows)


def findings(folds: Sequence[Fold]) -> Iterator[Finding]:
    """Yield, for each fold, the queries and the rows that an earlier one holds too."""
    whole: dict[str, Array] = {}

    def rows_of(one: Fold) -> Array:
        if one.path not in whole:
            rows = rowhash.of_rows(Source(one.path))
            whole[one.path] = rows if one.order is None else rows[one.order]
        return whole[one.path]

    for place, later in enumerate(folds):
        for earlier in folds[:place]:
            if earlier.path != later.path and np.isin(later.rows, earlier.rows).any():
                yield from _of_pair(later, rows_of(later), earlier, rows_of(earlier))


def _of_pair(later: Fold, rows: Array, earlier: Fold, others: Array) -> Iterator[Finding]:
    same = _same(_queries(later, rows), _queries(earlier, others))
    n = int(same.sum())
    if n:
        qids = select(later.qids, same)
        renamed = int((index_in(qids, earlier.qids) < 0).sum())
        names = f", {renamed:,} of them under another qid" if renamed else ""
        what = (
            f"{n:,} of {len(later.qids):,} queries of {later.name} hold the same rows as queries "
            f"of {earlier.name}{names}"
        )
        yield finding("same-queries", later.path, what, n, qids[:3].to_pylist())
    common = np.intersect1d(_of_one_query(later, rows), _of_one_query(earlier, others))
    beyond = np.isin(rows, common) & ~np.repeat(same, np.diff(later.offsets))
    n = int(beyond.sum())
    if n:
        what = f"{n:,} of {rows.size:,} rows of {later.name} stand in {earlier.name} too"
        severity: Severity | None = None if n >= MANY * rows.size else "note"
        yield finding("same-rows", later.path, what, n, (), severity)


def _queries(one: Fold, rows: Array) -> Array:
    """Return a hash of each query's rows; 0 where they are all alike, as chance makes some."""
    starts, filled = one.offsets[:-1], np.diff(one.offsets) > 0
    queries = rowhash.of_queries(rows, one.offsets)
    alike = np.ones(queries.size, dtype=bool)
    low, high = (bound.reduceat(rows, starts[filled]) for bound in (np.minimum, np.maximum))
    alike[filled] = low == high
    queries[alike] = 0
    return queries


def _of_one_query(one: Fold, rows: Array) -> Array:
    """Return the hashes that stand in one query alone: what several hold, chance makes."""
    query = np.repeat(np.arange(one.offsets.size - 1), np.diff(one.offsets))
    order = np.lexsort((query, rows))
    rows, query = rows[order], query[order]
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
    alone = np.minimum.reduceat(query, starts) == np.maximum.reduceat(query, starts)
    found: Array = rows[starts][alone]
    return found


def _same(one: Array, other: Array) -> Bools:
    """Return which hashes of one are among the other's, 0 never."""
    found: Bools = np.isin(one, other) & (one != 0)
    return found
