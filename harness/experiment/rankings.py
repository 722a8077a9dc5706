"""First documents of runs: pools of a shared task, and similarity of rankings.

A pool has the documents to judge, their contributors, and the effect of leaving out a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .. import readers
from ..config.cells import Cell, resolve
from ..core.align import align, first_rows
from ..core.arguments import check_arguments, whole_from
from ..core.arrow import encode, take
from ..core.entries import Failed, System, grouped_by, natural
from ..core.evaluation import evaluate
from ..core.names import parse_all
from ..core.policy import Policy
from ..core.policy_views import check_grades
from ..core.qrels_and_runs import Docnos, Qrels, Run
from ..core.ragged import Floats, Ints, lengths_of, offsets_of, positions_of
from ..core.systems import dataset_name, system_name
from ..errors import InputError, Problem, check_known, first_of, warn
from ..metrics.rank_similarity import (
    Measure,
    Rankings,
    Similarity,
    arranged,
    compare_rankings,
    rank_matrix,
)
from ..metrics.rbo import PERSISTENCE
from ..progress import track
from ..readers.groups import contributing, teams_of
from ..readers.read import options_of_files
from ..reports.rankings import LeftOut, Pool, Unit
from .evaluate import short_names

if TYPE_CHECKING:
    from ..config.model import Config


def pool(
    paths: Sequence[str],
    depth: int = 20,
    teams: str = "",
    contributors: str = "",
    qrels: str | None = None,
    **files: Any,
) -> Pool:
    """Return the documents that runs have in their first `depth` ranks.

    Tied scores are in trec_eval's order. `teams` is a CSV file or a pattern, as in
    `harness.readers.groups.teams_of`; without it each run is a team. `contributors` is
    a file as in `harness.readers.groups.contributing`; without it all runs contribute. Documents
    that `qrels` judges are left out. `files` are options of `options_of_files` for runs.
    """
    check_arguments(locals(), depth=whole_from(1))
    judgements = None if qrels is None else readers.read_qrels(readers.Source(qrels))
    whole = _pool(_runs(paths, files), depth, teams, contributors)
    if judgements is None:
        return whole
    judged, _ = _judged(whole, judgements)
    keep = np.ones(whole.query.size, dtype=bool)
    keep[judged] = False
    return replace(
        whole,
        query=whole.query[keep],
        docnos=whole.docnos.filter(pa.array(keep)),
        by=whole.by[keep],
        rank=whole.rank[keep],
        n_judged=judged.size,
    )


def _judged(pool: Pool, judgements: Qrels) -> tuple[Ints, Ints]:
    """Return the positions of the judged documents of a pool, and the row of each judgement."""
    query = judgements.place(pa.array(pool.qids))[pool.query]
    return judgements.find(query, Docnos(pool.docnos, np.array([0, query.size])))


def _runs(paths: Sequence[str], files: Mapping[str, Any]) -> list[Run]:
    _, options = options_of_files(**files)
    named = [*zip(paths, short_names(paths), strict=True)]
    runs, problems = list[Run](), list[Problem]()
    for path, name in track(named, "run", itemgetter(1)):
        try:
            runs.append(readers.read_run(path, name=name, **options))
        except InputError as error:
            problems.append(error.problems[0])
    if problems:
        raise InputError(problems)
    return runs


def _pool(runs: Sequence[Run], depth: int, teams: str, contributors: str) -> Pool:
    n_all = len(runs)
    if contributors:
        flags = contributing([(run.name, *run.tags) for run in runs], contributors)
        runs = [run for run, does in zip(runs, flags, strict=True) if does]
    qids, docnos, ranks = [], [], []
    for run in runs:
        rows = first_rows(run, depth)
        positions = positions_of(run.offsets, 1)
        ranks.append(positions[positions <= depth])
        qids.append(take(run.qids, run.row[rows]))
        docnos.append(run.docnos.take(rows))
    sizes = [len(one) for one in docnos]
    by_run = np.repeat(np.arange(len(runs)), sizes)
    all_qids, query = _in_order(pa.concat_arrays(qids), natural)
    all_docnos, document = _in_order(pa.concat_arrays(docnos), str)
    pairs, place = np.unique(query * len(all_docnos) + document, return_inverse=True)
    by = np.zeros((pairs.size, len(runs)), dtype=bool)
    by[place, by_run] = True
    rank = np.full(pairs.size, depth)
    np.minimum.at(rank, place, np.concatenate(ranks))
    names = tuple(run.name for run in runs)
    query, docno = np.divmod(pairs, len(all_docnos))
    pooled = pa.array(all_docnos).take(pa.array(docno))
    of_runs = names
    if teams:
        of_runs = tuple(teams_of([(run.name, *run.tags) for run in runs], teams))
    return Pool(names, of_runs, depth, tuple(all_qids), query, pooled, by, n_all, rank)


def _in_order(texts: pa.Array, key: Callable[[str], Any]) -> tuple[list[str], Ints]:
    """Return the distinct texts in the order of a key, and the position of each row's text."""
    distinct, codes = encode(texts)
    names = distinct.to_pylist()
    order = sorted(range(len(names)), key=lambda k: key(names[k]))
    return [names[k] for k in order], np.argsort(order)[codes]


