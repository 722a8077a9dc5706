"""Rows that every model gives one score are one finding of their dataset."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.check import check_files
from harness.guard.finding import Finding

ROWS = 400
PAIRS = (10, 31, 52, 73)
"""Rows that have the score of the one before them, as they have its features; 20 to a query."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random = np.random.default_rng(6)
    grades = random.integers(0, 3, ROWS)
    rows = (f"{grade} qid:q{at // 20} 1:{at}\n" for at, grade in enumerate(grades.tolist()))
    (tmp_path / "data").write_text("".join(rows))
    for name in "abc":
        scores = grades + random.normal(0, 1, ROWS)
        scores[[*PAIRS]] = scores[[at - 1 for at in PAIRS]]
        put(tmp_path / name, scores.tolist())
    return tmp_path


def put(path: Path, scores: list[float]) -> None:
    path.write_text("".join(f"{score:.6f}\n" for score in scores))


def ties(folder: Path, *names: str) -> list[Finding]:
    runs = [str(folder / name) for name in names]
    options = {"format": "scores"}
    found = check_files(str(folder / "data"), runs, of_qrels={}, of_runs=options).findings
    return [one for one in found if one.rule == "score-ties"]


def test_three_runs_are_one_finding(folder: Path) -> None:
    (one,) = ties(folder, *"abc")
    assert (one.place, one.count, one.severity) == (str(folder / "data"), 4, "note")
    # 4 of 20 * 190 pairs
    assert one.what == (
        "3 runs give the same pairs of rows one score, 0.11 % of all pairs of a query, as models "
        "do where features are equal"
    )
    assert {*one.examples} <= {
        f"query q{at // 20}, documents d{at % 20 - 1} and d{at % 20}" for at in PAIRS
    }


def test_two_runs_are_said_each(folder: Path) -> None:
    assert [one.place.partition(":")[0] for one in ties(folder, *"ab")] == [
        str(folder / "a"), str(folder / "b"),
    ]  # fmt: skip


def test_a_run_that_ties_more_has_its_own(folder: Path) -> None:
    scores = np.loadtxt(folder / "a")
    put(folder / "rounded", np.round(scores, 1).tolist())
    found = [one.place.partition(":")[0] for one in ties(folder, *"abc", "rounded")]
    assert sorted(found) == [str(folder / "data"), str(folder / "rounded")]
