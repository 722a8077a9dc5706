"""Saved batches as dataset and as run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness import readers
from harness.core.align import align
from harness.core.tables import Qrels
from harness.errors import InputError

Write = Callable[..., str]

PADDED = {
    "scores": np.array([[3.0, 1.0, 2.0], [0.5, 1.5, np.nan]]),
    "relevance": np.array([[2, 0, 1], [0, 1, -9]]),
    "n": np.array([3, 2]),
    "qids": np.array(["q1", "q2"]),
}
RAGGED = {
    "format": np.array("harness-batch-1"),
    "scores": np.array([3.0, 1.0, 2.0, 0.5, 1.5]),
    "relevance": np.array([2, 0, 1, 0, 1]),
    "n": np.array([3, 2]),
    "qids": np.array(["q1", "q2"]),
}
RUN = {"q1": {"d0": 3.0, "d1": 1.0, "d2": 2.0}, "q2": {"d0": 0.5, "d1": 1.5}}


def save(write: Write, arrays: dict[str, Any]) -> str:
    write("x", "")
    np.savez("b.npz", **arrays)
    return "b.npz"


@pytest.mark.parametrize(
    "arrays",
    [PADDED, RAGGED, {**PADDED, "scores": PADDED["scores"][:, :, None]}],
    ids=["padded", "ragged", "three-dimensions"],
)
def test_both_tables(write: Write, arrays: dict[str, Any]) -> None:
    path = save(write, arrays)
    qrels, run = readers.read_qrels(path), readers.read_run(path)
    assert qrels.to_dict() == {"q1": {"d0": 2, "d1": 0, "d2": 1}, "q2": {"d0": 0, "d1": 1}}
    assert run.to_dict() == RUN
    assert align(qrels, run).grade.tolist() == [2, 1, 0, 1, 0]


def test_names_of_documents(write: Write) -> None:
    path = save(write, {**RAGGED, "docnos": np.array(["a", "b", "c", "a", "b"])})
    assert readers.read_run(path).to_dict()["q2"] == {"a": 0.5, "b": 1.5}
    path = save(write, {**RAGGED, "docnos": np.array(["a", "b", "a", "a", "b"])})
    with pytest.raises(InputError, match="1 docnos stand twice in one query, the first is 'a'"):
        readers.read_run(path)


def test_queries_are_matched_by_qid(write: Write, dataset: Qrels) -> None:
    swapped = {
        **RAGGED,
        "scores": np.array([0.5, 1.5, 3.0, 1.0, 2.0]),
        "relevance": np.array([0, 1, 2, 0, 1]),
        "n": np.array([2, 3]),
        "qids": np.array(["q2", "q1"]),
    }
    run = readers.read_run(save(write, swapped), dataset=dataset)
    assert run.scores.tolist() == [3, 1, 2, 0.5, 1.5]
    assert run.docnos is dataset.docnos


def test_rows_of_a_named_dataset(write: Write) -> None:
    named = Qrels.from_dict({"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"x": 0, "y": 1}})
    run = readers.read_run(save(write, RAGGED), dataset=named)
    assert run.to_dict() == {"q1": {"a": 3, "b": 1, "c": 2}, "q2": {"x": 0.5, "y": 1.5}}
    part = {"scores": np.array([0.5, 1.5]), "n": np.array([2]), "qids": np.array(["q2"])}
    run = readers.read_run(save(write, part), dataset=named)
    assert run.to_dict() == {"q2": {"x": 0.5, "y": 1.5}}


def test_relevance_that_differs(write: Write, dataset: Qrels) -> None:
    # two loaders in different order, without qids: both number their queries from 0
    path = save(write, {**RAGGED, "relevance": np.array([2, 0, 0, 0, 1])})
    with pytest.raises(InputError) as error:
        readers.read_run(path, dataset=dataset)
    assert str(error.value) == (
        "b.npz: relevance of query 'q1' differs between dataset and run, first at document 3: "
        "1 and 0\n"
        "  fix:   give qids to collector.add, so that batches saved in another order still meet "
        "their queries"
    )
    path = save(write, {**RAGGED, "relevance": np.array([2, 0, 0, 1, 0])})
    with pytest.raises(InputError, match="1 and 0; so in 2 of 2 queries\n"):
        readers.read_run(path, dataset=dataset)
    part = {"scores": np.zeros(2), "n": np.array([2]), "qids": np.array(["q2"])}
    path = save(write, {**part, "relevance": np.array([0, 2])})
    with pytest.raises(InputError, match=r"query 'q2' differs .* at document 2: 1 and 2\n"):
        readers.read_run(path, dataset=dataset)
    path = save(write, {**RAGGED, "relevance": np.array([2, 0, 1])})
    with pytest.raises(InputError, match=r"relevance of shape \(3,\) do not fit 2 queries"):
        readers.read_run(path, dataset=dataset)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"qids": np.array(["q1", "q9"])}, "b.npz: query 'q9' is not in the dataset\n"),
        (
            {"n": np.array([2, 3])},
            "b.npz: query 'q1' has 2 scores for 3 rows; 2 of 2 queries do not fit\n"
            "  fix:   collect the batches over this dataset; give qids to collector.add, so that "
            "batches saved in another order still meet their queries",
        ),
        ({"n": np.array([2, 2])}, "b.npz: scores of shape (5,) do not fit 2 queries with 4 rows"),
        ({"qids": np.array(["q1", "q1"])}, "b.npz: 1 distinct qids for 2 queries"),
        ({"n": np.array([3.0, 2.0])}, "b.npz: n must be one count for each query"),
        ({"scores": np.array([1, 2, np.nan, 1, 1])}, "b.npz: 1 score is not finite: nan"),
        (
            {"qids": np.array(["q1", {}], dtype=object)},
            "b.npz: holds Python objects\n"
            "  fix:   save plain arrays: scores.astype(float), qids.astype(str)",
        ),
    ],
)
def test_refused(write: Write, dataset: Qrels, change: dict[str, Any], message: str) -> None:
    path = save(write, {**RAGGED, **change})
    with pytest.raises(InputError) as error:
        readers.read_run(path, dataset=dataset)
    assert str(error.value).startswith(message)


def test_absent_arrays(write: Write) -> None:
    path = save(write, {"scores": RAGGED["scores"]})
    with pytest.raises(InputError) as error:
        readers.read_run(path)
    assert str(error.value) == (
        "b.npz: no array 'qids'; the archive holds scores\n"
        "  fix:   it must hold qids, n (documents of each query), and scores (a run) or relevance "
        "(a dataset), as BatchCollector.save writes them"
    )


def test_not_an_archive(write: Write) -> None:
    with pytest.raises(InputError, match=r"^b\.npz: not an \.npz archive of arrays \("):
        readers.read_run(write("b.npz", b"PK\x03\x04 and no more"))


def test_grades_that_are_not_whole(write: Write) -> None:
    path = save(write, {**RAGGED, "relevance": np.array([0.5, 0, 0, 0, 0])})
    with pytest.raises(InputError, match=r"^b\.npz: 1 grade is not a whole number: "):
        readers.read_qrels(path)


def test_what_the_collector_saves(write: Write) -> None:
    from harness.batch.collector import BatchCollector

    write("x", "")
    collector = BatchCollector()
    collector.add(PADDED["scores"], PADDED["relevance"], PADDED["n"], ["q1", "q2"])
    collector.save("b.npz")
    assert readers.read_run("b.npz").to_dict() == RUN
    assert readers.read_qrels("b.npz").to_dict()["q1"] == {"d0": 2, "d1": 0, "d2": 1}
