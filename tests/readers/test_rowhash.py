"""Hashes of rows by their features alone, in every dialect."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness import readers
from harness.readers import Source, rowhash

ROW = b"1:0.5 2:3 7:-1e-3"


@pytest.mark.parametrize(
    "line",
    [
        b"2 qid:7 " + ROW,
        b"0 qid:another-name " + ROW,
        b"1 " + ROW,
        b"2\tqid:7\t" + ROW,
        b"2  qid:7   " + ROW,
        b"2 qid:7 " + ROW + b" # docid = 3",
        b"2 qid:7 " + ROW + b" ",
        b"2 qid:7 " + ROW + b"\r",
        b" 2 qid:7 " + ROW,
    ],
)
def test_grade_qid_and_comment_are_none_of_a_row(line: bytes) -> None:
    first, second = rowhash.of_block(b"2 qid:7 " + ROW + b"\n" + line + b"\n")
    assert first == second


@pytest.mark.parametrize("row", [b"1:0.5 2:3", b"1:0.5 2:3 7:-1e-4", b"", ROW + b" 8:1"])
def test_other_features_are_another_row(row: bytes) -> None:
    first, second = rowhash.of_block(b"2 qid:7 " + ROW + b"\n2 qid:7 " + row + b"\n")
    assert first != second


def test_blank_lines_and_comments_are_no_rows() -> None:
    assert rowhash.of_block(b"# a\n\n\r\n2 qid:7 1:1\n").size == 1
    assert rowhash.of_block(b"# a\n").size == 0


def test_rows_that_are_wanted(root: Path) -> None:
    source = Source(root / "runs/letor/fold1/test.txt")
    rows = rowhash.of_rows(source)
    wanted = np.arange(rows.size) % 3 == 0
    assert rowhash.of_rows(source, wanted).tolist() == np.where(wanted, rows, 0).tolist()


def test_rows_are_those_that_the_reader_sees(root: Path) -> None:
    path = root / "runs/letor/fold1/test.txt"
    rows = rowhash.of_rows(Source(path))
    literal = [line.split(" ", 2)[2] for line in path.read_text().splitlines()]
    assert rows.size == readers.read_qrels(path).n_rows
    assert len({*rows.tolist()}) == len({text.partition("#")[0].strip() for text in literal})


def test_a_query_is_its_rows_in_any_order() -> None:
    rows = np.array([5, 9, 9, 9, 5, 9, 5], np.uint64)
    first, second, third = rowhash.of_queries(rows, np.array([0, 3, 6, 7]))
    assert first == second != third
