"""The registry of formats, and the guess."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from run_parts import run_parts

from harness import readers
from harness.core.qrels_and_runs import Qrels
from harness.errors import InputError

Write = Callable[..., str]


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
        ("run", "a", "q Q0 d 1 0x10 t\n", "trec"),
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


def test_the_format_of_contributing(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers.format, "FORMATS", dict(readers.FORMATS))
    page = Path(__file__).parents[2] / "CONTRIBUTING.md"
    (code,) = re.findall(r"## Add a format.*?```python\n(.*?)```", page.read_text("utf-8"), re.S)
    exec(code, dict(vars(readers.trec)))
    path = write("a.txt", "doc-7 q10 0.5\ndoc-3 q2 1e-3\ndoc-9 q10 2\n")
    assert readers.guess_format(path, "run") == "docno-first"
    assert readers.read_run(path).to_dict() == {
        "q10": {"doc-7": 0.5, "doc-9": 2},
        "q2": {"doc-3": 0.001},
    }


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
    assert [part.to_dict() for part in run_parts(path, columns=columns)] == [run]
    qrels = Qrels.from_dict({"1": {"a": 1}})
    assert [part.n_queries for part in readers.align_run(qrels, path, columns=columns)] == [1]


BLANK = ["", "\n", "\t\t", "\t\n", " \n \n", "\r\n\r\n", "\v", "# none\n"]
READ = {"qrels": readers.read_qrels, "run": readers.read_run}


@pytest.mark.parametrize("name", sorted(readers.FORMATS))
def test_nothing_but_white_space(write: Write, name: str) -> None:
    known = readers.FORMATS[name]
    for text, (kind, read) in itertools.product(BLANK, READ.items()):
        path = write("f", text)
        if known.reader(kind) is not None:  # type: ignore[arg-type]
            with pytest.raises(InputError, match=r"^f(?::\d+)?: "):
                read(path, format=name)  # type: ignore[operator]
