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


def test_every_load_is_tried_here() -> None:
    from benchmarks.load.cases import ALL

    assert tuple(ALL) == NAMES


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
    # through a process in between, as a child's peak is at least that of the process that started it
    words = [sys.executable, "-m", "benchmarks.load", "rows", "--size", "0.15"]  # 510 MB
    done = subprocess.run(
        [*words, "--data", str(tmp_path)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    peaks = [float(line.split(" | ")[4]) for line in done.stdout.splitlines()[2:]]
    assert len(peaks) == 2
    assert max(peaks) < 400


def said(
    output: str, code: int = 0, error: str = "",
    words: tuple[str, ...] = ("run", "--format", "jsonl"), **expected: float,
) -> str:  # fmt: skip
    from benchmarks.load.__main__ import outcome
    from benchmarks.load.cases import Command
    from benchmarks.measure import Sample

    command = Command("label", words, 2, expected)
    return outcome(command, Sample(1.0, 1.0, 1.0, output), code, error)


def test_what_is_wrong_is_said() -> None:
    row = '{{"metric": "map", "qid": "all", "value": {}}}\n'
    assert said(2 * row.format(0.5), map=0.5) == "right"
    assert said(2 * row.format(0.5)) == "done"
    assert said(2 * row.format(0.25), map=0.5) == "**wrong**: map is 0.25, not 0.5"
    assert said(row.format(0.5), map=0.5) == "**1 rows** of 2"
    assert said("", 2, "error: no such file\n") == "**exit 2**: error: no such file"
    assert said('{"checked": [1, 2]}', words=("check",)) == "done"
    assert said('{"checked": [1]}', words=("check",)) == "**1 rows** of 2"
    assert said(2 * row.format(0.5), 0, "Traceback (most recent call last)").startswith("**exit 0")


def test_the_page_keeps_the_rows_of_other_loads() -> None:
    from benchmarks.load.__main__ import BEGIN, END, put
    from benchmarks.load.cases import ALL

    one, two = ALL["cells"](1.0).title, ALL["names"](1.0).title
    page = f"before\n{BEGIN}\n{END}\nafter\n"
    page = put(page, {two: [f"| {two} | old |"]})
    page = put(page, {one: [f"| {one} | a |", f"| {one} | b |"]})
    page = put(page, {two: [f"| {two} | new |"]})
    assert [line for line in page.splitlines() if line.startswith("| ")][1:] == [
        f"| {one} | a |",
        f"| {one} | b |",
        f"| {two} | new |",
    ]
    assert page.startswith("before\n")
    assert page.endswith("after\n")
