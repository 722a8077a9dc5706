"""Records as CSV: every digit, stable columns and rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..errors import csv_field, csv_text

Value = str | int | float | None


def render(records: Sequence[Mapping[str, Value]]) -> str:
    """Return records of the same keys as CSV; NaN and None are empty fields.

    Names that a spreadsheet would compute have an apostrophe before them.

    >>> print(render([{"run": "=a", "map": 0.5, "n": None}]), end="")
    run,map,n
    '=a,0.5,
    """
    header = list(records[0]) if records else []
    body = ([field(row[name]) for name in header] for row in records)
    return csv_text([map(csv_field, header), *body])


def field(value: Value) -> str | int:
    """Return a value as a field of CSV; a float has every digit."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    return csv_field(value) if isinstance(value, str) else value
