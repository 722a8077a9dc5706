"""A table as it was found in a file: cells with their style, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

Row = tuple["Cell", ...]
NO_WIDTH = "\u200b"
"""Stands where there is style, and no text of its own."""
_TRACE = re.compile(r"manifest sha256:\s*([0-9a-f]{64})")


@dataclass(frozen=True)
class Style:
    """How a piece of text is set."""

    bold: bool = False
    underlined: bool = False
    raised: bool = False
    lowered: bool = False


@dataclass(frozen=True)
class Piece:
    """Text of one style."""

    text: str
    style: Style = Style()


@dataclass(frozen=True, eq=False)
class Cell:
    """One cell; two columns under one heading hold the same object.

    Parameters
    ----------
    pieces : tuple of Piece
    line : int
        Line of the file, from 1.
    columns, rows : int
        How many it spans.
    """

    pieces: tuple[Piece, ...] = ()
    line: int = 0
    columns: int = 1
    rows: int = 1

    @property
    def text(self) -> str:
        """What it says, without what is raised or lowered."""
        return self._joined(
            piece for piece in self.pieces if not piece.style.raised and not piece.style.lowered
        )

    @property
    def whole(self) -> str:
        """What it says, all of it."""
        return self._joined(self.pieces)

    @property
    def raised(self) -> str:
        """What is raised, or lowered."""
        return self._joined(
            piece for piece in self.pieces if piece.style.raised or piece.style.lowered
        )

    def _joined(self, pieces: Iterable[Piece]) -> str:
        return " ".join("".join(piece.text for piece in pieces).replace(NO_WIDTH, "").split())


EMPTY = Cell()


@dataclass(frozen=True, eq=False)
class Grid:
    """One table.

    Parameters
    ----------
    rows : tuple of tuple of Cell
        All of one length; the first `header` of them are headings.
    header : int
    line : int
        Where it begins.
    name : str
        Its label, where it has one.
    trace : str
        SHA-256 of the manifest that it says it was made from; empty where it does not say.
    caption : str
        What is said above or below it.
    """

    rows: tuple[Row, ...]
    header: int
    line: int
    name: str = ""
    trace: str = ""
    caption: str = ""

    @property
    def body(self) -> tuple[Row, ...]:
        """The rows below the headings."""
        return self.rows[self.header :]

    def headings(self, column: int) -> list[str]:
        """Return the texts over a column, from top to bottom, each once."""
        cells = dict.fromkeys(row[column] for row in self.rows[: self.header])
        return [cell.whole for cell in cells if cell.whole]

    def transposed(self) -> Grid:
        """Return the table with rows and columns exchanged: its first column is the heading."""
        stub = 1
        while stub < len(self.rows[0]) - 1 and all(
            not has_number(row[stub]) for row in self.rows[self.header :]
        ):
            stub += 1
        rows = tuple(zip(*self.rows, strict=True))
        return replace(self, rows=rows, header=stub)


def grid_of(
    rows: Sequence[Sequence[Cell]],
    header: int | None,
    line: int,
    name: str = "",
    before: str = "",
    *,
    caption: str = "",
    is_spread: bool = False,
) -> Grid | None:
    """Return a table of rows that may be of different length; None where there are no rows.

    Parameters
    ----------
    rows : sequence of sequence of Cell
        A cell that spans columns stands once.
    header : int or None
        How many are headings; told from the first row with a fraction where None.
    line : int
    name : str
    before : str
        Text in which the manifest's hash may stand.
    caption : str
    is_spread : bool
        Whether cells that span columns or rows stand in all of them already.
    """
    spread = [list(row if is_spread else _spread(row)) for row in rows]
    spread = [row for row in spread if row]
    if not spread:
        return None
    width = max(map(len, spread))
    full = [row + [EMPTY] * (width - len(row)) for row in spread]
    _fill_down(full)
    if header is None:
        header = next((at for at, row in enumerate(full) if any(map(has_number, row))), 1)
    found = _TRACE.findall(before)
    kept = tuple(map(tuple, full))
    return Grid(kept, max(header, 1), line, name, found[-1] if found else "", caption)


def has_number(cell: Cell) -> bool:
    """Whether a cell holds a number with decimals."""
    return re.search(r"\d?[.,]\d", cell.text) is not None and not re.search(
        r"[^\W\d]{2}", cell.text
    )


def _spread(row: Iterable[Cell]) -> Iterator[Cell]:
    for cell in row:
        for _ in range(max(cell.columns, 1)):
            yield cell


def _fill_down(rows: list[list[Cell]]) -> None:
    """Put cells that span rows into the empty cells below them."""
    for at, row in enumerate(rows):
        for column, cell in enumerate(row):
            if at and rows[at - 1][column] is cell:
                continue  # put there from above
            for below in rows[at + 1 : at + cell.rows]:
                if not below[column].whole:
                    below[column] = cell
