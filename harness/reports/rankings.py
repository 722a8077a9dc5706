"""Pools, similarity of runs, and correlation of metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from ..core.names import shown_name
from ..core.ragged import Bools, Ints
from ..errors import counted
from ..metrics.rank_similarity import Similarity
from ..stats.metric_correlation import Correlation
from .grid import Answer, Grid, grid
from .phrases import decimals, interval

FORMATS = ("text", "csv", "jsonl", "markdown")
_MATRIX = 12
"""Runs up to which the whole matrix is printed."""


def similarity_grids(similarities: Sequence[Similarity], near: float) -> list[Grid]:
    """Return the pairs of runs that are nearly the same, and the matrix if it is small."""
    grids = []
    for similarity in similarities:
        pairs = similarity.pairs(near)
        rows = [[run, peer, decimals(value), str(n)] for run, peer, value, n in pairs]
        header = ["run", "nearly the same as", similarity.measure, "queries"]
        grids.append(Grid(answers=(_similarity_answer(similarity, near),)))
        if rows:
            grids.append(grid(header, rows, left=2, title=similarity.dataset))
        if len(similarity.runs) <= _MATRIX:
            pairs_of = zip(similarity.runs, similarity.values, strict=True)
            table = [[run, *(decimals(value, 3) for value in row)] for run, row in pairs_of]
            header = [similarity.measure, *similarity.runs]
            notes = [f"{similarity.measure} is a mean over the queries that both runs answer."]
            grids.append(grid(header, table, title=similarity.dataset, notes=notes))
    return grids


def _similarity_answer(similarity: Similarity, near: float) -> Answer:
    pairs, n = similarity.pairs(), len(similarity.runs)
    close = sum(pair[2] >= near for pair in pairs)
    level = f"{near:g} in {similarity.measure}"
    text = f"{similarity.dataset}: no two of {n} runs reach {level}"
    if close:
        count = f"{close:,} of {counted(len(pairs), 'pair')} of runs"
        text = f"{similarity.dataset}: {count} {'reaches' if close == 1 else 'reach'} {level}"
    nearest = [f"{run} and {peer} are closest ({value:.3f})" for run, peer, value, _ in pairs[:1]]
    return Answer("; ".join([text, *nearest]), "mixed" if close else "good")


def similarity_records(similarities: Sequence[Similarity]) -> list[dict[str, Any]]:
    """Return every pair of runs."""
    names = ("dataset", "run", "other", "measure", "value", "queries")
    return [
        dict(zip(names, (group.dataset, run, peer, group.measure, value, n), strict=True))
        for group in similarities
        for run, peer, value, n in group.pairs()
    ]


def correlation_grids(correlations: Sequence[Correlation]) -> list[Grid]:
    """Return a table for each dataset: pairs of metrics, those that agree least first."""
    grids = []
    for dataset in dict.fromkeys(correlation.dataset for correlation in correlations):
        pairs = [correlation for correlation in correlations if correlation.dataset == dataset]
        rows = [
            [
                *(shown_name(pair.metric), shown_name(pair.other)),
                *(decimals(pair.tau_b), interval(pair.tau_b_low, pair.tau_b_high)),
                *(decimals(pair.tau_ap), interval(pair.tau_ap_low, pair.tau_ap_high)),
            ]
            for pair in pairs
        ]
        header = ["metric", "other metric", "tau_b", "95% interval", "tau_ap", "95% interval"]
        grids.append(Grid(answers=(_correlation_answer(pairs),)))
        notes = [
            f"Correlations are of {counted(pairs[0].systems, 'system')} on "
            f"{counted(pairs[0].queries, 'query', 'queries')}.",
            "Intervals use the bootstrap standard error over queries.",
            "tau_ap is the mean of both directions; mistakes at the top weigh more.",
        ]
        grids.append(grid(header, rows, left=2, title=dataset, notes=notes))
    return grids


def _correlation_answer(pairs: Sequence[Correlation]) -> Answer:
    least, agreeing = pairs[0], sum(pair.tau_b == 1 for pair in pairs)
    order = f"the order of {counted(least.systems, 'system')}"
    if agreeing == len(pairs):
        return Answer(f"{least.dataset}: all metrics agree on {order}", "good")
    names = f"{shown_name(least.metric)} and {shown_name(least.other)} agree least on {order}"
    count, rank = f"{agreeing:,}" if agreeing else "none", "ranks" if agreeing < 2 else "rank"
    rest = f"{count} of {counted(len(pairs), 'pair')} {rank} the systems identically"
    return Answer(f"{least.dataset}: {names} (tau-b {decimals(least.tau_b, 3)}); {rest}", "mixed")


_DEPTHS = (1, 5, 10, 20, 50, 100, 200, 500)
"""Depths at which the size of a deeper pool is printed too."""
Unit = Literal["run", "team"]


class LeftOut(NamedTuple):
    """Ranks of all runs by a metric, without the judgements that only one run or team gave."""

    left_out: str
    metric: str
    removed: int
    """Judgements that only its runs contributed."""
    relevant: int
    """Judgements with a grade of 1 or more."""
    tau_b: float
    """Kendall's tau-b of the values of all runs, with all judgements and without these."""
    run: str
    """The run with the largest change of rank."""
    rank: int
    rank_without: int

    @property
    def change(self) -> str:
        """The run with the largest change of rank, and the change; nothing without changes."""
        is_same = self.rank == self.rank_without
        return "" if is_same else f"{self.run} {self.rank} to {self.rank_without}"


