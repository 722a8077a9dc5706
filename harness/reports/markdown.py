"""Markdown as GitHub reads it, for READMEs and pull requests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..errors import legible
from .grid import Column, Grid, GridCell
from .html import html_comment, marked_up

_SPECIAL = re.compile(r"[\\`*\[\]|$~#]|(?<!\w)_|_(?!\w)")
_AT_START = re.compile(r"[-+=](?=\s|$|[-=]*$)|\d{1,9}(?=[.)](?:\s|$))")
# GitHub makes links of @user, #1 and addresses and a picture of :smile:, escaped or not, but not
# around a comment
_LIVE = re.compile(r"(?<!\w)@(?=[A-Za-z])|:(?=[\w+-]+:)|\\#(?=\d)|(?<=\w):(?=//)|(?i:\bwww)(?=\.)")


def render(grids: Iterable[Grid]) -> str:
    """Return the tables, each below its title, with its notes as a list."""
    return "\n\n".join("\n".join(_lines(grid)) for grid in grids) + "\n"


def _lines(grid: Grid) -> Iterator[str]:
    if grid.source:
        yield from [*map(html_comment, grid.source.splitlines()), ""]
    if grid.title:
        yield f"{'#' * grid.level} {in_markdown(grid.title)}"
        if grid.columns or grid.notes:
            yield ""
    if grid.caption:
        yield from [in_markdown(grid.caption), ""]
    if grid.columns:
        yield from _table(grid)
        if grid.notes:
            yield ""
    for note in grid.notes:
        yield f"- {in_markdown(note)}"


def _table(grid: Grid) -> Iterator[str]:
    rows = [[_heading(column) for column in grid.columns]]
    for group in grid.groups:
        if group.title:
            rows.append([f"*{in_markdown(group.title)}*", *[""] * (len(grid.columns) - 1)])
        rows += [[_cell(cell) for cell in row] for row in group.rows]
    rows.insert(1, ["---" if column.left else "---:" for column in grid.columns])
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _heading(column: Column) -> str:
    title = in_markdown(column.title)
    title += f"<sup>{in_markdown(column.above)}</sup>" if column.above else ""
    return f"{in_markdown(column.block)}<br>{title}" if column.block else title


def _cell(cell: GridCell) -> str:
    return marked_up(cell, in_markdown, bold="**{}**", underlined="<ins>{}</ins>", italic="*{}*")


def in_markdown(text: str) -> str:
    r"""Return text escaped for Markdown, at the beginning of a line or in a table.

    >>> print(in_markdown("a_b|c *d* <e>"))
    a_b\|c \*d\* &lt;e&gt;
    >>> print(in_markdown("by @user :smile: ndcg@10"))
    by @<!-- -->user :<!-- -->smile: ndcg@10
    >>> print(in_markdown("- a"), in_markdown("-0.5"), in_markdown("1. a"))
    \- a -0.5 1\. a
    """
    text = _SPECIAL.sub(r"\\\g<0>", legible(" ".join(text.split())))
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    if begin := _AT_START.match(text):
        start = begin.end() if begin[0].isdigit() else 0
        text = f"{text[:start]}\\{text[start:]}"
    return _LIVE.sub(r"\g<0><!-- -->", text)
