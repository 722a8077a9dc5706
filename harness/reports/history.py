"""A metric over dated results folders: tables, records, a picture, and a page of them."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..core.entries import grouped_by
from ..core.metric import Metric
from ..core.names import spelled
from ..errors import counted
from . import html
from .grid import Answer, Grid, GridCell, Tone, filled, first_rows, grid, grid_of
from .phrases import decimals, heading, p_value
from .plots import plot
from .sentences import DIGITS

SIGNS = {"worse": "▼", "better": "▲", "incomparable": "≠"}
MOST_CHANGES = 50
"""Changes that are listed; CSV and JSON lines have all."""
MOST_LINES = 10
"""Runs that a picture has in colour and names; the others are grey."""


@dataclass(frozen=True)
class Change:
    """Difference of a value from the first value of its level, in the folder `since`.

    `old` and `new` are means over the queries with a value in both.
    """

    kind: Literal["worse", "better", "incomparable"]
    since: str
    old: float = math.nan
    new: float = math.nan
    p: float = math.nan
    note: str = ""


@dataclass(frozen=True)
class Point:
    """A value over `n` queries, and the change that begins here."""

    value: float
    n: int
    change: Change | None


@dataclass(frozen=True)
class History:
    """The points of each series, by dataset, metric and run; None where a folder has no value."""

    labels: tuple[str, ...]
    series: Mapping[tuple[str, Metric, str], Sequence[Point | None]]
    level: float
    n_tests: int
    tolerance: float

    @property
    def is_worse(self) -> bool:
        """Whether a value of the last folder is a change for the worse."""
        last = [points[-1] for points in self.series.values()]
        return any(one and one.change and one.change.kind == "worse" for one in last)

    def changes(self) -> Iterator[tuple[str, str, Metric, str, Change]]:
        """Yield folder, dataset, metric and run of each change, the newest first."""
        for at in reversed(range(len(self.labels))):
            for (dataset, metric, run), points in self.series.items():
                if (point := points[at]) is not None and point.change is not None:
                    yield self.labels[at], dataset, metric, run, point.change


def grids(history: History) -> list[Grid]:
    """Return the changes, and the values of each dataset and metric by folder and run."""
    beyond = f" by more than {history.tolerance:g}" if history.tolerance else ""
    kinds = {change.kind for *_, change in history.changes()}
    notes = []
    if kinds & {"worse", "better"}:
        notes = [
            f"▼ marks a value that is worse{beyond} than the first of its level, ▲ a better one.",
            f"The test is the gate's, at {history.level:g} for all "
            f"{counted(history.n_tests, 'test')} together.",
        ]
    if "incomparable" in kinds:
        notes.append("≠ marks a value with another policy or other queries.")
    rows = [
        {
            **{"folder": label, "change": f"{SIGNS[change.kind]} {change.kind}"},
            **{"dataset": dataset, "run": run, "metric": heading(metric), "since": change.since},
            **{"why": change.note, "then": decimals(change.old), "now": decimals(change.new)},
            "p": p_value(change.p),
        }
        for label, dataset, metric, run, change in history.changes()
    ]
    tables = [Grid(answers=(_answer(history),))]
    if rows:
        table = grid_of(filled(rows), left=6, title="Changes, the newest first")
        tables.append(first_rows(table, MOST_CHANGES, "--format csv lists all"))
    for (dataset, metric), runs in _by_metric(history).items():
        values = [
            [label, *(_cell(points[at]) for points in runs.values())]
            for at, label in enumerate(history.labels)
        ]
        title = f"{dataset}: {heading(metric)}"
        tables.append(grid(["folder", *runs], values, title=title, notes=notes))
        notes = []
    return tables


def _answer(history: History) -> Answer:
    last, metrics = history.labels[-1], [*dict.fromkeys(metric for _, metric, _ in history.series)]
    changes = [*history.changes()]
    latest = [row for row in changes if row[0] == last]
    kind = "worse" if history.is_worse else "better"
    shown = [row for row in latest if row[4].kind == kind]
    others = len(latest) - sum(row[4].kind != "incomparable" for row in latest)
    rest = [f"{counted(others, 'value is', 'values are')} not comparable"] * bool(others)
    if len(changes) > len(latest):
        rest.append(f"{counted(len(changes) - len(latest), 'change')} before it")
    if not shown:
        tone: Tone = "mixed" if others else "good"
        return Answer("; ".join([f"{last}: no value is worse or better", *rest]), tone)
    _, dataset, metric, run, change = shown[0]
    values = f"{decimals(change.old, DIGITS)} to {decimals(change.new, DIGITS)}"
    subject = f"{spelled(metric, metrics)} of {run} on {dataset}"
    text = f"{last}: {subject} is {kind} than in {change.since} ({values})"
    if more := len(shown) - 1:
        rest.insert(0, counted(more, f"more value is {kind}", f"more values are {kind}"))
    return Answer("; ".join([text, *rest]), "bad" if kind == "worse" else "good")


def _by_metric(history: History) -> dict[tuple[str, Metric], dict[str, Sequence[Point | None]]]:
    groups = grouped_by(history.series, lambda key: key[:2])
    return {group: {key[2]: history.series[key] for key in keys} for group, keys in groups.items()}


def _cell(point: Point | None) -> str | GridCell:
    if point is None:
        return "–"
    return GridCell(decimals(point.value), f" {SIGNS[point.change.kind]}" if point.change else "")


def records(history: History) -> list[dict[str, Any]]:
    """Return a record of each value."""
    return [
        {
            **{"folder": label, "dataset": dataset, "run": run, "metric": str(metric)},
            **{"value": point.value, "queries": point.n},
            "change": point.change.kind if point.change else "",
            "since": point.change.since if point.change else "",
            "p": point.change.p if point.change else math.nan,
        }
        for (dataset, metric, run), points in history.series.items()
        for label, point in zip(history.labels, points, strict=True)
        if point is not None
    ]


def page(history: History, title: str) -> bytes:
    """Return an HTML page of the picture and the tables, which needs no network."""
    drawn = base64.b64encode(picture(history)).decode()
    image = f'<img alt="{html.in_html(_described(history))}" style="max-width: 100%; '
    image += f'background: #fff" src="data:image/svg+xml;base64,{drawn}">\n'
    return html.document(title, image + html.render(grids(history))).encode()


def _described(history: History) -> str:
    changes = [*history.changes()]
    text = f"{counted(len(history.series), 'series', 'series')} over "
    text += f"{counted(len(history.labels), 'folder')}, {counted(len(changes), 'change')}"
    return text + (f", the last one in {changes[0][0]}" if changes else "")


def picture(history: History) -> bytes:
    """Return lines of the values as SVG, a panel for each dataset and metric."""
    plot.check_installed()
    panels, n = _by_metric(history), len(history.labels)
    with plot.styled():
        figure = plot.figure("page", 0.4 + 2.1 * len(panels))
        axes = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
        for axis, ((dataset, metric), runs) in zip(axes, panels.items(), strict=True):
            changed = [run for run, points in runs.items() if any(p and p.change for p in points)]
            named = list(dict.fromkeys([*changed, *runs]))[:MOST_LINES]
            for run, points in runs.items():
                values = [math.nan if point is None else point.value for point in points]
                look = plot.look(named.index(run)) if run in named else None
                colour = look.colour if look else "#bbbbbb"
                axis.plot(range(n), values, color=colour, linewidth=1, label=run if look else None)
                kinds = [one.change.kind if one and one.change else "" for one in points]
                for kind, marker in (("worse", "v"), ("better", "^"), ("incomparable", "x")):
                    at = [place for place, own in enumerate(kinds) if own == kind]
                    axis.plot(at, [values[i] for i in at], marker, color=colour, markersize=5)
            step = -(-n // 8)
            axis.set_xticks(range(0, n, step), history.labels[::step])
            axis.set_ylabel(f"{dataset}\n{heading(metric)}")
            axis.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        return plot.save(figure, "svg", "history", "")
