"""A table of any kind, before a renderer writes it.

``text``, ``markdown``, ``html`` and ``latex`` show a `Grid`; ``csv`` and ``jsonl`` write
the records behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, NamedTuple, TypeVar

from ..errors import counted

T = TypeVar("T")
Tone = Literal["good", "mixed", "bad", ""]


class Answer(NamedTuple):
    """A sentence that answers what a command was asked; a terminal shows its `tone` as a colour."""

    text: str
    tone: Tone = ""


class GridCell(NamedTuple):
    """One cell: the number or name as it is shown, and what belongs to it.

    `sign` follows it in every format (``~`` or ``*``), then letters or daggers `above` and `below`
    the line, then `spread` (``± .012`` or ``[.41, .44]``), then `note` in parentheses (``17/20``).
    In text, a `bold` cell has ``^`` and an underlined one ``+``. `colour` is HTML's background.
    `italic` is the title of a group of rows, and `citation` LaTeX that follows unescaped.
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
    italic: bool = False
    citation: str = ""


PLAIN = GridCell("")[1:]
"""Mark after the text of a cell that has only text."""


@dataclass(frozen=True)
class Column:
    """The heading of a column, how it is aligned, and the block of columns it belongs to.

    Signs `above` the line and a `citation` in LaTeX follow a heading that is the name of a system.
    """

    title: str
    left: bool = False
    block: str = ""
    above: str = ""
    citation: str = ""


@dataclass(frozen=True)
class Group:
    """Rows below one title, which may be empty."""

    title: str
    rows: tuple[tuple[GridCell, ...], ...]


@dataclass(frozen=True)
class Grid:
    """One table; the first column names the rows. Without columns it is a title with notes.

    `answers` come first, each on a line of its own; then a `title` line and `caption` sentences are
    above the table, `notes` below it; `caption_latex` is not escaped. `source` is lines of
    comments, `level` that of the title as a heading in Markdown. In text, a table of a paper wraps
    its notes, and its headings end above the signs. In LaTeX, `wide` makes it ``table*``, over both
    columns of the page (None: if it must be), and `long` a ``longtable``, which breaks across pages
    and needs that package; the table should fit the `document_class`.
    """

    columns: tuple[Column, ...] = ()
    groups: tuple[Group, ...] = ()
    answers: tuple[Answer, ...] = ()
    title: str = ""
    caption: str = ""
    caption_latex: str = ""
    notes: tuple[str, ...] = ()
    source: str = ""
    label: str = ""
    level: int = 4
    is_paper: bool = False
    wide: bool | None = None
    long: bool = False
    document_class: str = "acmart"

    @property
    def rows(self) -> list[tuple[GridCell, ...]]:
        """The rows of all groups."""
        return [row for group in self.groups for row in group.rows]

    @property
    def blocks(self) -> list[tuple[str, int]]:
        """Title and number of columns of each block behind the first column; empty if unnamed."""
        spans = [
            (title, len(list(columns)))
            for title, columns in groupby(self.columns[1:], key=lambda column: column.block)
        ]
        return spans if any(title for title, _ in spans) else []


def grid(
    header: Sequence[str],
    rows: Iterable[Sequence[str | GridCell]],
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
        tuple(GridCell(cell) if isinstance(cell, str) else cell for cell in row) for row in rows
    )
    return Grid(columns, (Group("", body),), title=title, notes=tuple(notes), level=level)


def grid_of(
    rows: Sequence[Mapping[str, str | GridCell]],
    *,
    left: int = 1,
    title: str = "",
    notes: Iterable[str] = (),
) -> Grid:
    """Return a grid of rows that have their cells by the heading of the column.

    >>> [column.title for column in grid_of([{"run": "bm25", "map": "0.31"}]).columns]
    ['run', 'map']
    """
    cells = [list(row.values()) for row in rows]
    return grid(list(rows[0]) if rows else [], cells, left=left, title=title, notes=notes)


def filled(rows: Sequence[Mapping[str, T]]) -> list[dict[str, T]]:
    """Return rows by heading without the columns that are empty in all of them.

    >>> filled([{"run": "bm25", "note": ""}, {"run": "ql", "note": ""}])
    [{'run': 'bm25'}, {'run': 'ql'}]
    """
    names = {name for row in rows for name, cell in row.items() if cell}
    return [{name: cell for name, cell in row.items() if name in names} for row in rows]


def side_by_side(table: Grid, parts: int) -> Grid:
    """Return a grid with its rows in parts next to each other, titles of groups among them.

    >>> two = side_by_side(grid(["run", "map"], [["a", ".3"], ["b", ".2"], ["c", ".1"]]), 2)
    >>> [[cell.text for cell in row] for row in two.rows]
    [['a', '.3', 'c', '.1'], ['b', '.2', '', '']]
    """
    first, *others = table.columns
    empty = [GridCell("")] * len(table.columns)
    rows: list[Sequence[GridCell]] = []
    for group in table.groups:
        title = GridCell(group.title, italic=True)
        rows += [[title, *empty[1:]], *group.rows] if group.title else group.rows
    height = -(-len(rows) // parts)
    rows += [empty] * (height * parts - len(rows))
    starts = range(0, height * parts, height)
    lines = [tuple(cell for k in starts for cell in rows[k + place]) for place in range(height)]
    columns = [replace(first, left=True), *others] * parts
    return replace(table, columns=tuple(columns), groups=(Group("", tuple(lines)),))


def not_shown(n: int, what: str, where: str) -> Iterator[str]:
    """Yield the note on `n` things that are left out, and `where` they are; nothing if none are.

    >>> list(not_shown(1200, "row", "changes.csv lists them")), list(not_shown(0, "row", ""))
    (['1,200 more rows are not shown; changes.csv lists them.'], [])
    """
    if n > 0:
        yield f"{counted(n, f'more {what} is', f'more {what}s are')} not shown; {where}."


def first_rows(table: Grid, most: int, where: str) -> Grid:
    """Return a grid without groups with its first rows, and a note on how many were left out."""
    rows = table.rows
    notes = (*table.notes, *not_shown(len(rows) - most, "row", where))
    return replace(table, groups=(Group("", tuple(rows[:most])),), notes=notes)
