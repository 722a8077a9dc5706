"""Standings: value, interval, rank and tier of each run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..core.comparison import Comparison, Plan, Standing
from ..core.ragged import Bools, Floats, Ints
from .apart import told_apart
from .blocks import Block
from .clustered import clustered
from .differences import noise
from .pairs import interval_of, stream_of
from .ranks import rank_intervals
from .registry import AllPairs
from .several import means
from .tiers import tiers


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
    values = np.array([system.value(block.metric) for system in block.systems])
    places = _places(block, values, plan)
    tier = [""] * len(values)
    if places.n > 1:
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
            block.dataset, system.run, block.metric, defined.size, float(values[place]),
            *interval, int(places.rank[place]), int(places.low[place]), int(places.high[place]),
            tier[place], places.n,
        )  # fmt: skip


class _Places(NamedTuple):
    """Rank of each run and its interval, 0 where there is none; over how many queries."""

    rank: Ints
    low: Ints
    high: Ints
    n: int


def _places(block: Block, values: Floats, plan: Plan) -> _Places:
    """Return places over the queries that every run has a value for."""
    rank, low, high = np.zeros((3, values.size), dtype=np.int64)
    found = _Places(rank, low, high, _n_ranked(block))
    if not found.n:
        return found
    valued, oriented = block.valued, block.oriented[block.valued]
    compared = means(oriented)
    if not np.isnan(block.values[valued]).any():  # the summaries are of these queries too
        sign = -1 if block.metric.definition.direction == "lower" else 1
        compared = sign * values[valued]
    found.rank[valued] = ranks(compared)
    if found.n > 1:
        stream = replace(stream_of(plan, "ranks", block), draws=plan.rank_draws)
        first, last = rank_intervals(oriented, plan.level, stream)
        # a summary need not weigh all queries alike: parts of a dataset may count the same
        found.low[valued] = np.minimum(first, found.rank[valued])
        found.high[valued] = np.maximum(last, found.rank[valued])
    return found


def _n_ranked(block: Block) -> int:
    return 0 if np.isnan(block.values).all() else int(block.complete.sum())


def ranks(values: Floats) -> Ints:
    """Return the rank of each value, 1 the highest; equal ones share the best of theirs.

    >>> ranks(np.array([0.3, 0.1 + 0.2, 0.4, 0.1])).tolist()
    [2, 2, 1, 4]
    """
    above = values > values[:, None] + noise(values, values[:, None])
    found: Ints = 1 + above.sum(axis=1)
    return found


def _tiers(block: Block, apart: Bools) -> list[str]:
    """Return the tier of each run; none for a run without values."""
    order = block.valued[np.argsort(-means(block.oriented[block.valued]), kind="stable")]
    found = [""] * len(block.runs)
    for place, name in zip(order.tolist(), tiers(apart[np.ix_(order, order)]), strict=True):
        found[place] = name
    return found
