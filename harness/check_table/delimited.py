"""The table of a CSV file; its cells may have Markdown's marks of style, but not in our own."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from ..errors import InputError, Problem
from ..escaping import from_csv
from .grid import Cell, Grid, Piece, grid_of
from .inline import pieces
from .own_csv import OWN, own


def grids(text: str) -> list[Grid]:
    """Return the table of a CSV file: one, or none where it is empty."""
    first = text.lstrip("\ufeff").split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=delimiter)
    rows: list[tuple[int, list[str]]] = []
    above: list[str] = []
    for row in _rows(reader):
        if row and row[0].startswith("#") and not rows:
            above.append(delimiter.join(row))
        elif any(cell.strip() for cell in row):
            rows.append((reader.line_num, row))
    is_own = bool(rows) and tuple(rows[0][1][: len(OWN)]) == OWN
    read = _literal if is_own else pieces
    cells = [[Cell(read(from_csv(cell)), line) for cell in row] for line, row in rows]
    found = grid_of(own(cells) if is_own else cells, 1, 1, before="\n".join(above))
    return [found] if found else []


def _rows(reader: Any) -> Iterator[list[str]]:
    """Yield the rows; say in which line one cannot be split into cells."""
    try:
        yield from reader
    except csv.Error as error:
        raise InputError(Problem(f"line {reader.line_num}", f"no CSV ({error})")) from None


def _literal(text: str) -> tuple[Piece, ...]:
    return (Piece(text),)
