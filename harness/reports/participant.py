"""A sheet for one participant: its own value, the best, median and worst of each query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.leaderboard import numbers_of
from ..core.metric import Metric
from ..core.ragged import Floats
from ..core.systems import System, matrix
from ..errors import check_known
from . import html
from .grid import Cell, Grid, grid
from .phrases import counted, heading, number


def sheet(systems: Sequence[System], run: str) -> str:
    """Return a page for printing that shows no other run's name."""
    own = [one for one in systems if one.run == run]
    check_known("run", run, dict.fromkeys(one.run for one in systems), "--participant")
    grids = [
        _grid([other for other in systems if other.dataset == one.dataset], one, metric)
        for one in own
        for metric in numbers_of(one.metrics)
        if metric.definition.direction is not None
    ]
    return html.document(run, html.render(grids))


def _grid(systems: Sequence[System], own: System, metric: Metric) -> Grid:
    """Return the table of one metric on one dataset: all queries, then each."""
    systems = [own, *(one for one in systems if one is not own)]
    _, values = matrix(systems, metric)
    by_query = values.T[: len(own.qids)]  # those of the first system come first
    means = np.array([one.value(metric) for one in systems])
    rows = [_row("all queries", means, metric)]
    rows += [_row(qid, some, metric) for qid, some in zip(own.qids, by_query, strict=True)]
    has_value = by_query[~np.isnan(by_query[:, 0])]
    above = sum(metric.sign * one[0] > np.nanmedian(metric.sign * one) for one in has_value)
    note = f"{counted(len(systems), 'run')}; above the median in {above:,} of "
    note += f"{counted(len(own.qids), 'query', 'queries')}; bold: no run is better"
    header = ["query", "own", "best", "median", "worst"]
    return grid(header, rows, title=f"{heading(metric)}, {own.dataset}", notes=[note])


def _row(name: str, column: Floats, metric: Metric) -> list[str | Cell]:
    """Return the row of a query; the run's own value is the first of the column."""
    defined, sign = column[~np.isnan(column)], metric.sign
    if not defined.size:
        return [name, *[number(np.nan, metric)] * 4]
    best, worst = float(sign * (sign * defined).max()), float(sign * (sign * defined).min())
    shown = [number(one, metric) for one in (best, float(np.median(defined)), worst)]
    own = float(column[0])
    return [name, Cell(number(own, metric), bold=own == best != worst), *shown]
