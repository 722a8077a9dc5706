"""Comparisons as an HTML fragment."""

from __future__ import annotations

from ..core.comparison import Comparisons
from ..escaping import in_html
from ..reports.html import table
from .cells import Grid, grids, notes, overall_grids, standing_grids, standing_notes


def render(found: Comparisons, *, most: int | None = None, standings: bool = False) -> str:
    """Return a table for each metric on each dataset; see :func:`harness.comparing.text.render`."""
    blocks = [_block(grid) for grid in grids(found, most)]
    blocks += [_block(grid) for grid in overall_grids(found)]
    blocks += [f"<p>{in_html(line)}</p>" for line in notes(found)]
    if standings:
        blocks += [_block(grid) for grid in standing_grids(found)]
        blocks += [f"<p>{in_html(line)}</p>" for line in standing_notes(found)]
    return "\n".join(blocks) + "\n"


def _block(grid: Grid) -> str:
    more = f"\n<p>and {grid.more} more: significance.csv has them</p>" if grid.more else ""
    return table(grid.title, grid.header, grid.rows) + more
