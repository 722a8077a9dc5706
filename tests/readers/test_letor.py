"""LETOR in its dialects: grade, qid and docno of each row, and files of group sizes."""

import gzip
import random
import re
from collections.abc import Callable

import pytest
from outcomes import refused, warned

from harness import readers
from harness.readers import letor

Write = Callable[..., str]

POSITIONAL = {"10": {"d0": 2, "d1": 0}, "11": {"d0": 4}}
NAMED = {"10": {"GX1-2-3": 2, "GX029": 0}, "11": {"GX1-2-3": 4}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 qid:10 1:3 2:0.5 \n0 qid:10 1:1 2:0 \n4 qid:11 1:0 2:7 \n", POSITIONAL),
        ("2 qid:10 1:3\r\n0 qid:10 1:1\r\n\r\n4 qid:11 1:0\r\n", POSITIONAL),
        ("2.0 qid:10 1:3\n0.0 qid:10\n\n# comment\n4.0 qid:11 5:1", POSITIONAL),
        ("2 qid:10\n0 qid:10\n4 qid:11", POSITIONAL),
        ("2\tqid:10\t1:3\n0\tqid:10\t1:3\n4\tqid:11\t1:3\n", POSITIONAL),
        ("  2  qid:10 1:3\n0 \tqid:10 1:3\n\n \n4 qid:11 1:3\n  # comment\n", POSITIONAL),
        ("2 qid:10 1:3 # words\n0 qid:10 1:3\n4 qid:11 1:3 # more words\n", POSITIONAL),
        (
            "2 qid:10 1:3 #docid = GX1-2-3 inc = 0.0119 prob = 0.0246\n"
            "0 qid:10 1:3 #docid = GX029 inc = 1 prob = 0.1\n"
            "4 qid:11 1:3 #docid = GX1-2-3 inc = 1 prob = 0.2\n",
            NAMED,
        ),
        (
            "2 qid:10 1:3 # docid=GX1-2-3\r\n0 qid:10 1:3 #docid = GX029\r\n"
            "4 qid:11 1:3 #docid = GX1-2-3",
            NAMED,
        ),
        (
            "# qid:10: rambo*1\n# qid:11: star wars*1\n2\tqid:10\t # GX1-2-3\trambo\n"
            "0\tqid:10\t # GX029\trambo\n4\tqid:11\t # GX1-2-3\tstar wars\n",
            NAMED,
        ),
        ("2 qid:10#docid = GX1-2-3\n0 qid:10# docid = GX029\n4 qid:11 1:2#docid=GX1-2-3\n", NAMED),
    ],
)
def test_dialects(write: Write, text: str, expected: dict[str, dict[str, float]]) -> None:
    assert readers.read_qrels(write("test.txt", text), format="letor").to_dict() == expected
    packed = write("test.txt.gz", gzip.compress(text.encode()))
    assert readers.read_qrels(packed).to_dict() == expected


def test_scattered_rows_keep_the_order_of_the_file(write: Write) -> None:
    path = write("a.txt", "1 qid:a\n2 qid:b\n3 qid:a\n4 qid:c\n0 qid:b\n")
    qrels, found = warned(readers.read_qrels, path)
    assert found == [("scattered-queries", 2, 3)]
    assert qrels.grades.tolist() == [1, 3, 2, 0, 4]
    run = readers.read_run(write("p.txt", "0.1\n0.2\n0.3\n0.4\n0.5\n"), dataset=qrels)
    assert run.scores.tolist() == [0.1, 0.3, 0.2, 0.5, 0.4]


@pytest.mark.parametrize(
    ("comments", "docnos", "rules"),
    [
        (["# x a", "# y b", "#z"], "xyz", []),
        (["# x a", "# y b", ""], ["d0", "d1", "d2"], []),
        (["", "", "# z"], ["d0", "d1", "d2"], []),
        (["# a docid = x", "#docid=y", "# docid = z z"], "xyz", []),
        (["#docid = x", "", "# z"], ["d0", "d1", "d2"], [("reader", 1, 0)]),
        (["#" * 99 + "x", "#" * 99 + " y", "#z"], "xyz", []),
    ],
)
@pytest.mark.parametrize("piece", [40, 80, 40_000])
def test_docnos_of_comments(
    write: Write, monkeypatch: pytest.MonkeyPatch, comments: list[str], docnos: list[str],
    rules: list[object], piece: int,
) -> None:  # fmt: skip
    monkeypatch.setattr(letor, "_PIECE", piece)
    text = "".join(f"{grade} qid:1 {comment}\n" for grade, comment in enumerate(comments))
    qrels, found = warned(readers.read_qrels, write("a.txt", text), format="letor")
    assert qrels.to_dict() == {"1": dict(zip(docnos, range(3), strict=True))}
    assert found == rules


