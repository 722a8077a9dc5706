"""Plots that compare runs: differences query by query, means with intervals, and mean ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.entries import System
from ...core.ragged import Floats
from ...core.systems import matrix
from ...errors import counted, warn
from ...stats.comparison import Comparison, Comparisons, between
from ...stats.differences import differences
from ...stats.registry import Stream, find
from ..phrases import CORRECTIONS, at_most, confidence, span
from ..text import cut
from . import plot
from .plot import Name, PlotKind, PlotRequest, Width, characters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST: dict[Width, int] = {"column": 6, "page": 12}
"""Systems that a picture has room for."""
LINE = 42
"""Characters above a panel, which is as wide as a column also on a page."""
NAMED = 5
"""Queries with a label."""
MOST_RANKED = 15
"""Largest number of systems with distinguishable lines to the axis of ranks."""


class Panel(NamedTuple):
    """One system against the baseline: run minus baseline of each query, the largest first.

    `named` are place and qid of the largest differences; `worth` is 1 if higher is better, or -1.
    """

    name: Name
    values: Floats
    named: list[tuple[int, str]]
    worth: int

    @property
    def counts(self) -> str:
        """The queries won, tied and lost."""
        won, lost = (int((sign * self.values > 0).sum()) for sign in (self.worth, -self.worth))
        return f"{won} won, {len(self.values) - won - lost} tied, {lost} lost"


def draw_differences(request: PlotRequest) -> Figure:
    """Return a panel for each system, all on one scale; bars are pale if the run is worse.

    Systems that the picture has no room for are left out with a warning.
    """
    base, metric, systems = request.baseline, request.metric, request.others
    width = request.settings.width
    if base is None or not systems:
        fix = "choose another under 'runs:'"
        raise request.refuse("the baseline is the only run to draw", fix)
    limit = MOST[width]
    if len(systems) > limit:
        where = f"plots: differences of {metric} on {request.dataset}"
        drawn = f"drew the first {limit} of {len(systems)} runs"
        warn(f"{where}: {drawn}; choose others with 'runs:' or --run")
        systems = systems[:limit]
    base_name, *names = request.named((base, *systems), LINE / plot.characters(width))
    panels = [_panel(request, base, *pair) for pair in zip(systems, names, strict=True)]
    if not any(panel.values.size for panel in panels):
        raise request.refuse(f"no query has a value of {base.run} and of another run")
    columns = min(len(panels), 1 if width == "column" else 2)
    rows = -(-len(panels) // columns)
    heads = [_head(panel) for panel in panels]
    tallest = max(1 + max(part.count("\n") for part in head) for head in heads)
    height = (1.3 if rows == 1 else 0.9) + plot.lines(tallest)
    below = f"queries, by their difference from {base_name.label}"
    if any(panel.named for panel in panels):
        below += "\nabove a panel: those that differ most"
    figure = plot.figure(width, rows * height + plot.lines(2 + below.count("\n")))
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, panel, head in zip(grid.flat, panels, heads, strict=False):
        _draw_panel(axes, panel, head)
    ends = [value for panel in panels for value in panel.values[[0, -1]] if panel.values.size]
    low, high = min(0.0, *ends), max(0.0, *ends)
    pad = 0.06 * (high - low)
    rights = [panel.values[int(0.5 * len(panel.values)) :] for panel in panels]
    is_full = any(values.size and values[0] > 0.65 * high for values in rights)
    room = (0.25 if is_full else 0.06) * (high - low)  # for the counts in the corner
    grid[0, 0].set_ylim((low - pad, high + room) if low < high else (-1, 1))
    grid[0, 0].locator_params(axis="y", nbins=4)
    figure.supylabel(f"difference in {request.short(metric)}")
    plot.label_below(figure, below, width)
    return figure


def _panel(request: PlotRequest, base: System, system: System, name: Name) -> Panel:
    qids, both = matrix((base, system), request.metric)
    shared = np.flatnonzero(np.isfinite(both).all(axis=0))
    unsorted = differences(both[1, shared], both[0, shared])
    order = np.argsort(-unsorted, kind="stable")
    values = unsorted[order]
    largest = np.sort(np.argsort(-np.abs(values), kind="stable")[:NAMED])
    named = [(int(k), qids[shared[order[k]]]) for k in largest if values[k] != 0]
    return Panel(name, values, named, request.metric.sign)


def _head(panel: Panel) -> tuple[str, str]:
    """Return the texts above a panel, left and right, with the same number of lines.

    The name, and below it the queries of the largest bars, above those bars.
    """
    name = panel.name.label
    up, down = ([q for k, q in panel.named if sign * panel.values[k] > 0] for sign in (1, -1))
    down.reverse()
    while len(", ".join([*up, *down])) + 3 > LINE and len(up) + len(down) > 1:
        (up if len(", ".join(up)) >= len(", ".join(down)) else down).pop()
    sides = [", ".join(cut(qid, LINE) for qid in qids) for qids in (up, down)]
    return f"{name}\n{sides[0]}", "\n" * (name.count("\n") + 1) + sides[1]


def _draw_panel(axes: Axes, panel: Panel, head: tuple[str, str]) -> None:
    n, colour = len(panel.values), plot.look(panel.name.place).colour
    is_better = panel.worth * panel.values > 0
    for part, alpha in ((is_better, 1.0), (~is_better, 0.4)):
        if n <= 100:
            places, bars = np.flatnonzero(part), panel.values[part]
            axes.bar(places, bars, 0.8, color=colour, alpha=alpha, linewidth=0)
        else:
            bars, edges = np.where(part, panel.values, 0.0), np.arange(n + 1) - 0.5
            axes.stairs(bars, edges, fill=True, color=colour, alpha=alpha, linewidth=0)
    axes.axhline(0, color="black", linewidth=0.6)
    axes.set_xlim(-0.5 - 0.01 * n, n - 0.5 + 0.01 * n)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    corner: dict[str, Any] = {"transform": axes.transAxes, "va": "top", "ha": "right"}
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
    axes.text(1, 0.98, panel.counts, color="#555555", bbox=box, **corner)
    axes.set_title(head[0], loc="left", pad=3, linespacing=1.1)
    axes.set_title(head[1], loc="right", pad=3, linespacing=1.1, color="#555555")


DIFFERENCES = PlotKind(draw_differences, needs_baseline=True)


def draw_effects(request: PlotRequest) -> Figure:
    """Return a row for each system, in order from above, with the effect sizes at the right."""
    comparisons, base, width = request.study.comparisons, request.baseline, request.settings.width
    if comparisons is None or base is None:
        raise request.refuse("nothing is compared", "add 'compare:' to the config")
    base_name, *names = request.named((base, *request.others))
    rows, key = [], (request.dataset, str(request.metric))
    for system, name in zip(request.others, names, strict=True):
        row, sign = between(comparisons, *key, base.run, system.run)
        if row is not None:
            rows.append((name, row, sign))
    if not rows:
        fix = f"have them compared: 'compare: {{baseline: {base.run}}}', and see its 'metrics:'"
        raise request.refuse(f"no run is compared with {base.run}", fix)
    if not any(math.isfinite(row.difference) for _, row, _ in rows):
        raise request.refuse(f"no query has a value of {base.run} and of another run")
    best = plot.best_of(len(rows))
    rows = rows[: plot.ROWS]
    short = f"{request.weighted}{request.short(request.metric)}"
    marks = _marks(comparisons, [row for _, row, _ in rows])
    tested = [math.isfinite(row.p_adjusted) for _, row, _ in rows]
    marks = f"{marks}{'' if all(tested) else '; × no test'}" if any(tested) else "no test"
    text = f"difference in {short} from {base_name.label}\n{marks}{best}"
    below = sum(-(-len(line) // characters(width)) for line in text.splitlines())
    labels = [name.label for name, *_ in rows]
    figure = plot.figure(width, plot.rows_high(labels) + plot.lines(below + 2.2))
    axes = figure.subplots()
    axes.axvline(0, color=plot.GREY, linewidth=0.8, linestyle="--", zorder=1)
    is_tested = [math.isfinite(row.p_adjusted) for _, row, _ in rows]
    for place, (name, row, sign) in enumerate(rows):
        colour = plot.look(name.place).colour
        if math.isfinite(row.low) and math.isfinite(row.high):
            ends = sign * row.low, sign * row.high
            axes.hlines(place, *ends, color=colour, linewidth=1.4, zorder=2)
        x, marker = sign * row.difference, "o" if is_tested[place] else "x"
        fill = colour if comparisons.is_significant(row) else "white"
        axes.plot(x, place, marker, color=colour, markersize=4.5, markerfacecolor=fill, zorder=3)
    plot.label_rows(axes, labels)
    axes.locator_params(axis="x", nbins=6 if width == "column" else 9)
    plot.label_below(figure, text, width)
    right = axes.twinx()
    plot.label_rows(right, [_signed(sign * row.hedges_g) for _, row, sign in rows])
    where: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    if any(math.isfinite(row.hedges_g) for _, row, _ in rows):
        right.annotate("Hedges' g", (1, 1), (3.5, 0), va="bottom", **where)
    for spine in (axes.spines["left"], right.spines["left"], right.spines["right"]):
        spine.set_visible(False)
    return figure


def _marks(comparisons: Comparisons, rows: Sequence[Comparison]) -> str:
    """Legend of intervals and filled points, with the number of corrected comparisons."""
    sizes = [size for size in (comparisons.family(row)[1] for row in rows) if size]
    plan, is_paired = comparisons.plan, comparisons.kind == "paired"
    correction = CORRECTIONS[plan.correction].short if is_paired else plan.test
    interval, p = f"{confidence(plan.level)} interval", at_most(plan.level)
    if not (correction and sizes):
        return f"{interval}\nfilled: {p}"
    kind = "simultaneous" if any(row.interval == "simultaneous" for row in rows) else "unadjusted"
    over = f"{correction}, {span(sizes)} {'test' if {*sizes} == {1} else 'tests'}"
    return f"{kind} {interval}\nfilled: adjusted {p} ({over})"


def _signed(value: float) -> str:
    """Return a number with its sign; nothing if it is not defined.

    >>> _signed(-0.25), _signed(0.0), _signed(float("nan"))
    ('−0.25', '0.00', '')
    """
    if not math.isfinite(value):
        return ""
    return f"{value:+.2f}".replace("-", "−") if round(value, 2) else "0.00"


EFFECTS = PlotKind(draw_effects, needs_baseline=True, needs_comparisons=True)


def cliques(ranks: Floats, difference: float) -> tuple[tuple[int, int], ...]:
    """Return the longest stretches of ranks (in order) no further apart than `difference`.

    >>> cliques(np.array([1.0, 1.5, 2.5, 4.0, 9.0]), 1.5)
    ((0, 2), (2, 3))
    """
    ends = np.searchsorted(ranks, ranks + difference * (1 + 1e-12), side="right") - 1
    pairs, reached = [], 0
    for begin, end in enumerate(ends.tolist()):
        if end > begin and end > reached:
            pairs.append((begin, end))
        reached = max(reached, end)
    return tuple(pairs)


def levels(stretches: Sequence[tuple[float, float]], gap: float) -> list[int]:
    """Return a level for each stretch, the first from above that is free there.

    >>> levels([(1, 3), (2, 4), (5, 6)], 0.5)
    [0, 1, 0]
    """
    ends: list[float] = []
    rows = []
    for low, high in stretches:
        place = next((k for k, end in enumerate(ends) if low > end + gap), len(ends))
        ends[place : place + 1] = [high]
        rows.append(place)
    return rows


def draw(request: PlotRequest) -> Figure:
    """Return the diagram: the axis of ranks above, names at both sides, bars of cliques between.

    The ranks are over the queries that all systems have a value for.
    """
    from matplotlib.ticker import MaxNLocator

    _, values = matrix(request.systems, request.metric)
    if request.weighted:
        what = "Friedman's test takes no query weights, which the dataset has"
        raise request.refuse(what, "choose the kind effects")
    if len(values) < 2:
        raise request.refuse("there is one run only, and nothing to compare it with")
    values = values[:, np.isfinite(values).all(axis=0)]
    n_queries, width = values.shape[1], request.settings.width
    if n_queries < 2:
        expected = "expected two queries or more with a value in every run"
        raise request.refuse(f"{expected}, got {n_queries}")
    stream = Stream((request.dataset, str(request.metric)))
    test = find("friedman-nemenyi").function
    result = test(request.metric.sign * values, stream, request.level)
    positions, difference = result.positions, result.critical_difference  # type: ignore[union-attr]
    if positions is None or not math.isfinite(difference):
        raise request.refuse(f"Friedman's test has no answer: {result.note}")
    order = np.argsort(positions, kind="stable")[:MOST_RANKED]
    systems, ranks = [request.systems[place] for place in order], np.asarray(positions)[order]
    # all names are to the left of the axis if two do not fit next to it
    n, n_left = len(systems), (len(systems) + 1) // 2
    lengths = [len(request.called(system.run)) for system in systems]
    room = characters(width, 0.55)
    if max(lengths[:n_left]) + max(lengths[n_left:]) > room:
        n_left = n
    names = request.named(systems, most=room if n_left == n else None)
    row = max(name.label.count("\n") + 1 for name in names) * 0.85 + 0.15
    low = min(math.floor(ranks[0]), math.ceil(ranks[-1]) - 1)
    high = max(math.ceil(ranks[-1]), low + math.ceil(difference))
    span = high - low
    stretches = [(float(ranks[a]), float(ranks[b])) for a, b in cliques(ranks, difference)]
    level = levels(stretches, 0.03 * span)
    bars = 0.45 * (max(level, default=-1) + 1)
    best = plot.best_of(len(values), MOST_RANKED)
    bottom, top = -(0.6 + bars + n_left * row), 2.4  # in lines of text
    text = f"mean rank by {request.axis(request.metric)}\n"
    text += f"{counted(n_queries, 'query', 'queries')}, level {request.level:g}{best}"
    figure = plot.figure(width, plot.lines(top - bottom + text.count("\n") + 1) + 0.25)
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
    for (start, stop), height in zip(stretches, level, strict=True):
        line([start - 0.008 * span, stop + 0.008 * span], [-0.45 - 0.45 * height] * 2, 2.2)
    for place, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        left = place < n_left
        y = -(0.4 + bars + ((place if left else n - 1 - place) + 0.5) * row)
        side = low - edge if left else high + edge
        line([rank, rank, side], [0, y, y], 0.9, plot.look(name.place).colour)
        label = f"{name.label} {rank:.2f} " if left else f" {rank:.2f} {name.label}"
        axes.text(side, y, label, ha="right" if left else "left", va="center", linespacing=1)
    plot.label_below(figure, text, width)
    return figure


CRITICAL_DIFFERENCE = PlotKind(
    draw,
    lambda metrics: [(metric,) for metric in metrics if metric.definition.direction is not None],
    needs="a metric with a direction: higher or lower is better",
)
