"""Which runs can be told apart: by the comparisons themselves, so that tiers agree with them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_systems import systems
from several_values import EXPECTED, PAIRS, VALUES, tables

from harness.core.comparison import Comparisons, Plan
from harness.core.ragged import Floats
from harness.reports.comparisons import standing_notes
from harness.stats.compare import compare
from harness.stats.corrections import adjust
from harness.stats.differences import differences
from harness.stats.paired_t import paired_t
from harness.stats.streams import Stream
from harness.stats.tiers import paired_t_of_pairs

GOLDEN = {f"s{place}": row.tolist() for place, row in enumerate(VALUES)}


def tiers_of(found: Comparisons) -> dict[str, set[str]]:
    """The numbers of each run's tiers: 1-3 is 1, 2 and 3."""
    numbers = {}
    for one in found.standings:
        first, _, last = one.tier.partition("-")
        numbers[one.run] = {str(each) for each in range(int(first), int(last or first) + 1)}
    return numbers


# Paired t-tests of every pair


def test_p_of_the_golden_pairs() -> None:
    p = paired_t_of_pairs(VALUES)
    assert p[PAIRS] == pytest.approx(EXPECTED["paired_t_raw"], rel=1e-10)
    assert (p == p.T).all()
    assert np.diag(p).tolist() == [1.0] * 6


@given(tables())
@settings(max_examples=60, deadline=None)
def test_each_p_is_that_of_the_test_of_one_pair(values: Floats) -> None:
    p = paired_t_of_pairs(values)
    for one, other in zip(*np.triu_indices(len(values), 1), strict=True):
        expected = paired_t(differences(values[other], values[one]), Stream()).p
        if values.shape[1] > 1:
            assert p[one, other] == pytest.approx(expected, rel=1e-6, nan_ok=True)


def test_equal_and_shifted_systems() -> None:
    base = np.array([0.1, 0.2, 0.4])
    p = paired_t_of_pairs(np.array([base, base, base + 0.1, base + np.array([0.1, 0.2, 0.3])]))
    assert p[0, 1] == 1.0
    assert math.isnan(p[0, 2])  # .1 each time but for floating point: no deviation to judge by
    # .1, .2, .3: t = .2 / (.1 / sqrt(3)) = 3.4641, as for 1, 2, 3
    assert p[0, 3] == pytest.approx(0.0742, abs=1e-4)
    assert math.isnan(paired_t_of_pairs(np.array([[0.1], [0.2]]))[0, 1])


@pytest.mark.parametrize("scale", [1e-160, 1e-300, 1.0, 1e150])
def test_p_does_not_hang_on_the_scale(scale: float) -> None:
    found = paired_t_of_pairs(VALUES * scale)[PAIRS]
    assert found == pytest.approx(EXPECTED["paired_t_raw"], rel=1e-9)


def test_a_huge_query_hides_no_constant_difference_elsewhere() -> None:
    # differences 1, 2, 3 and 0 on a query of 1e16, whose rounding is above them all
    p = paired_t_of_pairs(np.array([[0.0, 0.0, 0.0, 1e16], [1.0, 2.0, 3.0, 1e16]]))[0, 1]
    assert p == pytest.approx(paired_t(np.array([1.0, 2.0, 3.0, 0.0]), Stream()).p)


# Tiers


@pytest.mark.parametrize("baselines", [(), ("s0",), ("s5", "s1")])
@pytest.mark.parametrize(
    "test", ["paired-t", "wilcoxon", "sign", "tukey", "randomized-tukey", "friedman-nemenyi"]
)
@pytest.mark.parametrize("correction", ["holm", "none"])
def test_what_is_significant_shares_no_tier(
    baselines: tuple[str, ...], test: str, correction: Any
) -> None:
    found = compare(systems(GOLDEN), Plan(baselines, test, correction, draws=999))
    numbers = tiers_of(found)
    apart = [one for one in found.rows if found.is_significant(one)]
    assert apart
    for one in apart:
        assert not numbers[one.run] & numbers[one.baseline], (one.run, one.baseline)


@given(st.integers(0, 200), st.sampled_from(["paired-t", "sign"]))
@settings(max_examples=40, deadline=None)
def test_of_noisy_systems_too(seed: int, test: str) -> None:
    rng = np.random.default_rng(seed)
    noise = np.array([0.01, 0.02, 0.3, 0.05, 1.0])
    values = rng.random(25) + noise[:, None] * rng.normal(rng.random((5, 1)) / 3, 1, (5, 25))
    made = systems({f"s{place}": row for place, row in enumerate(values.tolist())})
    found = compare(made, Plan(("s0",), test))
    numbers = tiers_of(found)
    for one in found.rows:
        assert not (found.is_significant(one) and numbers[one.run] & numbers[one.baseline])


def test_a_noisy_run_does_not_hide_the_others() -> None:
    # b beats a by .01, .02 or .03 on each query, and noise goes up and down by 1
    n = 30
    base = np.arange(n) / n
    step = 0.01 * (1 + np.arange(n) % 3)
    noise = base + np.where(np.arange(n) % 2, 1.0, -1.0)
    made = systems({"a": base.tolist(), "b": (base + step).tolist(), "noise": noise.tolist()})
    for baselines in ((), ("a",), ("noise",)):
        numbers = tiers_of(compare(made, Plan(baselines)))
        assert not numbers["a"] & numbers["b"], baselines


def test_with_a_baseline_the_pairs_of_the_block_are_corrected() -> None:
    found = compare(systems(GOLDEN), Plan(("s2",)))
    p = np.ones((6, 6))
    p[PAIRS] = adjust(np.array(EXPECTED["paired_t_raw"]), "holm")
    numbers = tiers_of(found)
    together = [bool(numbers[f"s{one}"] & numbers[f"s{two}"]) for one, two in zip(*PAIRS)]  # noqa: B905
    assert together == (p[PAIRS] > 0.05).tolist()


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (Plan(), "by the comparisons above"),
        (Plan(("s0",)), "by the comparisons above or by paired t-tests of every pair (Holm's "
         "correction over the pairs of each table)"),
        (Plan(("s0",), correction="none"), "by the comparisons above or by paired t-tests of "
         "every pair (not corrected)"),
        (Plan(("s0", "s1", "s2", "s3", "s4")), "by the comparisons above"),
    ],
)  # fmt: skip
def test_the_footer_says_by_what(plan: Plan, said: str) -> None:
    (line, _) = standing_notes(compare(systems(GOLDEN), plan))
    assert line == f"tier: runs that share a number cannot be told apart at 0.05, {said}"


def test_the_footer_of_a_test_of_all_pairs() -> None:
    (line, _) = standing_notes(compare(systems(GOLDEN), Plan(("s0",), "tukey")))
    assert line.endswith(
        "at 0.05, by Tukey's HSD test on a two-way ANOVA of systems and queries over all pairs"
    )
