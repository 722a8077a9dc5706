"""Predictions of the right count that have slipped in a part of their rows alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import Finding
from harness.guard.check import check_files

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
    (line,) = re.findall(r"about row ([\d,]+)", text)
    return int(line.replace(",", ""))


def moved(text: str) -> list[tuple[int, int]]:
    """Which prediction belongs to which row, by a text."""
    found = re.findall(r"prediction ([\d,]+) belongs to row ([\d,]+) and so on", text)
    return [(int(of.replace(",", "")), int(at.replace(",", ""))) for of, at in found]


def test_all_rows(rows: Rows) -> None:
    one = rows.shifted(["0.5", *rows.lines[:-1]])
    ((of, at),) = moved(one.what)
    assert of == at + 1 <= 40
    assert "better if prediction " in one.what
    assert one.effect == "each document has the score of a neighbour"


def test_a_line_lost_in_the_middle_and_one_added_at_the_end(rows: Rows) -> None:
    one = rows.shifted([*rows.lines[:300], *rows.lines[301:], "0.5"])
    assert one.what.startswith("the predictions fit the rows of ")
    assert " as they stand up to about row " in one.what
    assert abs(line_in(one.what) - 300) <= 20
    ((of, at),) = moved(one.what)
    assert of == at - 1
    assert 300 < at <= 340  # rows that have slipped wherever it began
    assert re.search(r"and from there on if prediction", one.what)
    assert one.examples[0].startswith(f"prediction {of} -> row {at} (query q{(at - 1) // 20}, ")
    assert one.place.endswith(f":{of}")
    assert (one.count, one.at_least) == (1200 - (at - 1), True) or one.count < 1200 - at
    assert one.effect == "documents from there on have the score of a neighbour"


def test_a_line_lost_and_one_put_in_further_on(rows: Rows) -> None:
    """Line 61 was lost, and one put in before line 701: rows 61 to 700 have slipped."""
    one = rows.shifted([*rows.lines[:60], *rows.lines[61:700], "0.5", *rows.lines[700:]])
    assert " as they stand but from about row " in one.what
    spans = re.findall(r"about row \d+ \((\d+) to (\d+)\)", one.what)
    (low, high), (begin, end) = [[int(n) for n in span] for span in spans]
    assert low <= 61 <= high + 1
    assert begin <= 700 <= end
    ((of, at),) = moved(one.what)
    assert (of, at) == (high, high + 1)
    assert one.effect == "documents there have the score of a neighbour"
    assert (one.count, one.at_least) == (begin - high, True)


def test_less_than_half_of_the_rows(rows: Rows) -> None:
    """A line lost at 300 and one put in at 500: the rest fits as it stands."""
    one = rows.shifted([*rows.lines[:300], *rows.lines[301:500], "0.5", *rows.lines[500:]])
    assert " as they stand but from about row " in one.what
    ((of, at),) = moved(one.what)
    assert of == at - 1
    assert 300 < at < 350


def test_sound_predictions_of_few_rows_are_told_nothing_of(rows: Rows) -> None:
    rows.lines[:40] = [*rows.lines[1:40], rows.lines[0]]  # a slip of 40 rows is too short
    with pytest.raises(ValueError, match="not enough values"):
        rows.shifted(rows.lines)
