"""A table of any kind, before a renderer writes it.

``text``, ``markdown``, ``html`` and ``latex`` show a :class:`Grid`; ``csv`` and ``jsonl`` write
the records behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple


class Cell(NamedTuple):
    """One cell.

    Parameters
    ----------
    text : str
        The number or name as it is shown.
    sign : str
        What follows it in every format: ``~`` or ``*``.
    bold : bool
        Bold, and ``*`` in text.
    underlined : bool
        Underlined, and ``+`` in text.
    above, below : str
        Signs above and below the line: letters or daggers.
    spread : str
        What follows the signs: ``± .012`` or ``[.41, .44]``.
    note : str
        What follows in parentheses: ``17/20``.
    colour, hint : str
        Background and tooltip in HTML.
    """

    text: str
    sign: str = ""
    bold: bool = False
    underlined: bool = False
    above: str = ""
    below: str = ""
    spread: str = ""
    note: str = ""
    colour: str = ""
    hint: str = ""


PLAIN = Cell("")[1:]
"""What follows the text of a cell that is nothing but text."""


@dataclass(frozen=True)
class Column:
    """The heading of a column, how it is aligned, and the block of columns it belongs to."""

    title: str
    left: bool = False
    block: str = ""


@dataclass(frozen=True)
class Group:
    """Rows below one title, which may be empty."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Grid:
    """One table. Without columns, it is its title and notes alone.

    Parameters
    ----------
    columns : tuple of Column
        The first one names the rows.
    groups : tuple of Group
    title : str
        A line above the table.
    caption : str
        Sentences above the table.
    caption_latex : str
        The caption as LaTeX, if escaping `caption` does not give it.
    notes : tuple of str
        Lines below the table.
    source : str
        Where the table came from, as a comment.
    label : str
        LaTeX's label.
    level : int
        Level of the title as a heading in Markdown.
    """

    columns: tuple[Column, ...] = ()
    groups: tuple[Group, ...] = ()
    title: str = ""
    caption: str = ""
    caption_latex: str = ""
    notes: tuple[str, ...] = ()
    source: str = ""
    label: str = ""
    level: int = 4

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        """The rows of all groups."""
        return [row for group in self.groups for row in group.rows]

    @property
    def blocks(self) -> list[tuple[str, int]]:
        """Title and number of columns of each block behind the first column; empty if unnamed."""
        found = [
            (title, len(list(columns)))
            for title, columns in groupby(self.columns[1:], key=lambda column: column.block)
        ]
        return found if any(title for title, _ in found) else []


def grid(
    header: Sequence[str],
    rows: Iterable[Sequence[str | Cell]],
    *,
    left: int = 1,
    title: str = "",
    notes: Iterable[str] = (),
    level: int = 4,
) -> Grid:
    """Return a grid of plain rows, the first `left` columns flush left.

    >>> [[cell.text for cell in row] for row in grid(["run", "map"], [["bm25", "0.31"]]).rows]
    [['bm25', '0.31']]
    """
    columns = tuple(Column(name, place < left) for place, name in enumerate(header))
    body = tuple(
        tuple(Cell(cell) if isinstance(cell, str) else cell for cell in row) for row in rows
    )
    return Grid(columns, (Group("", body),), title=title, notes=tuple(notes), level=level)


def first_rows(one: Grid, most: int, where: str) -> Grid:
    """Return a grid without groups with its first rows, and a note on how many were left out."""
    rows = one.rows
    notes = (*one.notes, *and_more(len(rows) - most, where))
    return replace(one, groups=(Group("", tuple(rows[:most])),), notes=notes)


def and_more(n: int, where: str = "") -> Iterator[str]:
    """Yield the note that `n` rows were left out; nothing if none were.

    >>> list(and_more(1200, "changes.csv has them")), list(and_more(0))
    (['and 1,200 more: changes.csv has them'], [])
    """
    if n > 0:
        yield f"and {n:,} more" + (f": {where}" if where else "")
