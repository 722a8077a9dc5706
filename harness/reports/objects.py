"""Evaluations and comparisons as ``print`` and a notebook show them."""

from __future__ import annotations

from ..core.comparison import Comparisons
from ..core.evaluation import Evaluation
from . import html, text
from .grid import Cell, Grid, grid
from .numbers import decimals


def evaluation_text(evaluation: Evaluation) -> str:
    """Return each metric's value and number of queries as text."""
    return text.render([_evaluation(evaluation)]).rstrip("\n")


def evaluation_html(evaluation: Evaluation) -> str:
    """Return each metric's value and number of queries as HTML."""
    return html.render([_evaluation(evaluation)])


def _evaluation(evaluation: Evaluation) -> Grid:
    n = evaluation.n()
    rows = [[name, decimals(value), str(n[name])] for name, value in evaluation.summary().items()]
    title = " on ".join(filter(None, (evaluation.run, evaluation.dataset)))
    return grid(["metric", "value", "n"], rows, title=title, notes=[evaluation.notes])


def comparisons_text(comparisons: Comparisons) -> str:
    """Return a row for each comparison as text."""
    return text.render([_comparisons(comparisons)]).rstrip("\n")


def comparisons_html(comparisons: Comparisons) -> str:
    """Return a row for each comparison as HTML."""
    return html.render([_comparisons(comparisons)])


def _comparisons(comparisons: Comparisons) -> Grid:
    header = ["dataset", "metric", "baseline", "run", "n", "difference", "interval", "p adjusted"]
    rows: list[list[str | Cell]] = [
        [
            one.dataset, str(one.metric), one.baseline, one.run, str(one.n),
            decimals(one.difference, sign=True),
            f"[{decimals(one.low, sign=True)}, {decimals(one.high, sign=True)}]",
            Cell(decimals(one.p_adjusted), "*" if comparisons.is_significant(one) else ""),
        ]
        for one in comparisons.rows
    ]  # fmt: skip
    level = f"{comparisons.title or comparisons.plan.test}; * adjusted p at most"
    return grid(header, rows, left=4, notes=[f"{level} {comparisons.plan.level:g}"])
