"""Runs compared: systems and a plan -> comparisons, standings, families."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise
from typing import TypeVar

import numpy as np

from ..core.comparison import (
    Comparison,
    Comparisons,
    Overall,
    Plan,
    Standing,
    family_of,
)
from ..core.systems import System
from ..core.unanswered import unanswered_of
from ..errors import HarnessError, Problem, UnknownNameError, did_you_mean
from ..system import threads_of
from .blocks import Block, blocks_of
from .corrections import adjust
from .pairs import of_all_pairs, paired, pairs_of, tested
from .registry import AllPairs, find
from .several import means
from .standings import standings_of

WORKERS = 2
T = TypeVar("T")


def compare(systems: Sequence[System], plan: Plan, workers: int = WORKERS) -> Comparisons:
    """Compare the runs of each dataset with each other, or with baselines.

    Runs are paired by query; where a metric is undefined for one of two runs, the query is left
    out of their comparison, whose `n` says so. The values of repetitions (seeds) are averaged
    for each query first. A test of all pairs takes the queries for which every run of the
    dataset has a value.

    Parameters
    ----------
    systems : sequence of System
        Of one dataset or several; those of a dataset hold the same queries.
    plan : Plan
    workers : int
        Threads for what is drawn. The result is the same for any number of them.

    Returns
    -------
    Comparisons

    Raises
    ------
    AlignmentError
        Where runs of a dataset were evaluated on different queries, which it lists.
    UnknownNameError
        Where there is no such test, baseline or metric, or runs cannot be compared by it.
    HarnessError
        Where no dataset has two runs, or a test from outside fails.

    Notes
    -----
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
            family_of(block.dataset, block.metric, "metric"): _pairs(block) for block in blocks
        }
    else:
        rows, sizes = _corrected(rows, plan)
    ends = [0, *accumulate(map(len, pairs))]
    standings = _done(
        [
            partial(_standings, block, rows[start:end], plan, found)
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
    with threads_of(workers) as pool:
        return list(pool.map(lambda job: job(), jobs))


def _standings(
    block: Block, rows: Sequence[Comparison], plan: Plan, found: AllPairs | None
) -> list[Standing]:
    return list(standings_of(block, rows, plan, found))


def _check_runs(systems: Sequence[System], plan: Plan) -> None:
    runs = tuple(dict.fromkeys(system.run for system in systems))
    for name in plan.baselines:
        if name not in runs:
            near = did_you_mean(name, runs)
            raise UnknownNameError(
                f"there is no run '{name}' for a baseline{near}  (there are: {', '.join(runs)})"
            )
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
    """Yield each baseline that was not run on all datasets, with those it lacks."""
    known = {(system.dataset, system.run) for system in systems}
    datasets = dict.fromkeys(system.dataset for system in systems)
    for baseline in plan.baselines:
        if lacking := tuple(name for name in datasets if (name, baseline) not in known):
            yield baseline, lacking


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


def _pairs(block: Block) -> int:
    return math.comb(block.valued.size, 2)


def _overall(block: Block, found: AllPairs) -> Overall:
    positions = found.positions
    if positions is None:
        positions = np.full(len(block.runs), math.nan)
    elif block.metric.definition.direction == "lower" and np.array_equal(
        positions, means(block.oriented), equal_nan=True
    ):
        positions = 0.0 - positions  # no -0.0
    return Overall(
        block.dataset, block.metric, found.statistic, found.overall_p,
        found.critical_difference, tuple(zip(block.runs, positions.tolist(), strict=True)),
        found.statistic_name,
    )  # fmt: skip
