"""LETOR in its dialects: grade, qid and docno of each row."""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import readers
from harness.core.tables import Run
from harness.errors import HarnessWarning, InputError
from harness.readers import letor
from harness.readers import letor as letor_lines

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
    ],
    ids=["mslr", "crlf", "float-grades", "no-features", "tabs", "blanks", "some-comments",
         "letor4", "docid-spacing", "ranklib"],
)  # fmt: skip
def test_dialects(write: Write, text: str, expected: dict[str, dict[str, float]]) -> None:
    assert readers.read_qrels(write("test.txt", text), format="letor").to_dict() == expected
    packed = write("test.txt.gz", gzip.compress(text.encode()))
    assert readers.read_qrels(packed).to_dict() == expected


@pytest.fixture(params=[1, 2, 1000])
def _small_pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letor_lines, "_PIECE", 40 * request.param)


@pytest.mark.parametrize(
    "grade", ["3", "-1", "12", "2.0", "+1", "1e1", "-2147483647", "2147483647"]
)
def test_grades(write: Write, grade: str) -> None:
    qrels = readers.read_qrels(write("a.txt", f"{grade} qid:1 1:0\n0 qid:1 1:0\n"))
    assert qrels.grades.tolist() == [int(float(grade)), 0]


@pytest.mark.parametrize("length", [1, 30, 41, 42, 43, 44, 45, 46, 47, 48, 49, 200])
def test_long_qids(write: Write, length: int) -> None:
    qid = "q" * length
    text = f"1 qid:{qid} 1:0\n0 qid:{qid}\n2 qid:b 1:0\n"
    assert readers.read_qrels(write("a.txt", text), format="letor").to_dict() == {
        qid: {"d0": 1, "d1": 0},
        "b": {"d0": 2},
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.integers(0, 4),
            st.sampled_from(["1", "22", "abc-ü", "x" * 50]),
            st.sampled_from(
                ["", " 1:2 3:4", " 1:2 ", " 1:" + "9" * 60, " # d", "\r", "  1:2 #x\r"]
            ),
            st.sampled_from(["", "\n", "# c\n", "  \n", "\r\n"]),
        ),
        min_size=1,
    ),
    st.integers(8, 200),
    st.integers(1, 9),
)
def test_any_blocks_give_what_a_plain_loop_gives(
    write: Write, rows: list[tuple[int, str, str, str]], block: int, piece: int
) -> None:
    text = "".join(f"{between}{grade} qid:{qid}{rest}\n" for grade, qid, rest, between in rows)
    expected: dict[str, list[int]] = {}
    for grade, qid, *_ in rows:
        expected.setdefault(qid, []).append(grade)
    path = write("a.txt", text)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", HarnessWarning)
        patch.setattr(letor, "_LEAST", block)
        patch.setattr(letor, "_PIECE", piece)
        qrels = readers.read_qrels(path, format="letor")
    assert {qid: list(row.values()) for qid, row in qrels.to_dict().items()} == expected


def test_scattered_rows_keep_the_order_of_the_file(write: Write) -> None:
    text = "1 qid:a\n2 qid:b\n3 qid:a\n4 qid:c\n0 qid:b\n"
    with pytest.warns(HarnessWarning) as caught:
        qrels = readers.read_qrels(write("a.txt", text))
    assert [str(w.message) for w in caught] == [
        "a.txt: 2 queries come back after another began; the rows were gathered by qid"
    ]
    assert qrels.grades.tolist() == [1, 3, 2, 0, 4]
    run = readers.read_run(write("p.txt", "0.1\n0.2\n0.3\n0.4\n0.5\n"), dataset=qrels)
    assert run.scores.tolist() == [0.1, 0.3, 0.2, 0.5, 0.4]


