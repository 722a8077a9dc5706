"""Markdown as GitHub reads it, aligned in the file too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .html import escape as escape_html
from .model import Cell, Column, PaperTable, Row
from .width import width

suffix = ".md"
_SPECIAL = re.compile(r"[\\`*\[\]|$~#]|(?<!\w)_|_(?!\w)")

# GitHub makes a link of @user and a picture of :smile:, escaped or not, but not around a comment
_LIVE = re.compile(r"(?<!\w)@(?=[A-Za-z])|:(?=[\w+-]+:)")


def render(table: PaperTable) -> str:
    """Return the caption, a table, and its notes as a list.

    The best values are bold, the second best underlined; letters and daggers stand above the
    line, those of better baselines below it.
    """
    lines = [f"<!-- {str(table.trace).replace('--', '- -')} -->", ""]
    lines += [escape(" ".join(table.caption)), ""] if table.caption else []
    lines += _aligned([_header(table), *_rows(table)])
    if table.footnotes:
        lines += ["", *(f"- {escape(note)}" for note in table.footnotes)]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    r"""Return text that Markdown shows as it stands, in a table too.

    >>> print(escape("a_b|c *d* <e>"))
    a_b\|c \*d\* &lt;e&gt;
    >>> print(escape("by @user :smile: ndcg@10"))
    by @<!-- -->user :<!-- -->smile: ndcg@10
    """
    plain = _SPECIAL.sub(r"\\\g<0>", escape_html(" ".join(text.split())))
    return _LIVE.sub(r"\g<0><!-- -->", plain)


def _header(table: PaperTable) -> list[str]:
    def title(column: Column) -> str:
        own = escape(column.title)
        return f"{escape(column.block)}<br>{own}" if table.has_blocks else own

    return ["", *map(title, table.columns)]


def _rows(table: PaperTable) -> Iterator[list[str]]:
    for group in table.groups:
        if group.title:
            yield [f"*{escape(group.title)}*", *[""] * len(table.columns)]
        for row in group.rows:
            yield [_name(row), *(_cell(cell, table) for cell in row.cells)]


def _name(row: Row) -> str:
    return escape(row.title) + (f"<sup>{row.sign}</sup>" if row.sign else "")


def _cell(cell: Cell, table: PaperTable) -> str:
    text = cell.text
    if cell.best:
        text = f"**{text}**"
    elif cell.second:
        text = f"<ins>{text}</ins>"
    text += f"<sup>{table.joined(cell.marks)}</sup>" if cell.marks else ""
    text += f"<sub>{table.joined(cell.worse)}</sub>" if cell.worse else ""
    beside = [cell.spread, f"({cell.note})" if cell.note else ""]
    return " ".join([text, *(escape(part) for part in beside if part)])


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(3, *map(width, column)) for column in zip(*rows, strict=True)]
    for place, row in enumerate(rows):
        padded = [
            cell + " " * (size - width(cell)) if at == 0 else " " * (size - width(cell)) + cell
            for at, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        yield f"| {' | '.join(padded)} |"
        if place == 0:
            rule = ["-" * widths[0], *("-" * (size - 1) + ":" for size in widths[1:])]
            yield f"| {' | '.join(rule)} |"
