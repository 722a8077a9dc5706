"""Queries that several folds of a sweep hold, told by the features of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..core.ragged import Array
from ..core.tables import Qrels
from ..guard.finding import Finding
from ..readers import Source
from . import rowhash, rules


@dataclass(frozen=True, eq=False)
class Fold:
    """One dataset of a learning-to-rank sweep.

    Parameters
    ----------
    path, name : str
    qids : pyarrow string array, shape (n,)
        Of the queries that have two different rows or more: others are alike by chance.
    queries : ndarray of uint64, shape (n,)
        A hash of each one's rows.
    """

    path: str
    name: str
    qids: pa.Array
    queries: Array


def fold(source: Source, name: str, qrels: Qrels) -> Fold | None:
    """Return what is kept of a learning-to-rank file; None where its rows are not the dataset's."""
    rows = rowhash.of_rows(source)
    if rows.size != (qrels.n_rows if qrels.n_source is None else qrels.n_source):
        return None
    if qrels.order is not None:
        rows = rows[qrels.order]
    starts = qrels.offsets[:-1][np.diff(qrels.offsets) > 0]
    differ = np.minimum.reduceat(rows, starts) < np.maximum.reduceat(rows, starts)
    if differ.size != qrels.n_queries:
        return None
    queries = rowhash.of_queries(rows, qrels.offsets)
    return Fold(source.name, name, qrels.qids.filter(pa.array(differ)), queries[differ])


def findings(folds: Sequence[Fold]) -> Iterator[Finding]:
    """Yield, for each fold, the queries that an earlier one holds too."""
    for place, later in enumerate(folds):
        for earlier in folds[:place]:
            if earlier.path == later.path:
                continue
            same = np.isin(later.queries, earlier.queries)
            n = int(same.sum())
            if n:
                qids = later.qids.filter(pa.array(same))
                known = pa.compute.is_in(qids, value_set=earlier.qids)
                others = n - int(pa.compute.sum(known).as_py() or 0)
                names = f", {others:,} of them under another qid" if others else ""
                what = (
                    f"{n:,} of {len(later.qids):,} queries of {later.name} hold the same rows as "
                    f"queries of {earlier.name}{names}"
                )
                yield rules.found("same-rows", later.path, what, n, qids[:3].to_pylist())
