"""Rankings of the runs of a config, compared with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ..config import sweep
from ..config.cells import Cell
from ..config.model import Config
from ..core.arguments import check_arguments, whole_from
from ..core.ragged import lengths_of, offsets_of, positions_of
from ..core.ranking import rank_order
from ..errors import InputError, Problem
from ..metrics.rbo import PERSISTENCE
from ..readers import read_qrels, read_run
from ..stats.run_similarity import Measure, Rankings, Similarity, compare_rankings


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
    found = []
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        chosen = [cell for cell in cells if cell.dataset == dataset]
        if len(chosen) < 2:
            what = f"expected at least two runs of dataset '{dataset}', got {len(chosen)}"
            raise InputError(Problem(str(config.base), what))
        rankings = _rankings(config, chosen, depth)
        found.append(compare_rankings(dataset, _names(chosen), rankings, measure, p, depth))
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
        policy = config.to_policy()
        run = run.without_identical_ids() if policy.drop_identical_ids else run
        order = rank_order(run, policy)
        rows = order[positions_of(run.offsets) < depth]
        lengths = np.minimum(lengths_of(run.offsets), depth)
        tables.append((run.qids.to_pylist(), offsets_of(lengths), run.docnos.take(rows)))
    docnos = pa.chunked_array([one[2] for one in tables]).dictionary_encode()
    found = []
    for (qids, offsets, _), chunk in zip(tables, docnos.chunks, strict=True):
        codes = chunk.indices.to_numpy()
        found.append({q: codes[offsets[k] : offsets[k + 1]] for k, q in enumerate(qids)})
    return found
