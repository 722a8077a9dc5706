"""Numbers are rounded once, from the stored double."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reports.phrases import fixed

DOUBLES = st.floats(-1e6, 1e6)


@given(DOUBLES, st.integers(0, 17))
def test_rounding_is_that_of_format(value: float, digits: int) -> None:
    expected = f"{value:.{digits}f}"
    if not expected.strip("-0."):
        expected = expected.removeprefix("-")
    assert fixed(value, digits, leading_zero=True) == expected


@pytest.mark.parametrize(
    ("value", "digits", "percent", "text"),
    [
        (0.0005, 3, False, ".001"),  # the double is 0.00050000000000000001...
        (0.0015, 3, False, ".002"),  # 0.0015000000000000000312...
        (0.0025, 3, False, ".003"),  # 0.00250000000000000005...
        (0.5, 0, False, "0"),  # a tie, to even
        (1.5, 0, False, "2"),
        (0.125, 2, False, ".12"),  # exact in binary: a tie, to even
        (0.28, 0, True, "28"),  # 0.28 * 100 is 28.000000000000004 in floating point
        (0.00125, 1, True, "0.1"),  # 0.12500000000000000260 % : no tie
        (-0.0001, 2, False, ".00"),
        (-1.25, 1, False, "-1.2"),
        (-0.25, 2, False, "-.25"),
        (1.0, 3, False, "1.000"),
        (math.nan, 3, False, "–"),
        (math.inf, 3, False, "–"),
    ],
)
def test_what_is_shown(value: float, digits: int, percent: bool, text: str) -> None:
    assert fixed(value, digits, percent=percent) == text
