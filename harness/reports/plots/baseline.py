"""Runs against the baseline: differences query by query, and means with their intervals."""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.ragged import Bools, Floats
from ...errors import HarnessWarning
from ...stats.differences import differences
from ..phrases import confidence
from ..text import cut
from . import plot
from .plot import Kind, Name, Request, Width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST: dict[Width, int] = {"column": 6, "page": 12}
"""Systems that a picture has room for."""
LINE = 42
"""Characters above a panel, which is as wide as a column also on a page."""
NAMED = 5
"""Queries with a label."""


@dataclass(frozen=True, eq=False)
class Panel:
    """One system against the baseline: run minus baseline of each query, the largest first.

    `better` is true for the queries that the run wins, `named` place and qid of the largest
    differences.
    """

    name: Name
    values: Floats
    better: Bools
    named: tuple[tuple[int, str], ...]
    won: int
    tied: int
    lost: int

    @property
    def counts(self) -> str:
        """The queries won, tied and lost."""
        return f"{self.won} won, {self.tied} tied, {self.lost} lost"

    @property
    def needs_two_lines(self) -> bool:
        """Whether name and counts do not fit next to each other."""
        return len(self.name.label) + len(self.counts) + 2 > LINE


@dataclass(frozen=True, eq=False)
class Differences:
    """What the panels show."""

    panels: tuple[Panel, ...]
    metric: str
    baseline: str


def sorted_differences(request: Request) -> Differences:
    """Return each system's sorted differences, over the queries that both have a value for.

    Systems that the picture has no room for are left out with a warning.
    """
    base, metric, systems = request.baseline, request.metric, request.others
    if base is None or not systems:
        fix = "choose another under 'runs:'"
        raise request.refuse("the baseline is the only run to draw", fix)
    most = MOST[request.settings.width]
    if len(systems) > most:
        what = f"plots: differences of {metric} on {request.dataset}: drew the first {most} of "
        what += f"{len(systems)} runs; choose others with 'runs:' or --run"
        warnings.warn(what, HarnessWarning, stacklevel=2)
        systems = systems[:most]
    base_name, *names = request.named(
        (base, *systems), LINE / plot.characters(request.settings.width)
    )
    panels = []
    for system, name in zip(systems, names, strict=True):
        qids, both = request.matrix((base, system), metric)
        shared = np.flatnonzero(np.isfinite(both).all(axis=0))
        unsorted = differences(both[1, shared], both[0, shared])
        order = np.argsort(-unsorted, kind="stable")
        values = unsorted[order]
        largest = np.sort(np.argsort(-np.abs(values), kind="stable")[:NAMED])
        named = [(int(at), qids[shared[order[at]]]) for at in largest if values[at] != 0]
        worth = metric.sign * values
        won, lost = int((worth > 0).sum()), int((worth < 0).sum())
        tied = len(values) - won - lost
        panels.append(Panel(name, values, worth > 0, tuple(named), won, tied, lost))
    if not any(panel.values.size for panel in panels):
        raise request.refuse(f"no query has a value of {base.run} and of another run")
    return Differences(tuple(panels), request.short(metric), base_name.label)


