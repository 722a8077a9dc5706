"""Predictions that harness.save_predictions writes are read back at their rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refuses

import harness

GRADES = [0, 2, 1, 0, 0, 1]
QIDS = ["9", "9", "9", "10", "10", "abc"]
SCORES = [0.1, 0.7, 0.7000000000000001, -3.0, 2.0, 1e-9]


@pytest.fixture(params=["named", "unnamed", "scattered"])
def letor(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    rows = [f"{grade} qid:{qid} 1:0.5" for grade, qid in zip(GRADES, QIDS, strict=True)]
    if request.param == "named":
        rows = [f"{row} #docid = X{at}" for at, row in enumerate(rows)]
    if request.param == "scattered":
        rows = [rows[at] for at in (0, 3, 1, 5, 2, 4)]
    (tmp_path / "test.txt").write_text("\n".join(rows) + "\n")
    return tmp_path / "test.txt"


@pytest.mark.filterwarnings("ignore:.*not next to each other")
@pytest.mark.parametrize("ending", [".run", ".parquet"])
def test_what_is_written_is_read_back(letor: Path, ending: str) -> None:
    dataset = harness.read_qrels(letor)
    expected = harness.evaluate(dataset, np.array(SCORES), ["ndcg@10"]).summary()
    path = letor.parent / "new" / f"p{ending}"
    for given in (dataset, letor, str(letor)):
        harness.save_predictions(path, SCORES, given)
        run = harness.read_run(path, dataset=dataset)
        assert harness.evaluate(dataset, run, ["ndcg@10"]).summary() == expected
    if ending == ".parquet":  # whatever happens to the rows
        table = pq.read_table(path)
        assert table.column_names == ["qid", "row", "score"]
        pq.write_table(table.take(pa.array([5, 0, 3, 1, 4, 2])), path)
        run = harness.read_run(path, dataset=dataset)
        assert harness.evaluate(dataset, run, ["ndcg@10"]).summary() == expected


@pytest.mark.parametrize(
    ("scores", "qids", "docnos", "where", "rule"),
    [
        (SCORES[:-1], QIDS, None, "scores", "row-count"),
        ([*SCORES[:-1], float("nan")], QIDS, None, "scores", "not-finite"),
        (SCORES, QIDS, list("abcdea")[:5], "qrels", ""),
        (SCORES, QIDS, list("aacdef"), "qrels: row 2", "duplicates"),
        (SCORES, QIDS, ["a b", *"bcdef"], "docno", ""),
        ([SCORES], QIDS, None, "scores", ""),
    ],
)
def test_what_cannot_be_written(
    tmp_path: Path, scores: Any, qids: Any, docnos: Any, where: str, rule: str
) -> None:
    with refuses(where, rule):
        harness.save_predictions(tmp_path / "p.run", scores, qids, docnos)
    assert not (tmp_path / "p.run").exists()


@pytest.mark.filterwarnings("ignore:.*not next to each other")
def test_shuffled_rows_are_refused(letor: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    scores = pandas.Series(SCORES)
    shuffled = scores.sort_values(ascending=False)
    qids = pandas.Series(QIDS)
    for rows in (letor, qids[shuffled.index]):
        with refuses("scores", "columns"):
            harness.save_predictions(tmp_path / "p.run", shuffled, rows)
    harness.save_predictions(tmp_path / "p.run", shuffled.sort_index(), letor)


@pytest.mark.parametrize("name", ["p.csv", "p.npy", "p.pt", "p.jsonl", "p.run.gz", "p.parquet.zst"])
def test_endings_of_other_formats_are_refused(tmp_path: Path, name: str) -> None:
    with refuses(name):
        harness.save_predictions(tmp_path / name, SCORES, QIDS)
    assert not (tmp_path / name).exists()
