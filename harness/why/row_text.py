"""A row of several cells as text."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator

from ..core.incomplete import FEWER
from ..escaping import lines_of
from ..reports.table import columns
from . import inputs
from .row import Part, Repetition, Row

_SUMS = {"gm": "sum of logarithms"}


def render(row: Row, folder: str) -> str:
    """Return what ``harness why`` prints of a row; `folder` as the command was given it."""
    return lines_of(_lines(row, folder))


def _lines(row: Row, folder: str) -> Iterator[str]:
    yield f"{row.metric} of {row.name}: {_shown(row.value)}"
    if not row.is_confirmed:
        yield f"  leaderboard.csv holds ANOTHER value: {_shown(row.recorded)}"
    n = len(row.repetitions)
    if n > 1:
        yield f"  mean of {n} repetitions, standard deviation {_shown(row.deviation)}"
    if row.incomplete is not None:
        away = f"; without {row.incomplete.lacks}" if row.incomplete.absent else ""
        yield f"  {FEWER}: {row.incomplete}{away}"
    if not math.isnan(row.low):
        yield f"  interval {_shown(row.low)} to {_shown(row.high)}"
    if row.chosen is not None:
        names = " and ".join(row.chosen.names)
        yield (
            f"  best of {row.chosen.of} values of {names}, chosen on these queries by "
            f"{row.chosen.metric}"
        )
    for one in row.repetitions:
        yield ""
        yield from _repetition(one, row)
    cell = next((part for one in row.repetitions for part in one.parts), row.repetitions[0].whole)
    where = [f"--where {shlex.quote(f'{name}={value}')}" for name, value in cell.columns.items()]
    run = shlex.quote(row.run)
    yield ""
    yield from inputs.lines(row.inputs, row.unseen)
    yield ""
    yield "One of the cells, with its files, counts and settings:"
    yield (
        f"  harness why {shlex.quote(folder)} --run {run} --metric {shlex.quote(str(row.metric))} "
        f"--dataset {' '.join([shlex.quote(cell.dataset), *where])}"
    )


def _repetition(one: Repetition, row: Row) -> Iterator[str]:
    named = " ".join(f"{name}={value}" for name, value in one.columns.items()) or "value"
    yield f"{named}: {_shown(one.value)}{_made(one, row)}"
    if len(one.parts) == 1 and one.parts[0].dataset == one.whole.dataset:
        return
    weighed = row.metric.definition.weight is not None
    header = ["dataset", "value", "queries", *(["weights"] * weighed), _sum_of(row)]
    rows = [header, *(_row(part, weighed) for part in one.parts)]
    if not row.averaged:
        rows.append(["all", "", *_row(one.whole, weighed)[2:]])
    yield from (f"  {line}" for line in columns(rows, left=1).splitlines())


def _sum_of(row: Row) -> str:
    if row.metric.definition.weight is not None:
        return "sum of weight x value"
    return _SUMS.get(row.metric.definition.summary, "sum")


def _row(part: Part, weighed: bool) -> list[str]:
    weights = [_shown(part.weight)] * weighed
    return [part.dataset, _shown(part.value), f"{part.n}", *weights, _shown(part.total)]


def _made(one: Repetition, row: Row) -> str:
    """Return the sum and quotient that make a value."""
    how, whole = row.metric.definition.summary, one.whole
    if row.averaged:
        values = " + ".join(_shown(part.value) for part in one.parts)
        return f" = ({values}) / {len(one.parts)}, parts count alike"
    if how == "sum" or math.isnan(one.value):
        return ""
    quotient = f"{_shown(whole.total)} / {_shown(whole.weight)}"
    return f" = exp({quotient})" if how == "gm" else f" = {quotient}"


def _shown(value: float) -> str:
    return "undefined" if math.isnan(value) else repr(value)
