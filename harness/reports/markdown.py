"""Markdown tables for READMEs and pull requests."""

from __future__ import annotations

from ..core.leaderboard import Leaderboard
from ..escaping import in_markdown
from ._cells import Best, grid, notes, query_grids

suffix = ".md"


def render(board: Leaderboard, *, per_query: bool = False) -> str:
    """Return the leaderboard as Markdown, a table a dataset, best values bold.

    Parameters
    ----------
    per_query : bool
        Also list every query's values.
    """
    blocks = []
    for dataset, entries in board.by_dataset():
        header, rows = grid(board, entries, mark=Best)
        lines = [f"### {in_markdown(dataset)}", ""] if dataset else []
        lines += table(header, rows)
        lines += ["", *(f"- {in_markdown(note)}" for note in notes(board, entries))]
        blocks.append("\n".join(lines).rstrip())
    if per_query:
        for title, header, rows in query_grids(board):
            blocks.append("\n".join([f"#### {in_markdown(title)}", "", *table(header, rows)]))
    return "\n\n".join(blocks) + "\n"


def table(header: list[str], rows: list[list[str]], left: int = 1) -> list[str]:
    """Return the lines of a table whose first `left` columns are flush left."""
    rule = ["---"] * left + ["---:"] * (len(header) - left)
    head, *body = [list(map(_cell, line)) for line in (header, *rows)]
    return [f"| {' | '.join(line)} |" for line in (head, rule, *body)]


def _cell(text: str) -> str:
    return f"**{in_markdown(text)}**" if isinstance(text, Best) else in_markdown(text)
