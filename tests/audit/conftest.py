"""Two systems whose order hangs on the gain."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

QRELS = "q 0 a 3\nq 0 b 2\nq 0 c 2\nq 0 x 0\n"
SYSTEMS = {"broad": "bcax", "sharp": "axbc"}
CONFIG = """
datasets: {toy: {path: ../data/qrels.txt}}
runs: {"{system}": {path: "../data/{system}.run"}}
metrics: [ndcg@2, "rbo(p=0.9)"]
"""


def write_run(path: Path, order: str) -> None:
    rows = enumerate(order)
    path.write_text("".join(f"q Q0 {docno} {at + 1} {9 - at} t\n" for at, docno in rows))


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A config; its qrels and runs are in the folder ``data`` beside its own."""
    for name in ("configs", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "data/qrels.txt").write_text(QRELS)
    for system, order in SYSTEMS.items():
        write_run(tmp_path / f"data/{system}.run", order)
    config = tmp_path / "configs/toy.yaml"
    config.write_text(CONFIG)
    return config


@pytest.fixture
def write() -> Callable[[Path, str], None]:
    """Write the run of an order of documents."""
    return write_run
