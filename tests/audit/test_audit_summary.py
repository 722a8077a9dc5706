"""An audit of a config with `summary:` has the rows and values of its leaderboard."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from folds_and_seeds import CELLS, put

import harness
from harness.audit.conventions import audit
from harness.audit.conventions_report import as_text
from harness.errors import AlignmentError

METRICS = 'metrics: [map, "ndcg@2", "arp(over=grades)"]\n'


def config_of(folder: Path, summary: str) -> Path:
    put(folder)
    path = folder / "x.yaml"
    path.write_text(CELLS + METRICS + f"summary: {summary}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("summary", "systems"),
    [
        ("{pool: [fold], spread: [seed]}", ("a", "b")),
        ("{average: [fold], spread: [seed]}", ("a", "b")),
        ("{pool: [fold]}", ("a seed=1", "a seed=2", "b seed=1", "b seed=2")),
        ("{spread: [seed]}", ("a", "b")),
        ("{pool: [fold], best: [seed]}", ("a", "b")),
    ],
)
def test_the_base_is_the_leaderboard(
    tmp_path: Path, summary: str, systems: tuple[str, ...]
) -> None:
    path = config_of(tmp_path, summary)
    results = harness.run(path)
    with (results.folder / "leaderboard.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for source in (path, results.folder):
        found = audit(source)
        assert {matrix.systems for matrix in found.matrices} == {systems}
        for matrix in found.matrices:
            here = [row for row in rows if row["dataset"] == matrix.dataset]
            expected = [float(row[str(matrix.metric)]) for row in here]
            assert matrix.base.values.tolist() == expected
        assert len({matrix.dataset for matrix in found.matrices}) == len(
            {row["dataset"] for row in rows}
        )


def test_best_chooses_by_the_config_s_first_metric_though_another_is_audited(
    tmp_path: Path,
) -> None:
    path = config_of(tmp_path, "{pool: [fold], best: [seed]}")
    (matrix,) = audit(path, metrics=["ndcg@2"]).matrices
    board = harness.run(path).leaderboard
    expected = [entry.summary["ndcg@2"] for entry in board.entries]
    assert matrix.base.values.tolist() == expected


def test_a_refusal_in_one_fold_is_the_system_s(tmp_path: Path) -> None:
    path = config_of(tmp_path, "{pool: [fold], spread: [seed]}")
    (matrix,) = audit(path, metrics=["map"], conventions=["xgboost"]).matrices
    # fold 1 has a grade of 2, which XGBoost's map refuses; fold 2 does not
    (row,) = matrix.rows
    assert np.isnan(row.values).all()
    assert all("a judgement of 2" in reason for reason in row.refused)


def test_a_system_without_a_fold_is_left_out_as_in_the_leaderboard(tmp_path: Path) -> None:
    path = config_of(tmp_path, "{pool: [fold], spread: [seed]}")
    for seed in (1, 2):
        (tmp_path / f"b-2-{seed}.txt").unlink()
    found = audit(path)
    assert {matrix.systems for matrix in found.matrices} == {("a",)}
    assert {one.run for one in found.failed} == {"b"}
    assert "Not audited, as in the leaderboard: b on web lacks 1 of 2 parts: web-fold2" in (
        as_text(found)
    )


def test_folds_that_share_a_query_are_refused_as_by_run(tmp_path: Path) -> None:
    path = config_of(tmp_path, "{pool: [fold], spread: [seed]}")
    (tmp_path / "fold2.txt").write_text("1 qid:2 1:0\n0 qid:2 1:0\n", encoding="utf-8")
    with pytest.raises(AlignmentError, match="in several parts"):
        audit(path)
