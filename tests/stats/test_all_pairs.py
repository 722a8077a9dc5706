"""Tests of all pairs at once: Tukey, randomised Tukey, Friedman with Nemenyi."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from made_systems import EXPECTED, PAIRS, VALUES, of_pairs, tables

from harness.core.ragged import Floats
from harness.stats.friedman import friedman_nemenyi, ranks
from harness.stats.randomised_tukey import randomized_tukey
from harness.stats.registry import Stream
from harness.stats.tukey import MANY, studentized_range_isf, studentized_range_sf, tukey

Q = np.array([0.0, 1e-300, 1e-8, 0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 9.0])


@pytest.mark.parametrize(
    ("k", "df"), [(2, 1), (3, 2), (3, 10), (6, 145), (10, 900), (50, 49), (50, 9800), (200, 4000)]
)
def test_studentized_range_against_scipy(k: int, df: int) -> None:
    expected = scipy.stats.studentized_range.sf(Q, k, df)
    assert studentized_range_sf(Q, k, df) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("k", [2, 3, 6, 50])
def test_range_of_normals_against_scipy(k: int) -> None:
    expected = scipy.stats.studentized_range.sf(Q, k, np.inf)
    assert studentized_range_sf(Q, k, math.inf) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("df", [1, 2, 7, 60, 1000, 300_000])
def test_range_of_two_is_student_t_far_into_the_tail(df: int) -> None:
    q = np.array([0.1, 1.0, 5.0, 20.0, 40.0] + [1e6] * (df == 1))
    expected = 2 * scipy.stats.t.sf(q / math.sqrt(2), df)
    assert expected[-1] < 0.05
    assert studentized_range_sf(q, 2, df) == pytest.approx(expected, rel=1e-10, abs=0)


@pytest.mark.parametrize(("k", "df"), [(3, 5), (46, 49), (143, 900), (400, math.inf)])
def test_many_values_are_the_few(k: int, df: float) -> None:
    q = np.concatenate((Q, np.random.default_rng(3).uniform(0, 45, MANY), [1e6, math.inf]))
    some = slice(None, None, 20)
    few = studentized_range_sf(q[some], k, df)
    assert studentized_range_sf(q, k, df)[some] == pytest.approx(few, rel=1e-11, abs=0)


@pytest.mark.parametrize(
    ("k", "df", "printed"),
    # Table of the studentised range at .05.
    [(2, 10, 3.151), (5, 20, 4.232), (10, 60, 4.646), (3, math.inf, 3.314)],
)
def test_critical_values_of_the_printed_table(k: int, df: float, printed: float) -> None:
    found = studentized_range_isf(0.05, k, df)
    assert found == pytest.approx(printed, abs=6e-4)
    assert studentized_range_sf(np.array([found]), k, df)[0] == pytest.approx(0.05, rel=1e-12)


def test_golden_p_values() -> None:
    found = tukey(VALUES, Stream(), 0.05)
    expected = of_pairs(EXPECTED["tukey_hsd_two_way_blocked_by_topic"])
    assert found.p[PAIRS] == pytest.approx(expected, abs=1e-10)
    in_r = of_pairs(EXPECTED["tukey_two_way_R"])
    # R integrates to about 1e-11.
    assert found.p[PAIRS] == pytest.approx([each["p"] for each in in_r], abs=1e-10)
    # R's quantile is good to 1e-6 relative; row minus column is i - j here and j - i there.
    assert -found.high[PAIRS] == pytest.approx([each["lwr"] for each in in_r], abs=2e-8)
    assert -found.low[PAIRS] == pytest.approx([each["upr"] for each in in_r], abs=2e-8)
    expected_critical = EXPECTED["tukey_critical_difference_05"]
    assert found.critical_difference == pytest.approx(expected_critical, rel=1e-10)
    assert found.method == "studentized range(6, 145)"
    assert found.note == ""


def test_the_queries_are_taken_out() -> None:
    # Trap 4: the one-way test finds nothing where the two-way one finds 8 of 15 pairs.
    one_way = scipy.stats.tukey_hsd(*VALUES).pvalue[PAIRS]
    expected = EXPECTED["tukey_hsd_one_way_unpaired(scipy.tukey_hsd=ranx)"]
    assert one_way == pytest.approx(of_pairs(expected), abs=1e-9)
    assert (one_way <= 0.05).sum() == 0
    found = tukey(VALUES, Stream())
    assert (found.p[PAIRS] <= 0.05).sum() == 8
    shifted = VALUES + np.arange(30) * 10  # what a query is worth to all does not matter
    assert tukey(shifted, Stream()).p == pytest.approx(found.p, abs=1e-10)


# SciPy's integral may warn of slow convergence.
@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
@given(values=tables())
def test_tukey_by_its_definition(values: Floats) -> None:
    k, n = values.shape
    grand, of_system, of_query = values.mean(), values.mean(axis=1), values.mean(axis=0)
    left = sum(
        (values[i, j] - of_system[i] - of_query[j] + grand) ** 2
        for i, j in itertools.product(range(k), range(n))
    )
    found = tukey(values, Stream())
    if left < 1e-20:
        assert found.note in ("identical", "zero variance")
        return
    error = left / ((k - 1) * (n - 1))
    f = n * sum((of_system - grand) ** 2) / (k - 1) / error
    assert found.statistic == pytest.approx(f, rel=1e-9, abs=1e-20)
    assert found.overall_p == pytest.approx(scipy.stats.f.sf(f, k - 1, (k - 1) * (n - 1)), rel=1e-8)
    q = abs(of_system[0] - of_system[-1]) / math.sqrt(error / n)
    expected = scipy.stats.studentized_range.sf(q, k, (k - 1) * (n - 1))
    assert found.p[0, -1] == pytest.approx(expected, abs=1e-9)
    assert (found.p == found.p.T).all()
    assert (np.diag(found.p) == 1).all()


@given(values=tables(systems=2))
def test_two_systems_are_a_paired_t_test(values: Floats) -> None:
    difference = values[0] - values[1]
    found = tukey(values, Stream())
    if np.ptp(difference) < 1e-12:
        assert found.note in ("identical", "zero variance")
        return
    t = scipy.stats.ttest_1samp(difference, 0)
    assert found.p[0, 1] == pytest.approx(t.pvalue, rel=1e-9)
    assert found.statistic == pytest.approx(t.statistic**2, rel=1e-9, abs=1e-20)
    interval = t.confidence_interval(0.95)
    assert found.low[0, 1] == pytest.approx(interval.low, rel=1e-9, abs=1e-12)
    assert found.high[0, 1] == pytest.approx(interval.high, rel=1e-9, abs=1e-12)


def literal_randomised(values: Floats) -> Floats:
    """p over all the ways to shuffle each query's values, the observed one among them."""
    n = values.shape[1]
    orders = [list(itertools.permutations(column)) for column in values.T]
    ranges = np.array([np.ptp(np.sum(way, axis=0) / n) for way in itertools.product(*orders)])
    mean = values.mean(axis=1)
    p = np.ones((mean.size, mean.size))
    for i, j in itertools.permutations(range(mean.size), 2):
        p[i, j] = (ranges >= abs(mean[i] - mean[j]) - 1e-12).mean()
    return p


