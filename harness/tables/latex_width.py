"""How wide LaTeX will set a table, near enough to warn where it will not fit."""

from __future__ import annotations

from collections.abc import Iterable

from .latex_text import room
from .model import Cell, PaperTable
from .settings import Settings

ROOM = {"column": 240.0, "page": 505.0}
"""Points that a column, or both, of a page have in most two-column classes."""
SIZE = 9.5
r"""Points of ``\small``, and what its fonts are wider than others of their size."""
_GAP = 8.0
_BOLD = 1.12
_WIDE = dict.fromkeys("mwMW@%–−±×↑↓≤≥", 0.8) | dict.fromkeys("–", 0.5)
_NARROW = dict.fromkeys("iljt.,:;|!'`()[]I /", 0.3) | dict.fromkeys("frs-", 0.37)


def width(table: PaperTable) -> float:
    """Return the points that the table's rows will be wide."""
    names = (_text(row.title) + _raised(row.sign) for row in table.rows)
    titles = (_text(group.title) for group in table.groups)
    # a group's title runs over all columns, and widens none of them
    total = max(names, default=0.0)
    columns = [
        max([_text(column.title), *(_cell(row.cells[at], table) for row in table.rows)])
        for at, column in enumerate(table.columns)
    ]
    at = 0
    for title, size in table.blocks:
        own = sum(columns[at : at + size]) + _GAP * (size - 1)
        total += max(own, _text(title) * table.has_blocks) + _GAP
        at += size
    return max(total, *titles)


def too_wide(table: PaperTable, settings: Settings) -> str | None:
    """Return a warning where the table will not fit into what it is meant for."""
    has, found = ROOM[settings.width], width(table)
    if found <= has:
        return None
    page = found <= ROOM["page"] and settings.width == "column"
    fixes = ["'width: page'"] * page + ["fewer metrics, datasets or extras", "shorter 'names'"]
    return (
        f"table '{table.name}' is about {found:.0f} pt wide in LaTeX, and a {settings.width} has "
        f"about {has:.0f} pt; give it {', '.join(fixes[:-1])} or {fixes[-1]}"
    )


def _cell(cell: Cell, table: PaperTable) -> float:
    signs = max(_raised(table.joined(cell.marks)), _raised(table.joined(cell.worse)))
    beside = _parts(f" {cell.spread}" * bool(cell.spread), f" ({cell.note})" * bool(cell.note))
    return _text(cell.text) * (_BOLD if cell.best else 1) + signs + beside


def _parts(*texts: str) -> float:
    return sum(map(_text, texts))


def _text(text: Iterable[str]) -> float:
    return SIZE * sum(_WIDE.get(sign) or _NARROW.get(sign) or _usual(sign) for sign in text)


def _usual(sign: str) -> float:
    return 0.7 if sign.isupper() else 0.5


def _raised(signs: str) -> float:
    return SIZE * 0.7 * room(signs) / 1000
