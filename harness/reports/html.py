"""An HTML fragment, as a notebook shows it."""

from __future__ import annotations

from html import escape

from ..core.leaderboard import Leaderboard
from ._cells import grid, notes, query_grids

suffix = ".html"


def render(board: Leaderboard, *, per_query: bool = False) -> str:
    """Return the leaderboard as HTML tables, one a dataset, best values in bold.

    Parameters
    ----------
    per_query : bool
        Also list every query's values.
    """
    blocks = []
    for dataset, entries in board.by_dataset():
        header, rows = grid(board, entries, mark="\0{}")  # \0 stands in no name or number
        blocks.append(table(dataset, header, rows))
        blocks += [f"<p>{escape(note)}</p>" for note in notes(board, entries)]
    if per_query:
        blocks += [table(*grid) for grid in query_grids(board)]
    return "\n".join(blocks) + "\n"


def table(caption: str, header: list[str], rows: list[list[str]]) -> str:
    """Return a table; a cell that begins with ``\\0`` is bold."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<table>\n<caption>{escape(caption)}</caption>\n<tr>{head}</tr>\n{body}\n</table>"


def _cell(text: str) -> str:
    inside = escape(text.lstrip("\0"))
    return f"<td><strong>{inside}</strong></td>" if text.startswith("\0") else f"<td>{inside}</td>"
