"""Whole commands take no more memory than the table of docs/reliability.md says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

MB = 1 << 20
SLACK = 1.1
LINE = re.compile(
    r"\| judgements, a query a line, of which the run answers none \(trec\) \|(.*)\|\n"
)
PAGE = Path(__file__).resolve().parents[1] / "docs" / "reliability.md"
COMMANDS = ("check", "evaluate", "run")
"""The columns of the table."""
OTHERS = os.environ.get("HARNESS_TRIALS", "1") != "1"
CONFIG = """\
datasets: {trec: {format: trec, path: qrels.txt}}
runs: {two: {format: trec, path: run.txt}}
metrics: [ndcg@10]
"""
PROGRAM = """
import re, sys
from harness.cli.main import main
try:
    main()
except SystemExit as error:
    code = error.code
# of this program alone: ru_maxrss begins with what its parent had
print(re.search("VmHWM:\\\\s*(\\\\d+)", open("/proc/self/status").read())[1], code)
"""


def used(folder: Path, command: str) -> int:
    """Return the peak of a command in bytes, where it says that the files share no query."""
    words = [command, "config.yaml"]
    if command == "evaluate":
        words = [command, "qrels.txt", "run.txt", "-m", "ndcg@10"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True, text=True, cwd=folder, timeout=300, check=True,
    )  # fmt: skip
    peak, code = done.stdout.split()[-2:]
    assert code != "0", done.stdout
    assert "no query in common" in done.stdout + done.stderr
    return int(peak) * 1024


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read from /proc")
@pytest.mark.parametrize("command", [one for one in COMMANDS if OTHERS or one != "evaluate"])
def test_judgements_that_no_run_answers(command: str, tmp_path: Path) -> None:
    """1.5 million queries; a million texts of Python take 100 MB, and a set of them 60 more."""
    (tmp_path / "config.yaml").write_text(CONFIG)
    (tmp_path / "run.txt").write_text("1 Q0 A 1 2.5 t\n1 Q0 B 2 1.5 t\n")
    judged = tmp_path / "qrels.txt"
    judged.write_text("q1 0 d 1\nq2 0 d 0\n")
    least = used(tmp_path, command)
    judged.write_text("".join(f"q{i} 0 d {i % 4}\n" for i in range(20 * MB // 14)))
    times = (used(tmp_path, command) - least) / judged.stat().st_size
    found = LINE.search(PAGE.read_text("utf-8"))
    assert found is not None
    stated = dict(zip(COMMANDS, map(float, found[1].split("|")), strict=True))
    assert times <= stated[command] * SLACK, f"{times:.1f} times the file"
