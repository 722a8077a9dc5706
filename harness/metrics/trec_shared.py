"""What trec_eval's metrics share: parameters, division, running totals.

The kernels give trec_eval 9.0.8's values to the last bit: sums go document by document in rank
order, divisions are taken in its order. One thing is not defined there: a query whose
judgements are all below 0 reads the memory of another query (``ndcg``, ``G``, ``ndcg_rel``) or
stops the program. Here it is a query without relevant documents.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from ..core.aligned import Aligned
from ..core.ragged import Array, Floats, Ints, frozen
from ..core.settings import Range

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
"""trec_eval's cutoffs where none is given."""
LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""The eleven points of recall at which precision used to be reported."""
LARGEST_SHARE = 1e9
"""Times the relevant documents that a cutoff may be: a number of documents all the same."""
Cutoff = Annotated[int, Range(1, None)]
Rel = Annotated[int, Range(1, None)]


def share(part: Array, whole: Array) -> Floats:
    """Return ``part / whole``, and 0 where `whole` is 0.

    >>> share(np.array([1, 0]), np.array([2, 0])).tolist()
    [0.5, 0.0]
    """
    values: Floats = np.divide(part, whole, out=np.zeros(part.shape), where=whole != 0)
    return values


def hits_at(aligned: Aligned, cutoff: int | Ints, rel: int) -> Ints:
    """Return the relevant documents among the first `cutoff`, ``(n_queries,)``.

    `cutoff` is one for all queries, or one for each.
    """
    if isinstance(cutoff, int):
        return aligned.memo(
            ("hits_at", cutoff, rel), lambda: frozen(_hits_at(aligned, cutoff, rel))
        )
    return _hits_at(aligned, cutoff, rel)


def _hits_at(aligned: Aligned, cutoff: int | Ints, rel: int) -> Ints:
    deepest, found = aligned.deepest, aligned.found(rel)
    span = deepest + 1
    # query and rank as one rising number, so that a search finds where a cutoff falls
    keys = aligned.memo(("hit_keys", rel), lambda: found.row * span + aligned.rank_of_relevant(rel))
    limit = np.minimum(cutoff, deepest)
    ends = np.searchsorted(keys, np.arange(aligned.n_queries) * span + limit, side="right")
    return ends - found.offsets[:-1]


def n_hits(aligned: Aligned, rel: int) -> Ints:
    """Return the relevant documents retrieved, ``(n_queries,)``."""
    return aligned.found(rel).lengths


def precision_at_hits(aligned: Aligned, rel: int) -> Floats:
    """Return the precision at the rank of each relevant document retrieved, ``(n_hits,)``."""
    return aligned.memo(
        ("precision_at_hits", rel),
        lambda: aligned.hits(rel) / aligned.rank_of_relevant(rel),
    )


def running(operation: np.ufunc, row: Ints, values: Floats) -> Floats:
    """Return the running sum, maximum... of each row's items, one after another as in C.

    Rows are padded to the next power of two and done together with those of their size, which
    at most doubles the memory. A difference of running totals over all rows would be rounded
    otherwise than a loop over one row.

    Parameters
    ----------
    operation : numpy.ufunc
        ``np.add``, ``np.maximum``...
    row : ndarray of int64, shape (n,)
        Row of each item; the items of a row stand together.
    values : ndarray of float64, shape (n,)

    >>> running(np.add, np.array([0, 0, 3]), np.array([0.5, 1.0, 2.0])).tolist()
    [0.5, 1.5, 2.0]
    """
    bounds = np.flatnonzero(np.concatenate([[True], row[1:] != row[:-1], [True]]))
    starts, lengths = bounds[:-1], np.diff(bounds)
    result = np.empty_like(values)
    sizes = np.frexp(lengths - 1)[1]
    for size in np.unique(sizes).tolist() if row.size else ():
        members = sizes == size
        column = np.arange(1 << size)
        place = starts[members, None] + column
        inside = column < lengths[members, None]
        padded = values[np.minimum(place, row.size - 1)]
        result[place[inside]] = operation.accumulate(padded, axis=1)[inside]
    return result
