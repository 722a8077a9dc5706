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


def test_no_queries() -> None:
    assert differences(np.array([]), np.array([])).size == 0


def test_a_group_takes_its_smallest_size() -> None:
    # 1, 1.5 and 2.25 are each within .9 of the one before; 4 is not
    assert snapped(np.array([4.0, 2.25, 1.0, 1.5]), 0.9).tolist() == [4.0, 1.0, 1.0, 1.0]
    assert snapped(np.array([4.0, 0.75, 1.5]), 0.9).tolist() == [4.0, 0.0, 0.0]
