"""Expectations over the orders of tied documents: relevant documents among the first k."""

from __future__ import annotations

import numpy as np

from ..core.aligned import Aligned
from ..core.ragged import Floats, Ints
from .trec_shared import share


def expected_hits_at(aligned: Aligned, cutoff: int | Ints, rel: int) -> Floats:
    """Return the expected number of relevant documents among the first `cutoff`.

    ``(n_queries,)``. Of a group of n tied documents that begins at rank f and reaches beyond
    the cutoff k, each is inside with probability (k - f + 1) / n.

    Parameters
    ----------
    aligned : Aligned
    cutoff : int, or ndarray of int64 with shape (n_queries,)
    rel : int
        Smallest grade that counts as relevant.
    """
    items, limit = _inside(aligned, cutoff, rel)
    hits = aligned.count(items[aligned.tie_last[items] <= limit]).astype(np.float64)
    cut = np.flatnonzero(aligned.tie_last[items] > limit)
    if cut.size:
        items, limit = items[cut], limit if isinstance(limit, int) else limit[cut]
        first, last = aligned.tie_first[items], aligned.tie_last[items]
        hits += aligned.sum((limit - first + 1) / (last - first + 1), items)
    return hits


def probability_of_a_hit(aligned: Aligned, cutoff: int, rel: int) -> Floats:
    """Return the probability that a relevant document is among the first `cutoff`.

    ``(n_queries,)``. Where only a group that reaches beyond the cutoff could hold one, with m
    of its n places inside and h relevant documents, it is 1 - C(n - m, h) / C(n, h).
    """
    items, limit = _inside(aligned, cutoff, rel)
    cut = aligned.tie_last[items] > limit
    found = (aligned.count(items[~cut]) > 0).astype(np.float64)
    items = items[cut]
    if items.size:
        row, starts = aligned.row[items], _starts(aligned.row[items])
        # The i-th relevant document stands outside if those before it do: (n - m - i) / (n - i)
        i = np.arange(items.size) - np.repeat(starts, np.diff(starts, append=items.size))
        inside = cutoff - aligned.tie_first[items] + 1
        left = aligned.tie_last[items] - aligned.tie_first[items] + 1 - i
        missed = np.multiply.reduceat(np.maximum(left - inside, 0) / left, starts)
        found[row[starts]] = np.maximum(found[row[starts]], 1.0 - missed)
    return found


def _starts(row: Ints) -> Ints:
    """Return where each query begins; only one group of a query can reach beyond a cutoff."""
    return np.flatnonzero(np.diff(row, prepend=-1))


def _inside(aligned: Aligned, cutoff: int | Ints, rel: int) -> tuple[Ints, int | Ints]:
    """Return the relevant documents that can be among the first `cutoff`, and their cutoffs."""
    items = aligned.relevant(rel)
    if isinstance(cutoff, int):
        return items[aligned.tie_first[items] <= cutoff], cutoff
    limit = cutoff[aligned.row[items]]
    inside = aligned.tie_first[items] <= limit
    return items[inside], limit[inside]


def expected_recall(aligned: Aligned, *, cutoff: int, rel: int = 1) -> Floats:
    """Return the expectation of ``recall``."""
    return share(expected_hits_at(aligned, cutoff, rel), aligned.n_relevant(rel))


def expected_success(aligned: Aligned, *, cutoff: int, rel: int = 1) -> Floats:
    """Return the expectation of ``success``."""
    return probability_of_a_hit(aligned, cutoff, rel)


def expected_relative_precision(aligned: Aligned, *, cutoff: int, rel: int = 1) -> Floats:
    """Return the expectation of ``relative_P``."""
    best = np.minimum(cutoff, aligned.n_relevant(rel))
    return share(expected_hits_at(aligned, cutoff, rel), best)


def expected_r_precision(aligned: Aligned, *, rel: int = 1) -> Floats:
    """Return the expectation of ``Rprec``."""
    n_relevant = aligned.n_relevant(rel)
    return share(expected_hits_at(aligned, n_relevant, rel), n_relevant)


def expected_r_precision_multiple(aligned: Aligned, *, cutoff: float, rel: int = 1) -> Floats:
    """Return the expectation of ``Rprec_mult``."""
    ranks = (cutoff * aligned.n_relevant(rel) + 0.9).astype(np.int64)
    return share(expected_hits_at(aligned, ranks, rel), ranks)
