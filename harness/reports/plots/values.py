"""Plots of values: metric by metric or by cost, and their spread over queries and systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.evaluation import summarise
from ...core.ragged import Bools, Floats
from ...core.systems import matrix
from ...errors import HarnessError, counted, first_of, warn
from ..phrases import cost_of
from ..text import cut_all
from . import plot
from .lines import positions
from .plot import Name, PlotKind, PlotRequest, Width, best_of_many

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_scatter(request: PlotRequest) -> Figure:
    """Return a point for each system, or for each query of the only one.

    Kendall's tau-b of the two orders is in the corner that the points leave free.
    """
    names, systems = request.named(request.systems, 0.85), request.systems
    width, is_of_queries = request.settings.width, len(names) == 1
    x, y = (np.array([system.value(metric) for system in systems]) for metric in request.metrics)
    if is_of_queries:
        x, y = (systems[0].values(metric) for metric in request.metrics)
    both = np.isfinite(x) & np.isfinite(y)
    if both.sum() < 2:
        raise request.refuse("fewer than two points have both values")
    x, y = x[both], y[both]
    mask = np.zeros(x.size, dtype=bool)
    if not is_of_queries:
        names = tuple(name for name, has in zip(names, both, strict=True) if has)
        mask = best_of_many(y, request.metrics[1])
    figure, axes = _points_of_systems(names, mask, x, y, width, 2.6 if width == "column" else 4.2)
    if is_of_queries:
        colour = plot.look(names[0].place).colour
        size, alpha = (3.5, 0.6) if x.size <= 500 else (2.0, 0.25)
        axes.plot(x, y, "o", color=colour, markersize=size, alpha=alpha, markeredgewidth=0)
        axes.set_title(
            f"{names[0].label}, {counted(x.size, 'query', 'queries')}", loc="left", pad=3
        )
    axes.margins(0.08, 0.14)
    axes.locator_params(axis="x", nbins=5 if width == "column" else 9)
    axes.set_xlabel(request.axis(request.metrics[0]))
    axes.set_ylabel(request.short(request.metrics[1]))
    is_rising = bool(((x - x.mean()) * (y - y.mean())).sum() >= 0)
    text = "τ not defined" if x.size > 2 else ""
    if text and np.ptp(x) and np.ptp(y):
        from scipy.stats import kendalltau

        signs = [metric.sign for metric in request.metrics]
        text = f"τ = {kendalltau(signs[0] * x, signs[1] * y).statistic:.2f}".replace("-", "−")
    corner, ha = (0.03, "left") if is_rising else (0.97, "right")
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
    axes.text(corner, 0.97, text, transform=axes.transAxes, va="top", ha=ha, bbox=box)
    return figure


def _points_of_systems(
    names: Sequence[Name], mask: Bools, x: Floats, y: Floats, width: Width, high: float
) -> tuple[Figure, Axes]:
    """Return a figure with a point for each system: those of the mask named, the rest grey."""
    from matplotlib.lines import Line2D

    named, n_rest = [names[k] for k in np.flatnonzero(mask).tolist()], int((~mask).sum())
    is_of_systems = len(names) == len(mask)
    labels = [name.label for name in named]
    labels += [f"{n_rest} others"] if n_rest and is_of_systems else []
    figure = plot.figure(width, high + plot.lines(plot.legend_rows(labels, width)))
    axes = figure.subplots()
    handles: list[Artist] = []
    looks = plot.distinct_looks([name.place for name in named])
    for place, look in zip(np.flatnonzero(mask), looks, strict=True):
        # named systems before this one at the same place, as far as one can see
        near = [np.abs(v[:place] - v[place]) <= 0.02 * np.ptp(v) for v in (x, y)]
        below = int((near[0] & near[1] & mask[:place]).sum())
        style: dict[str, Any] = {"alpha": 0.8, "markeredgecolor": "white", "markeredgewidth": 0.4}
        if below:  # a ring around those that it would hide
            style = {"markerfacecolor": "none", "markeredgewidth": 0.9}
        style |= {"color": look.colour, "markersize": 5.5 + 3 * below, "zorder": 3}
        axes.plot(x[place], y[place], look.marker, **style)
        shape = style | {"markersize": 5.5, "linestyle": "none"}
        handles.append(Line2D([], [], marker=look.marker, **shape))
    if n_rest and is_of_systems:
        grey: dict[str, Any] = {"color": plot.GREY, "alpha": 0.7, "markeredgewidth": 0}
        handles += axes.plot(x[~mask], y[~mask], "o", markersize=3, zorder=1, **grey)
    plot.legend(figure, handles, labels, width)
    return figure, axes


SCATTER = PlotKind(
    draw_scatter, lambda metrics: combinations(metrics, 2), needs="two metrics or more"
)


def draw_pareto(request: PlotRequest) -> Figure:
    """Return each system's mean against its metadata, and the frontier: no system is both better
    and lower in the column than one of it."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    over, metric, systems = request.settings.over, request.metric, request.systems
    try:
        table = request.study.metadata
    except HarnessError as error:
        raise request.refuse_kind(error.problems[0].what, error.problems[0].fix) from None
    if not table:
        fix = "write 'page: {metadata: runs.csv}', a CSV file with the columns run and " + over
        raise request.refuse_kind("the config has no metadata of runs", fix)
    columns = dict.fromkeys(name for row in table.values() for name in row)
    if over not in columns:
        raise request.refuse_kind(f"expected the column '{over}', got {first_of(columns)}")
    texts = [table.get(system.entries[0].run, {}).get(over, "") for system in systems]
    costs = np.array([cost_of(text) for text in texts])
    y = np.array([system.value(metric) for system in systems])
    both = np.isfinite(costs) & np.isfinite(y)
    if not both.any():
        raise request.refuse(f"no system has a number in the column '{over}'")
    if not both.all():
        rest = [system.run for system, has in zip(systems, both, strict=True) if not has]
        warn(f"plots: pareto of {metric} on {request.dataset}: no number of {over} for "
             f"{first_of(rest, 3)}")  # fmt: skip
    names = [name for name, has in zip(request.named(systems, 0.85), both, strict=True) if has]
    costs, y = costs[both], y[both]
    best = frontier(costs, metric.sign * y)
    mask = np.ones(y.size, dtype=bool)
    if y.size > plot.ROOM:
        mask[:] = False
        mask[best] = True
    high = 2.4 if request.settings.width == "column" else 3.6
    figure, axes = _points_of_systems(names, mask, costs, y, request.settings.width, high)
    steps: dict[str, Any] = {"color": plot.GREY, "linewidth": 0.9, "linestyle": "--", "zorder": 1}
    axes.step(costs[best], y[best], where="post", label="frontier", **steps)
    if positions([f"{cost!r}" for cost in costs.tolist()])[1]:
        axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda cost, _: _short(cost)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(0.08, 0.14)
    axes.set_xlabel(f"{over} ↓ (dashed: frontier)")
    axes.set_ylabel(request.weighted + request.short(metric))
    return figure


