"""Batches with a mask in place of list lengths, rows with group sizes, and grades below 0."""

import inspect
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import refuses, warns

import harness
from harness import batch
from harness.batch.collector import BatchCollector
from harness.errors import HarnessWarning, InputError
from harness.readers.batches import from_batch

SCORES = [[0.5, 2.0, 0.0, 9.9], [1.5, 0.2, 0.5, 0.3], [9.0, 9.0, 9.0, 9.0]]
GRADES = [[1, 0, 2, 7], [0, 1, 1, 2], [7, 7, 7, 7]]
N = [3, 4, 0]
FLAT = [0.5, 2.0, 0.0, 1.5, 0.2, 0.5, 0.3], [1, 0, 2, 0, 1, 1, 2]
LEFT = [[9.9, 0.5, 2.0, 0.0], SCORES[1], SCORES[2]], [[7, 1, 0, 2], GRADES[1], GRADES[2]]
LEFT_MASK = np.array([[0, 1, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]])
FUNCTIONS = [name for name in batch.__all__ if "scores" in inspect.signature(
    getattr(batch, name)).parameters and "n" in inspect.signature(getattr(batch, name)).parameters
    and name not in ("from_batch", "to_pytrec_eval")]  # fmt: skip


def same(one: Any, other: Any) -> None:
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    function = getattr(batch, name)
    expected = function(SCORES, GRADES, N)
    mask = np.arange(4) < np.array(N)[:, None]
    for given in (mask, mask.tolist(), mask.astype(int)[:, :, None]):
        same(function(SCORES, GRADES, mask=given), expected)
    left, rows = function(*LEFT, mask=LEFT_MASK), function(*FLAT, N)
    if name == "lambdas":
        same(left[LEFT_MASK.astype(bool)], expected[mask])
        same(left[~LEFT_MASK.astype(bool)], 0)
        same(rows, expected[mask])
    else:
        same(left, expected)
        same(rows, expected)


def test_every_function_is_tried() -> None:
    assert {"ndcg", "arp", "lambdas", "pairwise_logloss", "rbo"} <= {*FUNCTIONS}


def test_every_rank() -> None:
    same(batch.ndcg(*FLAT, [3, 4], k=None), batch.ndcg(SCORES[:2], GRADES[:2], [3, 4], k=None))


@pytest.mark.filterwarnings("ignore:(n|mask). no document in")
def test_evaluate_and_collector() -> None:
    expected = harness.evaluate(GRADES, SCORES, ["map", "ndcg@2"], n=N).to_dict()
    scores, labels = FLAT
    rows = harness.evaluate(np.array(labels), np.array(scores), ["map", "ndcg@2"], n=N)
    assert rows.to_dict() == expected
    left = harness.evaluate(LEFT[1], LEFT[0], ["map", "ndcg@2"], mask=LEFT_MASK)
    assert left.to_dict() == expected
    for given in ({"n": N}, {"mask": LEFT_MASK}):
        collector = BatchCollector()
        collector.add(*(FLAT if "n" in given else LEFT), **given)
        assert collector.evaluate(["map", "ndcg@2"]).to_dict() == expected
    with refuses("qrels"):
        harness.evaluate(labels, scores, ["map"])


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ((*FLAT, [3, 3]), "n"),
        ((*FLAT, [3, 5]), "n"),
        ((*FLAT, [8, -1]), "n[0]"),
        ((FLAT[0], FLAT[1][:-1], [3, 4]), "scores"),
        ((SCORES, GRADES, None), "n"),
        ((SCORES, GRADES, None, LEFT_MASK[:2]), "mask"),
        ((SCORES, GRADES, None, LEFT_MASK * 3), "mask"),
        ((SCORES, GRADES, N, LEFT_MASK), "mask[0]"),
        ((([[np.nan, np.nan, 1.0]]), [[0, 0, 1]], None, [[0, 1, 1]]), "scores[0, 1]"),
        (([1.0, np.nan], [0, 1], [2]), "scores[1]"),
    ],
)
def test_wrong(given: Any, place: str) -> None:
    scores, relevance, n, *mask = given
    with pytest.raises(InputError) as error:
        from_batch(scores, relevance, n, mask=mask[0] if mask else None)
    assert error.value.problems[0].where == place


