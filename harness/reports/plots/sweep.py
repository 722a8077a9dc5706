"""A metric against a setting of the runs, such as a learning rate, a line for each run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.comparison import Plan
from ...core.leaderboard import Entry
from ...core.ragged import Floats
from ...core.text import cut_all
from ...errors import UnknownNameError
from ..sweep import is_validation, sweep
from . import plot
from .cutoffs import ticks
from .plot import Name, Request, Width, best_of_many, each_metric, metric_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

needs_baseline, needs_comparisons = False, False
NEEDS = "needs a metric"
groups, file_names = each_metric, metric_names


@dataclass(frozen=True, eq=False)
class Line:
    """One run's means and intervals, ``(n_settings,)``, NaN if it has none; `shown` if named.

    `validation` are its means on the queries that settings are chosen on.
    """

    name: Name
    values: Floats
    low: Floats
    high: Floats
    validation: Floats
    shown: bool = True


@dataclass(frozen=True, eq=False)
class Sweep:
    """What is drawn: the values of the setting in order, and a line for each run."""

    over: str
    settings: tuple[str, ...]
    lines: tuple[Line, ...]
    metric: str


def data(request: Request) -> Sweep:
    """Return each run's mean and interval at each value of the setting."""
    study, over, metric = request.study, request.settings.over, str(request.metric)
    plan = Plan() if study.comparisons is None else study.comparisons.plan
    try:
        board = study.board.memo(f"sweep {over}", lambda: sweep(study, [over], plan))
    except UnknownNameError as error:
        raise request.refuse(error.problems[0].what.removeprefix("sweep: ")) from None
    runs = {entry.run for system in request.systems for entry in system.entries}
    here: dict[tuple[str, ...], dict[str, Entry]] = {}
    before: dict[tuple[str, ...], dict[str, Entry]] = {}
    settings: dict[str, None] = {}
    for one in board.entries:
        label = one.run, *(f"{name}={text}" for name, text in one.columns.items() if name != over)
        if one.dataset == request.dataset and one.run in runs:
            here.setdefault(label, {})[one.columns[over]] = one
        elif is_validation(board, one):
            before.setdefault(label, {})[one.columns[over]] = one
        settings[one.columns[over]] = None
    if not here:
        raise request.refuse(f"no run has the column '{over}'")

    def means(some: Mapping[str, Entry]) -> Floats:
        return np.array(
            [some[at].summary.get(metric, math.nan) if at in some else math.nan for at in settings]
        )

    names = [" ".join((request.called(run), *rest)) for run, *rest in here]
    labels = cut_all(names, plot.characters(request.settings.width, 0.85))
    values = np.array([means(some) for some in here.values()])
    peaks = np.array([max(row[~np.isnan(row)] * plot.sign_of(request.metric), default=math.nan)
                      for row in values]) * plot.sign_of(request.metric)  # fmt: skip
    lines = []
    for place, (label, some) in enumerate(here.items()):
        spread = [some[at].spread.get(metric) if at in some else None for at in settings]
        low = np.array([math.nan if one is None else one.low for one in spread])
        high = np.array([math.nan if one is None else one.high for one in spread])
        validation = means(before.get(label, {}))
        name, shown = Name(labels[place], place), bool(best_of_many(peaks, request.metric)[place])
        lines.append(Line(name, values[place], low, high, validation, shown))
    return Sweep(over, tuple(settings), tuple(lines), request.axis(request.metric))


def draw(found: Sweep, width: Width) -> Figure:
    """Return the lines with their intervals; validation values are dotted.

    The scale is one of logarithms if the settings are numbers that span 1 to 10 or more.
    """
    named = [line for line in found.lines if line.shown]
    labels = [line.name.label for line in named]
    others = len(found.lines) - len(named)
    labels += [f"{others} others"] * bool(others)
    has_validation = any(not np.isnan(line.validation).all() for line in named)
    labels += ["on validation queries"] * has_validation
    figure = plot.figure(width, 2.1 + plot.ROW * plot.legend_rows(labels, width))
    axes = figure.subplots()
    at, is_log = positions(found.settings)
    for line in found.lines:
        if not line.shown:
            axes.plot(at, line.values, color=plot.PALE, linewidth=0.7, zorder=1)
    handles = []
    middle = (len(named) - 1) / 2
    span = np.ptp(np.log(at) if is_log else at) / 60
    for place, line in enumerate(named):
        look = plot.look(line.name.place)
        beside = (place - middle) * min(span, 20 * span / len(found.settings) / len(named))
        apart = np.exp(np.log(at) + beside) if is_log else np.array(at) + beside
        handles += axes.plot(
            apart, line.values, color=look.colour, marker=look.marker, linestyle=look.line,
            markersize=3.5, zorder=3,
        )  # fmt: skip
        axes.vlines(apart, line.low, line.high, color=look.colour, linewidth=0.7, zorder=2)
        axes.plot(apart, line.validation, color=look.colour, linestyle=":", linewidth=0.8, zorder=2)
    if others:
        handles += axes.plot([], [], color=plot.PALE)
    if has_validation:
        handles += axes.plot([], [], color=plot.GREY, linestyle=":", linewidth=0.8)
    if is_log:
        axes.set_xscale("log")
    shown = ticks(at, is_log, 9 if width == "column" else 22) if len(at) > 1 else at
    axes.set_xticks(shown)
    axes.set_xticklabels([found.settings[list(at).index(tick)] for tick in shown])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(found.over)
    axes.set_ylabel(found.metric)
    plot.legend(figure, handles, labels, width)
    return figure


def positions(settings: Sequence[str]) -> tuple[list[float], bool]:
    """Return where settings are on the axis, and whether it is one of logarithms.

    >>> positions(["0.01", "0.1", "1"]), positions(["relu", "tanh"])
    (([0.01, 0.1, 1.0], True), ([0.0, 1.0], False))
    """
    try:
        at = [float(text) for text in settings]
    except ValueError:
        at = [math.nan]
    if not all(map(math.isfinite, at)) or len({*at}) < len(at):
        return [*map(float, range(len(settings)))], False
    return at, min(at) > 0 and max(at) >= 10 * min(at)
