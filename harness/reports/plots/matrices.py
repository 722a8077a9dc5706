"""Maps of shades: systems by queries, the correlation of metrics, and the similarity of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.ragged import Floats
from ...core.systems import matrix
from ...errors import HarnessError, counted
from ..text import cut_all
from . import plot
from .plot import PlotKind, PlotRequest, Width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOM: dict[Width, int] = {"column": 18, "page": 45}
"""Queries up to which each has its name."""


def draw_heatmap(request: PlotRequest) -> Figure:
    """Return a map of systems x queries, the query with the worst mean first.

    Its scale is below it, and cells without a value are grey. Means are over all systems.
    """
    qids, values = matrix(request.systems, request.metric)
    has, width = np.isfinite(values), request.settings.width
    if not has.any():
        raise request.refuse("no query has a value")
    count = has.sum(axis=0)
    mean = np.where(has, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    order = np.argsort(np.where(count, request.metric.sign * mean, np.inf), kind="stable")
    systems, note = request.best_rows(request.systems)
    rows = np.array([request.systems.index(system) for system in systems])
    n_queries = values.shape[1]
    labels = cut_all([qids[k] for k in order], 24) if n_queries <= ROOM[width] else []
    below = (
        "query, hardest to easiest"
        if labels
        else f"{counted(n_queries, 'query', 'queries')}, hardest to easiest"
    )
    names = [name.label for name in request.named(systems, 0.45)]
    shown = np.where(has, values, np.nan)[np.ix_(rows, order)]
    return _map(shown, names, labels, below, request.axis(request.metric) + note, width)


def _map(
    values: Floats,
    rows: Sequence[str],
    columns: Sequence[str],
    below: str,
    scale: str,
    width: Width,
    *,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """Return a map with names of rows and, if there are any, of columns, and its scale below.

    With the limits of the scale, each cell has its number if that fits.
    """
    from matplotlib import colormaps

    text = plot.lines(1) / 0.165
    high = 0.065 * max((len(part) for label in columns for part in label.split("\n")), default=0)
    height = plot.rows_high(rows, 1.03) + (0.95 + high) * text + plot.lines(scale.count("\n"))
    figure = plot.figure(width, height)
    axes = figure.subplots()
    shades = colormaps["cividis"].with_extremes(bad=plot.PALE)
    low, top = limits or (None, None)
    image = axes.imshow(
        values, aspect="auto", cmap=shades, interpolation="none", vmin=low, vmax=top
    )
    axes.set_yticks(range(len(rows)), rows, linespacing=1)
    axes.set_xticks(range(len(columns)), columns, rotation=90)
    axes.set_xlabel(below)
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    longest = max(len(part) for label in rows for part in label.split("\n"))
    room = plot.INCHES[width] - (0.07 * longest + 0.1) * text
    if limits and room / values.shape[1] >= 0.29 * text:
        for (row, column), value in np.ndenumerate(values):
            if np.isfinite(value):
                dark = value < limits[0] + 0.55 * (limits[1] - limits[0])
                number = f"{value:.2f}".replace("-", "−")
                style: dict[str, Any] = {"ha": "center", "va": "center"}
                axes.text(column, row, number, color="white" if dark else "black", **style)
    size: dict[str, Any] = {"fraction": 0.09 / height, "aspect": 30 if width == "column" else 60}
    size |= {"shrink": 0.8, "pad": 0.08 / height}
    bar = figure.colorbar(image, ax=axes, location="bottom", label=scale, **size)
    bar.outline.set_visible(False)
    return figure


def draw_metric_correlation(request: PlotRequest) -> Figure:
    """Return Kendall's tau-b of the orders of systems by every pair of metrics."""
    from ...stats.metric_correlation import correlations  # which loads SciPy

    names = [str(metric) for metric in request.metrics]
    try:
        pairs = correlations(request.systems, names, draws=1)
    except HarnessError as error:
        raise request.refuse(error.problems[0].what, error.problems[0].fix) from None
    place, width = {name: k for k, name in enumerate(names)}, request.settings.width
    values = np.eye(len(names))
    for pair in pairs:
        k, j = place[pair.metric], place[pair.other]
        values[k, j] = values[j, k] = pair.tau_b
    labels = [request.short(metric) for metric in request.metrics]
    scale = f"τ of {len(request.systems)} systems, {counted(pairs[0].queries, 'query', 'queries')}"
    least = min(0.0, float(np.nanmin(values)))
    return _map(values, labels, labels, "", scale, width, limits=(least, 1.0))


def draw_run_similarity(request: PlotRequest) -> Figure:
    """Return the rank-biased overlap of every pair of systems, similar ones side by side."""
    systems, width = request.systems[: plot.ROWS], request.settings.width
    if len(systems) < 2:
        raise request.refuse("there is one run only, and nothing to compare it with")
    try:
        similarity = request.study.similarity(systems)
    except HarnessError as error:
        raise request.refuse(error.problems[0].what, error.problems[0].fix) from None
    ordered = [systems[int(k)] for k in similarity.runs]
    rows = [name.label for name in request.named(ordered, 0.45)]
    left_out = len(request.systems) - len(systems)
    scale = similarity.measure
    scale += f"\nthe first {len(systems)} of {len(request.systems)} systems" if left_out else ""
    below = "the same systems, in this order"
    return _map(similarity.values, rows, [], below, scale, width, limits=(0.0, 1.0))


HEATMAP = PlotKind(draw_heatmap)
METRIC_CORRELATION = PlotKind(
    draw_metric_correlation,
    lambda metrics: [chosen] if len(chosen := tuple(metrics)) > 1 else [],
    lambda _: (),
    "two metrics or more",
)
RUN_SIMILARITY = PlotKind(draw_run_similarity, lambda _: [()], lambda _: (), takes_metrics=False)
