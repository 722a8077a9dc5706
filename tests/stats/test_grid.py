"""Whole multiples of a step: found where there is one, and nowhere else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.differences import multiples

wholes = st.lists(st.integers(1, 100_000), min_size=1, max_size=40)
steps = st.sampled_from([1.0, 0.1, 1e-4, 1e-5, 1 / 3, 1 / 2520, 0.02, 1 / 3628800, 1e6])


@given(wholes, steps)
def test_multiples_are_found_whatever_the_step(numbers: list[int], step: float) -> None:
    common = math.gcd(*numbers)
    found = multiples(np.array(numbers) * step)
    assert found is not None
    assert found.tolist() == [number // common for number in numbers]


@given(wholes)
def test_differences_of_values_of_five_decimals_are_multiples(numbers: list[int]) -> None:
    values = np.array(numbers) / 1e5
    found = multiples(np.abs((0.5 + values) - 0.5))  # with the noise of a subtraction
    assert found is not None
    assert found.tolist() == [number // math.gcd(*numbers) for number in numbers]


@pytest.mark.parametrize("n", [3, 10, 50, 5000])
def test_random_numbers_are_on_no_grid(n: int) -> None:
    for seed in range(20):
        assert multiples(np.random.default_rng(seed).random(n)) is None


def test_a_grid_with_one_number_beside_it_is_none() -> None:
    on_grid = np.arange(1, 50) / 10
    assert multiples(on_grid) is not None
    assert multiples(np.append(on_grid, 0.123456789)) is None
    assert multiples(np.append(on_grid, 0.1001)) is not None
    assert multiples(np.append(on_grid, 0.1001 + 1e-10)) is None


def test_a_step_too_small_beside_the_largest_number_is_none() -> None:
    assert multiples(np.array([1.0, 1 + 2.0**-16])) is not None
    assert multiples(np.array([1.0, 1 + 2.0**-18])) is None


def test_no_numbers_have_no_step() -> None:
    assert multiples(np.array([])) is None
