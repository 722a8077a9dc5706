"""Objects and JSON of other packages on the paths beside `evaluate`; the rows of the docs' table
are tested in ``tests/test_holdings.py``."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from command_line import succeeds
from csv_rows import csv_rows
from refusals import refuses

import harness
from harness.readers.adapters import adapted

GRADES = {"10": {"a=1": 2, "b": 0}, "2": {"c": 1, "b": 0}, "1": {"d": 0, "e": 1}}
SCORES = {"10": {"b": 2.5, "a=1": 1.5}, "2": {"c": 0.5, "b": 0.1}, "1": {"d": 0.75, "e": 0.5}}
METRICS = ["map", "ndcg@10", "recip_rank"]


def rows(kind: str, **names: str) -> list[dict[str, Any]]:
    values = GRADES if kind == "qrels" else SCORES
    return [
        {names["qid"]: qid, names["docno"]: docno, names["number"]: number}
        for qid, by_docno in values.items()
        for docno, number in by_docno.items()
    ]


def means(evaluation: harness.Evaluation) -> dict[str, float]:
    return dict(evaluation.summary())


EXPECTED = means(harness.evaluate(GRADES, SCORES, METRICS))


@pytest.mark.slow  # ranx compiles its functions
def test_objects_of_ranx_on_every_path() -> None:
    ranx = pytest.importorskip("ranx")
    qrels, runs = ranx.Qrels(GRADES), {"a": ranx.Run(SCORES), "b": ranx.Run(SCORES)}
    assert means(harness.evaluate(qrels, runs["a"], METRICS)) == EXPECTED
    options: dict[str, Any] = {"baseline": "a", "policy": {}}
    compared = harness.compare(qrels, runs, METRICS, baseline="a")
    assert str(compared) == str(
        harness.compare(GRADES, dict.fromkeys(runs, SCORES), METRICS, baseline="a")
    )
    assert harness.gate(qrels, runs, METRICS, margin=0.01, **options).passed
    fused = harness.fuse([runs["a"], runs["b"]])
    assert means(harness.evaluate(qrels, fused, METRICS)).keys() == EXPECTED.keys()


def test_a_dataset_of_hugging_face_keeps_the_order_of_its_indices() -> None:
    datasets = pytest.importorskip("datasets")
    names = {"qid": "query_id", "docno": "corpus-id", "number": "score"}
    hits = datasets.Dataset.from_list(rows("run", **names))
    chosen = hits.shuffle(seed=3).select(range(4))
    kept = [(row["query_id"], row["corpus-id"]) for row in chosen]
    expected = {q: {d: n for d, n in docs.items() if (q, d) in kept} for q, docs in SCORES.items()}
    expected = {qid: docs for qid, docs in expected.items() if docs}
    for run in (chosen, chosen.to_iterable_dataset()):
        assert means(harness.evaluate(GRADES, run, METRICS)) == means(
            harness.evaluate(GRADES, expected, METRICS)
        )
    parts = datasets.DatasetDict({"test": hits})
    with refuses("run") as caught:
        harness.evaluate(GRADES, parts, METRICS)
    fix = caught.value.problems[0].fix.removeprefix("give one split: ")
    assert means(harness.evaluate(GRADES, eval(fix, {"dataset": parts}), METRICS)) == EXPECTED


def test_metrics_of_ir_measures_give_its_values() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    names = ["nDCG@10", "AP@100", "RR", "P@5", "R@5", "SetF(beta=0.5)", "Rprec", "Success@1"]
    metrics = [ir_measures.parse_measure(name) for name in names]
    metrics += [ir_measures.AP(rel=2), ir_measures.P(rel=2) @ 2]
    values = means(harness.evaluate(GRADES, SCORES, metrics)).values()
    theirs = ir_measures.calc_aggregate(metrics, GRADES, SCORES)
    assert [*values] == [pytest.approx(theirs[metric], abs=1e-9) for metric in metrics]


def test_whole_numbers_are_identifiers() -> None:
    grades = {np.int64(3): {7: 1, 8: 0}, np.int64(20): {9: 1}}
    listed = {3: ["8", "7"], 20: ["9"]}
    assert means(harness.evaluate(grades, listed, ["map"])) == {"map": 0.75}
    as_text = {"3": {"8": 2.0, "7": 1.0}, "20": {"9": 1.0}}
    assert means(harness.evaluate(grades, as_text, ["map"])) == {"map": 0.75}
    assert means(harness.evaluate({3: {7}, 20: {9}}, listed, ["map"])) == {"map": 0.75}


def test_search_results_sorted_by_a_field_are_a_ranking() -> None:
    hits = {
        qid: {"hits": {"hits": [{"_id": docno, "_score": None} for docno in docs]}}
        for qid, docs in SCORES.items()
    }
    assert means(harness.evaluate(GRADES, hits, METRICS)) == EXPECTED


def test_predictions_of_several_splits_are_refused_by_name(tmp_path: Path) -> None:
    predictions = {"mteb_model_meta": {}, "en": {"dev": SCORES, "test=1": SCORES}}
    with refuses("run") as caught:
        harness.evaluate(GRADES, predictions, METRICS)
    fix = caught.value.problems[0].fix.partition(": ")[2]
    assert means(harness.evaluate(GRADES, eval(fix), METRICS)) == EXPECTED
    file = tmp_path / "predictions.json"
    file.write_text(json.dumps(predictions))
    with refuses("predictions.json"):
        harness.evaluate(GRADES, file, METRICS)


def test_a_config_reads_json_of_elasticsearch(tmp_path: Path) -> None:
    ratings = {q: [{"_id": d, "rating": n} for d, n in docs.items()] for q, docs in GRADES.items()}
    requests = [{"id": qid, "ratings": judged} for qid, judged in ratings.items()]
    (tmp_path / "q.json").write_text(json.dumps({"requests": requests}, indent=2))
    details = {
        qid: {"hits": [{"hit": {"_id": d, "_score": n}} for d, n in docs.items()]}
        for qid, docs in SCORES.items()
    }
    (tmp_path / "r.json").write_text(json.dumps({"metric_score": 1, "details": details}))
    (tmp_path / "c.yaml").write_text(
        "datasets: {d: {path: q.json}}\nruns: {r: {path: r.json}}\nmetrics: [map]\noutput: out\n"
    )
    succeeds("run", "c.yaml", cwd=tmp_path)
    assert csv_rows(tmp_path / "out/leaderboard.csv")[0]["map"] == repr(EXPECTED["map"])
    succeeds("check", "q.json", "r.json", cwd=tmp_path)


def test_other_objects_stay_as_they_are() -> None:
    for value in (SCORES, [SCORES], "a.run", None, np.zeros(3), pa.table({"qid": ["1"]})):
        assert adapted(value, "run") is value