def test_a_last_line_that_is_cut(write: Write) -> None:
    text = "1 qid:1 1:0 2:0 3:0\n" * 6
    assert warned(readers.read_qrels, write("a.txt", text + "1 qid:1 1:"))[1] == [
        ("cut-line", 1, 7)
    ]
    assert warned(readers.read_qrels, write("a.txt", text.rstrip()))[1] == []


# Group sizes.

NO_QIDS = "2 1:0.5 3:1\n0 2:1\n4 1:1\n"
TWO = "2 qid:a 1:1\n0 qid:a 1:2\n4 qid:b 1:3\n"


def test_group_sizes_next_to_the_file(write: Write) -> None:
    write("rank.test.query", "2\n1\n")
    expected = {"1": {"d0": 2, "d1": 0}, "2": {"d0": 4}}
    assert readers.read_qrels(write("rank.test", NO_QIDS)).to_dict() == expected
    packed = write("rank.test.gz", gzip.compress(NO_QIDS.encode()))
    assert readers.read_qrels(packed).to_dict() == expected
    named = readers.read_qrels("rank.test", group=write("sizes.txt", "1\r\n1\r\n1"))
    assert named.qids.to_pylist() == ["1", "2", "3"]
    for sizes in ("2\n1\n", "3 queries\n"):  # the last are not sizes
        write("a.txt.query", sizes)
        qrels = readers.read_qrels(write("a.txt", TWO))
        assert qrels.to_dict() == {"a": {"d0": 2, "d1": 0}, "b": {"d0": 4}}


@pytest.mark.parametrize(
    ("text", "sizes", "place"),
    [
        (NO_QIDS, "2\n3\n", "sizes"),
        (NO_QIDS, "2\nx\n", "sizes:2"),
        (NO_QIDS, "4\n-1\n", "sizes:2"),
        (TWO, "1\n2\n", "sizes:1"),
        (TWO, "2\n2\n", "sizes:2"),
        (TWO, "2\n", "sizes"),
        (TWO, "2\n1\n1\n", "sizes"),
        (TWO, "2\nx\n", "sizes:2"),
        ("".join(f"0 qid:{qid}\n" for qid in "aabbbcd"), "2\n1\n2\n2\n9\n", "sizes:2"),
    ],
)
def test_group_sizes_that_do_not_fit(write: Write, text: str, sizes: str, place: str) -> None:
    group = write("sizes", sizes)
    found = refused(readers.read_qrels, write("a.txt", text), group=group)
    assert found == [(place, "group-sizes")]
    assert refused(readers.read_qrels, write("b.txt", NO_QIDS)) == [("b.txt", "columns")]


@pytest.mark.parametrize(
    "odd", ["", "12 qid:7 1:1", "1\tqid:7 1:1", "1 qid:a\x01b 1:1", "1 qid:8#c"]
)
def test_lines_that_begin_alike_are_read_as_others(odd: str) -> None:
    draw = random.Random(odd)
    qids, ends = (
        ["1", "2", "10", "1034", "q-é", "10"],
        [" 1:0.5" * 12, "\t1:0" * 20, " 2:1" * 20 + " # X"],
    )
    lines = [f"{draw.randint(0, 4)} qid:{draw.choice(qids)}{draw.choice(ends)}" for _ in range(50)]
    lines[25:25] = [odd + " 3:0.25" * 10] if odd else []
    (rows,) = letor.read_block("\n".join(lines).encode(), with_qid=True)
    heads = [re.match(r"(\d+)\s+qid:([^\s#]+)", one) for one in lines]
    assert rows.grades.tolist() == [int(one[1]) for one in heads if one]
    assert rows.qids.to_pylist() == [one[2] for one in heads if one]
