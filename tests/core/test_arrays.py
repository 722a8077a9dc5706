"""Arrays against their definitions: Arrow columns, hashes, ragged rows, powers, pairs."""

from __future__ import annotations

import string
from itertools import chain

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.arrow import index_in, to_arrow, to_numpy
from harness.core.hashing import hash_strings
from harness.core.ragged import Ragged, offsets_of

DTYPES = ["i1", "i4", "i8", "u4", "u8", "f4", "f8", "?"]


@given(st.sampled_from(DTYPES), st.lists(st.integers(0, 100), max_size=20), st.integers(0, 20))
def test_round_trip_also_of_slices(dtype: str, numbers: list[int], start: int) -> None:
    array = np.array(numbers).astype(dtype)
    column = to_arrow(array)
    assert column.to_pylist() == array.tolist()
    assert column.equals(pa.array(array))
    column.validate(full=True)
    for part, expected in (
        (column.slice(start), array[start:]),
        (pa.chunked_array([column, column.slice(start)]), np.append(array, array[start:])),
    ):
        back = to_numpy(part)
        assert back.tolist() == expected.tolist()
        assert back.dtype == array.dtype


@given(st.lists(st.sampled_from("abcd")), st.sets(st.sampled_from("abxy")), st.booleans())
def test_index_in(values: list[str], among: set[str], large: bool) -> None:
    column = pa.array(values, pa.large_string() if large else pa.string())
    others = sorted(among)
    expected = [others.index(value) if value in among else -1 for value in values]
    found = index_in(column, pa.array(others, pa.string()))
    assert found.tolist() == expected
    assert found.dtype == np.int64
    assert index_in(column.slice(1), pa.array(others, pa.string())).tolist() == expected[1:]


@pytest.mark.parametrize("length", range(41))
def test_every_byte_counts_at_every_length(length: int) -> None:
    text = (string.ascii_letters * 2)[:length]
    changed = [text[:at] + "#" + text[at + 1 :] for at in range(length)]
    around = [text + "\0", "\0" + text, text + "a", "a" + text]
    column = pa.array([text, text, *changed, *around])
    hashes = hash_strings(column)
    assert hashes.dtype == np.uint64
    assert hashes[0] == hashes[1]
    assert np.unique(hashes).size == len(set(column.to_pylist()))


lists = st.lists(st.lists(st.floats(-1e6, 1e6), max_size=6), max_size=6)


def ragged(rows: list[list[float]]) -> Ragged:
    flat = [value for row in rows for value in row]
    return Ragged(offsets_of([len(row) for row in rows]), np.array(flat, dtype=np.float64))


def total(values: list[float]) -> float:
    result = 0.0
    for value in values:
        result += value
    return result


@given(lists)
def test_sum_adds_one_after_another(rows: list[list[float]]) -> None:
    assert ragged(rows).sum().tolist() == [total(row) for row in rows]


small = st.lists(st.lists(st.integers(-2, 6), max_size=9), max_size=5)
any_size = st.lists(st.lists(st.integers(-(2**40), 2**40), max_size=9), max_size=5)
rows = st.one_of(small, any_size)


def flat(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    return offsets_of([len(row) for row in lists]), np.array([*chain(*lists)], dtype=np.int64)
