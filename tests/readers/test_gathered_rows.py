"""Rows that are put together while they are read are those of the blocks, one after another."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.readers import build, grown
from harness.readers.gathered import are_one, gathered

TEXTS = st.lists(st.sampled_from(["", "a", "aa", "b", "ab", "ü"]), max_size=5)


@given(st.lists(TEXTS, min_size=1, max_size=4))
@example([["ab", "ab"], ["ab"], ["ba"]])
def test_runs_are_the_texts_of_all_blocks(blocks: list[list[str]]) -> None:
    tables = [pa.table({"qid": pa.array(["x", *block], pa.string())[1:]}) for block in blocks]
    found = gathered(tables)["qid"].to_pylist()
    assert found == [text.encode() for block in blocks for text in block]


@pytest.mark.parametrize("n", [10, 1000])
def test_texts_that_differ_from_row_to_row_are_not_encoded(n: int) -> None:
    """Which would take more room; told by the first rows, where there are some (64)."""
    tables = [pa.table({"qid": [f"{block}-{i}" for i in range(n)]}) for block in "ab"]
    found = gathered(tables)["qid"]
    assert pa.types.is_run_end_encoded(found.type) == (n == 10)
    assert build.column(found).to_pylist() == [
        f"{block}-{i}" for block in "ab" for i in range(n)
    ]  # fmt: skip


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_texts_beyond_narrow_offsets(blocks: list[list[str]]) -> None:
    """The offsets become wide where they have to; here, beyond 3."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grown, "_NARROW", 4)
        texts = grown.Texts()
        for block in blocks:
            texts.add(block)
        column = texts.column()
    joined = "".join(text for block in blocks for text in block).encode()
    assert column.type == (pa.large_string() if len(joined) > 3 else pa.string())
    assert column.to_pylist() == [text for block in blocks for text in block]


GRADES = st.lists(st.sampled_from([0.0, -1.0, 3.0, 2.0**31 - 1, 2.0**31, -(2.0**40), 0.5]))


@given(st.lists(GRADES, min_size=1, max_size=4))
@example([[1.0], [0.5], [2.0]])
@example([[1.0], [2.0**31]])
def test_grades_are_narrow_until_one_is_not_whole_or_too_large(blocks: list[list[float]]) -> None:
    tables = [pa.table({"grade": pa.array(block, pa.float64())}) for block in blocks]
    found = gathered(tables)["grade"]
    numbers = [number for block in blocks for number in block]
    assert found.to_pylist() == numbers
    whole = set(numbers) <= {0.0, -1.0, 3.0, 2.0**31 - 1}
    assert pa.types.is_int32(found.type) == whole


def test_scores_stay_as_they_are() -> None:
    assert gathered([pa.table({"score": [1.0, 2.0]})])["score"].type == pa.float64()
    assert gathered([pa.table({"grade": [1.0, 2.0]})], grade="")["grade"].type == pa.float64()


@given(TEXTS.filter(bool))
@example(["ab", "a", "b"])
@example(["a", "aa"])
@example(["a", "b"])
@example(["", ""])
def test_texts_are_one(texts: list[str]) -> None:
    column = pa.array(["other", *texts], pa.string())[1:]
    assert are_one(column) == (len(set(texts)) == 1)


def test_a_missing_text_is_not_an_empty_one() -> None:
    assert not are_one(pa.array(["", None]))
