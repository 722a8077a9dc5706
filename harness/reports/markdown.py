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
    return "\n\n".join("\n".join(_lines(one)) for one in grids) + "\n"


def _lines(one: Grid) -> Iterator[str]:
    if one.source:
        yield from [html_comment(one.source), ""]
    if one.title:
        yield f"{'#' * one.level} {in_markdown(one.title)}"
        if one.columns or one.notes:
            yield ""
    if one.caption:
        yield from [in_markdown(one.caption), ""]
    if one.columns:
        yield from _table(one)
        if one.notes:
            yield ""
    for note in one.notes:
        yield f"- {in_markdown(note)}"


def _table(one: Grid) -> Iterator[str]:
    rows = [[_heading(column) for column in one.columns]]
    for group in one.groups:
        if group.title:
            rows.append([f"*{in_markdown(group.title)}*", *[""] * (len(one.columns) - 1)])
        rows += [[_cell(cell) for cell in row] for row in group.rows]
    rows.insert(1, ["---" if column.left else "---:" for column in one.columns])
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _heading(column: Column) -> str:
    title = in_markdown(column.title)
    return f"{in_markdown(column.block)}<br>{title}" if column.block else title


def _cell(cell: GridCell) -> str:
    return marked_up(cell, in_markdown, bold="**{}**", underlined="<ins>{}</ins>")


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
        at = begin.end() if begin[0].isdigit() else 0
        text = f"{text[:at]}\\{text[at:]}"
    return _LIVE.sub(r"\g<0><!-- -->", text)
