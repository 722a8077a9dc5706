"""Columns put in the order of their queries, and docnos that stand twice, against definitions."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import grouping as module
from harness.core.arrow import call
from harness.core.docnos import Docnos, repeats
from harness.core.grouping import Odd, group_rows
from harness.core.ragged import offsets_of
from harness.core.tables import DuplicateRows, Run

names = st.lists(st.sampled_from(["a", "b", "", "cc", "é"]), max_size=30)


@given(names, st.booleans(), st.sampled_from([pa.string(), pa.large_string()]))
def test_rows_are_gathered_by_query(qids: list[str], encoded: bool, kind: pa.DataType) -> None:
    column = pa.array(qids, kind)
    given = call("run_end_encode", column) if encoded and qids else column
    found = group_rows(given)
    distinct = list(dict.fromkeys(qids))
    rows = [[row for row, qid in enumerate(qids) if qid == one] for one in distinct]
    stretches = [qid for row, qid in enumerate(qids) if row == 0 or qids[row - 1] != qid]
    assert found.qids.to_pylist() == distinct
    assert found.offsets.tolist() == offsets_of([len(of) for of in rows]).tolist()
    assert found.offsets.dtype == np.int64
    assert found.scattered.queries == sum(stretches.count(qid) > 1 for qid in distinct)
    again = (at for at in range(1, len(qids)) if qids[at - 1] != qids[at] in qids[:at])
    back = next(again, -1)
    assert found.scattered.row == back
    assert found.scattered.words == ((qids[back],) if back >= 0 else ())
    assert (found.order is None) == (found.scattered.queries == 0)
    if found.order is not None:
        assert found.order.tolist() == [*chain.from_iterable(rows)]


@given(st.lists(st.sampled_from([0.5, -0.0, 3.0]), min_size=5, max_size=9), st.booleans())
def test_scores_are_float64_whatever_the_order(scores: list[float], scattered: bool) -> None:
    qids = pa.array([f"{i % 2 if scattered else i}" for i in range(len(scores))])
    run = Run.from_columns(qids, pa.array([f"{i}" for i in range(len(scores))]), np.array(scores))
    assert run.scores.dtype == np.float64
    order = range(len(scores)) if run.order is None else run.order.tolist()
    assert (run.order is not None) == scattered
    assert run.scores.tobytes() == np.array([scores[row] for row in order]).tobytes()


@given(names)
def test_texts_are_distinct_or_not(texts: list[str]) -> None:
    assert module.are_distinct(pa.array(texts, pa.string())) == (len(set(texts)) == len(texts))


@given(st.lists(names, min_size=1, max_size=4), st.booleans())
def test_docnos_that_stand_twice(queries: list[list[str]], collide: bool) -> None:
    """Of docnos that share a hash, too: whichever they are, the texts decide."""
    docnos = Docnos(
        pa.array([*chain.from_iterable(queries)], pa.string()), offsets_of([*map(len, queries)])
    )
    if collide:
        docnos._keys = np.zeros(len(docnos.strings), np.uint64)
    expected, row = {}, 0
    for query in queries:
        last: dict[str, int] = {}
        for docno in query:
            if docno in last:
                expected[row] = last[docno]
            last[docno] = row
            row += 1
    found = repeats(docnos, 0, len(queries))
    assert dict(zip(*(of.tolist() for of in found), strict=True)) == expected
    assert found[0].tolist() == sorted(expected)


@pytest.mark.parametrize(
    ("duplicates", "row", "kept"), [("first", 3, [0, 1, 2]), ("last", 0, [1, 2, 3])]
)
def test_dropped_rows_are_told(duplicates: str, row: int, kept: list[float]) -> None:
    """Rows 0 and 3 are a u; in between stand b v and b w."""
    qids, docnos = pa.array(list("abba")), pa.array(list("uvwu"))
    run = Run.from_columns(qids, docnos, np.arange(4.0), duplicates=duplicates)  # type: ignore[arg-type]
    assert run.dropped == Odd(1, 1, row, ("a", "u"))
    assert sorted(run.scores.tolist()) == kept
    with pytest.raises(DuplicateRows) as raised:
        Run.from_columns(qids, docnos, np.arange(4.0))
    assert (raised.value.rows.tolist(), raised.value.first.tolist()) == ([3], [0])


def test_queries_of_one_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """a and b share a hash, as do cc and dd: their texts decide."""
    lengths = lambda texts: np.array([len(text) for text in texts.to_pylist()], np.uint64)  # noqa: E731
    monkeypatch.setattr(module, "hash_strings", lengths)
    found = group_rows(pa.array(["a", "b", "cc", "dd", "b", "a"]))
    assert found.qids.to_pylist() == ["a", "b", "cc", "dd"]
    assert found.order is not None
    assert found.order.tolist() == [0, 5, 1, 4, 2, 3]
