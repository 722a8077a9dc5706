"""Blocks: the values of all runs by one metric on one dataset, paired by query."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
import pyarrow as pa

from ..core.arrow import call, select, to_numpy
from ..core.leaderboard import grouped_by
from ..core.metric import Metric
from ..core.ragged import Bools, Floats, Ints, frozen
from ..core.systems import SHOWN, System, compared, query_mismatch
from ..errors import AlignmentError, HarnessError, Problem
from .comparison import Comparison, Plan
from .differences import deviation, differences
from .effects import detectable, effects
from .intervals import Interval, bca_interval, t_interval
from .registry import NO_ANSWER, AllPairs, Stream, Test, all_pairs_of, outcome_of


@dataclass(frozen=True, eq=False)
class Block:
    """Values of runs x queries, ``(n_systems, n_queries)``; NaN if a run has no value for one.

    `qids` name the columns, sorted by name, so that results do not depend on the qrels' order.
    """

    dataset: str
    metric: Metric
    systems: tuple[System, ...]
    qids: pa.Array
    values: Floats

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs, a row each."""
        return tuple(system.run for system in self.systems)

    @cached_property
    def valued(self) -> Ints:
        """Rows of the runs that have a value for any query; all rows if none has."""
        has = ~np.isnan(self.values).all(axis=1)
        return np.flatnonzero(has if has.any() else ~has)

    @cached_property
    def complete(self) -> Bools:
        """Which queries every run has a value for, but runs that have none, ``(n_queries,)``."""
        found: Bools = np.isnan(self.values[self.valued]).sum(axis=0) == 0
        return found

    @cached_property
    def oriented(self) -> Floats:
        """Values of the complete queries, higher the better, ``(n_systems, n_complete)``.

        The rows that are not in :attr:`valued` are NaN.
        """
        kept = self.values[:, self.complete]
        return frozen(-kept if self.metric.sign < 0 else kept)


def blocks_of(systems: Sequence[System], plan: Plan) -> Iterator[Block]:
    """Yield a block for each dataset and metric compared, in order."""
    together = grouped_by(systems, lambda system: system.dataset)
    orders = {dataset: _orders(found) for dataset, found in together.items()}
    for dataset, found in together.items():
        known = found[0].metrics
        qids = _qids(found[0]).take(orders[dataset][0])
        for other in found[1:]:
            names = set(map(str, other.metrics))
            known = tuple(one for one in known if str(one) in names)
        for metric in compared(known, plan.metrics):
            rows = [
                system.values(metric)[to_numpy(order)]  # numpy's own way would load pandas
                for system, order in zip(found, orders[dataset], strict=True)
            ]
            values = np.array(rows)
            if np.isinf(values).any():
                raise HarnessError(_infinite(found, metric, values, qids))
            if metric.settings.undefined == "zero":
                values = np.nan_to_num(values, nan=0.0)
            yield Block(dataset, metric, tuple(found), qids, frozen(values))


def _orders(systems: Sequence[System]) -> list[pa.Array]:
    """Return how each system's queries come into the order of their names."""
    first = _qids(systems[0])
    expected = call("array_sort_indices", first)
    orders: list[pa.Array] = []
    problems: list[Problem] = []
    for system in systems:
        qids = _qids(system)
        same = qids.equals(first)
        orders.append(expected if same else call("array_sort_indices", qids))
        if not same and qids.take(orders[-1]).to_pylist() != first.take(expected).to_pylist():
            problems.append(query_mismatch(_name(system), first.to_pylist(), qids.to_pylist()))
    if problems:
        raise AlignmentError(problems)
    return orders


def _infinite(
    systems: Sequence[System], metric: Metric, values: Floats, qids: pa.Array
) -> list[Problem]:
    problems = []
    for system, row in zip(systems, values, strict=True):
        bad = select(qids, np.isinf(row)).to_pylist()
        if bad:
            more = f" and {len(bad) - SHOWN} more" * (len(bad) > SHOWN)
            what = f"{metric} is infinite on {', '.join(bad[:SHOWN])}{more}: no mean to compare"
            fix = "repair the scores, or name the metrics to compare without it"
            problems.append(Problem(_name(system), what, fix=fix))
    return problems


def _name(system: System) -> str:
    return " on ".join(filter(None, (system.run, system.dataset)))


def _qids(system: System) -> pa.Array:
    return system.entries[0].evaluation.qids


