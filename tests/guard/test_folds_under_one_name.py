"""Folds of a dataset without the placeholder of its path in its name: several files."""

from pathlib import Path

import numpy as np
import pytest

import harness
from harness.audit.conventions import conventions
from harness.experiment.check import check_config

pytestmark = pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
CONFIG = """
output: out
datasets: {letor: {path: "fold{fold}/test.txt"}}
runs: {"{model}": {path: "{model}/fold{fold}-seed{seed}.txt"}}
metrics: [map, ndcg@5]
"""
FOLDS = (2, 10, 1)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Two models on three folds of as many rows; those of zeta on fold 2 are noise."""
    random = np.random.default_rng(1)
    for model in ("zeta", "alpha"):
        (tmp_path / model).mkdir()
    for fold in FOLDS:
        grades = random.integers(0, 4, 96)
        rows = [
            f"{grade} qid:{100 * fold + row // 8} 1:{random.normal():.5f}"
            for row, grade in enumerate(grades.tolist())
        ]
        (tmp_path / f"fold{fold}").mkdir()
        (tmp_path / f"fold{fold}/test.txt").write_text("\n".join(rows) + "\n")
        for model in ("zeta", "alpha"):
            for seed in (3, 1):
                fit = 0 if (model, fold) == ("zeta", 2) else 0.7
                scores = fit * grades + random.normal(size=grades.size)
                path = tmp_path / f"{model}/fold{fold}-seed{seed}.txt"
                path.write_text("".join(f"{score:.6f}\n" for score in scores))
    path = tmp_path / "c.yaml"
    path.write_text(CONFIG)
    return path


def test_check_compares_predictions_with_every_fold(config: Path) -> None:
    found = [one for one in check_config(config).findings if one.rule == "unrelated"]
    names = {Path(one.place.rpartition(":")[0]).name for one in found}
    assert names
    assert names <= {"fold2-seed1.txt", "fold2-seed3.txt"}


def test_check_finds_predictions_of_another_fold(config: Path) -> None:
    folder = config.parent / "alpha"
    scores = (folder / "fold10-seed3.txt").read_text()
    (folder / "fold10-seed3.txt").write_text((folder / "fold1-seed3.txt").read_text())
    (folder / "fold1-seed3.txt").write_text(scores)
    found = [one for one in check_config(config).findings if one.rule == "swapped-fold"]
    names = {Path(one.place.rpartition(":")[0]).name for one in found}
    assert names
    assert names <= {"fold1-seed3.txt", "fold10-seed3.txt"}


def test_audit_has_the_values_of_the_leaderboard(config: Path) -> None:
    """Each fold is read, and has a title of its own."""
    results = harness.run(config)
    values = {
        (entry.columns["fold"], entry.run, entry.columns["seed"]): entry.evaluation.summary()["map"]
        for entry in results.leaderboard.entries
    }
    found = conventions(config, metrics=["map"], tools=["trec_eval9"])
    assert [one.dataset for one in found.matrices] == [f"letor fold={n}" for n in (1, 2, 10)]
    for one in found.matrices:
        fold = one.dataset.partition("=")[2]
        for system, value in zip(one.systems, one.base.values.tolist(), strict=True):
            run, seed = system.split(" seed=")
            assert value == values[fold, run, seed]
