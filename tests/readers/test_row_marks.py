"""Marks of the features of learning-to-rank rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.readers import letor_lines, read_qrels
from harness.readers.hashed import HashedSource
from harness.readers.row_marks import marks

FEATURES = " ".join(f"{at}:0.{at * 37 % 1000:03d}" for at in range(1, 40))


def of(path: Path, text: str) -> list[int]:
    path.write_text(text)
    source = HashedSource(path)
    read_qrels(source, format="letor")
    assert source.row_marks is not None
    return [int(one) for one in source.row_marks]


@pytest.mark.parametrize(
    "line",
    [
        f"2 qid:1 {FEATURES}",
        f"0 qid:1 {FEATURES}",
        f"2 qid:19999 {FEATURES}",
        f"2 qid:1 {FEATURES} ",
        f"2 qid:1 {FEATURES}\r",
        f"2 qid:1 {FEATURES} #x",
        f"2 qid:1 {FEATURES} # b inc = 1",
        f" 2 qid:1 {FEATURES}",  # read line by line
        f"2 qid:{'long' * 20} {FEATURES} # x",  # so is this
    ],
)
def test_same_features_have_one_mark(tmp_path: Path, line: str) -> None:
    (one,), (other,) = of(tmp_path / "a", f"1 qid:7 {FEATURES}\n"), of(tmp_path / "b", f"{line}\n")
    assert one == other


@pytest.mark.parametrize(
    "features",
    [
        f"{FEATURES} 40:1",
        FEATURES.replace("20:0.740", "20:0.741"),  # in the middle
        FEATURES.removeprefix("1:0.037 "),
        "1:1",
        "",
    ],
)
def test_others_have_other_ones(tmp_path: Path, features: str) -> None:
    one, other = of(tmp_path / "a", f"1 qid:7 {FEATURES}\n1 qid:7 {features}\n")
    assert one != other


def test_rows_without_qids(tmp_path: Path) -> None:
    (tmp_path / "a.query").write_text("2\n")
    one, other = of(tmp_path / "a", f"1 {FEATURES}\n0 {FEATURES}\n")
    assert one == other


CLEAN = st.text("12: #", max_size=20).filter(lambda one: one == one.strip() and " #" not in one)


@given(st.lists(CLEAN, min_size=1, max_size=6))
def test_they_do_not_depend_on_how_lines_are_read(lines: list[str]) -> None:
    block = "".join(f"1 qid:3 {line}\n" for line in lines).encode()

    def read(given: bytes) -> list[int]:
        parts = [one.marks for one in letor_lines.read_block(given, True, True)]
        return [int(one) for part in parts if part is not None for one in part]

    assert read(block) == read(b" " + block)  # one such line, and all are read line by line


@given(st.lists(st.binary(max_size=30).filter(lambda one: min(one, default=33) > 32), max_size=5))
def test_short_rows(rows: list[bytes]) -> None:
    """A mark hangs on the row alone, and not on what stands around it."""

    def alone(row: bytes) -> int:
        data = np.frombuffer(row + b"x" * 8, np.uint8)
        return int(marks(data, np.array([0]), np.array([len(row)]))[0])

    stops = np.cumsum([len(row) + 1 for row in rows], dtype=np.int64) - 1
    starts = np.append(0, stops + 1)[:-1].astype(np.int64)
    data = np.frombuffer(b"\n".join(rows) + b"\n" * 9, np.uint8)
    assert marks(data, starts, stops).tolist() == [alone(row) for row in rows]


def test_files_that_are_no_learning_to_rank_data_have_none(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 0 d 1\n")
    source = HashedSource(tmp_path / "q")
    read_qrels(source)
    assert source.row_marks is None
