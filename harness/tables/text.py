"""Aligned text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from ..core.widths import flush_left, flush_right, readable, width
from ..escaping import for_terminal
from .caption import BEST, SECOND, WORSE
from .model import Cell, PaperTable, Row

suffix = ".txt"
LINE = 100
_GAP = "  "


def render(table: PaperTable) -> str:
    """Return the table, its caption above and its notes below.

    The best values have a star behind them, the second best a plus; then come the signs of the
    systems that they are significantly better than, and after ``_`` of those they are worse than.
    """
    columns = [
        _column([row.cells[at] for row in table.rows], table) for at in range(len(table.columns))
    ]
    heads = [
        [*readable([column.title]), *cells]
        for column, cells in zip(table.columns, columns, strict=True)
    ]
    sizes = _sizes(table, heads)
    names = readable(["", *map(_name, table.rows)])
    titles = readable([group.title for group in table.groups])
    first = max(map(width, [*names, *titles]))
    lines = [*textwrap.wrap(_caption(table), LINE), ""]
    lines += [_blocks(table, sizes, first)] if table.has_blocks else []
    rows = (
        [
            _GAP.join([flush_left(name, first), *map(flush_right, row, sizes)]).rstrip()
            for name, row in zip(names, zip(*heads, strict=True), strict=True)
        ]
        if heads
        else []
    )
    lines += rows[:1]
    at = 1
    for group, title in zip(table.groups, titles, strict=True):
        lines += [title] if title else []
        lines += rows[at : at + len(group.rows)]
        at += len(group.rows)
    for note in table.footnotes:
        lines += textwrap.wrap(note, LINE, initial_indent="  ", subsequent_indent="  ")
    return for_terminal("\n".join(lines)) + "\n"


def _caption(table: PaperTable) -> str:
    text = " ".join(" ".join(table.caption).split())
    for words, here in (
        (BEST, "* the best value of a column"),
        (SECOND, ", + the second best"),
        (WORSE, "after _"),
    ):
        text = text.replace(words, here)
    return text


def _name(row: Row) -> str:
    return f"{row.title} {row.sign}".rstrip()


def _column(cells: Sequence[Cell], table: PaperTable) -> list[str]:
    """Return cells whose numbers, marks and spreads stand below each other."""
    parts = [list(_parts(cell, table)) for cell in cells]
    sizes = [max(map(width, part)) for part in zip(*parts, strict=True)]
    return [
        "".join(
            flush_right(part, size) if at == 0 else flush_left(part, size)
            for at, (part, size) in enumerate(zip(cell, sizes, strict=True))
        )
        for cell in parts
    ]


def _parts(cell: Cell, table: PaperTable) -> Iterator[str]:
    yield cell.text
    yield "*" if cell.best else "+" if cell.second else ""
    above, below = table.joined(cell.marks), table.joined(cell.worse)
    yield " ".join(["", *filter(None, (above, f"_{below}" if below else ""))])
    yield f" {cell.spread}" if cell.spread else ""
    yield f" ({cell.note})" if cell.note else ""


def _sizes(table: PaperTable, heads: Sequence[Sequence[str]]) -> list[int]:
    """Return the width of each column; a block's last one has room for the block's title."""
    sizes = [max(map(width, column)) for column in heads]
    at = 0
    for title, n in _shown_blocks(table) if table.has_blocks else []:
        has = sum(sizes[at : at + n]) + len(_GAP) * (n - 1)
        sizes[at + n - 1] += max(0, width(title) - has)
        at += n
    return sizes


def _blocks(table: PaperTable, sizes: Sequence[int], first: int) -> str:
    parts, at = [" " * first], 0
    for title, n in _shown_blocks(table):
        room = sum(sizes[at : at + n]) + len(_GAP) * (n - 1)
        before = (room - width(title)) // 2
        parts.append(flush_left("-" * (before - 1) + " " * (before > 0) + title, room))
        if (after := room - width(parts[-1].rstrip())) > 1:
            parts[-1] = parts[-1].rstrip() + " " + "-" * (after - 1)
        at += n
    return _GAP.join(parts).rstrip()


def _shown_blocks(table: PaperTable) -> Iterator[tuple[str, int]]:
    sizes = [size for _, size in table.blocks]
    return zip(readable([title for title, _ in table.blocks]), sizes, strict=True)
