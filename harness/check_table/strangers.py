"""Rows that are no runs of the results: whether they are systems, or differences and counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .match import Line
from .values import Entered

_NO_SYSTEM = re.compile(
    r"\W*(?:[Δ∆#%]|(?:delta|diff|differences?|(?:rel\w*\.?|abs\w*\.?)?\s*improvements?|gain|lift"
    r"|change|queries|topics|number of|std|sd|stdev|standard (?:dev|err)\w*|average|avg|mean"
    r"|(?:adj\w*\.? )?p\W?values?|significance|t\W?test|effect(?: size)?)\b|[npt]\W*$)",
    re.IGNORECASE,
)
"""How the name of a row begins that is no system."""


def strangers(columns: Sequence[Sequence[Entered]]) -> list[Line]:
    """Return the rows with numbers that are no runs of the results, in order."""
    return list(
        dict.fromkeys(
            one.line for column in columns for one in column if one.line.run is None
        )
    )  # fmt: skip


def why_no_system(line: Line, columns: Sequence[Sequence[Entered]]) -> str:
    """Return why the numbers of a row cannot be a system's; nothing where they can be."""
    if _NO_SYSTEM.match(line.text):
        return "by its name it is no system"
    for one in (one for column in columns for one in column if one.line is line):
        if why := _why_no_value(one):
            return f"{one.line.cells[one.place].whole} in {one.heading.text} {why}"
    return ""


def _why_no_value(one: Entered) -> str:
    if one.metric is None:
        return ""
    text = one.line.cells[one.place].text.strip()
    low, high = one.metric.definition.bounds
    if text.startswith("+"):
        return "has a sign, as differences have"
    if one.printed.is_percent and not one.percent:
        return "is in percent, as the other rows are not"
    number = float(one.printed.number) / (100 if one.percent else 1)
    return "" if low <= number <= high else f"is no value of {one.metric}"


def without(columns: Sequence[Sequence[Entered]], left: Sequence[Line]) -> Iterator[list[Entered]]:
    """Yield the columns without some rows."""
    for column in columns:
        if kept := [one for one in column if one.line not in left]:
            yield kept
