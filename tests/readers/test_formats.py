"""The registry of formats, and the guess."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness import readers
from harness.core.tables import Qrels
from harness.errors import HarnessWarning, InputError, UnknownNameError

Write = Callable[..., str]


def test_every_format_says_what_it_is() -> None:
    assert {"trec", "letor", "scores", "ranklib", "npy", "batch", "table", "beir", "msmarco",
            "json", "jsonl"} <= set(readers.FORMATS)  # fmt: skip
    for name, known in readers.FORMATS.items():
        assert known.name == name
        assert known.about
        assert "\n" not in known.about
        assert known.suffixes
        assert known.qrels or known.run


@pytest.mark.parametrize(
    ("kind", "name", "text", "expected"),
    [
        ("qrels", "a", "q 0 d 1\n", "trec"),
        ("qrels", "a.tsv", "q\t0\td\t1\n", "trec"),
        ("qrels", "a.txt", "1 qid:1 1:0\n", "letor"),
        ("qrels", "a.txt", "1 1:0 2:0\n", "letor"),
        ("qrels", "a.tsv", "query-id\tcorpus-id\tscore\nq\td\t1\n", "beir"),
        ("qrels", "a.csv", "qid,docno,grade\nq,d,1\n", "table"),
        ("qrels", "a.tsv", "qid\tdocno\tlabel\nq\td\t1\n", "table"),
        ("qrels", "a", '{"q": {"d": 1}}', "json"),
        ("qrels", "a", '{"qid": "q", "docno": "d", "grade": 1}\n', "jsonl"),
        ("run", "a", "q Q0 d 1 2.0 t\n", "trec"),
        ("run", "a", "q Q0 d 1 nan t\n", "trec"),
        ("run", "a", "q Q0 d 1 2.0 t\nq Q0 d 1\nq Q0 e 1 1 t\n", "trec"),
        ("run", "a", "q\td\t1\nq\te\t2\n", "msmarco"),
        ("run", "a", "q\t0\t1.5\nq\t1\t2.5\n", "ranklib"),
        ("run", "a", "1.5\n2\n", "scores"),
        ("run", "a", "# made by\n-1e-3\n", "scores"),
        ("run", "a", '{"qid": "q", "docno": "d", "score": 1}\n', "jsonl"),
    ],
)
def test_guess(write: Write, kind: str, name: str, text: str, expected: str) -> None:
    assert readers.guess_format(write(name, text), kind) == expected  # type: ignore[arg-type]


def test_no_guess(write: Write) -> None:
    with pytest.raises(InputError) as error:
        readers.guess_format(write("a.txt", "some words\nof prose\n"), "qrels")
    assert str(error.value) == (
        "a.txt: in no format of qrels known\n"
        "  found: some words\n"
        "  fix:   name it: format: NAME in the config, --qrels-format NAME on the command line; "
        "one of batch, beir, json, jsonl, letor, msmarco, table, trec"
    )


def test_a_run_in_place_of_qrels(write: Write) -> None:
    with pytest.raises(InputError) as error:
        readers.read_qrels(write("a.run", "q Q0 d 1 2.0 t\n"))
    assert str(error.value).startswith(
        "a.run: in no format of qrels known; it looks like a run (trec)\n"
        "  found: q Q0 d 1 2.0 t\n"
        "  fix:   swap the two files, or name it: format: NAME in the config, "
        "--qrels-format NAME on the command line; one of batch, "
    )
    with pytest.raises(InputError) as error:
        readers.read_run(write("a.run", "q 0 d 1\n"))
    assert str(error.value).startswith(
        "a.run: in no format of a run known; it looks like qrels (trec)\n"
        "  found: q 0 d 1\n"
        "  fix:   swap the two files, or name it: format: NAME in the config, "
        "--run-format NAME on the command line; one of batch, "
    )


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (
            "run",
            "q Q0 d1 1 2.0\nq Q0 d2 2 1.0\n",
            "a:1: 5 fields where 6 belong (qid Q0 docno rank score tag)\n"
            "  found: q Q0 d1 1 2.0\n"
            "  fix:   write the missing field; Q0, the rank and the tag may be any word",
        ),
        (
            "run",
            "q d1 1 2.0 t\nq d2 2 1.0 t\n",
            "a:1: 5 fields where 6 belong (qid Q0 docno rank score tag)\n",
        ),
        (
            "qrels",
            "q1 d1 1\nq1 d2 0\n",
            "a:1: 3 fields where 4 belong (qid iteration docno grade)\n"
            "  found: q1 d1 1\n"
            "  fix:   write the missing field; the iteration may be 0",
        ),
        (
            "qrels",
            "q1 d1 1\nq1 d2 2\n",
            "a:1: 3 fields where 4 belong (qid iteration docno grade); it looks like a run "
            "(msmarco)\n  found: q1 d1 1\n"
            "  fix:   swap the two files, or write the missing field; the iteration may be 0",
        ),
        (
            "run",
            ",0\n0,0.25\n1,-1.5\n",
            "a:1: 2 columns where one number a line belongs\n"
            "  found: ,0\n"
            "  fix:   write it without the index, as series.to_csv(path, index=False, "
            "header=False) does",
        ),
        ("run", "0 0.25\n1 -1.5\n", "a:1: 2 columns where one number a line belongs\n"),
    ],
)
def test_nearly_a_format(write: Write, kind: str, text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        readers.guess_format(write("a", text), kind)  # type: ignore[arg-type]
    assert str(error.value).startswith(message)


def test_more_than_one_guess(write: Write) -> None:
    # RankLib's rows from 0 with ranks for scores: both readings make sense.
    with pytest.raises(InputError) as error:
        readers.guess_format(write("a", "q\t0\t1\nq\t1\t2\n"), "run")
    assert str(error.value) == (
        "a: could be msmarco or ranklib\n"
        "  found: q\\t0\\t1\n"
        "  fix:   name it: format: NAME in the config, --run-format NAME on the command line"
    )


def test_options_that_can_be_followed_on_the_command_line() -> None:
    from harness.cli.evaluate import command

    options = {option for parameter in command.params for option in parameter.opts}
    assert {"--duplicates", "--group", "--qrels-format", "--run-format"} <= options


@pytest.mark.parametrize("between", [",", "\t"])
def test_numbered_columns_count_a_quoted_separator_as_text(write: Write, between: str) -> None:
    rows = [["0.5", f'"b{between}2"', '"10"'], ["2", '"a"', '"1"']]
    path = write("r.csv", "".join(between.join(row) + "\n" for row in rows))
    read = readers.read_run(path, format="table", columns={"qid": 3, "docno": 2, "score": 1})
    assert read.to_dict() == {"10": {f"b{between}2": 0.5}, "1": {"a": 2.0}}


def test_options_tell_the_format(write: Write) -> None:
    columns = {"qid": "topic", "grade": "judged"}
    path = write("q.csv", "topic,docno,judged\n1,a,2\n")
    assert readers.read_qrels(path, columns=columns).to_dict() == {"1": {"a": 2}}
    path = write("q.txt", '{"topic": "1", "docno": "a", "judged": 2}\n')
    assert readers.read_qrels(path, columns=columns).to_dict() == {"1": {"a": 2}}
    path, group = write("q.dat", "1 1:0\n0 1:1\n2 1:0\n"), write("q.sizes", "2\n1\n")
    sizes = {"1": {"d0": 1, "d1": 0}, "2": {"d0": 2}}
    assert readers.read_qrels(path, group=group).to_dict() == sizes
    columns = {"qid": "topic", "score": "s"}
    path = write("r.csv", "topic,docno,s\n1,a,2\n")
    run = {"1": {"a": 2}}
    assert readers.read_run(path, columns=columns).to_dict() == run
    assert [part.to_dict() for part in readers.stream_run(path, columns=columns)] == [run]
    qrels = Qrels.from_dict({"1": {"a": 1}})
    assert [part.n_queries for part in readers.align_run(qrels, path, columns=columns)] == [1]


@pytest.mark.parametrize("name", ["q.csv", "q.jsonl"])
def test_no_rows_under_columns(write: Write, name: str) -> None:
    with pytest.raises(InputError, match=rf"^{name}: the file holds no rows\n  fix: "):
        readers.read_qrels(write(name, "\n# {\n"), columns={"qid": "q"})
    with pytest.raises(InputError, match=rf"^{name}: the text is UTF-16\n  fix: "):
        readers.read_qrels(write(name, "q,d".encode("utf-16")), columns={"qid": "q"})


# Beside each judged document the run has one that nobody judged; grades go 0, 1, 2, 0, 1, ...
GRADES = {f"q{q}": {f"d{d}": d % 3 for d in range(10)} for q in range(2)}
EQUAL = "scores equal the grades: are these judgements instead of a system's output?"


def trec(scores: dict[str, dict[str, int]]) -> str:
    return "".join(
        f"{q} Q0 {d} 0 {s} t\n{q} Q0 unjudged-{d} 0 {s} t\n" for q, of in scores.items()
        for d, s in of.items()
    )  # fmt: skip


def table(scores: dict[str, dict[str, int]]) -> str:
    rows = "".join(f"{q},{d},{s}\n" for q, of in scores.items() for d, s in of.items())
    return f"qid,docno,score\n{rows}"


@pytest.mark.parametrize(("name", "text"), [("a.run", trec(GRADES)), ("a.csv", table(GRADES))])
def test_judgements_in_place_of_a_run(write: Write, name: str, text: str) -> None:
    qrels = Qrels.from_dict(GRADES)
    with pytest.warns(HarnessWarning) as caught:
        list(readers.align_run(qrels, write(name, text)))
    assert [str(w.message) for w in caught] == [f"{name}: {EQUAL}"]


def test_scores_that_may_equal_grades(write: Write) -> None:
    other = {q: {**of, "d0": 7} for q, of in GRADES.items()}  # 18 of 20 equal
    few = {q: dict(list(of.items())[:9]) for q, of in GRADES.items()}  # 18 documents
    same = {q: dict.fromkeys(of, 1) | {"d0": 0} for q, of in GRADES.items()}
    for grades, scores in ((GRADES, other), (GRADES, few), (same, GRADES)):
        list(readers.align_run(Qrels.from_dict(grades), write("a", trec(scores))))


def test_misspelt_names(write: Write) -> None:
    path = write("a.run", "q Q0 d 1 2.0 t\n")
    with pytest.raises(UnknownNameError, match="unknown format 'treck'; did you mean 'trec'"):
        readers.read_run(path, format="treck")
    with pytest.raises(UnknownNameError) as error:
        readers.read_qrels(path, format="letor", groups="x")
    assert str(error.value) == (
        "a.run: format letor has no option 'groups'; did you mean 'group'?\n"
        "  fix:   its options: group"
    )
    with pytest.raises(UnknownNameError, match="format trec has no option 'group'"):
        list(readers.stream_run(path, group="x"))
    with pytest.raises(InputError, match="format beir does not hold a run"):
        readers.read_run(path, format="beir")


@pytest.mark.parametrize("text", ["", "\n", "\t\t", "\t\n", " \n \n", "\r\n\r\n", "\v", "# none\n"])
@pytest.mark.parametrize("name", sorted(readers.FORMATS))
def test_nothing_but_white_space(write: Write, name: str, text: str) -> None:
    """A file without a row is refused by its name, whatever stands in for rows and format."""
    path, known = write("f", text), readers.FORMATS[name]
    for kind, read in (("qrels", readers.read_qrels), ("run", readers.read_run)):
        if known.reader(kind) is not None:  # type: ignore[arg-type]
            with pytest.raises(InputError, match=r"^f(?::\d+)?: "):
                read(path, format=name)  # type: ignore[operator]


def test_one_row_without_a_line_end_after_a_comment(write: Write) -> None:
    assert readers.read_run(write("a", "# tuned\n1 Q0 d 1 0.5 t")).to_dict() == {"1": {"d": 0.5}}
    assert readers.read_qrels(write("b", "\n1 0 d 2")).to_dict() == {"1": {"d": 2}}


def test_no_row_where_a_format_is_looked_for(write: Write) -> None:
    path = write("a", "# tuned\n" * 8192 + "1 Q0 d 1 0.5 t\n1 Q0 e 2 0.4 t\n")
    with pytest.raises(InputError) as error:
        readers.read_run(path)
    assert str(error.value) == (
        "a: no row in its first 64 KiB, by which its format is told\n"
        "  fix:   name it: format: NAME in the config, --run-format NAME on the command line"
    )
    assert readers.read_run(path, format="trec").to_dict() == {"1": {"d": 0.5, "e": 0.4}}
