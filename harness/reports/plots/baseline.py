"""Runs against the baseline: differences query by query, and means with their intervals."""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.entries import System
from ...core.ragged import Floats
from ...core.systems import matrix
from ...errors import HarnessWarning
from ...stats.comparison import between
from ...stats.differences import differences
from ..phrases import confidence
from ..text import cut
from . import plot
from .plot import Name, PlotKind, PlotRequest, Width

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
    most = MOST[width]
    if len(systems) > most:
        what = f"plots: differences of {metric} on {request.dataset}: drew the first {most} of "
        what += f"{len(systems)} runs; choose others with 'runs:' or --run"
        warnings.warn(what, HarnessWarning, stacklevel=2)
        systems = systems[:most]
    base_name, *names = request.named((base, *systems), LINE / plot.characters(width))
    panels = [
        _panel(request, base, system, name) for system, name in zip(systems, names, strict=True)
    ]
    if not any(panel.values.size for panel in panels):
        raise request.refuse(f"no query has a value of {base.run} and of another run")
    columns = min(len(panels), 1 if width == "column" else 2)
    rows = -(-len(panels) // columns)
    height = (1.6 if rows == 1 else 1.3) + plot.ROW * any(p.needs_two_lines for p in panels)
    figure = plot.figure(width, rows * height + 0.4)
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    ends = [one for panel in panels for one in panel.values[[0, -1]] if panel.values.size]
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
    named = [(int(at), qids[shared[order[at]]]) for at in largest if values[at] != 0]
    return Panel(name, values, named, request.metric.sign)


def labels(panel: Panel) -> Iterator[tuple[int, float, float, str]]:
    """Yield sign, place along the bars, tip of the shortest bar, and names of its queries.

    They are those of the best queries (sign 1) and of the worst (-1).
    """
    n = len(panel.values)
    for sign in (1, -1):
        own = [(at, qid) for at, qid in panel.named if sign * panel.values[at] > 0]
        if own:
            place = own[-1][0] + 0.8 if sign > 0 else own[0][0] - 0.8
            tip = sign * min(sign * float(panel.values[at]) for at, _ in own)
            most = int(LINE * (n - place if sign > 0 else place) / n)
            names = ", ".join(cut(qid, 14) for _, qid in own)
            text = textwrap.fill(names, max(min(34, most), 15), break_on_hyphens=False)
            yield sign, place, tip, text


def _draw_panel(axes: Axes, panel: Panel, line: float) -> None:
    n, colour = len(panel.values), plot.look(panel.name.place).colour
    is_better = panel.worth * panel.values > 0
    for part, alpha in ((is_better, 1.0), (~is_better, 0.4)):
        if n <= 100:
            some, bars = np.flatnonzero(part), panel.values[part]
            axes.bar(some, bars, 0.8, color=colour, alpha=alpha, linewidth=0)
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
        axes.text(
            place, tip + 0.1 * sign * line, text, ha="left" if sign > 0 else "right",
            va="bottom" if sign > 0 else "top", linespacing=1.1,
        )  # fmt: skip


DIFFERENCES = PlotKind(draw_differences, needs_baseline=True)


def draw_effects(request: PlotRequest) -> Figure:
    """Return a row for each system, in order from above, with the effect sizes at the right."""
    found, base, width = request.study.comparisons, request.baseline, request.settings.width
    if found is None or base is None:
        raise request.refuse("nothing is compared", "add 'compare:' to the config")
    base_name, *names = request.named((base, *request.others))
    rows, key = [], (request.dataset, str(request.metric))
    for system, name in zip(request.others, names, strict=True):
        one, sign = between(found, *key, base.run, system.run)
        if one is not None:
            rows.append((name, one, sign))
    if not rows:
        fix = f"have them compared: 'compare: {{baseline: {base.run}}}', and see its 'metrics:'"
        raise request.refuse(f"no run is compared with {base.run}", fix)
    if not any(math.isfinite(one.difference) for _, one, _ in rows):
        raise request.refuse(f"no query has a value of {base.run} and of another run")
    best = plot.best_of(len(rows))
    rows = rows[: plot.ROWS]
    figure = plot.figure(width, len(rows) * 0.19 + 0.75)
    axes = figure.subplots()
    axes.axvline(0, color=plot.GREY, linewidth=0.8, linestyle="--", zorder=1)
    is_tested = [math.isfinite(one.p_adjusted) for _, one, _ in rows]
    for place, (name, one, sign) in enumerate(rows):
        colour = plot.look(name.place).colour
        if math.isfinite(one.low) and math.isfinite(one.high):
            axes.hlines(
                place, sign * one.low, sign * one.high, color=colour, linewidth=1.4, zorder=2
            )
        axes.plot(
            sign * one.difference, place, marker="o" if is_tested[place] else "x", color=colour,
            markersize=4.5, markerfacecolor=colour if found.is_significant(one) else "white",
            linestyle="", zorder=3,
        )  # fmt: skip
    plot.label_rows(axes, [name.label for name, *_ in rows])
    axes.locator_params(axis="x", nbins=5 if width == "column" else 9)
    untested = "" if all(is_tested) else ", × no test"
    level = found.plan.level
    text = (
        f"{best}difference in {request.short(request.metric)} from {base_name.label}\n"
        f"{confidence(level)} interval; ● p ≤ {level:g}, ○ p > {level:g}{untested}"
    )
    plot.label_below(figure, text, width)
    right = axes.twinx()
    plot.label_rows(right, [_signed(sign * one.hedges_g) for _, one, sign in rows])
    right.annotate(
        "Hedges' g", (1, 1), (3.5, 0), xycoords="axes fraction", textcoords="offset points",
        va="bottom",
    )  # fmt: skip
    for spine in (axes.spines["left"], right.spines["left"], right.spines["right"]):
        spine.set_visible(False)
    return figure


def _signed(value: float) -> str:
    """Return a number with its sign; nothing if it is not defined.

    >>> _signed(-0.25), _signed(0.0), _signed(float("nan"))
    ('−0.25', '0.00', '')
    """
    if not math.isfinite(value):
        return ""
    return f"{value:+.2f}".replace("-", "−") if round(value, 2) else "0.00"


EFFECTS = PlotKind(draw_effects, needs_baseline=True, needs_comparisons=True)
