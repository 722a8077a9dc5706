"""Rows that are put together while they are read are those of the blocks, one after another."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from harness.readers.gathered import are_one, gathered

TEXTS = st.lists(st.sampled_from(["", "a", "aa", "b", "ab", "ü"]), max_size=5)


@given(st.lists(TEXTS, min_size=1, max_size=4))
@example([["ab", "ab"], ["ab"], ["ba"]])
def test_runs_are_the_texts_of_all_blocks(blocks: list[list[str]]) -> None:
    tables = [pa.table({"qid": pa.array(["x", *block], pa.string())[1:]}) for block in blocks]
    found = gathered(tables)["qid"].to_pylist()
    assert found == [text.encode() for block in blocks for text in block]


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
