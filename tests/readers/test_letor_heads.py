"""Lines that begin alike are read together; the values are those of reading them otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.readers import letor_lines
from harness.readers.letor_heads import read_heads

FEATURES = " ".join(f"{at}:0.{at * 37 % 1000:03d}" for at in range(1, 90))


def heads(text: bytes) -> Any:
    starts = np.array([0, *(at + 1 for at, byte in enumerate(text[:-1]) if byte == ord("\n"))])
    return read_heads(np.frombuffer(text + b"\n" * 16, np.uint8), starts)


def flat(block: bytes) -> list[tuple[Any, ...]]:
    """Return grade, qid, docno and mark of each row."""
    rows: list[tuple[Any, ...]] = []
    for part in letor_lines.read_block(block, True, True):
        none = [None] * part.grades.size
        assert part.qids is not None
        assert part.marks is not None
        docnos = none if part.docnos is None else part.docnos.to_pylist()
        qids = part.qids.to_pylist()
        rows += zip(part.grades.tolist(), qids, docnos, part.marks.tolist(), strict=True)
    return rows


def test_runs_of_qids() -> None:
    text = b"0 qid:7 1:1\n1 qid:7 1:2\n2 qid:77 1:1\n9 qid:8\n0 qid:8\r\n0 qid:88\t#x\n"
    assert heads(text) is None  # a comment within the head
    grades, stops, changes = heads(text.replace(b"#x", b"1:"))
    assert grades.tolist() == [0, 1, 2, 9, 0, 0]
    assert changes.tolist() == [0, 2, 3, 5]
    assert [text[:stop].rpartition(b":")[2] for stop in stops] == [
        b"7", b"7", b"77", b"8", b"8", b"88",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        b"", b"\r", b"# c", b" 1 qid:1", b"10 qid:1", b"-1 qid:1", b"1  qid:1", b"1\tqid:1",
        b"/ qid:1", b": qid:1", b"1 qid: 1", b"1 qidx1 1:1", b"1 qid:1#c", b"1 qid:1 #c",
        b"1 qid:0123456789 1:1",
    ],
)  # fmt: skip
def test_other_beginnings_are_left_to_others(line: bytes) -> None:
    assert heads(b"1 qid:1 1:1\n1 qid:012345678 1:1\n") is not None
    assert heads(b"1 qid:1 1:1\n" + line + b"\n") is None


def test_a_zero_byte_is_a_part_of_the_qid() -> None:
    assert heads(b"1 qid:5\0 1:1\n1 qid:5 1:1\n")[2].tolist() == [0, 1]


@given(
    st.lists(
        st.tuples(
            st.sampled_from("0123459"),
            st.sampled_from(["1", "22", "2", "abc-ü", "x" * 9, "x" * 10]),
            st.sampled_from(
                ["", " 1:2", " 1:2 #docid = d", f" {FEATURES}", f" {FEATURES} #docid = D"]
            ),
            st.sampled_from(["\n", "\n\n", "\n# c\n"]),
        ),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)  # fmt: skip
def test_any_lines_give_what_they_give_otherwise(
    rows: list[tuple[str, str, str, str]], end: str, unfinished: bool
) -> None:
    text = "".join(f"{grade} qid:{qid}{rest}{after}" for grade, qid, rest, after in rows)
    text = text.rstrip("\n") if unfinished else text
    block = text.replace("\n", end).encode()
    found = flat(block)
    assert [(grade, qid) for grade, qid, *_ in found] == [
        (int(grade), qid) for grade, qid, *_ in rows
    ]
    # all of one end, and the other line last: a mark is taken as the first row's is
    *otherwise, _ = flat(block + f"{end}10 qid:1 1:0{end}".encode())
    assert found == otherwise


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_long_lines_end_where_short_ones_do(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"{at % 5} qid:{at // 3} {FEATURES}" for at in range(30)]
    block = end.join([lines[0], "# c", "", *lines[1:]]).encode()
    long = flat(block)
    monkeypatch.setattr(letor_lines, "_LONG", 1 << 30)
    assert flat(block) == long
    monkeypatch.setattr(letor_lines, "_LONG", 0)
    assert flat(block) == long
    assert [row[:2] for row in long] == [(at % 5, str(at // 3)) for at in range(30)]