def test_the_first_repeated_rows_are_those_of_the_file(write: Write) -> None:
    # query a begins first, and repeats a document last: lines 3, 4 and 5 come before line 6
    text = "1 qid:a #docid = x\n" + "1 qid:b #docid = y\n" * 4 + "1 qid:a #docid = x\n"
    with pytest.warns(HarnessWarning) as caught:
        readers.read_qrels(write("a.txt", text))
    said = [one.message for one in caught if isinstance(one.message, HarnessWarning)]
    (repeated,) = [one for one in said if one.rule == "repeated-rows"]
    assert (repeated.count, repeated.line) == (4, 3)
    assert repeated.examples == tuple(f"query b, document y: line {at}" for at in (3, 4, 5))


def test_repeated_docnos_give_way_to_positions(write: Write) -> None:
    text = "1 qid:a #docid = x\n1 qid:a #docid = x\n0 qid:a #docid = y\n"
    path = write("a.txt", text)
    with pytest.warns(HarnessWarning) as caught:
        qrels = readers.read_qrels(path)
    assert [str(w.message) for w in caught] == [
        "a.txt: 1 row repeats a docno of the same query; all rows are kept, and named "
        "d0, d1, ... by position"
    ]
    assert qrels.to_dict() == {"a": {"d0": 1, "d1": 1, "d2": 0}}
    with pytest.warns(HarnessWarning) as caught:
        assert readers.read_qrels(path, duplicates="last").to_dict() == {"a": {"x": 1, "y": 0}}
    assert [str(w.message) for w in caught] == [
        "a.txt: 1 row of 1 query repeats a docno and was dropped; the last of each is kept"
    ]


def test_predictions_follow_the_file_also_where_duplicates_are_dropped(write: Write) -> None:
    path = write("a.txt", "1 qid:a #docid = x\n0 qid:a #docid = y\n1 qid:a #docid = x\n")
    with pytest.warns(HarnessWarning, match="1 row of 1 query repeats a docno"):
        qrels = readers.read_qrels(path, duplicates="first")
    run = readers.read_run(write("p.txt", "3\n2\n1\n"), dataset=qrels)
    assert run.to_dict() == {"a": {"x": 3.0, "y": 2.0}}


@pytest.mark.usefixtures("_small_pieces")
def test_docids_on_some_rows_only(write: Write) -> None:
    with pytest.warns(HarnessWarning) as caught:
        qrels = readers.read_qrels(write("a.txt", "1 qid:a #docid = x\n0 qid:a\n0 qid:a # z\n"))
    assert [str(w.message) for w in caught] == [
        "a.txt: 1 of 3 rows have a docid; rows are named d0, d1, ... by position"
    ]
    assert qrels.docnos.positional


# The first words are docnos where every row has a comment and none says docid.
@pytest.mark.usefixtures("_small_pieces")
@pytest.mark.parametrize(
    ("comments", "docnos"),
    [
        (["# x a", "# y b", "#z"], ["x", "y", "z"]),
        (["# x a", "# y b", ""], ["d0", "d1", "d2"]),
        (["", "", "# z"], ["d0", "d1", "d2"]),
        (["# a docid = x", "#docid=y", "# docid = z z"], ["x", "y", "z"]),
    ],
)
def test_docnos_of_comments(write: Write, comments: list[str], docnos: list[str]) -> None:
    text = "".join(f"{grade} qid:1 {comment}\n" for grade, comment in enumerate(comments))
    qrels = readers.read_qrels(write("a.txt", text), format="letor")
    assert qrels.to_dict() == {"1": dict(zip(docnos, range(3), strict=True))}


