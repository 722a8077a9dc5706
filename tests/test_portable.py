"""Nothing that only POSIX has is called without an alternative, and text has an encoding."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
@pytest.mark.parametrize(
    "words",
    [["metrics"], ["metrics", "ndcg"], ["compare", "--help"],
     ["evaluate", "runs/trec/qrels.txt", "-m", "map"], ["evaluate", "no↑such±file", "no.run"]],
    ids=lambda words: " ".join(words[:2]),
)  # fmt: skip
def test_no_console_encoding_is_an_error(encoding: str, words: list[str]) -> None:
    if words[:2] == ["evaluate", "runs/trec/qrels.txt"]:
        words = [*words, *sorted(map(str, Path("runs/trec").glob("*.run")))]
    done = subprocess.run(
        [sys.executable, "-m", "harness", *words], capture_output=True, cwd=ROOT, check=False,
        env={**os.environ, "PYTHONIOENCODING": f"{encoding}:strict", "PYTHONUTF8": "0"},
    )  # fmt: skip
    assert done.returncode == (2 if "no.run" in words else 0), done.stderr
    assert b"Traceback" not in done.stderr
