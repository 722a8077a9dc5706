"""Tables of predictions without docnos: joined to the dataset's rows, or refused at one."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refuses, warns

from harness import Qrels, read_qrels, read_run
from harness.core.qrels_and_runs import Run
from harness.readers import from_frame
from harness.readers.in_memory import as_pair

LETOR = "2 qid:10 1:.1\n0 qid:10 1:.2\n1 qid:9 1:.3\n0 qid:9 1:.4\n0 qid:9 1:.5\n"
SCORES = [0.9, 0.1, 0.8, 0.3, 0.4]


@pytest.fixture
def dataset(tmp_path: Path) -> Qrels:
    (tmp_path / "test.txt").write_text(LETOR)
    return read_qrels(tmp_path / "test.txt", name="test")


def read(folder: Path, text: str, dataset: Qrels, **options: Any) -> list[float]:
    path = folder / "p.csv"
    path.write_text(text)
    scores: list[float] = read_run(path, dataset=dataset, **options).scores.tolist()
    return scores


@pytest.mark.parametrize(
    "text",
    [
        "qid,label,score\n10,2,.9\n10,0,.1\n9,1,.8\n9,0,.3\n9,0,.4\n",
        # by qid as a number; the labels of each query are those of the dataset
        "qid,label,score\n9,1,.8\n9,0,.3\n9,0,.4\n10,2,.9\n10,0,.1\n",
        "qid,row,score\n10,1,.1\n9,4,.4\n9,2,.8\n10,0,.9\n9,3,.3\n",
        "qid,row,score\n10,2,.1\n9,5,.4\n9,3,.8\n10,1,.9\n9,4,.3\n",  # from 1
        "qid,relevance,row,score\n10,0,1,.1\n9,0,4,.4\n9,1,2,.8\n10,2,0,.9\n9,0,3,.3\n",
        "qid,score\n10,.9\n10,.1\n9,.8\n9,.3\n9,.4\n",
        "label,score\n2,.9\n0,.1\n1,.8\n0,.3\n0,.4\n",
        "row,score\n2,.8\n0,.9\n1,.1\n4,.4\n3,.3\n",
    ],
)
def test_rows_are_joined(tmp_path: Path, dataset: Qrels, text: str) -> None:
    assert read(tmp_path, text, dataset) == SCORES
    lines = [line.split(",") for line in text.split()]
    names, rows = lines[0], lines[1:]
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    table = pa.table({**columns, "score": [float(one) for one in columns["score"]]})
    assert from_frame(table, Run, dataset=dataset).scores.tolist() == SCORES
    pq.write_table(table, tmp_path / "p.parquet")
    run = read_run(tmp_path / "p.parquet", dataset=dataset)
    assert run.scores.tolist() == SCORES


def test_rows_with_docnos(tmp_path: Path) -> None:
    """MQ2007 names its documents; tables of predictions have queries and labels."""
    lines = [f"{line} #docid = GX{n}" for n, line in enumerate(LETOR.splitlines())]
    (tmp_path / "test.txt").write_text("\n".join(lines))
    dataset = read_qrels(tmp_path / "test.txt", name="test")
    labelled = "qid,y_true,y_pred\n10,2,.9\n10,0,.1\n9,1,.8\n9,0,.3\n9,0,.4\n"
    assert read(tmp_path, labelled, dataset) == SCORES
    assert read(tmp_path, "qid,y_pred\n10,.9\n10,.1\n9,.8\n9,.3\n9,.4\n", dataset) == SCORES
    ranked = "qid,y_pred\n10,.9\n10,.1\n9,.8\n9,.4\n9,.3\n"
    with refuses("p.csv", "columns"):
        read(tmp_path, ranked, dataset)
    assert read(tmp_path, ranked, dataset, columns={"docno": "none"}) == [0.9, 0.1, 0.8, 0.4, 0.3]
    with refuses("p.csv:4", "row-count"):
        read(tmp_path, "qid,y_pred\n10,.1\n10,.9\n9,.8\n", dataset)


def test_shuffled_series(tmp_path: Path, dataset: Qrels) -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(SCORES)
    assert as_pair(dataset, series)[1].scores.tolist() == SCORES
    with refuses("run", "columns"):
        as_pair(dataset, series[[3, 4, 0, 1, 2]])
    grades = pandas.Series([2, 0, 1, 0, 0])[[3, 4, 0, 1, 2]]  # in the order of the scores
    as_pair((["10", "10", "9", "9", "9"], grades), series[[3, 4, 0, 1, 2]])
    rows = pandas.DataFrame({"qid": [10, 10, 9, 9, 9], "label": [2, 0, 1, 0, 0]})
    for qrels, how in (
        ((rows.qid, rows.label), {}), (rows, {}), (rows.label, {"n": [2, 3]}),
    ):  # fmt: skip
        with refuses("run", "columns"):
            as_pair(qrels, series[[3, 4, 0, 1, 2]], **how)
    as_pair(rows[rows.qid > 9], pandas.Series([0.1, 0.2]))  # with numbers of its own
    as_pair(dataset, pandas.Series(SCORES, index=[0, "a", 2, 3, 4]))
    with refuses("n[0]"):
        as_pair([2, 0, 1, 0, 0], {"0": {"d0": 1.0}}, n=[-2, 7])


def test_scores_by_query(dataset: Qrels) -> None:
    by_query = {"9": np.array(SCORES[2:]), "10": SCORES[:2]}
    assert as_pair(dataset, by_query)[1].scores.tolist() == SCORES
    grades = {10: [2, 0], 9: [1, 0, 0]}
    qrels, run = as_pair(grades, {int(qid): one for qid, one in by_query.items()})
    assert run.scores.tolist() == SCORES
    assert qrels.to_dict() == dataset.to_dict()
    several_runs, short = {"a": SCORES, "b": SCORES}, {"10": SCORES[:2], "9": SCORES[:2]}
    for wrong in (several_runs, {"10": SCORES[:2]}, short):
        with refuses("run", "row-count"):
            as_pair(dataset, wrong)


def test_json_lines_without_queries(tmp_path: Path, dataset: Qrels) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text("".join(f'{{"y_pred": {one}}}\n' for one in SCORES))
    assert read_run(path, dataset=dataset).scores.tolist() == SCORES


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        # sorted by score: the labels say so
        ("qid,label,score\n10,2,.9\n10,0,.1\n9,0,.8\n9,1,.4\n9,0,.3\n", 4, "other-rows"),
        ("qid,score\n9,.8\n9,.3\n9,.4\n10,.9\n10,.1\n", 2, "other-rows"),
        ("qid,row,score\n10,1,.1\n9,4,.4\n9,2,.8\n10,0,.9\n9,4,.3\n", 3, "other-rows"),
        ("qid,row,score\n10,1,.1\n9,4,.4\n10,2,.8\n9,0,.9\n9,3,.3\n", 5, "other-rows"),
        ("label,score\n2,.9\n1,.8\n0,.1\n0,.3\n0,.4\n", 3, "other-rows"),
        ("qid,label,score\n10,2,.9\n10,0,.1\n", 3, "row-count"),
        # the two best of each query
        ("qid,label,score\n10,2,.9\n10,0,.1\n9,0,.8\n9,0,.4\n", 4, "row-count"),
        ("qid,score\n9,.8\n9,.3\n10,.9\n", 2, "row-count"),
        ("qid,label,score\n10,2,.9\n10,1,.1\n9,1,.8\n", 3, "row-count"),
    ],
)
def test_the_first_row_that_contradicts(
    tmp_path: Path, dataset: Qrels, text: str, line: int, rule: str
) -> None:
    with refuses(f"p.csv:{line}", rule) as caught:
        read(tmp_path, text, dataset)
    assert len(caught.value.problems) == 1


def test_scattered_and_dropped_rows(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("1 qid:a 1:1\n0 qid:b 1:2\n0 qid:a 1:3\n2 qid:b 1:4\n")
    with warns("scattered-queries"):
        dataset = read_qrels(tmp_path / "t.txt")
    for text in (
        "qid,label,score\na,1,.1\nb,0,.2\na,0,.3\nb,2,.4\n",
        "qid,label,score\na,1,.1\na,0,.3\nb,0,.2\nb,2,.4\n",  # gathered by qid
    ):
        assert read(tmp_path, text, dataset) == [0.1, 0.3, 0.2, 0.4]
    (tmp_path / "t.qrels").write_text("a 0 d1 1\na 0 d1 1\na 0 d2 0\nb 0 d1 2\n")
    with warns("dropped-rows"):
        dataset = read_qrels(tmp_path / "t.qrels", duplicates="first")
    columns = {"docno": "none"}
    text = "qid,label,score\na,1,.1\na,1,.2\na,0,.3\nb,2,.4\n"
    assert read(tmp_path, text, dataset, columns=columns) == [0.1, 0.3, 0.4]
    with refuses("p.csv:4", "other-rows"):
        read(tmp_path, text.replace("a,0", "a,2"), dataset, columns=columns)


@pytest.mark.parametrize("between", [",", "\t", ";", " "])
@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ("10 10 9 9 9", "qid"),
        ("10.0 10.0 9.0 9.0 9.0", "qid"),
        ("2 0 1 0 0", "grade"),
        ("10:2 10:0 9:1 9:0 9:0", "qid,grade"),
        ("10.0:2.0 10.0:0.0 9.0:1.0 9.0:0.0 9.0:0.0", "qid,grade"),
    ],
)
def test_columns_without_names(
    tmp_path: Path, dataset: Qrels, between: str, columns: str, names: str
) -> None:
    rows = [f"{one}:{score}\n" for one, score in zip(columns.split(), SCORES, strict=True)]
    text = "".join(rows).replace(":", between)
    with refuses("p.csv:1", "columns"):
        read(tmp_path, text, dataset)
    with_names = f"{names},score\n" + text.replace(between, ",")
    assert read(tmp_path, with_names, dataset) == SCORES


@pytest.mark.parametrize("columns", ["0 1 2 3 4", "10,d7 10,d8 9,d7 9,d8 9,d9"])
def test_an_index_and_docnos_are_no_qids_and_grades(
    tmp_path: Path, dataset: Qrels, columns: str
) -> None:
    rows = [f"{one},{score}\n" for one, score in zip(columns.split(), SCORES, strict=True)]
    with refuses("p.csv:1", "columns"):
        read(tmp_path, "".join(rows), dataset)
