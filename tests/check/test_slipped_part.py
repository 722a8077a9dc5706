"""Predictions of the right count that have slipped in a part of their rows alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.check import check_files
from harness.guard.facts import RunFacts
from harness.guard.finding import Finding
from harness.guard.predictions import of_facts

N, DEEP = 60, 20
ROWS = N * DEEP


class Rows:
    """A dataset of 1,200 rows, and the lines of a good model's predictions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        random = np.random.default_rng(4)
        grades = random.integers(0, 3, ROWS)
        qids = np.repeat(np.arange(N), DEEP)
        rows = zip(grades.tolist(), qids.tolist(), random.random(ROWS).tolist(), strict=True)
        text = "".join(f"{grade} qid:q{qid} 1:{x:.6f}\n" for grade, qid, x in rows)
        (folder / "data").write_text(text)
        self.lines = [f"{one:.6f}" for one in (grades + random.normal(0, 0.7, ROWS)).tolist()]

    def shifted(self, lines: list[str]) -> Finding:
        assert len(lines) == ROWS
        path = self.folder / "p.txt"
        path.write_text("\n".join([*lines, ""]))
        options: Any = {"of_qrels": {}, "of_runs": {"format": "scores"}}
        found = check_files(str(self.folder / "data"), [str(path)], **options).findings
        (one,) = [one for one in found if one.rule == "shifted"]
        return one


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    return Rows(tmp_path)


def line_in(text: str) -> int:
    (line,) = re.findall(r"about line ([\d,]+)", text)
    return int(line.replace(",", ""))


def test_all_rows(rows: Rows) -> None:
    one = rows.shifted(["0.5", *rows.lines[:-1]])
    assert "better if line 2 belongs to row 1: correlation" in one.what
    assert one.effect == "each document has the score of a neighbour"


def test_a_line_lost_in_the_middle_and_one_added_at_the_end(rows: Rows) -> None:
    one = rows.shifted([*rows.lines[:300], *rows.lines[301:], "0.5"])
    assert one.what.startswith("the predictions fit the rows of ")
    assert " as they stand up to about line " in one.what
    assert abs(line_in(one.what) - 300) <= 20
    row = line_in(one.what)
    assert f"and from there on if line {row + 1} belongs to row {row + 2}: " in one.what
    assert "line 1 belongs" not in one.what
    assert one.effect == "documents from there on have the score of a neighbour"


def test_two_lines_put_in_in_the_middle_and_two_lost_at_the_end(rows: Rows) -> None:
    one = rows.shifted([*rows.lines[:300], "0.5", "0.5", *rows.lines[300:-2]])
    row = line_in(one.what)
    assert abs(row - 300) <= 20
    assert f"and from there on if line {row + 3} belongs to row {row + 1}: " in one.what


def test_a_header_and_a_line_lost_further_on(rows: Rows) -> None:
    one = rows.shifted(["0.5", *rows.lines[:800], *rows.lines[801:]])
    assert abs(line_in(one.what) - 800) <= 20
    row = line_in(one.what)
    assert f" on, and before it if line {row + 1} belongs to row {row}: " in one.what
    assert one.effect == "documents before that line have the score of a neighbour"


def test_several_parts(rows: Rows) -> None:
    lines = [*rows.lines[:60], *rows.lines[61:700], "0.5", *rows.lines[700:]]
    one = rows.shifted(lines)
    row = line_in(one.what)
    assert abs(row - 700) <= 20
    assert f" on, and before it if line {row - 1} belongs to row {row}: " in one.what


def test_parts_that_are_not_told_apart() -> None:
    run = RunFacts(rows=9, own_fit=(0, 0.2, 900), best_fit=(-1, 0.5, 900), uneven=True)
    (one,) = of_facts(run, "p.txt", "d")
    assert one.what == (
        "the predictions fit the rows of d better moved by 1 row, but not all of them alike: "
        "correlation with the grades within queries 0.50, against 0.20 as they all stand"
    )
    assert one.effect == "documents in parts of the file have the score of a neighbour"
