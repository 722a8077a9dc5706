"""Metrics of systems: against their cutoff, a setting of the runs in a sweep, or each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.leaderboard import Entry
from ...core.metric import Metric
from ...core.ragged import Floats
from ...errors import UnknownNameError
from ...stats.comparison import Plan
from ..sweep import is_validation, sweep
from ..text import cut_all
from . import plot
from .plot import Kind, Name, Request, Width, best_of_many

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Line:
    """One system's values ``(n_settings,)``, NaN if it has none; `shown` if the legend names it.

    `low` and `high` are its intervals, `validation` its values on validation queries.
    """

    name: Name
    values: Floats
    low: Floats
    high: Floats
    validation: Floats
    shown: bool = True


@dataclass(frozen=True, eq=False)
class Lines:
    """What is drawn: the cutoffs or settings on the axis in order, and a line for each system."""

    over: str
    settings: tuple[str, ...]
    lines: tuple[Line, ...]
    metric: str


def families(metrics: Sequence[Metric]) -> Iterable[tuple[Metric, ...]]:
    """Return the metrics that differ in their cutoff alone, two or more together."""
    found: dict[Metric, list[Metric]] = {}
    for metric in metrics:
        if metric.cutoff is not None and metric.label is None:
            found.setdefault(replace(metric, cutoff=None), []).append(metric)
    together = (sorted(family, key=lambda one: one.cutoff or 0) for family in found.values())
    return [tuple(family) for family in together if len(family) > 1]


def cutoffs(request: Request) -> Lines:
    """Return each system's summary at each cutoff."""
    values = np.array(
        [[one.value(metric) for metric in request.metrics] for one in request.systems]
    )
    if not np.isfinite(values).any():
        raise request.refuse("no query has a value")
    names, nothing = request.named(request.systems, 0.85), np.full(values.shape[1], np.nan)
    shown = best_of_many(values[:, -1], request.metric)
    lines = tuple(
        Line(name, row, nothing, nothing, nothing, bool(show))
        for name, row, show in zip(names, values, shown, strict=True)
    )
    label = request.short(replace(request.metric, cutoff=None))
    return Lines("cutoff", tuple(f"{one.cutoff:g}" for one in request.metrics), lines, label)


def swept(request: Request) -> Lines:
    """Return each run's mean and interval at each value of the setting."""
    study, over, metric = request.study, request.settings.over, str(request.metric)
    plan = Plan() if study.comparisons is None else study.comparisons.plan
    try:
        board = study.board.memo(f"sweep {over}", lambda: sweep(study, [over], plan))
    except UnknownNameError as error:
        raise request.refuse(error.problems[0].what, error.problems[0].fix) from None
    runs = {entry.run for system in request.systems for entry in system.entries}
    here: dict[tuple[str, ...], dict[str, Entry]] = {}
    before: dict[tuple[str, ...], dict[str, Entry]] = {}
    settings = list(dict.fromkeys(one.columns[over] for one in board.entries))
    for one in board.entries:
        label = one.run, *(f"{name}={text}" for name, text in one.columns.items() if name != over)
        if one.dataset == request.dataset and one.run in runs:
            here.setdefault(label, {})[one.columns[over]] = one
        elif is_validation(board, one):
            before.setdefault(label, {})[one.columns[over]] = one
    if not here:
        raise request.refuse(f"no run has the column '{over}'")

    def column(some: Mapping[str, Entry], part: str) -> Floats:
        spreads = [some[at].spread.get(metric) if at in some else None for at in settings]
        if part == "mean":
            means = (some[at].summary.get(metric) if at in some else None for at in settings)
            return np.array([math.nan if one is None else one for one in means])
        return np.array([math.nan if one is None else getattr(one, part) for one in spreads])

    names = [" ".join((request.called(run), *rest)) for run, *rest in here]
    labels = cut_all(names, plot.characters(request.settings.width, 0.85))
    sign = request.metric.sign
    values = [column(some, "mean") for some in here.values()]
    peaks = [sign * max(sign * row[~np.isnan(row)], default=math.nan) for row in values]
    shown = best_of_many(np.array(peaks), request.metric)
    lines = tuple(
        Line(
            Name(labels[place], place), values[place], column(some, "low"), column(some, "high"),
            column(before.get(label, {}), "mean"), bool(shown[place]),
        )
        for place, (label, some) in enumerate(here.items())
    )  # fmt: skip
    return Lines(over, tuple(settings), lines, request.axis(request.metric))


