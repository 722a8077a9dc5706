"""``harness check --topics``: submissions to a shared task, before judgements exist."""

import gzip
import json
from pathlib import Path

import pytest
from command_line import called

from harness.errors import HarnessWarning, InputError
from harness.guard.submissions import Collection, Terms, read_topics
from harness.readers.groups import teams_of
from harness.readers.source import Source
from harness.readers.texts_by_id import read_texts


def rows(tag: str, *, prefix: str = "", qids: str = "123456", scale: float = 1.0) -> str:
    return "".join(
        f"{prefix}{q} Q0 d{d} {d + 1} {scale * (int(q) + 9 - d)} {tag}\n"
        for q in qids for d in range(8)
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("topics.txt").write_text("".join(f"{q}\tquery {q}\n" for q in "123456"))
    Path("docnos.txt").write_text("".join(f"d{n}\n" for n in range(30)))
    Path("good.run").write_text(rows("good"))
    return tmp_path


def verdicts(*words: str) -> tuple[int, dict[str, list[str]]]:
    done = called("check", *words, "--format", "json")
    found = json.loads(done.out)["verdicts"]
    return done.code, {one["run"]: [one["verdict"], one["reason"]] for one in found}


ALL = ("--topics", "topics.txt", "--docnos", "docnos.txt")


def test_runs_that_are_accepted(folder: Path) -> None:
    (folder / "some.run").write_text(rows("some", qids="1234", scale=-1))  # two queries missing
    code, found = verdicts("good.run", "some.run", *ALL)
    assert code == 0
    assert found["good.run"] == ["OK", ""]
    assert found["some.run"][0] == "WARN"
    assert "no answer to 2 of 6 queries" in found["some.run"][1]
    assert verdicts("some.run", *ALL, "--strict")[0] == 1


def test_the_list_of_accepted_runs(folder: Path) -> None:
    (folder / "some.run").write_text(rows("some", qids="1234", scale=-1))
    (folder / "other.run").write_text(rows("other", prefix="Q"))
    (folder / "wrong.run").write_text("")
    runs = "good.run", "other.run", "some.run", "wrong.run"
    done = called("check", *runs, *ALL, "--format", "accepted")
    assert (done.code, done.out.split()) == (2, ["good.run", "some.run"])  # OK, and a warning
    (folder / "empty").write_text("")
    done = called("check", "empty", "good.run", "--max-runs", "2", "--format", "accepted")
    assert (done.code, done.out) == (2, "")  # compared with no queries


def test_a_tag_that_differs_from_the_name_of_the_file(folder: Path) -> None:
    with gzip.open("late.run.gz", "wt") as file:
        file.write(rows("first").replace("d7", "d9"))
    code, found = verdicts("good.run", "late.run.gz", *ALL)
    assert (code, found["late.run.gz"][0]) == (0, "WARN")
    assert "'first'" in found["late.run.gz"][1]
    code, found = verdicts("late.run.gz", *ALL)  # if most have other names, it is a note
    assert (code, found["late.run.gz"]) == (0, ["OK", ""])
    words = "check", "late.run.gz", *ALL
    findings = json.loads(called(*words, "--format", "json").out)["findings"]
    assert [(one["rule"], one["file"]) for one in findings] == [("tag-file-name", "late.run.gz")]
    assert "1 note not shown" in called(*words).out
    (line,) = called(*words, "--notes").out.splitlines()[1:]
    assert line.startswith("OK      late.run.gz  note: ")
    assert "'first'" in line


def test_copies_name_the_team_of_the_other_run(folder: Path) -> None:
    (folder / "mine.run").write_text(rows("mine"))
    words = "good.run", "mine.run", *ALL
    assert verdicts(*words)[1]["mine.run"][1].endswith("as in good.run")
    (folder / "teams.csv").write_text("run,team\ngood,north\nmine,south\n")
    _, found = verdicts(*words, "--teams", "teams.csv")
    assert {verdict for verdict, _ in found.values()} == {"WARN"}
    assert found["mine.run"][1].endswith("as in good.run of north")
    assert found["good.run"][1].endswith("as in mine.run of south")


def test_topics_that_the_terms_ask_for(folder: Path) -> None:
    for number in range(21):
        qids = "123456"[: 4 if number < 5 else 6]
        text = rows(f"t{number}", qids=qids).replace("d7", f"d{8 + number}")
        (folder / f"t{number}.run").write_text(text)
    runs = [f"t{number}.run" for number in range(21)]
    code, found = verdicts(*runs, *ALL, "--all-topics")
    assert code == 2
    assert [run for run, (verdict, _) in found.items() if verdict == "REJECT"] == runs[:5]
    lines = called("check", *runs, *ALL, "--all-topics").out.splitlines()
    assert lines[-2].split() == ["verdict", "rule", "such", "as", "runs"]
    assert lines[-1].split()[:3] + lines[-1].split()[-1:] == [
        "REJECT",
        "missing-queries",
        "t0.run,",
        "5",
    ]
    assert lines[0].startswith("5 of 21 runs are rejected")
    assert not [line for line in lines if line.startswith("OK")]
    lines = called("check", *runs, *ALL, "--all-topics", "-v").out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("OK")] == runs[5:]
    printed = called("check", *runs[5:], *ALL, "--all-topics").out
    assert printed.startswith("no problem in 16 runs")
    assert printed.count("\n") == 1


