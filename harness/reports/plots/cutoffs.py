"""A metric against its cutoff, a line for each system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...core.metric import Metric
from ...core.ragged import Floats
from . import plot
from .plot import Name, Request, Width, best_of_many

if TYPE_CHECKING:
    from matplotlib.figure import Figure

needs_baseline, needs_comparisons = False, False
NEEDS = "needs a metric at two cutoffs or more, as in ndcg@5,10,20"


@dataclass(frozen=True, eq=False)
class Line:
    """One system's summaries, ``(n_cutoffs,)``; `shown` where it is named."""

    name: Name
    values: Floats
    shown: bool = True


@dataclass(frozen=True, eq=False)
class Cutoffs:
    """What is drawn: the cutoffs in order, and a line for each system."""

    cutoffs: tuple[float, ...]
    lines: tuple[Line, ...]
    metric: str


def groups(metrics: Sequence[Metric]) -> tuple[tuple[Metric, ...], ...]:
    """Return the families: metrics that differ in their cutoff alone, two or more together."""
    found: dict[Metric, list[Metric]] = {}
    for metric in metrics:
        if metric.cutoff is not None and metric.label is None:
            found.setdefault(replace(metric, cutoff=None), []).append(metric)
    together = (sorted(family, key=lambda one: one.cutoff or 0) for family in found.values())
    return tuple(tuple(family) for family in together if len(family) > 1)


def file_names(metrics: Sequence[Metric]) -> tuple[str, ...]:
    """Return the family's name."""
    return (str(replace(metrics[0], cutoff=None)),)


def data(request: Request) -> Cutoffs:
    """Return each system's summary at each cutoff."""
    values = np.array(
        [[one.value(metric) for metric in request.metrics] for one in request.systems]
    )
    if not np.isfinite(values).any():
        raise request.refuse("no query has a value")
    shown = best_of_many(values[:, -1], request.metric)
    lines = tuple(
        Line(name, row, bool(show))
        for name, row, show in zip(request.named(request.systems, 0.85), values, shown, strict=True)
    )
    label = request.short(replace(request.metric, cutoff=None))
    return Cutoffs(tuple(float(one.cutoff or 0) for one in request.metrics), lines, label)


def draw(found: Cutoffs, width: Width) -> Figure:
    """Return the lines, over a scale of logarithms where the cutoffs span more than 1 to 10."""
    named = [line for line in found.lines if line.shown]
    labels = [line.name.label for line in named]
    if len(named) < len(found.lines):
        labels.append(f"{len(found.lines) - len(named)} others")
    figure = plot.figure(width, 2.1 + plot.ROW * plot.legend_rows(labels, width))
    axes = figure.subplots()
    for line in found.lines:
        if not line.shown:
            axes.plot(found.cutoffs, line.values, color=plot.PALE, linewidth=0.7, zorder=1)
    handles = []
    for line in named:
        look = plot.look(line.name.place)
        handles += axes.plot(
            found.cutoffs, line.values, color=look.colour, marker=look.marker, linestyle=look.line,
            markersize=3.5, zorder=2,
        )  # fmt: skip
    low, high = found.cutoffs[0], found.cutoffs[-1]
    is_log = low > 0 and high > 10 * low
    if is_log:
        axes.set_xscale("log")
    axes.set_xticks(ticks(found.cutoffs, is_log, 9 if width == "column" else 22))
    axes.set_xticklabels([f"{tick:g}" for tick in axes.get_xticks()])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("cutoff")
    axes.set_ylabel(found.metric)
    if len(named) < len(found.lines):
        handles += axes.plot([], [], color=plot.PALE)
    plot.legend(figure, handles, labels, width)
    return figure


def ticks(cutoffs: Sequence[float], is_log: bool, most: int) -> list[float]:
    """Return the cutoffs to be named: those far enough from the one named before, and the last.

    >>> ticks([5, 10, 15, 20, 30, 100], True, 9)
    [5, 10, 15, 30, 100]
    """
    at = np.log(cutoffs) if is_log else np.array(cutoffs)
    apart, last = (at[-1] - at[0]) / most, len(cutoffs) - 1
    named = [0]
    for place in range(1, last):
        if min(at[place] - at[named[-1]], at[last] - at[place]) >= apart:
            named.append(place)
    return [cutoffs[place] for place in [*named, last]]
