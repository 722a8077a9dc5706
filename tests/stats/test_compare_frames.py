"""harness.compare takes pandas and polars frames, with the values of dicts."""

from __future__ import annotations

from typing import Any

import pytest

import harness

QRELS = {"10": {"b": 2, "a": 0}, "2": {"c": 1, "x": 0}, "1": {"d": 1, "e": 0}}
RUNS = {
    "first": {"2": {"c": 1.0, "x": 2.0}, "10": {"a": 0.5, "b": 0.25}, "1": {"d": 3.0, "e": 1.0}},
    "second": {"1": {"e": 3.0, "d": 1.0}, "10": {"b": 0.5, "a": 0.25}, "2": {"c": 3.0, "x": 1.0}},
}


def columns(table: dict[str, dict[str, Any]], number: str) -> dict[str, list[Any]]:
    rows = [(qid, docno, value) for qid, found in table.items() for docno, value in found.items()]
    return dict(zip(("qid", "docno", number), map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_compare_as_dicts_do(library: str) -> None:
    frame = pytest.importorskip(library).DataFrame
    runs = {name: frame(columns(run, "score")) for name, run in RUNS.items()}
    found = harness.compare(frame(columns(QRELS, "grade")), runs, ["map", "ndcg@10"])
    expected = harness.compare(QRELS, RUNS, ["map", "ndcg@10"])
    assert len(found.rows) == 2
    assert found.to_arrow().equals(expected.to_arrow())
