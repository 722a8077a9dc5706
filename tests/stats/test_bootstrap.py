"""Bootstrap tests against every resample there is, whole numbers, and golden values."""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.ragged import Floats
from harness.stats import bootstrap as resampling
from harness.stats.bootstrap import bootstrap, bootstrap_t, resampled_means
from harness.stats.differences import differences
from harness.stats.registry import Outcome, find
from harness.stats.streams import Stream

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "significance.json").read_text(encoding="utf-8")
)
SAMPLES = GOLDEN["samples"]
BOTH = pytest.mark.parametrize("test", [bootstrap, bootstrap_t])
Test = Callable[[Floats, Stream], Outcome]


def sample(name: str) -> Floats:
    return differences(np.array(SAMPLES[name]["b"]), np.array(SAMPLES[name]["a"]))


def whole(name: str) -> list[int]:
    """The differences in units of the sample's grid."""
    one = SAMPLES[name]
    return [round((b - a) * one["grid"]) for a, b in zip(one["a"], one["b"], strict=True)]


def is_extreme(drawn: list[int], values: list[int], studentised: bool) -> bool:
    """Whether a resample is at least as extreme, in whole numbers: all is multiplied by n."""
    n, total, resampled = len(values), sum(values), sum(drawn)
    if not studentised:
        return abs(resampled - total) >= abs(total)
    spread = n * sum(v * v for v in values) - total**2
    resampled_spread = n * sum(v * v for v in drawn) - resampled**2
    return (resampled - total) ** 2 * spread >= total**2 * resampled_spread


def exact(values: list[int], studentised: bool) -> Fraction:
    """The share of all n^n resamples that are as extreme, by how often each value is drawn."""
    n = len(values)
    extreme = 0
    for drawn in itertools.combinations_with_replacement(range(n), n):
        if is_extreme([values[i] for i in drawn], values, studentised):
            ways = math.factorial(n)
            for _, same in itertools.groupby(drawn):
                ways //= math.factorial(len(list(same)))
            extreme += ways
    return Fraction(extreme, n**n)


def assert_within_5_errors(p: float, expected: float, draws: int) -> None:
    error = math.sqrt(expected * (1 - expected) / draws) + 1 / draws
    assert abs(p - expected) < 5 * error


def test_all_resamples_by_hand() -> None:
    # 1, 3: mean 2, centred -1, 1; the four resamples have means -1, 0, 0, 1, none as far as 2
    assert exact([1, 3], studentised=False) == 0
    # t = 2 / 1 (sd / sqrt 2 = 1); of the four, two have one value alone and count; the others
    # have t* = 0: 2/4
    assert exact([1, 3], studentised=True) == Fraction(1, 2)
    # 0, 1, 5: total 6, so a total of 0 or at least 12: 000 and 555, and none of 155 (11): 2/27
    assert exact([0, 1, 5], studentised=False) == Fraction(2, 27)


def test_both_are_found_by_name() -> None:
    assert [find(name).function for name in ("bootstrap", "bootstrap-t")] == [
        bootstrap,
        bootstrap_t,
    ]
    assert find("bootstrap").random
    assert find("bootstrap-t").random


@pytest.mark.parametrize(
    "values", [[1, 3], [0, 1, 5], [0, 1, 1, 2], [-1, 2, 3, 3, 0], [4, 1, -2, 3, 0, 0]], ids=str
)
@pytest.mark.parametrize("studentised", [False, True])
def test_agrees_with_every_resample(values: list[int], studentised: bool) -> None:
    test = bootstrap_t if studentised else bootstrap
    found = test(np.array(values) / 10, Stream(draws=40_000))
    assert_within_5_errors(found.p, float(exact(values, studentised)), 40_000)


