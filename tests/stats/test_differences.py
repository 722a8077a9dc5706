"""Differences: what floating point adds to them is gone, and nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.differences import EPS, differences, snapped

tenths = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=60)


@given(tenths, st.sampled_from([0.1, 1 / 7, 1 / 2520, 1e-4, 40.0]))
def test_differences_on_a_grid_are_tied_as_whole_numbers_are(
    pairs: list[tuple[int, int]], step: float
) -> None:
    one, other = np.array(pairs).T
    found = differences(one * step, other * step)
    whole = one - other
    assert (np.sign(found) == np.sign(whole)).all()
    for size in np.unique(np.abs(whole)):
        assert np.unique(np.abs(found[np.abs(whole) == size])).size == 1
    assert np.unique(np.abs(found)).size == np.unique(np.abs(whole)).size


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=60))
def test_nothing_moves_by_more_than_floating_point(pairs: list[tuple[float, float]]) -> None:
    one, other = np.array(pairs).T
    moved = np.abs(differences(one, other) - (one - other)).max()
    assert moved <= len(pairs) * EPS * max(one.max(), other.max())


def test_values_that_differ_in_the_last_bits_are_equal() -> None:
    # .1 + .2 is 4 in the 17th digit above .3
    assert differences(np.array([0.1 + 0.2, 0.5]), np.array([0.3, 0.4])).tolist()[0] == 0
    assert differences(np.array([1e6 + 1e-11]), np.array([1e6])).tolist() == [0]


def test_small_differences_of_small_values_stay() -> None:
    assert differences(np.array([2e-15]), np.array([1e-15])).tolist() == [1e-15]


def test_a_query_with_huge_values_hides_no_other() -> None:
    # two floats from 1e16 on are 2 apart: what is added to them is lost, to the others it is not
    values, baseline = np.array([1e16, 0.7, 0.2 + 0.1, 0.6]), np.array([1e16, 0.1, 0.3, 0.2])
    assert differences(values, baseline).round(12).tolist() == [0, 0.6, 0, 0.4]
    values[0] = 2e16
    found = differences(values, baseline)
    assert found.round(12).tolist() == [1e16, 0.6, 0, 0.4]


def test_sizes_are_tied_as_the_noisier_of_two_allows() -> None:
    # 1000.1 - 1000 is .1 but for 2e-14, less than what a number of that size may be off by
    found = differences(np.array([1000.1, 0.3]), np.array([1000.0, 0.2]))
    assert found[0] == found[1]


def test_next_to_nothing_beside_values_of_ordinary_size_is_nothing() -> None:
    assert differences(np.array([1e-17, 0.9]), np.array([0.0, 0.5]))[0] == 0


def test_no_queries() -> None:
    assert differences(np.array([]), np.array([])).size == 0


def test_a_group_takes_its_smallest_size() -> None:
    # 1, 1.5 and 2.25 are each within .9 of the one before; 4 is not
    assert snapped(np.array([4.0, 2.25, 1.0, 1.5]), np.full(4, 0.9)).tolist() == [4, 1, 1, 1]
    assert snapped(np.array([4.0, 0.75, 1.5]), np.full(3, 0.9)).tolist() == [4.0, 0.0, 1.5]
