"""A run in parts equals the whole run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from joined_tables import concat

from harness import readers
from harness.core.align import PART, align
from harness.core.tables import Qrels
from harness.errors import HarnessWarning, InputError
from harness.readers import source
from harness.readers.format import ScatteredQueries

Write = Callable[..., str]


def lines(qids: list[int]) -> str:
    return "".join(f"q{q} Q0 d{i} 1 {1000 - i} t\n" for i, q in enumerate(qids))


@pytest.fixture(params=[16, 50, 100])
def _small_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source.Source.blocks, "__defaults__", (request.param,))


@pytest.mark.usefixtures("_small_blocks")
def test_parts_hold_whole_queries(write: Write) -> None:
    path = write("a.run", lines([1, 1, 1, 2, 3, 3, 4, 4, 4, 4, 5]))
    parts = list(readers.stream_run(path))
    whole = readers.read_run(path)
    assert len(parts) > 1
    assert concat(parts).to_dict() == whole.to_dict()
    assert {part.tags for part in parts} == {whole.tags} == {("t",)}
    qids = [qid for part in parts for qid in part.qids.to_pylist()]
    assert qids == ["q1", "q2", "q3", "q4", "q5"]


@pytest.mark.usefixtures("_small_blocks")
def test_errors_name_the_line_in_the_file(write: Write) -> None:
    text = lines([1, 1, 1, 2, 3, 3, 4, 4]) + "q4 Q0 d7 1 5 t\n"
    with pytest.raises(InputError, match=r"^a\.run:9: the docno stands already on line 8"):
        list(readers.stream_run(write("a.run", text)))


@pytest.mark.usefixtures("_small_blocks")
def test_scattered_queries_are_aligned_whole(write: Write) -> None:
    path = write("a.run", lines([1, 2, 3, 4, 5, 6, 7, 8] * 5))
    with pytest.raises(ScatteredQueries):
        list(readers.stream_run(path))
    qrels = Qrels.from_dict({"q1": {"d0": 1, "d32": 0, "d5": 1}, "q8": {"d39": 2}})
    with pytest.warns(HarnessWarning, match="^a.run: 8 queries come back after another began"):
        whole = align(qrels, readers.read_run(path))
    with pytest.warns(HarnessWarning) as caught:
        (streamed,) = readers.align_run(qrels, path)
    assert [str(w.message) for w in caught] == [
        "a.run: 8 queries come back after another began; the rows were gathered by qid"
    ]
    for name in ("offsets", "rank", "grade", "score", "n_retrieved", "n_tied"):
        assert getattr(streamed, name).tolist() == getattr(whole, name).tolist()
    assert streamed.n_extra == whole.n_extra == 6


@pytest.mark.usefixtures("_small_blocks")
def test_streamed_alignment_is_that_of_the_whole(write: Write) -> None:
    path = write("a.run", lines([q for q in range(20) for _ in range(7)]))
    qrels = Qrels.from_dict({f"q{q}": {f"d{7 * q + 3}": q % 3, "d0": 1} for q in (3, 0, 19, 99)})
    whole = align(qrels, readers.read_run(path))
    (streamed,) = readers.align_run(qrels, path)
    for name in ("offsets", "rank", "grade", "score", "n_retrieved", "answered", "tie_last"):
        assert getattr(streamed, name).tolist() == getattr(whole, name).tolist()


def test_formats_without_parts_give_one(write: Write, dataset: Qrels) -> None:
    path = write("p.txt", "1\n2\n3\n4\n5\n")
    parts = list(readers.stream_run(path, dataset=dataset))
    assert [part.scores.tolist() for part in parts] == [[1, 2, 3, 4, 5]]
    (aligned,) = readers.align_run(dataset, path)
    assert aligned.grade.tolist() == [1, 0, 2, 1, 0]


def test_many_rows_of_a_dataset_are_aligned_in_parts(write: Write) -> None:
    n = 3 * PART
    dataset = Qrels.from_columns(pa.array(np.arange(n) // 10).cast(pa.string()), None, [1] * n)
    path = write("p.txt", "".join(f"{i % 7}\n" for i in range(n)))
    parts = list(readers.align_run(dataset, path))
    assert len(parts) == 3
    assert sum(part.n_queries for part in parts) == dataset.n_queries


@pytest.mark.usefixtures("_small_blocks")
def test_tags_of_all_parts_are_counted(write: Write) -> None:
    text = "".join(f"q{at} Q0 d 1 1 tag{at % 7}\n" for at in range(20))
    path = write("a.run", text)
    message = (
        "a.run: 7 tags in one run: 'tag0', 'tag1', 'tag2', 'tag3', 'tag4', ...; "
        "it may be several systems' output"
    )
    for parts in (readers.stream_run(path), readers.align_run(Qrels.from_dict({"q3": {}}), path)):
        with pytest.warns(HarnessWarning) as caught:
            list(parts)
        assert [str(w.message) for w in caught] == [message]
