"""A run in parts gives what it gives whole: alignment, values, counts, weights."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness.metrics  # noqa: F401 - fills the registry
from harness.core.align import align, align_parts
from harness.core.docnos import Docnos
from harness.core.evaluate import evaluate
from harness.core.names import parse_all
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.errors import AlignmentError

METRICS = parse_all(["map", "ndcg", "ndcg_cut_5", "P_3", "bpref", "recip_rank", "num_ret", "mse"])
row = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0, 1.5]) | st.floats(-9, 9)),
    max_size=6,
)
rows = st.lists(row, min_size=1, max_size=6)


def tables(lists: list[list[tuple[int, float]]], named: bool) -> tuple[Qrels, Run]:
    offsets = np.concatenate([[0], np.cumsum([len(pairs) for pairs in lists])])
    grades = np.array([grade for pairs in lists for grade, _ in pairs], dtype=np.int64)
    scores = np.array([score for pairs in lists for _, score in pairs], dtype=np.float64)
    names = pa.array([f"doc{at * 7 % 1000}" for at in range(grades.size)], pa.string())
    qids = pa.array([f"q{at}" for at in range(len(lists))])
    qrels = Qrels(qids, offsets, Docnos(names if named else None, offsets), grades)
    return qrels, Run.for_rows(qrels, scores)


@given(rows, st.booleans(), st.integers(1, 9), st.sampled_from(["zero", "one", "skip"]))
def test_parts_give_the_values_of_the_whole(
    lists: list[list[tuple[int, float]]], named: bool, size: int, empty: str
) -> None:
    qrels, run = tables(lists, named)
    policy = Policy(empty_queries=empty)  # type: ignore[arg-type]
    whole = evaluate(align(qrels, run, policy), METRICS, run="r", dataset="d")
    parts = evaluate(align_parts(qrels, run, policy, size=size), METRICS, run="r", dataset="d")
    given = evaluate(align_parts(qrels, run.parts(size), policy), METRICS, run="r", dataset="d")
    assert given.values.tobytes() == parts.values.tobytes()
    assert given.counts == parts.counts
    assert parts.values.tobytes() == whole.values.tobytes()
    assert parts.qids.to_pylist() == whole.qids.to_pylist()
    assert parts.counts == whole.counts
    assert (parts.policy, parts.run, parts.dataset) == (whole.policy, "r", "d")
    assert parts.weights.keys() == whole.weights.keys()
    for column, weights in whole.weights.items():
        assert parts.weights[column].tolist() == weights.tolist()


def test_parts_end_with_a_query() -> None:
    # lengths 3, 1, 0, 2, 5; a part ends at the first query that reaches a multiple of 4
    qrels, run = tables([[(1, float(at)) for at in range(n)] for n in (3, 1, 0, 2, 5)], False)
    names = [part.qids.to_pylist() for part in align_parts(qrels, run, size=4)]
    assert names == [["q0", "q1"], ["q2", "q3", "q4"]]


def test_a_run_with_docnos_of_its_own_is_one_part() -> None:
    qrels = Qrels.from_dict({"1": {"a": 1}, "2": {"a": 0}})
    run = Run.from_dict({"2": {"a": 1.0}, "1": {"a": 2.0}})
    assert len(list(align_parts(qrels, run, size=1))) == 1


def test_a_part_of_a_table() -> None:
    qrels = Qrels.from_dict({"1": {"a": 1, "b": 2}, "2": {}, "3": {"c": 3}})
    assert qrels.part(0, 1).to_dict() == {"1": {"a": 1, "b": 2}}
    assert qrels.part(1, 3).to_dict() == {"2": {}, "3": {"c": 3}}
    rows = Qrels.from_columns(pa.array(["1", "1", "2"]), None, [5, 6, 7])
    assert rows.part(1, 2).to_dict() == {"2": {"d0": 7}}


def test_empty_queries_of_all_parts_are_in_the_message() -> None:
    qrels, run = tables([[(0, 1.0)], [(1, 1.0)], [(0, 2.0)]], False)
    with pytest.raises(AlignmentError, match="2 queries have no relevant document: q0, q2"):
        evaluate(align_parts(qrels, run, Policy(empty_queries="error"), size=1), METRICS)
