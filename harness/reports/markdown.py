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
_COMMENT = "<!-- -->"
_LIVE = re.compile(r"(?<!\w)@(?=[A-Za-z])|:(?=[\w+-]+:)|\\#(?=\d)|(?<=\w):(?=//)|(?i:\bwww)(?=\.)")


def render(grids: Iterable[Grid], *, plain: bool = False) -> str:
    """Return the tables, each below its title, with its notes as a list.

    `plain` ones have no tag or comment of HTML: lower marks follow ``_``.
    """
    text = "\n\n".join("\n".join(_lines(grid, plain)) for grid in grids) + "\n"
    return text.replace(_COMMENT, "") if plain else text


def _lines(grid: Grid, plain: bool) -> Iterator[str]:
    if grid.source and not plain:
        yield from [*map(html_comment, grid.source.splitlines()), ""]
    for answer in grid.answers:
        yield from [in_markdown(answer.text), ""]
    if grid.title:
        yield f"{'#' * grid.level} {in_markdown(grid.title)}"
        if grid.columns or grid.notes:
            yield ""
    if grid.caption:
        yield from [in_markdown(grid.caption), ""]
    if grid.columns:
        yield from _table(grid, plain)
        if grid.notes:
            yield ""
    for note in grid.notes:
        yield f"- {in_markdown(note)}"


def _table(grid: Grid, plain: bool) -> Iterator[str]:
    rows = [[_heading(column, plain) for column in grid.columns]]
    for group in grid.groups:
        if group.title:
            rows.append([f"*{in_markdown(group.title)}*", *[""] * (len(grid.columns) - 1)])
        rows += [[_cell(cell, plain) for cell in row] for row in group.rows]
    rows.insert(1, ["---" if column.left else "---:" for column in grid.columns])
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _heading(column: Column, plain: bool) -> str:
    title, above = in_markdown(column.title), in_markdown(column.above)
    title += (above if plain else f"<sup>{above}</sup>") if above else ""
    between = " " if plain else "<br>"
    return f"{in_markdown(column.block)}{between}{title}" if column.block else title


def _cell(cell: GridCell, plain: bool) -> str:
    underlined = "<ins>{}</ins>"
    if plain:
        signs = f"{cell.sign}{cell.above}" + (f"_{cell.below}" if cell.below else "")
        cell, underlined = cell._replace(sign=signs, above="", below=""), "*{}*"
    return marked_up(cell, in_markdown, bold="**{}**", underlined=underlined, italic="*{}*")


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
    return _LIVE.sub(rf"\g<0>{_COMMENT}", text)