def _short(cost: float) -> str:
    """Return the label of a tick.

    >>> _short(0.05), _short(1500.0), _short(2.5e7)
    ('0.05', '1500', '25M')
    """
    for size, sign in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e4, "k")):
        if abs(cost) >= size:
            return f"{cost / min(size, 1e3 if sign == 'k' else size):g}{sign}"
    return f"{cost:g}"


def frontier(costs: Floats, worth: Floats) -> list[int]:
    """Places that no other point beats in both, in order of their cost.

    >>> frontier(np.array([3.0, 1.0, 2.0, 4.0]), np.array([0.5, 0.2, 0.1, 0.5]))
    [1, 0]
    """
    best, places = -math.inf, []
    for place in np.lexsort((-worth, costs)).tolist():
        if worth[place] > best:
            best = worth[place]
            places.append(place)
    return places


PARETO = PlotKind(draw_pareto, over="the column of page.metadata on its axis latency")


POINTS = 200
"""Queries up to which each is a point; above, their density is drawn."""
BINS = 40
_GOLDEN = 0.6180339887498949


def draw_distribution(request: PlotRequest) -> Figure:
    """Return a row for each system with a value, in order from above.

    The whiskers of a box reach the last values within 1.5 times its length.
    """
    names, colours, values, averages = [], [], [], []
    systems, note = request.best_rows(request.systems)
    for system, name in zip(systems, request.named(systems), strict=True):
        numbers, weights = system.values(request.metric), system.weights(request.metric)
        is_finite = np.isfinite(numbers)
        if is_finite.any():
            of_finite = None if weights is None else weights[is_finite]
            averages.append(summarise(numbers[is_finite], "mean", of_finite))
            names.append(name.label)
            colours.append(plot.look(name.place).colour)
            values.append(np.sort(numbers[np.isfinite(numbers)]))
    if not values:
        raise request.refuse("no query has a value")
    least = 1.8 if len(values) <= 15 else 1.15  # a page is about 9 inches high
    height = plot.rows_high(names, least) + plot.lines(3 + bool(note))
    figure = plot.figure(request.settings.width, height)
    axes = figure.subplots()
    low = float(min(numbers[0] for numbers in values))
    high = float(max(numbers[-1] for numbers in values))
    is_small = np.array([numbers.size <= POINTS for numbers in values])
    for row in np.flatnonzero(~is_small).tolist():
        _density(axes, row, values[row], colours[row], (low, high))
    for row in np.flatnonzero(is_small).tolist():
        _points(axes, row, values[row], colours[row])
    place, heights = np.arange(len(values)), np.where(is_small, 0.6, 0.24)
    begin, middle, end = np.array([np.quantile(numbers, [0.25, 0.5, 0.75]) for numbers in values]).T
    reach = 1.5 * (end - begin)
    rows = zip(values, begin - reach, end + reach, strict=True)
    inside = [x[(x >= least) & (x <= upper)] for x, least, upper in rows]
    starts = [*(numbers[0] for numbers in inside), *end]
    stops = [*begin, *(numbers[-1] for numbers in inside)]
    axes.hlines(np.tile(place, 2), starts, stops, color=colours * 2, linewidth=0.8, zorder=2.5)
    box: dict[str, Any] = {"edgecolor": colours, "facecolor": np.where(is_small, "none", "white")}
    axes.barh(place, end - begin, heights, left=begin, linewidth=0.9, zorder=3, **box)
    top, bottom = place - heights / 2, place + heights / 2
    axes.vlines(middle, top, bottom, color=colours, linewidth=2, zorder=4)
    style: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": "black"}
    axes.plot(averages, place, "D", markersize=3.2, markeredgewidth=0.7, zorder=5, **style)
    pad = 0.03 * (high - low) or 0.5
    axes.set_xlim(low - pad, high + pad)
    plot.label_rows(axes, names)
    mean = f"{request.weighted}mean"
    text = f"{request.axis(request.metric)}; box: quartiles; diamond: {mean}{note}"
    plot.label_below(figure, text, request.settings.width)
    return figure


