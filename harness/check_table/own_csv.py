"""The harness's own CSV of a table, whose marks and spreads stand in columns of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .grid import Cell, Piece, Style

OWN = ("group", "run", "name", "sign")
"""The headings that it begins with."""
_PARTS = (" deviation", " low", " high", " marks", " repetitions")


def own(rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    """Return the rows with each number, its spread and its marks in one cell."""
    header = [cell.text for cell in rows[0]]
    kept = [1, *(at for at in range(len(OWN), len(header)) if not header[at].endswith(_PARTS))]
    found = [[rows[0][at] for at in kept]]
    for row in rows[1:]:
        padded = [*row, *[Cell()] * (len(header) - len(row))]
        given = dict(zip(header, (cell.text for cell in padded), strict=True))
        found.append([_name(padded, given["sign"])])
        found[-1] += [Cell(tuple(_pieces(header[at], given)), padded[at].line) for at in kept[1:]]
    return found


def _name(row: Sequence[Cell], sign: str) -> Cell:
    return Cell((Piece(row[1].text), Piece(sign, Style(raised=True))), row[1].line)


def _pieces(column: str, given: dict[str, str]) -> Iterator[Piece]:
    marks = given.get(f"{column} marks", "").split()
    yield Piece(given[column], Style(bold="best" in marks, underlined="second" in marks))
    low, high = given.get(f"{column} low", ""), given.get(f"{column} high", "")
    if deviation := given.get(f"{column} deviation", ""):
        yield Piece(f" ± {deviation}")
    elif low and high:
        yield Piece(f" [{low}, {high}]")
    signs = [mark for mark in marks if mark not in ("best", "second")]
    above = [sign for sign in signs if not sign.startswith("_")]
    yield Piece(",".join(above), Style(raised=True))
    below = [sign[1:] for sign in signs if sign.startswith("_")]
    yield Piece(",".join(below), Style(lowered=True))
