"""Documents that a query names twice, at which trec_eval stops."""

from __future__ import annotations

import numpy as np

from ..core.arrow import as_bytes
from ..core.policy import Policy
from ..core.ragged import Bools
from ..core.ranking import rank_order
from ..core.table import Table
from ..core.tables import Run

Twice = dict[bytes, str]
"""The first docno by bytes that stands twice, by qid."""


def twice_in(table: Table) -> Twice:
    """Return the queries that name a docno twice."""
    return _first_docnos(table, np.ones(table.n_rows, dtype=bool))


def twice_ranked(run: Run, policy: Policy, depth: int | None) -> Twice:
    """Return the queries that rank a docno twice among the first `depth` documents.

    What stands below is cut off before trec_eval looks.
    """
    inside = np.ones(run.n_rows, dtype=bool)
    if depth is not None:
        rank = np.arange(run.n_rows) - run.offsets[:-1][run.row] + 1
        inside[rank_order(run, policy)] = rank <= depth
    return _first_docnos(run, inside)


def _first_docnos(table: Table, inside: Bools) -> Twice:
    later, earlier = table.duplicate_rows()
    rows = np.union1d(later, earlier)
    rows = rows[inside[rows]]
    seen: set[tuple[int, bytes]] = set()
    found: dict[int, bytes] = {}
    docnos = as_bytes(table.docnos.take(rows)) if rows.size else []
    for query, docno in zip(table.row[rows].tolist(), docnos, strict=True):
        if (query, docno) in seen:
            found[query] = min(docno, found.get(query, docno))
        seen.add((query, docno))
    qids = as_bytes(table.qids)
    return {qids[query]: docno.decode("utf-8", "replace") for query, docno in found.items()}
