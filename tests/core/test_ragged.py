"""Rows of different lengths: offsets, ranks, sums in order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.ragged import Ragged, frozen, offsets_of, positions_of, rows_of, sum_by

lists = st.lists(st.lists(st.floats(-1e6, 1e6), max_size=6), max_size=6)


def ragged(rows: list[list[float]]) -> Ragged:
    flat = [value for row in rows for value in row]
    return Ragged(offsets_of([len(row) for row in rows]), np.array(flat, dtype=np.float64))


def total(values: list[float]) -> float:
    result = 0.0
    for value in values:
        result += value
    return result


def test_rows_and_positions_by_hand() -> None:
    # lengths 2, 0, 3: items 0-1 are row 0, items 2-4 are row 2
    offsets = offsets_of([2, 0, 3])
    assert offsets.tolist() == [0, 2, 2, 5]
    assert rows_of(offsets).tolist() == [0, 0, 2, 2, 2]
    assert positions_of(offsets).tolist() == [0, 1, 0, 1, 2]
    assert Ragged(offsets, np.zeros(5)).rank.tolist() == [1, 2, 1, 2, 3]


def test_no_rows_and_no_items() -> None:
    assert offsets_of([]).tolist() == [0]
    none = Ragged(np.array([0]), np.zeros(0))
    assert (none.n_rows, none.sum().tolist(), none.cumsum().tolist()) == (0, [], [])
    empty = Ragged(np.array([0, 0, 0]), np.zeros(0))
    assert empty.sum().tolist() == [0.0, 0.0]
    assert empty.sum().dtype == np.float64
    assert empty.count(np.zeros(0, dtype=bool)).tolist() == [0, 0]


@given(lists)
def test_sum_adds_one_after_another(rows: list[list[float]]) -> None:
    assert ragged(rows).sum().tolist() == [total(row) for row in rows]


@given(lists)
def test_sum_of_some_and_count(rows: list[list[float]]) -> None:
    table = ragged(rows)
    positive = table.values > 0
    kept = [[value for value in row if value > 0] for row in rows]
    assert table.sum(where=positive).tolist() == [total(row) for row in kept]
    assert table.count(positive).tolist() == [len(row) for row in kept]


@given(st.lists(st.lists(st.integers(-9, 9), max_size=6), max_size=6))
def test_cumsum_starts_anew_in_each_row(rows: list[list[int]]) -> None:
    flat = np.array([value for row in rows for value in row], dtype=np.int64)
    running = Ragged(offsets_of([len(row) for row in rows]), flat).cumsum()
    assert running.tolist() == [sum(row[: i + 1]) for row in rows for i in range(len(row))]


def test_sum_by_is_float_even_of_nothing() -> None:
    # bincount of nothing would give integers
    assert sum_by(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 2).dtype == np.float64


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([1, 2], "start at 0"),
        ([], "start at 0"),
        ([0, 3, 2], "must not fall"),
        ([0, 1], "end at the number of values"),
    ],
)
def test_offsets_are_checked(offsets: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Ragged(np.array(offsets, dtype=np.int64), np.zeros(2))


def test_arrays_are_read_only_and_the_callers_own_stays_writable() -> None:
    mine = np.array([1.0, 2.0])
    table = Ragged(np.array([0, 2]), mine)
    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 9.0
    mine[0] = 9.0
    assert frozen(table.values) is table.values
