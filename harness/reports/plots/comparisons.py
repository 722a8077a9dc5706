"""Plots that compare runs: differences query by query, means with intervals, and mean ranks."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.entries import System
from ...core.ragged import Floats
from ...core.systems import matrix
from ...errors import warn
from ...stats.comparison import Comparison, Comparisons, between
from ...stats.differences import differences
from ...stats.registry import Stream, find
from ..phrases import CORRECTIONS, confidence, span
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

    @property
    def needs_two_lines(self) -> bool:
        """Whether name and counts do not fit next to each other."""
        return len(self.name.label) + len(self.counts) + 2 > LINE


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
    height = (1.6 if rows == 1 else 1.3) + plot.ROW * any(p.needs_two_lines for p in panels)
    figure = plot.figure(width, rows * height + 0.4)
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    ends = [value for panel in panels for value in panel.values[[0, -1]] if panel.values.size]
    low, high = min(0.0, *ends), max(0.0, *ends)
    line = 0.22 / height * (high - low)  # the height of a line of text, with room for it
    texts = [text for panel in panels for *_, text in labels(panel)]
    room = line * (1.2 + max((text.count("\n") for text in texts), default=0))
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        _draw_panel(axes, panel, line)
    grid[0, 0].set_ylim((low - room, high + room) if low < high else (-1, 1))
    figure.supylabel(f"difference in {request.short(metric)}", fontsize=plot.POINTS)
    plot.label_below(figure, f"queries, by their difference from {base_name.label}", width)
    return figure


def _panel(request: PlotRequest, base: System, system: System, name: Name) -> Panel:
    """Return a system's sorted differences, over the queries that both have a value for."""
    qids, both = matrix((base, system), request.metric)
    shared = np.flatnonzero(np.isfinite(both).all(axis=0))
    unsorted = differences(both[1, shared], both[0, shared])
    order = np.argsort(-unsorted, kind="stable")
    values = unsorted[order]
    largest = np.sort(np.argsort(-np.abs(values), kind="stable")[:NAMED])
    named = [(int(k), qids[shared[order[k]]]) for k in largest if values[k] != 0]
    return Panel(name, values, named, request.metric.sign)


def labels(panel: Panel) -> Iterator[tuple[int, float, float, str]]:
    """Yield sign, place along the bars, tip of the shortest bar, and names of its queries.

    They are those of the best queries (sign 1) and of the worst (-1).
    """
    n = len(panel.values)
    for sign in (1, -1):
        named = [(k, qid) for k, qid in panel.named if sign * panel.values[k] > 0]
        if named:
            place = named[-1][0] + 0.8 if sign > 0 else named[0][0] - 0.8
            tip = sign * min(sign * float(panel.values[k]) for k, _ in named)
            room = int(LINE * (n - place if sign > 0 else place) / n)
            names = ", ".join(cut(qid, 14) for _, qid in named)
            text = textwrap.fill(names, max(min(34, room), 15), break_on_hyphens=False)
            yield sign, place, tip, text


def _draw_panel(axes: Axes, panel: Panel, line: float) -> None:
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
    axes.set_title(panel.name.label + ("\n" if panel.needs_two_lines else ""), loc="left", pad=3)
    axes.set_title(panel.counts, loc="right", pad=3, color="#555555")
    for sign, place, tip, text in labels(panel):
        ha, va = ("left", "bottom") if sign > 0 else ("right", "top")
        axes.text(place, tip + 0.1 * sign * line, text, ha=ha, va=va, linespacing=1.1)


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
    figure = plot.figure(width, len(rows) * 0.19 + 0.75)
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
    plot.label_rows(axes, [name.label for name, *_ in rows])
    axes.locator_params(axis="x", nbins=5 if width == "column" else 9)
    untested = "" if all(is_tested) else ", × no test"
    short = f"{request.weighted}{request.short(request.metric)}"
    difference = f"{best}difference in {short} from {base_name.label}"
    text = f"{difference}\n{_marks(comparisons, [row for _, row, _ in rows])}{untested}"
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
    interval, p = f"{confidence(plan.level)} interval", f"p at most {plan.level:g}"
    if not (correction and sizes):
        return f"{interval}; filled: {p}"
    kind = "simultaneous" if any(row.interval == "simultaneous" for row in rows) else "unadjusted"
    over = f"{correction}, {span(sizes)} comparisons"
    return f"{kind} {interval}; filled: adjusted {p} ({over})"


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
    order = np.argsort(positions, kind="stable")[: plot.ROWS]
    systems, ranks = [request.systems[place] for place in order], np.asarray(positions)[order]
    # all names are to the left of the axis if two do not fit next to it
    n, n_left = len(systems), (len(systems) + 1) // 2
    lengths = [len(request.called(system.run)) for system in systems]
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
    for (start, stop), height in zip(stretches, level, strict=True):
        line([start - 0.008 * span, stop + 0.008 * span], [-0.45 - 0.45 * height] * 2, 2.2)
    names = request.named(systems, most=room)
    for place, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        left = place < n_left
        y = -(0.5 + bars + (place if left else n - 1 - place) + 0.4)
        side = low - edge if left else high + edge
        line([rank, rank, side], [0, y, y], 0.9, plot.look(name.place).colour)
        label = f"{name.label} {rank:.2f} " if left else f" {rank:.2f} {name.label}"
        axes.text(side, y, label, ha="right" if left else "left", va="center")
    text = f"{best}mean rank by {request.axis(request.metric)}\n"
    text += f"{n_queries:,} queries, level {request.level:g}"
    axes.text((low + high) / 2, bottom, text, ha="center", va="bottom")
    return figure


CRITICAL_DIFFERENCE = PlotKind(
    draw,
    lambda metrics: [(metric,) for metric in metrics if metric.definition.direction is not None],
    needs="a metric whose higher or lower values are better",
)
