"""Qrels and runs: grouping, duplicates, docnos by position, checks of numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.tables import Docnos, Qrels, Run
from harness.errors import InputError

names = st.sampled_from(["", "a", "b", "é", "日", "aa", "a" * 9, "z"])
rows = st.lists(st.tuples(st.sampled_from(["1", "2", "", "10"]), names, st.integers(0, 4)))


def columns(given_rows: list[tuple[str, str, int]]) -> tuple[pa.Array, pa.Array, np.ndarray]:
    qids, docnos, numbers = ([row[i] for row in given_rows] for i in range(3))
    return (
        pa.array(qids, pa.string()),
        pa.array(docnos, pa.string()),
        np.array(numbers, dtype=np.int64),
    )


def as_rows(table: Qrels | Run) -> list[tuple[str, str, float]]:
    return [
        (qid, docno, number)
        for qid, row in table.to_dict().items()
        for docno, number in row.items()
    ]


class TestGrouping:
    @given(rows)
    def test_equals_a_plain_loop(self, given_rows: list[tuple[str, str, int]]) -> None:
        expected: dict[str, dict[str, int]] = {}
        for qid, docno, number in given_rows:  # the last one wins, at its own place
            expected.setdefault(qid, {}).pop(docno, None)
            expected[qid][docno] = number
        table = Qrels.from_columns(*columns(given_rows), duplicates="last")
        assert as_rows(table) == [
            (qid, docno, number) for qid, row in expected.items() for docno, number in row.items()
        ]
        if table.order is not None:
            assert [given_rows[at][2] for at in table.order] == table.grades.tolist()


class TestDuplicates:
    ROWS = (("1", "a", 1), ("1", "b", 2), ("1", "a", 3), ("2", "a", 4), ("1", "a", 0))

    @given(rows)
    def test_first_equals_a_plain_loop(self, given_rows: list[tuple[str, str, int]]) -> None:
        expected: dict[str, dict[str, int]] = {}
        for qid, docno, number in given_rows:
            expected.setdefault(qid, {}).setdefault(docno, number)
        table = Run.from_columns(*columns(given_rows), duplicates="first")
        assert table.to_dict() == expected


class TestPositionalDocnos:
    @given(st.lists(st.integers(0, 130), min_size=1, max_size=3), st.data())
    def test_byte_order_is_that_of_the_strings(self, sizes: list[int], data: st.DataObject) -> None:
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        some = data.draw(st.lists(st.integers(0, int(offsets[-1]) - 1))) if offsets[-1] else []
        picked = np.array(some, dtype=np.int64)
        docnos = Docnos(None, offsets)
        texts = docnos.take(picked).to_pylist()
        order = docnos.byte_order(picked)
        for one, number in zip(texts, order, strict=True):
            for other, another in zip(texts, order, strict=True):
                assert (one < other) == (number < another)


class TestDicts:
    @given(
        st.dictionaries(
            st.text(max_size=2), st.dictionaries(st.text(max_size=2), st.integers(-3, 9))
        )
    )
    def test_round_trip(self, mapping: dict[str, dict[str, int]]) -> None:
        assert Qrels.from_dict(mapping).to_dict() == mapping
        assert Run.from_dict(mapping).to_dict() == mapping

    @pytest.mark.parametrize(
        "wrong",
        [
            {1: {"a": 1}}, {"q": {2: 1}}, {"q": {"a": "x"}}, {"q": 3}, {None: {"a": 1}},
            {"q": {"a": 1, None: 2}},
        ],
    )  # fmt: skip
    def test_wrong_mappings_are_refused(self, wrong: object) -> None:
        with pytest.raises(InputError, match=r"expected \{qid: "):
            Qrels.from_dict(wrong)  # type: ignore[arg-type]


class TestForRows:
    def test_follows_the_file_where_rows_were_dropped(self) -> None:
        # the file has four rows; the last repeats "a", so that its prediction is left unread
        columns = (pa.array(["1", "1", "2", "1"]), pa.array(["a", "b", "a", "a"]), [1, 0, 2, 4])
        qrels = Qrels.from_columns(*columns, duplicates="first")
        assert Run.for_rows(qrels, [0.5, 0.25, 3.0, 9.0]).scores.tolist() == [0.5, 0.25, 3.0]
        with pytest.raises(InputError, match="3 scores for 4 rows of the dataset"):
            Run.for_rows(qrels, [0.5, 0.25, 3.0])
