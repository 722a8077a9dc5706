"""Differences from the baseline with their intervals, and effect sizes: a forest plot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..phrases import confidence
from . import plot
from .plot import Kind, Name, Request, Width

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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


def data(request: Request) -> Effects:
    """Return the comparison of each system with the baseline."""
    compared, base = request.study.comparisons, request.baseline
    if compared is None or base is None:
        raise request.refuse("nothing is compared", "add 'compare:' to the config")
    rows = []
    base_name, *names = request.named((base, *request.others))
    for system, name in zip(request.others, names, strict=True):
        key = request.dataset, str(request.metric)
        one, sign = compared.get(*key, base.run, system.run), 1
        if one is None:
            one, sign = compared.get(*key, system.run, base.run), -1
        if one is not None:
            low, high = sorted((sign * one.low, sign * one.high))
            difference, g = sign * one.difference, sign * one.hedges_g
            tested = math.isfinite(one.p_adjusted)
            rows.append(Row(name, difference, low, high, g, compared.is_significant(one), tested))
    if not rows:
        fix = f"have them compared: 'compare: {{baseline: {base.run}}}', and see its 'metrics:'"
        raise request.refuse(f"no run is compared with {base.run}", fix)
    if not any(math.isfinite(row.difference) for row in rows):
        raise request.refuse(f"no query has a value of {base.run} and of another run")
    label = request.short(request.metric)
    shown = tuple(rows[: plot.ROWS])
    return Effects(shown, label, base_name.label, request.level, len(rows))


def draw(found: Effects, width: Width) -> Figure:
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


KIND = Kind(data, draw, needs_baseline=True, needs_comparisons=True)
