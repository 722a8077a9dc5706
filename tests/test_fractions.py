"""Fractions as grades, from a file or memory to a value; and grades that a metric refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refuses

import harness
from harness import readers
from harness.errors import InputError
from harness.experiment import evaluate as direct

QRELS = {"q1": {"a": 0.5, "b": 0.0, "c": 2.5}, "q2": {"d": 1.0}}
RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"d": 1.0}}
METRIC = "dcg(convention=catboost)"
VALUE = 0.5 + 2.5 / 2  # ranks 1 and 3: 1 / log2(2) = 1 and 1 / log2(4) = 1/2; 1 for q2
ROWS = [(qid, docno, grade) for qid, row in QRELS.items() for docno, grade in row.items()]
QIDS, DOCNOS, GRADES = (list(column) for column in zip(*ROWS, strict=True))
FRAME = {"qid": QIDS, "docno": DOCNOS, "grade": GRADES}


def lines(form: str) -> Callable[[Path], None]:
    text = "".join(f"{form.format(qid=q, docno=d, grade=g)}\n" for q, d, g in ROWS)
    return lambda path: path.write_text(text, encoding="utf-8") and None


def with_header(header: str, between: str) -> Callable[[Path], None]:
    rows = [between.join(map(str, row)) for row in ROWS]
    return lambda path: path.write_text("\n".join([header, *rows, ""]), encoding="utf-8") and None


FILES: dict[str, Callable[[Path], None]] = {
    "q.qrels": lines("{qid} 0 {docno} {grade}"),
    "q.txt": lines("{grade} qid:{qid} 1:0.25 # {docno}"),
    "slow.txt": lines("{grade}  qid:{qid}  1:0.25 # {docno}"),
    "q.jsonl": lines('{{"qid": "{qid}", "docno": "{docno}", "grade": {grade}}}'),
    "q.csv": with_header("qid,docno,grade", ","),
    "table.tsv": with_header("qid\tdocno\tgrade", "\t"),
    "beir.tsv": with_header("query-id\tcorpus-id\tscore", "\t"),
    "q.parquet": lambda path: pq.write_table(pa.table(FRAME), path),
    "q.json": lambda path: path.write_text(json.dumps(QRELS), encoding="utf-8") and None,
}


# the first fraction is in the first row
PLACES = {name: f"{name}:1" for name in FILES} | {
    "q.csv": "q.csv:2", "table.tsv": "table.tsv:2", "beir.tsv": "beir.tsv:2",
    "q.parquet": "q.parquet: row 1", "q.json": "q.json: query 'q1', document 'a'",
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    FILES[name](path)
    found = harness.evaluate(path, RUN, [METRIC]).to_dict()
    assert found == {"q1": {METRIC: VALUE}, "q2": {METRIC: 1.0}}
    with refuses(PLACES[name], "grade-values", InputError):
        harness.evaluate(path, RUN, ["dcg"])
    assert readers.read_qrels(path).to_dict() == QRELS


def test_files_and_configs(tmp_path: Path) -> None:
    FILES["q.qrels"](tmp_path / "q.qrels")
    qrels, run = str(tmp_path / "q.qrels"), str(tmp_path / "bm25.json")
    Path(run).write_text(json.dumps(RUN), encoding="utf-8")
    (entry,) = direct.evaluate_files(qrels, [run], ["ndcg"], convention="catboost").entries
    # q1: 0.5 + 2.5 / 2 of 2.5 + 0.5 / log2(3)
    expected = (VALUE / (2.5 + 0.5 / np.log2(3)), 1.0)
    assert entry.evaluation.values[:, 0] == pytest.approx(expected, abs=1e-15)
    config = tmp_path / "x.yaml"
    text = "\n".join([
        "output: out", "datasets: {d: {path: q.qrels}}", "runs: {bm25: {path: bm25.json}}",
        "metrics: [ndcg, 'map(convention=trec_eval9)']", "convention: catboost", "crosscheck: all",
    ])  # fmt: skip
    config.write_text(text, encoding="utf-8")
    (entry,) = harness.run(config).leaderboard.entries
    assert entry.evaluation.values[:, 0] == pytest.approx(expected, abs=1e-15)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert '"values": 0' in json.dumps(manifest)  # pytrec_eval takes no fractions
    with refuses("q.qrels:1", "grade-values"):
        harness.run(config, overrides=["metrics=[ndcg, swaps(convention=none)]"])
