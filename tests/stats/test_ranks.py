"""Intervals of ranks against every resample there is and the literal definition."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.ragged import Floats
from harness.stats import bootstrap as resampling
from harness.stats.compare import rank_intervals
from harness.stats.streams import Stream


def literal(values: list[list[int]], drawn: list[list[int]], level: float) -> list[tuple[int, int]]:
    """Count, in whole numbers, how many systems have a larger total in each resample."""
    totals = [[sum(one[q] for q in queries) for one in values] for queries in drawn]
    found = []
    for system in range(len(values)):
        places = sorted(1 + sum(t > total[system] for t in total) for total in totals)
        outside = math.floor(Fraction(str(level)) / 2 * len(places))
        found.append((places[outside], places[-1 - outside]))
    return found


def intervals(values: Floats, level: float, stream: Stream) -> list[tuple[int, int]]:
    low, high = rank_intervals(values, level, stream)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def test_all_resamples_of_two_queries() -> None:
    # a: 3 0; b: 1 1. Resamples: 00 a first, 01 and 10 a first (3 > 2), 11 b first: a is second
    # in a quarter of them
    values = np.array([[3.0, 0.0], [1.0, 1.0]])
    low, high = rank_intervals(values, 0.4)
    assert (low.tolist(), high.tolist()) == ([1, 1], [2, 2])
    low, high = rank_intervals(values, 0.6)
    assert (low.tolist(), high.tolist()) == ([1, 2], [1, 2])


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(0, 10), min_size=n, max_size=n), min_size=1, max_size=6
        )
    ),
    st.sampled_from([0.05, 0.1, 0.5]),
)
def test_literal_definition(values: list[list[int]], level: float) -> None:
    stream = Stream(("ranks",), 1, draws=200)
    n = len(values[0])
    drawn = stream.rng().integers(n, size=(200, n)).tolist()
    found = intervals(np.array(values) / 10, level, stream)
    assert found == literal(values, drawn, level)


def test_far_apart_systems_have_one_place() -> None:
    values = np.random.default_rng(0).random((4, 60)) * 0.1 + np.array([[2.0], [0.0], [3.0], [1.0]])
    assert intervals(values, 0.05, Stream()) == [(2, 2), (4, 4), (1, 1), (3, 3)]


def test_identical_systems_share_the_best_place() -> None:
    one = np.random.default_rng(0).random(40)
    values = np.array([one, one + 1, one, one - 1])
    assert intervals(values, 0.05, Stream()) == [(2, 2), (1, 1), (2, 2), (4, 4)]
    assert intervals(np.tile(one, (5, 1)), 0.05, Stream()) == [(1, 1)] * 5
    assert intervals(np.zeros((3, 7)), 0.05, Stream()) == [(1, 1)] * 3


def test_equal_but_for_floating_point() -> None:
    # the same total by other summands: .1 + .2 and .3
    values = np.array([[0.1 + 0.2, 0.4], [0.3, 0.4]])
    assert intervals(values, 0.05, Stream()) == [(1, 1), (1, 1)]


def test_one_query_and_one_system() -> None:
    assert intervals(np.array([[0.2], [0.5]]), 0.05, Stream()) == [(2, 2), (1, 1)]
    assert intervals(np.array([[0.2, 0.3]]), 0.05, Stream()) == [(1, 1)]


def test_noise_covers_every_place() -> None:
    values = np.random.default_rng(3).random((5, 30))
    wide = intervals(values, 0.05, Stream())
    narrow = intervals(values, 0.5, Stream())
    for (low, high), (inner_low, inner_high) in zip(wide, narrow, strict=True):
        assert 1 <= low <= inner_low <= inner_high <= high <= 5
    assert max(high - low for low, high in wide) >= 3


@pytest.mark.parametrize("systems", [2, 12])
def test_same_seed_same_intervals_for_any_chunk(
    systems: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(3).random((systems, 50))
    found = intervals(values, 0.05, Stream(("a",), 2, draws=500))
    assert intervals(values, 0.05, Stream(("a",), 2, draws=500)) == found
    monkeypatch.setattr(resampling, "CHUNK", 777)
    assert intervals(values, 0.05, Stream(("a",), 2, draws=500)) == found


def test_few_distinct_values() -> None:
    # 2 systems x 60 queries of which 33 are won by the first, 27 by the second: it is second
    # where a binomial(60, .55) is below 30
    values = np.repeat([[1.0, 0.0], [0.0, 1.0]], [33, 27], axis=1)
    p = sum(math.comb(60, k) * 0.55**k * 0.45 ** (60 - k) for k in range(30))
    assert 0.17 < p < 0.19
    assert intervals(values, 0.3, Stream())[0] == (1, 2)
    assert intervals(values, 0.4, Stream())[0] == (1, 1)


def test_share_of_draws_is_counted_in_whole_draws() -> None:
    # .58 / 2 * 100 is 28.999999999999996; the first system is third in 7 of 27 resamples, so in
    # some of these experiments in 29 of 100 draws
    values = [[4, 0, 1], [1, 2, 1], [0, 1, 3]]
    for seed in range(60):
        stream = Stream(("whole",), seed, draws=100)
        drawn = stream.rng().integers(3, size=(100, 3)).tolist()
        assert intervals(np.array(values) * 1.0, 0.58, stream) == literal(values, drawn, 0.58)


def test_every_resample_of_three_queries() -> None:
    values = [[4, 0, 1], [1, 2, 1], [0, 1, 3]]
    every = [list(one) for one in itertools.product(range(3), repeat=3)]
    expected = literal(values, every, 0.3)
    # 100,000 draws are near enough to the 27 for quantiles that are not next to a multiple of 1/27
    assert intervals(np.array(values) * 1.0, 0.3, Stream(draws=100_000)) == expected
