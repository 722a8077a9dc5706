"""Files that nearly are runs, as a CSV without names: what is said, and that its advice works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import InputError, Problem
from harness.readers import read_qrels, read_run

Write = Callable[[str, str | bytes], Path]
RUN = {"q1": {"d1": 1.5, "d2": 0.5}}


@pytest.mark.parametrize(
    ("rows", "above", "columns"),
    [
        ("q1,d1,1.5\nq1,d2,0.5\n", "qid,docno,score", {"qid": 1, "docno": 2, "score": 3}),
        ("915593,D1,1.5\n915593,D2,0.5\n", "qid,docno,score", {"qid": 1, "docno": 2, "score": 3}),
        ("q1\td1\t1.5\nq1\td2\t0.5\n", "qid, docno, score (tabs between)",
         {"qid": 1, "docno": 2, "score": 3}),
        ("q1,Q0,d1,1,1.5,t\nq1,Q0,d2,2,0.5,t\n", "qid,Q0,docno,rank,score,tag",
         {"qid": 1, "docno": 3, "score": 5}),
    ],
)  # fmt: skip
def test_a_run(tmp_path: Path, rows: str, above: str, columns: dict[str, int]) -> None:
    path = tmp_path / "a.csv"
    path.write_text(rows)
    numbers = ", ".join(f"{role}: {at}" for role, at in columns.items())
    names = above.removesuffix(" (tabs between)").replace(", ", ",").replace(",", ", ")
    said = (
        f"{path}:1: it looks like a table of {names} without a line of names\n  found: "
        + rows.splitlines()[0].replace("\t", "\\t")
        + f"\n  fix:   put a first line above it: {above}; or in a config format: table, "
        f"columns: {{{numbers}}}"
    )
    for format in (None, "table"):
        with pytest.raises(InputError) as error:
            read_run(path, format=format)
        assert str(error.value) == said
    scores = [list(docs.values()) for docs in read_run(path, columns=columns).to_dict().values()]
    assert scores == [[1.5, 0.5]]
    path.write_text(names.replace(", ", "\t" if "\t" in rows else ",") + f"\n{rows}")
    scores = [list(docs.values()) for docs in read_run(path).to_dict().values()]
    assert scores == [[1.5, 0.5]]


@pytest.mark.parametrize("format", [None, "table"])
@pytest.mark.parametrize("between", [",", "\t"])
def test_other_names_above(tmp_path: Path, between: str, format: str | None) -> None:
    """Nobody is told to put a line of names above another one, which would be a row then."""
    path = tmp_path / "a.csv"
    path.write_text("number,text,value\nq1,d1,1.5\nq1,d2,0.5\n".replace(",", between))
    with pytest.raises(InputError) as error:
        read_run(path, format=format)
    found = "number,text,value".replace(",", "\\t" if between == "\t" else between)
    assert str(error.value) == (
        f"{path}:1: it looks like a table of qid, docno, score with other names above\n"
        f"  found: {found}\n  fix:   call the columns so, or say in a config which is which: "
        "format: table, columns: {qid: NAME, docno: NAME, score: NAME}"
    )
    columns = {"qid": "number", "docno": "text", "score": "value"}
    assert read_run(path, format="table", columns=columns).to_dict() == RUN
    path.write_text("sep=,\n1,d1,1\n1,d2,0\n".replace(",", between))  # no names of columns
    with pytest.raises(InputError) as error:
        read_qrels(path, format=format)
    assert "looks like a table" not in str(error.value)


def test_judgements(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("q1,d1,1\nq1,d2,0\n")
    with pytest.raises(InputError, match="it looks like a table of qid, docno, grade without"):
        read_qrels(path)
    path.write_text("q1,0,d1,1\nq1,0,d2,0\n")
    with pytest.raises(InputError, match=r"columns: \{qid: 1, docno: 3, grade: 4\}$"):
        read_qrels(path)
    columns = {"qid": 1, "docno": 3, "grade": 4}
    assert read_qrels(path, columns=columns).to_dict() == {"q1": {"d1": 1, "d2": 0}}


def test_blanks_between(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q1 d1 1.5\nq1 d2 0.5\n")
    with pytest.raises(InputError) as error:
        read_run(path)
    assert str(error.value) == (
        f"{path}:1: 3 fields where 6 belong (qid Q0 docno rank score tag); it looks like qid, "
        "docno, score\n  found: q1 d1 1.5\n"
        "  fix:   write each line as QID Q0 DOCNO 0 SCORE TAG, of which TAG may be any word"
    )
    with pytest.raises(InputError, match=r"neither commas nor tabs (?s:.*) qid,docno,score"):
        read_run(path, format="table")
    path.write_text("q1 Q0 d1 0 1.5 x\nq1 Q0 d2 0 0.5 x\n")
    assert read_run(path).to_dict() == RUN
    path.write_text("qid,docno,score\nq1,d1,1.5\nq1,d2,0.5\n")
    assert read_run(path).to_dict() == RUN


def test_three_numbers_a_line_are_no_table(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("0.1,0.2,0.7\n0.3,0.3,0.4\n")  # one for each of three classes
    with pytest.raises(InputError) as error:
        read_run(path)
    assert "looks like a table" not in str(error.value)


def test_the_fix_of_several_is_said_once() -> None:
    many = [Problem(f"a:{n}", "wrong", fix="mend it") for n in range(1, 5)]
    assert str(InputError(many, total=9)) == (
        "a:1: wrong\na:2: wrong\na:3: wrong\na:4: wrong\n  fix:   mend it\n... and 5 more"
    )
    two = [*many[:2], Problem("a:9", "wrong", fix="leave it")]
    assert str(InputError(two)) == (
        "a:1: wrong\na:2: wrong\n  fix:   mend it\na:9: wrong\n  fix:   leave it"
    )


@pytest.mark.parametrize("format", [None, "trec"])
def test_what_is_no_text(tmp_path: Path, format: str | None) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(b"\xc3\x28\x01\x02abc\x99 \xfe\x07 x\n\x1b\xff")
    with pytest.raises(InputError) as error:
        read_run(path, format=format)
    assert str(error.value) == (
        f"{path}: not text: it holds control characters, and bytes that are not UTF-8\n"
        "  fix:   give a text file; where it was one, copy or download it again"
    )
    path.write_bytes(b"\xc3\x28\x01\x02abc\x99 \xfe\x07 x\r\x1b\xff")  # no line end, but a return
    with pytest.raises(InputError, match="not text: it holds control characters, and bytes that"):
        read_run(path, format=format)
    path.write_bytes(b"q1 Q0 d1 1 0.5 \x01\xff\n")  # text but for a tag
    with pytest.raises(InputError, match=r"a\.run:1: the line is not UTF-8 text"):
        read_run(path, format=format)


def test_two_blanks_in_a_docno(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 d1 1 1.5 t\nq1 Q0 My Doc D13 2 0.5 t\nq1 Q0 d3 3 x t\n")
    with pytest.raises(InputError) as error:
        read_run(path)
    first, second = error.value.problems
    assert str(first) == (
        f"{path}:2: 8 fields where 6 belong (qid Q0 docno rank score tag)\n"
        "  found: q1 Q0 My Doc D13 2 0.5 t\n"
        "  fix:   write each docno and tag without blanks, or delete the line"
    )
    assert second.what == "score 'x' is not a number"
