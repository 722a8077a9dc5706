"""The table of a CSV file; its cells may have Markdown's marks of style, but not in our own."""

from __future__ import annotations

import csv
import io

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
    for row in reader:
        if row and row[0].startswith("#") and not rows:
            above.append(delimiter.join(row))
        elif any(cell.strip() for cell in row):
            rows.append((reader.line_num, row))
    is_own = bool(rows) and tuple(rows[0][1][: len(OWN)]) == OWN
    read = _literal if is_own else pieces
    cells = [[Cell(read(cell), line) for cell in row] for line, row in rows]
    found = grid_of(own(cells) if is_own else cells, 1, 1, before="\n".join(above))
    return [found] if found else []


def _literal(text: str) -> tuple[Piece, ...]:
    return (Piece(text),)
