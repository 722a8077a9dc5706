"""Numbers and strings to Arrow and back, without pandas."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from harness.core.arrow import index_in, string_column, to_arrow, to_numpy

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


def test_numbers_that_do_not_stand_together() -> None:
    assert to_arrow(np.arange(6)[::2]).to_pylist() == [0, 2, 4]


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


def test_alignment_does_not_import_pandas() -> None:
    code = """
import sys
from harness.core.align import align
from harness.core.arrow import string_column
from harness.core.tables import Qrels, Run
qids, docnos = string_column(["1", "2", "1"]), string_column(["a", "b", "c"])
qrels = Qrels.from_columns(qids, docnos, [1, 0, 2])
align(qrels, Run.from_columns(qids, docnos, [1.0, 2.0, 1.0]))
align(qrels, Run.for_rows(qrels, [1.0, 1.0, 2.0]))
print("pandas" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
