"""Standings: the mean of each run with its interval, its rank, and its tier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import stdtr

from ..core.ragged import Bools, Floats, Ints
from .bootstrap import resampled_means
from .comparison import Comparison, Plan, Standing
from .corrections import adjust
from .differences import EPS, deviations, means, noise
from .intervals import clustered, interval_of, method_of
from .paired_values import PairedValues
from .registry import SMALLEST, AllPairs, Stream


def groups(apart: Bools) -> Ints:
    """Return the first and last system of each group that cannot be told apart.

    A group is a longest sequence of neighbours, in the order of the mean, without a significantly
    different pair: a bar of a critical-difference diagram. A system that differs from its neighbour
    but not from one further off is not in a group with the latter, because the neighbour between
    them would be in the group too.

    Demsar, JMLR 2006, section 3.2.2.
    """
    n = apart.shape[0]
    later = np.triu(apart, 1)
    # The group that begins at i ends before the first system that differs from any from i on.
    first_apart = np.where(later.any(axis=1), later.argmax(axis=1), n)
    end = np.minimum.accumulate(first_apart[::-1])[::-1] - 1
    starts = np.flatnonzero(np.diff(end, prepend=-1) > 0)
    return np.column_stack([starts, end[starts]]).astype(np.int64)


def tiers(apart: Bools) -> tuple[str, ...]:
    """Return the tier of each system: the numbers of the groups that it is in.

    ``1``, ``2``, or ``1-2`` for a system of both. Two systems share a number exactly if no pair of
    them and of those between them differs. Numbers never fall in descending order of the means.
    """
    begins, ends = groups(apart).T
    system = np.arange(apart.shape[0])
    low = np.searchsorted(ends, system) + 1
    high = np.searchsorted(begins, system, side="right")
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return tuple(f"{low}" if low == high else f"{low}-{high}" for low, high in pairs)


def told_apart(
    block: PairedValues, rows: Sequence[Comparison], plan: Plan, all_pairs: AllPairs | None
) -> Bools:
    """Return a mask of the pairs of runs of a block that can be told apart.

    By the plan's own test if that is one of all pairs, else by the plan's comparisons. Pairs that
    the plan does not compare follow from `paired_t_of_pairs`, or from `bootstrap_of_pairs` if
    queries have weights, corrected over these pairs.
    """
    if all_pairs is not None:
        return np.asarray(all_pairs.p <= plan.level)
    n_systems = len(block.runs)
    rows = [row for row in rows if row.baseline in block.runs]  # not a reference
    place = {run: position for position, run in enumerate(block.runs)}
    compared = [(place[row.baseline], place[row.run]) for row in rows]
    apart: Bools = np.zeros((n_systems, n_systems), dtype=bool)
    if len(rows) < math.comb(n_systems, 2):
        above = np.triu_indices(n_systems, 1)
        p = np.full((n_systems, n_systems), np.nan)
        values, weights = block.oriented[block.valued], block.complete_weights
        p[np.ix_(block.valued, block.valued)] = (
            paired_t_of_pairs(values)
            if weights is None
            else bootstrap_of_pairs(values, weights, block.stream(plan, "pairs"))
        )
        for first, second in compared:
            p[first, second] = p[second, first] = np.nan
        apart[above] = adjust(p[above], plan.correction) <= plan.level
    for pair, row in zip(compared, rows, strict=True):
        apart[pair] = row.p_adjusted <= plan.level
    apart |= apart.T
    return apart


def paired_t_of_pairs(values: Floats) -> Floats:
    """Return the two-sided p-value of the paired t-test of each pair of systems, not corrected.

    As `harness.stats.paired_t.paired_t` by the pair's own differences, so that a noisy
    system does not hide the differences between others, as the common variance of ``tukey`` does.
    """
    n_systems, n_queries = values.shape
    p = np.where(np.eye(n_systems, dtype=bool), 1.0, np.nan)
    if n_queries < 2:
        return p
    for base in range(n_systems - 1):
        rest = values[base + 1 :]
        deltas, rounding = rest - values[base], noise(rest, values[base])
        deltas[np.abs(deltas) <= rounding] = 0.0
        deviation = deltas.std(axis=1, ddof=1)
        deviation[np.ptp(deltas, axis=1) <= 2 * rounding.max(axis=1)] = np.nan
        t = deltas.mean(axis=1) / (deviation / math.sqrt(n_queries))
        of_first = np.clip(2 * stdtr(n_queries - 1, -np.abs(t)), SMALLEST, 1.0)
        of_first[~deltas.any(axis=1)] = 1.0
        p[base, base + 1 :] = p[base + 1 :, base] = of_first
    return p


def bootstrap_of_pairs(values: Floats, weights: Floats, stream: Stream) -> Floats:
    """Return the two-sided p-value of the weighted bootstrap test of each pair of systems.

    As `harness.stats.bootstrap.bootstrap`, but that all pairs share their draws.
    """
    apart, rounding = deviations(values, weights)
    averages = means(apart, weights)
    drawn = resampled_means((apart - averages[:, None]).T, stream, weights)
    n_systems = len(values)
    p = np.ones((n_systems, n_systems))
    for base in range(n_systems - 1):
        rest = slice(base + 1, n_systems)
        tolerance = np.maximum(rounding[rest], rounding[base])
        threshold = np.abs(averages[rest] - averages[base]) - tolerance
        extreme = np.abs(drawn[:, rest] - drawn[:, base, None]) >= threshold
        of_first = (extreme.sum(axis=0) + 1) / (len(drawn) + 1)
        p[base, rest] = p[rest, base] = of_first
    return p


def rank_intervals(
    values: Floats, level: float, stream: Stream, weights: Floats | None = None
) -> tuple[Ints, Ints]:
    """Return the first and last rank of each system by its mean, by bootstrap over the queries.

    Queries are drawn with replacement, with their weights if they have any, the same for all
    systems; each draw ranks their means.
    The interval is the narrowest with at most ``level / 2`` of the draws before `low` and as many
    after `high`.

    Hall and Miller, Annals of Statistics 2009. Such an interval is for one system, not for pairs:
    two systems with overlapping intervals may differ on the same queries. For systems with equal
    true means the intervals are too narrow.
    """
    low, high = np.empty((2, len(values)), dtype=np.int64)
    order = np.lexsort(values.T)  # the draws must not depend on the order of the systems
    # What is common to all goes first: one query's huge values would hide the others.
    apart, rounding = deviations(values[order], weights)
    drawn = resampled_means(apart.T, stream, weights)
    # .29 * 100 is 28.999999999999996: the share of whole draws needs a tolerance too.
    outside = int(level / 2 * len(drawn) * (1 + EPS))
    for column, system in enumerate(order.tolist()):
        draws = drawn[:, column, None] + np.maximum(rounding, rounding[column])
        rank = np.sort(1 + (drawn > draws).sum(axis=1))
        low[system], high[system] = rank[outside], rank[-1 - outside]
    return low, high


def ranks(values: Floats) -> Ints:
    """Return the rank of each value, 1 for the highest; equal values share the best rank."""
    above = values > values[:, None] + noise(values, values[:, None])
    numbers: Ints = 1 + above.sum(axis=1)
    return numbers


def standings_of(
    block: PairedValues, rows: Sequence[Comparison], plan: Plan, all_pairs: AllPairs | None
) -> list[Standing]:
    """Return the standing of each run of a block: ranks over the queries that all runs have."""
    valued, oriented = block.valued, block.oriented[block.valued]
    weights = block.complete_weights
    values = np.array([system.value(block.metric) for system in block.systems])
    n_ranked = 0 if np.isnan(block.values).all() else int(block.complete.sum())
    rank, low, high = np.zeros((3, values.size), dtype=np.int64)
    tier = [""] * values.size
    if n_ranked:
        compared = means(oriented, weights)
        if not np.isnan(block.values[valued]).any():  # the summaries are of these queries too
            compared = block.metric.sign * values[valued]
        rank[valued] = ranks(compared)
    if n_ranked > 1:
        stream = replace(block.stream(plan, "ranks"), draws=plan.rank_draws)
        lowest, highest = rank_intervals(oriented, plan.level, stream, weights)
        # a summary need not weigh all queries alike: parts of a dataset may count the same
        low[valued] = np.minimum(lowest, rank[valued])
        high[valued] = np.maximum(highest, rank[valued])
        order = valued[np.argsort(-means(oriented, weights), kind="stable")]
        apart = told_apart(block, rows, plan, all_pairs)[np.ix_(order, order)]
        for place, name in zip(order.tolist(), tiers(apart), strict=True):
            tier[place] = name
    standings = []
    ranked = (rank.tolist(), low.tolist(), high.tolist(), tier)
    columns = (block.systems, values.tolist(), block.values, *ranked)
    for system, value, row, position, first, last, name in zip(*columns, strict=True):
        is_defined = ~np.isnan(row)
        defined = row[is_defined]
        if system.entries[0].parts:  # the value is a mean of parts, which has no interval
            interval = math.nan, math.nan
        elif len(system.entries) > 1:
            interval = clustered(system, block.metric, plan)
        else:
            method = method_of(plan, block.weights)
            of_defined = None if block.weights is None else block.weights[is_defined]
            stream = block.stream(plan, method, system.run)
            interval = interval_of(defined, plan, stream, of_defined)
        place = block.dataset, system.run, block.metric, defined.size
        standings.append(Standing(*place, value, *interval, position, first, last, name, n_ranked))
    return standings
