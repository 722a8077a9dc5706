"""Pairs within rows, against their literal definitions."""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from harness.core.pairs import (
    compress,
    constant_rows,
    inversions,
    midranks,
    numbered,
    pairs_by_distance,
    smaller_before,
    tied_pairs,
)
from harness.core.ragged import offsets_of

small = st.lists(st.lists(st.integers(-2, 6), max_size=9), max_size=5)
any_size = st.lists(st.lists(st.integers(-(2**40), 2**40), max_size=9), max_size=5)
rows = st.one_of(small, any_size)


def flat(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    return offsets_of([len(row) for row in lists]), np.array([*chain(*lists)], dtype=np.int64)


@given(rows)
def test_inversions(lists: list[list[int]]) -> None:
    expected = [sum(a < b for i, a in enumerate(row) for b in row[i + 1 :]) for row in lists]
    assert inversions(*flat(lists)).tolist() == expected


@given(rows)
def test_smaller_before(lists: list[list[int]]) -> None:
    expected = [sum(a < b for a in row[:j]) for row in lists for j, b in enumerate(row)]
    assert smaller_before(*flat(lists)).tolist() == expected


@given(
    st.lists(st.sampled_from([0, 1, 31, 33, 64, 65, 200]), max_size=5),
    st.sampled_from([1, 3, 100, 2**40]),
    st.sampled_from([1, 2]),
    st.integers(0, 99),
)
def test_rows_longer_than_a_block(lengths: list[int], high: int, parts: int, seed: int) -> None:
    # Halves are values too: grades may be fractions.
    drawn = np.random.default_rng(seed).integers(-high, high, sum(lengths))
    values, offsets = drawn / parts if parts > 1 else drawn, offsets_of(lengths)
    before = np.arange(values.size) < np.arange(values.size)[:, None]
    row = np.repeat(np.arange(len(lengths)), lengths)
    wrong = before & (row == row[:, None]) & (values < values[:, None])
    assert smaller_before(offsets, values).tolist() == wrong.sum(axis=1).tolist()
    expected = [int(wrong[a:b].sum()) for a, b in pairwise(offsets.tolist())]
    assert inversions(offsets, values).tolist() == expected


@given(st.lists(st.integers(0, 4), max_size=20))
def test_numbered(keys: list[int]) -> None:
    number, count = numbered(np.array(keys, dtype=np.int64))
    assert number.tolist() == [keys[: at + 1].count(key) for at, key in enumerate(keys)]
    assert count.tolist() == [keys.count(key) for key in keys]


@given(rows)
def test_tied_pairs(lists: list[list[int]]) -> None:
    expected = [sum(a == b for i, a in enumerate(row) for b in row[i + 1 :]) for row in lists]
    assert tied_pairs(*flat(lists)).tolist() == expected


@given(rows)
def test_midranks(lists: list[list[int]]) -> None:
    expected = [rank for row in lists for rank in rankdata(row).tolist()]
    assert midranks(*flat(lists)).tolist() == expected


@given(rows)
def test_constant_rows(lists: list[list[int]]) -> None:
    assert constant_rows(*flat(lists)).tolist() == [len(set(row)) < 2 for row in lists]


@given(st.lists(st.integers(-(2**60), 2**60), max_size=20))
def test_compress_keeps_the_order(values: list[int]) -> None:
    codes = compress(np.array(values, dtype=np.int64)).tolist()
    distinct = sorted(set(values))
    assert [a < b for a in codes for b in codes] == [a < b for a in values for b in values]
    assert not values or (min(codes) >= 0 and max(codes) <= max(4 * len(values), len(distinct)))


@given(st.lists(st.integers(0, 7), max_size=5))
def test_pairs_by_distance(lengths: list[int]) -> None:
    offsets = offsets_of(lengths)
    steps = list(pairs_by_distance(offsets))
    found = [(i, j) for a, b in steps for i, j in zip(a.tolist(), b.tolist(), strict=True)]
    bounds = offsets.tolist()
    expected = [
        (i, j)
        for start, stop in pairwise(bounds)
        for i in range(start, stop)
        for j in range(i + 1, stop)
    ]
    assert sorted(found) == expected
    assert all(np.unique(first).size == first.size for first, _ in steps)
