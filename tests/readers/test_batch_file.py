"""Saved batches as dataset and as run."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from outcomes import refused
from refusals import refuses

from harness import readers
from harness.core.align import align
from harness.core.qrels_and_runs import Qrels
from harness.errors import UnknownNameError

PADDED = {
    "scores": np.array([[3.0, 1.0, 2.0], [0.5, 1.5, np.nan]]),
    "relevance": np.array([[2, 0, 1], [0, 1, -9]]),
    "n": np.array([3, 2]),
    "qids": np.array(["q1", "q2"]),
}
RAGGED = {
    "format": np.array("harness-batch-1"), "scores": np.array([3.0, 1.0, 2.0, 0.5, 1.5]),
    "relevance": np.array([2, 0, 1, 0, 1]), "n": np.array([3, 2]), "qids": np.array(["q1", "q2"]),
}  # fmt: skip
RUN = {"q1": {"d0": 3.0, "d1": 1.0, "d2": 2.0}, "q2": {"d0": 0.5, "d1": 1.5}}
pytestmark = pytest.mark.usefixtures("write")


def save(arrays: dict[str, Any]) -> str:
    np.savez("b.npz", **arrays)
    return "b.npz"


@pytest.mark.parametrize(
    "arrays", [PADDED, RAGGED, {**PADDED, "scores": PADDED["scores"][:, :, None]}]
)
def test_both_tables(arrays: dict[str, Any]) -> None:
    path = save(arrays)
    qrels, run = readers.read_qrels(path), readers.read_run(path)
    assert qrels.to_dict() == {"q1": {"d0": 2, "d1": 0, "d2": 1}, "q2": {"d0": 0, "d1": 1}}
    assert run.to_dict() == RUN
    assert align(qrels, run).grade.tolist() == [2, 1, 0, 1, 0]
    path = save({**RAGGED, "relevance": RAGGED["relevance"] / 2})
    assert readers.read_qrels(path).grades.tolist() == [1, 0, 0.5, 0, 0.5]


def test_queries_are_matched_by_qid(dataset: Qrels) -> None:
    swapped = {
        "scores": np.array([0.5, 1.5, 3.0, 1.0, 2.0]), "relevance": np.array([0, 1, 2, 0, 1]),
        "n": np.array([2, 3]), "qids": np.array(["q2", "q1"]),
    }  # fmt: skip
    run = readers.read_run(save(swapped), dataset=dataset)
    assert run.scores.tolist() == [3, 1, 2, 0.5, 1.5]
    assert run.docnos is dataset.docnos
    named = Qrels.from_dict({"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"x": 0, "y": 1}})
    run = readers.read_run(save(RAGGED), dataset=named)
    assert run.to_dict() == {"q1": {"a": 3, "b": 1, "c": 2}, "q2": {"x": 0.5, "y": 1.5}}
    part = {"scores": np.array([0.5, 1.5]), "n": np.array([2]), "qids": np.array(["q2"])}
    assert readers.read_run(save(part), dataset=named).to_dict() == {"q2": {"x": 0.5, "y": 1.5}}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"qids": np.array(["q1", "q9"])}, "row-count"),
        ({"n": np.array([2, 3])}, "row-count"),
        ({"n": np.array([2, 2])}, ""),
        ({"qids": np.array(["q1", "q1"])}, ""),
        ({"n": np.array([3.5, 2.5])}, ""),
        ({"scores": np.array([1, 2, np.nan, 1, 1])}, "not-finite"),
        ({"qids": np.array(["q1", {}], dtype=object)}, ""),
        ({"relevance": np.array([2, 0, 0, 0, 1])}, ""),  # another query's
        ({"relevance": np.array([2, 0, 1])}, ""),
    ],
)
def test_refused(dataset: Qrels, change: dict[str, Any], rule: str) -> None:
    path = save({**RAGGED, **change})
    ((place, found),) = refused(readers.read_run, path, dataset=dataset)
    assert (place.partition(":")[0], found) == ("b.npz", rule)


@pytest.mark.parametrize("name", ["arr_0", "scores"])
def test_an_archive_of_one_array_has_a_score_a_row(
    dataset: Qrels, tmp_path: Path, name: str
) -> None:
    scores = np.arange(dataset.n_rows) / 4
    np.savez(tmp_path / "p.npz", **{name: scores})
    np.save(tmp_path / "p.npy", scores)
    found, expected = (
        readers.read_run(tmp_path / one, dataset=dataset).to_dict() for one in ("p.npz", "p.npy")
    )
    assert found == expected
    np.savez(tmp_path / "p.npz", scores, scores)
    with refuses("p.npz", "columns"):
        readers.read_run(tmp_path / "p.npz", dataset=dataset)


SCORES, GRADES = np.array([3.0, 1.0, 2.0, 0.5, 1.5]), np.array([2, 0, 1, 0, 1])


@pytest.mark.parametrize(
    "arrays",
    [
        {"scores": SCORES, "labels": GRADES},
        {"scores": SCORES, "labels": GRADES, "qid": np.array(["q1"] * 3 + ["q2"] * 2)},
        {"q2": SCORES[3:], "q1": SCORES[:3]},
    ],
)
def test_an_archive_of_columns(dataset: Qrels, arrays: dict[str, Any]) -> None:
    assert readers.read_run(save(arrays), dataset=dataset).scores.tolist() == SCORES.tolist()


def test_columns_that_contradict_the_rows(dataset: Qrels) -> None:
    path = save({"scores": SCORES, "group": np.array([2, 3])})
    assert refused(readers.read_run, path, dataset=dataset) == [("b.npz", "")]
    path = save({"scores": SCORES, "labels": GRADES[::-1]})
    assert refused(readers.read_run, path, dataset=dataset) == [("b.npz: row 1", "other-rows")]
    path = save({"a": SCORES, "b": GRADES / 2})
    run = readers.read_run(path, dataset=dataset, columns={"score": "a", "docno": "none"})
    assert run.scores.tolist() == SCORES.tolist()


def test_columns_that_a_file_has_no_names_for_are_refused(dataset: Qrels) -> None:
    np.save("s.npy", np.arange(5.0))
    for path in (save(PADDED), "s.npy"):
        with refuses(path):
            readers.read_run(path, dataset=dataset, columns={"score": "first"})
        with refuses(path, error=UnknownNameError):
            readers.read_run(path, dataset=dataset, settings=3)
