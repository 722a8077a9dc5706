"""An HTML fragment, as a notebook shows it."""

from __future__ import annotations

from ..core.leaderboard import Leaderboard
from ..escaping import in_html
from ._cells import Best, grid, notes, query_grids

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
        header, rows = grid(board, entries, mark=Best)
        blocks.append(table(dataset, header, rows))
        blocks += [f"<p>{in_html(note)}</p>" for note in notes(board, entries)]
    if per_query:
        blocks += [table(*grid) for grid in query_grids(board)]
    return "\n".join(blocks) + "\n"


def table(caption: str, header: list[str], rows: list[list[str]]) -> str:
    """Return a table; the best cells are bold."""
    head = "".join(f"<th>{in_html(cell)}</th>" for cell in header)
    body = "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<table>\n<caption>{in_html(caption)}</caption>\n<tr>{head}</tr>\n{body}\n</table>"


def _cell(text: str) -> str:
    inside = in_html(text)
    return f"<td><strong>{inside}</strong></td>" if isinstance(text, Best) else f"<td>{inside}</td>"
