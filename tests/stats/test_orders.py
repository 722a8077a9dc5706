"""The same digits for any order of runs and queries, and any number of workers."""

from __future__ import annotations

import numpy as np
import pytest
from made_systems import entry, system

from harness.core.comparison import Comparisons, Plan
from harness.core.ragged import Floats
from harness.core.systems import System
from harness.stats.compare import compare
from harness.stats.registry import load_all

TESTS = sorted(load_all())
RNG = np.random.default_rng(11)
QIDS = [f"q{place}" for place in range(60)]
SHUFFLED = RNG.permutation(60)
VALUES = {
    "many": RNG.beta(1, 2, (4, 60)),
    "few": RNG.integers(0, 2, (4, 60)) / 1.0,  # drawn by value, not by query
}


def ordered(values: Floats, runs: str, queries: Floats) -> list[System]:
    names = [QIDS[place] for place in queries]
    return [system(run, values["dbca".index(run)][queries], qids=names) for run in runs]


def described(found: Comparisons) -> dict[object, tuple[object, ...]]:
    rows: dict[object, tuple[object, ...]] = {}
    for one in found.rows:
        turned = one.baseline > one.run
        low, high = (-one.high, -one.low) if turned else (one.low, one.high)
        pair = (*sorted([one.baseline, one.run]),)
        rows[pair] = (one.p, one.p_adjusted, low, high, -one.d_z if turned else one.d_z)
    for place in found.standings:
        rows[place.run] = (place.low, place.high, place.rank_low, place.rank_high, place.tier)
    for whole in found.overall:
        rows["all"] = (whole.statistic, whole.p, whole.critical_difference, {*whole.positions})
    return rows


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("interval", ["t", "bca"])
@pytest.mark.parametrize("test", TESTS)
def test_runs_and_queries_in_any_order(test: str, interval: str, values: str) -> None:
    plan = Plan(test=test, interval=interval, draws=500)
    straight = compare(ordered(VALUES[values], "abcd", np.arange(60)), plan)
    expected = described(straight)
    for runs in ("dcba", "badc"):
        again = compare(ordered(VALUES[values], runs, SHUFFLED), plan, workers=1)
        assert described(again) == expected


def test_queries_of_repetitions_in_any_order() -> None:
    def seeds(queries: Floats) -> System:
        names = [QIDS[place] for place in queries]
        return System("trec", "a", tuple(
            entry("a", row[queries], qids=names) for row in VALUES["many"]
        ))  # fmt: skip

    found = [
        compare([seeds(order), system("b", VALUES["few"][0], qids=QIDS)], Plan(draws=500))
        for order in (np.arange(60), SHUFFLED)
    ]
    assert described(found[0]) == described(found[1])