def test_queries_and_documents_of_other_lists(folder: Path) -> None:
    extra = rows("extra") + "7 Q0 d1 1 2.5 extra\n"
    texts = {
        "prefix": rows("prefix", prefix="Q"), "extra": extra,
        "one": rows("one").replace(" d3 ", " x3 ", 1),
        "affix": rows("affix").replace(" d", " task-d"),
        "scattered": rows("s") + "1 Q0 dX 9 0.5 s\n",
    }  # fmt: skip
    for name, text in texts.items():
        (folder / f"{name}.run").write_text(text)
    code, found = verdicts(*(f"{name}.run" for name in texts), *ALL)
    assert code == 2
    assert {verdict for verdict, _ in found.values()} == {"REJECT"}
    assert "differ only in the prefix 'Q'" in found["prefix.run"][1]
    assert "1 of 7 queries not in the list" in found["extra.run"][1]
    assert found["one.run"][1].startswith("line 4: 1 of 48 documents not in the collection")
    assert "differ in the prefix 'task-': 'task-d0' for 'd0'" in found["affix.run"][1]
    assert "1 of 49 documents not in the collection" in found["scattered.run"][1]


def test_depth_tags_and_numbers_of_runs(folder: Path) -> None:
    for name in ("north_1", "north_2", "south_1"):
        text = rows(name, scale=int(name[-1])).replace("d7", name)  # not copies of each other
        (folder / f"{name}.run").write_text(text)
    runs = "north_1.run", "north_2.run", "south_1.run"
    more = "--topics", "topics.txt", "--max-runs", "1", "--teams", r"(.+)_\d"
    _, found = verdicts(*runs, *more, "--tag-pattern", r"north_\d")
    assert found["north_1.run"] == ["OK", ""]
    assert found["north_2.run"] == ["REJECT", "expected at most 1 runs of north, got run 2"]
    assert found["south_1.run"] == ["REJECT", r"the tag 'south_1' does not match north_\d"]
    (folder / "north_2.run").write_text(rows("north_1").replace("d7", "d9"))
    _, found = verdicts(*runs, *more[:2], "--max-per-query", "7")
    assert "the tag is also that of north_1.run" in found["north_2.run"][1]
    assert "6 queries have more than 7 documents, up to 8: 1, 2, 3" in found["south_1.run"][1]


BEIR = '{"_id": "10", "text": "zinc = good?", "metadata": {}}\n{"_id": "2", "text": "tea"}\n'
TOPICS = {
    "lines": "10\tzinc = good?\n2\ttea\n10\n",
    "beir": BEIR,
    "one-line": BEIR.splitlines()[0],
    "array": json.dumps([{"qid": 10, "query": "zinc = good?"}, {"qid": 2, "query": "tea"}]),
    "mapping": '{\n "10": "zinc = good?",\n "2": "tea"\n}',
    "csv": 'qid,title\n10,"zinc = good?"\n2,tea\n',
    "tsv": "\ufeffquery_id\ttext\n10\tzinc = good?\n2\ttea\n",
    "other-order": 'lang,query,Query ID\nen,"zinc = good?",10\nen,tea,2\n',
    "xml": '<topics><topic number="10"><query>zinc\n = good?</query></topic>'
    '<topic number="2"><query>tea</query><question>is it?</question></topic></topics>',
    "trec": "<top>\n<num> Number: 10\n<title> zinc = good?\n<desc> Description:\n is it\n</top>\n"
    "<top>\n<num>2</num>\n<title>Topic: tea</title></top>",
}


