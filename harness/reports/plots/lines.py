"""Lines: a metric by cutoff, by setting, by epoch, and precision by recall."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.entries import Entry, grouped_by
from ...core.metric import Metric
from ...core.names import parse_all, why_not
from ...core.ragged import Bools, Floats
from ...errors import HarnessError, UnknownNameError
from ..leaderboard import Study, plan_of
from ..phrases import confidence, plural, span
from ..sweep import is_validation, sweep
from . import plot
from .plot import Name, PlotKind, PlotRequest, best_of_many

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Line(NamedTuple):
    """One system's values ``(n_settings,)``, NaN if it has none; `shown` if the legend names it.

    `low` and `high` are the ends of its band or intervals, `validation` its values on validation
    queries.
    """

    name: Name
    shown: bool
    values: Floats
    low: Floats
    high: Floats
    validation: Floats


class Look(NamedTuple):
    """Look of lines: labels of the axes, a linear axis or one of `positions`, and bands."""

    x: str
    y: str
    is_linear: bool = False
    band: str = ""
    """Meaning of the bands; without it, `low` and `high` are bars."""


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
    """Return each system's summary at each cutoff, with bands of intervals for a few systems."""
    metrics, systems = request.metrics, request.systems
    values = np.array([[system.value(m) for m in metrics] for system in systems])
    if not np.isfinite(values).any():
        raise request.refuse("no query has a value")
    mask = best_of_many(values[:, -1], request.metric)
    low, high = _intervals(request, mask)
    rows = zip(request.named(systems, 0.85), mask, values, low, high, strict=True)
    label = request.weighted + request.short(replace(request.metric, cutoff=None))
    settings = [f"{metric.cutoff:g}" for metric in metrics]
    band = f"{confidence(request.level)} intervals" if np.isfinite(low).any() else ""
    look = Look("cutoff", label, band=band)
    return _draw([Line(*row, np.full(len(metrics), nan)) for row in rows], settings, look, request)


def _intervals(request: PlotRequest, mask: Bools) -> tuple[Floats, Floats]:
    """Return the ends of the systems' intervals by metric; NaN for more than `BANDS`."""
    from ...stats.intervals import summary_interval  # which loads SciPy

    ends = np.full((2, mask.size, len(request.metrics)), nan)
    plan, is_average = plan_of(request.study), bool(request.study.board.summary.average)
    if mask.all() and mask.sum() <= BANDS and not is_average and not why_not(request.metric):
        for row in np.flatnonzero(mask):
            for column, metric in enumerate(request.metrics):
                ends[:, row, column] = summary_interval(request.systems[row], metric, plan)
    return ends[0], ends[1]


BANDS = 5
"""Lines up to which bands can be told apart."""


def draw_over_column(request: PlotRequest, *, is_curve: bool = False) -> Figure:
    """Return each run's mean and interval at each value of a setting.

    A curve has bands of one standard deviation over seeds in place of intervals.
    """
    study, over, metric = request.study, request.settings.over, str(request.metric)
    try:
        board = study.board.memo(f"sweep {over}", lambda: sweep(study, [over], plan_of(study)))
    except UnknownNameError as error:
        raise request.refuse_kind(error.problems[0].what, error.problems[0].fix) from None
    runs = {entry.run for system in request.systems for entry in system.entries}
    cells: dict[tuple[str, ...], dict[str, Entry]] = {}
    before: dict[tuple[str, ...], dict[str, Entry]] = {}
    settings = list(dict.fromkeys(entry.columns[over] for entry in board.entries))
    if is_curve and not all(map(_is_number, settings)):
        wrong = next(text for text in settings if not _is_number(text))
        what = f"expected numbers for {over}, got {wrong!r}"
        raise request.refuse_kind(what, "choose the kind sweep")
    for cell in board.entries:
        label = cell.run, *(f"{name}={text}" for name, text in cell.columns.items() if name != over)
        if cell.dataset == request.dataset and cell.run in runs:
            cells.setdefault(label, {})[cell.columns[over]] = cell
        elif is_validation(board, cell):
            before.setdefault(label, {})[cell.columns[over]] = cell
    if not cells:
        raise request.refuse(f"no run has the column '{over}'")

    def means(entries: Mapping[str, Entry]) -> Floats:
        summaries = (entries[setting].summary if setting in entries else {} for setting in settings)
        return np.array([summary.get(metric, nan) for summary in summaries])

    def spread(entries: Mapping[str, Entry], part: str) -> Floats:
        spreads = (entries[text].spread if text in entries else {} for text in settings)
        return np.array([getattr(spread.get(metric), part, nan) for spread in spreads])

    names = [" ".join((request.called(run), *rest)) for run, *rest in cells]
    labels = plot.wrap_all(names, plot.characters(request.settings.width, 0.85))
    sign = request.metric.sign
    values = [means(entries) for entries in cells.values()]
    peaks = [sign * max(sign * row[~np.isnan(row)], default=nan) for row in values]
    mask = best_of_many(np.array(peaks), request.metric)
    rows, n_seeds = [], set[int]()
    for place, (label, entries) in enumerate(cells.items()):
        low, high = spread(entries, "low"), spread(entries, "high")
        if is_curve:
            deviation = spread(entries, "deviation")
            low, high = values[place] - deviation, values[place] + deviation
            several = spread(entries, "repetitions")[np.isfinite(deviation)]
            n_seeds |= {*several.astype(int).tolist()}
        name, validation = Name(labels[place], place), means(before.get(label, {}))
        rows.append(Line(name, mask[place], values[place], low, high, validation))
    repeated = plural(study.board.summary.spread)
    band = f"± 1 standard deviation, {span(n_seeds)} {repeated}" if n_seeds else ""
    axis = request.weighted
    axis += request.short(request.metric, plot.characters(request.settings.width, 0.8))
    return _draw(rows, settings, Look(over, axis, is_curve, band), request)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


