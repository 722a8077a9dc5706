"""Evaluations, comparisons and leaderboards as ``print`` and a notebook show them."""

from __future__ import annotations

from ..core.evaluation import Evaluation
from ..core.leaderboard import Leaderboard
from ..stats.comparison import Comparisons
from . import html, leaderboard, text
from .grid import Cell, Grid, first_rows, grid
from .phrases import decimals, interval, p_value

ROWS = 20
"""Rows of a table that a notebook shows."""
REST = "print it to see all"


def as_text(value: Evaluation | Comparisons | Leaderboard) -> str:
    """Return the value's table as text."""
    if isinstance(value, Leaderboard):
        return leaderboard.as_text(value).rstrip("\n")
    return text.render([_grid(value)]).rstrip("\n")


def as_html(value: Evaluation | Comparisons | Leaderboard) -> str:
    """Return the first rows of the value's tables as HTML."""
    if isinstance(value, Evaluation):
        return html.render([_grid(value)])
    grids = leaderboard.grids(value) if isinstance(value, Leaderboard) else [_grid(value)]
    return html.render(first_rows(one, ROWS, REST) for one in grids)


def _grid(value: Evaluation | Comparisons) -> Grid:
    if isinstance(value, Evaluation):
        n = value.n()
        summary = [[name, decimals(mean), str(n[name])] for name, mean in value.summary().items()]
        title = " on ".join(filter(None, (value.run, value.dataset)))
        return grid(["metric", "value", "n"], summary, title=title, notes=[value.notes])
    header = ["dataset", "metric", "baseline", "run", "n", "difference", "interval", "p adjusted"]
    rows: list[list[str | Cell]] = [
        [
            one.dataset, str(one.metric), one.baseline, one.run, str(one.n),
            decimals(one.difference, sign=True),
            interval(one.low, one.high, sign=True),
            Cell(p_value(one.p_adjusted), "*" if value.is_significant(one) else ""),
        ]
        for one in value.rows
    ]  # fmt: skip
    note = f"{value.title or value.plan.test}; * adjusted p at most {value.plan.level:g}"
    skipped = 0 if any(one.dataset for one in value.rows) else 1
    body = [row[skipped:] for row in rows]
    return grid(header[skipped:], body, left=4 - skipped, notes=[note])