@pytest.mark.parametrize("name", TOPICS)
def test_lists_of_queries(tmp_path: Path, name: str) -> None:
    path = tmp_path / "topics"
    path.write_text(TOPICS[name], encoding="utf-8")
    wanted = {"10": "zinc = good?"} if name == "one-line" else {"10": "zinc = good?", "2": "tea"}
    assert read_texts(Source(path), "qid") == wanted
    assert read_topics(Source(path)).qids.to_pylist() == [*wanted]


def test_texts_of_documents_have_their_titles(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl.gz"
    rows = (
        {"_id": "D,1", "title": "Tea", "text": "It is hot."},
        {"_id": 0, "title": "", "text": "x"},
    )
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    assert read_texts(Source(path), "docno") == {"D,1": "Tea It is hot.", "0": "x"}
    path.with_suffix("").write_text("D,1\tTea\nD2\n")
    assert read_texts(Source(path.with_suffix("")), "docno") == {"D,1": "Tea", "D2": ""}


def test_what_is_no_list_of_queries(tmp_path: Path) -> None:
    path = tmp_path / "topics"
    for text in (
        '{"1": {"d1": 0.5}}', "1,a\n2,b\n", "<html><body>", "<a>", "\n", "[]", "[1, 2]",
        '{"_id": "1", "text": "a"}\n{"other": 2}\n', "qid,query\n1,a\n,b\n",
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(InputError, match=r"/topics: "):
            read_topics(Source(path))


def test_lists_of_documents(tmp_path: Path) -> None:
    path = tmp_path / "docnos"
    for text in ("d1 0\n", '{"id": "d1"}\n', "\n"):
        path.write_text(text)
        with pytest.raises(InputError, match=r"/docnos: "):
            Collection(str(path))
    with pytest.raises(InputError, match=r"^--tag-pattern \(: "):
        Terms(tag_pattern="(")


def test_teams(tmp_path: Path) -> None:
    path = tmp_path / "teams.csv"
    path.write_text("team,run\nnorth,a\n")
    with pytest.warns(HarnessWarning, match=r"1 run without a team.*\bb$"):
        assert teams_of([("a",), ("b",)], str(path)) == ["north", "b"]
    assert teams_of([("x", "a"), ("a", "b")], str(path)) == ["north", "north"]
    path.write_text("x,y\n1,2\n")
    with pytest.raises(InputError, match=r"teams\.csv.*\bx, y\b"):
        teams_of([("a",)], str(path))
    with pytest.raises(InputError, match="--teams"):
        teams_of([("a",)], "(")
    with pytest.raises(InputError, match=r"no file .*team\.csv\b[^$]*teams\.csv"):
        teams_of([("a",)], str(tmp_path / "team.csv"))


def test_lines_without_six_fields(folder: Path) -> None:
    texts = {
        "docno": rows("docno").replace("2 Q0 d3 ", "2 Q0 my d3 ", 1),
        "tag": rows("tag").replace("tag", "my tag"), "no-tag": rows("").replace(" \n", "\n"),
        "comment": rows("comment").replace("comment\n", "comment # bm25\n", 3),
    }  # fmt: skip
    for name, text in texts.items():
        (folder / f"{name}.run").write_text(text)
    runs = [f"{name}.run" for name in texts]
    for more in (ALL, ALL[:2]):
        code, found = verdicts(*runs, *more)
        assert code == 2
        assert {verdict for verdict, _ in found.values()} == {"REJECT"}
        starts = {run: reason.partition(": ")[0] for run, (_, reason) in found.items()}
        assert starts == {
            "docno.run": "line 12", "tag.run": "line 1", "no-tag.run": "line 1",
            "comment.run": "line 1",
        }  # fmt: skip
    (folder / "qrels.txt").write_text("1 0 d1 1\n")
    code, found = verdicts("qrels.txt", "tag.run", "--max-per-query", "100")
    assert (code, found["tag.run"][0]) == (2, "REJECT")
    assert called("check", "qrels.txt", "tag.run").code == 0  # only warned of
