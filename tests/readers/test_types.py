"""What a type checker says of the arguments of `evaluate` and `gate`."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """\
import numpy as np
import pyarrow as pa
import harness

harness.evaluate({"1": {"a": 1}}, {"1": ["a"]}, ["map"])
harness.evaluate(np.zeros((2, 3)), np.zeros((2, 3)), ["map"], n=[3, 2])
harness.evaluate(pa.table({}), pa.table({}).to_reader(), "map")
harness.evaluate("q.txt", harness.read_run("r.txt"), ["map"])
harness.evaluate([("1", "a", 1)], (row for row in [("1", "a", 1.0)]), ["map"])
harness.evaluate(3, 4, ["map"])
harness.gate("q.txt", {"a": 3}, ["map"], baseline="a", margin=0.1)
"""


@pytest.mark.slow
def test_numbers_are_no_qrels_and_no_runs(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    words = ["-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir", tmp_path / "c"]
    done = subprocess.run(
        [sys.executable, *words, file], cwd=tmp_path, text=True, capture_output=True, check=False
    )
    lines = [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line]
    assert lines == ["10", "10", "11"], done.stdout
