"""The loads, a thousandth of each: the command works, and sees what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("cells", "checked", "rows", "queries", "documents", "metrics", "names")


@pytest.fixture(autouse=True)
def _the_tree_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))  # benchmarks are not installed


@pytest.mark.parametrize("name", NAMES)
def test_a_small_load(name: str, tmp_path: Path) -> None:
    from tqdm import tqdm

    from benchmarks.load.__main__ import run
    from benchmarks.load.cases import ALL

    load = ALL[name](0.001)
    with tqdm(disable=True) as bar:
        found = run(load, tmp_path, bar)
    assert [(command.label, said) for command, _, said in found] == [
        (command.label, "right" if command.expected else "done") for command in load.commands
    ]


def test_a_long_run_takes_at_most_400_mb(tmp_path: Path) -> None:
    # through a process in between: the peak of a child is at least that of its parent
    words = [sys.executable, "-m", "benchmarks.load", "rows", "--size", "0.15"]  # 510 MB
    done = subprocess.run(
        [*words, "--data", str(tmp_path)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    peaks = [float(line.split(" | ")[4]) for line in done.stdout.splitlines()[2:]]
    assert len(peaks) == 2
    assert max(peaks) < 400
