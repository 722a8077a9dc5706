"""Pools, similarity of runs, correlation of metrics, and the sheet of one participant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from ..core.entries import System
from ..core.leaderboard import numbers_of
from ..core.metric import Metric
from ..core.ragged import Bools, Floats, Ints
from ..core.systems import matrix
from ..errors import check_known, counted
from ..metrics.rank_similarity import Similarity
from ..stats.metric_correlation import Correlation
from . import html
from .grid import Grid, GridCell, first_rows, grid, grid_of
from .phrases import decimals, heading, interval, number
from .plots import plot

FORMATS = ("text", "csv", "jsonl", "markdown")
_MATRIX = 12
"""Runs up to which the whole matrix is printed."""


def similarity_grids(found: Sequence[Similarity], near: float) -> list[Grid]:
    """Return the pairs of runs that are nearly the same, and the matrix if it is small."""
    grids = []
    for one in found:
        pairs = one.pairs(near)
        rows = [[first, second, decimals(value), str(n)] for first, second, value, n in pairs]
        notes = [
            f"{one.measure} of {len(one.runs)} runs, mean over the queries that both answer",
            f"{counted(len(pairs), 'pair has', 'pairs have')} at least {near:g}; "
            "--near shows others",
        ]
        header = ["run", "nearly the same as", one.measure, "queries"]
        grids.append(grid(header, rows, left=2, title=one.dataset, notes=notes))
        if len(one.runs) <= _MATRIX:
            matrix = [
                [run, *(decimals(value, 3) for value in row)]
                for run, row in zip(one.runs, one.values, strict=True)
            ]
            grids.append(grid([one.measure, *one.runs], matrix, title=one.dataset))
    return grids


def similarity_records(found: Sequence[Similarity]) -> list[dict[str, Any]]:
    """Return every pair of runs."""
    return [
        {
            "dataset": one.dataset, "run": first, "other": second, "measure": one.measure,
            "value": value, "queries": n,
        }
        for one in found
        for first, second, value, n in one.pairs()
    ]  # fmt: skip


def tree(found: Similarity, format: plot.Format, trace: str = "") -> bytes:
    """Return a tree of runs, one row each, whose branches join at their distance."""
    plot.check_installed()
    from scipy.cluster.hierarchy import dendrogram

    n = len(found.runs)
    with plot.styled():
        figure = plot.figure("column" if n <= 40 else "page", 0.5 + 0.13 * n)
        axes = figure.subplots()
        joined = dendrogram(found.tree, no_plot=True)
        for x, y in zip(joined["dcoord"], joined["icoord"], strict=True):
            axes.plot(x, [(at - 5) / 10 for at in y], color=plot.COLOURS[0], linewidth=0.8)
        plot.label_rows(axes, found.runs)
        axes.yaxis.tick_right()
        axes.spines["left"].set_visible(False)
        axes.set_xlim(left=axes.get_xlim()[1], right=0)
        axes.set_xlabel(f"1 - {found.measure}, average of joined runs")
        return plot.save(figure, format, f"similarity of {found.dataset}", trace)


def correlation_grids(found: Sequence[Correlation]) -> list[Grid]:
    """Return a table for each dataset: pairs of metrics, those that agree least first."""
    grids = []
    for dataset in dict.fromkeys(one.dataset for one in found):
        some = [one for one in found if one.dataset == dataset]
        rows = [
            [one.first, one.second, decimals(one.tau_b), interval(*one.tau_b_interval),
             decimals(one.tau_ap), interval(*one.tau_ap_interval)]
            for one in some
        ]  # fmt: skip
        header = ["metric", "other metric", "tau_b", "95 % interval", "tau_ap", "95 % interval"]
        notes = [
            f"{some[0].n_systems} systems, {some[0].n_queries} queries; "
            "intervals from the bootstrap standard error over queries",
            "tau_ap: mean of both directions; mistakes at the top weigh more",
        ]
        grids.append(grid(header, rows, left=2, title=dataset, notes=notes))
    return grids


def correlation_records(found: Sequence[Correlation]) -> list[dict[str, Any]]:
    """Return every pair of metrics."""
    return [
        {
            "dataset": one.dataset, "metric": one.first, "other": one.second,
            "systems": one.n_systems, "queries": one.n_queries,
            "tau_b": one.tau_b, "tau_b_low": one.tau_b_interval[0],
            "tau_b_high": one.tau_b_interval[1], "tau_ap": one.tau_ap,
            "tau_ap_low": one.tau_ap_interval[0], "tau_ap_high": one.tau_ap_interval[1],
        }
        for one in found
    ]  # fmt: skip


_QUERIES = 50
"""Queries that the table shows."""
Unit = Literal["run", "team"]


class LeftOut(NamedTuple):
    """How a metric ranks all runs without the judgements that one run or team alone gave."""

    left_out: str
    metric: str
    removed: int
    """Judgements that only its runs contributed."""
    relevant: int
    """Judgements with a grade of 1 or more."""
    tau_b: float
    """Kendall's tau-b of the values of all runs, with all judgements and without these."""
    run: str
    """The run whose rank changes most."""
    rank: int
    rank_without: int

    @property
    def change(self) -> str:
        """The run whose rank changes most, and how; nothing if no rank changes."""
        is_same = self.rank == self.rank_without
        return "" if is_same else f"{self.run} {self.rank} to {self.rank_without}"


