"""What paired tests say of odd data, and that p depends on seed and names alone."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

from harness.stats import randomization as sign_flips
from harness.stats.differences import differences
from harness.stats.registry import SMALLEST, Outcome, as_p, find
from harness.stats.streams import Stream

PAIRED = ("paired-t", "randomization", "wilcoxon", "sign")


def outcome(name: str, of: object, stream: Stream | None = None) -> Outcome:
    found = find(name).function(np.asarray(of, dtype=np.float64), stream or Stream())
    assert isinstance(found, Outcome)
    return found


# --- named outcomes; any warning from below would fail these ---


@pytest.mark.parametrize("name", PAIRED)
@pytest.mark.parametrize("n", [1, 2, 50])
def test_a_run_against_itself(name: str, n: int) -> None:
    values = np.random.default_rng(0).random(n)
    found = outcome(name, differences(values, values))
    assert (found.p, found.statistic, found.note) == (1.0, 0.0, "identical")


@pytest.mark.parametrize("name", PAIRED)
def test_fewer_than_two_queries(name: str) -> None:
    one, none = outcome(name, [0.2]), outcome(name, [])
    assert math.isnan(one.p)
    assert math.isnan(none.p)
    assert (one.note, none.note) == ("n=1", "n=0")


def test_a_constant_shift_has_no_t_and_an_exact_p_elsewhere() -> None:
    values = np.random.default_rng(1).random(10)
    found = differences(values + 0.1, values)  # ten floats that are not quite .1
    t = outcome("paired-t", found)
    assert math.isnan(t.p)
    assert math.isnan(t.statistic)
    assert t.note == "zero variance"
    for name in PAIRED[1:]:
        assert outcome(name, found).p == pytest.approx(2 / 2**10, rel=1e-13)


@pytest.mark.parametrize(
    ("name", "p"),
    # t: the mean is its own standard error whatever the one difference is, so t(9) is 1
    [("paired-t", 0.3434363961379136), ("randomization", 1), ("wilcoxon", 1), ("sign", 1)],
)
def test_one_query_of_ten_differs(name: str, p: float) -> None:
    found = outcome(name, [0.37] + 9 * [0.0])
    assert found.p == pytest.approx(p, rel=1e-12)
    assert found.note == ""


@pytest.mark.parametrize(
    ("name", "p"),
    # t: mean .15, deviation .05 sqrt(2), so t(1) = 3 and p = 1 - 2 atan(3) / pi
    [
        ("paired-t", 1 - 2 * math.atan(3) / math.pi),
        ("randomization", 0.5),
        ("wilcoxon", 0.5),
        ("sign", 0.5),
    ],
)
def test_two_queries(name: str, p: float) -> None:
    assert outcome(name, [0.1, 0.2]).p == pytest.approx(p, rel=1e-12)


def test_opposite_differences_are_as_likely_as_any() -> None:
    for name in PAIRED[1:]:
        assert outcome(name, [0.1, -0.1, 0.3, -0.3]).p == 1


# --- p is never 0 ---


@pytest.mark.parametrize("name", PAIRED)
def test_no_p_is_zero(name: str) -> None:
    """3,000 queries won by much: 2^-2999 is below any double."""
    won = 1 + np.arange(3000) % 7 / 1000
    assert outcome(name, won).p == SMALLEST > 0


def test_draws_are_counted_with_the_observed_one() -> None:
    won = 1 + np.random.default_rng(2).random(100)
    found = outcome("randomization", won, Stream(draws=999))
    assert (found.p, found.method) == (1 / 1000, "999 draws")
    assert outcome("randomization", won, Stream(draws=0)).p == 1


def test_probabilities_stay_within_bounds() -> None:
    assert [as_p(tail) for tail in (0.0, 0.25, 1 + 1e-15)] == [SMALLEST, 0.25, 1.0]


# --- the same p ---


def comparisons() -> list[tuple[np.ndarray, Stream]]:
    rng = np.random.default_rng(3)
    return [
        (rng.normal(0.01, 1, n), Stream(("set", "map", "base", f"run{n}"), seed=5, draws=1000))
        for n in (37, 64, 500, 701)
    ]


def test_the_same_seed_gives_the_same_p_for_any_number_of_workers() -> None:
    def p(comparison: tuple[np.ndarray, Stream]) -> float:
        return outcome("randomization", *comparison).p

    alone = [p(each) for each in comparisons()]
    for workers in (1, 4):
        with ThreadPoolExecutor(workers) as pool:
            assert list(pool.map(p, comparisons())) == alone
            assert list(pool.map(p, comparisons()[::-1])) == alone[::-1]


@pytest.mark.parametrize("at_once", [1, 3000, 2**30])
def test_what_is_held_at_a_time_does_not_matter(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [outcome("randomization", *each).p for each in comparisons()]
    sums = [sign_flips.drawn_sums(*each) for each in comparisons()]
    monkeypatch.setattr(sign_flips, "SUMS_AT_ONCE", at_once)
    assert [outcome("randomization", *each).p for each in comparisons()] == before
    for each, known in zip(comparisons(), sums, strict=True):
        np.testing.assert_allclose(sign_flips.drawn_sums(*each), known, rtol=0, atol=1e-11)


def test_seed_and_names_change_the_draws() -> None:
    found = comparisons()[2][0]
    streams = [Stream(("a",), seed=1), Stream(("b",), seed=1), Stream(("a",), seed=2)]
    ps = {outcome("randomization", found, stream).p for stream in streams}
    assert len(ps) == 3


def test_the_p_of_a_seed_is_pinned() -> None:
    """A change of it changes published numbers: say so in the changelog."""
    found = np.sqrt(np.arange(1, 101)) * np.where(np.arange(100) % 3, 1, -1.6)
    assert outcome("randomization", found, Stream(("a", "b"), seed=1)).p == 3607 / 10001


# --- the draws ---


def test_a_draw_is_a_sum_with_each_sign() -> None:
    """Powers of 2 show the signs: all are drawn, each half of the time, none with another."""
    sizes = 2.0 ** np.arange(20)
    draws = 40_000
    sums = sign_flips.drawn_sums(sizes, Stream(draws=draws))
    bits = ((sums.astype(int) + 2**20 - 1) // 2)[:, None] >> np.arange(20) & 1
    assert sums.shape == (draws,)
    assert ((2 * bits - 1) @ sizes == sums).all()
    spread = 5 / math.sqrt(draws)  # five standard errors of a mean of signs
    signs = 2 * bits - 1
    assert np.abs(signs.mean(axis=0)).max() < spread
    assert np.abs(signs.T @ signs / draws - np.eye(20)).max() < spread


@pytest.mark.parametrize("draws", [1, 7, 8, 9, 1000])
def test_as_many_draws_as_are_asked_for(draws: int) -> None:
    assert sign_flips.drawn_sums(np.ones(70), Stream(draws=draws)).shape == (draws,)


def test_a_grid_too_fine_is_drawn_and_compared_as_whole_numbers() -> None:
    found = differences(np.round(np.random.default_rng(8).normal(0, 1, 3000), 4), np.zeros(3000))
    drawn = outcome("randomization", found)
    assert drawn.method == "10000 draws"
    # The normal distribution is near enough for 3,000 queries: five standard errors of 10,000.
    z = found.sum() / math.sqrt((found**2).sum())
    expected = math.erfc(abs(z) / math.sqrt(2))
    assert abs(drawn.p - expected) < 5 * math.sqrt(expected * (1 - expected) / 10_000) + 1e-3


def test_convolution_takes_large_numbers_of_ties() -> None:
    """P@10 of 6,980 queries: exact, and as the binomial where all sizes are one."""
    found = np.r_[np.full(3560, 0.1), np.full(3420, -0.1)]
    ours = outcome("randomization", found)
    tail = Fraction(2 * sum(math.comb(6980, k) for k in range(3421)), 2**6980)
    assert ours.method == "exact"
    assert ours.p == pytest.approx(float(tail), rel=1e-12)
    assert ours.p == pytest.approx(outcome("sign", found).p, rel=1e-9)


# --- the registry's facts ---


@pytest.mark.parametrize(
    ("name", "sources", "random"),
    [
        ("paired-t", ("student1908",), False),
        ("randomization", ("fisher1935", "smucker2007", "phipson2010"), True),
        ("wilcoxon", ("wilcoxon1945",), False),
        ("sign", ("conover1999",), False),
    ],
)
def test_facts(name: str, sources: tuple[str, ...], random: bool) -> None:
    test = find(name)
    assert (test.kind, test.sources, test.random) == ("paired", sources, random)
    assert "two-sided" in test.title
    assert test.summary.startswith("Test that ")
