"""Markdown as GitHub reads it, for READMEs and pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..core.text import flush_left, flush_right, width
from ..errors import html_comment, in_markdown
from .grid import PLAIN, Cell, Column, Grid


def render(grids: Iterable[Grid], *, aligned: bool = False) -> str:
    """Return the tables, each below its title, with its notes as a list.

    Parameters
    ----------
    grids : iterable of Grid
    aligned : bool
        Columns are aligned in the file too.
    """
    return "\n\n".join("\n".join(_lines(one, aligned)) for one in grids) + "\n"


def _lines(one: Grid, aligned: bool) -> Iterator[str]:
    if one.source:
        yield from [html_comment(one.source), ""]
    if one.title:
        yield f"{'#' * one.level} {in_markdown(one.title)}"
        if one.columns or one.notes:
            yield ""
    if one.caption:
        yield from [in_markdown(one.caption), ""]
    if one.columns:
        yield from _table(one, aligned)
        if one.notes:
            yield ""
    for note in one.notes:
        yield f"- {in_markdown(note)}"


def _table(one: Grid, aligned: bool) -> Iterator[str]:
    rows = [[_heading(column) for column in one.columns]]
    for group in one.groups:
        if group.title:
            rows.append([f"*{in_markdown(group.title)}*", *[""] * (len(one.columns) - 1)])
        rows += [[_cell(cell) for cell in row] for row in group.rows]
    rows.insert(1, ["---" if column.left else "---:" for column in one.columns])
    for row in _aligned(one.columns, rows) if aligned else rows:
        yield f"| {' | '.join(row)} |"


def _aligned(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Iterator[Sequence[str]]:
    flushed = []
    for column, (title, _, *cells) in zip(columns, zip(*rows, strict=True), strict=True):
        size = max(3, *map(width, (title, *cells)))
        rule = "-" * size if column.left else "-" * (size - 1) + ":"
        flush = flush_left if column.left else flush_right
        flushed.append([flush(text, size) for text in (title, rule, *cells)])
    return zip(*flushed, strict=True)


def _heading(column: Column) -> str:
    title = in_markdown(column.title)
    return f"{in_markdown(column.block)}<br>{title}" if column.block else title


def _cell(cell: Cell) -> str:
    text = in_markdown(cell.text + cell.sign)
    if cell[1:] == PLAIN:
        return text
    if cell.bold:
        text = f"**{text}**"
    elif cell.underlined:
        text = f"<ins>{text}</ins>"
    text += f"<sup>{cell.above}</sup>" if cell.above else ""
    text += f"<sub>{cell.below}</sub>" if cell.below else ""
    beside = [cell.spread, f"({cell.note})" if cell.note else ""]
    return " ".join([text, *(in_markdown(part) for part in beside if part)])
