"""Odd text: any script, bytes that are none, white space that is none, and the order of names."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from harness.errors import HarnessWarning, InputError
from harness.readers import read_qrels, read_run
from harness.readers.choice import guess_format

SCRIPTS = (
    "документ", "文書", "مستند", "दस्तावेज़", "אבג", "ᚠᚢᚦ", "😀", "e\u0301", "\u00e9", "d\u200b1",
    "👩\u200d👧", "d\u200d1", "\ufeffd", "d\u2028e", "d\u2029e", "d\u00a0e", "d\u0085e",
    "d\u3000e", "\x1cd", "d\x1fe", "=1+1", "𐀀", "\uffff", "\U0010ffff",
)  # fmt: skip
"""One field each: none of these is white space to C."""


def written(folder: Path, data: bytes | str, name: str = "a") -> Path:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize("name", SCRIPTS, ids=ascii)
def test_names_of_any_script_in_every_format(tmp_path: Path, name: str) -> None:
    run = {name: {name: 1.0, "x": 0.5}}
    quoted = json.dumps(name)
    csv = name.replace('"', '""')
    files = {
        "trec": f"{name} Q0 {name} 1 1 t\n{name} Q0 x 2 .5 t\n",
        "json": json.dumps(run, ensure_ascii=False),
        "jsonl": f'{{"qid":{quoted},"docno":{quoted},"score":1}}\n'
        f'{{"qid":{quoted},"docno":"x","score":0.5}}\n',
        "table": f'qid,docno,score\n"{csv}","{csv}",1\n"{csv}",x,0.5\n',
    }
    for format, text in files.items():
        # a mark at the very beginning is the file's own
        path = written(tmp_path, ("\ufeff" if name[0] == "\ufeff" else "") + text)
        assert read_run(path, format=format).to_dict() == run, format
    path = written(tmp_path, f"# head\n{name} 0 {name} 1\n{name} 0 x 0\n")
    assert read_qrels(path, format="trec").to_dict() == {name: {name: 1, "x": 0}}
    path = written(tmp_path, f"2 qid:{name} 1:1 # {name}\n0 qid:{name} 1:1 # x\n")
    assert read_qrels(path, format="letor").to_dict() == {name: {name: 2, "x": 0}}


def test_names_do_not_change_what_a_file_looks_like(tmp_path: Path) -> None:
    """Blanks of other scripts divide no fields, in the guess as in the reading."""
    rows = "".join(f"q\u00a01 Q0 d\u2003{i} {i} {-i} t\n" for i in range(1, 4))
    assert guess_format(written(tmp_path, rows), "run") == "trec"
    assert [*read_run(written(tmp_path, rows)).to_dict()] == ["q\u00a01"]


def test_composed_and_decomposed_names_are_kept_apart(tmp_path: Path) -> None:
    composed, apart = "caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9")
    assert composed != apart
    text = f"q1 0 {composed} 1\nq1 0 {apart} 0\n"
    assert read_qrels(written(tmp_path, text)).to_dict() == {"q1": {composed: 1, apart: 0}}


@pytest.mark.parametrize(
    "between", ["\t", " ", "  ", "\v", "\f", "\r", " \t\v\f ", "\r\t"], ids=ascii
)
def test_white_space_is_what_it_is_to_c(tmp_path: Path, between: str) -> None:
    rows = ["q1 Q0 d1 1 2.5 t", "q1 Q0 d2 2 1.5 t"]
    text = "".join(row.replace(" ", between) + "\n" for row in rows)
    assert read_run(written(tmp_path, text), format="trec").to_dict() == {
        "q1": {"d1": 2.5, "d2": 1.5}
    }
    text = f"1 qid:q1 1:1\n0{between}qid:q1{between}1:1\n"
    assert read_qrels(written(tmp_path, text), format="letor").to_dict() == {
        "q1": {"d0": 1, "d1": 0}
    }


def test_a_form_feed_inside_divides_as_it_does_elsewhere(tmp_path: Path) -> None:
    """Found by fuzzing: where blanks stood everywhere else it was a part of the docno."""
    path = written(tmp_path, "q1 1 \f0/d1 1\n")
    assert read_qrels(path, format="trec").to_dict() == {"q1": {"0/d1": 1}}


@pytest.mark.parametrize(
    "bad", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"]
)
def test_bytes_that_are_no_utf8_are_refused_with_the_line(tmp_path: Path, bad: bytes) -> None:
    """Also CESU's surrogates, overlong forms, and what is beyond Unicode."""
    files = {
        "trec": (b"q1 Q0 ok 1 2 t\nq1 Q0 d" + bad + b" 2 1 t\n", 2),
        "msmarco": (b"q1\tok\t1\nq1\td" + bad + b"\t2\n", 2),
        "table": (b"qid,docno,score\nq1,d" + bad + b",1\n", 2),
        "jsonl": (b'{"qid":"q1","docno":"d' + bad + b'","score":1}\n', 1),
    }
    for format, (data, line) in files.items():
        with pytest.raises(InputError) as error:
            read_run(written(tmp_path, data), format=format)
        assert str(error.value).startswith(f"{tmp_path}/a:{line}: "), format
        assert "UTF-8" in str(error.value)
    with pytest.raises(InputError, match="a: not UTF-8 text"):
        read_run(written(tmp_path, b'{"q1":{"d' + bad + b'":1}}'), format="json")
    with pytest.raises(InputError, match="a:1: the line is not UTF-8 text"):
        read_qrels(written(tmp_path, b"1 qid:1 1:1 # d" + bad + b"\n"), format="letor")


