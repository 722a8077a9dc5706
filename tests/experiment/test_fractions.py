"""Fractions as grades, from a file or memory to a value; and grades that a metric refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import succeeds
from csv_rows import csv_rows
from refusals import refuses

import harness
from harness import readers
from harness.core.policy import Policy
from harness.errors import InputError
from harness.experiment import evaluate as direct
from harness.experiment.results import read_results

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
        harness.evaluate(path, RUN, ["dcg", "map"])
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
        harness.run(config, overrides=["metrics=[ndcg, bpref(convention=none)]"])


FRACTIONS = "0.7 qid:10 1:1\n0 qid:10 1:2\n0 qid:2 1:3\n0.3 qid:2 1:4\n0 qid:1 1:5\n0 qid:1 1:6\n"
SKLEARN = "ndcg(convention=sklearn)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("l.txt").write_text(FRACTIONS, encoding="utf-8")
    Path("p.txt").write_text("1\n2\n3\n4\n5\n6\n", encoding="utf-8")
    config(SKLEARN)
    return tmp_path


def config(*metrics: str, policy: str = "{}") -> Path:
    Path("c.yaml").write_text(
        "datasets: {d: {path: l.txt}}\nruns: {r: {path: p.txt}}\noutput: o\n"
        f"metrics: {json.dumps(metrics)}\npolicy: {policy}\n",
        encoding="utf-8",
    )
    return Path("c.yaml")


@pytest.mark.usefixtures("folder")
def test_reports_count_queries_in_the_sense_of_each_metric() -> None:
    config(SKLEARN, "map(convention=trec_eval9)")
    succeeds("run", "c.yaml")
    (row,) = csv_rows(Path("o/leaderboard.csv"))
    assert row["empty"] == "3"
    shown = " ".join(succeeds("table", "o").split())
    assert "1 query has no relevant document for nDCG; it counts 0." in shown
    assert "3 queries have no relevant document for MAP; each counts 0." in shown
    shown = succeeds("evaluate", "l.txt", "p.txt", "-m", SKLEARN)
    assert "1 query has no relevant document; it counts 0." in shown
    board = read_results(Path("o")).leaderboard  # as it was evaluated
    counts = board.entries[0].evaluation.counts
    assert dict(counts.empty_by_metric) == {SKLEARN: 1, "map(convention=trec_eval9)": 3}
    harness.run("c.yaml")  # from the cache
    assert read_results(Path("o")).leaderboard.entries[0].evaluation.counts == counts


@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.parametrize("metric", ["map", SKLEARN])
@pytest.mark.usefixtures("folder")
def test_check_and_evaluate_have_one_verdict(metric: str, missing: str) -> None:
    path = config(metric, policy=f"{{missing_queries: {missing}}}")
    refused = "grade-values" in {one.rule for one in harness.check(path).findings}
    assert refused == (metric == "map")
    for evaluated in (
        lambda: harness.run(path),
        lambda: direct.evaluate_files(
            "l.txt", ["p.txt"], [metric], policy=Policy(missing_queries=missing)
        ),
        lambda: harness.evaluate("l.txt", "p.txt", [metric], policy={"missing_queries": missing}),
    ):
        if refused:
            with refuses("l.txt:1", "grade-values"):
                evaluated()
        else:
            evaluated()


@pytest.mark.usefixtures("folder")
def test_a_check_without_metrics_says_which_metrics_need_a_threshold() -> None:
    findings = {one.rule: one.severity for one in harness.check("l.txt", "p.txt").findings}
    assert (findings["fractional-grades"], "grade-values" in findings) == ("note", False)


@pytest.mark.usefixtures("folder")
def test_lists_that_are_too_short_are_found_by_check_too() -> None:
    Path("l.txt").write_text(FRACTIONS.rpartition("0 ")[0], encoding="utf-8")
    Path("p.txt").write_text("1\n2\n3\n4\n5\n", encoding="utf-8")
    (found,) = [one for one in harness.check("c.yaml").findings if one.severity == "error"]
    assert found.place == "p.txt: query '1'"
    with refuses(f"{SKLEARN}: query '1'"):
        harness.evaluate("l.txt", "p.txt", [SKLEARN])


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_training_loops_take_what_evaluate_takes(library: str) -> None:
    scores, labels, group = [0.2, 0.1, 0.3, 0.9, 0.8], [0.5, 0, 0.9, 0.25, 1.5], [3, 2]
    expected = harness.evaluate(labels, scores, [SKLEARN], n=group).summary()
    own = getattr(harness, library)
    assert own.feval(SKLEARN).evaluate(scores, labels, group) == expected
    with refuses("query '0', document 'd0'", "grade-values"):
        own.feval("recip_rank").evaluate(scores, labels, group)
    collector = harness.BatchCollector()
    collector.add(scores, labels, group)
    assert collector.evaluate([SKLEARN]).summary() == expected
    levels = {"relevance_level": 0.5}
    whole = [float(label >= 0.5) for label in labels]
    for metric in ("map", "P@2", "recip_rank", "rbp(p=0.8)"):
        by_level = harness.evaluate(labels, scores, [metric], n=group, **levels).to_dict()
        binary = harness.evaluate(whole, scores, [metric], n=group).to_dict()
        assert [[*row.values()] for row in by_level.values()] == [
            [*row.values()] for row in binary.values()
        ]
    gains = harness.evaluate(labels, scores, ["ndcg(gain=exp)@10"], n=group).to_dict().values()
    assert harness.batch.ndcg(scores, labels, group).tolist() == [
        row["ndcg(gain=exp)@10"] for row in gains
    ]
    with refuses("query '0'", "grade-values"):
        harness.batch.ao(scores, labels, group)
    harness.batch.ao(scores, labels, group, rel=0.5)


@pytest.mark.usefixtures("folder")
def test_commands_on_results_with_fractions() -> None:
    succeeds("run", "c.yaml")
    succeeds("trace", "o", "--run", "r", "-m", SKLEARN, "--query", "10")
    succeeds("verify", "o")
    succeeds("conventions", "o")
    succeeds("page", "o")
    succeeds("conventions", "o", "--match", "0.5436", "-m", "ndcg@2")


@pytest.mark.usefixtures("folder")
def test_a_fraction_of_one_subtopic_is_not_lost_in_the_largest_grade() -> None:
    Path("d.qrels").write_text("1 1 a 1\n1 2 a 0.5\n", encoding="utf-8")
    with refuses("d.qrels:2", "grade-values"):
        readers.read_qrels("d.qrels", format="diversity")


@pytest.mark.usefixtures("folder")
def test_why_counts_in_the_sense_of_its_metric() -> None:
    config("map(convention=trec_eval9)", SKLEARN)
    succeeds("run", "c.yaml")
    shown = succeeds("trace", "o", "--run", "r", "-m", SKLEARN)
    assert "3 queries, 1 without relevant documents (zero)" in shown
