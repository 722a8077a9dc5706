"""The table of a CSV file; its cells may have Markdown's marks of style."""

from __future__ import annotations

import csv
import io

from .grid import Cell, Grid, grid_of
from .inline import pieces
from .own_csv import OWN, own


def grids(text: str) -> list[Grid]:
    """Return the table of a CSV file: one, or none where it is empty."""
    first = text.lstrip("\ufeff").split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=delimiter)
    rows: list[list[Cell]] = []
    above: list[str] = []
    for row in reader:
        if row and row[0].startswith("#") and not rows:
            above.append(delimiter.join(row))
        elif any(cell.strip() for cell in row):
            rows.append([Cell(pieces(cell), reader.line_num) for cell in row])
    if rows and tuple(cell.text for cell in rows[0][:4]) == OWN:
        rows = own(rows)
    found = grid_of(rows, 1, 1, before="\n".join(above))
    return [found] if found else []
