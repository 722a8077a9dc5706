"""Plots of values: by cutoff, by metric, by setting, their spread over queries, a heat map."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.entries import Entry, grouped_by
from ...core.evaluation import summarise
from ...core.metric import Metric
from ...core.ragged import Floats
from ...core.systems import matrix
from ...errors import UnknownNameError
from ..leaderboard import plan_of
from ..sweep import is_validation, sweep
from ..text import cut_all
from . import plot
from .plot import Name, PlotKind, PlotRequest, Width, best_of_many

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Curve(NamedTuple):
    """One system's values ``(n_settings,)``, NaN if it has none; `shown` if the legend names it.

    `low` and `high` are its intervals, `validation` its values on validation queries.
    """

    name: Name
    shown: bool
    values: Floats
    low: Floats
    high: Floats
    validation: Floats


def families(metrics: Sequence[Metric]) -> Iterable[tuple[Metric, ...]]:
    """Return the metrics that differ in their cutoff alone, two or more together."""
    cut_off = [metric for metric in metrics if metric.cutoff is not None and metric.label is None]
    groups = grouped_by(cut_off, lambda metric: replace(metric, cutoff=None)).values()
    return [
        tuple(sorted(family, key=lambda metric: metric.cutoff or 0))
        for family in groups
        if len(family) > 1
    ]


def draw_cutoffs(request: PlotRequest) -> Figure:
    """Return each system's summary at each cutoff."""
    metrics = request.metrics
    values = np.array([[system.value(m) for m in metrics] for system in request.systems])
    if not np.isfinite(values).any():
        raise request.refuse("no query has a value")
    names, nothing = request.named(request.systems, 0.85), np.full(values.shape[1], np.nan)
    mask = best_of_many(values[:, -1], request.metric)
    rows = zip(names, mask, values, strict=True)
    lines = [Curve(*row, nothing, nothing, nothing) for row in rows]
    label = request.weighted + request.short(replace(request.metric, cutoff=None))
    settings = [f"{metric.cutoff:g}" for metric in metrics]
    return _lines("cutoff", settings, lines, label, request.settings.width)


def draw_sweep(request: PlotRequest) -> Figure:
    """Return each run's mean and interval at each value of the setting."""
    study, over, metric = request.study, request.settings.over, str(request.metric)
    try:
        board = study.board.memo(f"sweep {over}", lambda: sweep(study, [over], plan_of(study)))
    except UnknownNameError as error:
        raise request.refuse(error.problems[0].what, error.problems[0].fix) from None
    runs = {entry.run for system in request.systems for entry in system.entries}
    curves: dict[tuple[str, ...], dict[str, Entry]] = {}
    before: dict[tuple[str, ...], dict[str, Entry]] = {}
    settings = list(dict.fromkeys(entry.columns[over] for entry in board.entries))
    for cell in board.entries:
        label = cell.run, *(f"{name}={text}" for name, text in cell.columns.items() if name != over)
        if cell.dataset == request.dataset and cell.run in runs:
            curves.setdefault(label, {})[cell.columns[over]] = cell
        elif is_validation(board, cell):
            before.setdefault(label, {})[cell.columns[over]] = cell
    if not curves:
        raise request.refuse(f"no run has the column '{over}'")

    def means(entries: Mapping[str, Entry]) -> Floats:
        summaries = (entries[setting].summary if setting in entries else {} for setting in settings)
        return np.array([summary.get(metric, nan) for summary in summaries])

    def ends(entries: Mapping[str, Entry], which: str) -> Floats:
        spreads = (entries[text].spread if text in entries else {} for text in settings)
        return np.array([getattr(spread.get(metric), which, nan) for spread in spreads])

    names = [" ".join((request.called(run), *rest)) for run, *rest in curves]
    labels = cut_all(names, plot.characters(request.settings.width, 0.85))
    sign = request.metric.sign
    values = [means(entries) for entries in curves.values()]
    peaks = [sign * max(sign * row[~np.isnan(row)], default=nan) for row in values]
    mask = best_of_many(np.array(peaks), request.metric)
    lines = []
    for place, (label, entries) in enumerate(curves.items()):
        low, high, validation = ends(entries, "low"), ends(entries, "high"), before.get(label, {})
        name = Name(labels[place], place)
        lines.append(Curve(name, mask[place], values[place], low, high, means(validation)))
    axis = request.weighted
    axis += request.short(request.metric, plot.characters(request.settings.width, 0.8))
    return _lines(over, settings, lines, axis, request.settings.width)


