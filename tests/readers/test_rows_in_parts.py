"""Scores for the rows of a dataset, read in parts: the whole run, its messages, its memory."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from joined_tables import concat

import harness.metrics  # noqa: F401 - fills the registry
from harness import readers
from harness.core.align import align
from harness.core.evaluate import evaluate
from harness.core.names import parse_all
from harness.core.policy import Policy
from harness.core.tables import Qrels
from harness.core.views import policies_of
from harness.errors import HarnessWarning, InputError
from harness.readers import predictions as rows
from harness.readers.source import Source

Write = Callable[..., str]

LENGTHS = (3, 1, 4, 9, 1, 1, 5)
N_ROWS = sum(LENGTHS)
QIDS = [f"q{query}" for query, length in enumerate(LENGTHS) for _ in range(length)]
GRADES = [row * 7 % 4 for row in range(N_ROWS)]
SCORES = [row * 5 % 11 / 2 for row in range(N_ROWS)]


@pytest.fixture(params=[(4, 6), (4, 1000), (7, 20), (1, 9), (1000, 6)])
def _small_parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows in a part, and few bytes in a block."""
    n_rows, n_bytes = request.param
    monkeypatch.setattr(rows, "PART", n_rows)
    monkeypatch.setattr(Source.blocks, "__defaults__", (n_bytes,))


def dataset_of(order: list[int] | None = None) -> Qrels:
    at = range(N_ROWS) if order is None else order
    qids = pa.array([QIDS[row] for row in at])
    return Qrels.from_columns(qids, None, [GRADES[row] for row in at], name="test.txt")


def text_of(numbers: list[float]) -> str:
    return "".join(f"{number}\n" for number in numbers)


@pytest.mark.usefixtures("_small_parts")
@pytest.mark.parametrize("scattered", [False, True])
def test_parts_give_the_whole(write: Write, scattered: bool) -> None:
    order = [row * 11 % N_ROWS for row in range(N_ROWS)] if scattered else None
    dataset, path = dataset_of(order), write("p.txt", text_of(SCORES))
    whole = readers.read_run(path, dataset=dataset, name="p")
    parts = list(readers.stream_run(path, dataset=dataset, name="p"))
    assert [qid for part in parts for qid in part.qids.to_pylist()] == dataset.qids.to_pylist()
    assert np.concatenate([part.scores for part in parts]).tolist() == whole.scores.tolist()
    assert concat(parts).to_dict() == whole.to_dict()
    assert {part.name for part in parts} == {"p"}
    metrics = parse_all(["map", "ndcg", "P_3", "bpref", "mse"])
    streamed = evaluate(readers.align_run(dataset, path), metrics)
    assert streamed.values.tobytes() == evaluate(align(dataset, whole), metrics).values.tobytes()


# Lengths are 3, 1, 4, 9, 1, 1, 5; a part ends with the query that reaches a multiple of 4.
def test_parts_end_with_a_query(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "PART", 4)
    path = write("p.txt", text_of(SCORES))
    parts = list(readers.stream_run(path, dataset=dataset_of()))
    assert [part.n_rows for part in parts] == [4, 4, 9, 7]


@pytest.mark.usefixtures("_small_parts")
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (SCORES[:-1], "p.txt: 23 predictions for 24 rows of test.txt; they end in query 'q6'\n"),
        (SCORES[:17], "p.txt: 17 predictions for 24 rows of test.txt; they end in query 'q4'\n"),
        (SCORES[:2], "p.txt: 2 predictions for 24 rows of test.txt; they end in query 'q0'\n"),
        (SCORES * 2, "p.txt: 48 predictions for 24 rows of test.txt\n"),
        ([*SCORES[:22], "x"], "p.txt:23: score 'x' is not a number\n"),
        ([*SCORES, *SCORES, "x"], "p.txt:49: score 'x' is not a number\n"),
        ([*SCORES[:9], "", *SCORES[9:]], "p.txt:10: a blank line where a score belongs\n"),
    ],
)
def test_messages_are_those_of_the_whole(write: Write, scores: list[float], message: str) -> None:
    path = write("p.txt", text_of(scores))
    for read in (readers.read_run, lambda *at, **how: list(readers.stream_run(*at, **how))):
        with pytest.raises(InputError) as error:
            read(path, dataset=dataset_of())
        assert str(error.value).startswith(message)


@pytest.mark.usefixtures("_small_parts")
def test_too_few_without_a_last_line_end_may_be_cut(write: Write) -> None:
    path = write("p.txt", text_of(SCORES[:17])[:-1])
    said = "p.txt: the file may be cut, as its last line has no line end: 17 predictions for 24"
    for read in (readers.read_run, lambda *at, **how: list(readers.stream_run(*at, **how))):
        with pytest.raises(InputError, match=said):
            read(path, dataset=dataset_of())


@pytest.mark.usefixtures("_small_parts")
def test_grades_in_place_of_scores(write: Write) -> None:
    path = write("p.txt", text_of([*map(float, GRADES)]))
    with pytest.warns(HarnessWarning) as caught:
        list(readers.align_run(dataset_of(), path))
    assert [str(w.message) for w in caught] == [
        "p.txt: the scores equal the grades of the dataset, row by row; is it the column of "
        "grades that was saved?"
    ]
    last_differs = write("other.txt", text_of([*map(float, GRADES[:-1]), 99.0]))
    list(readers.align_run(dataset_of(), last_differs))  # no warning, which would be an error


# What has been evaluated must be gone without a collection of garbage, or a large file fills the
# memory before there is one.
@pytest.mark.parametrize(
    "policy",
    [Policy(), Policy(depth=2), Policy(ties="best", depth=2), Policy(ties="average"),
     Policy(ties="stable", judged_only=True)],
    ids=str,
)  # fmt: skip
def test_one_part_is_in_memory_at_a_time(
    write: Write, monkeypatch: pytest.MonkeyPatch, policy: Policy
) -> None:
    monkeypatch.setattr(rows, "PART", 1)
    dataset, path = dataset_of(), write("p.txt", text_of(SCORES))
    metrics = parse_all(["P_5", "ndcg@5", "dcg(gain=exp)@3"])
    also = policies_of(metrics, policy)
    alive: list[weakref.ref[object]] = []
    most = 0

    def watched(parts):  # type: ignore[no-untyped-def]
        nonlocal most
        for part in parts:
            alive.append(weakref.ref(part))
            most = max(most, sum(one() is not None for one in alive))
            yield part

    gc.collect()
    gc.disable()
    try:
        evaluate(watched(readers.align_run(dataset, path, policy, also=also)), metrics)
    finally:
        gc.enable()
    assert len(alive) == len(LENGTHS)
    assert most <= 2
