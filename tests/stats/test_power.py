"""Power of the paired t-test against statsmodels, simulation and its own inverse."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from statsmodels.stats.power import TTestPower

from harness.core.comparison import Plan
from harness.core.names import parse
from harness.core.systems import System
from harness.stats.blocks import Block, paired
from harness.stats.power import detectable, power_of, queries_needed
from harness.stats.registry import find

SIZES = [2, 3, 5, 10, 50, 200, 1000]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_power_is_that_of_statsmodels(n: int, level: float) -> None:
    for noncentrality in (0.0, 0.5, 2.0, 5.0):  # its own is NaN in the far tail
        effect = noncentrality / math.sqrt(n)
        expected = TTestPower().power(effect, n, level)
        assert power_of(effect, n, level) == pytest.approx(expected, abs=1e-10)


def test_detectable_is_that_of_statsmodels() -> None:
    for n in (5, 10, 50, 200):  # its solver stops at about five digits
        expected = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
        assert detectable(1.0, n) == pytest.approx(expected, rel=1e-5)
    expected = TTestPower().solve_power(nobs=30, alpha=0.01, power=0.9)
    assert detectable(0.25, 30, level=0.01, power=0.9) == pytest.approx(0.25 * expected, rel=1e-5)


@pytest.mark.parametrize("n", [*SIZES, 6980, 10**6])
def test_detectable_has_the_power_asked_for(n: int) -> None:
    found = detectable(0.2, n, power=0.8)
    assert power_of(found / 0.2, n) == pytest.approx(0.8, abs=1e-12)


def test_two_queries_by_hand() -> None:
    # one degree of freedom: s is |normal|, so the test finds what has |Z + delta| > t |Y|, and
    # for no difference that is the level: P(|Z / Y| > tan(pi (1 - .05) / 2)) = .05
    assert power_of(0.0, 2) == pytest.approx(0.05, abs=1e-10)


def test_many_queries_are_normal() -> None:
    # z(.975) + z(.8) = 1.959964 + .841621, less what the other tail adds: P(Z < -4.761585) is
    # 9.6e-7, over the density .28 at .841621: 3.4e-6
    assert detectable(3.0, 10**8) == pytest.approx(3 * (2.8015852 - 3.4e-6) / 10**4, rel=1e-7)


def test_simulated() -> None:
    n, draws = 12, 20_000
    d = np.random.default_rng(1).normal(detectable(1.0, n), 1.0, size=(draws, n))
    t = d.mean(axis=1) / (d.std(axis=1, ddof=1) / math.sqrt(n))
    found = np.mean(np.abs(t) > 2.2009851600916384)  # t(.975; 11)
    assert found == pytest.approx(0.8, abs=5 * math.sqrt(0.8 * 0.2 / draws))


def test_queries_needed() -> None:
    for effect in (0.05, 0.4, 2.0):
        expected = math.ceil(TTestPower().solve_power(effect, alpha=0.05, power=0.8))
        assert queries_needed(effect) == queries_needed(-effect) == expected
    n = queries_needed(0.1, level=0.01, power=0.95)
    assert n is not None
    assert power_of(0.1, n, 0.01) >= 0.95 > power_of(0.1, n - 1, 0.01)
    assert queries_needed(100.0) == 2
    assert queries_needed(0.0) is queries_needed(math.nan) is queries_needed(1e-9) is None


def test_more_queries_or_less_spread_find_smaller_differences() -> None:
    found = [detectable(0.2, n) for n in range(2, 60)]
    assert found == sorted(found, reverse=True)
    assert detectable(0.4, 50) == pytest.approx(2 * detectable(0.2, 50), rel=1e-15)
    assert detectable(0.2, 50, level=0.01) > detectable(0.2, 50) < detectable(0.2, 50, power=0.9)


def test_nothing_to_say() -> None:
    assert math.isnan(detectable(0.2, 1))
    assert math.isnan(detectable(0.2, 0))
    assert math.isnan(detectable(0.0, 50))
    assert math.isnan(detectable(math.nan, 50))


def test_a_comparison_of_zero_variance_detects_nothing() -> None:
    values = np.stack([np.zeros(7), np.full(7, 0.1)])
    assert values[1].std(ddof=1) > 0  # of floating point
    systems = (System("d", "a", ()), System("d", "b", ()))
    qids = pa.array([f"q{i}" for i in range(7)])
    block = Block("d", parse("map")[0], systems, qids, values)
    found = paired(block, 0, 1, Plan(), find("paired-t"))
    assert found.note == "zero variance"
    assert math.isnan(found.detectable)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