def test_columns_that_are_not_used_may_hold_any_bytes(tmp_path: Path) -> None:
    data = b"q1 \xff d1 \xfe 2 t and \xfd\nq1 Q0 d2 2 1 t\n"
    with pytest.warns(HarnessWarning, match="1 line has more than 6 fields"):
        run = read_run(written(tmp_path, data), format="trec")
    assert run.to_dict() == {"q1": {"d1": 2, "d2": 1}}
    data = b"q1 \xff d1 1\n"
    assert read_qrels(written(tmp_path, data), format="trec").to_dict() == {"q1": {"d1": 1}}


@pytest.mark.parametrize("text", [r'"\ud800"', r'"a\udc00b"', r'"\ud800\ud800"', r'"\\\ud800"'])
def test_half_a_surrogate_pair_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="is half of a surrogate pair, which is no character"):
        read_run(written(tmp_path, f'{{"q1":{{{text}:1}}}}'), format="json")
    row = f'{{"qid":"q1","docno":{text},"score":1}}\n'
    with pytest.raises(InputError, match=r"a:1: not JSON .* is half of a surrogate pair"):
        read_run(written(tmp_path, row), format="jsonl")


@pytest.mark.parametrize(("text", "docno"), [(r"\ud83d\ude00", "😀"), (r"\\ud800", r"\ud800")])
def test_whole_pairs_and_escaped_backslashes_are_fine(
    tmp_path: Path, text: str, docno: str
) -> None:
    run = read_run(written(tmp_path, f'{{"q1":{{"{text}":1}}}}'), format="json")
    assert run.to_dict() == {"q1": {docno: 1}}
    row = f'{{"qid":"q1","docno":"{text}","score":1}}\n'
    assert read_run(written(tmp_path, row), format="jsonl").to_dict() == {"q1": {docno: 1}}


def test_only_the_files_own_mark_is_passed_over(tmp_path: Path) -> None:
    """Found by fuzzing: Arrow leaves out one at the beginning of whatever it is given."""
    path = written(tmp_path, b"\xef\xbb\xbfquery-id\tcorpus-id\tscore\n\xef\xbb\xbfq1\td1\t1\n")
    assert read_qrels(path, format="beir").to_dict() == {"\ufeffq1": {"d1": 1}}
    path = written(tmp_path, b"# c\n\xef\xbb\xbfq1 Q0 d1 1 1 t\n")
    assert read_run(path, format="trec").to_dict() == {"\ufeffq1": {"d1": 1}}


