"""Tables in every format: grids as text, Markdown, HTML, LaTeX; records as CSV or JSON lines."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from ..errors import in_json
from . import html, latex, markdown, text
from .grid import Grid, GridCell
from .phrases import UNDEFINED

Value = str | int | float | None
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?%?")
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_DATE = re.compile(r"^(\d+)/(\d+)$")
_TO_QUOTE = re.compile(r'[",\r\n]')


def render(
    grids: Iterable[Grid],
    format: str,
    records: Iterable[Mapping[str, Any]] = (),
    *,
    width: int | None = None,
) -> str:
    """Return tables in a format, or `records` in ``csv`` and ``jsonl``, which have every digit.

    A line of text takes at most `width` characters.
    """
    if format == "csv":
        return as_csv(records)
    if format == "jsonl":
        return as_jsonl(records)
    if format == "latex":
        return "\n".join(map(latex.render, grids))
    if format == "excel":
        return as_excel(grids)
    if format in ("markdown", "plain-markdown"):
        return markdown.render(grids, plain=format != "markdown")
    return html.render(grids) if format == "html" else text.render(grids, width=width)


def as_csv(records: Iterable[Mapping[str, Value]]) -> str:
    """Return records of the same keys as CSV; NaN and None are empty fields.

    Names that a spreadsheet would compute get an apostrophe before them, and fields with a line
    break of any kind are in quotes.

    >>> print(as_csv([{"run": "=a", "map": 0.5, "n": None}]), end="")
    run,map,n
    '=a,0.5,
    """
    others = iter(records)
    first = next(others, {})
    rows = ([field(row[name]) for name in first] for row in chain([first] if first else [], others))
    lines = chain([map(in_csv, first)], rows)
    return "".join(",".join(map(_quoted, row)) + "\n" for row in lines)


def as_excel(grids: Iterable[Grid]) -> str:
    """Return tables as CSV for a spreadsheet, with the digits that are shown.

    It begins with a byte order mark, so that Excel reads UTF-8. Marks, spreads and changes have
    columns of their own; the caption and notes are below the rows.
    """
    lines: list[list[str]] = []
    for table in grids:
        titles = [group.title for group in table.groups for _ in group.rows]
        columns = {"group": titles} if any(titles) else {}
        for column, cells in zip(table.columns, zip(*table.rows, strict=True), strict=False):
            name = " ".join(filter(None, (column.block, column.title))) or "run"
            columns[name] = [_DATE.sub(r"\1 of \2", cell.text).strip(UNDEFINED) for cell in cells]
            others = {"spread": [_CHANGE.sub("", cell.spread).removeprefix("± ") for cell in cells]}
            matches = [_CHANGE.search(cell.spread) for cell in cells]
            others["change"] = [match[1].removeprefix("+") if match else "" for match in matches]
            others["marks"] = list(map(_marks, cells))
            columns |= {f"{name} {what}": texts for what, texts in others.items() if any(texts)}
        lines += [[], [table.title]] if lines and table.title else []
        lines += [list(columns), *map(list, zip(*columns.values(), strict=True))] if columns else []
        notes = [note for note in (table.caption, *table.notes) if note]
        lines += [[], *([note] for note in notes)] if notes else []
    return "\ufeff" + "".join(",".join(map(_quoted, map(in_csv, row))) + "\n" for row in lines)


def _marks(cell: GridCell) -> str:
    """Return the marks of a cell as words and signs; those of lower ones follow ``_``."""
    places = "best" if cell.bold else "second" if cell.underlined else ""
    below = f"_{cell.below}" if cell.below else ""
    note = _DATE.sub(r"\1 of \2", cell.note)
    return " ".join(filter(None, (places, cell.sign, cell.above, below, note)))


_CHANGE = re.compile(r" ?\(([^()]+)\)$")
"""The change against the baseline, behind a spread."""


def field(value: Value) -> str:
    """Return a value as a field of CSV; a float has every digit."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return in_csv(value)
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def in_csv(text: str) -> str:
    r"""Return a name with an apostrophe before it if a spreadsheet would compute it.

    Such names begin with ``=``, ``+``, ``-``, ``@``, a tab or a line break; a plain number stays.
    `from_csv` removes the apostrophe.

    >>> in_csv("=SUM(A1)"), in_csv("bm25"), in_csv("-1.5"), in_csv("-x")
    ("'=SUM(A1)", 'bm25', '-1.5', "'-x")
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def from_csv(text: str) -> str:
    """Return a name as it was before `in_csv`.

    >>> from_csv("'=SUM(A1)"), from_csv("'quoted'"), from_csv("-1.5")
    ('=SUM(A1)', "'quoted'", '-1.5')
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _TO_QUOTE.search(text) else text


def as_jsonl(records: Iterable[Mapping[str, Any]]) -> str:
    """Return an object a line; NaN and infinity are null.

    >>> print(as_jsonl([{"run": "a", "map": float("nan")}]), end="")
    {"run": "a", "map": null}
    """
    return "".join(f"{in_json(plain(record))}\n" for record in records)


def plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with None in place of NaN and infinity, which JSON does not have."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in record.items()
    }
