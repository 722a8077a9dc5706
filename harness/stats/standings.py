"""Standings: value, interval, rank and tier of each run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..core.comparison import Comparison, Plan, Standing
from ..core.ragged import Bools, Floats
from .apart import told_apart
from .blocks import Block
from .clustered import clustered
from .differences import EPS
from .pairs import interval_of, stream_of
from .ranks import rank_intervals
from .registry import AllPairs
from .several import means
from .tiers import tiers

RANK_DRAWS = 1000
"""Resamples for the interval of a rank, a whole number that more of them hardly move."""


def standings_of(
    block: Block, rows: Sequence[Comparison], plan: Plan, found: AllPairs | None = None
) -> Iterator[Standing]:
    """Yield where each run of a block stands.

    Parameters
    ----------
    block : Block
    rows : sequence of Comparison
        Those of the block, corrected.
    plan : Plan
    found : AllPairs, optional
        What the plan's own test of all pairs says. Tiers follow :func:`~.apart.told_apart`.
    """
    values = [system.value(block.metric) for system in block.systems]
    rank = ranks(np.array(values), block.metric.definition.direction == "lower")
    low, high, tier = rank, rank, ["1" if len(rank) == 1 else ""] * len(rank)
    if len(rank) > 1 and block.oriented.shape[1] > 1:
        stream = replace(stream_of(plan, "ranks", block), draws=min(plan.draws, RANK_DRAWS))
        low, high = rank_intervals(block.oriented, plan.level, stream)
        tier = _tiers(block, told_apart(block, rows, plan, found))
    for place, system in enumerate(block.systems):
        row = block.values[place]
        defined = row[~np.isnan(row)]
        stream = stream_of(plan, plan.interval, block, system.run)
        if len(system.entries) > 1:
            interval = clustered(system, block.metric, plan)
        else:
            interval = interval_of(defined, plan, stream)
        yield Standing(
            block.dataset, system.run, block.metric, defined.size, values[place], *interval,
            int(rank[place]), int(low[place]), int(high[place]), tier[place],
        )  # fmt: skip


def ranks(values: Floats, lower: bool = False) -> np.ndarray:
    """Return the rank of each value, 1 the best; equal ones share the best of theirs.

    0 where a value is NaN.

    >>> ranks(np.array([0.3, 0.1 + 0.2, 0.4, np.nan, 0.1])).tolist()
    [2, 2, 1, 0, 4]
    """
    better = -values if lower else values
    tolerance = EPS * float(np.nanmax(np.abs(values), initial=0.0))
    found: np.ndarray = 1 + (better > better[:, None] + tolerance).sum(axis=1)
    return np.where(np.isnan(values), 0, found)


def _tiers(block: Block, apart: Bools) -> list[str]:
    order = np.argsort(-means(block.oriented), kind="stable")
    named = tiers(apart[np.ix_(order, order)])
    back = np.argsort(order)
    return [named[place] for place in back.tolist()]
