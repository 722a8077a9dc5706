"""BEIR, MS MARCO, JSON and JSON lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness import readers
from harness.errors import HarnessWarning, InputError

Write = Callable[..., str]


def test_beir(write: Write) -> None:
    text = "query-id\tcorpus-id\tscore\nPLAIN-2\tMED-2427\t2\nPLAIN-2\tMED-10\t0\n1\t31715818\t1\n"
    qrels = readers.read_qrels(write("test.tsv", text))
    assert qrels.to_dict() == {"PLAIN-2": {"MED-2427": 2, "MED-10": 0}, "1": {"31715818": 1}}
    with pytest.raises(InputError, match=r"^test\.tsv:3: grade 'x' is not a number"):
        readers.read_qrels(write("test.tsv", text.replace("\t0", "\tx")))
    with pytest.raises(InputError, match=r"^test\.tsv:5: the docno stands already on line 3"):
        readers.read_qrels(write("test.tsv", text + "PLAIN-2\tMED-10\t1\n"))


def test_msmarco(write: Write) -> None:
    text = "174249\tD399803\t1\n174249\tD2132054\t2\n3\tD1\t1\n"
    run = readers.read_run(write("run.tsv", text))
    assert run.to_dict() == {"174249": {"D399803": -1, "D2132054": -2}, "3": {"D1": -1}}
    qrels = readers.read_qrels(write("q.tsv", "2\t0\tD1\t1\r\n3\t0\tD1\t1\r\n"), format="msmarco")
    assert qrels.to_dict() == {"2": {"D1": 1}, "3": {"D1": 1}}


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ("17", "run.tsv:3: the file ends in the middle of a line: 1 field where 3 belong "),
        (
            "174249\tD3",
            "run.tsv:3: the file ends in the middle of a line: 2 fields where 3 belong ",
        ),
        ("174249\tD3\t1.5\n", "run.tsv:3: rank '1.5' is not a whole number"),
        ("174249\tD2132054\t3\n", "run.tsv:3: the docno stands already on line 2"),
    ],
)
def test_msmarco_refused(write: Write, last: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        readers.read_run(write("run.tsv", f"174249\tD399803\t1\n174249\tD2132054\t2\n{last}"))
    assert str(error.value).startswith(message)


def test_msmarco_cut_within_a_rank(write: Write) -> None:
    text = "".join(f"q\tD{rank}\t{rank}\n" for rank in range(1, 25))
    with pytest.warns(HarnessWarning) as caught:
        readers.read_run(write("run.tsv", text + "q\tD25\t2"))
    assert [str(w.message) for w in caught] == [
        "run.tsv: the last line may be cut: it has no line end, and rank 2 stands where 25 belongs"
    ]
    assert readers.read_run(write("run.tsv", text + "q\tD25\t25")).n_rows == 25


def test_json(write: Write) -> None:
    path = write("q.json", '{"q1": {"d1": 2, "d2": 0.0}, "q2": {}, "q3": {"d1": 1}}')
    assert readers.read_qrels(path).to_dict() == {
        "q1": {"d1": 2, "d2": 0},
        "q2": {},
        "q3": {"d1": 1},
    }
    path = write("r.json", '{\n  "q1": {\n    "d1": 0.5,\n    "d2": -1e3}}')
    assert readers.read_run(path).to_dict() == {"q1": {"d1": 0.5, "d2": -1000}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"q": {"d": 1},\n"x"}', "a.json:2: not JSON (Expecting ':' delimiter, column 4)"),
        ('{"q": {"d": NaN}}', "a.json: query 'q', docno 'd': score NaN is not a finite number"),
        ('{"q": {"d": "1"}}', "a.json: query 'q', docno 'd': score \"1\" is not a number"),
        ('{"q": {"d": true}}', "a.json: query 'q', docno 'd': score true is not a number"),
        ('{"q": {"d": null}}', "a.json: query 'q', docno 'd': score null is not a number"),
        (
            '{"q": {"d": 1, "e": 2, "d": 3}}',
            "a.json: a key stands twice in one object\n  found: d\n"
            "  fix:   keep one: 'duplicates: last' (or first) in the file's own entry of a config, "
            "as in runs: {NAME: {path: ..., duplicates: last}}; --duplicates last on the "
            "command line",
        ),
        (
            '{"q": {"d": 1}, "q": {"e": 1}}',
            "a.json: a key stands twice in one object\n  found: q\n",
        ),
        ('{"q": {"d": 1}, "p": 3}', "a.json: not a mapping of qid to docno to number\n"),
        ('{"q": {}}', "a.json: the file holds no rows\n"),
    ],
)
def test_json_refused(write: Write, text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        readers.read_run(write("a.json", text), format="json")
    assert str(error.value).startswith(message)


def test_json_grades_are_whole(write: Write) -> None:
    with pytest.raises(InputError) as error:
        readers.read_qrels(write("a.json", '{"q": {"d": 0.5}}'))
    assert str(error.value) == "a.json: query 'q', docno 'd': grade 0.5 is not a whole number"


def test_json_duplicates_on_request(write: Write) -> None:
    path = write("a.json", '{"q": {"d": 1, "e": 2, "d": 3}}')
    for kept, score in (("last", 3), ("first", 1)):
        message = f"^a.json: 1 key stands twice in one object; the {kept} of each is kept$"
        with pytest.warns(HarnessWarning, match=message):
            run = readers.read_run(path, duplicates=kept)  # type: ignore[arg-type]
        assert run.to_dict() == {"q": {"d": score, "e": 2}}


def test_duplicates_on_request_in_other_formats(write: Write) -> None:
    message = "1 row of 1 query repeats a docno and was dropped; the last of each is kept"
    for name, text, read in (
        ("q.tsv", "query-id\tcorpus-id\tscore\nq\td\t1\nq\td\t2\n", readers.read_qrels),
        ("r.tsv", "q\td\t1\nq\td\t2\n", readers.read_run),
        ("r.csv", "qid,docno,score\nq,d,1\nq,d,2\n", readers.read_run),
        (
            "r.jsonl",
            '{"qid": "q", "docno": "d", "score": 1}\n{"qid": "q", "docno": "d", "score": 2}\n',
            readers.read_run,
        ),
    ):
        with pytest.warns(HarnessWarning) as caught:
            table = read(write(name, text), duplicates="last")
        assert abs(table.to_dict()["q"]["d"]) == 2
        assert [str(w.message) for w in caught] == [f"{name}: {message}"]


@pytest.mark.parametrize(
    "text",
    [
        '{"qid": "2020-01-01", "docno": "a", "score": 1}\n'
        '{"score": 0.5, "docno": "b", "qid": "2020-01-01"}\n',
        '{"query_id": "2020-01-01", "doc_id": "a", "sim": 1.0, "text": {"x": 1}}\r\n\r\n'
        '{"query_id": "2020-01-01", "doc_id": "b", "sim": 5e-1}',
    ],
)
def test_json_lines(write: Write, text: str) -> None:
    run = readers.read_run(write("r.jsonl", text), format="jsonl")
    assert run.to_dict() == {"2020-01-01": {"a": 1.0, "b": 0.5}}


def test_json_lines_with_numbers_for_names(write: Write) -> None:
    text = '{"qid": 1, "docno": 7, "grade": 1}\n{"qid": 1, "docno": 8, "grade": 2.0}\n'
    assert readers.read_qrels(write("q.jsonl", text)).to_dict() == {"1": {"7": 1, "8": 2}}


@pytest.mark.parametrize("names", [(7, '"8"'), ('"7"', 8)])
def test_json_lines_with_numbers_and_text_for_names(
    write: Write, names: tuple[int | str, int | str]
) -> None:
    text = "".join(
        f'{{"qid": 12345678901234567890, "docno": {name}, "score": {score}}}\n'
        for score, name in enumerate(names)
    )
    run = readers.read_run(write("r.jsonl", text))
    assert run.to_dict() == {"12345678901234567890": {"7": 0, "8": 1}}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"qid": 1.5, "docno": "b", "score": 1}',
            "r.jsonl:2: qid 1.5 is not a string or an integer\n"
            '  found: {"qid": 1.5, "docno": "b", "score": 1}\n'
            "  fix:   write it as text, in quotes",
        ),
        ('{"qid": "q", "docno": null, "score": 1}', "r.jsonl:2: docno null is not a string or"),
        ('{"qid": "q", "docno": true, "score": 1}', "r.jsonl:2: docno true is not a string or"),
        ("{", "r.jsonl:2: not JSON ("),
        ('{"qid": "q", "docno": "b"}', "r.jsonl:2: no key 'score'\n"),
        ('{"qid": "q", "docno": "b", "score": "x"}', 'r.jsonl:2: score "x" is not a number\n'),
        ('{"qid": "q", "docno": "a", "score": 2}', "r.jsonl:2: the docno stands already on line 1"),
    ],
)
def test_json_lines_refused(write: Write, line: str, message: str) -> None:
    text = f'{{"qid": "q", "docno": "a", "score": 1}}\n{line}\n'
    with pytest.raises(InputError) as error:
        readers.read_run(write("r.jsonl", text))
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.qrels", "q 0 d 1\nq 0 d 0\n"),
        ("a.json", '{"q": {"d": 1, "d": 0}}'),
        ("a.jsonl", '{"qid": "q", "docno": "d", "grade": 1}\n' * 2),
        ("a.csv", "qid,docno,grade\nq,d,1\nq,d,0\n"),
    ],
)
def test_a_pair_that_is_judged_twice(write: Write, name: str, text: str) -> None:
    """The entry of a config that lets one stay is that of a dataset, and not of a run."""
    with pytest.raises(InputError) as error:
        readers.read_qrels(write(name, text))
    (problem,) = error.value.problems
    assert problem.fix == (
        "keep one: 'duplicates: last' (or first) in the file's own entry of a config, as in "
        "datasets: {NAME: {path: ..., duplicates: last}}; --duplicates last on the command line"
    )


def test_a_row_that_is_judged_twice(tmp_path: Path) -> None:
    table = pa.table({"qid": ["q", "q"], "docno": ["d", "d"], "grade": [1, 0]})
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(InputError, match="as in datasets: "):
        readers.read_qrels(tmp_path / "a.parquet")
    pq.write_table(table.rename_columns(["qid", "docno", "score"]), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="as in runs: "):
        readers.read_run(tmp_path / "a.parquet")
