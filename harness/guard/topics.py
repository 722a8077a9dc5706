"""Whether the documents of a run are judged for other queries than they answer, one for one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.policy import Policy
from ..core.ragged import Array, Ints
from .first import EXAMPLES, First, texts_at
from .judged import TOP
from .part import LOOKED_AT, Part

MARGIN = 3
"""Documents at rank 10 or before by which a query must be ahead of every other one: documents
drawn from a pool have the most judgements for some query too, seldom by so many."""
FEW = 5
"""Queries that may be answered by another one's documents, as topics resemble each other."""
SHARE = 0.25
"""Share of the queries from which on they are too many for that."""
TIMES = 3
"""How many times as many they are as those that their own documents answer."""
APART = 2 / 3
"""Share of them whose documents are judged for a query of their own each: topics of other numbers
are so; one large pool that many documents fall into is not."""
LARGEST = 1 << 22
"""Documents times queries that are counted; of more, none is."""


class Topics(NamedTuple):
    """For which queries the documents of the first queries at the first ranks are judged.

    Parameters
    ----------
    looked_at : int
        Queries of the run.
    elsewhere, own : int
        Those most of whose judged documents are one other query's, or their own.
    others : int
        Different other queries that these are.
    """

    looked_at: int
    elsewhere: int
    own: int
    others: int

    @property
    def are_others(self) -> bool:
        """Whether the topics of the run are numbered otherwise than those of the judgements.

        >>> Topics(30, 27, 0, 26).are_others, Topics(30, 5, 0, 1).are_others
        (True, False)
        """
        enough = self.elsewhere >= max(FEW, SHARE * self.looked_at, TIMES * self.own)
        return enough and self.others >= APART * self.elsewhere


def topics(begin: Part, policy: Policy) -> tuple[Topics | None, First]:
    """Return for which queries the first documents of the first part are judged, and the first.

    None where too few are judged for others.
    """
    rows = begin.top(LOOKED_AT, TOP, policy)
    query = np.searchsorted(begin.run.offsets, rows, side="right") - 1
    asked = begin.codes[query] >= 0
    rows, query = rows[asked], query[asked]
    known = begin.qrels.knows(begin.run.docnos.hashes[rows])
    looked_at = np.unique(query)
    rows, query = rows[known], query[known]
    few = FEW * MARGIN
    if rows.size < few or rows.size - int(begin.own(rows).sum()) < few:
        return None, First()
    counts, which = _counts(begin, rows, query)
    if not which.size:
        return None, First()
    is_own = which == begin.codes[: counts.shape[0], None]
    own = np.where(is_own, counts, 0).max(axis=1)
    counts = np.where(is_own, 0, counts)
    best = counts.argmax(axis=1)
    two = np.sort(np.partition(np.pad(counts, ((0, 0), (1, 0))), -2, axis=1)[:, -2:], axis=1)
    moved = np.flatnonzero(two[:, 1] - np.maximum(two[:, 0], own) >= MARGIN)
    found = Topics(
        looked_at.size, moved.size, int((own - two[:, 1] >= MARGIN).sum()),
        np.unique(best[moved]).size,
    )  # fmt: skip
    some = moved[:EXAMPLES]
    others = texts_at(begin.qrels.qids, which[best[some]])
    first = begin.queries(some)
    names = (
        f"{qid} ({most} for query {other}, {its} for its own)"
        for qid, other, most, its in zip(
            first.names, others, two[some, 1].tolist(), own[some].tolist(), strict=True
        )
    )
    return found, first._replace(names=tuple(names))


def _counts(begin: Part, rows: Ints, query: Ints) -> tuple[Array, Ints]:
    """Return how many documents of each query are judged for each of some, and which these are."""
    hashes = begin.qrels.docnos.hashes
    documents, document = np.unique(begin.run.docnos.hashes[rows], return_inverse=True)
    judged = np.flatnonzero(np.isin(hashes, documents))
    which, topic = np.unique(begin.qrels.row[judged], return_inverse=True)
    if max(documents.size, LOOKED_AT) * which.size > LARGEST:
        return np.zeros((0, 0)), which[:0]
    # products of whole numbers, as BLAS would take memory for itself
    retrieved = np.zeros((int(query.max()) + 1, documents.size), np.int32)
    retrieved[query, document] = 1
    known = np.zeros((documents.size, which.size), np.int32)
    known[np.searchsorted(documents, hashes[judged]), topic] = 1
    counts: Array = retrieved @ known
    return counts, which
