"""Groups of rows under the name of a metric, put side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .grid import Cell, Grid, Row

Titled = tuple[Cell, list[Row]]


def side_by_side(
    grid: Grid, title: Callable[[Row], str | None], is_metric: Callable[[str], bool]
) -> Grid:
    """Return a table with a block of columns for each group of rows whose title is a metric.

    Where some group's title is none, the table as it is. Cells keep their lines; rows of one name
    become one row.

    Parameters
    ----------
    grid : Grid
    title : callable
        What a row says that has no values, or None.
    is_metric : callable
        Whether a title is one.
    """
    groups: list[Titled] = []
    for row in grid.body:
        text = title(row)
        if text is not None and is_metric(text):
            groups.append((next(cell for cell in row if cell.whole), []))
        elif text is not None or not groups:
            return grid
        else:
            groups[-1][1].append(row)
    if not any(rows for _, rows in groups):
        return grid
    names = list(dict.fromkeys(row[0].whole for _, rows in groups for row in rows))
    header = [_joined(row[0], [row[1:] for _ in groups]) for row in grid.rows[: grid.header]]
    empty = (Cell(),) * (len(grid.rows[0]) - 1)
    header.append(_joined(Cell(), [(cell,) * len(empty) for cell, _ in groups]))
    body = []
    for name in names:
        own = [next((row for row in rows if row[0].whole == name), None) for _, rows in groups]
        first = next(row for row in own if row is not None)
        body.append(_joined(first[0], [empty if row is None else row[1:] for row in own]))
    return replace(grid, rows=(*header, *body), header=len(header))


def _joined(first: Cell, parts: list[Row]) -> Row:
    return (first, *(cell for part in parts for cell in part))
