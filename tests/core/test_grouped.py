"""Columns put in the order of their queries, and docnos that stand twice, against definitions."""

from __future__ import annotations

import weakref
from itertools import chain

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import grouped as module
from harness.core import heads as heads_module
from harness.core import same_docnos
from harness.core.arrow import call
from harness.core.docnos import Docnos
from harness.core.grouped import Columns, grouped, in_order
from harness.core.hashing import hash_strings, sorted_hashes
from harness.core.odd import Odd
from harness.core.ragged import offsets_of
from harness.core.same_docnos import repeats
from harness.core.table import DuplicateRows
from harness.core.tables import Run

names = st.lists(st.sampled_from(["a", "b", "", "cc", "é"]), max_size=30)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a few rows be many, so that all pieces are put together."""
    monkeypatch.setattr(module, "_PIECE", 4)
    monkeypatch.setattr(module, "_FIRST", 4)
    monkeypatch.setattr(module, "_MANY", 4)
    for name, value in (("_PIECE", 4), ("_FIRST", 2), ("_MANY", 2)):
        monkeypatch.setattr(heads_module, name, value)
    monkeypatch.setattr(same_docnos, "_SLICE", 2)
    monkeypatch.setattr(same_docnos, "PART", 3)


@given(names, st.booleans(), st.sampled_from([pa.string(), pa.large_string()]))
def test_rows_are_gathered_by_query(qids: list[str], encoded: bool, kind: pa.DataType) -> None:
    column = pa.array(qids, kind)
    given = call("run_end_encode", column) if encoded and qids else column
    found = grouped(Columns(given, None, np.zeros(len(qids))))
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
        assert found.order.dtype == np.int32


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.data())
def test_the_order_is_that_of_a_stable_sort(query: list[int], data: st.DataObject) -> None:
    """Of rows, and of stretches of several: as if each row had the query of its stretch."""
    few = st.lists(st.integers(1, 9), min_size=len(query), max_size=len(query))
    lengths = data.draw(st.none() | few)
    given = np.array(query, np.int32)
    rows = given if lengths is None else np.repeat(given, lengths)
    stops = None if lengths is None else np.cumsum(lengths).astype(np.int32)
    assert module._counts(given, stops, 6).tolist() == np.bincount(rows, minlength=6).tolist()
    offsets = offsets_of(np.bincount(rows, minlength=6))
    order = module._order(given, stops, offsets, rows.size)
    assert order.dtype == np.int32
    assert order.tolist() == np.argsort(rows, kind="stable").tolist()


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([-0.0, 1.0, -16777216.0, 0.5, 1e-3], np.float64),  # 1e-3 is no float32
        ([-0.0, 1.0, -16777216.0, 0.5, 2.0**-149], np.float32),
        ([0.0, 1.0, 16777217.0, 0.0, 0.0], np.float64),
        ([1.0, 2.0, 3.0, 4.0, 1e300], np.float64),
        ([1.0, 2.0, 3.0, 4.0, float("nan")], np.float64),
        ([1.0, 0.5], np.float32),
    ],
)
def test_numbers_are_narrow_where_they_are_the_same(numbers: list[float], kind: type) -> None:
    given = np.array(numbers if len(numbers) > 2 else numbers * 3)
    found = module.slim(given)
    assert found.dtype == kind
    assert found.astype(float).tobytes() == given.tobytes()
    assert module.slim(given[:4]).dtype == np.float64  # a few


@given(st.lists(st.sampled_from([0.5, -0.0, 3.0]), min_size=5, max_size=9), st.booleans())
def test_scores_are_float64_whatever_the_order(scores: list[float], scattered: bool) -> None:
    qids = pa.array([f"{i % 2 if scattered else i}" for i in range(len(scores))])
    run = Run.from_columns(qids, pa.array([f"{i}" for i in range(len(scores))]), np.array(scores))
    assert run.scores.dtype == np.float64
    order = range(len(scores)) if run.order is None else run.order.tolist()
    assert (run.order is not None) == scattered
    assert run.scores.tobytes() == np.array([scores[row] for row in order]).tobytes()


@given(names)
def test_hashes_of_a_column_are_sorted_and_distinct(texts: list[str]) -> None:
    column = pa.array(texts, pa.string())
    assert sorted_hashes(column).tolist() == sorted(set(hash_strings(column).tolist()))
    assert heads_module.are_distinct(column) == (len(set(texts)) == len(texts))


@given(st.data(), st.sampled_from([pa.string(), pa.large_string()]))
def test_texts_in_another_order(data: st.DataObject, kind: pa.DataType) -> None:
    texts = data.draw(names)
    order = data.draw(st.permutations(range(len(texts))))
    column = pa.array(["before", *texts, "behind"], kind).slice(1, len(texts))
    found = in_order(column, np.array(order, np.int32))
    found.validate(full=True)
    assert found.type == kind
    assert found.to_pylist() == [texts[row] for row in order]


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
    if found is None:
        assert not expected
    else:
        assert dict(zip(*(of.tolist() for of in found), strict=True)) == expected
        assert all(of.dtype == np.int32 for of in found)


def test_columns_are_let_go_of() -> None:
    """The scores as they were given are gone once those in order are made."""
    scores, freed = np.arange(6.0), []
    columns = Columns(
        pa.array(list("ababab")), pa.array(list("uvwxyz")), scores, lambda: freed.append(1)
    )
    gone = weakref.ref(scores)
    del scores
    run = Run.from_held(columns)
    assert gone() is None
    assert columns.qids is None
    assert columns.docnos is None
    assert not columns.n_rows
    assert freed
    assert run.to_dict() == {"a": {"u": 0, "w": 2, "y": 4}, "b": {"v": 1, "x": 3, "z": 5}}


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
    monkeypatch.setattr(module, "sorted_hashes", lambda texts: np.unique(lengths(texts)))
    found = grouped(Columns(pa.array(["a", "b", "cc", "dd", "b", "a"]), None, np.zeros(6)))
    assert found.qids.to_pylist() == ["a", "b", "cc", "dd"]
    assert found.order is not None
    assert found.order.tolist() == [0, 5, 1, 4, 2, 3]


@pytest.mark.parametrize("encoded", [False, True])
@pytest.mark.parametrize(
    ("docnos", "later", "earlier"),
    [
        ("aaaa" + "bcdefghijklm", [1, 2, 3], [0, 1, 2]),
        ("bcdefghi" + "aaaa" + "jklm", [9, 10, 11], [8, 9, 10]),
        ("bcdefghijklm" + "aaaa", [13, 14, 15], [12, 13, 14]),
        ("aabcddefgghijkkl", None, None),  # one of each four
    ],
)
def test_many_rows_that_repeat_a_docno(
    monkeypatch: pytest.MonkeyPatch, encoded: bool, docnos: str,
    later: list[int] | None, earlier: list[int] | None,
) -> None:  # fmt: skip
    """Of 16 rows, four at a time: the first, those in the middle and the last."""
    for name, value in (("_MANY", 16), ("_SOME", 4), ("_REFUSED", 3)):
        monkeypatch.setattr(same_docnos, name, value)
    qids = pa.array(["q"] * 16)
    qids = call("run_end_encode", qids) if encoded else qids
    found = same_docnos.many_repeats(Columns(qids, pa.array(list(docnos)), np.zeros(16)))
    if found is None:
        assert later is None
    else:
        assert [of.tolist() for of in found] == [later, earlier]


def test_many_rows_that_repeat_a_docno_of_two_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries in turn: row 2 has the docno of row 0, row 3 that of row 1, and so on."""
    for name, value in (("_MANY", 8), ("_SOME", 8), ("_REFUSED", 6)):
        monkeypatch.setattr(same_docnos, name, value)
    with pytest.raises(DuplicateRows) as raised:
        Run.from_columns(pa.array(["p", "q"] * 4), pa.array(["d"] * 8), np.zeros(8))
    assert raised.value.at_least
    assert raised.value.rows.tolist() == [2, 3, 4, 5, 6, 7]
    assert raised.value.first.tolist() == [0, 1, 2, 3, 4, 5]
