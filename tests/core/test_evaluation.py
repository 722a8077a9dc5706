"""Values, policies, summaries."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness.metrics
from harness.core.align import align
from harness.core.evaluate import evaluate
from harness.core.evaluation import Evaluation, summarise
from harness.core.names import parse_all
from harness.core.policy import Policy
from harness.core.reference import as_reference
from harness.core.tables import Qrels, Run
from harness.errors import AlignmentError, UnknownNameError

assert harness.metrics  # the registry is filled by importing it

QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"a": 1}, "q3": {"a": 0}, "q4": {"b": 1}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"x": 1.0, "a": 0.5}, "q3": {"a": 1.0}}


def run(metrics: list[str], policy: Policy | None = None) -> Evaluation:
    aligned = align(Qrels.from_dict(QRELS), Run.from_dict(RUN), policy)
    return evaluate(aligned, parse_all(metrics), run="r", dataset="d")


def test_missing_and_empty_queries_count_by_default() -> None:
    # recip_rank: q1 1, q2 1/2, q3 has no relevant document: 0, q4 is not answered: 0
    found = run(["recip_rank"])
    assert found.column("recip_rank").tolist() == [1.0, 0.5, 0.0, 0.0]
    assert found.summary() == {"recip_rank": 0.375}
    assert found.n() == {"recip_rank": 4}
    assert found.counts.as_dict() == {
        "queries": 4, "missing": 1, "extra": 0, "empty": 1, "retrieved": 5, "judged": 4,
        "judgements": 5, "tied": 0,
    }  # fmt: skip


def test_error_measures_give_no_prize_for_a_missing_answer() -> None:
    assert math.isnan(run(["swaps", "mse"]).column("swaps")[3])
    assert run(["mse"]).n() == {"mse": 3}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (Policy(empty_queries="one"), [1.0, 0.5, 1.0, 0.0]),
        (Policy(empty_queries="skip"), [1.0, 0.5, math.nan, 0.0]),
        (Policy(missing_queries="skip"), [1.0, 0.5, 0.0]),
        (Policy(missing_queries="skip", empty_queries="skip"), [1.0, 0.5, math.nan]),
    ],
)
def test_policies(policy: Policy, expected: list[float]) -> None:
    np.testing.assert_array_equal(run(["recip_rank"], policy).column("recip_rank"), expected)


def test_queries_that_are_left_out_are_counted_as_missing() -> None:
    found = run(["recip_rank"], Policy(missing_queries="skip"))
    assert (found.counts.queries, found.counts.missing, found.coverage) == (3, 1, (3, 4))
    assert "3 queries, 1 not answered (skip)" in str(found)
    found = run(["recip_rank"])
    assert (found.counts.queries, found.counts.missing, found.coverage) == (4, 1, (3, 4))


def test_empty_follows_the_metric_s_own_relevance_level() -> None:
    # At rel=2 only q1 has a relevant document, so the others are empty (q4 is missing as well).
    found = run(["recip_rank(rel=2)"], Policy(empty_queries="skip"))
    np.testing.assert_array_equal(found.values[:, 0], [1.0, np.nan, np.nan, np.nan])


def test_one_leaves_counts_and_unbounded_metrics_alone() -> None:
    found = run(["num_rel", "dcg"], Policy(empty_queries="one"))
    assert found.column("num_rel").tolist() == [1.0, 1.0, 0.0, 1.0]
    assert found.column("dcg")[2] == 0.0


@pytest.mark.parametrize("name", ["map(rel=2)", "rbp(rel=2)", "rbo(rel=2)", "success(rel=2)@3"])
def test_a_query_that_is_empty_and_missing_counts_as_missing(name: str) -> None:
    # At rel=2 q3 and q4 are empty, and q4 is not answered.
    assert run([name], Policy(empty_queries="one")).values[2:, 0].tolist() == [1.0, 0.0]


def test_errors_name_the_queries() -> None:
    with pytest.raises(AlignmentError, match="1 queries have no relevant document: q3"):
        run(["map"], Policy(empty_queries="error"))
    with pytest.raises(AlignmentError, match="does not answer 1 of the 4 judged queries: 'q4'"):
        run(["map"], Policy(missing_queries="error"))


def test_a_reference_must_be_given() -> None:
    aligned = align(Qrels.from_dict(QRELS), Run.from_dict(RUN))
    with pytest.raises(UnknownNameError, match="no run 'bm25' to compare to"):
        evaluate(aligned, parse_all(["rbo(reference=bm25)"]))


def test_a_run_compared_to_itself_is_the_same() -> None:
    table = Run.from_dict(RUN)
    aligned = align(Qrels.from_dict(QRELS), table)
    itself = align(as_reference(table, aligned.qids), table)
    found = evaluate(aligned, parse_all(["rbo(reference=me)"]), references={"me": itself})
    np.testing.assert_allclose(found.values[:3, 0], 1.0, rtol=1e-15)
    assert found.values[3, 0] == 0.0  # the run does not answer q4


def test_no_part_at_all_is_said() -> None:
    with pytest.raises(AlignmentError, match="nothing to evaluate"):
        evaluate([], parse_all(["map"]))


def test_sums_and_geometric_means() -> None:
    found = run(["num_ret", "gm_map"]).summary()
    assert found["num_ret"] == 5
    # map: 1, 1/2, 0, 0 -> the zeros count as 0.00001
    expected = math.exp((math.log(1) + math.log(0.5) + 2 * math.log(0.00001)) / 4)
    assert found["gm_map"] == pytest.approx(expected, rel=1e-15)


def test_weights_of_a_summary() -> None:
    # Squared errors: q1 (2-2)^2 + (0-1)^2 over 2 pairs, q2 (1-0.5)^2 over 1, q3 (0-1)^2 over 1.
    assert run(["mse(over=pairs)"]).summary() == {"mse(over=pairs)": (0 + 1 + 0.25 + 1) / 4}
    assert run(["mse"]).summary() == {"mse": (0.5 + 0.25 + 1) / 3}


def test_a_metric_that_is_not_there_is_named() -> None:
    with pytest.raises(UnknownNameError, match=r"holds no metric 'maap'; did you mean 'map'\?"):
        run(["map"]).column("maap")


def test_a_column_is_found_by_any_spelling() -> None:
    found = run(["ndcg@10", "rbo"])
    assert found.column("ndcg_cut_10") is not None
    np.testing.assert_array_equal(found.column("rbo"), found.column("rbo(p=0.9)"))


def test_tables_out() -> None:
    found = run(["map", "P@1"])
    assert found.to_arrow().slice(2, 1).to_pylist() == [
        {"dataset": "d", "run": "r", "qid": "q2", "metric": "map", "value": 0.5}
    ]
    frame = found.to_pandas()
    assert list(frame.columns) == ["map", "P@1"]
    assert frame.loc["q2", "map"] == 0.5
    assert found.to_dict()["q1"] == {"map": 1.0, "P@1": 1.0}
    assert str(found).splitlines()[:2] == ["r on d", "metric   value  n"]
    assert "<td>map</td><td>0.3750</td><td>4</td>" in found._repr_html_()


def test_values_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        run(["map"]).values[0, 0] = 1


def test_a_wrong_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="queries x metrics"):
        Evaluation(np.zeros((2, 1)), pa.array(["q"]), parse_all(["map"]))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.randoms())
def test_the_mean_does_not_depend_on_the_order(values: list[float], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert summarise(np.array(values), "mean") == summarise(np.array(shuffled), "mean")


def test_nothing_defined_is_nan_and_an_empty_sum_is_0() -> None:
    nothing = np.array([np.nan])
    assert math.isnan(summarise(nothing, "mean"))
    assert math.isnan(summarise(nothing, "gm"))
    assert math.isnan(summarise(np.array([1.0]), "mean", np.array([0.0])))
    assert summarise(nothing, "sum") == 0