def test_group_sizes_beside_the_file(write: Write) -> None:
    text = "2 1:0.5 3:1\n0 2:1\n4 1:1\n"
    write("rank.test.query", "2\n1\n")
    expected = {"1": {"d0": 2, "d1": 0}, "2": {"d0": 4}}
    assert readers.read_qrels(write("rank.test", text)).to_dict() == expected
    packed = write("rank.test.gz", gzip.compress(text.encode()))
    assert readers.read_qrels(packed).to_dict() == expected
    write("sizes.txt", "1\r\n1\r\n1")
    named = readers.read_qrels("rank.test", group="sizes.txt")
    assert named.qids.to_pylist() == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (
            "2\n3\n",
            "rank.test.query: 2 group sizes that add up to 5 rows, but rank.test has 3\n"
            "  fix:   name the file of sizes that belongs to it: group: FILE in the config, "
            "--group FILE on the command line",
        ),
        ("2\nx\n", "rank.test.query:2: group size 'x' is not a whole number\n"),
        ("4\n-1\n", "rank.test.query:2: group size '-1' is not a whole number\n"),
    ],
)
def test_group_sizes_that_do_not_fit(write: Write, sizes: str, message: str) -> None:
    write("rank.test.query", sizes)
    with pytest.raises(InputError) as error:
        readers.read_qrels(write("rank.test", "2 1:0.5\n0 2:1\n4 1:1\n"))
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "0.5 qid:1 1:0",
            "a.txt:2: grade '0.5' is not a whole number\n"
            "  found: 0.5 qid:1 1:0\n"
            "  fix:   judgements are integers; scale or round them",
        ),
        (
            "nan qid:1 1:0",
            "a.txt:2: grade 'nan' is not a finite number\n"
            "  found: nan qid:1 1:0\n"
            "  fix:   repair the line; predictions follow the lines, so delete none",
        ),
        ("python 2:2.5", "a.txt:2: grade 'python' is not a number\n"),
        (
            "1 1:0.5 2:1",
            "a.txt:2: no qid after the grade\n"
            "  found: 1 1:0.5 2:1\n"
            "  fix:   write 'grade qid:Q features'",
        ),
        ("1 qid: 1:0.5", "a.txt:2: no qid after the grade\n"),
        ("qid:1 1:0.5", "a.txt:2: grade 'qid:1' is not a number\n"),
    ],
)
def test_lines_that_are_refused(write: Write, line: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        readers.read_qrels(write("a.txt", f"# c\n{line}\n1 qid:1 1:0\n2 qid:1 1:0\n"))
    assert str(error.value).startswith(message)


def test_bytes_that_are_not_utf8(write: Write) -> None:
    with pytest.raises(InputError, match=r"^a\.txt:2: the line is not UTF-8 text"):
        readers.read_qrels(write("a.txt", b"1 qid:1 1:0\n1 qid:\xff 1:0\n"))


def test_no_qids_at_all(write: Write) -> None:
    with pytest.raises(InputError) as error:
        readers.read_qrels(write("a.txt", "1 1:0.5\n0 2:1\n"))
    assert str(error.value) == (
        "a.txt: the lines have no qid\n"
        "  fix:   write 'grade qid:Q features', or the group sizes to a.txt.query beside it, or "
        "name their file: group: FILE in the config, --group FILE on the command line"
    )


def test_a_run_is_not_read_from_it(write: Write) -> None:
    path = write("a.txt", "1 qid:1 1:0\n")
    with pytest.raises(InputError) as error:
        readers.read_run(path, format="letor")
    assert str(error.value).startswith("a.txt: format letor does not hold a run\n  fix:   one of ")
    with pytest.raises(InputError, match="in no format of a run known; it looks like qrels"):
        readers.read_run(path)


def test_the_run_shares_the_rows(write: Write) -> None:
    qrels = readers.read_qrels(write("a.txt", "1 qid:1 1:0\n0 qid:1 1:0\n"))
    run = readers.read_run(write("p.txt", "0.5\n0.25\n"), dataset=qrels)
    assert isinstance(run, Run)
    assert run.docnos is qrels.docnos


TWO = "2 qid:a 1:1\n0 qid:a 1:2\n4 qid:b 1:3\n"


# LightGBM goes by the sizes: a, a | b is 2, 1; a size of 0 is no query.
def test_group_sizes_that_agree_with_qids(write: Write) -> None:
    expected = {"a": {"d0": 2, "d1": 0}, "b": {"d0": 4}}
    for sizes in ("2\n1\n", "3 queries\n"):  # the last are no sizes
        write("a.txt.query", sizes)
        assert readers.read_qrels(write("a.txt", TWO)).to_dict() == expected
    assert readers.read_qrels("a.txt", group=write("sizes", "2 1")).to_dict() == expected


@pytest.mark.usefixtures("_small_pieces")
@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("1\n2\n", "group size 1 is 1, but a.txt has 2 rows of qid 'a' there, from row 1 on"),
        ("2\n2\n", "group size 2 is 2, but a.txt has 1 row of qid 'b' there, from row 3 on"),
        ("0\n2\n0\n3\n", "group size 4 is 3, but a.txt has 1 row of qid 'b' there, from row 3 on"),
        ("2\n", "1 group sizes that add up to 2 rows, but a.txt has 3"),
        ("2\n1\n1\n", "3 group sizes that add up to 4 rows, but a.txt has 3"),
    ],
)
def test_group_sizes_that_contradict_the_qids(
    write: Write, beside: bool, sizes: str, message: str
) -> None:
    path, name = write("a.txt", TWO), "a.txt.query" if beside else "sizes"
    write(name, sizes)
    with pytest.raises(InputError) as error:
        readers.read_qrels(path, **({} if beside else {"group": name}))
    problem = error.value.problems[0]
    # one size a line; a sum is of no line
    at = f":{message.split()[2]}" if message.startswith("group size") else ""
    assert (problem.where, problem.what, problem.rule) == (name + at, message, "group-sizes")


