"""Learning-to-rank rows that a run does not score, and runs that cannot name rows."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from command_line import called
from refusals import harness_warnings, refuses, warns
from table_forms import save_table, table_as

import harness
from harness.core.rules import RULES
from harness.errors import HarnessWarning, InputError

ROWS = [
    ("10", "x=1", 0), ("2", "b", 2), ("2", "x=1", 0), ("10", "c", 1), ("1", "d", 0), ("1", "e", 1),
    ("2", "f", 1),
]  # fmt: skip
"""Rows of queries that are not next to each other; docnos with a sign, and shared by queries."""
SCORES = {row: 0.25 * n - 1 for n, row in enumerate((qid, docno) for qid, docno, _ in ROWS)}
LOST = [("2", "b"), ("10", "c"), ("2", "f")]
Score = dict[tuple[str, str], float]


def dataset(rows: list[tuple[str, str, int]] = ROWS) -> str:
    return "".join(f"{grade} qid:{qid} 1:0.5 #docid = {docno}\n" for qid, docno, grade in rows)


def frame(scores: Score) -> pd.DataFrame:
    return pd.DataFrame(
        [(*names, score) for names, score in scores.items()], columns=["qid", "docno", "score"]
    )


def nested(scores: Score) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for (qid, docno), score in scores.items():
        found.setdefault(qid, {})[docno] = score
    return found


def trec(path: Path, scores: Score) -> None:
    path.write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for (q, d), s in scores.items()))


def saved(path: Path, scores: Score) -> None:
    qids, docnos = zip(*scores, strict=True)
    harness.save_predictions(path, [*scores.values()], [*qids], [*docnos])


def msmarco(path: Path, scores: Score) -> None:
    best_first = frame(scores).sort_values(["qid", "score"], ascending=[True, False])
    ranks = best_first.groupby("qid").cumcount() + 1
    best_first.assign(score=ranks).to_csv(path, sep="\t", index=False, header=False)


FILES: dict[str, Callable[[Path, Score], object]] = {
    "a.run": trec,
    **{
        name: lambda path, scores: save_table(path, frame(scores))
        for name in ("b.csv", "c.parquet", "d.jsonl", "j.arrow", "k.csv.gz")
    },
    "e.parquet": saved,
    "f.run": saved,
    "g.json": lambda path, scores: path.write_text(json.dumps(nested(scores))),
    "h.tsv": lambda path, scores: save_table(
        path, frame(scores).set_axis(["query-id", "corpus-id", "score"], axis=1)
    ),
    "i.tsv": msmarco,
}
IN_MEMORY: dict[str, Callable[[Score], Any]] = {
    "dict": nested,
    "frame": frame,
    "columns": lambda scores: (*map(list, zip(*scores, strict=True)), [*scores.values()]),
    "Run": lambda scores: harness.Run.from_dict(nested(scores)),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rows.txt").write_text(dataset())
    return tmp_path


def without(names: list[tuple[str, str]]) -> Score:
    return {row: score for row, score in SCORES.items() if row not in names}


@contextlib.contextmanager
def complete() -> Iterator[None]:
    """Expect no warning of rows without a score; the rows of the dataset are scattered."""
    with harness_warnings() as texts:
        yield
    assert not [text for text in texts if "no score" in text]


@pytest.mark.parametrize("name", FILES)
def test_a_file_with_too_few_rows(folder: Path, name: str) -> None:
    FILES[name](Path(name), SCORES)
    assert not harness.check("rows.txt", name).count("error")
    FILES[name](Path(name), without(LOST))
    (found,) = (one for one in harness.check("rows.txt", name).findings if one.severity == "error")
    assert (found.rule, found.place.file, found.count) == ("unscored-rows", name, 3)
    assert found.what == "3 of 7 rows of the dataset have no score, in 2 queries"
    assert found.examples == ("query 10: 1 of 2", "query 2: 2 of 3")
    assert called("check", "rows.txt", name).code == 2
    done = called("evaluate", "rows.txt", name, "-m", "ndcg@10")
    assert done.code == 0
    assert f"{name.partition('.')[0]}!" in done.out
    assert "unscored-rows" in done.out
    with warns("unscored-rows", "3 of 7 rows"):
        harness.evaluate("rows.txt", name, ["map"])


@pytest.mark.parametrize("name", IN_MEMORY)
def test_a_run_in_memory_with_too_few_rows(folder: Path, name: str) -> None:
    with complete():
        harness.evaluate("rows.txt", IN_MEMORY[name](SCORES), ["map"])
        harness.evaluate(nested(dict.fromkeys(SCORES, 1)), nested(without(LOST)), ["map"])  # qrels
    with warns("unscored-rows", "1 of 7 rows of the dataset has no score, in 1 query"):
        harness.evaluate("rows.txt", IN_MEMORY[name](without(LOST[:1])), ["map"])
    with warns("unscored-rows", "3 of 7 rows"):
        harness.compare(
            "rows.txt", {"x": nested(SCORES), "y": IN_MEMORY[name](without(LOST))}, ["map"]
        )


def test_rows_of_arrays_that_a_run_names_by_position(folder: Path) -> None:
    qids, grades = ["q1", "q1", "q2"], [1, 0, 1]
    with warns("unscored-rows", "2 of 3 rows of the dataset have no score, in 2 queries"):
        harness.evaluate((qids, grades), {"q1": {"d1": 0.5}}, ["map"])


def test_a_config_marks_the_table_and_can_accept_the_rule(folder: Path) -> None:
    trec(Path("a.run"), without(LOST))
    Path("p.txt").write_text("".join(f"{n}\n" for n in range(7)))
    config = (
        "datasets: {d: rows.txt}\nruns: {a: a.run, p: {path: p.txt, format: scores}}\n"
        "metrics: [map]\noutput: out\n"
    )
    Path("c.yaml").write_text(config)
    done = called("run", "c.yaml")
    assert done.code == 0
    assert "a!" in done.out
    assert "[unscored-rows]" in done.err
    assert "!" in called("table", "out", "--format", "markdown").out
    assert called("check", "c.yaml").code == 2
    Path("c.yaml").write_text(config + "guard: {accept: [unscored-rows]}\n")
    assert called("check", "c.yaml").code == 0


def test_left_out_queries_are_not_counted(folder: Path) -> None:
    trec(Path("a.run"), {row: score for row, score in without(LOST[:1]).items() if row[0] != "10"})
    with warns("unscored-rows", "3 of 7 rows of the dataset have no score, in 2 queries"):
        harness.evaluate("rows.txt", "a.run", ["map"])
    with warns("unscored-rows", "1 of 7 rows of the dataset has no score, in 1 query"):
        harness.evaluate("rows.txt", "a.run", ["map"], policy={"missing_queries": "skip"})


def test_depth_and_judged_only_do_not_change_the_count(folder: Path) -> None:
    with complete():
        for policy in ({"depth": 1}, {"judged_only": True}):
            harness.evaluate("rows.txt", nested(SCORES), ["map"], policy=policy)


REPEATED = [*ROWS, ("1", "g", 2), ("1", "d", 1)]


@pytest.mark.parametrize("name", FILES)
def test_a_repeated_docno_refuses_files_that_name_documents(folder: Path, name: str) -> None:
    Path("rows.txt").write_text("# head\n" + dataset(REPEATED))
    FILES[name](Path(name), {**SCORES, ("1", "g"): 0.5})
    with (
        warns("repeated-rows"),
        refuses("rows.txt:10", "unnamed-rows", InputError) as caught,
    ):
        harness.evaluate("rows.txt", name, ["map"])
    assert "'d'" in str(caught.value)
    done = called("evaluate", "rows.txt", name, "-m", "map")
    assert done.code == 2
    assert "rows.txt:10: " in done.err
    (found,) = (one for one in harness.check("rows.txt", name).findings if one.severity == "error")
    assert (found.rule, found.place.file) == ("unnamed-rows", name)
    assert "rows.txt:10: " in found.what
    # what the message proposes
    assert (
        called("evaluate", "rows.txt", name, "-m", "map", "--set", "dataset.duplicates=last").code
        == 0
    )


@pytest.mark.parametrize("name", IN_MEMORY)
def test_a_repeated_docno_refuses_runs_in_memory(folder: Path, name: str) -> None:
    Path("rows.txt").write_text(dataset(REPEATED))
    with pytest.warns(HarnessWarning), refuses("rows.txt:9", "unnamed-rows", InputError):
        harness.evaluate("rows.txt", IN_MEMORY[name](SCORES), ["map"])
    scores = np.arange(9.0)
    with pytest.warns(HarnessWarning), refuses("rows.txt:9", "unnamed-rows", InputError):
        harness.compare("rows.txt", {"x": scores, "y": IN_MEMORY[name](SCORES)}, ["map"])


def test_a_repeated_docno_leaves_predictions_by_row_alone(folder: Path) -> None:
    Path("rows.txt").write_text(dataset(REPEATED))
    scores = np.array([3, 1, 2, 5, 4, 8, 7, 6, 0.5])
    qids, grades = [row[0] for row in REPEATED], [row[2] for row in REPEATED]
    expected = harness.evaluate((qids, grades), scores, ["map", "ndcg@3"]).to_dict()
    np.savetxt("p.txt", scores)
    with warns("repeated-rows"):
        harness.save_predictions("p.parquet", scores, "rows.txt")
    with warns("repeated-rows"):
        judged = harness.read_qrels("rows.txt")
    by_query = {qid: scores[np.array(qids) == qid] for qid in ("10", "2", "1")}
    for run in ("p.txt", "p.parquet", scores, by_query):
        assert harness.evaluate(judged, run, ["map", "ndcg@3"]).to_dict() == expected
    with refuses("rows.txt:9", "unnamed-rows", InputError):
        harness.save_predictions("p.run", scores, judged)


def test_queries_of_a_batch_file_leave_a_repeated_docno_alone(folder: Path) -> None:
    Path("rows.txt").write_text(dataset(REPEATED))
    collector = harness.BatchCollector()
    collector.add([[0.5, 0.25]], [[0, 1]], [2], qids=["10"])
    collector.save("p.npz")
    with pytest.warns(HarnessWarning):
        found = harness.evaluate("rows.txt", "p.npz", ["recip_rank"])
    assert found.to_dict()["10"] == {"recip_rank": 0.5}


def test_rows_of_which_some_have_a_docid(folder: Path) -> None:
    text = dataset().replace(" #docid = c", " # c")
    Path("rows.txt").write_text("\n" + text)
    trec(Path("a.run"), SCORES)
    with pytest.warns(HarnessWarning), refuses("rows.txt:5", "unnamed-rows", InputError):
        harness.evaluate("rows.txt", "a.run", ["map"])


def test_a_reference_that_names_documents(folder: Path) -> None:
    Path("rows.txt").write_text(dataset(REPEATED))
    trec(Path("a.run"), SCORES)
    np.savetxt("p.txt", np.arange(9.0))
    with pytest.warns(HarnessWarning), refuses("rows.txt:9", "unnamed-rows", InputError):
        harness.evaluate(
            "rows.txt", "p.txt", ["rbo(reference=a)"], references={"a": nested(SCORES)}
        )


def test_the_rule_does_not_end_a_run() -> None:
    assert [one for one in RULES if not RULES[one].stops_run] == ["unscored-rows"]


def test_comparisons_mark_the_run(folder: Path) -> None:
    trec(Path("a.run"), SCORES)
    trec(Path("b.run"), without(LOST))
    done = called("compare", "--qrels", "rows.txt", "a.run", "b.run", "-m", "ndcg@10")
    assert done.code == 0
    assert "b! against a" in done.out
    assert "! The guard warns of unscored-rows in b;" in done.out
    with warns("unscored-rows"):
        found = harness.compare("rows.txt", {"x": "a.run", "y": "b.run"}, ["map"], baseline="y")
    assert "against y!" in str(found)
    assert found.warned == {"y": ("unscored-rows",)}


def table_of_rows(**features: list[float]) -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=["qid", "docno", "label"]).assign(**features)


TABLES = ("csv", "tsv", "jsonl", "parquet", "pandas")
FEATURES = {"f1": [0.5, 2.0, 1.0, 0.0, 0.25, 3.0, 1.5], "f2": [float(n) for n in range(7)]}


@pytest.mark.parametrize("form", TABLES)
def test_a_table_of_rows_with_features_is_a_dataset_of_rows(folder: Path, form: str) -> None:
    rows = table_as(form, table_of_rows(**FEATURES), folder)
    trec(Path("a.run"), without(LOST))
    if form != "pandas":
        (found,) = (one for one in harness.check(rows, "a.run").findings if one.severity == "error")
        assert (found.rule, found.count) == ("unscored-rows", 3)
    with warns("unscored-rows", "3 of 7 rows"):
        harness.evaluate(rows, "a.run", ["map"])
    with complete():
        harness.evaluate(rows, nested(SCORES), ["map"])


@pytest.mark.parametrize(
    "more",
    [
        {}, {"confidence": FEATURES["f1"]}, {"f1": FEATURES["f1"]},
        {"vote1": [1, 2, 3, 1, 2, 3, 1], "vote2": [1, 2, 3, 1, 2, 3, 1]},
        {"pred_0": FEATURES["f1"], "pred_1": FEATURES["f2"]},
    ],
)  # fmt: skip
def test_other_columns_are_no_features(folder: Path, more: dict[str, list[float]]) -> None:
    for form in TABLES:
        with complete():
            rows = table_as(form, table_of_rows(**more), folder)
            harness.evaluate(rows, nested(without(LOST)), ["map"])