def test_grades_below_zero() -> None:
    padded = [[1, 0, -1], [2, -1, -1]]
    scores = [[0.1, 0.2, 0.3], [0.5, 0.2, 0.9]]
    with warns("negative-grades", "relevance[0, 2]") as caught:
        found = batch.ndcg(scores, padded, [3, 3])
    assert [one.message.finding.count for one in caught] == [3]  # type: ignore[union-attr]
    same(found, batch.ndcg(scores, np.maximum(padded, 0), [3, 3]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        masked = batch.ndcg(scores, padded, mask=np.array(padded) >= 0)
        same(masked, batch.ndcg(scores, padded, [2, 1]))


def test_n_and_mask_may_agree() -> None:
    scores, relevance, n = [[3.0, 2.0, 9.0], [1.0, 2.0, 3.0]], [[0, 1, 2], [0, 1, 2]], [2, 3]
    mask = [[True, True, False], [True, True, True]]
    expected = batch.ndcg(scores, relevance, n)
    assert batch.ndcg(scores, relevance, n, mask=mask).tolist() == expected.tolist()
    mask[1][0] = False
    with refuses("mask[1]"):
        batch.ndcg(scores, relevance, n, mask=mask)


def test_grades_and_scores_in_the_wrong_order_are_named() -> None:
    with refuses("query '0', document 'd0'", "grade-values") as caught:
        harness.evaluate([0.5, 1.5], [1, 0], ["map@10"], n=[2])
    assert caught.value.problems[0].fix.startswith("if these are scores, swap qrels and run")
    scores, grades = np.linspace(0.1, 3.0, 30) ** 2, np.arange(30) % 3
    with warns("swapped-columns"):
        harness.evaluate(scores, grades, ["ndcg@10"], n=[10, 20])


WITHOUT = {  # the same two queries, with a third between them that has no document
    "padded": lambda: (GRADES, SCORES, {"n": [3, 0, 4]}),
    "masked": lambda: (GRADES, SCORES, {"mask": np.arange(4) < np.array([[3], [0], [4]])}),
    "rows": lambda: (FLAT[1], FLAT[0], {"n": [3, 0, 4]}),
    "dicts": lambda: (
        {"1": {"a": 1, "b": 0}, "10": {}, "2": {"a": 0, "b": 2}},
        {"1": {"a": 0.5, "b": 2.0}, "2": {"a": 1.5, "b": 0.2}},
        {},
    ),
    "arrays by query": lambda: (
        {"1": [1, 0], "10": [], "2": [0, 2]}, {"1": [0.5, 2.0], "2": [1.5, 0.2]}, {},
    ),
    "grades with a run of names": lambda: (
        [1, 0, 2], {"0": {"d0": 0.5, "d1": 1.0}, "2": {"d0": 1.0}}, {"n": [2, 0, 1]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", WITHOUT)
def test_queries_without_a_document_are_left_out_and_reported(form: str) -> None:
    grades, scores, given = WITHOUT[form]()
    with warns("empty-groups"):
        found = harness.evaluate(grades, scores, ["map", "ndcg@2"], **given)
    assert (found.counts.queries, found.counts.empty) == (2, 0)
    assert not {"10"} & {*found.qids.to_pylist()}


def test_a_collector_numbers_queries_as_they_were_given() -> None:
    collector = BatchCollector()
    with warns("empty-groups"):
        collector.add([[0.5], [0.1], [0.7]], [[1], [1], [0]], [1, 0, 1])
    collector.add([[0.5]], [[1]], [1])
    assert collector.evaluate(["P@1"]).to_dict() == {
        "0": {"P@1": 1.0}, "2": {"P@1": 0.0}, "3": {"P@1": 1.0},
    }  # fmt: skip


def test_a_batch_file_with_such_queries_is_read_as_the_arrays(tmp_path: Path) -> None:
    path = tmp_path / "b.npz"
    np.savez(path, qids=["1", "10"], n=[2, 0], scores=[0.5, 0.1], relevance=[0, 1])
    with warns("empty-groups", f"{path}: n: "):
        found = harness.evaluate(path, path, ["recip_rank"])
    assert found.to_dict() == {"1": {"recip_rank": 0.5}}
    (finding,) = harness.check(path, path).findings
    assert (finding.rule, finding.place.file) == ("empty-groups", str(path))


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "lambdas"])
def test_functions_are_not_defined_without_a_document(name: str) -> None:
    values = getattr(batch, name)(SCORES, GRADES, N)
    assert np.isnan(values[2]).all()
    assert not np.isnan(values[0]).any()


def test_no_query_with_a_document_is_an_error() -> None:
    with pytest.warns(HarnessWarning), refuses("n"):
        harness.evaluate([[1, 0]], [[0.5, 0.2]], ["map"], n=[0])
