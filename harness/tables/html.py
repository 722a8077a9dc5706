"""An HTML fragment: one table that says what its headings head, without style sheet or script."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..escaping import html_comment, in_html
from .model import Cell, PaperTable, Row

suffix = ".html"
_LEFT = 'style="text-align: left"'
_NAME = 'style="text-align: left; font-weight: normal; white-space: nowrap"'
_COLUMN = 'style="white-space: nowrap"'
_NUMBER = 'style="text-align: right; white-space: nowrap"'


def render(table: PaperTable) -> str:
    """Return a ``<table>`` with caption, headings with their scope, and notes in its foot."""
    lines = [html_comment(str(table.trace)), "<table>"]
    if table.caption:
        lines.append(f"<caption {_LEFT}>{in_html(' '.join(table.caption))}</caption>")
    lines += ["<thead>", *_head(table), "</thead>"]
    for group in table.groups:
        lines.append("<tbody>")
        if group.title:
            span = len(table.columns) + 1
            head = f'<th scope="rowgroup" colspan="{span}" {_LEFT}>'
            lines.append(f"<tr>{head}{in_html(group.title)}</th></tr>")
        lines += [*(_row(row, table) for row in group.rows), "</tbody>"]
    if table.footnotes:
        notes = "<br>".join(map(in_html, table.footnotes))
        lines.append(f'<tfoot><tr><td colspan="{len(table.columns) + 1}">{notes}</td></tr></tfoot>')
    return "\n".join([*lines, "</table>", ""])


def _head(table: PaperTable) -> Iterator[str]:
    titles = "".join(
        f'<th scope="col" {_COLUMN}>{in_html(one.title)}</th>' for one in table.columns
    )
    if not table.has_blocks:
        yield f"<tr><td></td>{titles}</tr>"
        return
    blocks = "".join(
        f'<th scope="colgroup" colspan="{size}">{in_html(title)}</th>'
        for title, size in table.blocks
    )
    yield f'<tr><td rowspan="2"></td>{blocks}</tr>'
    yield f"<tr>{titles}</tr>"


def _row(row: Row, table: PaperTable) -> str:
    sign = f"<sup>{in_html(row.sign)}</sup>" if row.sign else ""
    cells = "".join(_cell(cell, table) for cell in row.cells)
    return f'<tr><th scope="row" {_NAME}>{in_html(row.title)}{sign}</th>{cells}</tr>'


def _cell(cell: Cell, table: PaperTable) -> str:
    text = in_html(_minus(cell.text))
    if cell.best:
        text = f"<strong>{text}</strong>"
    elif cell.second:
        text = f"<u>{text}</u>"
    text += f"<sup>{in_html(table.joined(cell.marks))}</sup>" if cell.marks else ""
    text += f"<sub>{in_html(table.joined(cell.worse))}</sub>" if cell.worse else ""
    text += f" {in_html(_minus(cell.spread))}" if cell.spread else ""
    text += f" ({in_html(cell.note)})" if cell.note else ""
    return f"<td {_NUMBER}>{text}</td>"


def _minus(text: str) -> str:
    """Return a number with a real minus sign; the hyphen of a tier, ``1-2``, is none."""
    return re.sub(r"(?<!\w)-", "\N{MINUS SIGN}", text)