def draw_differences(found: Differences, width: Width) -> Figure:
    """Return a panel for each system, all on one scale; bars are pale if the run is worse."""
    columns = min(len(found.panels), 1 if width == "column" else 2)
    rows = -(-len(found.panels) // columns)
    height = (1.6 if rows == 1 else 1.3) + plot.ROW * any(p.needs_two_lines for p in found.panels)
    figure = plot.figure(width, rows * height + 0.4)
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    ends = [one for panel in found.panels for one in panel.values[[0, -1]] if panel.values.size]
    low, high = min(0.0, *ends), max(0.0, *ends)
    line = 0.22 / height * (high - low)  # the height of a line of text, with room for it
    texts = [text for panel in found.panels for *_, text in labels(panel)]
    room = line * (1.2 + max((text.count("\n") for text in texts), default=0))
    for axes in grid.flat[len(found.panels) :]:
        axes.set_visible(False)
    for axes, panel in zip(grid.flat, found.panels, strict=False):
        _panel(axes, panel, line)
    grid[0, 0].set_ylim((low - room, high + room) if low < high else (-1, 1))
    figure.supylabel(f"difference in {found.metric}", fontsize=plot.POINTS)
    plot.label_below(figure, f"queries, by their difference from {found.baseline}", width)
    return figure


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


def _panel(axes: Axes, panel: Panel, line: float) -> None:
    n, colour = len(panel.values), plot.look(panel.name.place).colour
    for part, alpha in ((panel.better, 1.0), (~panel.better, 0.4)):
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
    axes.set_title(panel.name.label + "\n" * panel.needs_two_lines, loc="left", pad=3)
    axes.set_title(panel.counts, loc="right", pad=3, color="#555555")
    for sign, place, tip, text in labels(panel):
        axes.text(
            place, tip + 0.1 * sign * line, text, ha="left" if sign > 0 else "right",
            va="bottom" if sign > 0 else "top", linespacing=1.1,
        )  # fmt: skip


DIFFERENCES = Kind(sorted_differences, draw_differences, needs_baseline=True)


@dataclass(frozen=True)
class Row:
    """One system: run minus baseline, its interval, Hedges' g, whether tested and significant."""

    name: Name
    difference: float
    low: float
    high: float
    g: float
    significant: bool
    tested: bool = True


@dataclass(frozen=True)
class Effects:
    """What is drawn: the best of `of` systems that were compared."""

    rows: tuple[Row, ...]
    metric: str
    baseline: str
    level: float
    of: int


def compared(request: Request) -> Effects:
    """Return the comparison of each system with the baseline."""
    found, base = request.study.comparisons, request.baseline
    if found is None or base is None:
        raise request.refuse("nothing is compared", "add 'compare:' to the config")
    rows = []
    base_name, *names = request.named((base, *request.others))
    for system, name in zip(request.others, names, strict=True):
        key = request.dataset, str(request.metric)
        one, sign = found.get(*key, base.run, system.run), 1
        if one is None:
            one, sign = found.get(*key, system.run, base.run), -1
        if one is not None:
            low, high = sorted((sign * one.low, sign * one.high))
            difference, g = sign * one.difference, sign * one.hedges_g
            tested = math.isfinite(one.p_adjusted)
            rows.append(Row(name, difference, low, high, g, found.is_significant(one), tested))
    if not rows:
        fix = f"have them compared: 'compare: {{baseline: {base.run}}}', and see its 'metrics:'"
        raise request.refuse(f"no run is compared with {base.run}", fix)
    if not any(math.isfinite(row.difference) for row in rows):
        raise request.refuse(f"no query has a value of {base.run} and of another run")
    label = request.short(request.metric)
    shown = tuple(rows[: plot.ROWS])
    return Effects(shown, label, base_name.label, request.level, len(rows))


def draw_effects(found: Effects, width: Width) -> Figure:
    """Return a row for each system, in order from above, with the effect sizes at the right."""
    figure = plot.figure(width, len(found.rows) * 0.19 + 0.75)
    axes = figure.subplots()
    axes.axvline(0, color=plot.GREY, linewidth=0.8, linestyle="--", zorder=1)
    for place, row in enumerate(found.rows):
        colour = plot.look(row.name.place).colour
        if math.isfinite(row.low) and math.isfinite(row.high):
            axes.hlines(place, row.low, row.high, color=colour, linewidth=1.4, zorder=2)
        axes.plot(
            row.difference, place, marker="o" if row.tested else "x", color=colour, linestyle="",
            markersize=4.5, markerfacecolor=colour if row.significant else "white", zorder=3,
        )  # fmt: skip
    plot.label_rows(axes, [row.name.label for row in found.rows])
    axes.locator_params(axis="x", nbins=5 if width == "column" else 9)
    untested = "" if all(row.tested for row in found.rows) else ", × no test"
    text = (
        f"{plot.best_of(found.of)}difference in {found.metric} from {found.baseline}\n"
        f"{confidence(found.level)} interval; ● p ≤ {found.level:g}, "
        f"○ p > {found.level:g}{untested}"
    )
    plot.label_below(figure, text, width)
    right = axes.twinx()
    plot.label_rows(right, [_signed(row.g) for row in found.rows])
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


EFFECTS = Kind(compared, draw_effects, needs_baseline=True, needs_comparisons=True)
