"""Arrays against their definitions: hashes, ragged rows, docnos by position."""

import string

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.hashing import hash_strings
from harness.core.qrels_and_runs import Docnos
from harness.core.ragged import Ragged, offsets_of


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


@given(st.lists(st.integers(0, 130), min_size=1, max_size=3), st.data())
def test_byte_order_of_positions_is_that_of_the_strings(
    sizes: list[int], data: st.DataObject
) -> None:
    offsets = offsets_of(sizes)
    some = data.draw(st.lists(st.integers(0, int(offsets[-1]) - 1))) if offsets[-1] else []
    picked = np.array(some, dtype=np.int64)
    docnos = Docnos(None, offsets)
    texts = docnos.take(picked).to_pylist()
    order = docnos.byte_order(picked)
    for one, number in zip(texts, order, strict=True):
        for other, another in zip(texts, order, strict=True):
            assert (one < other) == (number < another)
