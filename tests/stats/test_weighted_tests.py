"""Tests and intervals of means whose queries have weights, against literal loops."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from made_systems import entry, system
from refusals import refuses

from harness.core.entries import System
from harness.core.names import parse_all
from harness.core.ragged import Floats
from harness.errors import AlignmentError, UnknownNameError
from harness.stats.bootstrap import bootstrap, resampled_means
from harness.stats.compare import compare
from harness.stats.comparison import Comparisons, Plan
from harness.stats.gate import Margin, Pair, judge
from harness.stats.intervals import bca_interval, clustered_interval
from harness.stats.metric_correlation import correlations
from harness.stats.randomization import randomization
from harness.stats.registry import Stream, load_all
from harness.stats.standings import bootstrap_of_pairs, rank_intervals

N = 11
PLAN = Plan(test="bootstrap", draws=999)
RNG = np.random.default_rng(8)
VALUES = {name: RNG.random(N).round(3) for name in ("c", "a", "b")}
WEIGHTS = np.array([3, 0, 1.5, 20, 7, 0.25, 1, 2, 6, 4, 11])
QIDS = [str(n) for n in (10, 2, 1, 30, 7, 21, 3, 16, 5, 44, 12)]


def weighted(run: str, values: Floats, weights: Floats, *more: Floats) -> System:
    metrics = ("map", "P@5")[: 1 + len(more)]
    made = entry(run, [values, *more] if more else values, metrics, qids=QIDS[: len(values)])
    evaluation = made.evaluation.weighted(weights, "clicks")
    return System.of([replace(made, evaluation=evaluation)], run)


def compared(weights: Floats | None, plan: Plan = PLAN) -> Comparisons:
    if weights is None:
        return compare([system(run, v, qids=QIDS) for run, v in VALUES.items()], plan)
    return compare([weighted(run, v, weights) for run, v in VALUES.items()], plan)


def drawn(values: Floats, weights: Floats, stream: Stream) -> list[float]:
    """Weighted means of the resamples that the same numbers draw, one after another."""
    n, rng, means = len(values), stream.rng(), []
    rows = iter(rng.integers(n, size=(stream.draws, n)))
    for row in rows:
        total = sum(weights[i] for i in row)
        means.append(sum(weights[i] * values[i] for i in row) / total)
    return means


def test_resampled_means_are_weighted_means_of_the_same_draws() -> None:
    stream, weights = Stream(("x",), draws=400), WEIGHTS[WEIGHTS > 0]
    values = VALUES["a"][WEIGHTS > 0]
    found = resampled_means(values[:, None], stream, weights)[:, 0]
    assert found == pytest.approx(drawn(values, weights, stream), abs=1e-12)


def test_the_bootstrap_test_counts_resamples_as_far_from_0() -> None:
    stream, weights = Stream(("y",), draws=500), WEIGHTS[WEIGHTS > 0]
    differences = (VALUES["a"] - VALUES["b"])[WEIGHTS > 0]
    mean = np.average(differences, weights=weights)
    far = sum(abs(one) >= abs(mean) for one in drawn(differences - mean, weights, stream))
    found = bootstrap(differences, stream, weights)
    assert (found.p, found.statistic) == (pytest.approx((far + 1) / 501), pytest.approx(mean))
    assert bootstrap(-differences, stream, weights).p == found.p


def test_the_randomisation_test_flips_signs_of_weighted_differences() -> None:
    weights, differences = WEIGHTS[WEIGHTS > 0], (VALUES["a"] - VALUES["b"])[WEIGHTS > 0]
    observed = abs(sum(weights * differences))
    ways = [abs(sum(weights * differences * signs)) for signs in product((-1, 1), repeat=N - 1)]
    share = sum(one >= observed - 1e-12 for one in ways) / len(ways)
    found = randomization(differences, Stream(), weights)
    assert (found.p, found.method) == (pytest.approx(share), "exact")


@pytest.mark.parametrize("size", [1.0, 7.0])
@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_equal_weights_change_no_digit(test: str, size: float) -> None:
    plain = compared(None, replace(PLAN, test=test, interval="bca"))
    equal = compared(np.full(N, size), replace(PLAN, test=test))
    unlike = ("d_z", "hedges_g", "detectable", "metric")
    for own, other in zip(equal.rows, plain.rows, strict=True):
        fields = {name: getattr(own, name) for name in own.__slots__ if name not in unlike}
        if size == 1:
            assert fields == {name: getattr(other, name) for name in fields}
        assert (own.p, own.low, own.high) == (other.p, other.low, other.high)
        assert math.isnan(own.d_z + own.detectable)
    ranks = [(row.low, row.high, row.rank, row.rank_low, row.rank_high) for row in equal.standings]
    assert ranks == [
        (row.low, row.high, row.rank, row.rank_low, row.rank_high) for row in plain.standings
    ]


def test_a_comparison_is_of_weighted_means_of_queries_with_weight() -> None:
    found = compared(WEIGHTS)
    average = {run: np.average(v, weights=WEIGHTS) for run, v in VALUES.items()}
    for row in found.rows:
        numbers = average[row.baseline], average[row.run]
        assert (row.baseline_value, row.run_value) == pytest.approx(numbers, abs=1e-15)
        assert row.difference == pytest.approx(numbers[1] - numbers[0], abs=1e-15)
        assert (row.n, row.interval, row.wins + row.ties + row.losses) == (N - 1, "bca", N - 1)
        assert row.low <= row.difference <= row.high
    assert [row.value for row in found.standings] == [pytest.approx(v) for v in average.values()]
    order = sorted(average, key=average.__getitem__, reverse=True)
    assert sorted(found.standings, key=lambda row: row.rank)[0].run == order[0]
    assert found.weighted == {"trec": "clicks"}
    assert {row["weighted_by"] for row in found.to_arrow().to_pylist()} == {"clicks"}


def test_a_query_without_weight_is_as_one_left_out() -> None:
    kept = WEIGHTS > 0
    qids = [qid for qid, keep in zip(QIDS, kept, strict=True) if keep]
    systems = []
    for run, values in VALUES.items():
        made = entry(run, values[kept], qids=qids)
        evaluation = made.evaluation.weighted(WEIGHTS[kept], "clicks")
        systems.append(System.of([replace(made, evaluation=evaluation)], run))
    own, other = compared(WEIGHTS), compare(systems, PLAN)
    assert repr(own.rows) == repr(other.rows)
    assert [replace(row, value=0.0) for row in own.standings] == [
        replace(row, value=0.0) for row in other.standings
    ]


def test_tiers_of_other_pairs_come_from_the_bootstrap() -> None:
    values = np.array([*VALUES.values()])[:, WEIGHTS > 0]
    weights, stream = WEIGHTS[WEIGHTS > 0], Stream(("pairs",), draws=300)
    found = bootstrap_of_pairs(values, weights, stream)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        difference = values[a] - values[b]
        mean = np.average(difference, weights=weights)
        far = sum(
            abs(one) >= abs(mean) - 1e-12 for one in drawn(difference - mean, weights, stream)
        )
        assert found[a, b] == found[b, a] == pytest.approx((far + 1) / 301)
    assert np.diag(found).tolist() == [1.0] * 3


def test_rank_intervals_rank_weighted_means() -> None:
    values = np.array([*VALUES.values()])[:, WEIGHTS > 0]
    weights, stream = WEIGHTS[WEIGHTS > 0], Stream(("ranks",), draws=200)
    low, high = rank_intervals(values, 0.1, stream, weights)
    means = np.array([drawn(row, weights, stream) for row in values])
    ranks = np.sort(1 + (means[None] > means[:, None] + 1e-12).sum(axis=1), axis=1)
    assert (low.tolist(), high.tolist()) == (ranks[:, 10].tolist(), ranks[:, -11].tolist())


def test_a_clustered_interval_keeps_weights() -> None:
    weights, stream = WEIGHTS[WEIGHTS > 0], Stream(("seeds",), draws=300)
    values = VALUES["a"][WEIGHTS > 0]
    means = np.array(drawn(values, weights, stream))
    ends = np.quantile(means, [0.025, 0.975], method="inverted_cdf")
    assert clustered_interval(values[None], 0.05, stream, weights) == pytest.approx(tuple(ends))


def test_the_interval_holds_the_weighted_mean() -> None:
    """Of 95% intervals of random values about 95% hold the mean, with unequal weights too."""
    rng, held = np.random.default_rng(1), 0
    for trial in range(200):
        weights = rng.choice([1.0, 2.0, 3.0], size=60)
        low, high = bca_interval(
            rng.normal(size=60), 0.05, Stream((str(trial),), draws=400), weights
        )
        held += low <= 0 <= high
    assert 0.9 <= held / 200 <= 0.98


def test_only_weighted_tests_take_a_dataset_with_weights() -> None:
    able = {test.name for test in load_all().values() if test.weighted}
    assert able == {"bootstrap", "randomization"}
    for name in load_all().keys() - able:
        with refuses("test", error=UnknownNameError):
            compared(WEIGHTS, replace(PLAN, test=name))


def test_runs_are_compared_under_one_weighting() -> None:
    one, other = (weighted(run, VALUES[run], WEIGHTS) for run in "ab")
    for second in (weighted("b", VALUES["b"], WEIGHTS + 1), system("b", VALUES["b"], qids=QIDS)):
        with refuses("b on trec", error=AlignmentError):
            compare([one, second], PLAN)
    assert compare([one, other], PLAN).rows[0].n == N - 1


def test_a_gate_is_of_weighted_means() -> None:
    gains = VALUES["a"] - VALUES["b"]
    (metric,) = parse_all(["map"])

    def verdict(weights: Floats | None, margin: float):  # type: ignore[no-untyped-def]
        pair = Pair("d", "", "a", metric, QIDS, VALUES["b"], VALUES["a"], (0, 0), weights, "clicks")
        return judge([(pair, Margin(margin))])[0]

    found = verdict(WEIGHTS, 0.01)
    assert found.difference == pytest.approx(np.average(gains, weights=WEIGHTS))
    assert (found.n, found.needed, found.weighted_by) == (N - 1, None, "clicks")
    kept = WEIGHTS > 0
    stream = Stream(("gate", "d", "", "map", "a"))
    centred = gains[kept] - found.difference
    share = sum(
        one <= found.difference + 0.01 + 1e-12 for one in drawn(centred, WEIGHTS[kept], stream)
    )
    assert found.p == pytest.approx((share + 1) / (stream.draws + 1))
    assert verdict(WEIGHTS, 0.9).outcome == "pass"
    falling = np.where(gains < 0, 1000.0, 0.001)  # traffic goes to queries that lose
    assert verdict(falling, 0.01).outcome == "fail"
    assert verdict(None, 0.01).outcome != "fail"


def test_metrics_are_correlated_over_weighted_means() -> None:
    others = RNG.random((3, N))
    systems = [
        weighted(run, values, WEIGHTS, other)
        for (run, values), other in zip(VALUES.items(), others, strict=True)
    ]
    (found,) = correlations(systems, draws=50)
    first = [np.average(values, weights=WEIGHTS) for values in VALUES.values()]
    second = [np.average(values, weights=WEIGHTS) for values in others]
    signs = [
        np.sign(first[a] - first[b]) * np.sign(second[a] - second[b])
        for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    assert found.tau_b == pytest.approx(np.mean(signs))
