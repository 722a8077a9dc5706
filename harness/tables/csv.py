"""CSV for programs: every digit, and what is marked in columns of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ..escaping import csv_field, csv_text
from .marks import best_and_second
from .model import Cell, Column, PaperTable

suffix = ".csv"


def render(table: PaperTable) -> str:
    """Return a row a system.

    Columns: ``group``, ``run`` (its own name), ``name`` (in the table), ``sign``; then for each
    column of the table its value, named by dataset and metric (``trec map``), with ``deviation``
    or ``low`` and ``high``, ``n``, ``repetitions`` where a system has fewer than others (``1 of
    3``), and ``marks``: ``best``, ``second``, the signs of the systems
    that it is significantly better than, and with ``_`` before them of those that it is worse
    than. Numbers read back to the same float, and the best is that of all their digits; what is
    not defined is empty. A name that a
    spreadsheet would compute has an apostrophe before it.
    """
    parts = [_parts(table, place) for place in range(len(table.columns))]
    header = ["group", "run", "name", "sign"]
    for column, names in zip(table.columns, parts, strict=True):
        own = " ".join(filter(None, (_dataset(column), column.key)))
        header += [own, *(f"{own} {name}" for name in names)]
    lines: list[Iterable[str]] = [map(csv_field, header)]
    marked = _marked(table)
    for group in table.groups:
        for row in group.rows:
            row = replace(row, cells=tuple(next(column) for column in marked))
            fields = [*map(csv_field, (group.title, row.run, row.title)), row.sign]
            for column, cell, names in zip(table.columns, row.cells, parts, strict=True):
                fields += [_value(column, cell), *(_FIELDS[name](cell) for name in names)]
            lines.append(fields)
    return csv_text(lines)


def _marked(table: PaperTable) -> list[Iterator[Cell]]:
    """Return each column's cells, the best marked by the digits that stand here: all of them."""
    found = []
    for place, column in enumerate(table.columns):
        cells = [row.cells[place] for row in table.rows]
        if column.direction is not None:
            numbers = [_number(cell.value) for cell in cells]
            best, second = best_and_second(numbers, column.direction)
            cells = [
                replace(cell, best=at in best, second=at in second) for at, cell in enumerate(cells)
            ]
        found.append(iter(cells))
    return found


def _dataset(column: Column) -> str:
    return column.block if column.dataset is None else column.dataset


def _parts(table: PaperTable, place: int) -> list[str]:
    """Return what stands beside a column's values."""
    cells = [row.cells[place] for row in table.rows]
    ends = max((len(cell.ends) for cell in cells), default=0)
    names = [*([], ["deviation"], ["low", "high"])[ends]]
    if table.columns[place].kind == "metric":
        names += ["n"] * any(cell.n for cell in cells)
        names += ["repetitions"] * any(cell.repetitions for cell in cells) + ["marks"]
    return names


def _value(column: Column, cell: Cell) -> str:
    if column.kind in ("metric", "rank"):
        return _number(cell.value)
    return cell.text.replace("–", "-") if column.kind == "tier" else cell.text


def _number(value: float) -> str:
    if math.isnan(value):
        return ""
    return repr(value)


def _end(place: int, cell: Cell) -> str:
    return _number(cell.ends[place]) if len(cell.ends) > place else ""


def _marks(cell: Cell) -> Iterator[str]:
    yield from ["best"] * cell.best + ["second"] * cell.second
    yield from cell.marks
    yield from (f"_{sign}" for sign in cell.worse)


_FIELDS: dict[str, Callable[[Cell], str]] = {
    "deviation": lambda cell: _end(0, cell),
    "low": lambda cell: _end(0, cell),
    "high": lambda cell: _end(1, cell),
    "n": lambda cell: str(cell.n) if cell.n else "",
    "repetitions": lambda cell: cell.repetitions,
    "marks": lambda cell: " ".join(_marks(cell)),
}
