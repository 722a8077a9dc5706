"""Systems and a plan -> comparisons: pairing, baselines, families, standings, named outcomes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_systems import entry, system, systems
from several_values import EXPECTED, VALUES, of_pairs

from harness.core.comparison import Comparison, Comparisons, Plan
from harness.core.names import parse
from harness.core.systems import System
from harness.errors import AlignmentError, HarnessError, UnknownNameError
from harness.stats import registry
from harness.stats.compare import compare
from harness.stats.registry import AllPairs, Outcome

GOLDEN = systems({f"s{place}": row for place, row in enumerate(VALUES)})
SAMPLES: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "golden" / "significance.json").read_text(encoding="utf-8")
)["samples"]
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


# Golden values, end to end


def test_all_pairs_of_the_golden_systems() -> None:
    found = compare(GOLDEN, Plan(correction="none"))
    assert [f"{one.baseline[1]}-{one.run[1]}" for one in found.rows] == EXPECTED["pairs"]
    assert ps(found) == pytest.approx(EXPECTED["paired_t_raw"], rel=1e-10)
    for one, (lost, tied, won) in zip(found.rows, of_pairs(EXPECTED["win_tie_loss"]), strict=True):
        assert (one.wins, one.ties, one.losses) == (won, tied, lost)
        assert one.cliffs_delta == (won - lost) / 30
        assert one.n == 30


@pytest.mark.parametrize(
    ("correction", "golden"),
    [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh"), ("by", "fdr_by")],
)
def test_corrections_of_the_golden_systems(correction: Any, golden: str) -> None:
    found = compare(GOLDEN, Plan(correction=correction))
    expected = EXPECTED["corrections"][golden]["adjusted"]
    assert [one.p_adjusted for one in found.rows] == pytest.approx(expected, rel=1e-9)
    assert found.family_sizes == (("table", 15),)


def test_tukey_of_the_golden_systems() -> None:
    found = compare(GOLDEN, Plan(test="tukey"))
    golden = of_pairs(EXPECTED["tukey_two_way_R"])
    for one, expected in zip(found.rows, golden, strict=True):
        assert one.difference == pytest.approx(expected["diff_j_minus_i"], rel=1e-10)
        assert (one.low, one.high) == pytest.approx((expected["lwr"], expected["upr"]), rel=1e-7)
        assert one.p == one.p_adjusted == pytest.approx(expected["p"], abs=1e-8)
        assert one.interval == "simultaneous"
    (overall,) = found.overall
    assert overall.statistic == pytest.approx(EXPECTED["anova2"]["F"][0], rel=1e-10)
    assert overall.p == pytest.approx(EXPECTED["anova2"]["p"][0], rel=1e-9)
    assert overall.critical_difference == pytest.approx(EXPECTED["tukey_critical_difference_05"])
    assert dict(overall.positions)["s5"] == pytest.approx(VALUES[5].mean())
    assert found.family_sizes == (("map on trec", 15),)
    assert found.family(found.rows[0]) == ("map on trec", 15)


def test_friedman_of_the_golden_systems() -> None:
    found = compare(GOLDEN, Plan(test="friedman-nemenyi"))
    assert ps(found) == pytest.approx(of_pairs(EXPECTED["nemenyi"]["p"]), rel=1e-6)
    (overall,) = found.overall
    ranks = [place for _, place in overall.positions]
    assert ranks == pytest.approx(EXPECTED["friedman"]["average_ranks_1_is_best"])
    assert one_interval(found) == "t"


def one_interval(found: Comparisons) -> str:
    (how,) = {one.interval for one in found.rows}
    return how


@pytest.mark.parametrize(
    ("test", "sample", "where"),
    [
        ("paired-t", "n25_ndcg", ("t", "p", "two-sided")),
        ("randomization", "sakai_table5_1_Y_vs_X", ("randomisation", "exact", "two_sided")),
        ("randomization", "n25_ndcg", ("randomisation", "exact", "two_sided")),
        ("randomization", "n50_rr", ("randomisation", "exact", "two_sided")),
        ("wilcoxon", "sakai_table5_1_Y_vs_X", ("wilcoxon", "wilcox", "exact_two_sided")),
        ("sign", "n50_rr", ("sign", "p_ties_dropped", "two-sided")),
    ],
)
def test_golden_samples(test: str, sample: str, where: tuple[str, ...]) -> None:
    golden = SAMPLES[sample]
    expected = golden["expected"]
    for key in where:
        expected = expected[key]
    found = compare(systems({"a": golden["a"], "b": golden["b"]}), Plan(test=test))
    row = one_of(found)
    assert row.p == row.p_adjusted == pytest.approx(expected, rel=1e-10)
    effect = golden["expected"]["effect"]
    assert row.difference == pytest.approx(effect["mean_diff"], rel=1e-12)
    assert row.d_z == pytest.approx(effect["d_z"], rel=1e-12)


# Pairing


def test_queries_are_paired_by_qid() -> None:
    a = system("a", [0.1, 0.2, 0.3, 0.9], qids=["1", "2", "3", "4"])
    b = system("b", [0.9, 0.4, 0.1, 0.3], qids=["4", "3", "1", "2"])
    # by qid: 0, +.1, +.1, 0
    row = one_of(compare([a, b], Plan()))
    assert (row.wins, row.ties, row.losses) == (2, 2, 0)
    assert row.difference == pytest.approx(0.05)


def test_other_queries_are_listed() -> None:
    a = system("a", [0.1, 0.2], qids=["1", "2"])
    b = system("b", [0.1, 0.2], qids=["1", "3"])
    c = system("c", [0.1], qids=["1"])
    with pytest.raises(AlignmentError) as caught:
        compare([a, b, c], Plan())
    assert [str(problem).splitlines()[0] for problem in caught.value.problems] == [
        "b on trec: was evaluated on other queries: 2 lacking; 3 not expected",
        "c on trec: was evaluated on other queries: 2 lacking",
    ]


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


def test_undefined_values_that_count_as_0() -> None:
    metrics = ("ndcg(undefined=zero)@10",)
    found = compare(systems({"a": [math.nan, 0.5, 0.5], "b": [0.25, 0.5, 1.0]}, metrics=metrics),
                    Plan())  # fmt: skip
    # +.25, 0, +.5
    assert one_of(found).n == 3
    assert one_of(found).difference == pytest.approx(0.25)


def test_repetitions_are_averaged_for_each_query_first() -> None:
    seeds = (entry("a", [0.2, 0.4, 0.6]), entry("a", [0.4, 0.4, 0.8]))
    # means .3, .4, .7 against .1, .4, .2: +.2, 0, +.5
    found = compare([system("b", [0.1, 0.4, 0.2]), System("trec", "a", seeds)], Plan())
    row = one_of(found)
    assert (row.n, row.wins, row.ties) == (3, 2, 1)
    assert row.difference == pytest.approx(0.7 / 3)


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


def test_a_mean_of_0_has_no_sign() -> None:
    found = compare(
        systems({"a": [0.0, 0.0, 0.0], "b": [1.0, 0.0, 2.0]}, metrics=("swaps",)),
        Plan(test="tukey"),
    )
    assert str(dict(found.overall[0].positions)["a"]) == "0.0"


# Baselines and families


def named(found: Comparisons) -> list[str]:
    return [f"{one.dataset} {one.metric} {one.run}-{one.baseline}" for one in found.rows]


ABC = {"a": [0.1, 0.2, 0.4], "b": [0.2, 0.2, 0.5], "c": [0.4, 0.1, 0.7]}


def test_no_baseline_is_every_pair() -> None:
    assert named(compare(systems(ABC), Plan())) == [
        "trec map b-a", "trec map c-a", "trec map c-b",
    ]  # fmt: skip


def test_one_baseline() -> None:
    assert named(compare(systems(ABC), Plan(("b",)))) == ["trec map a-b", "trec map c-b"]


@pytest.mark.parametrize("baselines", [("b", "a"), ("b", "a", "b")])
def test_two_baselines_are_compared_with_each_other_once(baselines: tuple[str, ...]) -> None:
    found = compare(systems(ABC), Plan(baselines))
    assert named(found) == ["trec map a-b", "trec map c-b", "trec map c-a"]
    assert found.family_sizes == (("table", 3),)


def test_a_baseline_that_a_dataset_lacks() -> None:
    found = compare([*systems(ABC), *systems({"a": [0.1, 0.2], "d": [0.3, 0.1]}, dataset="web")],
                    Plan(("c", "a")))  # type: ignore[arg-type] # fmt: skip
    assert named(found) == ["trec map a-c", "trec map b-c", "trec map b-a", "web map d-a"]


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


# Named outcomes: the traps


@pytest.mark.parametrize("test", TESTS)
def test_identical_runs_have_p_1_and_spoil_no_other(test: str) -> None:
    rng = np.random.default_rng(3)
    base = rng.random(20)
    better = base + 0.2 + rng.random(20) / 10
    found = compare(systems({"a": base.tolist(), "same": base.tolist(), "b": better.tolist()}),
                    Plan(("a",), test=test, draws=999))  # fmt: skip
    same, other = found.rows
    assert (same.p, same.p_adjusted, same.difference, same.note) == (1.0, 1.0, 0.0, "identical")
    assert (same.low, same.high) == (0.0, 0.0) or found.kind == "all-pairs"
    assert (same.d_z, same.ties) == (0.0, 20)
    assert other.p_adjusted < 0.01
    assert found.is_significant(other)
    assert not found.is_significant(same)


def test_equal_but_for_floating_point_is_identical() -> None:
    row = one_of(compare(systems({"a": [0.3, 0.7, 0.1], "b": [0.1 + 0.2, 0.7, 0.1]}), Plan()))
    assert (row.note, row.p, row.difference, row.ties) == ("identical", 1.0, 0.0, 3)


@pytest.mark.parametrize("test", TESTS)
def test_one_query_is_a_named_outcome(test: str) -> None:
    found = compare(systems({"a": [0.1], "b": [0.3], "c": [0.2]}), Plan(test=test))
    for one in found.rows:
        assert (one.n, one.note) == (1, "n=1")
        assert math.isnan(one.p)
        assert math.isnan(one.p_adjusted)
        assert math.isnan(one.low)
        assert not found.is_significant(one)
    assert [one.rank for one in found.standings] == [3, 1, 2]
    assert [one.tier for one in found.standings] == ["", "", ""]


@pytest.mark.parametrize("test", TESTS)
def test_no_query_in_common(test: str) -> None:
    nan = math.nan
    found = compare(systems({"a": [0.1, nan], "b": [nan, 0.3]}), Plan(test=test))
    row = one_of(found)
    assert (row.n, row.note) == (0, "n=0")
    assert math.isnan(row.difference)
    assert math.isnan(row.p)


def test_a_comparison_without_an_answer_counts_in_no_family() -> None:
    found = compare(systems({"a": [0.1, 0.2, 0.4], "shift": [0.2, 0.3, 0.5], "b": [0.4, 0.1, 0.7]}),
                    Plan(("a",), correction="bonferroni"))  # fmt: skip
    shift, other = found.rows
    assert shift.note == "zero variance"
    assert math.isnan(shift.p_adjusted)
    assert found.family_sizes == (("table", 1),)
    assert other.p_adjusted == other.p


@pytest.mark.parametrize("test", TESTS)
def test_zero_variance(test: str) -> None:
    found = compare(systems({"a": [0.1, 0.2, 0.4], "b": [0.2, 0.3, 0.5]}), Plan(test=test))
    row = one_of(found)
    assert row.difference == pytest.approx(0.1)
    assert row.note or 0 < row.p <= 1  # signs can still be flipped: 2 of 8 are as far
    assert math.isnan(row.p) == bool(row.note)
    assert math.isnan(row.detectable)


def test_one_run_only() -> None:
    with pytest.raises(HarnessError) as caught:
        compare([system("bm25", [0.1, 0.2])], Plan())
    assert str(caught.value) == (
        "compare: there is one run, bm25; comparing takes two\n"
        "  fix:   name two runs or more on one dataset"
    )
    with pytest.raises(HarnessError, match="no dataset has two runs; comparing takes two"):
        compare([system("a", [0.1]), system("b", [0.1], dataset="web")], Plan())
    with pytest.raises(HarnessError, match="no baseline shares a dataset with another run"):
        compare([system("a", [0.1]), *systems(ABC, dataset="web")][:1]  # type: ignore[arg-type]
                + systems({"b": [0.1], "c": [0.2]}, dataset="web"), Plan(("a",)))  # type: ignore[arg-type] # fmt: skip


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"baselines": ("bm52",)}, "there is no run 'bm52' for a baseline; did you mean 'bm25'?  "
         "(there are: bm25, dense)"),
        ({"test": "t-test"}, "unknown test 't-test'; did you mean 'paired-t'?  (all: bootstrap, "
         "bootstrap-t, friedman-nemenyi, paired-t, randomization, randomized-tukey, sign, tukey, "
         "wilcoxon)"),
        ({"test": "tukei"}, "unknown test 'tukei'; did you mean 'tukey'?  (all: bootstrap, "
         "bootstrap-t, friedman-nemenyi, paired-t, randomization, randomized-tukey, sign, tukey, "
         "wilcoxon)"),
        ({"metrics": ("num_ret",)}, "runs cannot be compared by num_ret: it is a sum over the "
         "queries, and no mean"),
        ({"metrics": ("gm_map",)}, "runs cannot be compared by gm_map: its values are logarithms, "
         "of which the summary is no mean"),
        ({"metrics": ("judged@10",)}, "runs cannot be compared by judged@10: it has no better and "
         "no worse"),
        ({"metrics": ("mse(over=pairs)",)}, "runs cannot be compared by mse(over=pairs): its "
         "queries do not weigh the same"),
        ({"metrics": ("mpa",)}, "no metric 'mpa' was evaluated; did you mean 'map'?  (there are: "
         "map, num_ret, gm_map, judged@10, mse(over=pairs))"),
    ],
)  # fmt: skip
def test_names_that_are_wrong(plan: dict[str, Any], said: str) -> None:
    metrics = ("map", "num_ret", "gm_map", "judged@10", "mse(over=pairs)")
    two = [system(run, np.eye(5)[:, :4].tolist(), metrics) for run in ("bm25", "dense")]
    with pytest.raises(UnknownNameError) as caught:
        compare(two, Plan(**plan))
    assert str(caught.value) == said
    assert {str(one.metric) for one in compare(two, Plan()).rows} == {"map"}


def test_nothing_to_compare_by() -> None:
    with pytest.raises(HarnessError, match="no metric was evaluated that is a mean"):
        compare(systems({"a": [1.0, 2.0], "b": [2.0, 2.0]}, metrics=("num_ret",)), Plan())


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"correction": "hom"}, "unknown correction 'hom'; did you mean 'holm'?  (all: holm, "
         "bonferroni, bh, by, none)"),
        ({"family": "x"}, "unknown family 'x'  (all: table, metric, dataset)"),
        ({"interval": "tt"}, "unknown interval 'tt'; did you mean 't'?  (all: t, bca)"),
        ({"level": 5}, "level: expected a number between 0 and 1, got 5\n  fix:   write 0.05"),
        ({"level": "x"}, "level: expected a number between 0 and 1, got 'x'\n  fix:   write 0.05"),
        ({"seed": -1}, "seed: expected a whole number from 0 to 2147483647, got -1"),
        ({"seed": 1.5}, "seed: expected a whole number from 0 to 2147483647, got 1.5"),
        ({"draws": 10.5}, "draws: expected a whole number from 99 to 2147483647, got 10.5"),
        ({"draws": 98}, "draws: expected a whole number from 99 to 2147483647, got 98"),
        ({"draws": True}, "draws: expected a whole number from 99 to 2147483647, got True"),
        ({"test": len}, "test: expected text, got a builtin_function_or_method"),
        ({"baselines": (None,)}, "baselines: expected a list of texts, got a tuple"),
    ],
)  # fmt: skip
def test_a_plan_that_is_wrong(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        Plan(**keys)
    assert str(caught.value) == said


# Random numbers


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


def test_p_hangs_on_names_and_not_on_the_order() -> None:
    rng = np.random.default_rng(6)
    made = systems({run: rng.random(60).tolist() for run in "abcd"})
    plan = Plan(("a",), test="randomization", draws=999)
    forwards = {one.run: one for one in compare(made, plan).rows}
    backwards = {one.run: one for one in compare(made[::-1], plan).rows}
    assert forwards == backwards
    assert len({one.p for one in forwards.values()}) == 3


# Standings


def test_standings() -> None:
    found = compare(GOLDEN, Plan())
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
    drawn = compare(GOLDEN, Plan(test="randomized-tukey"))
    tiers = {one.run: one.tier for one in drawn.standings}
    assert tiers["s5"] == "1"
    assert tiers["s0"] == "3"
    assert found.standing("trec", "map", "s6") is None


def test_ties_share_the_better_rank() -> None:
    found = compare(systems({"a": [0.5, 0.5], "b": [0.4, 0.6], "c": [0.1, 0.2]}), Plan())
    assert [one.rank for one in found.standings] == [1, 1, 3]


def test_runs_without_a_value_have_no_rank() -> None:
    nan = math.nan
    found = compare(systems({"a": [nan, nan], "b": [nan, nan]}), Plan())
    assert [(one.n, one.rank, one.tier) for one in found.standings] == [(0, 0, ""), (0, 0, "")]
    found = compare(systems({"a": [nan, nan], "b": [0.1, 0.2]}), Plan())
    assert [(one.n, one.rank) for one in found.standings] == [(0, 0), (2, 1)]
    assert found.rows[0].note == "n=0"


# Tests of plugins


def test_a_callable_of_a_plugin() -> None:
    @registry.paired_test("half", title="a test that always says .5")
    def half(differences: Any, stream: Any) -> Any:
        return 0.5

    found = compare(systems(ABC), Plan(("a",), test="half", correction="none"))
    assert ps(found) == [0.5, 0.5]
    assert found.title == "a test that always says .5"
    assert half is not None


def test_a_plugins_test_of_all_pairs() -> None:
    @registry.all_pairs_test("same", title="all are the same")
    def same(values: Any, stream: Any, level: float) -> AllPairs:
        return AllPairs(np.ones((len(values), len(values))), method="by decree")

    found = compare(systems(ABC), Plan(test="same"))
    assert ps(found) == [1.0, 1.0, 1.0]
    assert {one.method for one in found.rows} == {"by decree"}
    assert {one.tier for one in found.standings} == {"1"}
    assert same is not None


def test_a_plugin_that_needs_what_is_not_installed() -> None:
    @registry.paired_test("bayes", title="a Bayesian test")
    def bayes(differences: Any, stream: Any) -> Any:
        import no_such_package.core  # noqa: F401

        return 0.5

    with pytest.raises(HarnessError) as caught:
        compare(systems(ABC), Plan(test="bayes"))
    assert str(caught.value) == (
        "test bayes: needs no_such_package, which is not installed (No module named "
        "'no_such_package')\n  fix:   pip install no_such_package"
    )
    assert bayes is not None


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (lambda: "x", "returned 'x' where a p-value from 0 to 1 belongs"),
        (lambda: 1.5, "returned 1.5 where a p-value from 0 to 1 belongs"),
        (lambda: Outcome(-0.5), "returned -0.5 where a p-value from 0 to 1 belongs"),
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
    ],
)
def test_a_plugin_that_fails(result: Any, said: str) -> None:
    @registry.paired_test("mine", title="mine")
    def mine(differences: Any, stream: Any) -> Any:
        return result()

    with pytest.raises(HarnessError) as caught:
        compare(systems(ABC), Plan(test="mine"))
    first, fix = str(caught.value).splitlines()
    assert first == f"test mine: {said}"
    assert fix.startswith(f"  fix:   see {__file__}:")
    assert mine is not None


# What it can be turned into


def test_tables_and_text() -> None:
    found = compare(systems(ABC), Plan(("a",)))
    table = found.to_arrow()
    assert table.column("run").to_pylist() == ["b", "c"]
    assert table.column("p").to_pylist() == ps(found)
    assert found.to_pandas()["p_adjusted"].tolist() == [one.p_adjusted for one in found.rows]
    assert repr(found) == "<Comparisons: 2 by paired-t, level 0.05>"
    assert str(found).splitlines()[1].split()[:6] == ["trec", "map", "a", "b", "3", "+0.0667"]
    assert "<td>trec</td><td>map</td><td>a</td><td>b</td>" in found._repr_html_()
    assert found.get("trec", "map", "a", "c") is found.rows[1]
    assert found.get("trec", "map", "c", "a") is None
    assert parse("map")[0] == found.rows[0].metric


@pytest.mark.parametrize("test", ["tukey", "friedman-nemenyi", "randomized-tukey"])
def test_no_p_of_all_systems_is_zero(test: str) -> None:
    base = np.random.default_rng(2).random(1500)
    found = compare(systems({"a": base, "b": base**2 + 4, "c": base**3 + 8}), Plan(test=test))
    # chi-squared is 3,000 with 2 degrees of freedom: p would be exp(-1500)
    assert 0 < found.overall[0].p < 1e-3


@pytest.mark.parametrize("test", TESTS)
def test_one_query_that_all_or_two_of_three_agree_on(test: str) -> None:
    found = compare(systems({"a": [0.5], "b": [0.1 + 0.2], "c": [0.3]}), Plan(test=test))
    notes = {(one.baseline, one.run): (one.p, one.note) for one in found.rows}
    assert notes["b", "c"] == (1.0, "identical")
    for one in found.rows:
        if one.baseline == "a":
            assert math.isnan(one.p)
            assert one.note == "n=1"
            assert math.isnan(one.low)


@pytest.mark.parametrize("interval", ["t", "bca"])
def test_a_constant_difference_has_no_interval_and_no_difference_one_of_0(interval: Any) -> None:
    rows = systems({"a": [0.1, 0.2, 0.4], "b": [0.2, 0.3, 0.5], "c": [0.1, 0.2, 0.4]})
    shifted, same, _ = compare(rows, Plan(interval=interval)).rows
    assert (shifted.note, same.note) == ("zero variance", "identical")
    assert math.isnan(shifted.low)
    assert math.isnan(shifted.high)
    assert (same.low, same.high, same.p) == (0, 0, 1)
