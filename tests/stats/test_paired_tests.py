"""Paired tests against golden, published and SciPy's values, and literal definitions."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import randomization as sign_flips
from harness.stats import wilcoxon
from harness.stats.differences import differences
from harness.stats.registry import SMALLEST, Outcome, find
from harness.stats.streams import Stream

GOLDEN = json.loads(
    (Path(__file__).resolve().parents[1] / "golden" / "significance.json").read_text("utf-8")
)
SAMPLES = GOLDEN["samples"]
PAIRED = ("paired-t", "randomization", "wilcoxon", "sign")


def outcome(name: str, of: object, stream: Stream | None = None) -> Outcome:
    found = find(name).function(np.asarray(of, dtype=np.float64), stream or Stream())
    assert isinstance(found, Outcome)
    return found


def sample(name: str) -> np.ndarray:
    return differences(np.array(SAMPLES[name]["b"]), np.array(SAMPLES[name]["a"]))


@pytest.fixture
def only_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_flips, "MOST_STEPS", 0)
    monkeypatch.setattr(sign_flips, "FEW", 0)


# --- golden and published values ---


@pytest.mark.parametrize("name", SAMPLES)
def test_golden_t(name: str) -> None:
    expected = SAMPLES[name]["expected"]["t"]
    found = outcome("paired-t", sample(name))
    assert found.statistic == pytest.approx(expected["statistic"], rel=1e-12)
    assert found.p == pytest.approx(expected["p"]["two-sided"], rel=1e-12)
    assert found.method == f"t({expected['df']})"


@pytest.mark.parametrize("name", SAMPLES)
def test_golden_exact_p(name: str) -> None:
    expected = SAMPLES[name]["expected"]
    flips, ranks, wins = (outcome(test, sample(name)) for test in PAIRED[1:])
    assert flips.p == pytest.approx(expected["randomisation"]["exact"]["two_sided"], abs=1e-12)
    assert flips.statistic == pytest.approx(expected["mean_diff"], rel=1e-12)
    assert ranks.p == pytest.approx(expected["wilcoxon"]["wilcox"]["exact_two_sided"], abs=1e-12)
    assert ranks.statistic == expected["wilcoxon"]["wilcox"]["W_plus"]
    assert wins.p == pytest.approx(expected["sign"]["p_ties_dropped"]["two-sided"], abs=1e-12)
    assert wins.statistic == expected["sign"]["n_plus"]
    assert {found.method for found in (flips, ranks, wins)} == {"exact"}


@pytest.mark.usefixtures("only_draws")
@pytest.mark.parametrize("name", SAMPLES)
def test_golden_p_by_draws(name: str) -> None:
    expected = SAMPLES[name]["expected"]["randomisation"]["exact"]["two_sided"]
    found = outcome("randomization", sample(name), Stream(seed=7, draws=100_000))
    assert found.method == "100000 draws"
    assert abs(found.p - expected) <= 5 * math.sqrt(expected * (1 - expected) / 100_000)


def test_published_values_of_sakai() -> None:
    published = GOLDEN["published_anchors"]["sakai_table5_1"]
    found = outcome("paired-t", sample("sakai_table5_1_Y_vs_X"))
    assert round(found.statistic, 3) == published["t"]
    assert round(found.p, 3) == published["p"]


def test_published_values_of_smucker_allan_and_carterette() -> None:
    for example in GOLDEN["published_anchors"]["smucker2007_example"]:
        plus, n = example["n_plus"], example["n"]
        found = outcome("sign", [0.1] * plus + [-0.1] * (n - plus))
        assert round(found.p, 4) == example["p"]


def test_published_sign_test_of_urbano_lima_and_hanjalic() -> None:
    # TREC-8 ad hoc, AP of runs 125 and 126: 13 wins and 31 losses of at least .01
    published = GOLDEN["published_anchors"]["sigir2019_readme_adhoc8_ap_run125_vs_run126"]
    found = outcome("sign", [0.1] * 13 + [-0.1] * 31 + [0.0] * 6)
    assert found.p == pytest.approx(published["readme"]["sign"][1], abs=5e-10)
    assert found.p == pytest.approx(published["recomputed"]["sign_min_d_01"][1], rel=1e-12)


# --- trap: floats ---


def p_at_10_like() -> np.ndarray:
    """Return P@10 of 50 queries for two systems whose means differ."""
    rng = np.random.default_rng(20)
    one = rng.binomial(10, 0.4, 50)
    other = np.clip(one + rng.integers(-3, 4, 50), 0, 10)
    return differences(other / 10, one / 10)


def literal_sign_flip_p(numbers: list[int]) -> Fraction:
    """Return P(|sum +-x| >= |sum x|), sum by sum, with whole numbers and fractions."""
    ways = {0: Fraction(1)}
    for number in numbers:
        grown: dict[int, Fraction] = {}
        for total, share in ways.items():
            for signed in (total - number, total + number):
                grown[signed] = grown.get(signed, Fraction(0)) + share / 2
        ways = grown
    return sum(
        (share for total, share in ways.items() if abs(total) >= abs(sum(numbers))), Fraction(0)
    )


def test_precision_at_10_of_50_queries_is_exact() -> None:
    found = p_at_10_like()
    exact = float(literal_sign_flip_p(np.rint(found * 10).astype(int).tolist()))
    assert outcome("randomization", found).p == pytest.approx(exact, abs=1e-13)
    assert outcome("randomization", found).method == "exact"


@pytest.mark.usefixtures("only_draws")
@pytest.mark.parametrize("on_grid", [True, False])
def test_draws_that_tie_the_observed_mean_count(
    on_grid: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Comparing plain floats loses some: .40 for a p of .483."""
    if not on_grid:
        monkeypatch.setattr(sign_flips, "multiples", lambda sizes: None)
    found = p_at_10_like()
    exact = float(literal_sign_flip_p(np.rint(found * 10).astype(int).tolist()))
    stream = Stream(draws=100_000)
    error = math.sqrt(exact * (1 - exact) / stream.draws)
    assert abs(outcome("randomization", found, stream).p - exact) <= 5 * error
    sums = sign_flips.drawn_sums(np.abs(found[found != 0]), stream)
    naive = (np.abs(sums) >= abs(found.sum())).mean()
    assert naive < exact - 0.05


