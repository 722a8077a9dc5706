"""Pools of a shared task: what to judge, who contributed it, and what leaving a run out changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from .. import readers as readers
from ..core.align import align
from ..core.arguments import check_arguments, whole_from
from ..core.arrow import encode, take
from ..core.evaluate import evaluate
from ..core.names import parse_all
from ..core.policy import Policy
from ..core.pool import LeftOut, Pool, Unit
from ..core.ragged import Floats, Ints, offsets_of, positions_of
from ..core.ranking import rank_order
from ..core.tables import Docnos, Qrels, Run
from ..core.views import check_grades, takes_fractions
from ..readers.groups import teams_of
from .evaluate import short_names


def pool(paths: Sequence[str], depth: int = 20, teams: str = "") -> Pool:
    """Return the documents that runs have in their first `depth` ranks.

    Tied scores are in trec_eval's order. `teams` is a CSV file or a pattern, as in
    :func:`harness.readers.groups.teams_of`; without it each run is a team of its own.
    """
    check_arguments(locals(), depth=whole_from(1))
    return _pool(paths, [_read(path, name) for path, name in _named(paths)], depth, teams)


def _named(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield from zip(paths, short_names(paths), strict=True)


def _read(path: str, name: str) -> Run:
    return readers.read_run(path, name=name)


def _pool(paths: Sequence[str], runs: Sequence[Run], depth: int, teams: str) -> Pool:
    qids, docnos = [], []
    for run in runs:
        rows = rank_order(run)[positions_of(run.offsets) < depth]
        qids.append(take(run.qids, run.row[rows]))
        docnos.append(run.docnos.take(rows))
    sizes = [len(one) for one in docnos]
    by_run = np.repeat(np.arange(len(runs)), sizes)
    all_qids, query = encode(pa.concat_arrays(qids))
    all_docnos, document = encode(pa.concat_arrays(docnos))
    pairs, place = np.unique(query * len(all_docnos) + document, return_inverse=True)
    by = np.zeros((pairs.size, len(runs)), dtype=bool)
    by[place, by_run] = True
    names = tuple(run.name for run in runs)
    tags = [run.tags[0] if run.tags else run.name for run in runs]
    team = teams_of(tags, teams) if teams else dict(zip(tags, tags, strict=True))
    return Pool(
        names, tuple(team[tag] for tag in tags), depth, tuple(all_qids.to_pylist()),
        pairs // len(all_docnos), take(all_docnos, pairs % len(all_docnos)), by,
    )  # fmt: skip


def leave_out(
    paths: Sequence[str], qrels: str, metrics: Sequence[str], unit: Unit = "run", depth: int = 20,
    teams: str = "",
) -> list[LeftOut]:  # fmt: skip
    """Rank all runs without the judgements that one run or team alone contributed, for each.

    A run is treated fairly by judgements that it did not contribute to if its rank stays (the
    test of Zobel, SIGIR 1998). Judged documents that are in no run's first `depth` ranks stay.
    """
    wanted = parse_all(metrics)
    judgements = readers.read_qrels(qrels, fractions=takes_fractions(wanted, Policy()))
    check_grades(judgements, wanted, Policy())
    runs = [_read(path, name) for path, name in _named(paths)]
    one_pool = _pool(paths, runs, depth, teams)

    def values(of: Qrels) -> Floats:
        evaluated = (evaluate(align(of, run), wanted).summary() for run in runs)
        return np.array([[one[str(metric)] for metric in wanted] for one in evaluated])

    codes = judgements.place(pa.array(one_pool.qids))[one_pool.query]
    found, rows = judgements.find(codes, Docnos(one_pool.docnos, np.array([0, codes.size])))
    whole, result = values(judgements), []
    units = one_pool.only_by(unit).items()
    for name, alone in tqdm(units, unit=unit, disable=None, leave=False):
        removed = rows[alone[found]]
        without = values(_without(judgements, removed)) if removed.size else whole
        relevant = int((judgements.numbers[removed] > 0).sum())
        for metric, old, new in zip(wanted, whole.T, without.T, strict=True):
            sign = 1 if metric.definition.direction == "lower" else -1
            before, after = _ranks(sign * old), _ranks(sign * new)
            most = int(np.argmax(np.abs(after - before)))
            result.append(
                LeftOut(
                    name, str(metric), removed.size, relevant, _tau_b(old, new),
                    runs[most].name, int(before[most]), int(after[most]),
                )
            )  # fmt: skip
    return result


def _without(qrels: Qrels, rows: Ints) -> Qrels:
    """Return qrels without some judgements; every query stays."""
    stay = np.ones(qrels.n_rows, dtype=bool)
    stay[rows] = False
    left = np.flatnonzero(stay)
    counts = np.bincount(qrels.row[left], minlength=qrels.n_queries)
    offsets = offsets_of(counts)
    docnos = Docnos(qrels.docnos.take(left), offsets)
    return Qrels(qrels.qids, offsets, docnos, qrels.numbers[left], qrels.name)


def _ranks(values: Floats) -> Ints:
    from scipy.stats import rankdata

    ranks: Ints = rankdata(np.round(values, 12), method="min").astype(np.int64)
    return ranks


def _tau_b(old: Floats, new: Floats) -> float:
    from scipy.stats import kendalltau

    if np.array_equal(old, new):
        return 1.0
    return float(kendalltau(np.round(old, 12), np.round(new, 12)).statistic)
