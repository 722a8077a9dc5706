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
        lines = [f"### {_escape(dataset)}", ""] if dataset else []
        lines += _table(header, rows)
        lines += ["", *(f"- {_escape(note)}" for note in notes(board, entries))]
        blocks.append("\n".join(lines).rstrip())
    if per_query:
        for title, header, rows in query_grids(board):
            blocks.append("\n".join([f"#### {_escape(title)}", "", *_table(header, rows)]))
    return "\n\n".join(blocks) + "\n"


def _table(header: list[str], rows: list[list[str]]) -> list[str]:
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return ["| " + " | ".join(map(_escape, line)) + " |" for line in lines]


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