def test_sizes_are_tied_before_they_are_ranked() -> None:
    plain = np.array(SAMPLES["sakai_table5_1_Y_vs_X"]["b"]) - SAMPLES["sakai_table5_1_Y_vs_X"]["a"]
    cleaned = sample("sakai_table5_1_Y_vs_X")
    assert np.unique(np.abs(plain)).size == 9
    assert np.unique(np.abs(cleaned)).tolist() == pytest.approx([0, 0.1, 0.2, 0.3, 0.4])
    split = SAMPLES["sakai_table5_1_Y_vs_X"]["expected"]["wilcoxon"]
    assert abs(outcome("wilcoxon", plain).p - split["wilcox"]["exact_two_sided"]) > 5e-4
    assert outcome("wilcoxon", cleaned).p == split["wilcox"]["exact_two_sided"]


# --- literal definitions ---

few_wholes = st.lists(st.integers(-12, 12), min_size=2, max_size=9)


def literal_flips(numbers: list[int]) -> Fraction:
    """Return the share of the 2^n ways to choose signs with a sum as far from 0."""
    observed = abs(sum(numbers))
    signs = itertools.product((-1, 1), repeat=len(numbers))
    far = [abs(sum(map(int.__mul__, s, numbers))) >= observed for s in signs]
    return Fraction(sum(far), len(far))


def literal_ranks(numbers: list[int]) -> list[int]:
    """Return twice the signed mean ranks of the numbers that are not 0."""
    kept = [number for number in numbers if number]
    sizes = [abs(number) for number in kept]
    ranks = [sum(o < size for o in sizes) + sum(o <= size for o in sizes) + 1 for size in sizes]
    return [rank if number > 0 else -rank for rank, number in zip(ranks, kept, strict=True)]


@given(few_wholes, st.sampled_from([1.0, 0.1, 1 / 2520, 1e-4, 0.7, 250.0]))
def test_randomization_is_all_ways_to_flip_signs(numbers: list[int], step: float) -> None:
    found = outcome("randomization", np.array(numbers) * step)
    assert found.p == pytest.approx(float(literal_flips(numbers)), abs=1e-14)


@given(few_wholes)
def test_few_numbers_off_any_grid_are_flipped_in_all_ways(numbers: list[int]) -> None:
    scaled = [number * 10**6 + place**7 for place, number in enumerate(numbers)]
    found, method = sign_flips.sign_flip_p(np.sqrt(2) * np.array(scaled), Stream())
    assert (method, found) == ("exact", pytest.approx(float(literal_flips(scaled)), abs=1e-14))