def test_the_first_size_that_contradicts_the_qids(write: Write) -> None:
    rows = "".join(f"0 qid:{qid}\n" for qid in "aabbbcd")
    with pytest.raises(InputError) as error:
        readers.read_qrels(write("a.txt", rows), group=write("sizes", "2\n1\n2\n2\n9\n"))
    (problem,) = error.value.problems
    assert problem.where == "sizes:2"
    assert problem.what == "group size 2 is 1, but a.txt has 3 rows of qid 'b' there, from row 3 on"


def test_words_in_a_named_file_of_group_sizes_are_refused_with_qids_too(write: Write) -> None:
    with pytest.raises(InputError, match="group size 'x' is not a whole number"):
        readers.read_qrels(write("a.txt", TWO), group=write("sizes", "2\nx\n"))


def test_all_sizes_that_are_no_numbers_are_counted(write: Write) -> None:
    # the second line and ten more; ten are printed
    name = write("sizes", "2\n12.0\n" + "-5\n" * 10)
    with pytest.raises(InputError) as error:
        readers.read_qrels(write("a.txt", TWO), group=name)
    first, last = error.value.problems[0], error.value.problems[-1]
    assert (first.where, first.found, first.rule) == ("sizes:2", "12.0", "group-sizes")
    assert (last.where, error.value.total) == ("sizes:11", 11)
    assert str(error.value).endswith("... and 1 more")


# LightGBM 4.6: ndcg@5 of sizes 20, 20 is 0.7296, and of 0, 20, 20 is (2 * 0.7296 + 1) / 3 = 0.8197
@pytest.mark.parametrize("rows", [TWO, TWO.replace("qid:a ", "").replace("qid:b ", "")])
def test_sizes_of_0_are_no_queries_and_are_warned_of(write: Write, rows: str) -> None:
    name = write("sizes", "2 0\n1\n0\n")
    with pytest.warns(HarnessWarning, match=r"^sizes:1: 2 group sizes are 0$") as caught:
        qrels = readers.read_qrels(write("a.txt", rows), group=name)
    assert qrels.n_queries == 2
    (one,) = (warning.message for warning in caught)
    assert isinstance(one, HarnessWarning)
    assert (one.rule, one.count, one.examples) == ("empty-groups", 2, ("size 2", "size 4"))
