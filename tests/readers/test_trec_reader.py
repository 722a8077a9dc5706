"""TREC qrels and runs: the dialects, and every line that is refused."""

from __future__ import annotations

import gzip
import re
import warnings
from collections.abc import Callable
from typing import Literal

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness import readers
from harness.core.arrow import string_column
from harness.errors import HarnessWarning, InputError
from harness.readers import columns, trec
from harness.readers.build import gathered
from harness.readers.source import BLOCK, Source

Write = Callable[..., str]

RUN = {"q1": {"d1": 1.5, "d2": 0.5}, "q2": {"d1": -2.0}}


@pytest.mark.parametrize(
    "text",
    [
        "q1 Q0 d1 1 1.5 t\nq1 Q0 d2 2 0.5 t\nq2 Q0 d1 1 -2 t\n",
        "q1\tQ0\td1\t1\t1.5\tt\nq1\tQ0\td2\t2\t0.5\tt\nq2\tQ0\td1\t1\t-2\tt\n",
        "q1\tQ0\td1\t1\t  1.5\tt\nq1\tQ0\td2\t2\t  0.5\tt\nq2\tQ0\td1\t1\t -2\tt\n",
        "  q1  Q0 d1   1 1.5 t  \n q1 Q0 d2 2 .5 t\nq2 Q0 d1 1 -2. t\n",
        "q1 Q0 d1 1 1.5 t\r\nq1 Q0 d2 2 0.5 t\r\nq2 Q0 d1 1 -2 t\r\n",
        "q1 Q0 d1 1 1.5 t\nq1 Q0 d2 2 0.5 t\r\nq2 Q0 d1 1 -2 t",
        "q1 0 d1 x 1.5 t\nq1 ITER d2 x 5e-1 t\nq2 - d1 x -0.2E+1 t\n",
        "q1 Q0 d1 1 1.5 t and more\nq1 Q0 d2 2 0.5 t\nq2 Q0 d1 1 -2 t junk 7\n",
        "# ir_metadata\n\n# tag: t\n#\nq1 Q0 d1 1 1.5 t\nq1 Q0 d2 2 +0.5 t\n\nq2 Q0 d1 1 -2 t\n",
    ],
    ids=["blanks", "tabs", "tabs-blanks", "runs-of-blanks", "crlf", "mixed-ends", "columns-2-and-4",
         "words-after-the-tag", "comments"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.* lines have more than 6 fields")
def test_run_dialects(write: Write, text: str) -> None:
    run = readers.read_run(write("a.run", text), format="trec")
    assert run.to_dict() == RUN
    assert run.tags == ("t",)
    assert run.name == "a.run"


@pytest.mark.parametrize(
    "text",
    [
        "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n",
        "q1\t0\td1\t2\r\nq1\t0\td2\t0\r\nq2\t0\td1\t1\r\n",
        "q1  0  d1   2\nq1 0.5 d2 0.0\nq2 1 d1 1.0",
        "# comment\n# another\nq1 0 d1 2.0\nq1 0 d2 0\nq2 0 d1 1\n",
    ],
    ids=["blanks", "tabs-crlf", "whole-floats", "comments"],
)
def test_qrels_dialects(write: Write, text: str) -> None:
    assert readers.read_qrels(write("q.txt", text)).to_dict() == {
        "q1": {"d1": 2, "d2": 0},
        "q2": {"d1": 1},
    }


def test_names_are_strings_whatever_they_look_like(write: Write) -> None:
    # Names that a CSV reader may take for numbers, nulls, dates, quotes or comments.
    names = [
        "007",
        "NA",
        "null",
        "nan",
        "1e5",
        '"x',
        "a#1",
        "a,b",
        "http://x/?y=1#z",
        "ü",
        "'",
        "\\",
    ]
    text = "".join(f"{name} Q0 {name} 1 1 {name}\n" for name in names)
    with pytest.warns(HarnessWarning, match="^a.run: 12 tags in one run"):
        run = readers.read_run(write("a.run", text))
    assert run.to_dict() == {name: {name: 1.0} for name in names}
    assert run.tags == tuple(names)


def test_of_many_tags_a_thousand_are_kept(write: Write) -> None:
    text = "".join(f"q Q0 d{i} 1 {i} t{i % 2500}\n" for i in range(5000))
    with pytest.warns(HarnessWarning, match="^a.run: at least 1,000 tags in one run: 't0', 't1', "):
        run = readers.read_run(write("a.run", text))
    assert run.tags == tuple(f"t{i}" for i in range(1000))


@pytest.mark.parametrize("more", ["", "301 Q0 e 2 0.5 t\n"])
def test_a_word_in_place_of_the_only_scores(write: Write, more: str) -> None:
    with pytest.raises(InputError) as error:
        readers.read_run(write("a.run", f"301 Q0 DOC 1 x t\n{more}"))
    assert str(error.value).startswith("a.run:1: score 'x' is not a number\n")  # and no header
    with pytest.raises(InputError, match=r"^a\.run: in no format of a run known"):
        readers.read_run(write("a.run", "the one with 3 big words\n"))


def test_scores_have_every_bit(write: Write) -> None:
    texts = ["0.1", "1e-320", "123456789.123456789", "2.2250738585072011e-308", "9007199254740993"]
    text = "".join(f"q Q0 d{i} 1 {score} t\n" for i, score in enumerate(texts))
    assert readers.read_run(write("a.run", text)).scores.tolist() == [float(t) for t in texts]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "301 Q0 FT934-5418 17 nan bm25",
            "a.run:2: score 'nan' is not a finite number\n"
            "  found: 301 Q0 FT934-5418 17 nan bm25\n"
            "  fix:   repair the system's output, or delete the line",
        ),
        ("301 Q0 x 17 -inf t", "a.run:2: score '-inf' is not a finite number\n"),
        ("301 Q0 x 17 1e999 t", "a.run:2: score '1e999' is not a finite number\n"),
        ("301 Q0 x 17 high t", "a.run:2: score 'high' is not a number\n"),
        ("301 Q0 x 17 1_0 t", "a.run:2: score '1_0' is not a number\n"),
        ("301 Q0 x 17 0x10 t", "a.run:2: score '0x10' is not a number\n"),
        (
            "301 Q0 x 17 t",
            "a.run:2: 5 fields where 6 belong (qid Q0 docno rank score tag)\n"
            "  found: 301 Q0 x 17 t\n"
            "  fix:   repair or delete the line",
        ),
        ("301 Q0 x  1.0 t", "a.run:2: 5 fields where 6 belong (qid Q0 docno rank score tag)\n"),
        (" 301 Q0 x 1 1.0", "a.run:2: 5 fields where 6 belong (qid Q0 docno rank score tag)\n"),
        ("301 Q0 x 1 1.0 ", "a.run:2: 5 fields where 6 belong (qid Q0 docno rank score tag)\n"),
        ("301", "a.run:2: 1 field where 6 belong (qid Q0 docno rank score tag)\n"),
        (
            "301 Q0 d1 2 0.5 t",
            "a.run:2: the docno stands already on line 1, for the same query\n"
            "  found: 301 Q0 d1 2 0.5 t\n"
            "  fix:   keep one: 'duplicates: last' (or first) in the file's own entry of a config, "
            "as in runs: {NAME: {path: ..., duplicates: last}}; --duplicates last on the "
            "command line",
        ),
    ],
)
def test_run_lines_that_are_refused(write: Write, line: str, message: str) -> None:
    text = f"301 Q0 d1 1 2.0 t\n{line}\n301 Q0 d9 3 0.1 t\n"
    for read in (readers.read_run, lambda path: list(readers.stream_run(path))):
        with pytest.raises(InputError) as error:
            read(write("a.run", text))
        assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "q1 0 d1 0.5",
            "q.txt:2: grade '0.5' is not a whole number\n"
            "  found: q1 0 d1 0.5\n"
            "  fix:   judgements are integers; scale or round them",
        ),
        ("q1 0 d1 nan", "q.txt:2: grade 'nan' is not a finite number\n"),
        ("q1 0 d1 x", "q.txt:2: grade 'x' is not a number\n"),
        ("q1 0 d1", "q.txt:2: 3 fields where 4 belong (qid iteration docno grade)\n"),
        ("q1 0 d1 1 1", "q.txt:2: 5 fields where 4 belong (qid iteration docno grade)\n"),
        ("q0 0 d0 1", "q.txt:2: the docno stands already on line 1, for the same query\n"),
    ],
)
def test_qrels_lines_that_are_refused(write: Write, line: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        readers.read_qrels(write("q.txt", f"q0 0 d0 1\n{line}\nq2 0 d2 1\n"))
    assert str(error.value).startswith(message)


def test_lines_are_counted_past_comments_and_blank_lines(write: Write) -> None:
    text = "# a\n\n# b\nq Q0 d1 1 1 t\nq Q0 d2 1 1 t\n\nq Q0 d1 1 1 t\nq Q0 d3 1 x t\n"
    with pytest.raises(InputError, match=r"^a\.run:8: score 'x'"):
        readers.read_run(write("a.run", text))
    with pytest.raises(InputError, match=r"^a\.run:7: the docno stands already on line 4"):
        readers.read_run(write("a.run", text.replace("x", "0")))


def test_the_first_ten_problems_and_the_count_of_all(write: Write) -> None:
    text = "q Q0 d 1 1 t\n" + "".join(f"q Q0 d{i} 1 nan t\n" for i in range(25))
    with pytest.raises(InputError) as error:
        readers.read_run(write("a.run", text))
    assert error.value.total == 25
    assert len(error.value.problems) == 10
    assert str(error.value).endswith("\n... and 15 more")


def test_bytes_that_are_not_utf8(write: Write) -> None:
    with pytest.raises(InputError) as error:
        readers.read_run(write("a.run", b"q Q0 d1 1 2 t\nq Q0 d\xe9 1 1 t\nq Q0 d3 1 0 t\n"))
    assert str(error.value).startswith("a.run:2: the line is not UTF-8 text\n")


@pytest.mark.parametrize(("policy", "score"), [("last", 0.25), ("first", 1.0)])
def test_duplicates_on_request(write: Write, policy: str, score: float) -> None:
    text = "q Q0 d1 1 1 t\nq Q0 d2 2 0.5 t\nq Q0 d1 3 0.25 t\n"
    path = write("a.run", text)
    with pytest.warns(HarnessWarning) as caught:
        run = readers.read_run(path, duplicates=policy)  # type: ignore[arg-type]
    assert run.to_dict() == {"q": {"d1": score, "d2": 0.5}}
    assert [str(w.message) for w in caught] == [
        f"a.run: 1 row of 1 query repeats a docno and was dropped; the {policy} of each is kept"
    ]


def test_dropped_rows_are_counted_over_a_stream(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    # q0, q3, ... q27, ten queries, hold both documents three times: 2 x 2 rows too many each
    rows = [f"q{q} Q0 d{d} 1 {d} t\n" for q in range(30) for d in [0, 1] * (1 if q % 3 else 3)]
    path = write("a.run", "".join(rows))
    monkeypatch.setattr(Source.blocks, "__defaults__", (64,))
    for read in (readers.read_run, lambda path, **how: list(readers.stream_run(path, **how))):
        with pytest.warns(HarnessWarning) as caught:
            read(path, duplicates="first")
        assert [str(w.message) for w in caught] == [
            "a.run: 40 rows of 10 queries repeat a docno and were dropped; "
            "the first of each is kept"
        ]


def test_dropped_judgements_are_counted(write: Write) -> None:
    text = "a 0 x 1\nb 0 x 1\na 0 x 2\nb 0 y 1\nb 0 x 0\nb 0 x 2\n"
    with pytest.warns(HarnessWarning) as caught:
        qrels = readers.read_qrels(write("q.txt", text), duplicates="last")
    assert qrels.to_dict() == {"a": {"x": 2}, "b": {"x": 2, "y": 1}}
    assert str(caught[-1].message) == (
        "q.txt: 3 rows of 2 queries repeat a docno and were dropped; the last of each is kept"
    )


def test_a_header_line_is_named_as_one(write: Write) -> None:
    text = "qid Q0 docno rank score tag\nq Q0 d1 1 1 t\nq Q0 d2 1 1 t\n"
    with pytest.raises(InputError) as error:
        readers.read_run(write("a.run", text))
    assert str(error.value) == (
        "a.run:1: score 'score' is not a number; it looks like a header line\n"
        "  found: qid Q0 docno rank score tag\n"
        "  fix:   delete the header line"
    )


def test_a_cut_last_line(write: Write) -> None:
    text = "q Q0 d1 1 2 Anserini\nq Q0 d2 2 1 Anserini\n"
    with pytest.raises(InputError) as error:
        readers.read_run(write("a.run", text + "q Q0 d3 3 0."))
    assert str(error.value) == (
        "a.run:3: the file ends in the middle of a line: 5 fields where 6 belong "
        "(qid Q0 docno rank score tag)\n"
        "  found: q Q0 d3 3 0.\n"
        "  fix:   get the whole file: lines after this one may be lost too"
    )
    message = "a.run: the last line may be cut: it has no line end, and its tag 'Anse' is the "
    for read in (readers.read_run, lambda path: list(readers.stream_run(path))):
        with pytest.warns(HarnessWarning, match=message):  # and nothing of two tags
            read(write("a.run", text + "q Q0 d3 3 0.5 Anse"))
    assert readers.read_run(write("a.run", text.rstrip())).n_rows == 2  # nothing to warn of


def test_scattered_queries_are_gathered_with_a_warning(write: Write) -> None:
    text = "q1 Q0 d1 1 9 t\nq2 Q0 d1 1 8 t\nq1 Q0 d2 2 7 t\nq3 Q0 d1 1 6 t\nq2 Q0 d2 2 5 t\n"
    with pytest.warns(HarnessWarning) as caught:
        run = readers.read_run(write("a.run", text))
    assert [str(w.message) for w in caught] == [
        "a.run: 2 queries come back after another began; the rows were gathered by qid"
    ]
    assert run.to_dict() == {"q1": {"d1": 9, "d2": 7}, "q2": {"d1": 8, "d2": 5}, "q3": {"d1": 6}}


@pytest.mark.parametrize("duplicates", ["first", "last"])
def test_the_first_row_that_came_back_is_named_where_rows_are_dropped(
    write: Write, duplicates: Literal["first", "last"]
) -> None:
    # line 2 is the first line's document again; line 4 is the first whose query came back, and
    # itself dropped by 'first', as line 5 repeats it by 'last'
    text = "q1 Q0 d1 1 9 t\nq1 Q0 d1 1 9 t\nq2 Q0 d1 1 8 t\nq1 Q0 d1 2 7 t\nq1 Q0 d1 3 6 t\n"
    with pytest.warns(HarnessWarning) as caught:
        readers.read_run(write("a.run", text), duplicates=duplicates)
    said = [one.message for one in caught if isinstance(one.message, HarnessWarning)]
    (back,) = [one for one in said if one.rule == "scattered-queries"]
    assert (back.line, back.examples) == (4, ("q1 Q0 d1 2 7 t",))


WORD = st.text(st.characters(codec="ascii", min_codepoint=33, max_codepoint=126), min_size=1)
GAP = st.sampled_from([" ", "\t", "  ", " \t", "\t\t"])
EDGE = st.sampled_from(["", " ", "\t", "  "])


@st.composite
def trec_lines(draw: st.DrawFn) -> list[str]:
    lines = []
    for number in range(draw(st.integers(1, 6))):
        score = draw(st.floats(allow_nan=False, allow_infinity=False))
        qid = draw(WORD.filter(lambda word: word.strip("#")))  # "# ..." at the head is a comment
        words = [qid, draw(WORD), f"d{number}", draw(WORD), repr(score), draw(WORD)]
        words += draw(st.lists(WORD, max_size=2))
        gaps = [draw(GAP) for _ in words[1:]] + [draw(EDGE)]
        line = draw(EDGE) + "".join(a + b for a, b in zip(words, gaps, strict=True))
        lines.append(line + draw(st.sampled_from(["", "\r"])))
        lines += draw(st.sampled_from([[], [""], ["  "]]))
    return draw(st.sampled_from([[], ["# a b"], ["", "#", "#x 1"]])) + lines


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=trec_lines())
def test_the_fast_way_reads_what_a_plain_loop_reads(write: Write, lines: list[str]) -> None:
    expected: dict[str, dict[str, float]] = {}
    for line in lines:
        fields = line.split()
        if len(fields) >= 6:
            expected.setdefault(fields[0], {})[fields[2]] = float(fields[4])
    if not expected:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HarnessWarning)
        run = readers.read_run(write("a.run", "\n".join(lines) + "\n"), format="trec")
    assert run.to_dict() == expected


