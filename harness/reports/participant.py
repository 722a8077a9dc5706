"""A sheet for one participant: its own value, the best, median and worst of each query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.leaderboard import numbers_of
from ..core.metric import Metric
from ..core.ragged import Floats
from ..core.systems import System
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
    place = {qid: at for at, qid in enumerate(own.qids)}
    values = np.full((len(systems), len(place)), np.nan)
    for row, one in zip(values, systems, strict=True):
        for qid, value in zip(one.qids, one.values(metric), strict=True):
            if qid in place:
                row[place[qid]] = value
    sign = metric.sign
    mine = values[systems.index(own)]
    above = int((sign * mine > sign * _median(values)).sum())
    means = np.array([one.value(metric) for one in systems])
    rows = [
        _row("all queries", means, systems.index(own), metric),
        *(_row(q, values[:, at], systems.index(own), metric) for q, at in place.items()),
    ]
    note = f"{counted(len(systems), 'run')}; above the median in {above:,} of "
    note += f"{counted(len(place), 'query', 'queries')}; bold: no run is better"
    header = ["query", "own", "best", "median", "worst"]
    return grid(header, rows, title=f"{heading(metric)}, {own.dataset}", notes=[note])


def _median(values: Floats) -> Floats:
    """Return the median of each column that has a value."""
    found = np.full(values.shape[1], np.nan)
    some = ~np.isnan(values).all(axis=0)
    found[some] = np.nanmedian(values[:, some], axis=0)
    return found


def _row(name: str, column: Floats, own: int, metric: Metric) -> list[str | Cell]:
    mine, defined, sign = float(column[own]), column[~np.isnan(column)], metric.sign
    if not defined.size:
        return [name, *[number(np.nan, metric)] * 4]
    best, worst = float(sign * (sign * defined).max()), float(sign * (sign * defined).min())
    shown = [number(one, metric) for one in (best, float(np.median(defined)), worst)]
    return [name, Cell(number(mine, metric), bold=mine == best != worst), *shown]