def _lines(
    over: str, settings: Sequence[str], lines: Sequence[Curve], metric: str, width: Width
) -> Figure:
    """Return the lines with their intervals; validation values are dotted."""
    named = [line for line in lines if line.shown]
    n_unnamed = len(lines) - len(named)
    has_validation = any(not np.isnan(line.validation).all() for line in named)
    labels = [line.name.label for line in named]
    labels += [f"{n_unnamed} others"] if n_unnamed else []
    labels += ["on validation queries"] if has_validation else []
    figure = plot.figure(width, 2.1 + plot.ROW * plot.legend_rows(labels, width))
    axes = figure.subplots()
    places, is_log = positions(settings)
    for line in lines:
        if not line.shown:
            axes.plot(places, line.values, color=plot.PALE, linewidth=0.7, zorder=1)
    handles = []
    scale = np.log(places) if is_log else np.array(places)
    # lines with intervals are drawn next to each other, so that no interval covers another
    has_intervals = any(not np.isnan(line.low).all() for line in named)
    step = has_intervals * np.ptp(scale) / 60 * min(1, 20 / len(places) / max(1, len(named)))
    for place, line in enumerate(named):
        look = plot.look(line.name.place)
        moved = scale + (place - (len(named) - 1) / 2) * step
        x = np.exp(moved) if is_log else moved
        style = {"marker": look.marker, "markersize": 3.5, "linestyle": look.line}
        handles += axes.plot(x, line.values, color=look.colour, zorder=3, **style)
        axes.vlines(x, line.low, line.high, color=look.colour, linewidth=0.7, zorder=2)
        axes.plot(x, line.validation, color=look.colour, linestyle=":", linewidth=0.8, zorder=2)
    if n_unnamed:
        handles += axes.plot([], [], color=plot.PALE)
    if has_validation:
        handles += axes.plot([], [], color=plot.GREY, linestyle=":", linewidth=0.8)
    if is_log:
        axes.set_xscale("log")
    labelled = ticks(places, is_log, 9 if width == "column" else 22)
    axes.set_xticks([places[place] for place in labelled], [settings[place] for place in labelled])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(over)
    if len(metric) <= ROTATED:
        axes.set_ylabel(metric)
    else:  # it does not fit next to the axis
        axes.set_title(metric, loc="left")
    plot.legend(figure, handles, labels, width)
    return figure


ROTATED = 24
"""Characters of a label next to an axis of a low picture."""


def positions(settings: Sequence[str]) -> tuple[list[float], bool]:
    """Return places on the axis, and whether its scale is logarithmic.

    It is if the largest number is more than ten times the smallest and the steps are more even.

    >>> positions(["0.01", "0.1", "1"]), positions(["relu", "tanh"])
    (([0.01, 0.1, 1.0], True), ([0.0, 1.0], False))
    >>> positions([*map(str, range(1, 13))])[1], positions(["5", "10", "20", "100"])[1]
    (False, True)
    """
    try:
        x = [float(text) for text in settings]
    except ValueError:
        x = [nan]
    if not all(map(math.isfinite, x)) or len({*x}) < len(x):
        return [*map(float, range(len(settings)))], False
    if min(x) <= 0 or max(x) <= 10 * min(x):
        return x, False
    steps, ratios = np.diff(sorted(x)), np.diff(np.log(sorted(x)))
    return x, bool(ratios.std() / ratios.mean() <= steps.std() / steps.mean())


def ticks(x: Sequence[float], is_log: bool, most: int) -> list[int]:
    """Places with a label: those far enough from the label before, and the last.

    >>> ticks([5, 10, 15, 20, 30, 100], True, 9)
    [0, 1, 2, 4, 5]
    """
    scale, end = (np.log(x) if is_log else np.array(x)), len(x) - 1
    apart, named = abs(scale[-1] - scale[0]) / most, [0]
    for place in range(1, end):
        is_far = abs(scale[place] - scale[named[-1]]) >= apart
        if is_far and abs(scale[end] - scale[place]) >= apart:
            named.append(place)
    return [*named, end] if end else named


