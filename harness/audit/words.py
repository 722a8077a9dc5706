"""What the renderings of an audit say in the same words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..core.metric import Metric
from ..reports._cells import UNDEFINED, number
from .flow import Audited
from .spread import BASE, Comparison, Effect, Matrix, Range, Row, Walk

OVERVIEW = (
    "dataset", "metric", "largest single choice", "largest range", "other order", "other best",
)  # fmt: skip
RANGES = ("system", "lowest", "lowest under", "highest", "highest under", "range")
CHOICES = (
    "one choice", "base", "with", "largest change", "of", "lowest tau", "under",
    "other best under",
)  # fmt: skip
REFUSED = "x"
"""Stands where a convention refuses the data."""


def row_name(row: Row) -> str:
    """Return the name of a row, marked where it was asked for."""
    return f"{row.name} (own)" if row.own else row.name


def cell(row: Row, system: int, metric: Metric) -> str:
    """Return one summary as it is shown."""
    return REFUSED if row.refused[system] else number(row.values[system].item(), metric)


def signed(change: float, metric: Metric) -> str:
    """Return a change as it is shown."""
    text = number(abs(change), metric)
    return f"{'-' if change < 0 else '+'}{text}"


def tau(value: float) -> str:
    """Return a tau as it is shown: 1 only for the same order, -1 only for the opposite one.

    >>> tau(0.9999), tau(1.0), tau(-1 / 3), tau(-0.9999), tau(math.nan)
    ('0.99', '1.00', '-0.33', '-0.99', '–')
    """
    if math.isnan(value):
        return UNDEFINED
    shown = value if abs(value) == 1 else min(max(value, -0.99), 0.99)
    return f"{round(shown, 2) + 0.0:.2f}"  # + 0.0: no minus before a zero


def order(row: Row, found: Comparison) -> str:
    """Return what a row does to the order of systems; nothing where it is the base's."""
    if all(row.refused):
        return "refused"
    if np.isnan(row.values).all():
        return "undefined"
    if found.best_changed:
        return "other best"
    return "other order" if found.order_changed else ""


def compared(matrix: Matrix) -> int:
    """Return how many conventions have an order of systems to compare with the base's."""
    return sum(found.compared > 1 for _, found in _of_conventions(matrix))


def changes(matrix: Matrix) -> tuple[list[str], list[str]]:
    """Return the conventions with another order, and those with another best system."""
    pairs = _of_conventions(matrix)
    ordered = [row.name for row, found in pairs if found.order_changed]
    return ordered, [row.name for row, found in pairs if found.best_changed]


def _of_conventions(matrix: Matrix) -> list[tuple[Row, Comparison]]:
    pairs = zip(matrix.rows, matrix.comparisons, strict=True)
    return [(row, found) for row, found in pairs if row.convention]


def shares(matrix: Matrix) -> tuple[str, str]:
    """Return of how many conventions the order, and the best system, is another."""
    total = compared(matrix)
    if not total:
        return UNDEFINED, UNDEFINED
    ordered, bests = changes(matrix)
    return f"{len(ordered)} of {total}", f"{len(bests)} of {total}"


def widest(matrix: Matrix) -> float:
    """Return the largest range of any system; NaN where none has a value."""
    widths = [each.width for each in matrix.ranges if not math.isnan(each.width)]
    return max(widths, default=math.nan)


def verdict(matrix: Matrix) -> list[str]:
    """Return the findings as sentences: whether there is a base, order, best system."""
    if not matrix.comparable:
        return [_no_base(matrix)] if matrix.systems else []
    total, (ordered, bests) = compared(matrix), changes(matrix)
    if not total:
        return []
    few = {1: "the one convention compared", 2: "both conventions"}
    under = few.get(total, f"all {total} conventions")
    lines = [f"The order of systems is the same under {under}."]
    if ordered and total == 1:
        lines = [f"The order of systems is another under {under}{_listed(ordered)}."]
    elif ordered:
        under = f"{len(ordered)} of {total} conventions"
        lines = [f"The order of systems is another under {under}{_listed(ordered)}."]
    if not matrix.own.best:
        return lines
    top = _systems(matrix, matrix.own.best)
    if not bests:
        return [*lines, f"The best is {top} under every one."]
    to: dict[str, list[str]] = {}
    for row, found in _of_conventions(matrix):
        if found.best_changed:
            to.setdefault(_systems(matrix, found.best), []).append(row.name)
    others = "; ".join(f"{who} under {', '.join(names)}" for who, names in to.items())
    return [*lines, f"The best is {top}, but {others}."]


