"""Whole powers are products, taken one factor after the other."""

from __future__ import annotations

import numpy as np
import pytest

from harness.core.exact import powers


@pytest.mark.parametrize("base", [0.1, 0.8, 0.9, 0.99])
def test_each_is_the_one_before_times_the_base(base: float) -> None:
    literal = [1.0]
    for _ in range(2000):
        literal.append(literal[-1] * base)
    exponents = np.random.default_rng(0).permutation(2001)
    assert powers(base, exponents).tolist() == [literal[at] for at in exponents.tolist()]


def test_shape_and_nothing() -> None:
    assert powers(0.5, np.array([[0, 1], [2, 3]])).tolist() == [[1.0, 0.5], [0.25, 0.125]]
    assert powers(0.5, np.empty(0, np.int64)).tolist() == []