def _points(axes: Axes, row: int, values: Floats, colour: str) -> None:
    """Draw each value as a point, at a fixed, even offset: the same in every drawing."""
    spread = (np.arange(values.size) * _GOLDEN) % 1 - 0.5
    style: dict[str, Any] = {"color": colour, "alpha": 0.45, "markeredgewidth": 0}
    axes.plot(values, row + 0.6 * spread, ".", markersize=3.5, zorder=2, **style)


def _density(axes: Axes, row: int, values: Floats, colour: str, span: tuple[float, float]) -> None:
    counts, edges = np.histogram(values, BINS, range=span if span[0] < span[1] else None)
    half = 0.42 * counts / counts.max()
    half = np.append(half, half[-1])
    style: dict[str, Any] = {"color": colour, "alpha": 0.35, "linewidth": 0}
    axes.fill_between(edges, row - half, row + half, step="post", **style)


DISTRIBUTION = PlotKind(draw_distribution)


FEW = 4
"""Systems up to which each is a point, as quartiles of so few say nothing."""
MOST_QUERIES = 50
"""Queries that fit into a picture with their names."""


def draw_difficulty(request: PlotRequest) -> Figure:
    """Return a box over the systems for each query, the query with the lowest median first.

    Of few systems each is a point. More queries than fit are bands without names.
    """
    qids, values = matrix(request.systems, request.metric)
    worth, width = request.metric.sign * values, request.settings.width
    has = np.isfinite(values).any(axis=0)
    if not has.any():
        raise request.refuse("no query has a value")
    values, places = values[:, has], np.flatnonzero(has)
    hardest = np.lexsort((np.nanmean(worth[:, has], 0), np.nanmedian(worth[:, has], 0)))
    values, labels = values[:, hardest], [qids[places[k]] for k in hardest]
    is_few, n_queries = len(values) <= FEW, len(labels)
    if n_queries > MOST_QUERIES:
        return _bands(request, values)
    labels = cut_all(labels, 24)
    longest = max(map(len, labels))
    # names of queries are in rows if they do not fit below a wide picture
    is_wide = n_queries * plot.lines(0.78) + 0.5 <= plot.INCHES[width] and longest <= 16
    names = request.named(request.systems, 0.85) if is_few else ()
    keys = [name.label for name in names]
    below = plot.lines(plot.legend_rows(keys, width))
    high = 1.9 + 0.065 * longest if is_wide else plot.rows_high(labels, 0.92) + plot.lines(4)
    figure = plot.figure(width, high + below)
    axes = figure.subplots()
    at, handles = np.arange(n_queries), []
    for name, row in zip(names, values, strict=False):
        look = plot.look(name.place)
        xy = (at, row) if is_wide else (row, at)
        style: dict[str, Any] = {"color": look.colour, "markersize": 4, "linestyle": "none"}
        handles += axes.plot(*xy, marker=look.marker, markeredgewidth=0, alpha=0.8, **style)
    if not is_few:
        _boxes(axes, values, is_wide)
    if is_wide:
        axes.set_xticks(at, labels, rotation=90)
        axes.tick_params(axis="x", length=0)
        axes.set_xlim(-0.7, n_queries - 0.3)
    else:
        plot.label_rows(axes, labels)
    order = "queries, hardest to easiest"
    boxes = "" if is_few else f"boxes over {len(values)} systems"
    if is_wide:
        axes.set_ylabel(request.short(request.metric))
        axes.set_xlabel("; ".join(filter(None, [order, boxes])))
    else:
        rows = filter(None, [request.axis(request.metric), order, boxes])
        axes.set_xlabel("\n".join(rows))
    plot.legend(figure, handles, keys, width)
    return figure


