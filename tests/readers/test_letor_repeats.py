"""LETOR rows whose comments name one document, and lines that begin in no usual way."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from harness.errors import HarnessWarning
from harness.readers import read_qrels

N = 1 << 18


def _read(path: Path, text: bytes) -> tuple[dict[str, dict[str, float]], list[HarnessWarning]]:
    path.write_bytes(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        qrels = read_qrels(path, format="letor")
    return qrels.to_dict(), [one.message for one in caught]  # type: ignore[misc]


def test_rows_that_repeat_a_document_are_counted(tmp_path: Path) -> None:
    """Two queries of one document each: all but two rows repeat it."""
    text = b"0 qid:1 # a\n" * 10 + b"1 qid:2 # b\n" * (N - 10)
    read, (said,) = _read(tmp_path / "a.txt", text)
    assert [len(rows) for rows in read.values()] == [10, N - 10]
    assert [*read["1"]] == [f"d{i}" for i in range(10)]
    assert str(said) == (
        f"{tmp_path / 'a.txt'}: 262,142 rows repeat a docno of the same query; all rows "
        "are kept, and named d0, d1, ... by position"
    )
    assert (said.count, said.line, said.at_least) == (262_142, 2, False)
    assert said.examples == tuple(f"query 1, document a: line {i}" for i in (2, 3, 4))


def test_of_fewer_rows_all_are_counted(tmp_path: Path) -> None:
    _, (said,) = _read(tmp_path / "a.txt", b"0 qid:1 # a\n" * (N - 1))
    assert (said.count, said.line, said.at_least) == (N - 2, 2, False)


@pytest.mark.parametrize(
    ("lines", "docnos"),
    [
        (b" 1 qid:q #a\n \n\t# no row\n  0  qid:q\t#b\n", ["a", "b"]),
        (b"1 qid:" + b"q" * 60 + b" #a\n0 qid:" + b"q" * 60 + b"#b\n", ["a", "b"]),
        (b"1 qid:q" + b"#" * 99 + b"a\n0 qid:q 1:2 " + b"#" * 99 + b" b\n", ["a", "b"]),
        (b"1 qid:q #a\n0 qid:q " + b"1:2 " * 9 + b"\n", ["d0", "d1"]),
        (b" 1 qid:q #" + b"# " * 99 + b"a\n0 qid:q\n", ["d0", "d1"]),
    ],
    ids=["blanks", "long qids", "hashes", "one comment", "hashes of one"],
)
def test_lines_that_are_read_one_by_one(tmp_path: Path, lines: bytes, docnos: list[str]) -> None:
    found, said = _read(tmp_path / "a.txt", lines)
    (read,) = found.values()
    assert read == dict(zip(docnos, (1, 0), strict=True))
    assert not said


def test_blank_lines_take_no_docnos_away(tmp_path: Path) -> None:
    """Thousands of them are looked at together, without a row among them."""
    text = b"1 qid:q #a\n" + b"  \n" * (1 << 17) + b"0 qid:q #b\n"
    assert _read(tmp_path / "a.txt", text)[0] == {"q": {"a": 1, "b": 0}}
