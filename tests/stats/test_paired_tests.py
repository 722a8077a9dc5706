"""Paired tests: golden, published and literal values; named outcomes; draws."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from made_systems import SAMPLES, sample

from harness.stats import randomization as sign_flips
from harness.stats.bootstrap import bootstrap, bootstrap_t
from harness.stats.differences import differences
from harness.stats.registry import Outcome, Stream, find, outcome_of

PAIRED = ("paired-t", "randomization", "wilcoxon", "sign")


def outcome(name: str, of: object, stream: Stream | None = None) -> Outcome:
    return outcome_of(find(name), np.asarray(of, dtype=np.float64), stream or Stream())


@pytest.fixture
def only_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_flips, "MOST_STEPS", 0)
    monkeypatch.setattr(sign_flips, "FEW", 0)


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


few_wholes = st.lists(st.integers(-12, 12), min_size=2, max_size=9)


def literal_flips(numbers: list[int]) -> Fraction:
    """Share of the 2^n ways to choose signs with a sum as far from 0."""
    observed = abs(sum(numbers))
    signs = itertools.product((-1, 1), repeat=len(numbers))
    far = [abs(sum(map(int.__mul__, s, numbers))) >= observed for s in signs]
    return Fraction(sum(far), len(far))


def literal_ranks(numbers: list[int]) -> list[int]:
    """Twice the signed mean ranks of the numbers that are not 0."""
    kept = [number for number in numbers if number]
    sizes = [abs(number) for number in kept]
    ranks = [sum(o < size for o in sizes) + sum(o <= size for o in sizes) + 1 for size in sizes]
    return [rank if number > 0 else -rank for rank, number in zip(ranks, kept, strict=True)]


@given(few_wholes, st.sampled_from([1.0, 0.1, 1 / 2520, 1e-4, 0.7, 250.0]))
def test_randomization_is_all_ways_to_flip_signs(numbers: list[int], step: float) -> None:
    found = outcome("randomization", np.array(numbers) * step)
    assert found.p == pytest.approx(float(literal_flips(numbers)), abs=1e-14)


@given(few_wholes)
def test_wilcoxon_is_all_ways_to_flip_ranks(numbers: list[int]) -> None:
    found = outcome("wilcoxon", np.array(numbers) * 0.1)
    assert found.p == pytest.approx(float(literal_flips(literal_ranks(numbers))), abs=1e-14)


@given(few_wholes)
def test_sign_is_all_ways_to_flip_wins(numbers: list[int]) -> None:
    found = outcome("sign", np.array(numbers) * 0.1)
    wins = [(number > 0) - (number < 0) for number in numbers]
    assert found.p == pytest.approx(float(literal_flips(wins)), abs=1e-14)


def test_scipy_agrees_on_wins() -> None:
    for wins, losses in ((1, 0), (7, 7), (90, 61), (3600, 3380), (10, 400)):
        found = np.r_[np.full(wins, 0.2), np.full(losses, -0.1), np.zeros(5)]
        theirs = scipy.stats.binomtest(wins, wins + losses).pvalue
        assert outcome("sign", found).p == pytest.approx(theirs, rel=1e-10)


# --- named outcomes; any warning from below would fail these ---


@pytest.mark.parametrize("name", PAIRED)
@pytest.mark.parametrize("n", [1, 2, 50])
def test_a_run_against_itself(name: str, n: int) -> None:
    values = np.random.default_rng(0).random(n)
    found = outcome(name, differences(values, values))
    assert (found.p, found.statistic, found.note) == (1.0, 0.0, "identical")


def test_a_constant_shift_has_no_t_and_an_exact_p_elsewhere() -> None:
    values = np.random.default_rng(1).random(10)
    found = differences(values + 0.1, values)  # ten floats that are not quite .1
    t = outcome("paired-t", found)
    assert math.isnan(t.p)
    assert math.isnan(t.statistic)
    assert t.note == "zero variance"
    for name in PAIRED[1:]:
        assert outcome(name, found).p == pytest.approx(2 / 2**10, rel=1e-13)


# --- the bootstrap ---


def whole(name: str) -> list[int]:
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
    statistic = SAMPLES["n10_continuous"]["expected"]["t"]["statistic"]
    assert found.statistic == pytest.approx(statistic, abs=1e-12)


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


@pytest.mark.parametrize("name", ["bootstrap", "bootstrap-t"])
def test_named_outcomes(name: str) -> None:
    assert outcome(name, np.zeros(10)) == Outcome(1.0, 0.0, note="identical")
    assert outcome(name, np.zeros(1)) == Outcome(1.0, 0.0, note="identical")
    for values, note in ([[0.1], "n=1"], [[], "n=0"], [[0.1] * 10, "zero variance"]):
        found = outcome(name, values)
        assert np.isnan(found.p)
        assert found.note == note
    # a shift of all queries: .1 but for floating point, which is no variance
    shifted = differences(np.linspace(0, 1, 10) + 0.1, np.linspace(0, 1, 10))
    assert outcome(name, shifted).note == "zero variance"
    one = np.zeros(10)
    one[3] = 0.5
    assert outcome(name, one).note == ""
