"""Intervals, effect sizes, power, and differences free of rounding."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from made_systems import SAMPLES, sample
from statsmodels.stats.power import TTestPower

from harness.core.ragged import Floats
from harness.stats.differences import differences, multiples
from harness.stats.effects import detectable, effects
from harness.stats.intervals import bca_interval, clustered_interval, t_interval
from harness.stats.registry import Stream

each_sample = pytest.mark.parametrize("name", list(SAMPLES))


@each_sample
def test_t_golden(name: str) -> None:
    expected = SAMPLES[name]["expected"]["t"]
    assert t_interval(sample(name)) == pytest.approx(expected["ci95"], abs=1e-12)
    assert t_interval(sample(name), level=0.01) == pytest.approx(expected["ci99"], abs=1e-12)


def literal_bca(values: Floats, means: Floats, level: float) -> tuple[float, float]:
    """Efron's definition, with each jackknife mean had by leaving a value out."""
    normal, n = scipy.stats.norm, len(values)
    mean = values.mean()
    share = sum(1.0 if m < mean else 0.5 if m == mean else 0.0 for m in means) / len(means)
    z0 = normal.ppf(share)
    left_out = np.array([np.delete(values, i).mean() for i in range(n)])
    u = left_out.mean() - left_out
    a = sum(u**3) / (6 * sum(u**2) ** 1.5)
    ends = []
    for q in (level / 2, 1 - level / 2):
        z = z0 + normal.ppf(q)
        ends.append(float(np.percentile(means, 100 * normal.cdf(z0 + z / (1 - a * z)))))
    return ends[0], ends[1]


@given(
    st.lists(st.integers(-64, 64), min_size=3, max_size=16).filter(lambda v: len(set(v)) > 1),
    st.sampled_from([0.05, 0.01, 0.2]),
    st.integers(0, 3),
)
def test_bca_is_the_literal_definition(values: list[int], level: float, seed: int) -> None:
    # multiplied by n, whole numbers: their means are exact, and so are ties with the mean
    exact = np.array(values, dtype=float) * len(values)
    stream = Stream(("a",), seed, draws=500)
    means = exact[stream.rng().integers(exact.size, size=(500, exact.size))].mean(axis=1)
    expected = literal_bca(exact, means, level)
    assert bca_interval(exact, level, stream) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_both_sources_of_spread_add_up() -> None:
    rng = np.random.default_rng(2)
    seeds, queries = rng.normal(0, 0.3, (8, 1)), rng.normal(0, 1.0, (1, 50))
    low, high = clustered_interval(0.5 + seeds + queries, stream=Stream(draws=40_000))
    # variance of a bootstrap mean: that of the seeds / 8 + that of the queries / 50
    spread = np.sqrt(seeds.var() / 8 + queries.var() / 50)
    assert (high - low) / (2 * 1.96) == pytest.approx(spread, rel=0.03)


@each_sample
def test_golden(name: str) -> None:
    found = effects(sample(name))
    expected = SAMPLES[name]["expected"]["effect"]
    assert found.d_z == pytest.approx(expected["d_z"], abs=1e-12)
    assert found.hedges_g == pytest.approx(expected["g_z_exact"], abs=1e-12)
    assert found.cliffs_delta == pytest.approx(expected["cliffs_delta_paired"], abs=1e-15)
    counts = (expected["win"], expected["tie"], expected["loss"])
    assert (found.wins, found.ties, found.losses) == counts


@given(st.lists(st.integers(-50, 50), min_size=3, max_size=40).filter(lambda v: len(set(v)) > 1))
def test_literal_definition(values: list[int]) -> None:
    n = len(values)
    mean = sum(values) / n
    sd = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    j = math.gamma((n - 1) / 2) / (math.sqrt((n - 1) / 2) * math.gamma((n - 2) / 2))
    found = effects(np.array(values, dtype=float))
    assert found.d_z == pytest.approx(mean / sd, abs=1e-12)
    assert found.hedges_g == pytest.approx(j * mean / sd, abs=1e-12)
    assert found.wins == sum(v > 0 for v in values)
    assert found.ties == values.count(0)
    assert found.wins + found.ties + found.losses == n


def test_detectable_is_that_of_statsmodels() -> None:
    for n in (5, 10, 50, 200):  # its solver stops at about five digits
        expected = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
        assert detectable(1.0, n) == pytest.approx(expected, rel=1e-5)
    expected = TTestPower().solve_power(nobs=30, alpha=0.01, power=0.9)
    assert detectable(0.25, 30, level=0.01, power=0.9) == pytest.approx(0.25 * expected, rel=1e-5)


tenths = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=60)


@given(tenths, st.sampled_from([0.1, 1 / 7, 1 / 2520, 1e-4, 40.0]))
def test_differences_on_a_grid_are_tied_as_whole_numbers_are(
    pairs: list[tuple[int, int]], step: float
) -> None:
    one, other = np.array(pairs).T
    found = differences(one * step, other * step)
    whole = one - other
    assert (np.sign(found) == np.sign(whole)).all()
    for size in np.unique(np.abs(whole)):
        assert np.unique(np.abs(found[np.abs(whole) == size])).size == 1
    assert np.unique(np.abs(found)).size == np.unique(np.abs(whole)).size


wholes = st.lists(st.integers(1, 100_000), min_size=1, max_size=40)


@given(wholes)
def test_differences_of_values_of_five_decimals_are_multiples(numbers: list[int]) -> None:
    values = np.array(numbers) / 1e5
    found = multiples(np.abs((0.5 + values) - 0.5))  # with the noise of a subtraction
    assert found.tolist() == [number // math.gcd(*numbers) for number in numbers]
