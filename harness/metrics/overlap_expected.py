"""The expected overlap over the orders of a ranking's tied documents."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.aligned import Aligned
from ..core.pairs import group_keys, numbered
from ..core.ragged import Floats, Ints, sum_by
from .overlap import overlap_of


def expected_sum(aligned: Aligned, rel: int, gain: Callable[[Ints, Ints], Floats]) -> Floats:
    """Return the expectation of the sum of `gain` over shared documents, ``(n_queries,)``.

    Documents of one grade stand in the ideal order as they stand in the ranking. So of k such
    documents in one group of m tied scores, the i-th one always has the same rank there, and in
    the ranking that of the i-th of k places drawn out of m: place j with probability
    C(j-1, i-1) C(m-j, k-i) / C(m, k). O(n) for each place of the largest group.

    Parameters
    ----------
    aligned : Aligned
    rel : int
        Smallest grade in the ideal order.
    gain : callable
        Takes queries and depths, ``(n,)`` each, and gives what documents that are shared from
        these depths on add.
    """
    pair, items = overlap_of(aligned, rel), aligned.relevant(rel)
    first, last = aligned.tie_first[items], aligned.tie_last[items]
    gains = np.zeros(items.size)
    alone = first == last
    gains[alone] = gain(pair.row[alone], pair.depth[alone])
    tied = np.flatnonzero(~alone)
    row, first, ideal = pair.row[tied], first[tied], pair.rank[tied]
    size = last[tied] - first + 1
    number, n_alike = numbered(group_keys(group_keys(row, first), aligned.grade[items[tied]]))
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, size.max(initial=0) + 1.0)))])

    def choose(n: Ints, k: Ints) -> Floats:
        """Return ln C(n, k)."""
        ways: Floats = logs[n] - logs[k] - logs[n - k]
        return ways

    last_step = size - n_alike
    some, step = np.arange(tied.size), 0
    while (some := some[last_step[some] >= step]).size:
        i, k, m = number[some], n_alike[some], size[some]
        ways = choose(i - 1 + step, i - 1) + choose(m - i - step, k - i) - choose(m, k)
        rank = first[some] + i - 1 + step
        gains[tied[some]] += np.exp(ways) * gain(row[some], np.maximum(rank, ideal[some]))
        step += 1
    return sum_by(pair.row, gains, aligned.n_queries)