def test_golden_exact() -> None:
    expected = SAMPLES["n10_continuous"]["expected"]["bootstrap"]["exact"]
    shift, studentised = expected["p_shift_two_sided"], expected["p_studentised_two_sided"]
    assert float(exact(whole("n10_continuous"), studentised=False)) == pytest.approx(
        shift, abs=1e-12
    )
    found = bootstrap(sample("n10_continuous"), Stream(draws=100_000))
    assert_within_5_errors(found.p, shift, 100_000)
    found = bootstrap_t(sample("n10_continuous"), Stream(draws=100_000))
    assert_within_5_errors(found.p, studentised, 100_000)


def test_zero_variance_resamples_count_as_extreme() -> None:
    # the golden value leaves out the ten resamples of one value alone, of 10^10
    expected = SAMPLES["n10_continuous"]["expected"]["bootstrap"]["exact"]
    assert expected["zero_variance_share"] == 10 / 10**10
    found = exact(whole("n10_continuous"), studentised=True)
    left_out = expected["p_studentised_two_sided"] + expected["zero_variance_share"]
    assert float(found) == pytest.approx(left_out, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in SAMPLES if "n10" not in name])
def test_golden_monte_carlo(name: str) -> None:
    expected = SAMPLES[name]["expected"]["bootstrap"]
    # both sides are drawn, so the error of the difference is larger by sqrt 2: 50,000 for 100,000
    found = bootstrap(sample(name), Stream(draws=100_000))
    assert_within_5_errors(found.p, expected["mc_shift_p"], 50_000)
    found = bootstrap_t(sample(name), Stream(draws=100_000))
    assert_within_5_errors(found.p, expected["mc_studentised_p"], 50_000)
    assert found.statistic == pytest.approx(SAMPLES[name]["expected"]["t"]["statistic"], abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.integers(-12, 12), min_size=2, max_size=12), st.integers(0, 5))
def test_ties_are_as_in_whole_numbers(values: list[int], seed: int) -> None:
    if len(set(values)) == 1:
        values[0] += 1
    stream = Stream(("a", "b"), seed, draws=200)
    n = len(values)
    drawn = np.array(values)[stream.rng().integers(n, size=(200, n))].tolist()
    given_ = np.array(values) / 10
    for test, studentised in ((bootstrap, False), (bootstrap_t, True)):
        extreme = sum(is_extreme(one, values, studentised) for one in drawn)
        assert test(given_, stream).p == (extreme + 1) / 201


def test_ties_are_as_in_whole_numbers_where_values_are_few() -> None:
    values = np.repeat([-1, 0, 1, 2], [50, 96, 50, 4])
    numbers, counts = np.unique(values, return_counts=True)
    stream = Stream(("few",), draws=300)
    drawn = stream.rng().multinomial(200, counts / 200, size=300)
    for test, studentised in ((bootstrap, False), (bootstrap_t, True)):
        extreme = sum(
            is_extreme(np.repeat(numbers, one).tolist(), values.tolist(), studentised)
            for one in drawn
        )
        assert 0 < extreme < 300
        assert test(values / 10, stream).p == (extreme + 1) / 301


def test_floats_without_tolerance_would_lose_ties() -> None:
    # 50 differences of P@10: many resamples have exactly the total of the sample, or twice it
    values = np.resize([1, 0, 0, -1, 0, 2, 0, 0, 1, -1], 50)
    noisy = differences(0.3 + values / 10, np.full(50, 0.3))
    drawn = values[Stream(draws=2000).rng().integers(50, size=(2000, 50))].sum(axis=1)
    extreme = np.count_nonzero(abs(drawn - values.sum()) >= abs(values.sum()))
    centred = noisy - noisy.mean()
    means = centred[Stream(draws=2000).rng().integers(50, size=(2000, 50))].mean(axis=1)
    assert np.count_nonzero(abs(means) >= abs(noisy.mean())) < extreme
    assert bootstrap(noisy, Stream(draws=2000)).p == (extreme + 1) / 2001


@BOTH
def test_same_seed_same_p(test: Test) -> None:
    values = sample("n25_ndcg")
    assert test(values, Stream(("d", "m"), 7)) == test(values, Stream(("d", "m"), 7))
    assert test(values, Stream(("d", "m"), 7)).p != test(values, Stream(("d", "m"), 8)).p