RECALL = tuple(f"{level / 10:g}" for level in range(11))
LEVELS = tuple(f"iprec_at_recall@{level}" for level in RECALL)


def _levels(study: Study) -> list[Metric]:
    """Return the metric of each level that was evaluated, with the settings of the policy."""
    name = LEVELS[0].partition("@")[0]
    named = [metric for metric in study.board.metrics if metric.definition.name == name]
    return [*{f"{metric.cutoff:g}": metric for metric in named if metric.label is None}.values()]


def draw_precision_recall(request: PlotRequest) -> Figure:
    """Return each system's mean interpolated precision at eleven levels of recall."""
    study = request.study
    try:
        if len(_levels(study)) < len(LEVELS):
            study = study.with_metrics(LEVELS)
    except HarnessError as error:
        raise request.refuse_kind(error.problems[0].what, error.problems[0].fix) from None
    levels = _levels(study)
    systems = [study.system(request.dataset, system.run) for system in request.systems]
    evaluated = [system for system in systems if system is not None]
    values = np.array([[system.value(level) for level in levels] for system in evaluated])
    if not np.isfinite(values).any():
        raise request.refuse("no query has a value")
    mask = best_of_many(values.mean(axis=1), request.metric)
    nothing = np.full(len(LEVELS), nan)
    named = zip(request.named(evaluated, 0.85), mask, values, strict=True)
    rows = [Line(*row, nothing, nothing, nothing) for row in named]
    settings = str(levels[0]).removeprefix(levels[0].definition.name).partition("@")[0]
    label = f"{request.weighted}interpolated precision {settings}".rstrip()
    look = Look("recall", label, is_linear=True)
    return _draw(rows, RECALL, look, request)


def _draw(
    rows: Sequence[Line], settings: Sequence[str], look: Look, request: PlotRequest
) -> Figure:
    named, width = [row for row in rows if row.shown], request.settings.width
    n_unnamed = len(rows) - len(named)
    has_validation = any(not np.isnan(row.validation).all() for row in named)
    labels = [row.name.label for row in named]
    labels += [f"{n_unnamed} others"] if n_unnamed else []
    labels += ["on validation queries"] if has_validation else []
    below = plot.legend_rows(labels, width) + bool(look.band)
    figure = plot.figure(width, 2.1 + plot.lines(below))
    axes = figure.subplots()
    places, is_log = positions(settings)
    is_log &= not look.is_linear
    for row in rows:
        if not row.shown:
            axes.plot(places, row.values, color=plot.PALE, linewidth=0.7, zorder=1)
    handles: list[Any] = []
    scale = np.log(places) if is_log else np.array(places)
    # lines with bars are drawn next to each other, so that no bar covers another
    has_bars = not look.band and any(not np.isnan(row.low).all() for row in named)
    step = has_bars * np.ptp(scale) / 60 * min(1, 20 / len(places) / max(1, len(named)))
    looks = plot.distinct_looks([row.name.place for row in named])
    for place, (row, style) in enumerate(zip(named, looks, strict=True)):
        moved = scale + (place - (len(named) - 1) / 2) * step
        x = np.exp(moved) if is_log else moved
        every = max(1, -(-len(places) // 12))  # of many points, some have a marker
        shape = {"marker": style.marker, "markersize": 3.5, "linestyle": style.line}
        marked = (place % every, every)
        handles += axes.plot(x, row.values, color=style.colour, zorder=3, markevery=marked, **shape)
        if look.band:
            axes.fill_between(x, row.low, row.high, color=style.colour, alpha=0.15, linewidth=0)
        else:
            axes.vlines(x, row.low, row.high, color=style.colour, linewidth=0.7, zorder=2)
        axes.plot(x, row.validation, color=style.colour, linestyle=":", linewidth=0.8, zorder=2)
    if n_unnamed:
        handles += axes.plot([], [], color=plot.PALE)
    if has_validation:
        handles += axes.plot([], [], color=plot.GREY, linestyle=":", linewidth=0.8)
    if is_log:
        axes.set_xscale("log")
    labelled = ticks(places, is_log, 9 if width == "column" else 22)
    axes.set_xticks([places[place] for place in labelled], [settings[place] for place in labelled])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(f"{look.x}\nbands: {look.band}" if look.band else look.x)
    if len(look.y) <= ROTATED:
        axes.set_ylabel(look.y)
    else:  # it does not fit next to the axis
        axes.set_title(look.y, loc="left")
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
SWEEP = PlotKind(draw_over_column, over="the column on its axis lr")
CURVE = PlotKind(partial(draw_over_column, is_curve=True), over="the column on its axis epoch")
PRECISION_RECALL = PlotKind(
    draw_precision_recall, lambda _: [parse_all(LEVELS)], lambda _: (), takes_metrics=False
)