def pairs_of(runs: Sequence[str], baselines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield (baseline, run) by their places: every run against each baseline.

    Without baselines it is every pair, the first one being the baseline. Two
    baselines are compared with each other once, the first named being the baseline.
    """
    if not baselines:
        yield from combinations(range(len(runs)), 2)
        return
    done: list[int] = []
    for name in dict.fromkeys(baselines):
        if name not in runs:
            continue
        baseline = runs.index(name)
        done.append(baseline)
        yield from ((baseline, run) for run in range(len(runs)) if run not in done)


def paired(block: Block, baseline: int, run: int, plan: Plan, test: Test) -> Comparison:
    """Compare two runs by a paired test, on the queries that both have a value for."""
    both = ~np.isnan(block.values[baseline]) & ~np.isnan(block.values[run])
    base, values = block.values[baseline][both], block.values[run][both]
    difference = differences(values, base)
    stream = stream_of(plan, test.name, block, block.runs[baseline], block.runs[run])
    outcome = outcome_of(test, difference, stream)
    return _comparison(
        block, baseline, run, plan, base, values, difference,
        p=outcome.p, statistic=outcome.statistic, method=outcome.method, note=outcome.note,
    )  # fmt: skip


def tested(block: Block, plan: Plan, test: Test) -> AllPairs:
    """Return what a test of all pairs says of a block; it is given the runs by name.

    Runs that have no value at all are left out of the test, and have no p.
    """
    order = block.valued[np.argsort(np.array(block.runs)[block.valued], kind="stable")]
    values = block.oriented[order]
    found = all_pairs_of(test, values, stream_of(plan, test.name, block), plan.level)
    n_systems = len(block.runs)

    def put(given: Floats) -> Floats:
        full = np.full([n_systems] * given.ndim, np.nan)
        full[np.ix_(*[order] * given.ndim)] = given
        return full

    low, high, positions = (
        None if one is None else put(one) for one in (found.low, found.high, found.positions)
    )
    return replace(found, p=put(found.p), low=low, high=high, positions=positions)


def of_all_pairs(block: Block, baseline: int, run: int, plan: Plan, found: AllPairs) -> Comparison:
    """Take two runs out of a test of all pairs, on the queries that all runs have a value for."""
    pair = block.values[[baseline, run]]
    both = block.complete & ~np.isnan(pair).any(axis=0)
    base, values = pair[:, both]
    difference = differences(values, base)
    p = float(found.p[run, baseline])
    note = found.note if difference.size else "n=0"
    if difference.size and not difference.any():
        note = "identical"
    if math.isnan(p):
        note = note or NO_ANSWER
    interval = None
    if found.low is not None and found.high is not None:
        interval = float(found.low[run, baseline]), float(found.high[run, baseline])
        if block.metric.sign < 0:
            interval = -interval[1], -interval[0]
    return _comparison(
        block, baseline, run, plan, base, values, difference, interval,
        p=p, p_adjusted=p, method=found.method, note=note,
    )  # fmt: skip


def interval_of(values: Floats, plan: Plan, stream: Stream) -> Interval:
    """Return the interval of a mean over queries, as the plan has it."""
    if plan.interval == "bca":
        return bca_interval(values, plan.level, stream)
    return t_interval(values, plan.level)


def stream_of(plan: Plan, what: str, block: Block, *runs: str) -> Stream:
    """Return the random numbers for one purpose, which depend on names alone.

    Which of two runs is the baseline does not matter.
    """
    names = (what, block.dataset, str(block.metric), *sorted(runs))
    return Stream(names, plan.seed, plan.draws)


def _comparison(
    block: Block, baseline: int, run: int, plan: Plan, base: Floats, values: Floats,
    difference: Floats, interval: Interval | None = None, **outcome: float | str,
) -> Comparison:  # fmt: skip
    n, names = difference.size, (block.runs[baseline], block.runs[run])
    how = "simultaneous"
    if interval is None:
        how = plan.interval
        interval = _interval(difference, block, plan, *names)
    size = effects(difference, block.metric.definition.direction or "higher")
    varies = n > 1 and np.ptp(difference) > 0  # seven times .1 have a deviation of 1e-17
    spread = deviation(difference) if varies else math.nan
    return Comparison(
        block.dataset, block.metric, *names, n,
        difference=_mean(difference),
        baseline_value=_mean(base),
        run_value=_mean(values),
        low=interval[0],
        high=interval[1],
        interval=how,
        detectable=detectable(spread, n, plan.level),
        **vars(size) | outcome,
    )  # fmt: skip


def _interval(difference: Floats, block: Block, plan: Plan, baseline: str, run: str) -> Interval:
    if difference.size > 1 and not difference.any():
        return 0.0, 0.0  # identical: p = 1
    stream = stream_of(plan, plan.interval, block, baseline, run)
    if baseline <= run:
        return interval_of(difference, plan, stream)
    low, high = interval_of(-difference, plan, stream)  # drawn for the other way round, and turned
    return -high, -low


def _mean(values: Floats) -> float:
    return math.fsum(values.tolist()) / values.size if values.size else math.nan
