"""Tiers, and intervals of ranks."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_systems import EXPECTED, GOLDEN_SYSTEMS, systems, tables

from harness.core.ragged import Bools, Floats
from harness.stats.compare import compare
from harness.stats.comparison import Comparisons, Plan
from harness.stats.differences import differences
from harness.stats.registry import Stream, find, outcome_of
from harness.stats.standings import groups, paired_t_of_pairs, rank_intervals, tiers


def apart(n: int, *pairs: tuple[int, int]) -> Bools:
    found = np.zeros((n, n), dtype=bool)
    for one, other in pairs:
        found[one, other] = found[other, one] = True
    return found


matrices = st.integers(1, 8).flatmap(
    lambda n: st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))).map(
        lambda pairs: apart(n, *[(i, j) for i, j in pairs if i != j])
    )
)


def test_golden() -> None:
    nemenyi = EXPECTED["nemenyi"]
    order = nemenyi["order"]
    pairs = [
        tuple(order.index(int(system)) for system in pair.split("-"))
        for pair, p in nemenyi["p"].items()
        if p < 0.05
    ]
    found = groups(apart(6, *pairs)).tolist()
    assert [order[first : last + 1] for first, last in found] == nemenyi["cliques_05"]
    assert tiers(apart(6, *pairs)) == ("1", "1", "2", "2", "2", "2")


@given(matrices)
def test_sharing_a_number_means_no_pair_between_differs(matrix: Bools) -> None:
    numbers = []
    for tier in tiers(matrix):
        first, _, last = tier.partition("-")
        numbers.append((int(first), int(last or first)))
    assert numbers[0][0] == 1
    assert all(first <= last for first, last in numbers)
    for (first, last), (next_first, next_last) in itertools.pairwise(numbers):
        assert first <= next_first <= last + 1
        assert last <= next_last
    for i in range(len(numbers)):
        for j in range(i + 1, len(numbers)):
            shares = numbers[j][0] <= numbers[i][1]
            assert shares == (not matrix[i : j + 1, i : j + 1].any())


def tiers_of(found: Comparisons) -> dict[str, set[str]]:
    """The numbers of each run's tiers: 1-3 is 1, 2 and 3."""
    numbers = {}
    for one in found.standings:
        first, _, last = one.tier.partition("-")
        numbers[one.run] = {str(each) for each in range(int(first), int(last or first) + 1)}
    return numbers


@given(tables())
def test_each_p_is_that_of_the_test_of_one_pair(values: Floats) -> None:
    p = paired_t_of_pairs(values)
    for one, other in zip(*np.triu_indices(len(values), 1), strict=True):
        expected = outcome_of(find("paired-t"), differences(values[other], values[one]), Stream()).p
        if values.shape[1] > 1:
            assert p[one, other] == pytest.approx(expected, rel=1e-6, nan_ok=True)


def test_equal_and_shifted_systems() -> None:
    base = np.array([0.1, 0.2, 0.4])
    p = paired_t_of_pairs(np.array([base, base, base + 0.1, base + np.array([0.1, 0.2, 0.3])]))
    assert p[0, 1] == 1.0
    assert math.isnan(p[0, 2])  # .1 each time but for floating point: no deviation to judge by
    # .1, .2, .3: t = .2 / (.1 / sqrt(3)) = 3.4641, as for 1, 2, 3
    assert p[0, 3] == pytest.approx(0.0742, abs=1e-4)
    assert math.isnan(paired_t_of_pairs(np.array([[0.1], [0.2]]))[0, 1])


@pytest.mark.parametrize("baselines", [(), ("s0",), ("s5", "s1")])
@pytest.mark.parametrize(
    "test", ["paired-t", "wilcoxon", "sign", "tukey", "randomized-tukey", "friedman-nemenyi"]
)
@pytest.mark.parametrize("correction", ["holm", "none"])
def test_what_is_significant_shares_no_tier(
    baselines: tuple[str, ...], test: str, correction: Any
) -> None:
    found = compare(GOLDEN_SYSTEMS, Plan(baselines, test, correction, draws=999))
    numbers = tiers_of(found)
    apart = [one for one in found.rows if found.is_significant(one)]
    assert apart
    for one in apart:
        assert not numbers[one.run] & numbers[one.baseline], (one.run, one.baseline)


@pytest.mark.parametrize("test", ["paired-t", "wilcoxon", "sign"])
@pytest.mark.parametrize("seed", range(10))
def test_neighbours_share_a_tier_exactly_if_the_baseline_test_finds_no_difference(
    test: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    metrics = ["map", "P@1", "P@2", "P@3", "P@4"]  # the family has more tests than one metric pairs
    values = rng.normal(size=(3, 5, 40)) + 0.4 * np.arange(3)[:, None, None]
    runs = systems(dict(zip("abc", values, strict=True)), metrics=metrics)
    found = compare(runs, Plan(("b",), test))
    for name in {str(one.metric) for one in found.rows}:
        standings = [one for one in found.standings if str(one.metric) == name]
        numbers = tiers_of(replace(found, standings=tuple(standings)))
        rank = {one.run: one.rank for one in standings}
        for one in (one for one in found.rows if str(one.metric) == name):
            if abs(rank[one.run] - rank[one.baseline]) == 1:
                shared = numbers[one.run] & numbers[one.baseline]
                assert bool(shared) != found.is_significant(one), (name, one.run, one.p_adjusted)


def literal_of_ranks(
    values: list[list[int]], drawn: list[list[int]], level: float
) -> list[tuple[int, int]]:
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
    assert found == literal_of_ranks(values, drawn, level)
