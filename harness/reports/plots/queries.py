"""Every query's value: the distribution of each system, and a map of systems x queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.ragged import Floats
from ...core.systems import matrix
from ..text import cut_all
from . import plot
from .plot import PlotKind, PlotRequest, Width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 200
"""Queries up to which each is a point; above, their density is drawn."""
BINS = 40
_GOLDEN = 0.6180339887498949
ROOM: dict[Width, int] = {"column": 18, "page": 45}
"""Queries up to which each has its name."""


def draw_distribution(request: PlotRequest) -> Figure:
    """Return a row for each system with a value, in order from above.

    The whiskers of a box reach the last values within 1.5 times its length.
    """
    names, colours, values = [], [], []
    for system, name in zip(request.systems, request.named(request.systems), strict=True):
        own = system.values(request.metric)
        if np.isfinite(own).any():
            names.append(name.label)
            colours.append(plot.look(name.place).colour)
            values.append(np.sort(own[np.isfinite(own)]))
    if not values:
        raise request.refuse("no query has a value")
    each = 0.3 if len(values) <= 15 else 0.19  # a page is about 9 inches high
    figure = plot.figure(request.settings.width, len(values) * each + 0.5)
    axes = figure.subplots()
    low, high = (float(end(own[at] for own in values)) for end, at in ((min, 0), (max, -1)))
    few = np.array([own.size <= POINTS for own in values])
    for row in np.flatnonzero(~few).tolist():
        _density(axes, row, values[row], colours[row], (low, high))
    for row in np.flatnonzero(few).tolist():
        _points(axes, row, values[row], colours[row])
    place, heights = np.arange(len(values)), np.where(few, 0.6, 0.24)
    begin, middle, end = np.array([np.quantile(own, [0.25, 0.5, 0.75]) for own in values]).T
    reach = 1.5 * (end - begin)
    inside = [
        own[(own >= least) & (own <= most)]
        for own, least, most in zip(values, begin - reach, end + reach, strict=True)
    ]
    axes.hlines(
        np.tile(place, 2), [*(own[0] for own in inside), *end],
        [*begin, *(own[-1] for own in inside)], color=colours * 2, linewidth=0.8, zorder=2.5,
    )  # fmt: skip
    axes.barh(
        place, end - begin, heights, left=begin, edgecolor=colours, linewidth=0.9, zorder=3,
        facecolor=np.where(few, "none", "white"),
    )  # fmt: skip
    axes.vlines(
        middle, place - heights / 2, place + heights / 2, color=colours, linewidth=2, zorder=4
    )
    axes.plot(
        [own.mean() for own in values], place, "D", markersize=3.2, markerfacecolor="white",
        markeredgecolor="black", markeredgewidth=0.7, zorder=5,
    )  # fmt: skip
    pad = 0.03 * (high - low) or 0.5
    axes.set_xlim(low - pad, high + pad)
    plot.label_rows(axes, names)
    axes.set_xlabel(request.axis(request.metric))
    return figure


def _points(axes: Axes, row: int, values: Floats, colour: str) -> None:
    """Draw each value as a point, at a fixed, even offset: the same in every drawing."""
    spread = (np.arange(values.size) * _GOLDEN) % 1 - 0.5
    axes.plot(
        values, row + 0.6 * spread, ".", color=colour, alpha=0.45, markersize=3.5,
        markeredgewidth=0, zorder=2,
    )  # fmt: skip


def _density(axes: Axes, row: int, values: Floats, colour: str, span: tuple[float, float]) -> None:
    counts, edges = np.histogram(values, BINS, range=span if span[0] < span[1] else None)
    half = 0.42 * counts / counts.max()
    half = np.append(half, half[-1])
    axes.fill_between(
        edges, row - half, row + half, step="post", color=colour, alpha=0.35, linewidth=0
    )


DISTRIBUTION = PlotKind(draw_distribution)


def draw_heatmap(request: PlotRequest) -> Figure:
    """Return a map of systems x queries, the query with the worst mean first.

    Its scale is below it, and cells without a value are grey.
    """
    from matplotlib import colormaps

    qids, values = matrix(request.systems, request.metric)
    has, width = np.isfinite(values), request.settings.width
    if not has.any():
        raise request.refuse("no query has a value")
    count = has.sum(axis=0)
    mean = np.where(has, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    order = np.argsort(np.where(count, request.metric.sign * mean, np.inf), kind="stable")
    rows, columns = values.shape
    named = columns <= ROOM[width]
    labels = cut_all([qids[at] for at in order], 14) if named else []
    below = 0.065 * max(map(len, labels), default=0)
    height = rows * 0.17 + 0.95 + below
    figure = plot.figure(width, height)
    axes = figure.subplots()
    shades = colormaps["cividis"].with_extremes(bad=plot.PALE)
    shown = np.where(has, values, np.nan)[:, order]
    image = axes.imshow(shown, aspect="auto", cmap=shades, interpolation="none")
    axes.set_yticks(range(rows), [name.label for name in request.named(request.systems, 0.45)])
    if named:
        axes.set_xticks(range(columns), labels, rotation=90)
        axes.set_xlabel("query, hardest to easiest")
    else:
        axes.set_xticks([])
        axes.set_xlabel(f"{columns:,} queries, hardest to easiest")
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    figure.colorbar(
        image,
        ax=axes,
        location="bottom",
        label=request.axis(request.metric),
        fraction=0.09 / height,
        aspect=30 if width == "column" else 60,
        shrink=0.8,
        pad=0.03 / height,
    ).outline.set_visible(False)
    return figure


HEATMAP = PlotKind(draw_heatmap)
