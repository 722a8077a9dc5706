"""Arrays against their definitions: Arrow columns, hashes, ragged rows, powers, pairs."""

from __future__ import annotations

import string
from itertools import chain, pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from harness.core.arrow import index_in, string_column, to_arrow, to_numpy
from harness.core.exact import powers
from harness.core.hashing import hash_strings
from harness.core.pairs import (
    compress,
    constant_rows,
    inversions,
    midranks,
    numbered,
    smaller_before,
    tied_pairs,
)
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


@given(st.lists(st.text(max_size=5), max_size=9))
def test_strings(texts: list[str]) -> None:
    assert string_column(texts).equals(pa.array(texts, pa.string()))
    assert string_column(iter(texts)).to_pylist() == texts


@given(st.lists(st.sampled_from("abcd")), st.sets(st.sampled_from("abxy")), st.booleans())
def test_index_in(values: list[str], among: set[str], large: bool) -> None:
    column = pa.array(values, pa.large_string() if large else pa.string())
    others = sorted(among)
    expected = [others.index(value) if value in among else -1 for value in values]
    found = index_in(column, pa.array(others, pa.string()))
    assert found.tolist() == expected
    assert found.dtype == np.int64
    assert index_in(column.slice(1), pa.array(others, pa.string())).tolist() == expected[1:]


words = st.text(max_size=40) | st.text("ab\0é", max_size=40)


@given(st.lists(words, max_size=12))
def test_equal_strings_have_equal_hashes(given_words: list[str]) -> None:
    hashes = hash_strings(pa.array(given_words, pa.string())).tolist()
    for one, hash_of_one in zip(given_words, hashes, strict=True):
        for other, hash_of_other in zip(given_words, hashes, strict=True):
            assert (one == other) == (hash_of_one == hash_of_other)


@given(st.lists(words, min_size=1, max_size=12), st.data())
def test_a_hash_does_not_depend_on_its_surroundings(given_words: list[str], data: st.DataObject):
    at = data.draw(st.integers(0, len(given_words) - 1))
    alone = hash_strings(pa.array([given_words[at]], pa.string()))[0]
    column = pa.array(given_words, pa.string())
    assert hash_strings(column)[at] == alone
    assert hash_strings(column.cast(pa.large_string()))[at] == alone
    assert hash_strings(column.slice(at))[0] == alone
    assert hash_strings(column.slice(at, 1))[0] == alone


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


@given(lists)
def test_sum_of_some_and_count(rows: list[list[float]]) -> None:
    table = ragged(rows)
    positive = table.values > 0
    kept = [[value for value in row if value > 0] for row in rows]
    assert table.sum(where=positive).tolist() == [total(row) for row in kept]
    assert table.count(positive).tolist() == [len(row) for row in kept]


@given(st.lists(st.lists(st.integers(-9, 9), max_size=6), max_size=6))
def test_cumsum_starts_at_0_in_each_row(rows: list[list[int]]) -> None:
    flat = np.array([value for row in rows for value in row], dtype=np.int64)
    running = Ragged(offsets_of([len(row) for row in rows]), flat).cumsum()
    assert running.tolist() == [sum(row[: i + 1]) for row in rows for i in range(len(row))]


@pytest.mark.parametrize("base", [0.1, 0.8, 0.9, 0.99])
def test_each_is_the_one_before_times_the_base(base: float) -> None:
    literal = [1.0]
    for _ in range(2000):
        literal.append(literal[-1] * base)
    exponents = np.random.default_rng(0).permutation(2001)
    assert powers(base, exponents).tolist() == [literal[at] for at in exponents.tolist()]


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
