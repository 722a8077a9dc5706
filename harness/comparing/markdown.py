"""Comparisons as Markdown, for READMEs and pull requests."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.comparison import Comparisons
from ..escaping import in_markdown
from ..reports.markdown import table
from .cells import Grid, grids, notes, overall_grids, standing_grids, standing_notes


def render(
    found: Comparisons,
    *,
    most: int | None = None,
    standings: bool = False,
    extra: Sequence[Grid] = (),
) -> str:
    """Return a table for each metric on each dataset; see :func:`harness.comparing.text.render`."""
    blocks = [_block(grid) for grid in grids(found, most)]
    blocks += [_block(grid) for grid in overall_grids(found)]
    blocks.append("\n".join(f"- {in_markdown(line)}" for line in notes(found)))
    if standings:
        blocks += [_block(grid) for grid in standing_grids(found)]
        blocks.append("\n".join(f"- {in_markdown(line)}" for line in standing_notes(found)))
    blocks += [_block(grid) for grid in extra]
    return "\n\n".join(blocks) + "\n"


def _block(grid: Grid) -> str:
    lines = [f"#### {in_markdown(grid.title)}", "", *table(grid.header, grid.rows, grid.left)]
    if grid.more:
        lines += ["", f"and {grid.more} more: significance.csv has them"]
    return "\n".join(lines)
