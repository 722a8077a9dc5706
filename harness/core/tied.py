"""Groups of tied scores in an alignment, and the queries that have some."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .aligned import Aligned
from .arrow import select
from .ragged import Bools, Ints, Ragged, lengths_of, offsets_of


@dataclass(frozen=True, eq=False)
class TiedGroups:
    """Groups of tied scores that hold a judged document, by rank in each query.

    Per document of `Aligned` that is in one, ``(n_items,)``: ``items`` (its index, ascending),
    ``at`` (its position among the documents that were asked for) and ``group`` (the number of
    its group). Per group, ``(n_groups,)``: ``row`` (its query),
    ``first`` and ``last`` (its ranks), ``size`` (its documents, unjudged ones included; at
    least 2) and ``found`` (those of them that are among ``items``).
    """

    items: Ints
    at: Ints
    group: Ints
    row: Ints
    first: Ints
    last: Ints
    size: Ints
    found: Ints


def tied_groups(aligned: Aligned, rel: int | None = None) -> TiedGroups:
    """Return the groups of tied scores whose order a metric could see.

    Parameters
    ----------
    aligned : Aligned
    rel : int, optional
        Only documents of at least this grade are named, and only groups that hold one; all
        tied documents where left out.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 2, "b": 0, "c": 1}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "x": 2.0, "c": 1.0}})
    >>> groups = tied_groups(align(qrels, run))
    >>> groups.items.tolist(), groups.first.tolist(), groups.size.tolist()
    ([1], [2], [2])
    """

    def make() -> TiedGroups:
        if rel is None:
            return groups_of(aligned, np.flatnonzero(aligned.tie_last > aligned.tie_first))
        return groups_of(aligned, aligned.relevant(rel))

    return aligned.memo(("tied_groups", rel), make)


def groups_of(aligned: Aligned, items: Ints) -> TiedGroups:
    """Return the groups of tied scores that hold some of these documents, and those alone.

    Parameters
    ----------
    aligned : Aligned
    items : ndarray of int64, shape (n,)
        Indices of documents, ascending.
    """
    at = np.flatnonzero(aligned.tie_last[items] > aligned.tie_first[items])
    items = items[at]
    row, first = aligned.row[items], aligned.tie_first[items]
    begins = np.ones(items.size, dtype=bool)
    begins[1:] = (first[1:] != first[:-1]) | (row[1:] != row[:-1])
    heads = np.flatnonzero(begins)
    found = lengths_of(np.append(heads, items.size))
    first, last = first[heads], aligned.tie_last[items[heads]]
    return TiedGroups(
        items, at, np.cumsum(begins) - 1, row[heads], first, last, last - first + 1, found
    )


def has_ties(aligned: Aligned) -> Bools:
    """Return which queries have a tied score that a judged document shares, ``(n_queries,)``."""
    found = np.zeros(aligned.n_queries, dtype=bool)
    found[tied_groups(aligned).row] = True
    return found


def only(aligned: Aligned, keep: Bools) -> Aligned:
    """Return the alignment of these queries alone.

    Parameters
    ----------
    aligned : Aligned
    keep : ndarray of bool, shape (n_queries,)
    """
    ideal, reference_ties = aligned.ideal, aligned.reference_ties
    items = keep[aligned.row]
    if reference_ties is not None:
        reference_ties = reference_ties[keep[ideal.row]]
    return Aligned(
        select(aligned.qids, keep), aligned.answered[keep], aligned.n_retrieved[keep],
        aligned.n_tied[keep], _rows(ideal, keep), offsets_of(lengths_of(aligned.offsets)[keep]),
        aligned.rank[items], aligned.grade[items], aligned.score[items],
        aligned.tie_first[items], aligned.tie_last[items],
        aligned.policy, aligned.n_extra,
        groups=None if aligned.groups is None else _rows(aligned.groups, keep),
        reference_ties=reference_ties,
    )  # fmt: skip


def _rows(ragged: Ragged, keep: Bools) -> Ragged:
    return Ragged(offsets_of(ragged.lengths[keep]), ragged.values[keep[ragged.row]])
