"""Differences from the baseline, query by query: sorted bars, the five largest named."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Iterator
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
"""Bars that can be told apart; of more, as many are drawn at an even distance."""


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
        raise request.refuse("there is no run besides the baseline to draw", fix)
    most = MOST[request.settings.width]
    if len(systems) > most:
        what = f"plots: differences on {request.dataset}: the first {most} of {len(systems)} runs"
        warnings.warn(f"{what} are drawn; choose them under 'runs:'", HarnessWarning, stacklevel=2)
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
        worth = sign_of(metric) * values
        won, lost = int((worth > 0).sum()), int((worth < 0).sum())
        tied = len(values) - won - lost
        panels.append(Panel(name, values, worth > 0, tuple(named), won, tied, lost))
    if not any(panel.values.size for panel in panels):
        raise request.refuse(f"no query has a value of {base.run} and of another run")
    return Differences(tuple(panels), request.short(metric), base_name.label)


def _counts(won: int, tied: int, lost: int) -> str:
    return f"{won} won, {tied} tied, {lost} lost"


def _needs_two_lines(panel: Panel) -> bool:
    """Return whether a name and the counts do not fit next to each other."""
    return len(panel.name.label) + len(_counts(panel.won, panel.tied, panel.lost)) + 2 > LINE


def draw(found: Differences, width: Width) -> Figure:
    """Return a panel for each system, all on one scale; bars are pale if the run is worse."""
    columns = min(len(found.panels), 1 if width == "column" else 2)
    rows = -(-len(found.panels) // columns)
    height = 1.6 if rows == 1 else 1.3
    height += plot.ROW * any(map(_needs_two_lines, found.panels))
    figure = plot.figure(width, rows * height + 0.4)
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    ends = [one for panel in found.panels for one in panel.values[[0, -1]] if panel.values.size]
    low, high = min(0.0, *ends), max(0.0, *ends)
    line = 0.22 / height * (high - low)  # the height of a line of text, with room for it
    texts = [text for panel in found.panels for *_, text in labels(panel)]
    lines = 1.2 + max((text.count("\n") for text in texts), default=0)
    for axes in grid.flat[len(found.panels) :]:
        axes.set_visible(False)
    for axes, panel in zip(grid.flat, found.panels, strict=False):
        _panel(axes, panel, line)
    room = line * lines
    grid[0, 0].set_ylim((low - room, high + room) if low < high else (-1, 1))
    figure.supylabel(f"difference in {found.metric}", fontsize=plot.POINTS)
    plot.label_below(figure, f"queries, by their difference from {found.baseline}", width)
    return figure


def labels(panel: Panel) -> Iterator[tuple[int, float, float, str]]:
    """Yield the names of the best queries (sign 1) and of the worst (-1), in the order of bars.

    With the sign are the text's place along the bars, and the tip of the shortest of these bars.
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
    axes.set_xlim(-0.5 - 0.01 * n, n - 0.5 + 0.01 * n)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    counts = _counts(panel.won, panel.tied, panel.lost)
    axes.set_title(panel.name.label + "\n" * _needs_two_lines(panel), loc="left", pad=3)
    axes.set_title(counts, loc="right", pad=3, color="#555555")
    for sign, place, tip, text in labels(panel):
        axes.text(
            place, tip + 0.1 * sign * line, text, ha="left" if sign > 0 else "right",
            va="bottom" if sign > 0 else "top", linespacing=1.1,
        )  # fmt: skip