def test_check_line_agrees_with_the_fast_way() -> None:
    assert columns.check_line(b"q Q0 d 1 1.0 t", trec.RUN) is None
    assert columns.check_line(b"q\tQ0  d 1 1.0 t more", trec.RUN) is None


def test_ranks_that_contradict_scores(write: Write) -> None:
    # q1 by rank: 1.5, 2.5 (higher), 0.5; q2: 1, 1; ranks 1 and 1 of q3 say nothing
    rows = ["q1 Q0 d1 1 1.5 t", "q2 Q0 d1 1 1 t", "q3 Q0 d1 1 1 t", "q3 Q0 d2 1 2 t"]
    rows += ["q2 Q0 d2 2 1 t", "q1 Q0 d3 3 0.5 t"]
    text = "\n".join(sorted(rows))
    assert readers.read_run(write("a.run", text)).n_rows == 6
    assert readers.read_run(write("a.run", text.replace("d3 3", "d3 three"))).n_rows == 6
    path = write("a.run", "q1 Q0 d2 2 2.5 t\n" + text)
    message = (
        "a.run: of 7 rows, 1 has a higher score than the row ranked before; "
        "the scores decide the order, and the ranks are not used, as in trec_eval"
    )
    for read in (readers.read_run, lambda path: list(readers.stream_run(path))):
        with pytest.warns(HarnessWarning) as caught:
            read(path)
        assert [str(w.message) for w in caught] == [message]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_ranks_that_contradict_scores_far_into_a_long_run(
    write: Write, pack: Callable[[bytes], bytes]
) -> None:
    rows = [
        f"q{query} Q0 d{row} {row} {9 - row} tag\n" for query in range(25_000) for row in range(9)
    ]
    rows += [f"last Q0 d{row} {9 - row} {9 - row} tag\n" for row in range(9)]  # upside down
    text = "".join(rows).encode()
    assert len(text) > BLOCK
    with pytest.warns(HarnessWarning) as caught:
        list(readers.stream_run(write("a.run", pack(text)), format="trec"))
    found = re.fullmatch(
        r".*: of ([\d,]+) rows looked at, from all over the file, 8 have a higher score than .*",
        str(caught[0].message),
    )
    assert found is not None
    assert int(found[1].replace(",", "")) < len(rows)


def test_queries_without_a_usable_judgement(write: Write) -> None:
    text = "q1 0 d1 -1\nq1 0 d2 0\nq2 0 d1 -1\nq2 0 d2 -2\n"
    message = "has no usable judgement: every grade is below 0, which means not judged"
    with pytest.warns(HarnessWarning, match=f"^q.txt: 1 query {message}$"):
        qrels = readers.read_qrels(write("q.txt", text))
    assert qrels.to_dict() == {"q1": {"d1": -1, "d2": 0}, "q2": {"d1": -1, "d2": -2}}
    with pytest.warns(HarnessWarning, match="^q.txt: 2 queries have no usable judgement"):
        readers.read_qrels(write("q.txt", text.replace("d2 0", "d2 -1")))


@given(st.lists(st.sampled_from(["a", "aa", "aaa", "ab", "é", "b"]), min_size=1))
@example(["aa", "a", "aaa"])  # of one length on the whole
@example(["é", "é"])
def test_tags_are_the_distinct_ones(tags: list[str]) -> None:
    table = gathered([pa.table({"tag": string_column(["z", *tags])}).slice(1)])
    assert trec.tags_of(table) == tuple(dict.fromkeys(tags))
