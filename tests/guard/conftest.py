"""Copies of the example data, to be broken."""

import shutil
from pathlib import Path

import pytest

CONFIG = """\
datasets:
  "letor-fold{fold}": {format: letor, path: "fold{fold}.txt"}
runs:
  "{model}": {format: scores, path: "{model}/fold{fold}.txt"}
metrics: [map]
"""


class Files:
    """Files of a folder, as lines."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def lines(self, name: str) -> list[str]:
        return (self.folder / name).read_text().splitlines(keepends=True)

    def put(self, name: str, lines: list[str]) -> None:
        (self.folder / name).write_text("".join(lines))


@pytest.fixture
def letor(root: Path, tmp_path: Path) -> Files:
    """A sweep of two models on two folds, and its config."""
    for fold in ("1", "2"):
        shutil.copy(root / f"runs/letor/fold{fold}/test.txt", tmp_path / f"fold{fold}.txt")
        for model in ("gbrt", "neural"):
            (tmp_path / model).mkdir(exist_ok=True)
            predictions = root / f"runs/letor/{model}/fold{fold}-seed1.txt"
            shutil.copy(predictions, tmp_path / model / f"fold{fold}.txt")
    (tmp_path / "c.yaml").write_text(CONFIG)
    return Files(tmp_path)


@pytest.fixture
def trec(root: Path, tmp_path: Path) -> Files:
    """Judgements and a run."""
    shutil.copy(root / "runs/trec/qrels.txt", tmp_path / "qrels")
    shutil.copy(root / "runs/trec/bm25.run", tmp_path / "run")
    return Files(tmp_path)
