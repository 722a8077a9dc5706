"""HTML table fragments with header scopes, and a styled page of them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator

from ..errors import legible, printable
from .grid import PLAIN, Column, Grid, GridCell

_FIGURE = 'style="margin: 0 0 1em"'
_TITLE = 'style="text-align: left; font-weight: 600"'
_CAPTION = 'style="text-align: left; max-width: 60em"'
_TABLE = 'style="width: auto; margin: .4em 0"'
_NOTES = 'style="text-align: left; max-width: 60em; margin: .4em 0; font-size: .85em"'
_LEFT = 'style="text-align: left"'
_NAME = 'style="text-align: left; font-weight: normal; white-space: nowrap"'
_HEADING = 'style="white-space: nowrap"'
_CENTRE = 'style="text-align: center"'
_NAME_HEADING = 'style="text-align: left; white-space: nowrap"'
_NUMBER = 'style="text-align: right; white-space: nowrap"'


def render(grids: Iterable[Grid]) -> str:
    """Return a ``<table>`` for each grid, its title above and its notes below."""
    return "".join(f"{line}\n" for grid in grids for line in _lines(grid))


_STYLE = """
:root { color-scheme: light dark; --line: #8886; --quiet: #666; }
@media (prefers-color-scheme: dark) { :root { --quiet: #aaa; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
figure { margin: 0 0 2.5rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
figcaption { font-size: 1.15rem; }
th, td { font-variant-numeric: tabular-nums; padding: .25rem .75rem; }
thead th { border-bottom: 2px solid var(--line); text-align: right; }
tbody tr { border-bottom: 1px solid var(--line); }
p { color: var(--quiet); font-size: .85rem; }
@media print { table { overflow-x: visible; } thead { display: table-header-group; } }
"""


def document(title: str, body: str) -> str:
    """Return a complete page of fragments: styled, without script or anything from elsewhere.

    >>> page = document("a & b", "<p>c</p>")
    >>> "<title>a &amp; b</title>" in page, page.endswith("<p>c</p></body>\\n</html>\\n")
    (True, True)
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{in_html(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{in_html(title)}</h1>\n{body}</body>\n</html>\n"
    )


def _lines(grid: Grid) -> Iterator[str]:
    yield from map(html_comment, grid.source.splitlines())
    yield from (f"<p>{in_html(answer.text)}</p>" for answer in grid.answers)
    caption = grid.title or grid.caption
    notes = "<br>".join(map(in_html, grid.notes))
    if not grid.columns:
        yield from (f"<p {_NOTES}>{text}</p>" for text in (in_html(caption), notes) if text)
        return
    yield f"<figure {_FIGURE}>"
    if caption:
        yield f"<figcaption {_TITLE if grid.title else _CAPTION}>{in_html(caption)}</figcaption>"
    yield f"<table {_TABLE}>"
    yield from ("<thead>", *_head(grid), "</thead>")
    for group in grid.groups:
        yield "<tbody>"
        if group.title:
            head = f'<th scope="rowgroup" colspan="{len(grid.columns)}" {_LEFT}>'
            yield f"<tr>{head}{in_html(group.title)}</th></tr>"
        for row in group.rows:
            cells = "".join(map(_cell, grid.columns[1:], row[1:]))
            yield f'<tr><th scope="row" {_NAME}>{_inside(row[0])}</th>{cells}</tr>'
        yield "</tbody>"
    yield "</table>"
    if notes:
        yield f"<p {_NOTES}>{notes}</p>"
    yield "</figure>"


def _head(grid: Grid) -> Iterator[str]:
    head, *rest = grid.columns
    span = ' rowspan="2"' if grid.blocks else ""
    corner = f"<td{span}></td>"
    if head.title:
        corner = f'<th scope="col"{span} {_LEFT}>{in_html(head.title)}</th>'
    titles = "".join(
        f'<th scope="col" {_NAME_HEADING if column.left else _HEADING}>{_heading(column)}</th>'
        for column in rest
    )
    if grid.blocks:
        blocks = "".join(
            f'<th scope="colgroup" colspan="{size}" {_CENTRE}>{in_html(title)}</th>'
            for title, size in grid.blocks
        )
        yield f"<tr>{corner}{blocks}</tr>"
        corner = ""
    yield f"<tr>{corner}{titles}</tr>"


def _heading(column: Column) -> str:
    return in_html(column.title) + (f"<sup>{in_html(column.above)}</sup>" if column.above else "")


def _cell(column: Column, cell: GridCell) -> str:
    style = _LEFT if column.left else _NUMBER
    if cell.colour:
        style = f'{style[:-1]}; background: {cell.colour}; color: #111"'
    return f"<td {style}>{_inside(cell)}</td>"


def _inside(cell: GridCell) -> str:
    ways = {"bold": "<strong>{}</strong>", "underlined": "<u>{}</u>", "italic": "<em>{}</em>"}
    return marked_up(cell, in_html, **ways)


def marked_up(
    cell: GridCell, escape: Callable[[str], str], *, bold: str, underlined: str, italic: str
) -> str:
    """Return a cell in HTML, or in Markdown, which has HTML's elements."""
    text = escape(cell.text + cell.sign)
    if cell[1:] == PLAIN:
        return text
    if cell.bold:
        text = bold.format(text)
    elif cell.underlined:
        text = underlined.format(text)
    elif cell.italic:
        text = italic.format(text)
    text += f"<sup>{escape(cell.above)}</sup>" if cell.above else ""
    text += f"<sub>{escape(cell.below)}</sub>" if cell.below else ""
    extras = [cell.spread, f"({cell.note})" if cell.note else ""]
    return " ".join([text, *(escape(part) for part in extras if part)])


def in_html(text: str) -> str:
    """Return text escaped for HTML and its attributes.

    >>> print(in_html("a & <b> \\"c\\""))
    a &amp; &lt;b&gt; &quot;c&quot;
    """
    return html.escape(printable(text))


def html_comment(text: str) -> str:
    """Return a comment of HTML, which text cannot end.

    >>> print(html_comment("a--->b"))
    <!-- a- - ->b -->
    """
    return f"<!-- {re.sub('-(?=-)', '- ', legible(text))} -->"