@pytest.mark.parametrize(
    "values",
    [
        np.array([[0.1, 0.5, 0.3, 0.2], [0.3, 0.6, 0.6, 0.4], [0.3, 0.4, 0.8, 0.9]]),
        np.array([[0.3, 0.2, 0.1, 0.7], [0.2, 0.1, 0.2, 0.3]]),
    ],
)
def test_randomised_against_all_shuffles(values: Floats) -> None:
    draws = 20_000
    exact = literal_randomised(values)
    found = randomized_tukey(values, Stream(draws=draws))
    error = np.sqrt(exact * (1 - exact) / draws)
    assert (np.abs(found.p - exact) <= 5 * error + 1 / draws).all()
    assert found.overall_p == found.p.min()


def test_randomised_golden_values() -> None:
    found = randomized_tukey(VALUES, Stream(("golden",), draws=20_000))
    expected = np.array(of_pairs(EXPECTED["randomised_tukey_hsd_mc_seed4242_B50000"]))
    variance = np.maximum(expected, 1 / 50_000) * (1 - expected) * (1 / 20_000 + 1 / 50_000)
    assert (np.abs(found.p[PAIRS] - expected) <= 5 * np.sqrt(variance) + 1 / 10_000).all()
    assert found.p.min() >= 1 / 20_001
    assert found.critical_difference == pytest.approx(0.0577, abs=0.001)
    assert found.statistic == pytest.approx(0.10893, abs=1e-12)


@given(st.integers(1, 60))
def test_critical_difference_is_where_p_reaches_the_level(draws: int) -> None:
    values = VALUES[:, :5]
    found = randomized_tukey(values, Stream(draws=draws), 0.1)
    apart = np.abs(found.positions[:, None] - found.positions)
    assert (apart > found.critical_difference + 1e-12).tolist() == (found.p <= 0.1).tolist()
    if draws < 9:
        assert found.critical_difference == math.inf


def test_golden_nemenyi() -> None:
    found = friedman_nemenyi(VALUES, Stream(), 0.05)
    expected = EXPECTED["nemenyi"]
    assert found.p[PAIRS] == pytest.approx(of_pairs(expected["p"]), abs=1e-12)
    assert found.critical_difference == pytest.approx(expected["CD_05"], rel=1e-12)
    at_ten = friedman_nemenyi(VALUES, Stream(), 0.1).critical_difference
    assert at_ten == pytest.approx(expected["CD_10"], rel=1e-12)
    assert np.argsort(found.positions, kind="stable").tolist() == expected["order"]
    assert found.method == "studentized range(6, inf)"


@given(tables())
def test_ranks_by_their_definition(values: Floats) -> None:
    noisy = values * np.random.default_rng(0).choice([1, 1 + 2**-52], values.shape)
    expected = [
        [
            1
            + sum(other > own for other in column)
            + (sum(other == own for other in column) - 1) / 2
            for own in column
        ]
        for column in values.T
    ]
    assert ranks(noisy).T.tolist() == expected


@given(tables())
def test_friedman_against_scipy(values: Floats) -> None:
    found = friedman_nemenyi(values, Stream())
    if len(values) < 3 or not np.ptp(values, axis=0).any():
        return
    expected = scipy.stats.friedmanchisquare(*values)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-10, abs=1e-12)
    assert found.overall_p == pytest.approx(expected.pvalue, rel=1e-9)
