"""A small project, and what its commands give."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.experiment import workers

CONFIG = """
output: ../out
datasets: {toy: {path: ../data/qrels.txt}}
runs: {"{run}": {path: "../data/{run}.run"}}
metrics: [map, ndcg@10, arp]
"""
Evaluated = Callable[[], dict[str, list[str]]]
Outputs = Callable[[Path], dict[str, str]]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("configs", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "data/qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n3 0 b 1\n4 0 b 2\n")
    for name, scores in (("one", "31"), ("two", "13"), ("ten", "52")):
        rows = [f"{q} Q0 {d} 1 {s} x\n" for q in "1234" for d, s in zip("ab", scores, strict=True)]
        (tmp_path / f"data/{name}.run").write_text("".join(rows))
    (tmp_path / "configs/toy.yaml").write_text(CONFIG)
    return tmp_path


@pytest.fixture
def config(place: Path) -> Path:
    return place / "configs/toy.yaml"


@pytest.fixture
def outputs() -> Outputs:
    """Function for the hashes of a run's files in a folder, without cells and times."""

    def hashes(folder: Path) -> dict[str, str]:
        files = [path for path in sorted(folder.glob("[!.]*")) if path.is_file()]
        files = [path for path in files if path.name != "timing.json"]
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    return hashes


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> Evaluated:
    """Function for the metrics of each run that were evaluated since the last call."""
    calls: dict[str, list[str]] = {}
    original = workers.visit

    def watched(cell: Any, dataset: Any, metrics: Any, *args: Any, **more: Any) -> Any:
        calls[cell.run] = [*map(str, metrics)]
        return original(cell, dataset, metrics, *args, **more)

    monkeypatch.setattr(workers, "visit", watched)

    def since() -> dict[str, list[str]]:
        found = dict(calls)
        calls.clear()
        return found

    return since
