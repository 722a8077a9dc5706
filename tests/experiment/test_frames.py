"""Compare, gate and page from data frames of pandas and polars."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packed_page import unpack
from refusals import refuses

import harness


def frames(library: Any) -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(5)
    qids = [str(qid) for qid in rng.permutation([1, 2, 10, 33, 4, 7, 100, 21, 9, 88, 5, 61])]
    rows = {"qid": np.repeat(qids, 8).tolist(), "docno": [f"x{k}" for k in range(8)] * 12}
    qrels = library.DataFrame({**rows, "grade": rng.integers(0, 3, 96).tolist()})
    return qrels, {
        name: library.DataFrame({**rows, "score": rng.random(96).tolist()})
        for name in ("main", "new")
    }


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_compare_gate_and_page(name: str, tmp_path: Path) -> None:
    qrels, runs = frames(pytest.importorskip(name))
    metrics = ["ndcg@5", "map"]
    (row, _) = harness.compare(qrels, runs, metrics, baseline="main").rows
    verdicts = harness.gate(qrels, runs, metrics, baseline="main", margin={"ndcg@5": 0.9})
    assert [one.outcome for one in verdicts] == ["pass"]
    assert verdicts.passed
    assert verdicts[0].difference == row.difference
    assert "nDCG@5" in str(verdicts)
    path = harness.page(tmp_path / "page.html", qrels, runs, metrics, title="Frames")
    report = unpack(path.read_text(encoding="utf-8"))
    assert report["title"] == "Frames"
    expected = [harness.evaluate(qrels, run, metrics).summary()["ndcg@5"] for run in runs.values()]
    assert report["boards"][0]["columns"][0]["value"].tolist() == expected
    assert abs(report["boards"][0]["tests"]["difference"][0]) == abs(row.difference)


def test_pages_in_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.reports.page.EMBEDDED", {"tests": 0})
    qrels = {f"{n}": {"a": 1, "b": 0} for n in range(10)}
    runs = {name: {qid: {name: 1.0} for qid in qrels} for name in "ab"}
    for name in ("map.html", "rr.html"):
        harness.page(tmp_path / name, qrels, runs, ["map"], baseline="a")
    sides = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("*/*.js"))
    assert sides == ["map_data/tests-0.js", "rr_data/tests-0.js"]
    for where, wrong in (("runs", {"runs": {}}), ("baseline", {"runs": runs, "baseline": 5})):
        with refuses(where):
            harness.page(tmp_path / "x.html", qrels, metrics=["map"], **wrong)


@pytest.mark.parametrize(
    "setting",
    [
        {"policy": {"ties": "stable"}}, {"relevance_level": 2}, {"convention": "ranx"},
        {"columns": {"qid": 1}}, {"qrels_columns": {"qid": 1}}, {"order": "ascending"},
        {"duplicates": "best"}, {"weights": {"q": 1}},
    ],
    ids=lambda setting: next(iter(setting)),
)  # fmt: skip
def test_a_comparison_of_evaluations_takes_no_setting_of_runs(setting: dict[str, Any]) -> None:
    values = harness.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["map"])
    with refuses(next(iter(setting))):
        harness.compare({"one": values, "two": values}, **setting)