def draw_lines(found: Lines, width: Width) -> Figure:
    """Return the lines with their intervals; validation values are dotted."""
    named = [line for line in found.lines if line.shown]
    others = len(found.lines) - len(named)
    has_validation = any(not np.isnan(line.validation).all() for line in named)
    labels = [line.name.label for line in named]
    labels += [f"{others} others"] if others else []
    labels += ["on validation queries"] if has_validation else []
    figure = plot.figure(width, 2.1 + plot.ROW * plot.legend_rows(labels, width))
    axes = figure.subplots()
    at, is_log = positions(found.settings)
    for line in found.lines:
        if not line.shown:
            axes.plot(at, line.values, color=plot.PALE, linewidth=0.7, zorder=1)
    handles = []
    scale = np.log(at) if is_log else np.array(at)
    # lines with intervals are drawn next to each other, so that no interval covers another
    has_intervals = any(not np.isnan(line.low).all() for line in named)
    step = has_intervals * np.ptp(scale) / 60 * min(1, 20 / len(at) / max(1, len(named)))
    for place, line in enumerate(named):
        look = plot.look(line.name.place)
        moved = scale + (place - (len(named) - 1) / 2) * step
        x = np.exp(moved) if is_log else moved
        handles += axes.plot(
            x, line.values, color=look.colour, marker=look.marker, linestyle=look.line,
            markersize=3.5, zorder=3,
        )  # fmt: skip
        axes.vlines(x, line.low, line.high, color=look.colour, linewidth=0.7, zorder=2)
        axes.plot(x, line.validation, color=look.colour, linestyle=":", linewidth=0.8, zorder=2)
    if others:
        handles += axes.plot([], [], color=plot.PALE)
    if has_validation:
        handles += axes.plot([], [], color=plot.GREY, linestyle=":", linewidth=0.8)
    if is_log:
        axes.set_xscale("log")
    shown = ticks(at, is_log, 9 if width == "column" else 22)
    axes.set_xticks([at[place] for place in shown], [found.settings[place] for place in shown])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(found.over)
    axes.set_ylabel(found.metric)
    plot.legend(figure, handles, labels, width)
    return figure


def positions(settings: Sequence[str]) -> tuple[list[float], bool]:
    """Return places on the axis, and whether its scale is logarithmic: numbers beyond 1 to 10.

    >>> positions(["0.01", "0.1", "1"]), positions(["relu", "tanh"])
    (([0.01, 0.1, 1.0], True), ([0.0, 1.0], False))
    """
    try:
        at = [float(text) for text in settings]
    except ValueError:
        at = [math.nan]
    if not all(map(math.isfinite, at)) or len({*at}) < len(at):
        return [*map(float, range(len(settings)))], False
    return at, min(at) > 0 and max(at) > 10 * min(at)


def ticks(at: Sequence[float], is_log: bool, most: int) -> list[int]:
    """Return which places get a label: those far enough from the label before, and the last.

    >>> ticks([5, 10, 15, 20, 30, 100], True, 9)
    [0, 1, 2, 4, 5]
    """
    scale, last = (np.log(at) if is_log else np.array(at)), len(at) - 1
    apart, named = abs(scale[-1] - scale[0]) / most, [0]
    for place in range(1, last):
        is_far = abs(scale[place] - scale[named[-1]]) >= apart
        if is_far and abs(scale[last] - scale[place]) >= apart:
            named.append(place)
    return [*named, last] if last else named


CUTOFFS = Kind(
    cutoffs, draw_lines, families, lambda metrics: (str(replace(metrics[0], cutoff=None)),),
    "a metric at two cutoffs or more, as in ndcg@5,10,20",
)  # fmt: skip
SWEEP = Kind(swept, draw_lines)


