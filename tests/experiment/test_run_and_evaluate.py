"""From a config, or files, to a leaderboard on disk."""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from command_line import called, succeeds
from csv_rows import csv_rows
from refusals import refuses

import harness
from harness.config.plugins import load_plugin
from harness.core.metric import REGISTRY
from harness.errors import ConfigError, HarnessWarning, InputError
from harness.experiment.results import read_results as read_results

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1}}
RUN = {"q1": {"b": 3.0, "a": 2.0, "x": 1.0}, "q2": {"a": 0.5}}
# q1: a at rank 2, c not retrieved: (1/2) / 2; q2: 1
MAP = (0.25 + 1.0) / 2


def write(examples: Path, text: str, name: str = "x") -> Path:
    path = examples / "configs" / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


TREC = """
output: ../out
datasets: {trec: {path: ../runs/trec/qrels.txt}}
runs: {"{system}": {path: "../runs/trec/{system}.run"}}
metrics: [map, ndcg@10, arp]
"""


def test_the_manifest_names_inputs_versions_and_policies(examples: Path) -> None:
    harness.run(write(examples, TREC), overrides=["policy.ties=stable"])
    manifest = json.loads((examples / "out/manifest.json").read_text())
    assert manifest["config"]["policy"]["ties"] == "stable"
    paths = {row["path"]: row for row in manifest["inputs"]}
    content = (examples / "runs/trec/bm25.run").read_bytes()
    assert paths["../runs/trec/bm25.run"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert paths["../runs/trec/bm25.run"]["bytes"] == len(content)
    assert manifest["versions"]["harness"] == harness.__version__
    assert {"dataset", "run", "counts", "undefined", "ties"} <= set(manifest["cells"][0])
    assert manifest["git"] is None  # the folder is no repository


def test_a_run_that_cannot_be_read_loses_no_other(examples: Path) -> None:
    (examples / "runs/trec/zzz.run").write_text("1 Q0 d1 1 nan zzz\n")
    code, out, err = called("run", write(examples, TREC))
    assert code == 2
    assert "zzz could not be evaluated; " in out
    assert re.search(r"error: \S*zzz\.run:1: score: expected .* \(zzz on trec\)", err)
    rows = csv_rows(examples / "out/leaderboard.csv")
    assert [row["run"] for row in rows if row["error"]] == ["zzz"]
    assert (rows[-1]["map"], rows[-1]["queries"]) == ("", "")
    assert all(float(row["map"]) > 0 for row in rows[:-1])
    manifest = json.loads((examples / "out/manifest.json").read_text(encoding="utf-8"))
    assert [each["run"] for each in manifest["failed"]] == ["zzz"]
    assert read_results(examples / "out").runs == tuple(sorted(row["run"] for row in rows[:-1]))


def test_a_failed_baseline_leaves_tables_and_pages_without_tests(examples: Path) -> None:
    (examples / "runs/trec/zzz.run").write_text("1 Q0 d1 1 nan zzz\n")
    config = write(examples, f"{TREC}\ncompare: {{baseline: zzz}}\n")
    warning = "the others cannot be compared: baseline: unknown run 'zzz'"
    with pytest.warns(HarnessWarning, match=warning):
        assert harness.run(config).comparisons is None
    for command in ("page", "table"):
        code, _, err = called(command, examples / "out")
        assert (code, warning in err) == (0, True), err


def test_where_no_run_can_be_read_nothing_is_written(examples: Path) -> None:
    for path in (examples / "runs/trec").glob("*.run"):
        path.write_text("1 Q0 d1 1 nan zzz\n")
    with refuses("bm25.run:1", "not-finite", InputError):
        harness.run(write(examples, TREC))
    written = [path for path in (examples / "out").rglob("*") if path.is_file()]
    assert {path.name for path in written} == {".lock"}


def test_a_metric_that_fails_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "from harness import metric\n"
        "@metric('scalar', direction=None, bounds=(0, 1), source='test')\n"
        "def scalar(aligned):\n    return 1.0\n"
        "@metric('odd_max', direction=None, bounds=(0, 1), source='test')\n"
        "def broken(aligned):\n    raise ValueError('kaboom')\n"
    )
    try:
        load_plugin(str(tmp_path / "bad.py"), tmp_path)
        with refuses("metric scalar"):
            harness.evaluate(QRELS, RUN, ["scalar"])
        with pytest.raises(harness.HarnessError, match=r"odd_max: ValueError: kaboom\n.*bad.py:5"):
            harness.evaluate(QRELS, RUN, ["odd_max"])
    finally:
        for name in ("scalar", "odd_max"):
            REGISTRY.pop(name, None)


