"""Systems and a plan -> comparisons: pairing, baselines, families, standings, named outcomes."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from command_line import succeeds
from made_systems import EXPECTED, GOLDEN_SYSTEMS, of_pairs, system, systems

from harness.core.entries import System
from harness.core.ragged import Floats
from harness.errors import HarnessError
from harness.reports.comparisons import standing_notes
from harness.stats import registry
from harness.stats.compare import compare
from harness.stats.comparison import Comparison, Comparisons, Plan, Standing
from harness.stats.registry import AllPairs

TESTS = sorted(registry.load_all())


@pytest.fixture(autouse=True)
def _known_tests() -> Iterator[None]:
    before = dict(registry.TESTS)
    yield
    registry.TESTS.clear()
    registry.TESTS.update(before)


def ps(found: Comparisons) -> list[float]:
    return [one.p for one in found.rows]


def one_of(found: Comparisons) -> Comparison:
    (row,) = found.rows
    return row


def test_all_pairs_of_the_golden_systems() -> None:
    found = compare(GOLDEN_SYSTEMS, Plan(correction="none"))
    assert [f"{one.baseline[1]}-{one.run[1]}" for one in found.rows] == EXPECTED["pairs"]
    assert ps(found) == pytest.approx(EXPECTED["paired_t_raw"], rel=1e-10)
    for one, (lost, tied, won) in zip(found.rows, of_pairs(EXPECTED["win_tie_loss"]), strict=True):
        assert (one.wins, one.ties, one.losses) == (won, tied, lost)
        assert one.cliffs_delta == (won - lost) / 30
        assert one.n == 30


def test_queries_are_paired_by_qid() -> None:
    a = system("a", [0.1, 0.2, 0.3, 0.9], qids=["1", "2", "3", "4"])
    b = system("b", [0.9, 0.4, 0.1, 0.3], qids=["4", "3", "1", "2"])
    # by qid: 0, +.1, +.1, 0
    row = one_of(compare([a, b], Plan()))
    assert (row.wins, row.ties, row.losses) == (2, 2, 0)
    assert row.difference == pytest.approx(0.05)


def test_undefined_queries_are_left_out_of_a_pair() -> None:
    nan = math.nan
    found = compare(
        systems({"a": [0.1, 0.2, 0.3, nan], "b": [0.2, nan, 0.5, 0.1], "c": [0.3, 0.3, 0.2, 0.1]}),
        Plan(),
    )
    assert [(one.baseline, one.run, one.n) for one in found.rows] == [
        ("a", "b", 2), ("a", "c", 3), ("b", "c", 3),
    ]  # fmt: skip
    # a to b: +.1, +.2 on queries 0 and 2, where a is .1 and .3
    first = found.rows[0]
    assert first.difference == pytest.approx(0.15)
    assert (first.baseline_value, first.run_value) == pytest.approx((0.2, 0.35))
    assert found.standing("trec", "map", "a").n == 3  # type: ignore[union-attr]
    # a test of all pairs takes queries 0 and 2, which all have
    every = compare([*systems({"a": [0.1, 0.2, 0.3, nan], "b": [0.2, nan, 0.5, 0.1]}),
                     system("c", [0.3, 0.3, 0.2, 0.1])], Plan(test="tukey"))  # fmt: skip
    assert [one.n for one in every.rows] == [2, 2, 2]
    assert every.rows[1].difference == pytest.approx((0.3 + 0.2 - 0.1 - 0.3) / 2)


def test_lower_can_be_better() -> None:
    found = compare(
        systems({"a": [3.0, 5.0, 4.0, 6.0], "b": [2.0, 4.0, 3.5, 6.0]}, metrics=("arp",)),
        Plan(test="tukey"),
    )
    row = one_of(found)
    assert row.difference == pytest.approx(-0.625)
    assert row.low < row.difference < row.high
    assert row.is_better
    assert (row.wins, row.ties, row.losses, row.cliffs_delta) == (3, 1, 0, 0.75)
    assert [(one.run, one.rank) for one in found.standings] == [("a", 2), ("b", 1)]
    assert dict(found.overall[0].positions) == pytest.approx({"a": 4.5, "b": 3.875})


ABC = {"a": [0.1, 0.2, 0.4], "b": [0.2, 0.2, 0.5], "c": [0.4, 0.1, 0.7]}


def test_families() -> None:
    rng = np.random.default_rng(1)
    both = [
        system(run, rng.random((2, 20)).tolist(), ("map", "P@5"), dataset)
        for dataset in ("trec", "web")
        for run in "abc"
    ]
    raw = compare(both, Plan(("a",), correction="bonferroni"))
    sizes = {
        "table": [("table", 8)],
        "dataset": [("trec", 4), ("web", 4)],
        "metric": [("map on trec", 2), ("P@5 on trec", 2), ("map on web", 2), ("P@5 on web", 2)],
    }
    for family, expected in sizes.items():
        found = compare(both, Plan(("a",), correction="bonferroni", family=family))  # type: ignore[arg-type]
        assert list(found.family_sizes) == expected
        times = expected[0][1]
        adjusted = [min(1.0, times * p) for p in ps(raw)]
        assert [one.p_adjusted for one in found.rows] == pytest.approx(adjusted)
        assert found.family(found.rows[0]) == expected[0]


@pytest.mark.parametrize("test", [name for name in TESTS if registry.TESTS[name].random])
@pytest.mark.parametrize("interval", ["t", "bca"])
def test_the_same_p_for_any_number_of_workers(test: str, interval: Any) -> None:
    rng = np.random.default_rng(5)
    made = systems({run: rng.random(60).tolist() for run in "abcdef"})
    plan = Plan(("a",), test=test, draws=999, interval=interval)
    one, four = compare(made, plan, workers=1), compare(made, plan, workers=4)
    assert repr(one.rows) == repr(four.rows)  # from Python 3.13 on nan in a row equals no other
    assert repr(one.standings) == repr(four.standings)
    assert repr(compare(made, replace(plan, seed=1)).rows) != repr(one.rows)


def test_standings() -> None:
    found = compare(GOLDEN_SYSTEMS, Plan())
    by_run = {one.run: one for one in found.standings}
    assert {run: one.rank for run, one in by_run.items()} == {
        "s5": 1, "s4": 2, "s3": 3, "s1": 4, "s2": 5, "s0": 6,
    }  # fmt: skip
    # Holm's p at most .05, of the pairs above: 0-4, 1-4, 2-4, 3-4, and 0-5, 1-5, 2-5, 3-5
    assert {run: one.tier for run, one in by_run.items()} == {
        "s5": "1", "s4": "1", "s3": "2", "s1": "2", "s2": "2", "s0": "2",
    }  # fmt: skip
    for one in by_run.values():
        assert one.rank_low <= one.rank <= one.rank_high
        assert one.low < one.value < one.high
    # tiers by the randomised test, whose p of 1-4 is .07 and 3-4 .09: s1 and s3 reach into both
    drawn = compare(GOLDEN_SYSTEMS, Plan(test="randomized-tukey"))
    tiers = {one.run: one.tier for one in drawn.standings}
    assert tiers["s5"] == "1"
    assert tiers["s0"] == "3"
    assert found.standing("trec", "map", "s6") is None


def test_a_callable_of_a_plugin() -> None:
    @registry.paired_test("half", title="a test that always says .5")
    def half(differences: Any, stream: Any) -> Any:
        return 0.5

    found = compare(systems(ABC), Plan(("a",), test="half", correction="none"))
    assert ps(found) == [0.5, 0.5]
    assert found.title == "a test that always says .5"


def test_a_plugins_test_of_all_pairs() -> None:
    @registry.all_pairs_test("same", title="all are the same")
    def same(values: Any, stream: Any, level: float) -> AllPairs:
        return AllPairs(np.ones((len(values), len(values))), method="by decree")

    found = compare(systems(ABC), Plan(test="same"))
    assert ps(found) == [1.0, 1.0, 1.0]
    assert {one.method for one in found.rows} == {"by decree"}
    assert {one.tier for one in found.standings} == {"1"}


RNG = np.random.default_rng(11)
QIDS = [f"q{place}" for place in range(60)]
SHUFFLED = RNG.permutation(60)
DRAWN = {
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


@pytest.mark.parametrize("values", DRAWN)
@pytest.mark.parametrize("interval", ["t", "bca"])
@pytest.mark.parametrize("test", TESTS)
def test_runs_and_queries_in_any_order(test: str, interval: str, values: str) -> None:
    plan = Plan(test=test, interval=interval, draws=500)
    straight = compare(ordered(DRAWN[values], "abcd", np.arange(60)), plan)
    expected = described(straight)
    for runs in ("dcba", "badc"):
        again = compare(ordered(DRAWN[values], runs, SHUFFLED), plan, workers=1)
        assert described(again) == expected


def test_the_help_of_compare_lists_each_test_once() -> None:
    text = " ".join(succeeds("compare", "--help").split())
    names = text.partition("--test takes ")[2].partition(" compare all pairs")[0].split()
    assert sorted(name for name in (name.strip(",;") for name in names) if name in TESTS) == TESTS


def test_an_infinite_value_is_an_error_that_names_the_queries() -> None:
    inf = np.inf
    found = systems({"a": [0.1, inf, 0.3, -inf], "b": [0.2, 0.5, 0.3, 0.35], "c": [inf] + 3 * [0]})
    for test in TESTS:
        with pytest.raises(HarnessError) as caught:
            compare(found, Plan(test=test))
        assert str(caught.value) == (
            "a on trec: map is infinite on q1, q3: no mean to compare\n"
            "c on trec: map is infinite on q0: no mean to compare\n"
            "  fix:   repair the scores, or name the metrics to compare without it"
        )


NAN = math.nan


def by_run(found: Comparisons) -> dict[str, Standing]:
    return {one.run: one for one in found.standings}


def test_ranks_are_over_the_queries_that_all_have() -> None:
    # a has .9 on two queries only; on these b and c have 1 and .8, though their means are lower
    found = compare(
        systems({"a": [0.9, 0.9, NAN, NAN], "b": [1.0, 1.0, 0.0, 0.2], "c": [0.8, 0.7, 0.6, 0.6]}),
        Plan(),
    )
    standings = by_run(found)
    assert {run: one.rank for run, one in standings.items()} == {"b": 1, "a": 2, "c": 3}
    assert {run: (one.n, one.n_ranked) for run, one in standings.items()} == {
        "a": (2, 2), "b": (4, 2), "c": (4, 2),
    }  # fmt: skip
    assert standings["b"].value == pytest.approx(0.55)
    assert standing_notes(found)[-1] == (
        "Tiers and ranks use the queries for which every run has a value."
    )
