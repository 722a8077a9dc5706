"""Aligned text for a terminal."""

from __future__ import annotations

from ..core.leaderboard import Leaderboard
from ..core.widths import flush_left, flush_right, readable
from ..core.widths import width as width_of
from ..escaping import for_terminal, legible
from ._cells import BEST, grid, notes, query_grids, tops_of

suffix = ".txt"


def render(board: Leaderboard, *, width: int | None = None, per_query: bool = False) -> str:
    """Return the leaderboard as aligned columns, a block a dataset, best values marked ``*``.

    Parameters
    ----------
    width : int, optional
        Characters a line may take; metrics that do not fit go into further blocks below.
    per_query : bool
        Also list every query's values.
    """
    blocks = []
    for dataset, entries in board.by_dataset():
        header, rows = grid(board, entries, mark="{}*".format)
        text = columns([header, *rows], width=width, left=1, pad_stars=True)
        marked = [BEST] if any(tops_of(board, entries)[0].values()) else []
        lines = [f"  {legible(note)}" for note in (*marked, *notes(board, entries))]
        blocks.append("\n".join(([legible(dataset)] if dataset else []) + [text, *lines]))
    if per_query:
        blocks += [
            f"{legible(title)}\n{columns([header, *rows], width=width)}"
            for title, header, rows in query_grids(board)
        ]
    return for_terminal("\n\n".join(blocks)) + "\n"


def columns(
    rows: list[list[str]], *, width: int | None = None, left: int = 1, pad_stars: bool = False
) -> str:
    """Return rows as aligned columns: the first `left` flush left, the others flush right.

    What controls a terminal is shown, and long names lose their middle; those that differ still do.

    >>> print(columns([["run", "map"], ["bm25", "0.31"]]))
    run    map
    bm25  0.31
    """
    rows = [list(row) for row in zip(*map(readable, zip(*rows, strict=True)), strict=True)]
    if pad_stars:  # so that digits stay below digits
        marks = [max(map(_marks, column)) for column in zip(*rows, strict=True)]
        rows = [
            [cell + " " * (most - _marks(cell)) for cell, most in zip(row, marks, strict=True)]
            for row in rows
        ]
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    cells = [
        [
            flush_left(cell, size) if place < left else flush_right(cell, size)
            for place, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    ]
    blocks: list[str] = []
    place = left
    while place < len(widths) or not blocks:
        used, stop = sum(size + 2 for size in widths[:left]), place
        while stop < len(widths) and (
            width is None or stop == place or used + widths[stop] <= width
        ):
            used += widths[stop] + 2
            stop += 1
        blocks.append("\n".join("  ".join(row[:left] + row[place:stop]).rstrip() for row in cells))
        place = stop
    return "\n\n".join(blocks)


def _marks(cell: str) -> int:
    """Return how many marks stand behind a number."""
    return len(cell) - len(cell.rstrip("*~"))