@dataclass(frozen=True, eq=False)
class Scatter:
    """What is drawn: a point for each of `names`, or for each query of the only one.

    `tau` is Kendall's tau-b of the two orders, from the best to the worst; NaN where a metric ties
    all.
    """

    x: Floats
    y: Floats
    names: tuple[Name, ...]
    shown: tuple[bool, ...]
    tau: float
    labels: tuple[str, str]

    @property
    def of_queries(self) -> bool:
        """Whether a point is a query."""
        return len(self.names) == 1

    def below(self, at: int) -> int:
        """Return how many named systems before one are at its place, as far as one can see."""
        near = np.ones(at, dtype=bool)
        for values in (self.x, self.y):
            near &= np.abs(values[:at] - values[at]) <= 0.02 * np.ptp(values)
        return int((near & np.array(self.shown[:at], dtype=bool)).sum())


def points(request: Request) -> Scatter:
    """Return the two summaries of each system, or the two values of each query of the only one."""
    names, systems = request.named(request.systems, 0.85), request.systems
    x, y = (np.array([one.value(metric) for one in systems]) for metric in request.metrics)
    if len(names) == 1:
        x, y = (systems[0].values(metric) for metric in request.metrics)
    both = np.isfinite(x) & np.isfinite(y)
    if both.sum() < 2:
        raise request.refuse("fewer than two points have both values")
    x, y = x[both], y[both]
    shown = np.ones(1, dtype=bool)
    if len(names) > 1:
        names = tuple(name for name, has in zip(names, both, strict=True) if has)
        shown = best_of_many(y, request.metrics[1])
    labels = request.axis(request.metrics[0]), request.axis(request.metrics[1])
    tau = float("nan")
    if np.ptp(x) and np.ptp(y):
        from scipy.stats import kendalltau

        signs = [metric.sign for metric in request.metrics]
        tau = float(kendalltau(signs[0] * x, signs[1] * y).statistic)
    return Scatter(x, y, names, tuple(map(bool, shown)), tau, labels)


def draw_points(found: Scatter, width: Width) -> Figure:
    """Return the points, tau in the corner that they leave free."""
    side = 2.6 if width == "column" else 4.2
    named = [name.label for name, shown in zip(found.names, found.shown, strict=True) if shown]
    rest = ~np.array(found.shown)
    labels = [] if found.of_queries else named
    if rest.any():
        labels.append(f"{rest.sum()} others")
    figure = plot.figure(width, side + plot.ROW * plot.legend_rows(labels, width))
    axes = figure.subplots()
    handles: list[Artist] = []
    if found.of_queries:
        colour = plot.look(found.names[0].place).colour
        size, alpha = (3.5, 0.6) if found.x.size <= 500 else (2.0, 0.25)
        axes.plot(
            found.x, found.y, "o", color=colour, markersize=size, alpha=alpha, markeredgewidth=0
        )
        axes.set_title(f"{found.names[0].label}, {found.x.size:,} queries", loc="left", pad=3)
    else:
        for at in np.flatnonzero(found.shown):
            look, below = plot.look(found.names[at].place), found.below(int(at))
            style: dict[str, Any] = {
                "alpha": 0.7,
                "markeredgecolor": "white",
                "markeredgewidth": 0.4,
            }
            if below:  # a ring around those that it would hide
                style = {"markerfacecolor": "none", "markeredgewidth": 1.0}
            handles += axes.plot(
                found.x[at], found.y[at], look.marker, color=look.colour,
                markersize=5.5 + 4 * below, **style,
            )  # fmt: skip
        if rest.any():
            handles += axes.plot(
                found.x[rest], found.y[rest], "o", color=plot.GREY, markersize=3, alpha=0.7,
                markeredgewidth=0, zorder=1,
            )  # fmt: skip
    axes.margins(0.08, 0.14)
    axes.set_xlabel(found.labels[0])
    axes.set_ylabel(found.labels[1])
    centred = (found.x - found.x.mean()) * (found.y - found.y.mean())
    rising = bool(centred.sum() >= 0)
    text = "τ not defined" if np.isnan(found.tau) else f"τ = {found.tau:.2f}".replace("-", "−")
    axes.text(
        0.03 if rising else 0.97, 0.97, text, transform=axes.transAxes, va="top",
        ha="left" if rising else "right",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )  # fmt: skip
    plot.legend(figure, handles, labels, width)
    return figure


SCATTER = Kind(
    points, draw_points, lambda metrics: combinations(metrics, 2), needs="two metrics or more"
)