def notes(matrix: Matrix) -> list[str]:
    """Return why values are refused, and which are undefined."""
    lines = []
    for reason, rows in matrix.refusals.items():
        where: dict[str, list[str]] = {}
        for name, systems in rows.items():
            everyone = len(systems) == len(matrix.systems)
            where.setdefault("" if everyone else f" ({', '.join(systems)})", []).append(name)
        who = "; ".join(", ".join(names) + systems for systems, names in where.items())
        lines.append(f"{REFUSED} refused by {who}: {reason}")
    if any(row.own for row in matrix.rows):
        lines.append("(own) a metric that the config, or -m, names beside the base")
    undefined = [
        row.name
        for row in (matrix.base, *matrix.rows)
        if (np.isnan(row.values) & (np.array(row.refused) == "")).any()
    ]
    if undefined:
        lines.append(
            f"{UNDEFINED} undefined under {', '.join(undefined)}: "
            "a query's undefined value makes the mean so, or none is defined"
        )
    return lines


def first_choice(matrix: Matrix) -> str:
    """Return the choice that changes a summary the most, and by how much."""
    if not matrix.comparable:
        return "no base to start from"
    first = next((each for each in matrix.effects if each.system >= 0), None)
    if first is None:
        return "none"
    return f"{first.choice}={first.value}: {signed(first.change, matrix.metric)}"


def choice(found: Effect, matrix: Matrix) -> list[str]:
    """Return a choice as a row: base, largest change, order, best."""
    changes = found.system >= 0
    return [
        found.choice,
        found.own,
        found.value,
        signed(found.change, matrix.metric) if changes else "",
        matrix.systems[found.system] if changes else "",
        tau(found.tau),
        found.tau_value if found.order_changed else "",
        some(found.best_changed),
    ]


def walk(matrix: Matrix, found: Walk) -> list[list[str]]:
    """Return the way from the base to a convention as rows: base, what each step adds, end."""
    metric = matrix.metric
    ends = [
        [name, *(number(value, metric) for value in values.tolist())]
        for name, values in ((BASE, matrix.base.values), (f"= {found.name}", found.values))
    ]
    steps = [
        [
            name,
            *(UNDEFINED if math.isnan(each) else signed(each, metric) for each in change.tolist()),
        ]
        for name, change in found.changes
    ]
    return [ends[0], *steps, ends[1]]


def lost(matrix: Matrix) -> list[str]:
    """Return the choices under which some system has no value."""
    return [f"{each.choice}={value}" for each in matrix.effects for value in each.lost]


def no_effect(effects: Sequence[Effect]) -> list[str]:
    """Return the choices that change nothing here."""
    return [each.choice for each in effects if not each.matters]


def left_out(audited: Audited) -> list[str]:
    """Return what is said of what was not audited."""
    lines = []
    if audited.left_out:
        names = ", ".join(audited.left_out)
        lines.append(
            f"Not audited, as no convention compared has it or it is a mere count: {names}."
        )
    if audited.bounds:
        lines.append("ties: bounds is not audited: the base is the metric itself, not its bounds.")
    return lines


def some(names: Sequence[str], most: int = 3) -> str:
    """Return the first few names, and how many more there are.

    >>> some(["a", "b", "c", "d", "e"])
    'a, b, c +2'
    """
    more = f" +{len(names) - most}" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def ends(found: Range, most: int = 3) -> tuple[str, str]:
    """Return under what a system has its smallest summary, and under what its largest."""
    if found.low_names == found.high_names:
        return ("all", "all") if found.low_names else ("", "")
    return some(found.low_names, most), some(found.high_names, most)


def _no_base(matrix: Matrix) -> str:
    reasons = list(dict.fromkeys(filter(None, matrix.base.refused)))
    if not reasons:
        return "The base is undefined for every system; nothing to compare with."
    return f"The base is refused: {'; '.join(reasons)}; nothing to compare with."


def _listed(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _systems(matrix: Matrix, places: Sequence[int]) -> str:
    if len(places) == len(matrix.systems):
        return "all of them equally"
    return " and ".join(matrix.systems[place] for place in places)
