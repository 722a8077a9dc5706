"""Runs compared: systems and a plan -> comparisons of pairs, corrected by family, and standings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain, combinations
from typing import TypeVar

import numpy as np

from ..core.entries import System, grouped_by, notes_of
from ..core.evaluation import summarise
from ..core.ragged import Floats
from ..core.systems import check_distinct, unanswered_of
from ..errors import HarnessError, Problem
from ..progress import progress
from .comparison import (
    REFERENCE_RUNS,
    Comparison,
    Comparisons,
    Overall,
    Plan,
    check_baselines,
    family_of,
)
from .corrections import adjust
from .differences import differences, means
from .effects import detectable, effects
from .intervals import Interval, interval_of, method_of
from .paired_values import PairedValues, paired_values
from .registry import (
    NO_ANSWER,
    AllPairs,
    Outcome,
    Test,
    all_pairs_of,
    check_plan,
    check_weighted,
    find,
    outcome_of,
)
from .standings import standings_of

WORKERS = 2
T = TypeVar("T")


def compare(systems: Sequence[System], plan: Plan, workers: int = WORKERS) -> Comparisons:
    """Compare the runs of each dataset with each other, or with baselines.

    Runs are paired by query; if a metric is undefined for one of two runs, the query is left
    out of their comparison, and not in its `n`. The values of repetitions (seeds) are averaged
    for each query first. A test of all pairs takes the queries for which every run of the
    dataset has a value.

    A dataset without results of a baseline is compared with the other baselines only.
    If a dataset weights its queries, means are weighted, intervals and tests keep the weights, and
    effect sizes in standard deviations are NaN.
    """
    test = find(plan.test)
    check_plan(plan)
    _check_runs(systems, plan)
    weighted = {system.dataset: by for system in systems if (by := system.evaluation.weighted_by)}
    for dataset in weighted:
        check_weighted(plan.test, dataset)
    blocks = list(paired_values(systems, plan))
    if not blocks:
        what = "no metric was evaluated that is a mean of better and worse values"
        raise HarnessError(Problem("compare", what, fix="evaluate map or ndcg@10"))
    pairs = [(block, *pair) for block in blocks for pair in _pairs(block, plan)]
    if not pairs:
        fix = "run the baselines on the datasets of the others"
        what = "no baseline shares a dataset with another run"
        raise HarnessError(Problem("compare", what, fix=fix))
    averaged = _averaged(systems)
    titles = {block: f"{block.metric} on {block.dataset}" for block in blocks}
    several: dict[PairedValues, AllPairs] = {}
    if test.kind == "all-pairs":
        jobs_of_all = [partial(tested, block, plan, test) for block in blocks]
        results = _done(jobs_of_all, titles.values(), "test", workers)
        several = dict(zip(blocks, results, strict=True))
    drawn = test.random or bool(weighted) or plan.interval == "bca"
    jobs = [partial(_compared, *pair, plan, test, several.get(pair[0])) for pair in pairs]
    names = (f"{block.runs[run]}, {titles[block]}" for block, _, run in pairs)
    rows = _done(jobs, names, "pair", workers if drawn else 1)
    if test.kind == "all-pairs":
        sizes = {
            family_of(block.dataset, block.metric, "metric"): math.comb(block.valued.size, 2)
            for block in blocks
        }
    else:
        rows, sizes = corrected(rows, plan)
    of_block: dict[PairedValues, list[Comparison]] = {block: [] for block in blocks}
    for (block, *_), row in zip(pairs, rows, strict=True):
        of_block[block].append(row)
    ranked = [
        partial(standings_of, block.of_runs, of, plan, several.get(block))
        for block, of in of_block.items()
    ]
    standings = _done(ranked, map(titles.__getitem__, of_block), "ranking", workers)
    by_run = grouped_by(systems, lambda system: system.run)
    warned = {run: notes_of(entries)["warned"] for run, entries in by_run.items()}
    return Comparisons(
        plan=plan,
        rows=tuple(rows),
        standings=tuple(chain.from_iterable(standings)),
        family_sizes=tuple(sizes.items()),
        overall=tuple(_overall(block, pairs) for block, pairs in several.items()),
        title=test.title,
        sources=test.sources,
        kind=test.kind,
        drawn=drawn and any(row.may_be_drawn for row in rows),
        weighted=weighted,
        unanswered=tuple(unanswered_of(systems)),
        absent=tuple(_absent(systems, plan)),
        warned={run: rules for run, rules in warned.items() if rules},
        averaged=averaged,
    )


def _done(
    jobs: Sequence[Callable[[], T]], names: Iterable[str], unit: str, workers: int
) -> list[T]:
    """Return the results of jobs, with their names in a progress bar."""
    done = list[T]()
    with progress(len(jobs), unit) as begin, ThreadPoolExecutor(max(workers, 1)) as pool:
        in_order = map if workers < 2 or len(jobs) < 2 else pool.map
        results = iter(in_order(lambda job: job(), jobs))
        for name in names:
            begin(name)
            done.append(next(results))
    return done


def _check_runs(systems: Sequence[System], plan: Plan) -> None:
    runs = tuple(dict.fromkeys(system.run for system in systems))
    check_baselines(plan.baselines, runs)
    counts = Counter(system.dataset for system in systems)
    if max(counts.values(), default=0) < 2:
        runs_text = f"there is one run, {runs[0]}" if len(runs) == 1 else "no dataset has two runs"
        fix = "name two runs or more on one dataset"
        raise HarnessError(Problem("compare", f"{runs_text}; comparing takes two", fix=fix))


def _averaged(systems: Sequence[System]) -> tuple[str, ...]:
    """Return the averaged columns; AlignmentError if a query is in two parts of one."""
    names: dict[str, None] = {}
    by_dataset = {system.dataset: system for system in systems if not system.group}
    for dataset, system in by_dataset.items():
        for entry in system.entries:
            check_distinct(dataset, entry.parts)
            columns = (name for part in entry.parts for name in part.columns)
            names |= dict.fromkeys(name for name in columns if name not in entry.columns)
    return tuple(names)


def _absent(systems: Sequence[System], plan: Plan) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each baseline that was not run on all datasets, with those it misses."""
    present = {(system.dataset, system.run) for system in systems}
    datasets = dict.fromkeys(system.dataset for system in systems)
    for baseline in (name for name in plan.baselines if name not in REFERENCE_RUNS):
        if missing := tuple(name for name in datasets if (name, baseline) not in present):
            yield baseline, missing


