"""Stretches of bytes as strings: short ones picked together, long ones copied."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.readers import spans as module
from harness.readers.spans import spans

TEXT = "abcdéf" * 40
DATA = np.frombuffer(TEXT.encode(), np.uint8)
PLACES = st.integers(0, DATA.size // 7 - 1).map(lambda at: 7 * at)  # where no letter is cut
STRETCHES = st.lists(st.tuples(PLACES, PLACES).map(sorted), max_size=30)


@given(STRETCHES, st.integers(1, 40), st.integers(1, 40))
def test_they_are_the_bytes_between(stretches: list[list[int]], together: int, wordy: int) -> None:
    starts, stops = np.array(stretches, np.int64).reshape(-1, 2).T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TOGETHER", together)
        patch.setattr(module, "_WORDY", wordy)
        found = spans(DATA, starts, stops)
    expected = [TEXT.encode()[start:stop].decode() for start, stop in stretches]
    assert found.type == pa.string()
    assert found.to_pylist() == expected


def test_what_is_no_utf8() -> None:
    with pytest.raises(pa.ArrowInvalid):
        spans(np.frombuffer(b"a\xff", np.uint8), np.array([0, 1]), np.array([1, 2]))
