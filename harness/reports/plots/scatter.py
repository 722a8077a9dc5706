"""One metric against another: a point for each system, or for each query of a single one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.ragged import Floats
from ..select import sign_of
from . import plot
from .plot import Kind, Name, Request, Width, best_of_many

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure


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


def data(request: Request) -> Scatter:
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

        signs = [sign_of(metric) for metric in request.metrics]
        tau = float(kendalltau(signs[0] * x, signs[1] * y).statistic)
    return Scatter(x, y, names, tuple(map(bool, shown)), tau, labels)


def draw(found: Scatter, width: Width) -> Figure:
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


KIND = Kind(data, draw, lambda metrics: combinations(metrics, 2), needs="two metrics or more")
