"""Reproduction measures: golden values, SciPy, hand-worked values, and where nothing is defined."""

import math

import numpy as np
import pytest
from goldens import golden
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harness.stats.differences import differences
from harness.stats.effects import delta_ri, effect_ratio, nrmse, rmse, unpaired_t
from harness.stats.paired_t import paired_t
from harness.stats.registry import Stream

GOLDEN = golden("reproduction")["reproducibility"]
EXPECTED = GOLDEN["expected"]
VALUES = st.lists(st.integers(0, 20).map(lambda n: n / 20), min_size=2, max_size=12)


def values(which: str, metric: str) -> np.ndarray:
    return np.array([row[metric] for row in GOLDEN[which].values()])


def near(expected: float) -> object:
    return pytest.approx(expected, abs=1e-12, rel=0)


@pytest.mark.parametrize("metric", ["nDCG", "AP"])
def test_golden_values(metric: str) -> None:
    for which in ("baseline", "advanced"):
        old, new = values(f"orig_{which}", metric), values(f"rep_{which}", metric)
        assert rmse(old, new) == near(EXPECTED[f"RMSE_{which}"][metric])
        assert nrmse(old, new) == near(EXPECTED[f"nRMSE_{which}"][metric])
        found = paired_t(differences(new, old), Stream()).p
        assert found == near(EXPECTED[f"ttest_paired_{which}"][metric])
    assert unpaired_t(old, new) == near(EXPECTED["welch_unpaired_advanced"][metric])
    means = [
        float(values(which, metric).mean())
        for which in ("orig_advanced", "orig_baseline", "rep_advanced", "rep_baseline")
    ]
    assert effect_ratio(*means) == near(EXPECTED["ER"][metric])
    assert delta_ri(*means) == near(EXPECTED["DRI"][metric])


def test_by_hand() -> None:
    old, new = np.array([0.5, 0.1]), np.array([0.2, 0.5])
    # ((.3)^2 + (.4)^2) / 2 = .125; the furthest bounds are .5 and .9 away: (.25 + .81) / 2 = .53
    assert rmse(old, new) == pytest.approx(math.sqrt(0.125), rel=1e-15)
    assert nrmse(old, new) == pytest.approx(math.sqrt(0.125 / 0.53), rel=1e-15)
    # within [-1, 1] they are 1.5 and 1.1 away: (2.25 + 1.21) / 2 = 1.73
    assert nrmse(old, new, (-1, 1)) == pytest.approx(math.sqrt(0.125 / 1.73), rel=1e-15)
    # .1 of .2; .2 / .4 - .1 / .4 = .25
    assert effect_ratio(0.6, 0.4, 0.5, 0.4) == pytest.approx(0.5)
    assert delta_ri(0.6, 0.4, 0.5, 0.4) == pytest.approx(0.25)


def test_what_is_not_defined_is_nan() -> None:
    nothing = np.empty(0)
    assert math.isnan(rmse(nothing, nothing))
    assert math.isnan(nrmse(nothing, nothing))
    assert math.isnan(nrmse(np.array([3.0]), np.array([4.0]), (0, math.inf)))
    assert math.isnan(effect_ratio(0.4, 0.4, 0.5, 0.4))
    assert math.isnan(delta_ri(0.4, 0.0, 0.5, 0.4))
    assert math.isnan(delta_ri(0.4, 0.2, 0.5, 0.0))
    assert math.isnan(unpaired_t(np.array([0.1]), np.array([0.1, 0.2])))
    same = np.full(7, 0.1)
    assert unpaired_t(same, same) == 1.0
    assert math.isnan(unpaired_t(same, np.full(7, 0.2)))


@given(VALUES, VALUES)
def test_unpaired_t_is_scipys(one: list[float], other: list[float]) -> None:
    first, second = np.array(one), np.array(other)
    if 0 in (np.ptp(first), np.ptp(second)):  # SciPy warns
        return
    expected = stats.ttest_ind(first, second, equal_var=False).pvalue
    assert unpaired_t(first, second) == pytest.approx(expected, rel=1e-9)
