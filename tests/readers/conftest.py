"""Fixtures for tests of readers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.core.qrels_and_runs import Qrels

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a file into an empty working folder and return its name, for short messages."""
    monkeypatch.chdir(tmp_path)

    def make(name: str, content: str | bytes) -> str:
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        return name

    return make


@pytest.fixture
def dataset() -> Qrels:
    """Two queries: q1 with three rows, q2 with two; no docnos of their own."""
    import pyarrow as pa

    return Qrels.from_columns(
        pa.array(["q1", "q1", "q1", "q2", "q2"]), None, [2, 0, 1, 0, 1], name="test.txt"
    )