def leave_out(
    paths: Sequence[str],
    qrels: str,
    metrics: Sequence[str],
    unit: Unit = "run",
    depth: int = 20,
    teams: str = "",
    contributors: str = "",
    **files: Any,
) -> list[LeftOut]:
    """Rank all runs without the judgements that one run or team alone contributed, for each.

    A run is treated fairly by judgements that it did not contribute to if its rank stays (the
    test of Zobel, SIGIR 1998). Judged documents that are in no run's first `depth` ranks stay.
    """
    wanted = parse_all(metrics)
    source = readers.Source(qrels)
    judgements = readers.read_qrels(source)
    check_grades(judgements, wanted, Policy(), place=partial(readers.place_of_row, source))
    runs = _runs(paths, files)
    one_pool = _pool(runs, depth, teams, contributors)

    def values(of: Qrels) -> Floats:
        evaluated = (evaluate(align(of, run), wanted).summary() for run in runs)
        return np.array([[one[str(metric)] for metric in wanted] for one in evaluated])

    found, rows = _judged(one_pool, judgements)
    whole, result = values(judgements), []
    units = [*one_pool.only_by(unit).items()]
    for name, alone in track(units, unit, itemgetter(0)):
        removed = rows[alone[found]]
        stay = np.ones(judgements.n_rows, dtype=bool)
        stay[removed] = False
        without = values(judgements.filter(stay)) if removed.size else whole
        relevant = int((judgements.numbers[removed] > 0).sum())
        for metric, old, new in zip(wanted, whole.T, without.T, strict=True):
            before, after = _ranks(-metric.sign * old), _ranks(-metric.sign * new)
            most = int(np.argmax(np.abs(after - before)))
            sizes, moved = (removed.size, relevant), (int(before[most]), int(after[most]))
            tau, mover = _tau_b(old, new), runs[most].name
            result.append(LeftOut(name, str(metric), *sizes, tau, mover, *moved))
    return result


def _ranks(values: Floats) -> Ints:
    from scipy.stats import rankdata

    ranks: Ints = rankdata(np.round(values, 12), method="min").astype(np.int64)
    return ranks


