"""How alike the rankings of all runs are: RBO or overlap of every pair, query by query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..core.ragged import Floats, Ints
from ..metrics.rbo import tails_to
from ..metrics.shared import powers

Measure = Literal["rbo", "overlap"]
Rankings = dict[str, Ints]
"""The documents of each query as numbers, the best first."""


@dataclass(frozen=True)
class Similarity:
    """How alike the rankings of a dataset's runs are.

    Attributes
    ----------
    dataset : str
    runs : tuple of str
        Similar runs next to each other (the leaves of :attr:`tree`).
    values : ndarray, shape (n_runs, n_runs)
        Mean over the queries that both runs answer, in [0, 1]; NaN if they share no query.
    n_queries : ndarray of int, shape (n_runs, n_runs)
        Number of queries that both runs answer.
    tree : ndarray, shape (n_runs - 1, 4)
        SciPy's linkage of `runs` by average distance ``1 - value``.
    measure : str
        What was computed, such as ``RBO (p = 0.9)``.
    """

    dataset: str
    runs: tuple[str, ...]
    values: Floats
    n_queries: Ints
    tree: Floats
    measure: str

    def pairs(self, at_least: float = 0.0) -> list[tuple[str, str, float, int]]:
        """Return pairs of runs with their value and number of queries, the most similar first."""
        first, second = np.triu_indices(len(self.runs), 1)
        values = self.values[first, second]
        order = np.argsort(-values, kind="stable")
        return [
            (self.runs[first[k]], self.runs[second[k]], float(values[k]),
             int(self.n_queries[first[k], second[k]]))
            for k in order
            if values[k] >= at_least
        ]  # fmt: skip


def _matrix(rankings: Sequence[Rankings], measure: Measure, p: float) -> tuple[Floats, Ints]:
    """Return the mean similarity of each pair of runs, and over how many queries it is."""
    total = np.zeros((len(rankings), len(rankings)))
    n_queries = np.zeros(total.shape, dtype=np.int64)
    for qid in dict.fromkeys(qid for one in rankings for qid in one):
        here = np.array([k for k, one in enumerate(rankings) if len(one.get(qid, ()))])
        lists = [rankings[k][qid] for k in here]
        at = np.ix_(here, here)
        total[at] += _one_query(lists, measure, p)
        n_queries[at] += 1
    with np.errstate(invalid="ignore"):
        return total / n_queries, n_queries


def _one_query(lists: Sequence[Ints], measure: Measure, p: float) -> Floats:
    """Return the similarity of each pair of rankings of one query."""
    lengths = np.array([one.size for one in lists])
    longest = int(lengths.max())
    documents, place = np.unique(np.concatenate(lists), return_inverse=True)
    parts = np.split(place, np.cumsum(lengths)[:-1])
    rank = np.full((len(lists), documents.size), longest + 1, dtype=np.int32)  # not retrieved
    for row, part in enumerate(parts):
        rank[row, part] = np.arange(1, part.size + 1)
    tails = tails_to(p, 2 * longest + 1)
    depths = np.arange(1, longest + 1)
    scale = (1 - p) / p
    # a document shared from depth m on adds scale * (R(m) - R(end + 1)) + p^end / end
    shared_from = np.concatenate([[0.0], scale * tails[depths], [0.0]])
    to_end = np.concatenate([[0.0], powers(p, depths) / depths - scale * tails[depths + 1]])
    values = np.eye(len(lists))
    for row, part in enumerate(parts[:-1]):
        others = slice(row + 1, None)
        depth = np.maximum(rank[others, part], np.arange(1, part.size + 1, dtype=np.int32))
        n_shared = (depth <= longest).sum(1)
        long = np.maximum(lengths[others], part.size)
        if measure == "overlap":
            value = n_shared / long
        else:
            short = np.minimum(lengths[others], part.size)
            n_short = (depth <= short[:, None]).sum(1)
            ends = n_short * to_end[short] + (n_shared - n_short) * to_end[long]
            value = np.clip(shared_from[depth].sum(1) + ends, 0.0, 1.0)
        values[row, others] = values[others, row] = value
    return values


def compare_rankings(
    dataset: str, names: Sequence[str], rankings: Sequence[Rankings], measure: Measure, p: float,
    depth: int,
) -> Similarity:  # fmt: skip
    """Compare the rankings of every pair of runs, and put similar runs next to each other.

    ``rbo`` is extrapolated rank-biased overlap, as the metric ``rbo(reference=...)`` computes it;
    ``overlap`` the number of shared documents over the length of the longer list. No ranking has
    more than `depth` documents.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    def tree(matrix: Floats) -> Floats:
        distances = 1 - np.nan_to_num(matrix)
        joined: Floats = linkage(
            squareform(distances, checks=False), "average", optimal_ordering=True
        )
        return joined

    label = f"RBO (p = {p:g})" if measure == "rbo" else f"overlap@{depth}"
    values, n_queries = _matrix(rankings, measure, p)
    order = leaves_list(tree(values))
    at = np.ix_(order, order)
    runs = tuple(names[k] for k in order)
    return Similarity(dataset, runs, values[at], n_queries[at], tree(values[at]), label)
