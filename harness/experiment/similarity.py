"""How alike the rankings of all runs are: RBO or overlap of every pair, query by query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from ..config import sweep
from ..config.cells import Cell
from ..config.model import Config
from ..core.arguments import check_arguments, whole_from
from ..core.exact import powers
from ..core.ragged import Floats, Ints, lengths_of, offsets_of, positions_of
from ..core.ranking import rank_order
from ..errors import InputError, Problem
from ..metrics.rbo import PERSISTENCE, tails_to
from ..readers import read_qrels, read_run

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


def similarities(
    config: Config,
    *,
    measure: Measure = "rbo",
    p: float = 0.9,
    depth: int = 1000,
    datasets: Sequence[str] = (),
) -> list[Similarity]:
    """Compare the rankings of every pair of runs of a config.

    ``rbo`` is extrapolated rank-biased overlap (equation 32 of Webber, Moffat and Zobel, TOIS
    28(4), 2010), as the metric ``rbo(reference=...)`` computes it. ``overlap`` is the number of
    documents that both runs have in their first `depth`, over the length of the longer list.

    Parameters
    ----------
    config : Config
        Its runs are read again.
    measure : {"rbo", "overlap"}
    p : float
        Persistence of RBO, in (0, 1).
    depth : int
        Number of documents of each query that are compared.
    datasets : sequence of str
        Only these; all if empty.

    Raises
    ------
    InputError
        If a run cannot be read, or a dataset has fewer than two runs.
    """
    check_arguments(locals(), p=PERSISTENCE, depth=whole_from(1))
    cells = [cell for cell in sweep.resolve(config) if not datasets or cell.dataset in datasets]
    label = f"RBO (p = {p:g})" if measure == "rbo" else f"overlap@{depth}"
    found = []
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        chosen = [cell for cell in cells if cell.dataset == dataset]
        if len(chosen) < 2:
            what = f"expected at least two runs of dataset '{dataset}', got {len(chosen)}"
            raise InputError(Problem(str(config.base), what))
        values, n_queries = _matrix(_rankings(config, chosen, depth), measure, p)
        found.append(_ordered(dataset, _names(chosen), values, n_queries, label))
    return found


def _names(cells: Sequence[Cell]) -> list[str]:
    """Return a name for each run; those of one name get their columns, such as ``seed=1``."""
    count = Counter(cell.run for cell in cells)
    return [
        " ".join((c.run, *(f"{k}={v}" for k, v in c.of_run.items()))) if count[c.run] > 1 else c.run
        for c in cells
    ]


def _rankings(config: Config, cells: Sequence[Cell], depth: int) -> list[Rankings]:
    """Return the first documents of each query of each run."""
    qrels = None
    tables = []
    for cell in cells:
        if qrels is None and cell.run_entry.format not in (None, "trec"):
            options = cell.dataset_entry.options()
            qrels = read_qrels(cell.dataset_entry.path, fractions=True, **options)
        run = read_run(cell.run_entry.path, dataset=qrels, **cell.run_entry.options())
        order = rank_order(run, config.to_policy())
        rows = order[positions_of(run.offsets) < depth]
        lengths = np.minimum(lengths_of(run.offsets), depth)
        tables.append((run.qids.to_pylist(), offsets_of(lengths), run.docnos.take(rows)))
    docnos = pa.chunked_array([one[2] for one in tables]).dictionary_encode()
    found = []
    for (qids, offsets, _), chunk in zip(tables, docnos.chunks, strict=True):
        codes = chunk.indices.to_numpy()
        found.append({q: codes[offsets[k] : offsets[k + 1]] for k, q in enumerate(qids)})
    return found


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


def _ordered(
    dataset: str, names: Sequence[str], values: Floats, n_queries: Ints, measure: str
) -> Similarity:
    """Cluster the runs, and put them in the order of the tree's leaves."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    def tree(matrix: Floats) -> Floats:
        distances = 1 - np.nan_to_num(matrix)
        joined: Floats = linkage(
            squareform(distances, checks=False), "average", optimal_ordering=True
        )
        return joined

    order = leaves_list(tree(values))
    at = np.ix_(order, order)
    runs = tuple(names[k] for k in order)
    return Similarity(dataset, runs, values[at], n_queries[at], tree(values[at]), measure)