@pytest.mark.filterwarnings("ignore:.*all scores are equal")
def test_ties_go_by_bytes_beyond_the_plane_of_two_byte_characters(tmp_path: Path) -> None:
    """UTF-16, which some tools compare, would put U+10000 (D800 DC00) before U+FFFF."""
    from harness.core.align import align
    from harness.core.policy import Policy

    names = ["\uffff", "\U00010000", "a", "\u00e9", "z", "e\u0301"]
    rows = "".join(f"q1 Q0 {name} 0 1.0 t\n" for name in names)
    qrels = "".join(f"q1 0 {name} {grade}\n" for grade, name in enumerate(names))
    aligned = align(
        read_qrels(written(tmp_path, qrels, "q")), read_run(written(tmp_path, rows, "r")),
        Policy(ties="trec_eval"),
    )  # fmt: skip
    found = [names[grade] for grade in aligned.grade.tolist()]
    assert found == sorted(names, key=str.encode, reverse=True)
    assert found[:2] == ["\U00010000", "\uffff"]


def test_nul_bytes_are_no_text(tmp_path: Path) -> None:
    for data in (b"q1 0 d\0 1\n", b"q\x001 0 d 1\n"):
        with pytest.raises(InputError, match="not text: it holds zero bytes"):
            read_qrels(written(tmp_path, data), format="trec")


def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    line = b"q1 0 d1 1\n"
    path = written(tmp_path, line * 3 + b"x" * (6 << 20) + b"\n" + line)
    with pytest.raises(InputError) as error:
        read_qrels(path, format="trec")
    assert str(error.value) == (
        f"{path}:4: the line is longer than 1,048,576 bytes\n"
        "  fix:   see whether its line ends were lost"
    )


def test_names_of_ten_thousand_characters_are_fine(tmp_path: Path) -> None:
    name = "é" * 10_000
    path = written(tmp_path, f"{name} Q0 {name} 1 1 {name}\n")
    assert read_run(path, format="trec").to_dict() == {name: {name: 1}}


def test_messages_stay_short(tmp_path: Path) -> None:
    path = written(tmp_path, f"q1 0 d1 {'9' * 100_000}x\n")
    with pytest.raises(InputError) as error:
        read_qrels(path, format="trec")
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("line", ["2 qid:1#docid = B", "2 qid:1# docid = B", "2 qid:1 1:2#docid=B"])
def test_a_comment_may_begin_at_once(tmp_path: Path, line: str) -> None:
    """Found by fuzzing: the hash was taken for a part of the qid, except in odd files."""
    path = written(tmp_path, f"{line}\n1 qid:2 1:1 #docid = C\n")
    assert read_qrels(path, format="letor").to_dict() == {"1": {"B": 2}, "2": {"C": 1}}


def test_letor_grades_end_where_identifiers_begin(tmp_path: Path) -> None:
    """Found by fuzzing: in every other format such a grade was refused."""
    path = written(tmp_path, "2222222222221 qid:1 1:1\n1 qid:1 1:1\n")
    with pytest.raises(InputError) as caught:
        read_qrels(path, format="letor")
    assert str(caught.value) == (
        f"{path}:1: grade '2222222222221' is not a number between -2147483647 and 2147483647\n"
        "  found: 2222222222221 qid:1 1:1\n"
        "  fix:   judgements are small integers; scale or round them before"
    )


def test_the_first_line_may_be_the_only_one(tmp_path: Path) -> None:
    """Found by fuzzing: after a comment, a row without a line end was not looked at for its qid."""
    path = written(tmp_path, "# mine\n1 qid:1 1:1")
    assert read_qrels(path, format="letor").to_dict() == {"1": {"d0": 1}}
