"""The gate's verdicts, against scipy and by simulation."""

import numpy as np
import pytest
from scipy import stats

from harness.core.names import parse
from harness.errors import ArgumentError
from harness.stats.gate import Margin, Pair, judge

NDCG, MSE = parse("ndcg@10")[0], parse("mse")[0]


def pair(baseline: object, candidate: object, metric: object = NDCG) -> Pair:
    before, after = np.asarray(baseline, float), np.asarray(candidate, float)
    return Pair("d", "", "new", metric, [f"q{i}" for i in range(before.size)], before, after)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("metric", [NDCG, MSE])
def test_verdicts_equal_scipys(seed: int, metric: object) -> None:
    rng = np.random.default_rng(seed)
    before = rng.random(40)
    after = before + rng.normal(rng.choice([-0.1, -0.02, 0, 0.05]), 0.1, 40)
    (one,) = judge([(pair(before, after, metric), Margin(0.03))])
    gains = (after - before) * (-1 if metric is MSE else 1)
    low, high = stats.ttest_1samp(gains, 0).confidence_interval(0.95)
    p = stats.ttest_1samp(gains, -0.03, alternative="less").pvalue
    expected = "pass" if low > -0.03 else "fail" if high < -0.03 or p <= 0.05 else "undecided"
    assert one.outcome == expected
    assert one.p == pytest.approx(p)
    assert one.difference == pytest.approx(float(np.mean(after - before)))


def test_the_correction_is_over_all_pairs() -> None:
    rng = np.random.default_rng(3)
    before = rng.random(30)
    pairs = [(pair(before, before - 0.04 + rng.normal(0, 0.1, 30)), Margin(0.01)) for _ in range(8)]
    found = judge(pairs, correction="bonferroni")
    assert [one.p_adjusted for one in found] == [min(1, 8 * one.p) for one in found]


def test_ends() -> None:
    same, lower = np.linspace(0, 1, 9), np.linspace(0, 1, 9) - 0.2
    assert judge([(pair(same, same), Margin(1e-9))])[0].outcome == "pass"
    assert judge([(pair(same, lower), Margin(0.1))])[0].outcome == "fail"
    assert judge([(pair([0.5], [0.4]), Margin(0.01))])[0].outcome == "undecided"
    (few,) = judge([(pair(same[:8], same[::-1][:8]), Margin(0.01))])
    assert few.outcome == "undecided"
    assert few.needed > 8
    drop = Margin(0.1, tested=False)
    assert judge([(pair(same, lower), drop)])[0].outcome == "fail"
    assert judge([(pair(same, same - 0.05), drop)])[0].outcome == "pass"
    (gap,) = judge([(pair([0.5, np.nan, 1], [0.5, 0.1, 1]), Margin(0.01))])
    assert gap.n == 2


def test_queries_needed_are_the_fewest_with_power() -> None:
    rng = np.random.default_rng(0)
    close, before, gains = rng.normal(0, 0.02, 60), rng.random(60), rng.normal(0, 0.2, 8)
    (one,) = judge([(pair(before[:8], before[:8] + gains), Margin(0.05))])
    (near,) = judge([(pair(before, before + close - close.mean() - 0.019), Margin(0.02))])
    assert (one.outcome, near.outcome) == ("undecided", "undecided")
    assert near.needed > 60  # more than there are, though an equal candidate passes with fewer
    deviation = np.std(gains, ddof=1)

    def power(n: int) -> float:
        """How often an equally good candidate passes with n queries."""
        shift = 0.05 / (deviation / np.sqrt(n))
        return float(stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, shift))

    assert power(one.needed - 1) < 0.8 <= power(one.needed)


def test_no_loss_of_a_metric_that_is_better_if_lower_is_plus_zero() -> None:
    (one,) = judge([(pair([1.0, 2], [1, 2], MSE), Margin(1e-9))])
    assert f"{one.difference} {one.low} {one.high}" == "0.0 0.0 0.0"


def test_margins() -> None:
    assert Margin.parse("2.5%").units(0.4) == pytest.approx(0.01)
    assert Margin.parse("0.01").units(0.4) == 0.01
    for wrong in ("-0.1", "0", "0%", "x", "nan", "inf"):
        with pytest.raises(ArgumentError):
            Margin.parse(wrong)


@pytest.mark.parametrize(("shift", "outcome", "most"), [(-0.05, "pass", 0.04), (0.0, "fail", 0.08)])
def test_errors_are_rare(shift: float, outcome: str, most: float) -> None:
    """A candidate at the margin seldom passes; one that is equal seldom fails."""
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(500):
        before = rng.random(50)
        after = before + rng.normal(shift, 0.15, 50)
        found += judge([(pair(before, after), Margin(0.05))])[0].outcome == outcome
    assert found / 500 <= most
