"""Friedman and Nemenyi, and what all tests of several systems make of degenerate values."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from several_values import ALL_PAIRS, EXPECTED, PAIRS, VALUES, of_pairs, tables

from harness.core.ragged import Floats
from harness.stats.friedman import friedman_nemenyi, iman_davenport, ranks
from harness.stats.registry import SMALLEST, AllPairs, find
from harness.stats.streams import Stream


def test_golden_friedman() -> None:
    found = friedman_nemenyi(VALUES, Stream())
    expected = EXPECTED["friedman"]
    assert found.statistic == pytest.approx(expected["chi2"], rel=1e-12)
    assert found.overall_p == pytest.approx(expected["p"], rel=1e-10)
    assert found.positions == pytest.approx(expected["average_ranks_1_is_best"], rel=1e-14)
    f, p = iman_davenport(found.statistic, 6, 30)
    assert f == pytest.approx(expected["iman_davenport_F"], rel=1e-12)
    assert p == pytest.approx(expected["iman_davenport_p"], rel=1e-10)


def test_golden_nemenyi() -> None:
    found = friedman_nemenyi(VALUES, Stream(), 0.05)
    expected = EXPECTED["nemenyi"]
    assert found.p[PAIRS] == pytest.approx(of_pairs(expected["p"]), abs=1e-12)
    assert found.critical_difference == pytest.approx(expected["CD_05"], rel=1e-12)
    at_ten = friedman_nemenyi(VALUES, Stream(), 0.1).critical_difference
    assert at_ten == pytest.approx(expected["CD_10"], rel=1e-12)
    assert found.positions is not None
    assert np.argsort(found.positions, kind="stable").tolist() == expected["order"]
    assert found.method == "studentized range(6, inf)"


def test_printed_critical_differences() -> None:
    # Demsar 2006, table 5a: q.05 = 2.569 for four systems; CD = 2.569 sqrt(4 * 5 / (6 * 14)).
    values = np.random.default_rng(0).random((4, 14))
    found = friedman_nemenyi(values, Stream()).critical_difference
    assert found == pytest.approx(2.569 * math.sqrt(4 * 5 / (6 * 14)), abs=5e-4)


def test_ranks_by_hand() -> None:
    # Query 1: .3 .3 .1 -> places 1 and 2 are shared; query 2: all tied; query 3: -1 < 0 < 2.
    values = np.array([[0.1 + 0.2, 0.5, 0.0], [0.3, 0.5, 2.0], [0.1, 0.5, -1.0]])
    assert ranks(values).tolist() == [[1.5, 2, 2], [1.5, 2, 1], [3, 2, 3]]


@settings(deadline=None)
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


@settings(deadline=None)
@given(tables())
def test_friedman_against_scipy(values: Floats) -> None:
    found = friedman_nemenyi(values, Stream())
    if len(values) < 3 or not np.ptp(values, axis=0).any():
        return
    expected = scipy.stats.friedmanchisquare(*values)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-10, abs=1e-12)
    assert found.overall_p == pytest.approx(expected.pvalue, rel=1e-9)


@settings(deadline=None)
@given(tables(systems=2))
def test_two_systems_are_a_sign_test(values: Floats) -> None:
    wins, losses = (values[0] > values[1]).sum(), (values[0] < values[1]).sum()
    found = friedman_nemenyi(values, Stream())
    if not wins + losses:
        assert found.note == "identical"
        return
    chi2 = (wins - losses) ** 2 / (wins + losses)  # that of the sign test, ties left out
    assert found.statistic == pytest.approx(chi2, rel=1e-12, abs=1e-12)
    # Nemenyi of two: a normal test of the mean rank, ties counted as they are.
    z = abs(wins - losses) / math.sqrt(values.shape[1])
    assert found.p[0, 1] == pytest.approx(2 * scipy.stats.norm.sf(z), rel=1e-10)


@pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
def test_critical_difference_and_p_agree(level: float) -> None:
    found = friedman_nemenyi(VALUES, Stream(), level)
    assert found.positions is not None
    apart = np.abs(found.positions[:, None] - found.positions)
    assert 0 < (found.p <= level).sum() < 30
    assert (apart > found.critical_difference).tolist() == (found.p <= level).tolist()


def test_iman_davenport_where_all_queries_agree() -> None:
    found = friedman_nemenyi(np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]), Stream())
    assert found.statistic == pytest.approx(4)  # n (k - 1), the largest there is
    assert iman_davenport(found.statistic, 3, 2) == (math.inf, SMALLEST)
    assert iman_davenport(1500.0, 3, 1000)[1] == SMALLEST


def test_iman_davenport_of_the_literature() -> None:
    # Demsar 2006, section 3.2.4: chi2 = 9.28 of four systems on 14 data sets gives F = 3.69.
    f, p = iman_davenport(9.28, 4, 14)
    assert f == pytest.approx(3.69, abs=0.005)
    assert p == pytest.approx(scipy.stats.f.sf(f, 3, 39), rel=1e-12)


# Degenerate values, for every test of all pairs (traps 2, 3 and 5)


def run(name: str, values: Floats) -> AllPairs:
    found = find(name).function(values, Stream(("degenerate",), draws=200), 0.05)
    assert isinstance(found, AllPairs)
    assert found.p.shape == (len(values), len(values))
    assert (np.diag(found.p) == 1).all()
    assert np.array_equal(found.p, found.p.T, equal_nan=True)
    assert found.positions is not None
    assert found.positions.shape == (len(values),)
    return found


@pytest.mark.parametrize("name", ALL_PAIRS)
@pytest.mark.parametrize("n_queries", [1, 2, 5])
def test_identical_systems(name: str, n_queries: int) -> None:
    values = np.tile(np.linspace(0.1, 0.9, n_queries), (3, 1))
    values[1] += 1e-17
    values[2] = values[2] / 3 * 3  # another way to the same numbers
    found = run(name, values)
    assert (found.p == 1).all()
    assert (found.note, found.overall_p) == ("identical", 1.0)


@pytest.mark.parametrize("name", ALL_PAIRS)
@pytest.mark.parametrize("n_queries", [0, 1])
def test_too_few_queries(name: str, n_queries: int) -> None:
    found = run(name, np.array([[0.1], [0.2], [0.3]])[:, :n_queries])
    assert np.isnan(found.p[PAIRS[0][:1], PAIRS[1][:1]]).all()
    assert np.isnan(found.p).sum() == 6
    assert found.note == f"n={n_queries}"


@pytest.mark.parametrize("name", ALL_PAIRS)
def test_one_system(name: str) -> None:
    found = run(name, np.array([[0.1, 0.2]]))
    assert (found.p.tolist(), found.note) == ([[1.0]], "one system")


@pytest.mark.parametrize("name", ALL_PAIRS)
def test_a_system_beside_its_copy(name: str) -> None:
    values = np.vstack([VALUES, VALUES[2]])
    found = run(name, values)
    assert found.p[2, 6] == 1
    assert np.isfinite(found.p).all()
    assert found.p[0, 6] == found.p[0, 2]
    assert found.p[5, 0] <= 0.05


@pytest.mark.parametrize("name", ALL_PAIRS)
@settings(deadline=None)
@given(scale=st.sampled_from([1e-6, 100.0, 1e9]))
def test_the_unit_does_not_matter(name: str, scale: float) -> None:
    found, scaled = run(name, VALUES), run(name, VALUES * scale)
    assert scaled.p == pytest.approx(found.p, rel=1e-9)
    assert scaled.overall_p == pytest.approx(found.overall_p, rel=1e-9)


@pytest.mark.parametrize("name", ALL_PAIRS)
def test_the_same_seed_gives_the_same_p(name: str) -> None:
    assert run(name, VALUES).p.tolist() == run(name, VALUES).p.tolist()


@pytest.mark.parametrize("name", ALL_PAIRS)
def test_the_order_of_systems_does_not_matter(name: str) -> None:
    order = np.array([3, 0, 5, 1, 4, 2])
    found, moved = run(name, VALUES), run(name, VALUES[order])
    near = 0.15 if find(name).random else 1e-12
    assert moved.p == pytest.approx(found.p[np.ix_(order, order)], abs=near)