@BOTH
def test_chunks_do_not_matter(test: Test, monkeypatch: pytest.MonkeyPatch) -> None:
    values, few = sample("n25_ndcg"), np.resize([0.5, 0.25, 0.0], 300)
    whole_ = [test(values, Stream()), test(few, Stream())]
    monkeypatch.setattr(resampling, "CHUNK", 1000)
    assert [test(values, Stream()), test(few, Stream())] == whole_


@BOTH
def test_direction_does_not_matter(test: Test) -> None:
    values = sample("n50_rr")
    assert test(values, Stream()).p == test(-values, Stream()).p
    assert test(values, Stream()).statistic == -test(-values, Stream()).statistic


@BOTH
def test_never_zero(test: Test) -> None:
    values = 1 + np.linspace(0, 1e-6, 50)
    assert test(values, Stream(draws=99)).p == 1 / 100
    assert test(values, Stream(draws=99)).method == "99 draws"


@BOTH
def test_named_outcomes(test: Test) -> None:
    assert test(np.zeros(10), Stream()) == Outcome(1.0, 0.0, note="identical")
    assert test(np.zeros(1), Stream()) == Outcome(1.0, 0.0, note="identical")
    for values, note in ([[0.1], "n=1"], [[], "n=0"], [[0.1] * 10, "zero variance"]):
        found = test(np.array(values), Stream())
        assert np.isnan(found.p)
        assert found.note == note
    # a shift of all queries: .1 but for floating point, which is no variance
    shifted = differences(np.linspace(0, 1, 10) + 0.1, np.linspace(0, 1, 10))
    assert test(shifted, Stream()).note == "zero variance"
    one = np.zeros(10)
    one[3] = 0.5
    assert test(one, Stream()).note == ""


def test_mean_zero_is_as_likely_as_can_be() -> None:
    for test in (bootstrap, bootstrap_t):
        assert test(np.array([1.0, -1.0, 0.5, -0.5]), Stream()).p == 1


def test_means_are_those_of_the_drawn_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = np.arange(40.0).reshape(10, 4) ** 2
    drawn = Stream(draws=50).rng().integers(10, size=(50, 10))
    expected = columns[drawn].mean(axis=1)
    monkeypatch.setattr(resampling, "CHUNK", 70)
    assert resampled_means(columns, Stream(draws=50)) == pytest.approx(expected, rel=1e-14)
    assert resampled_means(columns[:, :2], Stream(draws=50)) == pytest.approx(
        expected[:, :2], rel=1e-14
    )


def test_digits_do_not_hang_on_the_threads_of_a_library() -> None:
    program = (
        "import numpy as np; from harness.stats import bootstrap as resampling; "
        "columns = np.random.default_rng(0).random((3000, 50)); "
        "found = resampling.resampled_means(columns, resampling.Stream(draws=60)); "
        "few = resampling.resampled_means(columns.round(0)[:, :6], resampling.Stream(draws=60)); "
        "print(found.tobytes().hex(), few.tobytes().hex())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(found) == 1


def test_few_values_have_the_same_law() -> None:
    # 100 queries of which 30 have a 1: the mean's variance is .3 * .7 / 100, its fourth central
    # moment that of a binomial, n p q (1 + 3 (n - 2) p q) / n^4
    values = np.repeat([1.0, 0.0], [30, 70])[:, None]
    means = resampled_means(values, Stream(draws=200_000))[:, 0]
    assert set((means * 100 - np.rint(means * 100)).round(9)) == {0.0}
    assert means.mean() == pytest.approx(0.3, abs=5 * math.sqrt(0.0021 / 200_000))
    fourth = 100 * 0.21 * (1 + 3 * 98 * 0.21) / 100**4
    error = math.sqrt((fourth - 0.0021**2) / 200_000)
    assert ((means - 0.3) ** 2).mean() == pytest.approx(0.0021, abs=5 * error)