def _tau_b(old: Floats, new: Floats) -> float:
    from scipy.stats import kendalltau

    if np.array_equal(old, new):
        return 1.0
    return float(kendalltau(np.round(old, 12), np.round(new, 12)).statistic)


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
        Persistence of RBO, above 0 and below 1.
    depth : int
        Number of documents of each query that are compared.
    datasets : sequence of str
        Only these, or the folds of these; all if empty.

    Raises
    ------
    InputError
        If a run cannot be read, or no dataset has two runs.
    UnknownNameError
        If one of `datasets` is unknown.
    """
    check_arguments(locals(), p=PERSISTENCE, depth=whole_from(1))
    cells, whole = resolve(config), config.summary.whole
    wholes = [whole(cell.dataset_key, cell.of_dataset, cell.dataset) for cell in cells]
    for name in datasets:
        known = dict.fromkeys([cell.dataset for cell in cells] + wholes)
        check_known("dataset", name, known, "datasets")
    chosen = [
        cell
        for cell, whole in zip(cells, wholes, strict=True)
        if not datasets or {cell.dataset, whole} & {*datasets}
    ]
    by_dataset = grouped_by(chosen, lambda cell: cell.dataset)
    alone = [dataset for dataset, of_one in by_dataset.items() if len(of_one) < 2]
    if len(alone) == len(by_dataset):
        what = f"expected two runs or more of a dataset, got one: {by_dataset[alone[0]][0].run}"
        raise InputError(Problem(first_of(alone, 3), what, fix="add a run to the config"))
    if alone:
        warn(f"left out, as they have one run: {first_of(alone, 3)}")
    similarities = []
    for dataset in (dataset for dataset in by_dataset if dataset not in alone):
        of_dataset = by_dataset[dataset]
        rankings = dict(zip(_names(of_dataset), _rankings(config, of_dataset, depth), strict=True))
        similarities.append(compare_rankings(dataset, rankings, measure, p, depth))
    return similarities


def similarity_of(config: Config, systems: Sequence[System]) -> Similarity:
    """Compare the rankings of systems of one dataset by RBO, as means over their folds and seeds.

    The runs of the result are the places of the systems. InputError if settings were chosen.
    """
    whole, summary = systems[0].dataset, config.summary
    if config.select is not None or systems[0].group:
        what = "expected a whole dataset, and a config without 'select:'"
        raise InputError(Problem(whole, what, fix="use 'harness similarity'"))
    place = {system.run: k for k, system in enumerate(systems)}
    cells: dict[str, list[tuple[int, Cell]]] = {}
    for cell in resolve(config):
        pattern = cell.dataset_key if cell.of_dataset else ""
        row = Failed(cell.dataset, cell.run, cell.columns, "", pattern)
        k = place.get(system_name(row, summary))
        if k is not None and dataset_name(row, summary) == whole:
            cells.setdefault(cell.dataset, []).append((k, cell))
    total, n_queries = np.zeros((2, len(place), len(place)))
    for of_dataset in cells.values():
        rankings = _rankings(config, [cell for _, cell in of_dataset], 1000)
        values, n = rank_matrix(rankings, "rbo", 0.9)
        owner = np.eye(len(place))[:, [k for k, _ in of_dataset]]
        total += owner @ (np.nan_to_num(values) * n) @ owner.T
        n_queries += owner @ n @ owner.T
    with np.errstate(invalid="ignore"):
        means = total / n_queries
    np.fill_diagonal(means, 1.0)
    names = [*map(str, place.values())]
    return arranged(whole, names, means, n_queries.astype(np.int64), "RBO (p = 0.9)")


def _names(cells: Sequence[Cell]) -> list[str]:
    """Return a name for each run; those of one name get their columns, such as ``seed=1``."""
    count = Counter(cell.run for cell in cells)
    return [
        " ".join((c.run, *(f"{k}={v}" for k, v in c.of_run.items()))) if count[c.run] > 1 else c.run
        for c in cells
    ]


def _rankings(config: Config, cells: Sequence[Cell], depth: int) -> list[Rankings]:
    """Return the first documents of each query of each run."""
    qrels, tables = cells[0].read_qrels(), []  # which the rows of scores follow
    for cell in track(cells, "run", lambda cell: str(cell.key)):
        run = cell.read_run(qrels)
        policy = config.policy.for_runs()
        run = run.without_identical_ids() if policy.drop_identical_ids else run
        rows = first_rows(run, depth, policy)
        lengths = np.minimum(lengths_of(run.offsets), depth)
        tables.append((run.qids.to_pylist(), offsets_of(lengths), run.docnos.take(rows)))
    docnos = pa.chunked_array([one[2] for one in tables]).dictionary_encode()
    found = []
    for (qids, offsets, _), chunk in zip(tables, docnos.chunks, strict=True):
        codes = chunk.indices.to_numpy()
        found.append({q: codes[offsets[k] : offsets[k + 1]] for k, q in enumerate(qids)})
    return found
