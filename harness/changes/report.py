"""Changes as text, Markdown, CSV or JSON lines."""

from __future__ import annotations

from ..comparing.cells import Grid
from ..escaping import for_terminal, in_markdown, legible
from ..reports.markdown import table
from ..reports.table import columns
from . import rows
from .flow import Changes
from .tables import grids, head, notes, verdict


def render(found: Changes, format: str = "text", *, width: int | None = None) -> str:
    """Return what ``harness compare OLD NEW`` prints.

    Parameters
    ----------
    found : Changes
    format : {"text", "csv", "jsonl", "markdown"}
    width : int, optional
        Characters a line of text may take.
    """
    if format == "csv":
        return rows.csv(found)
    if format == "jsonl":
        return rows.jsonl(found)
    return markdown(found) if format == "markdown" else text(found, width)


def text(found: Changes, width: int | None = None) -> str:
    """Return aligned tables for a terminal."""
    blocks = ["\n".join(map(legible, head(found)))]
    blocks += [_text(grid, width) for grid in grids(found)]
    blocks.append("\n".join(f"  {legible(line)}" for line in notes(found)))
    return for_terminal("\n\n".join([*blocks, verdict(found)])) + "\n"


def markdown(found: Changes) -> str:
    """Return tables for a pull request, the verdict first."""
    blocks = [f"**{in_markdown(verdict(found))}**"]
    blocks.append("\n".join(f"- {in_markdown(line)}" for line in head(found)))
    blocks += [_markdown(grid) for grid in grids(found)]
    blocks.append("\n".join(f"- {in_markdown(line)}" for line in notes(found)))
    return "\n\n".join(blocks) + "\n"


def _text(grid: Grid, width: int | None) -> str:
    if not grid.rows:
        return legible(grid.title)
    body = columns([grid.header, *grid.rows], width=width, left=grid.left, pad_stars=True)
    return "\n".join([legible(grid.title), body, *_more(grid, "  ")])


def _markdown(grid: Grid) -> str:
    lines = [f"#### {in_markdown(grid.title)}"]
    if grid.rows:
        lines += ["", *table(grid.header, grid.rows, grid.left)]
    more = _more(grid)
    return "\n".join([*lines, *([""] if more else []), *more])


def _more(grid: Grid, indent: str = "") -> list[str]:
    return [f"{indent}and {grid.more} more: --format jsonl has them"] if grid.more else []