def _pairs(block: PairedValues, plan: Plan) -> Iterator[tuple[int, int]]:
    """Yield the pairs of a block; a reference is the baseline of each of its pairs."""
    n = len(block.runs) - block.n_references
    for baseline, run in pairs_of(block.runs, plan.baselines):
        if run < n:
            yield baseline, run
        elif baseline < n:
            yield run, baseline


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


def tested(block: PairedValues, plan: Plan, test: Test) -> AllPairs:
    """Return the result of a test of all pairs on a block, with runs in order of their names.

    Runs without a value are left out of the test, and have no p.
    """
    order = block.valued[np.argsort(np.array(block.runs)[block.valued], kind="stable")]
    values = block.oriented[order]
    all_pairs = all_pairs_of(test, values, block.stream(plan, test.name), plan.level)
    n_systems = len(block.runs)

    def put(part: Floats) -> Floats:
        full = np.full([n_systems] * part.ndim, np.nan)
        full[np.ix_(*[order] * part.ndim)] = part
        return full

    low, high, positions = (
        None if part is None else put(part)
        for part in (all_pairs.low, all_pairs.high, all_pairs.positions)
    )
    return replace(all_pairs, p=put(all_pairs.p), low=low, high=high, positions=positions)


def _compared(
    block: PairedValues, baseline: int, run: int, plan: Plan, test: Test, all_pairs: AllPairs | None
) -> Comparison:
    """Compare two runs on the queries that both have a value for, or all runs of the test."""
    pair = block.values[[baseline, run]]
    both = ~np.isnan(pair).any(axis=0)
    if all_pairs is not None:
        both &= block.complete
    base, values = pair[:, both]
    difference = differences(values, base)
    n, names = difference.size, (block.runs[baseline], block.runs[run])
    weights = None if block.weights is None else block.weights[both]
    interval, p_adjusted = None, math.nan
    if all_pairs is None:
        outcome = outcome_of(test, difference, block.stream(plan, test.name, *names), weights)
    else:
        outcome = _of_all_pairs(all_pairs, difference, baseline, run)
        p_adjusted = outcome.p
        interval = _simultaneous(all_pairs, baseline, run, block.metric.sign)
    size = effects(difference, block.metric.definition.direction or "higher")
    varies = n > 1 and np.ptp(difference) > 0  # seven times .1 have a deviation of 1e-17
    spread = float(difference.std(ddof=1)) if varies else math.nan
    if weights is not None:  # a deviation of queries that count alike is not that of the mean
        size, spread = replace(size, d_z=math.nan, hedges_g=math.nan), math.nan
    low, high = interval or _interval(difference, weights, block, plan, *names)
    return Comparison(
        dataset=block.dataset,
        metric=block.metric,
        baseline=names[0],
        run=names[1],
        n=n,
        difference=summarise(difference, "mean", weights),
        baseline_value=summarise(base, "mean", weights),
        run_value=summarise(values, "mean", weights),
        low=low,
        high=high,
        interval="simultaneous" if interval else method_of(plan, weights),
        detectable=detectable(spread, n, plan.level),
        p_adjusted=p_adjusted,
        group=block.systems[0].group,
        **vars(outcome),
        **vars(size),
    )


