"""Tiers against golden cliques, hand-drawn diagrams and the literal definition."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.core.ragged import Bools
from harness.stats.tiers import groups, tiers

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "significance.json").read_text(encoding="utf-8")
)


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


def literal(matrix: Bools) -> list[list[int]]:
    """Every run of neighbours without a pair that differs, but those within a longer one."""
    n = matrix.shape[0]
    runs = [(i, j) for i in range(n) for j in range(i, n) if not matrix[i : j + 1, i : j + 1].any()]
    return [
        [i, j] for i, j in runs if not any(a <= i and j <= b and (a, b) != (i, j) for a, b in runs)
    ]


def test_golden() -> None:
    nemenyi = GOLDEN["multi_system"]["systems6x30"]["expected"]["nemenyi"]
    order = nemenyi["order"]
    pairs = [
        tuple(order.index(int(system)) for system in pair.split("-"))
        for pair, p in nemenyi["p"].items()
        if p < 0.05
    ]
    found = groups(apart(6, *pairs)).tolist()
    assert [order[first : last + 1] for first, last in found] == nemenyi["cliques_05"]
    assert tiers(apart(6, *pairs)) == ("1", "1", "2", "2", "2", "2")


def test_nothing_differs_or_all_does() -> None:
    assert tiers(apart(3)) == ("1", "1", "1")
    assert tiers(apart(3, (0, 1), (0, 2), (1, 2))) == ("1", "2", "3")
    assert tiers(apart(1)) == ("1",)


def test_chain() -> None:
    # only those two places apart or more differ: bars 0-1, 1-2, 2-3
    chain = apart(4, (0, 2), (0, 3), (1, 3))
    assert tiers(chain) == ("1", "1-2", "2-3", "3")
    # bars 0-2, 1-3, 2-4: the middle one is in all three
    wide = apart(5, (0, 3), (0, 4), (1, 4))
    assert tiers(wide) == ("1", "1-2", "1-3", "2-3", "3")


def test_apart_from_the_neighbour_but_not_from_the_next() -> None:
    # the first differs from the second, not from the third; the second is between them
    assert tiers(apart(3, (0, 1))) == ("1", "2", "2")
    # the ends do not differ, the middle one does from both
    assert tiers(apart(3, (0, 1), (1, 2))) == ("1", "2", "3")


@given(matrices)
def test_groups_are_the_longest_runs(matrix: Bools) -> None:
    assert groups(matrix).tolist() == literal(matrix)


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
