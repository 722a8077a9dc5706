"""The bar of ``harness check``, which counts bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.guard import check as progress
from harness.guard.check import check_config, check_files


class Bar:
    """What a bar was told."""

    def __init__(self, total: int, **_: Any) -> None:
        self.total, self.steps, self.names = total, list[int](), list[str]()
        self.closed = False

    def update(self, n: int) -> None:
        self.steps.append(n)

    def set_postfix_str(self, text: str, refresh: bool) -> None:
        self.names.append(text)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Bar]:
    made: list[Bar] = []

    def make(**given: Any) -> Bar:
        made.append(Bar(**given))
        return made[-1]

    monkeypatch.setattr(progress, "tqdm", make)
    return made


def size(*paths: Path) -> int:
    return sum(path.stat().st_size for path in paths)


def test_bytes_of_every_file_are_counted_once(letor: Any, bars: list[Bar]) -> None:
    check_config(letor.folder / "c.yaml")
    (bar,) = bars
    files = [*letor.folder.glob("*.txt"), *letor.folder.glob("*/*.txt")]
    assert bar.total == sum(bar.steps) == size(*files)
    assert bar.closed
    assert len(bar.names) == len(files) == 6


def test_a_large_file_moves_it_while_it_is_read(trec: Any, bars: list[Bar]) -> None:
    run = trec.folder / "run"
    rows = trec.lines("run")
    run.write_text("".join(f"q{at}-{row}" for at in range(80) for row in rows))  # > 4 MiB
    check_files(str(trec.folder / "qrels"), [str(run)], of_qrels={}, of_runs={})
    (bar,) = bars
    assert bar.total == sum(bar.steps) == size(run, trec.folder / "qrels")
    assert len([one for one in bar.steps if one]) > 2


def test_files_that_cannot_be_read_count_too(trec: Any, bars: list[Bar]) -> None:
    trec.put("run", ["5 Q0\n", *trec.lines("run")])
    runs = [str(trec.folder / name) for name in ("run", "none")]
    check_files(str(trec.folder / "qrels"), runs, of_qrels={}, of_runs={})
    (bar,) = bars
    assert bar.total == sum(bar.steps) == size(trec.folder / "run", trec.folder / "qrels")