class TestEvaluate:
    def test_padded_arrays(self) -> None:
        relevance = np.array([[0, 1, 0], [0, 1, 1]])
        scores = np.array([[1.0, 0.0, 1.5], [1.5, 0.2, np.nan]])
        found = harness.evaluate(relevance, scores, ["recip_rank"], n=[3, 2], qids=["a", "b"])
        # a: scores rank d2 d0 d1, the relevant d1 is third; b: d0 d1, the relevant d1 is second
        assert found.to_dict() == {"a": {"recip_rank": 1 / 3}, "b": {"recip_rank": 0.5}}
        with refuses("n", error=InputError):
            harness.evaluate([[0, 1]], [[0.0, 1.0]], ["P@1"])

    SCORES: ClassVar[dict[str, Callable[[list[float]], Any]]] = {
        "list": list,
        "numpy": lambda scores: np.array(scores, np.float32),
        "column": lambda scores: np.array(scores)[:, None],
        "pandas": pd.Series,
        "polars": pl.Series,
        "arrow": pa.array,
        "chunks": lambda scores: pa.chunked_array([scores[:2], scores[2:]]),
        "tensor": lambda scores: torch.tensor(scores, requires_grad=True),
        "array": lambda scores: type("A", (), {"__array__": lambda *_, **__: np.array(scores)})(),
    }

    @pytest.mark.parametrize("make", SCORES.values(), ids=SCORES)
    def test_columns_of_qids_and_grades(self, make: Callable[[list[float]], Any]) -> None:
        # a: rows 0, 2, 4 with grades 0 1 0 and scores 3 2 1; the relevant one, d1, is second
        # b: rows 1, 3 with grades 1 0 and scores 0.5 0.25; the relevant one, d0, is first
        qids, grades = ["a", "b", "a", "b", "a"], [0, 1, 1, 0, 0]
        scores = make([3.0, 0.5, 2.0, 0.25, 1.0])
        expected = {"a": {"recip_rank": 0.5}, "b": {"recip_rank": 1.0}}
        found = harness.evaluate((qids, grades), scores, ["recip_rank"])
        assert found.to_dict() == expected
        columns = pd.Series(qids, dtype="category"), pd.Series(grades, dtype=float)
        assert harness.evaluate(columns, scores, ["recip_rank"]).to_dict() == expected
        numbered = harness.evaluate((np.array([7, 8, 7, 8, 7]), grades), scores, ["recip_rank"])
        assert numbered.to_dict() == {"7": expected["a"], "8": expected["b"]}

    @pytest.mark.parametrize(
        ("qrels", "run", "where"),
        [
            ({1.5: {"d": 1}}, RUN, "qrels"),
            (QRELS, {"q": {2.5: 1}}, "run"),
            (QRELS, {"q": {"d": "x"}}, "run"),
            (QRELS, {"bm25": RUN, "dense": RUN}, "run"),
            (QRELS, [RUN, RUN], "run"),
            (QRELS, ("a.run", "b.run", "c.run"), "run"),
            (QRELS, {"a": pd.DataFrame({"qid": []})}, "run"),
            (QRELS, [pl.LazyFrame({"qid": []})], "run"),
            ([0, 1], [0.5, 1.0], "qrels"),
            ((["a", "a"], [0, 1]), [0.5], "run"),
            ((["a", "a"], [0, 1]), [[0.5, 1.0]], "run"),
            ((["a", "a"], [0, 1]), ["x", "y"], "run"),
            ((["a", "a"], [0, 1]), np.array(["x", "y"]), "run"),
            ((["a", "a"], [0, 1]), [0.5, float("nan")], "run"),
            ((["a"], [0, 1]), [0.5, 1.0], "qrels"),
            ((["a"], ["d", "e"], [0]), RUN, "qrels"),
            (([["a", "b"]], [0, 1]), [0.5, 1.0], "qrels"),
            (([1.0, float("nan")], [0, 1]), [0.5, 1.0], "qrels"),
            (([{}, "a"], [0, 1]), [0.5, 1.0], "qrels"),
            ([[0, 1], [1]], [[0.5, 1.0], [1.0]], "qrels"),
            *((wrong, RUN, "qrels") for wrong in (42, None, object())),
            ((["q", "q"], ["d", "d"], [1, 2]), RUN, "qrels"),
            ({"q1": {"a": 2**40}}, RUN, "qrels"),
        ],
    )  # fmt: skip
    def test_forms_that_are_refused(self, qrels: Any, run: Any, where: str) -> None:
        with pytest.raises(InputError) as caught:
            harness.evaluate(qrels, run, ["map"])
        assert re.match(rf"{where}\b", str(caught.value))


def test_rows_are_sorted_or_keep_their_order(examples: Path) -> None:
    config = write(examples, TREC)
    expected = {
        "none": ["bm25", "lsi", "random", "tfidf"],
        "map": ["bm25", "lsi", "tfidf", "random"],
        "arp": ["bm25", "tfidf", "lsi", "random"],  # lower is better
    }
    whole = read_results(harness.run(config).folder).board
    for sort, runs in expected.items():
        lines = succeeds("run", config, "--sort", sort, "-f", "markdown").splitlines()
        names = [line.split(" ")[1] for line in lines if line.startswith("| ")]
        assert [name for name in names if name in runs] == runs
        # files are read in the order of the manifest, whatever the order of rows
        board = read_results(examples / "out").board
        assert [one.run for one in board.entries] == expected["none"]
        assert [one.summary for one in board.entries] == [one.summary for one in whole.entries]
    with refuses("--set sort", error=ConfigError, suggests="map"):
        harness.run(config, overrides=["sort=mapp"])


def test_an_empty_ranking_does_not_answer_its_query(tmp_path: Path) -> None:
    qrels, run = {"1": {"a": 1}, "2": {"b": 1}}, {"1": {"a": 0.5}, "2": {}}
    (tmp_path / "q.json").write_text('{"1": {"a": 1}, "2": {"b": 1}}')
    (tmp_path / "r.json").write_text('{"1": {"a": 0.5}, "2": {}}')
    for given in ((qrels, run), (tmp_path / "q.json", tmp_path / "r.json")):
        found = harness.evaluate(*given, ["map"], policy={"missing_queries": "skip"})
        assert found.to_dict() == {"1": {"map": 1.0}}
        assert harness.evaluate(*given, ["map"]).counts.missing == 1
