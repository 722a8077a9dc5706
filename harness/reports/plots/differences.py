"""Differences from the baseline, query by query: sorted bars, the five largest named."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...core.ragged import Bools, Floats
from ...core.text import cut
from ...errors import HarnessWarning
from ...stats.differences import differences
from . import plot
from .plot import Name, Request, Width, sign_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

needs_baseline, needs_comparisons = True, False
NEEDS = "needs a metric"
groups = plot.each_metric
file_names = plot.metric_names
MOST: dict[Width, int] = {"column": 6, "page": 12}
"""Systems that a picture has room for."""
LINE = 42
"""Characters above a panel, which is as wide as a column also on a page."""
NAMED = 5
"""Queries that are named."""
FINE = 1000
"""Bars that can be told apart; of more, so many are drawn, at an even distance."""
FEW = 6
"""Queries up to which each name stands at its bar."""


@dataclass(frozen=True, eq=False)
class Panel:
    """One system against the baseline: run minus baseline of each query, the largest first.

    `better` is where the run is better, `named` place and qid of the largest differences.
    """

    name: Name
    values: Floats
    better: Bools
    named: tuple[tuple[int, str], ...]
    won: int
    tied: int
    lost: int


@dataclass(frozen=True, eq=False)
class Differences:
    """What is drawn."""

    panels: tuple[Panel, ...]
    metric: str
    baseline: str


def data(request: Request) -> Differences:
    """Return the sorted differences of each system, over the queries that both have a value for.

    A warning says if there are more systems than the picture has room for.
    """
    base, metric, systems = request.baseline, request.metric, request.others
    if base is None or not systems:
        fix = "choose another under 'runs:'"
        raise request.refuse("there is no run beside the baseline to draw", fix)
    most = MOST[request.settings.width]
    if len(systems) > most:
        what = f"plots: differences on {request.dataset}: the first {most} of {len(systems)} runs"
        warnings.warn(f"{what} are drawn; choose them under 'runs:'", HarnessWarning, stacklevel=2)
        systems = systems[:most]
    sign = sign_of(metric)
    panels = []
    n = max(len(system.qids) for system in systems)
    room = max(10, LINE - len(_counts(n, n, n)))
    share = room / plot.characters(request.settings.width)
    base_name, *names = request.named((base, *systems), share)
    for system, name in zip(systems, names, strict=True):
        qids, both = request.matrix((base, system), metric)
        shared = np.flatnonzero(np.isfinite(both).all(axis=0))
        found = differences(both[1, shared], both[0, shared])
        order = np.argsort(-found, kind="stable")
        values = found[order]
        largest = np.argsort(-np.abs(values), kind="stable")[:NAMED]
        named = [
            (int(place), qids[shared[order[place]]]) for place in largest if values[place] != 0
        ]
        won, lost = int((sign * values > 0).sum()), int((sign * values < 0).sum())
        panels.append(
            Panel(
                name, values, sign * values > 0, tuple(sorted(named)), won,
                len(values) - won - lost, lost,
            )
        )  # fmt: skip
    if not any(panel.values.size for panel in panels):
        raise request.refuse(f"no query has a value of {base.run} and of another run")
    label = request.short(str(metric), metric)
    return Differences(tuple(panels), label, base_name.label)


def _counts(won: int, tied: int, lost: int) -> str:
    return f"{won} won, {tied} tied, {lost} lost"


def draw(found: Differences, width: Width) -> Figure:
    """Return a panel for each system, all on one scale; bars are pale where the run is worse."""
    columns = min(len(found.panels), 1 if width == "column" else 2)
    rows = -(-len(found.panels) // columns)
    height = 1.6 if rows == 1 else 1.3
    figure = plot.figure(width, rows * height + 0.4)
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    for axes in grid.flat[len(found.panels) :]:
        axes.set_visible(False)
    low, high, line = _scale(found.panels, height - 0.4)
    for axes, panel in zip(grid.flat, found.panels, strict=False):
        _panel(axes, panel, line)
    grid[0, 0].set_ylim(low, high)
    figure.supylabel(f"difference in {found.metric}", fontsize=plot.POINTS)
    plot.label_below(figure, f"queries, by their difference from {found.baseline}", width)
    return figure


def _scale(panels: Sequence[Panel], inches: float) -> tuple[float, float, float]:
    """Return the limits that hold bars and names, and the height of a line of text in them."""
    ends = [value for panel in panels for value in panel.values[[0, -1]] if panel.values.size]
    low, high = min(0.0, *ends), max(0.0, *ends)
    if low == high:
        return -1.0, 1.0, 0.0
    first, last, line = low, high, 0.0
    for _ in range(8):  # names need room, which makes a line of text higher
        line = 0.14 / inches * (last - first)
        tops = [
            side.tip + side.sign * line * (side.text.count("\n") + 1.2)
            for panel in panels
            for side in sides(panel)
        ]
        first, last = min([low, *tops]), max([high, *tops])
    pad = 0.03 * (last - first)
    return first - pad, last + pad, line


@dataclass(frozen=True)
class Side:
    """The names of the best (`sign` 1) or of the worst queries (-1), in the order of their bars.

    `place` is where the text begins above zero, or ends below it, and its middle if it names one
    bar of few; `tip` the end of the shortest of these bars.
    """

    sign: int
    place: float
    tip: float
    text: str


def sides(panel: Panel) -> list[Side]:
    """Return the texts that name the largest differences."""
    found = []
    n = len(panel.values)
    if n <= FEW:
        most = LINE // _room(n) - 1
        tips = [(place, float(panel.values[place]), qid) for place, qid in panel.named]
        return [Side(1 if tip > 0 else -1, place, tip, cut(qid, most)) for place, tip, qid in tips]
    for sign in (1, -1):
        own = [(place, qid) for place, qid in panel.named if sign * panel.values[place] > 0]
        if own:
            place = own[-1][0] + 0.8 if sign > 0 else own[0][0] - 0.8
            tip = sign * min(sign * float(panel.values[at]) for at, _ in own)
            left = (n - place if sign > 0 else place) / n
            text = textwrap.fill(
                ", ".join(cut(qid, 14) for _, qid in own), max(min(34, int(LINE * left)), 15),
                break_on_hyphens=False,
            )  # fmt: skip
            found.append(Side(sign, place, tip, text))
    return found


def _panel(axes: Axes, panel: Panel, line: float) -> None:
    n, colour = len(panel.values), plot.look(panel.name.place).colour
    for part, strength in ((panel.better, 1.0), (~panel.better, 0.4)):
        shade = plot.lighter(colour, strength)
        if n <= 100:
            axes.bar(np.flatnonzero(part), panel.values[part], 0.8, color=shade, linewidth=0)
        else:
            some = np.linspace(0, n - 1, min(n, FINE)).round().astype(int)
            edges = np.linspace(0, n, some.size + 1) - 0.5
            bars = np.where(part, panel.values, 0.0)[some]
            axes.stairs(bars, edges, fill=True, color=shade, linewidth=0)
    axes.axhline(0, color="black", linewidth=0.6)
    room = _room(n)
    axes.set_xlim(-0.5 - 0.01 * room, room - 0.5 + 0.01 * room)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.set_title(panel.name.label, loc="left", pad=3)
    counts = _counts(panel.won, panel.tied, panel.lost)
    axes.set_title(counts, loc="right", pad=3, color="#555555")
    for side in sides(panel):
        where = "left" if side.sign > 0 else "right"
        axes.text(
            side.place, side.tip + 0.15 * side.sign * line, side.text,
            ha="center" if n <= FEW else where, va="bottom" if side.sign > 0 else "top",
            linespacing=1.1,
        )  # fmt: skip


def _room(n: int) -> int:
    """Return how many bars a panel is wide: a single one does not fill it."""
    return max(n, 3)
