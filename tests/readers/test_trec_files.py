"""TREC qrels and runs, MS MARCO and BEIR: dialects, warnings, and a run in parts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from outcomes import refused, warned
from refusals import refuses
from run_parts import run_parts

from harness import readers
from harness.core.align import align
from harness.core.qrels_and_runs import Qrels
from harness.errors import HarnessError, InputError
from harness.readers.format import ScatteredQueries
from harness.readers.source import Source

Write = Callable[..., str]
RUN = {"q1": {"d1": 1.5, "d2": 0.5}, "q2": {"d1": -2.0}}


def whole(path: str, **options: object) -> None:
    readers.read_run(path, **options)  # type: ignore[arg-type]


def in_parts(path: str, **options: object) -> None:
    list(run_parts(path, **options))


BOTH = [whole, in_parts]


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
        "\ufeffq1 Q0 d1 1 1.5 t\nq1 Q0 d2 2 0.5 t\nq2\vQ0\fd1 1 -2 t\n",
    ],
)
@pytest.mark.filterwarnings("ignore:.*more than 6 fields")
def test_run_dialects(write: Write, text: str) -> None:
    run = readers.read_run(write("a.run", text), format="trec")
    assert (run.to_dict(), run.tags, run.name) == (RUN, ("t",), "a.run")


@pytest.mark.parametrize(
    "text",
    [
        "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n",
        "q1\t0\td1\t2\r\nq1\t0\td2\t0\r\nq2\t0\td1\t1\r\n",
        "q1  0  d1   2\nq1 0.5 d2 0.0\nq2 1 d1 1.0",
        "# comment\n# another\nq1 0 d1 2.0\nq1 0 d2 0\nq2 0 d1 1\n",
    ],
)
def test_qrels_dialects(write: Write, text: str) -> None:
    expected = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}
    assert readers.read_qrels(write("q.txt", text)).to_dict() == expected


def test_beir_and_msmarco(write: Write) -> None:
    text = "query-id\tcorpus-id\tscore\nPLAIN-2\tMED-2427\t2\nPLAIN-2\tMED-10\t0\n1\t31715818\t1\n"
    qrels = readers.read_qrels(write("test.tsv", text))
    assert qrels.to_dict() == {"PLAIN-2": {"MED-2427": 2, "MED-10": 0}, "1": {"31715818": 1}}
    run = readers.read_run(write("run.tsv", "174249\tD399\t1\n174249\tD21\t2\n3\tD1\t1\n"))
    assert run.to_dict() == {"174249": {"D399": -1, "D21": -2}, "3": {"D1": -1}}
    qrels = readers.read_qrels(write("q.tsv", "2\t0\tD1\t1\r\n3\t0\tD1\t1\r\n"), format="msmarco")
    assert qrels.to_dict() == {"2": {"D1": 1}, "3": {"D1": 1}}


# Warnings: rule, count and line.


@pytest.mark.parametrize("read", BOTH)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("q Q0 d1 1 2 Anserini\nq Q0 d2 2 1 Anserini\nq Q0 d3 3 0.5 Anse", ("cut-line", 1, 3)),
        ("q Q0 d1 1 2 t\nq Q0 d2 2 1 t u v\nq Q0 d3 3 0 t\n", ("extra-fields", 1, 2)),
        ("a Q0 d 1 2 t\nb Q0 d 1 2 u\nc Q0 d 1 2 v\n", ("several-tags", 2, 2)),
        ("q2 Q0 e 1 9 t\nq1 Q0 d2 2 2.5 t\nq1 Q0 d1 1 1.5 t\n", ("ranks-against-scores", 1, 3)),
        ("q Q0 d1 1 1 t\nq Q0 d2 2 1 t\n", ("constant-scores", 1, 0)),
    ],
)
def test_warnings_of_a_run(
    write: Write, read: Callable[..., None], text: str, expected: tuple[str, int, int]
) -> None:
    assert warned(read, write("a.run", text))[1] == [expected]
    assert warned(read, write("a.run", "q Q0 d1 1 2 t\nq Q0 d2 2 1 t"))[1] == []


def test_the_last_judgement_counts_on_request(write: Write) -> None:
    text = "a 0 x 1\nb 0 x 1\na 0 x 2\nb 0 y 1\nb 0 x 0\nb 0 x 2\n"
    qrels, found = warned(readers.read_qrels, write("q.txt", text), duplicates="last")
    assert qrels.to_dict() == {"a": {"x": 2}, "b": {"x": 2, "y": 1}}
    assert [(rule, count) for rule, count, _ in found] == [
        ("gathered-queries", 2), ("dropped-rows", 3)
    ]  # fmt: skip


def test_scores_that_equal_grades(write: Write) -> None:
    grades = {f"q{q}": {f"d{d}": d % 3 for d in range(10)} for q in range(2)}
    rows = [(q, d, grade) for q, of in grades.items() for d, grade in of.items()]
    for changed, expected in ((0, ["labels-as-scores"]), (2, [])):  # 18 of 20 equal
        text = "".join(
            f"{q} Q0 {d} 0 {g + (at < changed)} t\n" for at, (q, d, g) in enumerate(rows)
        )
        path = write("a.run", text)
        _, found = warned(lambda path: list(readers.align_run(Qrels.from_dict(grades), path)), path)
        assert [rule for rule, _, _ in found] == expected


# A run in parts equals the whole run.


def lines(qids: list[int]) -> str:
    return "".join(f"q{q} Q0 d{i} 1 {1000 - i} t\n" for i, q in enumerate(qids))


@pytest.fixture(params=[16, 50, 100])
def _small_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Source.blocks, "__defaults__", (request.param,))


@pytest.mark.usefixtures("_small_blocks")
def test_parts_hold_whole_queries(write: Write) -> None:
    path = write("a.run", lines([1, 1, 1, 2, 3, 3, 4, 4, 4, 4, 5]))
    parts = list(run_parts(path))
    assert len(parts) > 1
    joined = {qid: row for part in parts for qid, row in part.to_dict().items()}
    assert joined == readers.read_run(path).to_dict()
    qids = [qid for part in parts for qid in part.qids.to_pylist()]
    assert qids == ["q1", "q2", "q3", "q4", "q5"]
    twice = write("b.run", lines([1, 1, 1, 2, 3, 3, 4, 4]) + "q4 Q0 d7 1 5 t\n")
    assert refused(in_parts, twice) == [("b.run:9", "duplicates")]
    # q0, q3, ... q27 hold both documents three times: 2 x 2 rows too many each
    rows = [f"q{q} Q0 d{d} 1 {d} t\n" for q in range(30) for d in [0, 1] * (1 if q % 3 else 3)]
    for read in BOTH:
        _, found = warned(read, write("c.run", "".join(rows)), duplicates="first")
        assert [(rule, count) for rule, count, _ in found] == [("dropped-rows", 40)]
    tags = write("d.run", "".join(f"q{at} Q0 d 1 1 tag{at % 7}\n" for at in range(20)))
    for read in BOTH:
        assert [one[:2] for one in warned(read, tags)[1]] == [("several-tags", 6)]


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize(
    ("qids", "scattered"),
    [([1, 2, 3, 4, 5, 6, 7, 8] * 5, True), ([q for q in range(20) for _ in range(7)], False)],
)
def test_streamed_alignment_is_that_of_the_whole(
    write: Write, qids: list[int], scattered: bool
) -> None:
    path = write("a.run", lines(qids))
    if scattered:
        with pytest.raises(ScatteredQueries):
            in_parts(path)
    qrels = Qrels.from_dict(
        {"q1": {"d0": 1, "d32": 0, "d5": 1}, "q8": {"d39": 2}, "q99": {"d1": 1}, "q3": {"d24": 2}}
    )
    run, _ = warned(readers.read_run, path)
    expected = align(qrels, run)
    (streamed,), found = warned(lambda path: list(readers.align_run(qrels, path)), path)
    assert [rule for rule, _, _ in found] == ["gathered-queries"] * scattered
    for name in ("offsets", "rank", "grade", "score", "n_retrieved", "n_tied", "answered"):
        assert getattr(streamed, name).tolist() == getattr(expected, name).tolist()
    assert streamed.n_extra == expected.n_extra


REPEATED = [("2", "d", 1.5), ("10", "e", 0.5), ("2", "d", 3.5), ("2", "c", 2.5), ("2", "d", 3.5),
            ("10", "e", 0.25), ("1", "=", -1.0), ("1", "=", -2.0)]  # fmt: skip


@pytest.mark.parametrize("order", ["descending", "ascending"])
@pytest.mark.parametrize("form", ["trec", "table", "jsonl", "json"])
def test_the_best_of_repeated_rows_is_kept(write: Write, form: str, order: Any) -> None:
    choose, sign = (max, 1) if order == "descending" else (min, -1)
    best: dict[str, dict[str, float]] = {}
    for qid, docno, score in REPEATED:
        rows = best.setdefault(qid, {})
        rows[docno] = choose(rows.get(docno, score), score)
    lines = {
        "trec": [f"{qid} Q0 {docno} 1 {score} t" for qid, docno, score in REPEATED],
        "table": ["qid,docno,score", *(f"{q},{docno},{score}" for q, docno, score in REPEATED)],
        "jsonl": [
            f'{{"qid": "{qid}", "docno": "{docno}", "score": {score}}}'
            for qid, docno, score in REPEATED
        ],
        "json": ["{", ",\n".join(f'"{q}": {{"{d}": {score}}}' for q, d, score in REPEATED), "}"],
    }
    path = write("a.txt", "\n".join(lines[form]) + "\n")
    how: Any = {"duplicates": "best", "order": order}
    run, found = warned(readers.read_run, path, **how)
    signed = {q: {d: sign * score for d, score in rows.items()} for q, rows in best.items()}
    assert run.to_dict() == signed
    assert ("dropped-rows", 4) in [one[:2] for one in found] or form == "json"
    qrels = Qrels.from_dict({"2": {"d": 1, "c": 0}, "10": {"e": 1}, "1": {"=": 1}})
    (aligned,), _ = warned(lambda path: [*readers.align_run(qrels, path, **how)], path)
    assert aligned.n_retrieved.tolist() == [2, 1, 1]
    assert {*aligned.score.tolist()} == {
        score for rows in signed.values() for score in rows.values()
    }
    with refuses("duplicates", error=HarnessError):
        readers.read_qrels(path, duplicates="best")  # type: ignore[arg-type]


def test_ranks_have_one_order(write: Write) -> None:
    for path in (write("a.tsv", "1\tx\t1\n1\ty\t2\n"), write("b.csv", "qid,docno,rank\n1,x,1\n")):
        with refuses(path, "columns"):
            readers.read_run(path, order="ascending")


RANKING = "2\t7\t{}\t9.5\n2\t1\t{}\t9.25\n2\t3\t{}\t-1\n10\t1\t{}\t0.5\n10\t2\t{}\t.25\n"


@pytest.mark.parametrize("first", [0, 1])
def test_rankings_with_scores(write: Write, first: int) -> None:
    path = write("r.tsv", RANKING.format(*(first + at for at in (0, 1, 2, 0, 1))))
    assert readers.guess_format(path, "run") == "ranking"
    expected = {"2": {"7": 9.5, "1": 9.25, "3": -1}, "10": {"1": 0.5, "2": 0.25}}
    assert readers.read_run(path).to_dict() == expected
    path = write("s.tsv", RANKING.format(1, 3, 2, 1, 2))
    with refuses(f"{path}:1", "columns"):  # its ranks do not count
        readers.read_run(path)
    run, found = warned(readers.read_run, path, format="ranking")
    assert (run.to_dict(), found) == (expected, [("ranks-against-scores", 1, 3)])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("1 0 7 2\n1 0 8 0\n2 0 7 1\n", ""),  # qrels, whose docnos count
        ("1 Q0 1 2\n1 Q0 2 0\n", ""),
        ("1 0 1 2\n", ""),
        ("3 a 1 0.5\n5 b 1 0.25\n", "ranking"),
        ("3 a 2 0.5\n3 b 1 0.25\n", ""),
        ("3 a 0\n3 b 1\n3 c 2\n8 a 0\n", "msmarco"),
        ("3 a 0\n3 b 1\n8 a 0\n", ""),  # perhaps grades
        ("3 a 1\n8 b 1\n5 c 1\n", ""),
        ("3 a 1\n3 b 2\n8 a 1\n", "msmarco"),
    ],
)
def test_ranks_or_grades(write: Write, text: str, name: str) -> None:
    for path in (write("a.txt", text), write("b.tsv", text.replace(" ", "\t"))):
        if name:
            assert readers.guess_format(path, "run") == name
        else:
            with pytest.raises(InputError):
                readers.guess_format(path, "run")


@pytest.mark.parametrize("n_queries", [1, 3])
def test_docnos_in_the_column_of_q0_are_one_error(tmp_path: Path, n_queries: int) -> None:
    rows = [(qid, docno) for docno in "abc" for qid in range(10, 10 + n_queries)]
    (tmp_path / "a.run").write_text(
        "".join(f"{q} {d} Q0 1 {at} t\n" for at, (q, d) in enumerate(rows))
    )
    (tmp_path / "q.txt").write_text("".join(f"{q} {d} 0 1\n" for q, d in rows))
    for name, read in (("a.run", readers.read_run), ("q.txt", readers.read_qrels)):
        with refuses(f"{name}:1", "columns") as caught:
            read(Source(tmp_path / name))
        assert len(caught.value.problems) == 1
        assert caught.value.problems[0].fix.endswith("in column 2 and the docno in column 3")
