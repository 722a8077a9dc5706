"""Markdown as GitHub reads it, aligned in the file too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..core.widths import flush_left, flush_right, width
from ..escaping import html_comment, in_markdown
from .model import Cell, Column, PaperTable, Row

suffix = ".md"


def render(table: PaperTable) -> str:
    """Return the caption, a table, and its notes as a list.

    The best values are bold, the second best underlined; letters and daggers stand above the
    line, those of better baselines below it.
    """
    lines = [html_comment(str(table.trace)), ""]
    lines += [in_markdown(" ".join(table.caption)), ""] if table.caption else []
    lines += _aligned([_header(table), *_rows(table)])
    if table.footnotes:
        lines += ["", *(f"- {in_markdown(note)}" for note in table.footnotes)]
    return "\n".join(lines) + "\n"


def _header(table: PaperTable) -> list[str]:
    def title(column: Column) -> str:
        own = in_markdown(column.title)
        return f"{in_markdown(column.block)}<br>{own}" if table.has_blocks else own

    return ["", *map(title, table.columns)]


def _rows(table: PaperTable) -> Iterator[list[str]]:
    for group in table.groups:
        if group.title:
            yield [f"*{in_markdown(group.title)}*", *[""] * len(table.columns)]
        for row in group.rows:
            yield [_name(row), *(_cell(cell, table) for cell in row.cells)]


def _name(row: Row) -> str:
    return in_markdown(row.title) + (f"<sup>{row.sign}</sup>" if row.sign else "")


def _cell(cell: Cell, table: PaperTable) -> str:
    text = cell.text
    if cell.best:
        text = f"**{text}**"
    elif cell.second:
        text = f"<ins>{text}</ins>"
    text += f"<sup>{table.joined(cell.marks)}</sup>" if cell.marks else ""
    text += f"<sub>{table.joined(cell.worse)}</sub>" if cell.worse else ""
    beside = [cell.spread, f"({cell.note})" if cell.note else ""]
    return " ".join([text, *(in_markdown(part) for part in beside if part)])


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(3, *map(width, column)) for column in zip(*rows, strict=True)]
    for place, row in enumerate(rows):
        padded = [
            flush_left(cell, size) if at == 0 else flush_right(cell, size)
            for at, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        yield f"| {' | '.join(padded)} |"
        if place == 0:
            rule = ["-" * widths[0], *("-" * (size - 1) + ":" for size in widths[1:])]
            yield f"| {' | '.join(rule)} |"