def _of_all_pairs(all_pairs: AllPairs, difference: Floats, baseline: int, run: int) -> Outcome:
    p, note = float(all_pairs.p[run, baseline]), all_pairs.note
    if not difference.any():
        note = "identical" if difference.size else "n=0"
    if math.isnan(p):
        note = note or NO_ANSWER
    return Outcome(p, method=all_pairs.method, note=note, drawn=all_pairs.drawn)


def _simultaneous(all_pairs: AllPairs, baseline: int, run: int, sign: int) -> Interval | None:
    if all_pairs.low is None or all_pairs.high is None:
        return None
    low, high = float(all_pairs.low[run, baseline]), float(all_pairs.high[run, baseline])
    return (low, high) if sign > 0 else (-high, -low)


def _interval(
    difference: Floats,
    weights: Floats | None,
    block: PairedValues,
    plan: Plan,
    baseline: str,
    run: str,
) -> Interval:
    if difference.size > 1 and not difference.any():
        return 0.0, 0.0  # identical: p = 1
    stream = block.stream(plan, method_of(plan, weights), baseline, run)
    if baseline <= run:
        return interval_of(difference, plan, stream, weights)
    low, high = interval_of(
        -difference, plan, stream, weights
    )  # drawn for the other way round, and turned
    return -high, -low


def corrected(rows: Sequence[Comparison], plan: Plan) -> tuple[list[Comparison], dict[str, int]]:
    """Return comparisons with adjusted p-values, and the size of each family."""
    rows, sizes = list(rows), {}
    families = [family_of(row.dataset, row.metric, plan.corrected, row.group) for row in rows]
    for name, places in grouped_by(range(len(rows)), families.__getitem__).items():
        p = np.array([rows[place].p for place in places])
        sizes[name] = int((~np.isnan(p)).sum())
        for place, adjusted in zip(places, adjust(p, plan.correction).tolist(), strict=True):
            rows[place] = replace(rows[place], p_adjusted=adjusted)
    return rows, sizes


def _overall(block: PairedValues, all_pairs: AllPairs) -> Overall:
    positions = all_pairs.positions
    if positions is None:
        positions = np.full(len(block.runs), math.nan)
    elif block.metric.sign < 0 and np.array_equal(positions, means(block.oriented), equal_nan=True):
        positions = 0.0 - positions  # no -0.0
    numbers = all_pairs.statistic, all_pairs.overall_p, all_pairs.critical_difference
    places = tuple(zip(block.runs, positions.tolist(), strict=True))
    return Overall(block.dataset, block.metric, *numbers, places, all_pairs.statistic_name)
