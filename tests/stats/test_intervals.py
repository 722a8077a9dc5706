"""Intervals of a mean against SciPy, the literal definition, and golden values."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.ragged import Floats
from harness.stats.bootstrap import bootstrap
from harness.stats.differences import differences
from harness.stats.intervals import bca_interval, t_interval
from harness.stats.streams import Stream

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "significance.json").read_text(encoding="utf-8")
)
SAMPLES = GOLDEN["samples"]
each_sample = pytest.mark.parametrize("name", list(SAMPLES))


def sample(name: str) -> Floats:
    return differences(np.array(SAMPLES[name]["b"]), np.array(SAMPLES[name]["a"]))


@each_sample
def test_t_golden(name: str) -> None:
    expected = SAMPLES[name]["expected"]["t"]
    assert t_interval(sample(name)) == pytest.approx(expected["ci95"], abs=1e-12)
    assert t_interval(sample(name), level=0.01) == pytest.approx(expected["ci99"], abs=1e-12)


def test_t_by_hand() -> None:
    # 0, 2: mean 1, sd sqrt 2, error sd / sqrt 2 = 1; t(.975; 1) = tan(.475 pi) = 12.706
    assert t_interval(np.array([0.0, 2.0])) == pytest.approx(
        (1 - math.tan(0.475 * math.pi), 1 + math.tan(0.475 * math.pi)), abs=1e-11
    )


def test_t_published() -> None:
    # Sakai's 20 topics: margin of error .0742 for the difference of .075
    low, high = t_interval(sample("sakai_table5_1_Y_vs_X"))
    expected = GOLDEN["published_anchors"]["sakai_table5_1"]["moe95"]
    assert (high - low) / 2 == pytest.approx(expected, abs=5e-5)


@each_sample
def test_bca_agrees_with_scipy(name: str) -> None:
    values = sample(name)
    low, high = bca_interval(values, 0.05, Stream(draws=100_000))
    expected = SAMPLES[name]["expected"]["bootstrap"]["scipy_seed2024_B100000_BCa"]
    # an end's Monte Carlo error is sqrt(q (1 - q) / m) / density: at q = .025 of a normal law
    # sqrt(.0244 / 100000) / .0584 = .0085 standard errors of the mean, less than .02 for both
    # sides drawn and the skewness of these; where values lie on a grid, a step of it besides
    error = values.std() / math.sqrt(values.size)
    step = 1 / (SAMPLES[name]["grid"] * values.size)
    assert (low, high) == pytest.approx(expected, abs=5 * 0.02 * error + step)


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


@settings(deadline=None, max_examples=50)
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


def test_bca_follows_the_skewness_and_stays_in_range() -> None:
    values = np.array([0.0] * 12 + [0.1, 0.2, 1.0])
    low, high = bca_interval(values)
    assert t_interval(values)[0] < 0 < low
    assert high - values.mean() > values.mean() - low
    assert high < 1


def test_bca_is_an_interval_for_every_number_of_draws() -> None:
    values = np.array([0.0, 0.0, 0.0, 0.0, 1.0])
    for draws in (1, 2, 10):
        for seed, level in itertools.product(range(10), (0.5, 1e-6, 1e-300)):
            low, high = bca_interval(values, level, Stream(("a",), seed, draws))
            assert 0 <= low <= high <= 1


def test_interval_of_single_values_does_not_hang_on_their_height() -> None:
    values = np.array(SAMPLES["n25_ndcg"]["a"])
    for interval in (t_interval, bca_interval):
        low, high = interval(values)
        assert low < values.mean() < high
        assert interval(values + 1) == pytest.approx((low + 1, high + 1), abs=1e-12)


def test_same_seed_same_interval() -> None:
    values = sample("n50_rr")
    assert bca_interval(values, 0.05, Stream(("a",), 3)) == bca_interval(
        values, 0.05, Stream(("a",), 3)
    )
    assert bca_interval(values, 0.05, Stream(("a",), 3)) != bca_interval(
        values, 0.05, Stream(("a",), 4)
    )


def test_few_or_equal_values() -> None:
    for interval in (t_interval, bca_interval):
        assert np.isnan(interval(np.array([]))).all()
        assert np.isnan(interval(np.array([0.3]))).all()
        # ten times .25 do not say that others would be .25 too
        for value in (0.0, 0.25, 0.1):
            assert np.isnan(interval(np.full(10, value))).all()
        two_floats_one_value = np.array([0.3, 0.1 + 0.2, 0.3])
        assert np.isnan(interval(two_floats_one_value)).all()


@pytest.mark.parametrize(("n", "differing", "size"), [(7, 2, 0.7), (10, 1, 0.1), (7, 1, 0.1)])
def test_an_end_at_zero_is_zero(n: int, differing: int, size: float) -> None:
    # Runs are equal on most queries, and so are more than .025 of the resamples on all of theirs;
    # mean + (0 - mean) came to -1e-18 or 1e-18 here
    values = np.zeros(n)
    values[:differing] = -size * np.arange(1, differing + 1)
    assert bca_interval(values, 0.05, Stream(draws=500))[1] == 0
    assert bca_interval(-values, 0.05, Stream(draws=500))[0] == 0


def test_interval_and_test_go_together() -> None:
    # the same stream: the same resamples; 0 is outside the interval where the test rejects
    values = sample("n25_ndcg")
    low, _ = bca_interval(values, 0.05, Stream())
    assert bootstrap(values, Stream()).p < 0.05
    assert low > 0
