"""Comparisons as aligned text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.comparison import Comparisons
from ..escaping import for_terminal, legible
from ..reports.table import columns
from .cells import Grid, grids, notes, overall_grids, standing_grids, standing_notes


def render(
    found: Comparisons,
    *,
    width: int | None = None,
    most: int | None = None,
    standings: bool = False,
    extra: Sequence[Grid] = (),
) -> str:
    """Return a block for each metric on each dataset, then what must be known of them.

    Parameters
    ----------
    found : Comparisons
    width : int, optional
        Characters a line may take.
    most : int, optional
        Rows of a block; those with the smallest p are kept.
    standings : bool
        Also tiers and ranks.
    extra : sequence of Grid
        Further tables.
    """
    blocks = [_block(grid, width) for grid in grids(found, most)]
    blocks += [_block(grid, width) for grid in overall_grids(found)]
    blocks.append("\n".join(f"  {legible(line)}" for line in notes(found)))
    if standings:
        blocks += [_block(grid, width) for grid in standing_grids(found)]
        blocks.append("\n".join(f"  {legible(line)}" for line in standing_notes(found)))
    blocks += [_block(grid, width) for grid in extra]
    return for_terminal("\n\n".join(blocks)) + "\n"


def _block(grid: Grid, width: int | None) -> str:
    text = columns([grid.header, *grid.rows], width=width, left=grid.left, pad_stars=True)
    more = [f"  and {grid.more} more: significance.csv has them"] if grid.more else []
    return "\n".join([legible(grid.title), text, *more])