@dataclass(frozen=True, eq=False)
class Pool:
    """The first `depth` documents of every run, by query.

    Document k is `docnos[k]` of the query `qids[query[k]]`, and has the best rank `rank[k]`; the
    runs of `by[k]`, ``(n, n_runs)``, contributed it. Of `n_all` runs, `runs` contribute. `n_judged`
    documents are left out, because they are judged already.
    """

    runs: tuple[str, ...]
    teams: tuple[str, ...]
    depth: int
    qids: tuple[str, ...]
    query: Ints
    docnos: pa.Array
    by: Bools
    n_all: int
    rank: Ints
    n_judged: int = 0

    @property
    def per_query(self) -> Ints:
        """Documents to judge of each query, ``(n_queries,)``."""
        return np.bincount(self.query, minlength=len(self.qids))

    def only_by(self, unit: Unit) -> dict[str, Bools]:
        """Return the documents that one run or team alone contributed, by its name."""
        names = np.array(self.runs if unit == "run" else self.teams)
        units = dict.fromkeys(names.tolist())
        members = {name: self.by[:, names == name].any(axis=1) for name in units}
        single: Bools = np.sum([*members.values()], axis=0, dtype=np.int64) == 1
        return {name: np.logical_and(mask, single) for name, mask in members.items()}


def pool_grids(pool: Pool, per_query: bool = False) -> list[Grid]:
    """Tables of the pool's size at each depth and of each run's contribution.

    With `per_query`, a table of each query's number of documents follows.
    """
    sizes, unique, of_team = pool.per_query, pool.only_by("run"), pool.only_by("team")
    members = list(zip(pool.runs, pool.teams, pool.by.T, strict=True))
    members.sort(key=lambda row: -unique[row[0]].sum())
    is_all = pool.n_all == len(members)
    of_runs = counted(len(members), "run") if is_all else f"{len(members)} of {pool.n_all} runs"
    answer = (
        f"{counted(int(sizes.sum()), 'document')} of {counted(sizes.size, 'query', 'queries')} to "
        f"judge, from the first {pool.depth} of {of_runs}"
    )
    depths = [depth for depth in _DEPTHS if depth < pool.depth]
    by_depth = []
    for depth in [*depths, pool.depth]:
        own = np.bincount(pool.query[pool.rank <= depth], minlength=sizes.size)
        texts = [f"{own.sum():,}", f"{own.min():,}", f"{np.median(own):,g}", f"{own.max():,}"]
        by_depth.append([str(depth), *texts])
    header = ["depth", "documents", "fewest per query", "median", "most"]
    grids = [Grid(answers=(Answer(answer),)), grid(header, by_depth)]
    header, n_left = ["run", "team", "pooled", "unique", "unique to team"], 2
    rows = []
    for run, team, documents in members:
        masks = documents, unique[run], documents & of_team[team]
        rows.append([run, team, *(f"{mask.sum():,}" for mask in masks)])
    if len({*pool.teams}) == len(members):
        header, n_left = ["run", "pooled", "unique"], 1
        rows = [[row[0], *row[2:4]] for row in rows]
    notes = ["Unique documents are in the pool of no other run."]
    if pool.n_judged:
        judged = counted(pool.n_judged, "document is", "documents are")
        notes.append(f"{judged} judged already, and left out.")
    grids.append(grid(header, rows, left=n_left, notes=notes))
    if per_query:
        single = np.bincount(pool.query[pool.by.sum(1) == 1], minlength=sizes.size)
        table = zip(pool.qids, sizes.tolist(), single.tolist(), strict=True)
        queries = [[qid, f"{n:,}", f"{alone:,}"] for qid, n, alone in table]
        grids.append(grid(["query", "documents", "by one run"], queries))
    else:
        hint = "-q counts the documents of each query, --format csv lists them"
        grids.append(Grid(notes=(hint,)))
    return grids


def pool_records(pool: Pool, with_runs: bool = False) -> Iterator[dict[str, Any]]:
    """Yield each document to judge; assessors see no runs, unless `with_runs` names them."""
    docnos = pool.docnos.to_pylist()
    for query, docno, contributors in zip(pool.query.tolist(), docnos, pool.by, strict=True):
        record: dict[str, Any] = {"qid": pool.qids[query], "docno": docno}
        if with_runs:
            runs = [pool.runs[k] for k in np.flatnonzero(contributors)]
            record |= {"n_runs": len(runs), "runs": " ".join(runs)}
        yield record


def left_out_grid(results: Sequence[LeftOut], unit: str) -> Grid:
    """Return a row for each run or team left out, the largest change first."""
    header = [f"{unit} left out", "metric", "judgements", "relevant", "tau_b", "largest change"]
    rows = [
        [
            *(
                entry.left_out,
                shown_name(entry.metric),
                f"{entry.removed:,}",
                f"{entry.relevant:,}",
            ),
            *(decimals(entry.tau_b), entry.change),
        ]
        for entry in sorted(results, key=lambda row: (-abs(row.rank_without - row.rank), row.tau_b))
    ]
    notes = [
        f"Judgements are those that only this {unit} contributed.",
        "The largest change is that of a run's rank.",
    ]
    return grid(header, rows, left=2, notes=notes)
