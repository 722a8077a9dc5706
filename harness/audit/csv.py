"""An audit as CSV: a row a dataset, metric, system and convention, every digit."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..escaping import csv_field, csv_text
from .flow import Audited
from .spread import Comparison, Matrix, Row

COLUMNS = (
    "dataset", "metric", "system", "convention", "value", "base", "difference",
    "order_changed", "refused",
)  # fmt: skip


def render(audited: Audited) -> str:
    """Return the audit as CSV, the base's own rows first, with convention ``base``.

    ``base`` is the base's value and ``difference`` is value minus base; both are empty where
    there is none. ``order_changed`` says whether the convention puts these systems in another
    order than the base, and is the same for all of them; it is empty where fewer than two have a
    value in both, so that there is no order. ``refused`` is why there is no value.
    """
    return csv_text([COLUMNS, *_rows(audited)])


def _rows(audited: Audited) -> Iterator[list[str]]:
    for matrix in audited.matrices:
        yield from _lines(matrix, matrix.base, matrix.own)
        for row, found in zip(matrix.rows, matrix.comparisons, strict=True):
            yield from _lines(matrix, row, found)


def _lines(matrix: Matrix, row: Row, found: Comparison) -> Iterator[list[str]]:
    changed = str(found.order_changed).lower() if found.compared > 1 else ""
    for at, system in enumerate(matrix.systems):
        value, base = row.values[at].item(), matrix.base.values[at].item()
        numbers = (value, base, value - base)
        yield [
            *map(csv_field, (matrix.dataset, str(matrix.metric), system, row.name)),
            *map(_field, numbers), changed, csv_field(row.refused[at]),
        ]  # fmt: skip


def _field(number: float) -> str:
    return "" if math.isnan(number) else repr(number)
