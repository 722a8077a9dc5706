"""Pools as tables and as records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.pool import LeftOut, Pool
from .grid import Grid, first_rows, grid
from .phrases import counted

_QUERIES = 50
"""Queries that the table shows."""


def pool_grids(pool: Pool) -> list[Grid]:
    """Return what each run contributed, and how many documents each query has."""
    found, sizes = pool.contributions(), pool.per_query
    header = ["run", "team", "pooled", "unique", "unique to team"]
    rows = [
        [one.run, one.team, *(f"{number:,}" for number in one[2:])]
        for one in sorted(found, key=lambda one: -one.unique)
    ]
    n_left = 2
    if len({*pool.teams}) == len(found):
        header, n_left = ["run", "pooled", "unique"], 1
        rows = [[row[0], *row[2:4]] for row in rows]
    note = f"{counted(int(sizes.sum()), 'document')} to judge of "
    note += f"{counted(sizes.size, 'query', 'queries')} from {counted(len(found), 'run')}, "
    note += f"depth {pool.depth}: {sizes.min():,} to {sizes.max():,} a query, "
    note += f"median {np.median(sizes):,g}; --format csv lists them"
    alone = np.bincount(pool.query[pool.by.sum(1) == 1], minlength=sizes.size)
    queries = [[q, f"{n:,}", f"{a:,}"] for q, n, a in zip(pool.qids, sizes, alone, strict=True)]
    per_query = grid(["query", "documents", "by one run"], queries)
    return [
        grid(header, rows, left=n_left, notes=[note]),
        first_rows(per_query, _QUERIES, "--format csv"),
    ]  # fmt: skip


def pool_records(pool: Pool) -> Iterator[dict[str, Any]]:
    """Yield each document to judge, with the runs that contributed it."""
    docnos = pool.docnos.to_pylist()
    for query, docno, by in zip(pool.query.tolist(), docnos, pool.by, strict=True):
        runs = [pool.runs[at] for at in np.flatnonzero(by)]
        yield {"qid": pool.qids[query], "docno": docno, "n_runs": len(runs), "runs": " ".join(runs)}


def left_out_grid(found: Sequence[LeftOut], unit: str) -> Grid:
    """Return a row for each run or team left out, the largest change first."""
    ordered = sorted(found, key=lambda one: (-abs(one.rank_without - one.rank), one.tau_b))
    rows = [
        [one.left_out, one.metric, f"{one.removed:,}", f"{one.relevant:,}", f"{one.tau_b:.4f}",
         _change(one)]
        for one in ordered
    ]  # fmt: skip
    header = [f"{unit} left out", "metric", "judgements", "relevant", "tau_b", "largest change"]
    note = f"judgements: those that only this {unit} contributed; largest change: rank of a run"
    return grid(header, rows, left=2, notes=[note])


def _change(one: LeftOut) -> str:
    return "" if one.rank == one.rank_without else f"{one.run} {one.rank} to {one.rank_without}"
