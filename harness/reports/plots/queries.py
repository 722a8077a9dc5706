"""Every query's value: the distribution of each system, and a map of systems x queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.ragged import Floats
from ..text import cut_all
from . import plot
from .plot import Kind, Name, Request, Width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 200
"""Queries up to which each is a point; above, their density is drawn."""
BINS = 40
_GOLDEN = 0.6180339887498949
ROOM: dict[Width, int] = {"column": 18, "page": 45}
"""Queries up to which each has its name."""


@dataclass(frozen=True, eq=False)
class Box:
    """One system: its values in order; whiskers reach 1.5 times the box's length from it."""

    name: Name
    values: Floats
    quartiles: tuple[float, float, float]
    whiskers: tuple[float, float]
    mean: float


@dataclass(frozen=True, eq=False)
class Distribution:
    """What is drawn; a system without any value is left out."""

    boxes: tuple[Box, ...]
    metric: str


def quartiles(request: Request) -> Distribution:
    """Return the quartiles, whiskers and mean of each system's values."""
    boxes = []
    for system, name in zip(request.systems, request.named(request.systems), strict=True):
        values = np.sort(system.values(request.metric))
        values = values[np.isfinite(values)]
        if not values.size:
            continue
        low, middle, high = (float(q) for q in np.quantile(values, [0.25, 0.5, 0.75]))
        reach = 1.5 * (high - low)
        inside = values[(values >= low - reach) & (values <= high + reach)]
        whiskers = float(inside[0]), float(inside[-1])
        boxes.append(Box(name, values, (low, middle, high), whiskers, float(values.mean())))
    if not boxes:
        raise request.refuse("no query has a value")
    return Distribution(tuple(boxes), request.axis(request.metric))


def draw_boxes(found: Distribution, width: Width) -> Figure:
    """Return a row for each system, in order from above."""
    rows = len(found.boxes)
    each = 0.3 if rows <= 15 else 0.19  # a page is about 9 inches high
    figure = plot.figure(width, rows * each + 0.5)
    axes = figure.subplots()
    low = min(float(box.values[0]) for box in found.boxes)
    high = max(float(box.values[-1]) for box in found.boxes)
    pad = 0.03 * (high - low) or 0.5
    colours = [plot.look(box.name.place).colour for box in found.boxes]
    place = np.arange(rows)
    few = np.array([box.values.size <= POINTS for box in found.boxes])
    for row in place[~few]:
        _density(axes, row, found.boxes[row].values, colours[row], (low, high))
    for row in place[few]:
        _points(axes, row, found.boxes[row].values, colours[row])
    heights = np.where(few, 0.6, 0.24)
    begin, middle, end = np.array([box.quartiles for box in found.boxes]).T
    first, last = np.array([box.whiskers for box in found.boxes]).T
    axes.hlines(
        np.tile(place, 2), np.append(first, end), np.append(begin, last), color=colours * 2,
        linewidth=0.8, zorder=2.5,
    )  # fmt: skip
    axes.barh(
        place, end - begin, heights, left=begin, edgecolor=colours, linewidth=0.9, zorder=3,
        facecolor=["white" if height < 0.5 else "none" for height in heights],
    )  # fmt: skip
    axes.vlines(
        middle, place - heights / 2, place + heights / 2, color=colours, linewidth=2, zorder=4
    )
    axes.plot(
        [box.mean for box in found.boxes], place, "D", markersize=3.2, markerfacecolor="white",
        markeredgecolor="black", markeredgewidth=0.7, zorder=5,
    )  # fmt: skip
    axes.set_xlim(low - pad, high + pad)
    plot.label_rows(axes, [box.name.label for box in found.boxes])
    axes.set_xlabel(found.metric)
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


DISTRIBUTION = Kind(quartiles, draw_boxes)


@dataclass(frozen=True, eq=False)
class Heatmap:
    """What is drawn: values ``(n_systems, n_queries)``, the query with the worst mean first."""

    names: tuple[Name, ...]
    qids: tuple[str, ...]
    values: Floats
    metric: str


def by_difficulty(request: Request) -> Heatmap:
    """Return the values, their columns ordered by the mean of those that are defined."""
    qids, values = request.matrix(request.systems, request.metric)
    has = np.isfinite(values)
    if not has.any():
        raise request.refuse("no query has a value")
    count = has.sum(axis=0)
    mean = np.where(has, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    order = np.argsort(np.where(count, request.metric.sign * mean, np.inf), kind="stable")
    return Heatmap(
        request.named(request.systems, 0.45), tuple(qids[place] for place in order),
        np.where(has, values, np.nan)[:, order], request.axis(request.metric),
    )  # fmt: skip


def draw_map(found: Heatmap, width: Width) -> Figure:
    """Return the map; its scale is below it, and cells without a value are grey."""
    from matplotlib import colormaps

    rows, columns = found.values.shape
    named = columns <= ROOM[width]
    labels = cut_all(found.qids, 14) if named else []
    below = 0.065 * max(map(len, labels), default=0)
    height = rows * 0.17 + 0.95 + below
    figure = plot.figure(width, height)
    axes = figure.subplots()
    shades = colormaps["cividis"].with_extremes(bad=plot.PALE)
    image = axes.imshow(found.values, aspect="auto", cmap=shades, interpolation="none")
    axes.set_yticks(range(rows), [name.label for name in found.names])
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
        label=found.metric,
        fraction=0.09 / height,
        aspect=30 if width == "column" else 60,
        shrink=0.8,
        pad=0.03 / height,
    ).outline.set_visible(False)
    return figure


HEATMAP = Kind(by_difficulty, draw_map)