CUTOFFS = PlotKind(
    draw_cutoffs,
    families,
    lambda metrics: (str(replace(metrics[0], cutoff=None)),),
    "a metric at two cutoffs or more, as in ndcg@5,10,20",
)
SWEEP = PlotKind(draw_sweep)


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
    mask = np.zeros(0, dtype=bool)
    if not is_of_queries:
        names = tuple(name for name, has in zip(names, both, strict=True) if has)
        mask = best_of_many(y, request.metrics[1])
    rest = ~mask
    labels = [name.label for name, is_shown in zip(names, mask, strict=False) if is_shown]
    labels += [f"{rest.sum()} others"] if rest.any() else []
    side = 2.6 if width == "column" else 4.2
    figure = plot.figure(width, side + plot.ROW * plot.legend_rows(labels, width))
    axes = figure.subplots()
    handles: list[Artist] = []
    if is_of_queries:
        colour = plot.look(names[0].place).colour
        size, alpha = (3.5, 0.6) if x.size <= 500 else (2.0, 0.25)
        axes.plot(x, y, "o", color=colour, markersize=size, alpha=alpha, markeredgewidth=0)
        axes.set_title(f"{names[0].label}, {x.size:,} queries", loc="left", pad=3)
    for place in np.flatnonzero(mask):
        look = plot.look(names[place].place)
        # named systems before this one at the same place, as far as one can see
        near = [np.abs(v[:place] - v[place]) <= 0.02 * np.ptp(v) for v in (x, y)]
        below = int((near[0] & near[1] & mask[:place]).sum())
        style: dict[str, Any] = {"alpha": 0.7, "markeredgecolor": "white", "markeredgewidth": 0.4}
        if below:  # a ring around those that it would hide
            style = {"markerfacecolor": "none", "markeredgewidth": 1.0}
        style |= {"color": look.colour, "markersize": 5.5 + 4 * below}
        handles += axes.plot(x[place], y[place], look.marker, **style)
    if rest.any():
        grey: dict[str, Any] = {"color": plot.GREY, "alpha": 0.7, "markeredgewidth": 0}
        handles += axes.plot(x[rest], y[rest], "o", markersize=3, zorder=1, **grey)
    axes.margins(0.08, 0.14)
    axes.set_xlabel(request.axis(request.metrics[0]))
    axes.set_ylabel(request.short(request.metrics[1]))
    is_rising = bool(((x - x.mean()) * (y - y.mean())).sum() >= 0)
    text = "τ not defined"
    if np.ptp(x) and np.ptp(y):
        from scipy.stats import kendalltau

        signs = [metric.sign for metric in request.metrics]
        text = f"τ = {kendalltau(signs[0] * x, signs[1] * y).statistic:.2f}".replace("-", "−")
    corner, ha = (0.03, "left") if is_rising else (0.97, "right")
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
    axes.text(corner, 0.97, text, transform=axes.transAxes, va="top", ha=ha, bbox=box)
    plot.legend(figure, handles, labels, width)
    return figure


SCATTER = PlotKind(
    draw_scatter, lambda metrics: combinations(metrics, 2), needs="two metrics or more"
)


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
    names, colours, values, averages = [], [], [], []
    for system, name in zip(request.systems, request.named(request.systems), strict=True):
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
    height = 0.3 if len(values) <= 15 else 0.19  # a page is about 9 inches high
    figure = plot.figure(request.settings.width, len(values) * height + 0.5)
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
    diamonds = "; diamonds: weighted means" if request.weighted else ""
    axes.set_xlabel(request.axis(request.metric) + diamonds)
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
    labels = cut_all([qids[k] for k in order], 14) if named else []
    below = 0.065 * max(map(len, labels), default=0)
    height = rows * 0.17 + 0.95 + below
    figure = plot.figure(width, height)
    axes = figure.subplots()
    shades = colormaps["cividis"].with_extremes(bad=plot.PALE)
    image_values = np.where(has, values, np.nan)[:, order]
    image = axes.imshow(image_values, aspect="auto", cmap=shades, interpolation="none")
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
    size = {"fraction": 0.09 / height, "aspect": 30 if width == "column" else 60}
    size |= {"shrink": 0.8, "pad": 0.03 / height}
    label = request.axis(request.metric)
    bar = figure.colorbar(image, ax=axes, location="bottom", label=label, **size)
    bar.outline.set_visible(False)
    return figure


HEATMAP = PlotKind(draw_heatmap)