@dataclass(frozen=True, eq=False)
class Pool:
    """The first documents of every run.

    Attributes
    ----------
    runs, teams : tuple of str, shape (n_runs,)
    depth : int
    qids : tuple of str
    query : ndarray of int, shape (n,)
        Position in `qids` of the query of each document, ascending.
    docnos : pyarrow string array, shape (n,)
    by : ndarray of bool, shape (n, n_runs)
        Which runs contributed it.
    """

    runs: tuple[str, ...]
    teams: tuple[str, ...]
    depth: int
    qids: tuple[str, ...]
    query: Ints
    docnos: pa.Array
    by: Bools

    @property
    def per_query(self) -> Ints:
        """Documents to judge of each query, ``(n_queries,)``."""
        return np.bincount(self.query, minlength=len(self.qids))

    def only_by(self, unit: Unit) -> dict[str, Bools]:
        """Return the documents that one run or team alone contributed, by its name."""
        names = np.array(self.runs if unit == "run" else self.teams)
        of = {one: self.by[:, names == one].any(axis=1) for one in dict.fromkeys(names.tolist())}
        alone: Bools = np.sum([*of.values()], axis=0, dtype=np.int64) == 1
        return {name: np.logical_and(some, alone) for name, some in of.items()}


def pool_grids(pool: Pool) -> list[Grid]:
    """Return what each run contributed, and how many documents each query has."""
    sizes, unique, of_team = pool.per_query, pool.only_by("run"), pool.only_by("team")
    found = list(zip(pool.runs, pool.teams, pool.by.T, strict=True))
    found.sort(key=lambda one: -unique[one[0]].sum())
    header = ["run", "team", "pooled", "unique", "unique to team"]
    rows = [
        [run, team, *(f"{some.sum():,}" for some in (own, unique[run], own & of_team[team]))]
        for run, team, own in found
    ]
    n_left = 2
    if len({*pool.teams}) == len(found):
        header, n_left = ["run", "pooled", "unique"], 1
        rows = [[row[0], *row[2:4]] for row in rows]
    note = f"{counted(int(sizes.sum()), 'document')} to judge of "
    note += f"{counted(sizes.size, 'query', 'queries')} from {counted(len(found), 'run')}, "
    note += f"depth {pool.depth}: {sizes.min():,} to {sizes.max():,} a query, "
    note += f"median {np.median(sizes):,g}; --format csv lists them"
    alone = np.bincount(pool.query[pool.by.sum(1) == 1], minlength=sizes.size)
    queries = [[q, f"{n:,}", f"{a:,}"] for q, n, a in zip(pool.qids, sizes, alone, strict=True)]
    per_query = grid(["query", "documents", "by one run"], queries)
    return [
        grid(header, rows, left=n_left, notes=[note]),
        first_rows(per_query, _QUERIES, "--format csv"),
    ]  # fmt: skip


def pool_records(pool: Pool) -> Iterator[dict[str, Any]]:
    """Yield each document to judge, with the runs that contributed it."""
    docnos = pool.docnos.to_pylist()
    for query, docno, by in zip(pool.query.tolist(), docnos, pool.by, strict=True):
        runs = [pool.runs[at] for at in np.flatnonzero(by)]
        yield {"qid": pool.qids[query], "docno": docno, "n_runs": len(runs), "runs": " ".join(runs)}


def left_out_grid(found: Sequence[LeftOut], unit: str) -> Grid:
    """Return a row for each run or team left out, the largest change first."""
    ordered = sorted(found, key=lambda one: (-abs(one.rank_without - one.rank), one.tau_b))
    rows = [
        {
            f"{unit} left out": one.left_out, "metric": one.metric,
            "judgements": f"{one.removed:,}", "relevant": f"{one.relevant:,}",
            "tau_b": decimals(one.tau_b), "largest change": one.change,
        }
        for one in ordered
    ]  # fmt: skip
    note = f"judgements: those that only this {unit} contributed; largest change: rank of a run"
    return grid_of(rows, left=2, notes=[note])


def sheet(systems: Sequence[System], run: str) -> str:
    """Return a page to print for one participant, which shows no other run's name."""
    own = [one for one in systems if one.run == run]
    check_known("run", run, dict.fromkeys(one.run for one in systems), "--participant")
    grids = [
        _sheet_grid([other for other in systems if other.dataset == one.dataset], one, metric)
        for one in own
        for metric in numbers_of(one.metrics)
        if metric.definition.direction is not None
    ]
    return html.document(run, html.render(grids))


def _sheet_grid(systems: Sequence[System], own: System, metric: Metric) -> Grid:
    """Return the table of one metric on one dataset: all queries, then each."""
    systems = [own, *(one for one in systems if one is not own)]
    _, values = matrix(systems, metric)
    by_query = values.T[: len(own.qids)]  # those of the first system come first
    means = np.array([one.value(metric) for one in systems])
    rows = [_sheet_row("all queries", means, metric)]
    rows += [_sheet_row(qid, some, metric) for qid, some in zip(own.qids, by_query, strict=True)]
    has_value = by_query[~np.isnan(by_query[:, 0])]
    above = sum(metric.sign * one[0] > np.nanmedian(metric.sign * one) for one in has_value)
    note = f"{counted(len(systems), 'run')}; above the median in {above:,} of "
    note += f"{counted(len(own.qids), 'query', 'queries')}; bold: no run is better"
    header = ["query", "own", "best", "median", "worst"]
    return grid(header, rows, title=f"{heading(metric)}, {own.dataset}", notes=[note])


def _sheet_row(name: str, column: Floats, metric: Metric) -> list[str | GridCell]:
    """Return the row of a query; the run's own value is the first of the column."""
    defined, sign = column[~np.isnan(column)], metric.sign
    if not defined.size:
        return [name, *[number(np.nan, metric)] * 4]
    best, worst = float(sign * (sign * defined).max()), float(sign * (sign * defined).min())
    shown = [number(one, metric) for one in (best, float(np.median(defined)), worst)]
    own = float(column[0])
    return [name, GridCell(number(own, metric), bold=own == best != worst), *shown]
