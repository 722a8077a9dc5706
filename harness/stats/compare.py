"""Runs compared: systems and a plan -> comparisons, tiers and ranks, families."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.special import stdtr

from ..core.ragged import Bools, Floats, Ints
from ..core.systems import System, unanswered_of
from ..errors import HarnessError, Problem, check_known
from .blocks import Block, blocks_of, interval_of, of_all_pairs, paired, pairs_of, stream_of, tested
from .bootstrap import resampled_means
from .comparison import Comparison, Comparisons, Overall, Plan, Standing, family_of
from .corrections import adjust
from .differences import EPS, noise
from .intervals import clustered
from .registry import SMALLEST, AllPairs, Stream, deviations, find, means, tolerance


def groups(apart: Bools) -> Ints:
    """Return the first and last system of each group that cannot be told apart.

    A group is a longest run of neighbours, in the order of the mean, that cannot be told
    apart pairwise: the bars of a critical-difference diagram. A system that can be told apart from
    its neighbour, but not from one further off (whose differences to it vary more), is not in a
    group with the latter, as the neighbour between them would be in it too.

    Demsar, JMLR 2006, section 3.2.2.
    """
    n = apart.shape[0]
    later = np.triu(apart, 1)
    # The group that begins at i ends before the first system that differs from any from i on.
    first_apart = np.where(later.any(axis=1), later.argmax(axis=1), n)
    last = np.minimum.accumulate(first_apart[::-1])[::-1] - 1
    starts = np.flatnonzero(np.diff(last, prepend=-1) > 0)
    return np.column_stack([starts, last[starts]]).astype(np.int64)


def tiers(apart: Bools) -> tuple[str, ...]:
    """Return the tier of each system: the numbers of the groups that it is in.

    ``1``, ``2``, or ``1-2`` for a system of both. Two systems have a number in common exactly
    if no two can be told apart of them and those between them. Going down the order of the
    means neither number ever falls.
    """
    first, last = groups(apart).T
    system = np.arange(apart.shape[0])
    low = np.searchsorted(last, system) + 1
    high = np.searchsorted(first, system, side="right")
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return tuple(f"{one}" if one == other else f"{one}-{other}" for one, other in pairs)


def told_apart(
    block: Block, rows: Sequence[Comparison], plan: Plan, found: AllPairs | None = None
) -> Bools:
    """Return which runs of a block can be told apart.

    By the plan's own test if that is one of all pairs; by the plan's comparisons if these
    are of every pair; otherwise by :func:`paired_t_of_pairs`, corrected as the plan has it over
    the pairs of the block, besides the plan's comparisons. So no pair that the plan finds
    significant is left together.
    """
    if found is not None:
        return np.asarray(found.p <= plan.level)
    n_systems = len(block.runs)
    apart: Bools = np.zeros((n_systems, n_systems), dtype=bool)
    if len(rows) < math.comb(n_systems, 2):
        above = np.triu_indices(n_systems, 1)
        p = np.full((n_systems, n_systems), np.nan)
        p[np.ix_(block.valued, block.valued)] = paired_t_of_pairs(block.oriented[block.valued])
        apart[above] = adjust(p[above], plan.correction) <= plan.level
    place = {run: at for at, run in enumerate(block.runs)}
    for one in rows:
        if one.p_adjusted <= plan.level:
            apart[place[one.baseline], place[one.run]] = True
    apart |= apart.T
    return apart


def paired_t_of_pairs(values: Floats) -> Floats:
    """Return the two-sided p-value of the paired t-test of each pair of systems.

    ``t = mean / (s / sqrt(n))`` of the pair's own differences, so that a noisy system does not
    hide the differences between others, as the common variance of ``tukey`` does. It is
    :func:`harness.stats.paired_t.paired_t` for all pairs at once, and not corrected.
    """
    n_systems, n_queries = values.shape
    p = np.ones((n_systems, n_systems))
    if n_queries < 2:
        p[~np.eye(n_systems, dtype=bool)] = np.nan
        return p
    size = np.abs(values)
    for first in range(n_systems - 1):
        larger = np.maximum(size[first + 1 :], size[first])
        floor = np.minimum(larger.max(axis=1, keepdims=True), 1.0)
        noise = EPS * np.maximum(larger, floor)  # as that of differences, a pair a row
        p[first, first + 1 :] = _paired_t(values[first + 1 :] - values[first], noise)
        p[first + 1 :, first] = p[first, first + 1 :]
    return p


def _paired_t(differences: Floats, noise: Floats) -> Floats:
    """Return the p-value of each row; `noise` is how much of a difference may be rounding."""
    differences[np.abs(differences) <= noise] = 0.0
    n_queries = differences.shape[1]
    largest = np.abs(differences).max(axis=1, keepdims=True)
    # the difference that is known best, to see whether all of them are that one
    best = noise.argmin(axis=1)[:, None]
    known, error = (np.take_along_axis(one, best, axis=1) for one in (differences, noise))
    is_constant = (np.abs(differences - known) <= noise + error).all(axis=1)
    scaled = differences / np.where(largest > 0, largest, 1.0)  # or tiny squares would vanish
    deviation = scaled.std(axis=1, ddof=1)
    deviation[is_constant] = np.nan
    t = scaled.mean(axis=1) / (deviation / math.sqrt(n_queries))
    p = np.clip(2 * stdtr(n_queries - 1, -np.abs(t)), SMALLEST, 1.0)
    return np.where(largest[:, 0] == 0, 1.0, p)


def rank_intervals(
    values: Floats, level: float = 0.05, stream: Stream | None = None
) -> tuple[Ints, Ints]:
    """Return the first and last place of each system by its mean, by bootstrap over the queries.

    Queries are drawn with replacement, the same for all systems; each draw ranks their means.
    The interval is the narrowest with at most ``level / 2`` of the draws before `low` and as many
    after `high`.

    Hall and Miller, Annals of Statistics 2009. Such an interval is of one system at a time, and
    not about pairs: two systems whose intervals overlap may well differ on the same
    queries. Between systems that are equal in truth the bootstrap is too sure of their order.

    >>> low, high = rank_intervals(np.array([[0.2, 0.4, 0.1], [0.3, 0.3, 0.1], [0.9, 0.8, 0.9]]))
    >>> low.tolist(), high.tolist()
    ([2, 2, 1], [3, 3, 1])
    """
    n_systems = values.shape[0]
    # What is common to all goes first: one query's huge values would hide the others.
    order = np.lexsort(values.T)  # the draws must not depend on the order of the systems
    means = resampled_means(deviations(values[order]).T, stream or Stream())
    place = np.empty(means.shape, dtype=np.int64)
    place[:, order] = _resampled_places(means, tolerance(values[order]))
    place += np.arange(n_systems) * n_systems
    counts = np.bincount(place.ravel(), minlength=n_systems**2).reshape(n_systems, n_systems)
    reached = np.cumsum(counts, axis=1)
    # .29 * 100 is 28.999999999999996: the share of whole draws needs a tolerance too.
    outside = int(level / 2 * means.shape[0] * (1 + EPS))
    low = (reached > outside).argmax(axis=1) + 1
    high = (reached >= means.shape[0] - outside).argmax(axis=1) + 1
    return low, high


def _resampled_places(means: Floats, tolerances: Floats) -> Ints:
    """Return the place, from 0, of each column in each row; equal ones share the best.

    Neighbours are equal within the larger tolerance of the two columns.
    """
    order = np.argsort(-means, axis=1, kind="stable")
    ordered = np.take_along_axis(means, order, axis=1)
    is_new = np.ones(ordered.shape, dtype=bool)
    own = tolerances[order]
    is_new[:, 1:] = ordered[:, :-1] - ordered[:, 1:] > np.maximum(own[:, :-1], own[:, 1:])
    place = np.maximum.accumulate(np.where(is_new, np.arange(means.shape[1]), 0), axis=1)
    result = np.empty_like(place)
    np.put_along_axis(result, order, place, axis=1)
    return result


def standings_of(
    block: Block, rows: Sequence[Comparison], plan: Plan, found: AllPairs | None = None
) -> list[Standing]:
    """Return the standing of each run of a block."""
    standings = []
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
        standings.append(
            Standing(
                block.dataset, system.run, block.metric, defined.size, float(values[place]),
                *interval, int(places.rank[place]), int(places.low[place]),
                int(places.high[place]), tier[place], places.n,
            )
        )  # fmt: skip
    return standings


class _Places(NamedTuple):
    """Rank of each run and its interval, or 0; the number of queries."""

    rank: Ints
    low: Ints
    high: Ints
    n: int


def _places(block: Block, values: Floats, plan: Plan) -> _Places:
    """Return places over the queries that every run has a value for."""
    rank, low, high = np.zeros((3, values.size), dtype=np.int64)
    n_ranked = 0 if np.isnan(block.values).all() else int(block.complete.sum())
    found = _Places(rank, low, high, n_ranked)
    if not found.n:
        return found
    valued, oriented = block.valued, block.oriented[block.valued]
    compared = means(oriented)
    if not np.isnan(block.values[valued]).any():  # the summaries are of these queries too
        compared = block.metric.sign * values[valued]
    found.rank[valued] = ranks(compared)
    if found.n > 1:
        stream = replace(stream_of(plan, "ranks", block), draws=plan.rank_draws)
        first, last = rank_intervals(oriented, plan.level, stream)
        # a summary need not weigh all queries alike: parts of a dataset may count the same
        found.low[valued] = np.minimum(first, found.rank[valued])
        found.high[valued] = np.maximum(last, found.rank[valued])
    return found


def ranks(values: Floats) -> Ints:
    """Return the rank of each value, 1 the highest; equal ones share the best of theirs."""
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


WORKERS = 2
T = TypeVar("T")


def compare(systems: Sequence[System], plan: Plan, workers: int = WORKERS) -> Comparisons:
    """Compare the runs of each dataset with each other, or with baselines.

    Runs are paired by query; if a metric is undefined for one of two runs, the query is left
    out of their comparison, whose `n` says so. The values of repetitions (seeds) are averaged
    for each query first. A test of all pairs takes the queries for which every run of the
    dataset has a value.

    A dataset that a baseline was not run on is compared with the others of the baselines alone.
    """
    test = find(plan.test)
    _check_runs(systems, plan)
    blocks = list(blocks_of(systems, plan))
    if not blocks:
        raise HarnessError(Problem("compare", "no metric was evaluated that is a mean of better "
            "and worse values", fix="evaluate map or ndcg@10"))  # fmt: skip
    pairs = [list(pairs_of(block.runs, plan.baselines)) for block in blocks]
    several: list[AllPairs | None] = [None] * len(blocks)
    jobs: list[Callable[[], Comparison]] = []
    if test.kind == "all-pairs":
        several = [tested(block, plan, test) for block in blocks]
    for block, found, places in zip(blocks, several, pairs, strict=True):
        for baseline, run in places:
            if found is None:
                jobs.append(partial(paired, block, baseline, run, plan, test))
            else:
                jobs.append(partial(of_all_pairs, block, baseline, run, plan, found))
    if not any(pairs):
        raise HarnessError(Problem("compare", "no baseline shares a dataset with another run",
            fix="run the baselines on the datasets of the others"))  # fmt: skip
    drawn = test.random or plan.interval == "bca"
    rows = _done(jobs, workers if drawn else 1)
    if test.kind == "all-pairs":
        sizes = {
            family_of(block.dataset, block.metric, "metric"): math.comb(block.valued.size, 2)
            for block in blocks
        }
    else:
        rows, sizes = _corrected(rows, plan)
    ends = [0, *accumulate(map(len, pairs))]
    standings = _done(
        [
            partial(standings_of, block, rows[start:end], plan, found)
            for block, (start, end), found in zip(blocks, pairwise(ends), several, strict=True)
        ],
        workers,
    )
    overall = [
        _overall(block, found)
        for block, found in zip(blocks, several, strict=True)
        if found is not None
    ]
    return Comparisons(
        plan,
        tuple(rows),
        tuple(one for found in standings for one in found),
        tuple(sizes.items()),
        tuple(overall),
        test.title,
        test.sources,
        test.kind,
        drawn and any(one.may_be_drawn for one in rows),
        tuple(unanswered_of(systems)),
        tuple(_absent(systems, plan)),
    )


def _done(jobs: Sequence[Callable[[], T]], workers: int) -> list[T]:
    if workers < 2 or len(jobs) < 2:
        return [job() for job in jobs]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda job: job(), jobs))


def check_baselines(plan: Plan, runs: Sequence[str]) -> None:
    """Raise UnknownNameError if a baseline is not one of the runs."""
    for name in plan.baselines:
        check_known("run", name, runs, "baseline")


def _check_runs(systems: Sequence[System], plan: Plan) -> None:
    runs = tuple(dict.fromkeys(system.run for system in systems))
    check_baselines(plan, runs)
    counts: dict[str, int] = {}
    for system in systems:
        counts[system.dataset] = counts.get(system.dataset, 0) + 1
    if max(counts.values(), default=0) < 2:
        there = f"there is one run, {runs[0]}" if len(runs) == 1 else "no dataset has two runs"
        if not runs:
            there = "there is no run"
        fix = "name two runs or more on one dataset"
        raise HarnessError(Problem("compare", f"{there}; comparing takes two", fix=fix))


def _absent(systems: Sequence[System], plan: Plan) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each baseline that was not run on all datasets, with those it misses."""
    known = {(system.dataset, system.run) for system in systems}
    datasets = dict.fromkeys(system.dataset for system in systems)
    for baseline in plan.baselines:
        if missing := tuple(name for name in datasets if (name, baseline) not in known):
            yield baseline, missing


def _corrected(rows: Iterable[Comparison], plan: Plan) -> tuple[list[Comparison], dict[str, int]]:
    rows = list(rows)
    together: dict[str, list[int]] = {}
    for place, one in enumerate(rows):
        name = family_of(one.dataset, one.metric, plan.family)
        together.setdefault(name, []).append(place)
    sizes = {}
    for name, places in together.items():
        p = np.array([rows[place].p for place in places])
        sizes[name] = int((~np.isnan(p)).sum())
        for place, adjusted in zip(places, adjust(p, plan.correction).tolist(), strict=True):
            rows[place] = replace(rows[place], p_adjusted=adjusted)
    return rows, sizes


def _overall(block: Block, found: AllPairs) -> Overall:
    positions = found.positions
    if positions is None:
        positions = np.full(len(block.runs), math.nan)
    elif block.metric.sign < 0 and np.array_equal(positions, means(block.oriented), equal_nan=True):
        positions = 0.0 - positions  # no -0.0
    return Overall(
        block.dataset, block.metric, found.statistic, found.overall_p,
        found.critical_difference, tuple(zip(block.runs, positions.tolist(), strict=True)),
        found.statistic_name,
    )  # fmt: skip
