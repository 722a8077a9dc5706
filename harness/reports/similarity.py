"""Similarity of runs and correlation of metrics: tables, records and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..stats.metric_correlation import Correlation
from ..stats.run_similarity import Similarity
from . import csv, jsonl, markdown, text
from .grid import Grid, grid
from .numbers import decimals, interval
from .phrases import counted
from .plots import plot

FORMATS = ("table", "csv", "jsonl", "markdown")
_MATRIX = 12
"""Runs up to which the whole matrix is printed."""


def render(grids: Sequence[Grid], records: Sequence[dict[str, Any]], format: str) -> str:
    """Return tables or records in one of :data:`FORMATS`."""
    if format == "csv":
        return csv.render(records)
    if format == "jsonl":
        return jsonl.render(records)
    return markdown.render(grids) if format == "markdown" else text.render(grids)


def similarity_grids(found: Sequence[Similarity], near: float) -> list[Grid]:
    """Return the pairs of runs that are nearly the same, and the matrix if it is small."""
    grids = []
    for one in found:
        pairs = one.pairs(near)
        rows = [[first, second, f"{value:.4f}", str(n)] for first, second, value, n in pairs]
        notes = [
            f"{one.measure} of {len(one.runs)} runs, mean over the queries that both answer",
            f"{counted(len(pairs), 'pair has', 'pairs have')} at least {near:g}; "
            "--near shows others",
        ]
        header = ["run", "nearly the same as", one.measure, "queries"]
        grids.append(grid(header, rows, left=2, title=one.dataset, notes=notes))
        if len(one.runs) <= _MATRIX:
            matrix = [
                [run, *(f"{value:.3f}" for value in row)]
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
        return plot.save(figure, format, f"similarity of {found.dataset}", trace, {})


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
