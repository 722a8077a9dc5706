"""A folder that a config is read in."""

from pathlib import Path

import pytest


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "runs").mkdir()
    for name in ("qrels.txt", "runs/bm25.run"):
        (tmp_path / name).write_text("x")
    monkeypatch.chdir(tmp_path)
    return tmp_path
