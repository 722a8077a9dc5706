"""Markdown tables for READMEs and pull requests."""

from __future__ import annotations

from ..core.leaderboard import Leaderboard
from ._cells import grid, notes, query_grids

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
        header, rows = grid(board, entries, mark="**{}**")
        lines = [f"### {escape(dataset)}", ""] if dataset else []
        lines += table(header, rows)
        lines += ["", *(f"- {escape(note)}" for note in notes(board, entries))]
        blocks.append("\n".join(lines).rstrip())
    if per_query:
        for title, header, rows in query_grids(board):
            blocks.append("\n".join([f"#### {escape(title)}", "", *table(header, rows)]))
    return "\n\n".join(blocks) + "\n"


def table(header: list[str], rows: list[list[str]], left: int = 1) -> list[str]:
    """Return the lines of a table whose first `left` columns are flush left."""
    lines = [header, ["---"] * left + ["---:"] * (len(header) - left), *rows]
    return ["| " + " | ".join(map(escape, line)) + " |" for line in lines]


def escape(text: str) -> str:
    """Return text without what Markdown would take for its own."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