@given(few_wholes)
def test_wilcoxon_is_all_ways_to_flip_ranks(numbers: list[int]) -> None:
    found = outcome("wilcoxon", np.array(numbers) * 0.1)
    assert found.p == pytest.approx(float(literal_flips(literal_ranks(numbers))), abs=1e-14)


@given(few_wholes)
def test_sign_is_all_ways_to_flip_wins(numbers: list[int]) -> None:
    found = outcome("sign", np.array(numbers) * 0.1)
    wins = [(number > 0) - (number < 0) for number in numbers]
    assert found.p == pytest.approx(float(literal_flips(wins)), abs=1e-14)


@given(st.lists(st.floats(-1, 1, width=16), min_size=2, max_size=60), st.sampled_from(PAIRED))
def test_who_is_the_baseline_does_not_matter(numbers: list[float], name: str) -> None:
    one, other = (outcome(name, sign * np.array(numbers)) for sign in (1, -1))
    assert one.p == pytest.approx(other.p, rel=1e-12, nan_ok=True)
    assert (one.method, one.note) == (other.method, other.note)
    assert not one.p <= 0


@pytest.mark.parametrize("n", [2, 3, 15, 36])
def test_counting_ways_and_convolution_agree(n: int) -> None:
    whole = np.random.default_rng(n).integers(1, 1000, n)
    signs = np.random.default_rng(n + 1).choice([-1, 1], n)
    observed = int(whole @ signs)
    few = sign_flips.exact_of_few(whole.astype(float), abs(observed) - 0.5)
    assert few == pytest.approx(sign_flips.exact_on_grid(whole, observed), rel=1e-13)


def test_the_far_tail_keeps_its_digits() -> None:
    """2,000 times the same size, 1,950 wins: a binomial tail near 1e-470 is below any double."""
    for wins in (1100, 1300, 1700, 1950):
        exact = Fraction(sum(math.comb(2000, k) for k in range(2000 - wins + 1)), 2**1999)
        p = sign_flips.exact_on_grid(np.full(2000, 3), 3 * (2 * wins - 2000))
        assert p == pytest.approx(max(float(exact), SMALLEST), rel=1e-12)
    assert float(exact) == 0 < p


# --- other libraries ---


def test_scipy_agrees_on_continuous_values() -> None:
    rng = np.random.default_rng(3)
    for n in (6, 12):
        found = rng.normal(0.3, 1, n)
        theirs = scipy.stats.permutation_test(
            (found,), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=True
        )
        assert outcome("randomization", found).p == pytest.approx(theirs.pvalue, abs=1e-14)
        assert outcome("paired-t", found).p == pytest.approx(
            scipy.stats.ttest_1samp(found, 0).pvalue, rel=1e-12
        )


def test_scipy_agrees_on_ranks() -> None:
    found = np.random.default_rng(4).normal(0.1, 1, 45)
    assert outcome("wilcoxon", found).p == pytest.approx(
        scipy.stats.wilcoxon(found, method="exact").pvalue, rel=1e-12
    )
    many = np.round(np.random.default_rng(5).normal(0.02, 1, 4000), 1)  # with ties and zeros
    ours = outcome("wilcoxon", differences(many, np.zeros(4000)))
    theirs = scipy.stats.wilcoxon(many, correction=True, method="asymptotic")
    assert ours.method == "normal approximation"
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-10)


def test_scipy_agrees_on_wins() -> None:
    for wins, losses in ((1, 0), (7, 7), (90, 61), (3600, 3380), (10, 400)):
        found = np.r_[np.full(wins, 0.2), np.full(losses, -0.1), np.zeros(5)]
        theirs = scipy.stats.binomtest(wins, wins + losses).pvalue
        assert outcome("sign", found).p == pytest.approx(theirs, rel=1e-10)


def test_the_approximation_meets_the_exact_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    found = np.round(np.random.default_rng(6).normal(0.1, 1, 400), 1)
    exact = outcome("wilcoxon", found)
    monkeypatch.setattr(wilcoxon, "exact_on_grid", lambda ranks, observed: None)
    near = outcome("wilcoxon", found)
    assert (exact.method, near.method) == ("exact", "normal approximation")
    assert near.p == pytest.approx(exact.p, rel=5e-3)
    for name in ("n25_ndcg", "n50_rr"):  # two that have no ties to speak of, and many
        golden = SAMPLES[name]["expected"]["wilcoxon"]["wilcox"]
        assert outcome("wilcoxon", sample(name)).p == pytest.approx(
            golden["scipy_asymptotic_two_sided_corrected"], abs=1e-12
        )
