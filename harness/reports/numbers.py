"""Numbers as tables show them, and the headings above them."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal

from ..core.metric import Metric

UNDEFINED = "–"
"""Shown in place of a value that is not defined."""
ARROWS = {"higher": "↑", "lower": "↓", None: ""}
# a double has at most 1,075 significant decimals: nothing is rounded before the last step
_EXACT = Context(prec=1100, rounding=ROUND_HALF_EVEN)


def heading(metric: Metric) -> str:
    """Return a metric's name with an arrow that points to better.

    >>> from harness.core.names import parse
    >>> heading(parse("P@5")[0])
    'P@5 ↑'
    """
    return f"{metric} {ARROWS[metric.definition.direction]}".rstrip()


def spelled(metric: Metric) -> str:
    """Return the default name of a metric in tables and plots.

    >>> from harness.core.names import parse_all
    >>> list(map(spelled, parse_all(["map", "ndcg(gain=exp)@10", "err@10", "P@5", "rr@10"])))
    ['MAP', 'nDCG(gain=exp)@10', 'ERR@10', 'P@5', 'MRR@10']
    """
    title, own, name = metric.title[0], str(metric), metric.definition.name
    is_name = isinstance(title, str) and title != title.lower() and " " not in title
    return f"{title}{own.removeprefix(name)}" if is_name and own.startswith(name) else own


def number(value: float, metric: Metric, digits: int = 4) -> str:
    """Return a metric's value: counts whole, others with `digits` decimals."""
    if metric.definition.summary == "sum" and value.is_integer():
        return str(int(value))
    return decimals(value, digits)


def decimals(value: float, digits: int = 4, sign: bool = False) -> str:
    """Return a number with `digits` decimals.

    >>> decimals(0.12345), decimals(0.12345, sign=True), decimals(float("nan"))
    ('0.1235', '+0.1235', '–')
    """
    if math.isnan(value):
        return UNDEFINED
    return f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"


def interval(low: float, high: float, sign: bool = False) -> str:
    """Return an interval in brackets.

    >>> interval(0.25, 0.5), interval(float("nan"), float("nan"))
    ('[0.2500, 0.5000]', '–')
    """
    ends = decimals(low, sign=sign), decimals(high, sign=sign)
    return UNDEFINED if math.isnan(low) else f"[{ends[0]}, {ends[1]}]"


def p_value(p: float) -> str:
    """Return a p-value as it is shown; the files have every digit.

    >>> p_value(0.03217), p_value(0.00001), p_value(0.99999), p_value(float("nan"))
    ('0.0322', '<0.0001', '1.0000', '–')
    """
    return "<0.0001" if p < 0.0001 else decimals(p)


def fixed(value: float, digits: int, *, percent: bool = False, leading_zero: bool = False) -> str:
    """Return a number with `digits` decimals, by default as ``.423``.

    The decimal expansion of the stored double is rounded, half to even, as ``format`` does; with
    `percent` it is multiplied by 100 before, without an error of its own, and keeps its leading
    zero. A value that rounds to 0 has no sign.

    >>> fixed(0.4235, 3), fixed(-0.5, 2), fixed(1.25, 1), fixed(0.125, 1, percent=True)
    ('.423', '-.50', '1.2', '12.5')
    >>> fixed(-0.0001, 2, leading_zero=True), fixed(0.575, 1, percent=True), fixed(7.0, 0)
    ('0.00', '57.5', '7')
    """
    if not math.isfinite(value):
        return UNDEFINED
    number = _EXACT.multiply(Decimal(value), Decimal(100 if percent else 1))
    text = f"{number.quantize(Decimal(1).scaleb(-digits), context=_EXACT):f}"
    if not text.strip("-0."):
        text = text.removeprefix("-")
    if leading_zero or percent or not digits:
        return text
    sign = "-" if text.startswith("-") else ""
    return sign + text.removeprefix("-").removeprefix("0")
