"""Lines of rows, against reading line by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.readers.build import find_lines, last_line, lines_of_rows
from harness.readers.choice import FORMATS
from harness.readers.source import Source
from harness.readers.trec import RUN

LINES = st.sampled_from(["q1 Q0 d1 1 2.5 t", "q2 Q0 d2 1 2.5 t", "# made by", "", " ", "\t", "\r"])


@given(st.lists(LINES, min_size=1, max_size=30), st.integers(0, 900), st.booleans(), st.booleans())
def test_lines_are_those_of_the_rows(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], more: int, ends: bool, whole: bool
) -> None:
    text = "\n".join(["q0 Q0 d0 1 2.5 t"] * (more + 1) + lines) + "\n" * ends
    path = tmp_path_factory.mktemp("lines") / "run"
    path.write_text(text)
    source = Source(path)
    for _ in source.blocks():
        pass
    is_data = RUN.of(source).is_data
    numbered = [*enumerate(text.split("\n"), 1)]
    rows = [number for number, line in numbered if is_data(number, line.encode())]
    wanted: dict[int, tuple[str, ...]] = dict.fromkeys(range(0, len(rows) + 3, 2), ())
    found = find_lines(source, wanted, is_data, whole=whole)
    assert found == {row: rows[row] for row in wanted if row < len(rows)}


def test_what_is_beyond_the_beginning_is_found_by_reading_again(tmp_path: Path) -> None:
    rows = [f"q{at} Q0 d{at} 1 2.5 tag-of-a-run" for at in range(200_000)]
    path = tmp_path / "run"
    path.write_text("# a comment\n" + "\n".join(rows) + "\n\n")
    source = Source(path)
    for _ in source.blocks():
        pass
    is_data = RUN.of(source).is_data
    wanted = {at: (f"q{at}", f"d{at}") for at in (0, 7, 190_000)}
    assert find_lines(source, wanted, is_data, whole=False) == {0: 2, 7: 9}
    assert find_lines(source, wanted, is_data, whole=True) == {0: 2, 7: 9, 190_000: 190_002}
    expected = lines_of_rows(source, np.array([190_000]), is_data)
    assert expected[190_000][0] == 190_002


def test_a_line_without_its_words_is_another_one(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1.5 t\n")
    source = Source(tmp_path / "run")
    assert find_lines(source, {1: ("q1", "d2")}, RUN.is_data, whole=True) == {1: 2}
    assert find_lines(source, {1: ("q1", "d1")}, RUN.is_data, whole=True) == {}


def test_the_last_line(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a\nb\nc")
    assert last_line(Source(tmp_path / "run")) == 3


@pytest.mark.parametrize(
    ("name", "text", "row"),
    [
        ("beir", "query-id\tcorpus-id\tscore\nq1\td1\t1\n", 2),
        ("letor", "# made by\n1 qid:1 1:2 # d1\n", 2),
        ("table", "qid,docno,grade\nq1,d1,1\n", 2),
        ("table", "my query,my document,mark\nq1,d1,1\n", None),  # it may be no header
        ("jsonl", '\n{"qid": "q1", "docno": "d1", "grade": 1}\n', 2),
        ("scores", "0.5\n", 1),
        ("ranklib", "q1\t0\t0.5\n", 1),
    ],
)
def test_formats_with_a_row_a_line(name: str, text: str, row: int | None, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(text)
    source, known = Source(tmp_path / "f"), FORMATS[name].is_data
    assert known is not None
    is_data = known(source)
    if row is None:
        assert is_data is None
    else:
        assert is_data is not None
        assert find_lines(source, {0: ()}, is_data, whole=True) == {0: row}


@pytest.mark.parametrize(("name", "has_rows"), [("batch", 0), ("json", 0), ("npy", 1)])
def test_formats_whose_rows_are_no_lines(name: str, has_rows: int) -> None:
    assert FORMATS[name].is_data is None
    assert FORMATS[name].has_rows == has_rows
