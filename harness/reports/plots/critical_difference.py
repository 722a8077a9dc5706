"""Mean ranks over the queries; a bar joins systems that Nemenyi's test cannot tell apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core.ragged import Floats
from ...core.systems import matrix
from ...stats.registry import Stream, find
from . import plot
from .plot import PlotKind, PlotRequest, characters

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def cliques(ranks: Floats, difference: float) -> tuple[tuple[int, int], ...]:
    """Return the longest stretches of ranks (in order) no further apart than `difference`.

    >>> cliques(np.array([1.0, 1.5, 2.5, 4.0, 9.0]), 1.5)
    ((0, 2), (2, 3))
    """
    ends = np.searchsorted(ranks, ranks + difference * (1 + 1e-12), side="right") - 1
    found, reached = [], 0
    for first, last in enumerate(ends.tolist()):
        if last > first and last > reached:
            found.append((first, last))
        reached = max(reached, last)
    return tuple(found)


def levels(stretches: Sequence[tuple[float, float]], gap: float) -> list[int]:
    """Return a level for each stretch, the first from above that is free there.

    >>> levels([(1, 3), (2, 4), (5, 6)], 0.5)
    [0, 1, 0]
    """
    ends: list[float] = []
    found = []
    for low, high in stretches:
        place = next((at for at, end in enumerate(ends) if low > end + gap), len(ends))
        ends[place : place + 1] = [high]
        found.append(place)
    return found


def draw(request: PlotRequest) -> Figure:
    """Return the diagram: the axis of ranks above, names at both sides, bars of cliques between.

    The ranks are over the queries that all systems have a value for.
    """
    from matplotlib.ticker import MaxNLocator

    _, values = matrix(request.systems, request.metric)
    if len(values) < 2:
        raise request.refuse("there is one run only, and nothing to compare it with")
    values = values[:, np.isfinite(values).all(axis=0)]
    n_queries, width = values.shape[1], request.settings.width
    if n_queries < 2:
        fewer = f"expected two queries or more with a value in every run, got {n_queries}"
        raise request.refuse(fewer)
    stream = Stream((request.dataset, str(request.metric)))
    test = find("friedman-nemenyi").function
    found = test(request.metric.sign * values, stream, request.level)
    positions, difference = found.positions, found.critical_difference  # type: ignore[union-attr]
    if positions is None or not math.isfinite(difference):
        raise request.refuse(f"Friedman's test has no answer: {found.note}")
    order = np.argsort(positions, kind="stable")[: plot.ROWS]
    systems, ranks = [request.systems[place] for place in order], np.asarray(positions)[order]
    # all names are to the left of the axis if two do not fit next to it
    n, n_left = len(systems), (len(systems) + 1) // 2
    lengths = [len(request.called(one.run)) for one in systems]
    room = characters(width, 0.55)
    if max(lengths[:n_left]) + max(lengths[n_left:]) > room:
        n_left = n
    low = min(math.floor(ranks[0]), math.ceil(ranks[-1]) - 1)
    high = max(math.ceil(ranks[-1]), low + math.ceil(difference))
    span = high - low
    stretches = [(float(ranks[a]), float(ranks[b])) for a, b in cliques(ranks, difference)]
    level = levels(stretches, 0.03 * span)
    bars = 0.45 * (max(level, default=-1) + 1)
    best = plot.best_of(len(values))
    bottom, top = -(0.5 + bars + n_left + 1.3 + bool(best)), 2.4  # in lines of text
    figure = plot.figure(width, (top - bottom) * plot.ROW + 0.25)
    axes = figure.subplots()
    edge = 0.05 * span
    axes.set_xlim(low - edge, high + edge)
    axes.set_ylim(bottom, top)
    axes.axis("off")

    def line(xs: Sequence[float], ys: Sequence[float], thick: float, colour: str = "black") -> None:
        axes.plot(xs, ys, color=colour, linewidth=thick, solid_capstyle="butt", zorder=thick)

    line([low, high], [0, 0], 0.8)
    ticks = MaxNLocator(4 if width == "column" else 9, integer=True).tick_values(low, high)
    for tick in ticks[(ticks >= low) & (ticks <= high)]:
        line([tick, tick], [0, 0.25], 0.8)
        axes.text(tick, 0.35, f"{tick:g}", ha="center", va="bottom")
    end = low + difference
    line([low, low, low, end, end, end], [1.6, 1.9, 1.75, 1.75, 1.6, 1.9], 1.2)
    axes.text(end, 1.75, f" CD = {difference:.2f}", va="center", ha="left")
    for (start, stop), at in zip(stretches, level, strict=True):
        line([start - 0.008 * span, stop + 0.008 * span], [-0.45 - 0.45 * at] * 2, 2.2)
    names = request.named(systems, most=room)
    for place, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        left = place < n_left
        y = -(0.5 + bars + (place if left else n - 1 - place) + 0.4)
        side = low - edge if left else high + edge
        line([rank, rank, side], [0, y, y], 0.9, plot.look(name.place).colour)
        label = f"{name.label} {rank:.2f} " if left else f" {rank:.2f} {name.label}"
        axes.text(side, y, label, ha="right" if left else "left", va="center")
    text = f"{best}mean rank by {request.axis(request.metric)}\n{n_queries:,} queries, "
    text += f"level {request.level:g}"
    axes.text((low + high) / 2, bottom, text, ha="center", va="bottom")
    return figure


KIND = PlotKind(
    draw, lambda metrics: [(one,) for one in metrics if one.definition.direction is not None],
    needs="a metric whose higher or lower values are better",
)  # fmt: skip