def _boxes(axes: Axes, values: Floats, is_wide: bool) -> None:
    at = np.arange(values.shape[1])
    low, begin, middle, end, high = np.nanquantile(values, [0, 0.25, 0.5, 0.75, 1], axis=0)
    bars, whiskers, ends = (
        (axes.bar, axes.vlines, axes.hlines) if is_wide else (axes.barh, axes.hlines, axes.vlines)
    )
    start = {"bottom" if is_wide else "left": begin}
    box: dict[str, Any] = {"facecolor": plot.PALE, "edgecolor": "black", "linewidth": 0.5}
    whiskers(at, low, high, color="black", linewidth=0.6, zorder=1)
    bars(at, end - begin, 0.64, zorder=2, **start, **box)
    ends(middle, at - 0.32, at + 0.32, color=plot.COLOURS[1], linewidth=1.6, zorder=3)


def _bands(request: PlotRequest, values: Floats) -> Figure:
    figure = plot.figure(request.settings.width, 2.6)
    axes = figure.subplots()
    at = np.arange(values.shape[1])
    low, begin, middle, end, high = np.nanquantile(values, [0, 0.25, 0.5, 0.75, 1], axis=0)
    parts = (
        axes.fill_between(at, low, high, color=plot.PALE, linewidth=0),
        axes.fill_between(at, begin, end, color=plot.GREY, linewidth=0),
        *axes.plot(at, middle, color="black", linewidth=1),
    )
    axes.set_xticks([])
    axes.set_ylabel(request.short(request.metric))
    axes.set_xlabel(f"{values.shape[1]:,} queries, hardest to easiest")
    labels = [f"all {len(values)} systems", "half of them", "median"]
    plot.legend(figure, parts, labels, request.settings.width)
    return figure


DIFFICULTY = PlotKind(draw_difficulty)
