"""The overlap of two rankings without ties: from which depth on each shared document is in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.aligned import Aligned
from ..core.pairs import group_keys
from ..core.ragged import Floats, Ints, sum_by


class Overlap(NamedTuple):
    """Two lists for each query, as far as overlap needs them.

    ``first`` and ``second`` are the lists' lengths, ``(n_queries,)``. Each document on both
    lists is in the overlap from a certain depth on, the larger of its two ranks: ``depth``,
    ``(n_shared,)``, for the query ``row``; ``rank`` is its rank on the second list.
    """

    first: Ints
    second: Ints
    row: Ints
    depth: Ints
    rank: Ints

    def sum(self, weights: Floats) -> Floats:
        """Sum a number for each shared document by query, ``(n_queries,)``."""
        return sum_by(self.row, weights, self.first.size)


def overlap_of(aligned: Aligned, rel: int = 1) -> Overlap:
    """Lay each query's ranking beside its ideal order.

    The ideal order holds the documents with a grade of at least `rel`, by falling grade. Those
    of one grade stand in the ranking's own order, the retrieved before the others.
    """
    return aligned.memo(("overlap", rel), lambda: _overlap(aligned, rel))


def _overlap(aligned: Aligned, rel: int) -> Overlap:
    items, ideal = aligned.relevant(rel), aligned.ideal
    row, rank = aligned.row[items], aligned.rank[items]
    wanted = np.flatnonzero(ideal.values >= rel)
    # One key for each (query, grade), rising as the ideal order goes on.
    keys = group_keys(
        np.concatenate([ideal.row[wanted], row]),
        -np.concatenate([ideal.values[wanted], aligned.grade[items]]),
    )
    of_ideal, of_items = keys[: wanted.size], keys[wanted.size :]
    size = int(keys.max(initial=-1)) + 1
    sizes = np.bincount(of_ideal, minlength=size)
    before = np.cumsum(sizes) - sizes
    lengths = aligned.n_relevant(rel)
    ideal_rank = before[of_items] - (np.cumsum(lengths) - lengths)[row] + 1
    if sizes.max(initial=0) > 1:
        order = np.argsort(of_items, kind="stable")
        retrieved = np.bincount(of_items, minlength=size)
        earlier = (np.cumsum(retrieved) - retrieved)[of_items[order]]
        ideal_rank[order] += np.arange(order.size) - earlier
    depth = np.maximum(rank, ideal_rank)
    return Overlap(aligned.n_retrieved, lengths, row, depth, ideal_rank)
