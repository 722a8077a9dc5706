"""Every fix that a message proposes, applied to the input that provoked it.

Each row writes files, provokes a message, does what its fix says, and expects the right number.
What a fix quotes (options, columns of a config, lines to write) is taken from the message.
"""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import yaml
from command_line import called

import harness
from harness import readers
from harness.core.qrels_and_runs import Qrels, Run
from harness.errors import HarnessError

pytestmark = pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")

QRELS = "2 0 a=1 1\n10 0 b 1\n2 0 b 0\n10 0 a=1 0\n1 0 c 1\n"
ROWS = [("2", "a=1", 0.25), ("10", "b", 0.75), ("2", "b", 0.5), ("10", "a=1", -0.5), ("1", "c", 2)]
RIGHT = (1 / 2 + 1 + 1) / 3  # mean reciprocal rank
LETOR = "0 qid:2 1:1 # docid = x\n1 qid:2 1:2 # docid = y\n1 qid:10 1:3 # docid = x\n"
BY_ROW = (1 / 2 + 1) / 2  # of the scores 3, 1 and 2


def lines(form: str, *before: str, sign: int = 1) -> str:
    """Text of the run, one row a line; `{rank}` is the rank of the row."""
    order = sorted(ROWS, key=lambda row: -row[2])
    ranks = {row: 1 + [one for one in order if one[0] == row[0]].index(row) for row in ROWS}
    rows = (
        form.format(q=row[0], d=row[1], s=sign * row[2], rank=ranks[row], below=ranks[row] - 1)
        for row in (order if "{rank}" in form or "{below}" in form else ROWS)
    )
    return "\n".join((*before, *rows)) + "\n"


def by_query(form: str, *before: str) -> str:
    """Run with the rows of a query next to each other."""
    head, rows = [*before], lines(form).splitlines()
    return "\n".join([*head, *sorted(rows, key=lambda row: row.split()[0])]) + "\n"


def value_in(results: Path) -> float:
    return float(pd.read_csv(results / "leaderboard.csv")["recip_rank"].iloc[0])


class Case(NamedTuple):
    """Files of qrels and a run, the options that they were given with, and the message."""

    folder: Path
    qrels: str
    run: str
    options: tuple[str, ...]
    message: str

    def evaluated(self, *options: str, qrels: str = "", run: str = "") -> float:
        words = ("evaluate", qrels or self.qrels, run or self.run, "-m", "recip_rank", "-f", "csv")
        done = called(*words, *options, cwd=self.folder)
        assert done.code == 0, done.err
        names, values = (line.split(",") for line in done.out.splitlines()[:2])
        return float(values[names.index("recip_rank")])

    def edited(self, old: str, new: str, which: str = "run", count: int = 0) -> None:
        path = self.folder / getattr(self, which)
        text, n = re.subn(old, new, path.read_text(), count=count, flags=re.MULTILINE)
        assert n, old
        path.write_text(text)


Fix = Callable[[Case], float]


def option(case: Case) -> float:
    """Add the option that the message names, in place of a format that was named."""
    (words,) = {*re.findall(r"--(?:run-format|set \w+\.duplicates=) ?[a-z]+", case.message)}
    return case.evaluated(*words.split())


def an_option(name: str, value: str) -> Fix:
    """Set an option that the message names to a value that it names."""

    def fix(case: Case) -> float:
        assert name in case.message
        assert re.search(rf"\b{value}\b", case.message.partition("fix:")[2])
        return case.evaluated(name, value)

    return fix


def a_policy(key: str, value: str) -> Fix:
    """Set a policy that the message names to a value that it names."""

    def fix(case: Case) -> float:
        assert f"set {key} to " in case.message
        assert re.search(rf"\b{value}\b", case.message.partition("fix:")[2])
        return case.evaluated("--set", f"policy.{key}={value}")

    return fix


def no_format(case: Case) -> float:
    return case.evaluated()


def columns(case: Case) -> float:
    """Name columns as the message does: on the command line, in a config, and in Python."""
    (words, text), *_ = re.findall(
        r"add (--.*?) \(in a config (columns: \{[^}]*\}(?:, order: \w+)?)\)", case.message
    )
    value = case.evaluated(*shlex.split(words))
    entries, settings = {"d": {"path": case.qrels}}, yaml.safe_load(f"{{{text}}}")
    runs, of_qrels = {"r": {"path": case.run}}, "--set" in words
    (entries["d"] if of_qrels else runs["r"]).update(settings)
    content = {
        "datasets": entries, "runs": runs, "metrics": ["recip_rank"], "output": "o"
    }  # fmt: skip
    (case.folder / "c.yaml").write_text(yaml.safe_dump(content))
    done = called("run", "c.yaml", cwd=case.folder)
    assert done.code == 0, done.err
    assert value_in(case.folder / "o") == value
    if of_qrels:
        settings = {"qrels_columns": settings["columns"]}
    paths = case.folder / case.qrels, case.folder / case.run
    evaluated = harness.evaluate(*paths, ["recip_rank"], **settings)
    assert evaluated.summary()["recip_rank"] == value
    return value


def named(case: Case) -> float:
    """Write the names that the message quotes above the columns."""
    above = r"(?:write names above the columns|above the lines): (.*?)(?:; |$)"
    (names,) = {*re.findall(above, case.message, re.MULTILINE)}
    path = case.folder / case.run
    path.write_text(f"{names}\n{path.read_text()}")
    return case.evaluated()


def edit(old: str, new: str, which: str = "run", count: int = 0) -> Fix:
    def fix(case: Case) -> float:
        case.edited(old, new, which, count)
        return case.evaluated(*case.options)

    return fix


def renamed(case: Case) -> float:
    ((old, new),) = re.findall(r"rename the column '(.*?)' to '(.*?)'", case.message)
    case.edited(rf"\b{old}\b", new, count=1)
    return case.evaluated()


def negated(case: Case) -> float:
    path = case.folder / case.run
    assert "negate it and rename it to 'score'" in case.message
    frame = pd.read_csv(path, dtype={"qid": str})
    frame["score"] = -frame.pop(frame.columns[-1])
    frame.to_csv(path, index=False)
    return case.evaluated()


def saved(case: Case) -> float:
    """Save the scores of the rows with the function that the message names."""
    assert "harness.save_predictions" in case.message
    harness.save_predictions(case.folder / "p.parquet", [3, 1, 2], case.folder / case.qrels)
    return case.evaluated(run="p.parquet")


def swapped(case: Case) -> float:
    assert "give the qrels here, and this file as a run" in case.message
    return case.evaluated(qrels=case.run, run=case.qrels)


def as_json_lines(case: Case, by_rows: bool = False) -> float:
    assert "to_json(PATH, orient='records', lines=True)" in case.message
    frame = pd.read_json(case.folder / case.run, dtype=False)
    frame = frame.T if by_rows else frame
    frame["qid"] = frame["qid"].astype(str)
    frame.to_json(case.folder / case.run, orient="records", lines=True)
    return case.evaluated()


def rewritten(content: str | bytes) -> Fix:
    def fix(case: Case) -> float:
        data = content.encode() if isinstance(content, str) else content
        (case.folder / case.run).write_bytes(data)
        return case.evaluated()

    return fix


def in_table(case: Case) -> float:
    """Name a format that has columns, as the message does."""
    assert "table" in case.message.partition("a format that has it: ")[2]
    return case.evaluated("--run-format", "table", *FIVE.split())


FIVE = "--columns qid=1,docno=3,score=5"
TREC = lines("{q} Q0 {d} {rank} {s} t")
CSV = lines("{q},{d},{s}", "qid,docno,score")
FRAME = pd.DataFrame(ROWS, columns=["qid", "docno", "score"])
SCORES = "3\n1\n2\n"
UPSIDE_DOWN = "\n".join([*reversed(lines("{q} {d} {rank}").splitlines()), ""])

ROWS_OF_COMMANDS: dict[str, tuple[str | bytes, str | bytes, str, str, Fix, float]] = {
    # name: qrels, run, options, rule or words of the message, fix, value
    "a docno twice in a run": (QRELS, f"{TREC}2 Q0 a=1 3 .125 t\n", "", "twice", option, RIGHT),
    "a docno twice in a CSV": (QRELS, f"{CSV}10,b,-3\n", "", "twice", option, RIGHT),
    "a docno twice in JSON": (
        QRELS, '{"2": {"a=1": 0.25, "b": 0.5}, "10": {"b": 2, "b": 0.1, "a=1": 1}, "1": {"c": 1}}',
        "", "once", option, RIGHT),
    "a docno twice in qrels": (f"2 0 a=1 0\n{QRELS}", TREC, "", "twice", option, RIGHT),
    "a score of another name": (
        QRELS, lines("{q},{d},{s}", "qid,docno,my gbm"), "", "'my gbm'", columns, RIGHT),
    "a score of another name, renamed": (
        QRELS, lines("{q}\t{d}\t{s}", "qid\tdocno\tgbm"), "", "'gbm'", renamed, RIGHT),
    "a score of another name, by blanks": (
        QRELS, lines("{q} {d}   {s}", "qid docno gbm"), "", "'gbm'", columns, RIGHT),
    "a score of another name in JSON lines": (
        QRELS, lines('{{"qid": "{q}", "docno": "{d}", "gbm": {s}}}'), "", "'gbm'", columns, RIGHT),
    "distances": (
        QRELS, lines("{q},{d},{s}", "qid,docno,L2dist", sign=-1), "", "higher", columns, RIGHT),
    "distances, negated": (
        QRELS, lines("{q},{d},{s}", "qid,docno,loss", sign=-1), "", "higher", negated, RIGHT),
    "two usual names": (
        QRELS, lines("{q},{d},{s},-{s}", "qid,docno,pred,prediction"), "", "one", columns, RIGHT),
    "two usual names, renamed": (
        QRELS, lines("{q},{d},{s},7", "qid,docno,pred,y_hat"), "", "one", renamed, RIGHT),
    "no names": (QRELS, lines("{q},{d},{s}"), "", "names above", named, RIGHT),
    "no names, numbered": (QRELS, lines("{q};{d};{s}"), "", "names above", columns, RIGHT),
    "no names, by tabs": (QRELS, lines("{q}\t{d}\t{s}"), "", "names above", named, RIGHT),
    "no tag": (QRELS, lines("{q} Q0 {d} {rank} {s}"), "", "names above", columns, RIGHT),
    "no iterations in qrels": (
        QRELS.replace(" 0 ", " ", 1).replace(" 0 a", " a").replace(" 0 b", " b")
        .replace(" 0 c", " c"), TREC, "", "names above", columns, RIGHT),
    "no tag, named": (QRELS, lines("{q}  Q0\t{d} {rank} {s}"), "", "names above", named, RIGHT),
    "semicolons": (QRELS, lines("{q};Q0;{d};{rank};{s};t"), "", "names above", columns, RIGHT),
    "semicolons, named": (
        QRELS, lines("{q};Q0;{d};{rank};{s};t"), "", "names above", named, RIGHT),
    "commas and blanks": (
        QRELS, lines("{q}, Q0, {d}, {rank}, {s}, t"), "", "names above", columns, RIGHT),
    "scores in the first column": (
        QRELS, lines("{s}\t{q}\t{d}"), "", "names above", columns, RIGHT),
    "docnos with commas and no tag": (
        QRELS.replace("a=1", "a,=1"), lines("{q} Q0 {d} {rank} {s}").replace("a=1", "a,=1"), "",
        "names above", columns, RIGHT),
    "columns of another format": (
        QRELS, lines("{q} Q0 {d} {rank} {s}"), f"--run-format trec {FIVE}", "format", in_table,
        RIGHT),
    "columns of another format, left out": (
        QRELS, TREC, f"--run-format trec {FIVE}", "leave columns out", no_format, RIGHT),
    "no rank and tag": (QRELS, lines("{q} Q0 {d} {s}"), "", "names above", columns, RIGHT),
    "ranks that do not count": (
        QRELS, lines("{q}\t{d}\t7\t{s}"), "", "names above", columns, RIGHT),
    "ranks from 0": (QRELS, by_query("{q}\t{d}\t{below}"), "", "ranks", option, RIGHT),
    "ranks in any order": (QRELS, UPSIDE_DOWN, "", "ranks", option, RIGHT),
    "scores, read as ranks": (
        QRELS, lines("{q}\t{d}\t{s}"), "--run-format msmarco", "scores", named, RIGHT),
    "ranks and scores, read as ranks": (
        QRELS, by_query("{q}\t{d}\t{rank}\t{s}"), "--run-format msmarco", "name no format",
        no_format, RIGHT),
    "names above a TREC run": (
        QRELS, f"who Q0 what rank much tag\n{TREC}", "", "header", edit("^who.*\n", ""), RIGHT),
    "usual names above a TREC run": (
        QRELS, f"qid Q0 docno rank score tag\n{TREC}", "", "header",
        an_option("--run-format", "table"), RIGHT),
    "usual names above TREC qrels": (
        f"qid iteration docno rel\n{QRELS}", TREC, "", "header",
        an_option("--qrels-format", "table"), RIGHT),
    "swapped files": (TREC, QRELS, "", "give the qrels here", swapped, RIGHT),
    "UTF-16": (QRELS, TREC.encode("utf-16"), "", "UTF-8", rewritten(TREC), RIGHT),
    "carriage returns": (
        QRELS, TREC.replace("\n", "\r"), "", "tr", rewritten(TREC.replace("\r", "\n")), RIGHT),
    "decimals with a comma": (
        QRELS, TREC.replace(".", ","), "", "point", edit(r"(\d),(\d)", r"\1.\2"), RIGHT),
    "a frame's to_json": (QRELS, FRAME.to_json(), "", "to_json", as_json_lines, RIGHT),
    "to_json of rows that were chosen": (
        QRELS, FRAME.set_axis([7, 3, 4, 9, 1]).to_json(), "", "to_json", as_json_lines, RIGHT),
    "to_json by rows": (
        QRELS, FRAME.assign(text="x").T.to_json(), "", "to_json",
        lambda case: as_json_lines(case, by_rows=True), RIGHT),
    "docnos of another name": (
        QRELS, lines("{q},{d},{s}", "qid,thing,score"), "", "docnos", columns, RIGHT),
    "docnos of another name, renamed": (
        QRELS, lines("{q},{d},{s}", "qid,thing,score"), "", "docnos", renamed, RIGHT),
    "Q0 in the wrong column": (
        QRELS, lines("{q} {d} Q0 {rank} {s} t"), "", "column 2",
        edit(r"^(\S+) (\S+) Q0", r"\1 Q0 \2"), RIGHT),
    "no answer to a query": (
        QRELS, "10 Q0 b 1 2 t\n1 Q0 c 1 2 t\n", "--set policy.missing_queries=error", "zero",
        a_policy("missing_queries", "zero"), 2 / 3),
    "a query without relevant documents": (
        f"{QRELS}7 0 c 0\n", TREC, "--set policy.empty_queries=error", "zero",
        a_policy("empty_queries", "zero"), RIGHT * 3 / 4),
    "a run that names rows which repeat": (
        f"{LETOR}0 qid:2 1:1 # docid = x\n", "2 Q0 x 1 3 t\n2 Q0 y 1 1 t\n10 Q0 x 1 1 t\n", "",
        "duplicates", option, BY_ROW),
    "a run that names rows without docids": (
        LETOR.replace("docid", "id"), "2 Q0 x 1 3 t\n", "", "save_predictions", saved, BY_ROW),
    "names above scores": (
        LETOR, f"my scores\n{SCORES}", "", "header", edit("^my.*\n", ""), BY_ROW),
    "a column without a name": (
        LETOR, f"0\n{SCORES}", "", "header=False", edit("^0\n", "", count=1), BY_ROW),
    "scores as Python prints them": (
        LETOR, "[3, 1, 2]", "", "one number a line", rewritten(SCORES), BY_ROW),
    "two columns of scores": (
        LETOR, "gbm,net\n3.5,1\n1.5,1\n2.5,.5\n", "", "one column", columns, BY_ROW),
    "text next to scores": (
        LETOR, "who,pred\nx,3\ny,1\nz,2\n", "", "docno: none", lambda case: by_order(case), BY_ROW),
    "an index that was sorted": (
        LETOR, ",pred\n0,3\n2,2\n1,1\n", "", "sort by the index", edit("(2,2)\n(1,1)", r"\2\n\1"),
        BY_ROW),
    "numbers of rows that repeat": (
        LETOR, "row,pred\n5,3\n5,1\n5,2\n", "", "row: none", columns, BY_ROW),
    "predictions in another order": (
        LETOR, "qid,score\n10,2\n2,1\n2,3\n", "", "save_predictions", saved, BY_ROW),
}  # fmt: skip


def by_order(case: Case) -> float:
    """Say that rows follow the dataset's order."""
    (text,) = re.findall(r"dataset's order: (add.*?\(.*?\))", case.message)
    return columns(case._replace(message=text))


@pytest.mark.parametrize("name", ROWS_OF_COMMANDS)
def test_a_fix_of_a_command_works(tmp_path: Path, name: str) -> None:
    qrels, run, options, words, fix, value = ROWS_OF_COMMANDS[name]
    for path, content in (("q.txt", qrels), ("r.txt", run)):
        (tmp_path / path).write_bytes(content.encode() if isinstance(content, str) else content)
    evaluate = ("evaluate", "q.txt", "r.txt", "-m", "recip_rank", *options.split())
    done = called(*evaluate, cwd=tmp_path)
    assert done.code == 2, done.out
    assert words in done.err
    checked = called("check", "q.txt", "r.txt", *options.split(), cwd=tmp_path)
    if not options.startswith("--set policy."):
        assert checked.code, checked.out
    case = Case(tmp_path, "q.txt", "r.txt", tuple(options.split()), done.err)
    assert fix(case) == pytest.approx(value)


JUDGED = {"2": {"a=1": 1, "b": 0}, "10": {"b": 1, "a=1": 0}, "1": {"c": 1}}
BY_POSITION = Qrels.from_columns(pa.array(["2", "2", "10"]), None, [0, 1, 1], name="rows")
SHORT = pd.DataFrame({"thing": ["x", "y", "z"], "pred": [3, 1, 2]})

ROWS_OF_PYTHON: dict[str, tuple[Any, pd.DataFrame, str, Callable[[pd.DataFrame], Any], float]] = {
    # name: qrels, run, words of the message, fix, value
    "a score of another name": (
        JUDGED, FRAME.rename(columns={"score": "gbm"}), "rename the column 'gbm' to 'score'",
        lambda frame: frame.rename(columns={"gbm": "score"}), RIGHT),
    "distances": (
        JUDGED, FRAME.assign(_distance=-FRAME.score).drop(columns="score"),
        "negate the column '_distance', and rename it to 'score'",
        lambda frame: frame.assign(_distance=-frame._distance).rename(
            columns={"_distance": "score"}), RIGHT),
    "two usual names": (
        JUDGED, FRAME.rename(columns={"score": "pred"}).assign(y_hat=1.0), "rename one to 'score'",
        lambda frame: frame.rename(columns={"pred": "score"}), RIGHT),
    "two usual names, one dropped": (
        JUDGED, FRAME.rename(columns={"score": "pred"}).assign(y_hat=1.0), "drop all but one",
        lambda frame: frame.drop(columns="y_hat"), RIGHT),
    "docnos of another name": (
        JUDGED, FRAME.rename(columns={"docno": "thing"}), "rename the column 'thing' to 'docno'",
        lambda frame: frame.rename(columns={"thing": "docno"}), RIGHT),
    "no qids": (
        BY_POSITION, SHORT, "give the scores alone", lambda frame: frame["pred"], BY_ROW),
    "a docno twice": (
        JUDGED, pd.concat([FRAME, FRAME[:1].assign(score=-1)]), "keep the one with the highest",
        lambda frame: frame.sort_values("score").drop_duplicates(["qid", "docno"], keep="last"),
        RIGHT),
    "numbers of rows that repeat": (
        BY_POSITION, pd.DataFrame({"row": [4, 4, 4], "pred": [3, 1, 2]}), "drop it",
        lambda frame: frame.drop(columns="row"), BY_ROW),
    "an index that was sorted": (
        BY_POSITION, SHORT[["pred"]].sort_values("pred"), "sort by the index",
        lambda frame: frame.sort_index(), BY_ROW),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS_OF_PYTHON)
def test_a_fix_for_a_frame_works(name: str) -> None:
    qrels, frame, words, fix, value = ROWS_OF_PYTHON[name]
    forms: list[Any] = [frame]
    if frame.index.equals(pd.RangeIndex(len(frame))):
        forms += [pl.from_pandas(frame), pa.Table.from_pandas(frame)]
    if {"qid", "docno"} <= {*frame.columns}:
        forms += [frame.to_dict("list"), {key: frame[key].to_numpy() for key in frame}]
    for given in forms:
        with pytest.raises(HarnessError) as error:
            harness.evaluate(qrels, given, ["recip_rank"])
        message = str(error.value)
        assert words in message
        assert not re.search(r"columns: \{|in a config|--", message)
        arguments = r"or give (columns=\{.*?\}(?:, order='\w+')?|duplicates='\w+')"
        for argument in re.findall(arguments, message.replace("{'docno': '...'}", "")):
            evaluation = harness.evaluate(qrels, given, ["recip_rank"], **eval(f"dict({argument})"))
            assert evaluation.summary()["recip_rank"] == pytest.approx(value)
    right = harness.evaluate(qrels, fix(frame), ["recip_rank"])
    assert right.summary()["recip_rank"] == pytest.approx(value)


def test_warnings_about_frames_name_no_config() -> None:
    frame = FRAME.assign(doc_id=list("vwxyz"))
    with mock.patch("harness.readers.rows.warn_of") as warn_of:
        readers.from_frame(frame, Run)
    ((finding,),) = warn_of.call_args.args
    assert finding.rule == "unused-columns"
    assert "columns: {" not in finding.fix


def test_the_order_of_scores_is_recorded(tmp_path: Path) -> None:
    scores = np.array([row[2] for row in ROWS])
    harness.save_predictions(
        tmp_path / "r.parquet", -scores, *(FRAME[name] for name in ("qid", "docno"))
    )
    (tmp_path / "q.txt").write_text(QRELS)
    content: dict[str, Any] = {
        "datasets": {"d": "q.txt"}, "metrics": ["recip_rank"], "output": "o", "cache": "cache",
        "runs": {"low": {"path": "r.parquet", "order": "ascending"}},
    }  # fmt: skip
    for order, value in (("ascending", RIGHT), ("descending", (1 + 1 / 2 + 1) / 3)):
        content["runs"]["low"]["order"] = order
        (tmp_path / "c.yaml").write_text(json.dumps(content))
        assert called("run", "c.yaml", "--force", cwd=tmp_path).code == 0
        assert value_in(tmp_path / "o") == pytest.approx(value)
        assert order in json.dumps(json.loads((tmp_path / "o" / "manifest.json").read_text()))
    assert called("verify", "o", cwd=tmp_path).code == 0


Words = tuple[str, ...]


def suggested(words: Words, message: str) -> Words:
    """Replace the misspelt word by the one that the message proposes."""
    ((wrong, right),) = re.findall(r"'([^']*)'.*\n +fix: +use (.*)", message)
    return tuple(word.replace(wrong, right) for word in words)


def with_metric(words: Words, message: str) -> Words:
    (added,) = re.findall(r"such as (-m \S+?)[;.]", message)
    return (*words, *added.split())


def with_qrels(words: Words, message: str) -> Words:
    assert "add --qrels QRELS" in message
    return (words[0], "--qrels", *words[1:])


def with_topics(words: Words, message: str) -> Words:
    assert "harness check RUN... --topics FILE" in message
    return (*words, "--topics", "q.txt")


def as_topics(words: Words, message: str) -> Words:
    assert "harness check RUN... --topics FILE" in message
    return ("check", words[2], "--topics", words[1])


def written(words: Words, message: str) -> Words:
    *_, right = re.findall(r"write (\S+)$", message, re.MULTILINE)
    return (*words[:-1], right)


def written_first(words: Words, message: str) -> Words:
    *_, right = re.findall(r"write (\S+),", message)
    return (*words[:-1], right)


def with_ties(words: Words, message: str) -> Words:
    assert "--ties" in message
    return (*words[:-1], "P@2", "--ties", "bounds")


def by_pattern(words: Words, message: str) -> Words:
    (folder,) = re.findall(r"several runs as (\S+)/\*", message)
    return tuple(
        name
        for word in words
        for name in (("runs/a.run", "runs/b.run") if word == folder else (word,))
    )


def once(words: Words, message: str) -> Words:
    assert "name each run once" in message
    return tuple(dict.fromkeys(words))


def with_known_run(words: Words, message: str) -> Words:
    (known,) = re.findall("name one of the runs: (.*)", message)
    return (*words[:-1], words[-1].replace("z", known))


def with_margin(words: Words, message: str) -> Words:
    (added,) = re.findall(r"add (--margin \S+),", message)
    return (*words, *added.split())


EVALUATE = "evaluate", "q.txt", "runs/a.run"
GATE = "gate", "--qrels", "q.txt", "runs/a.run", "runs/b.run"
COMMANDS: list[tuple[Words, Callable[[Words, str], Words]]] = [
    (EVALUATE, with_metric),
    ((*EVALUATE, "-m", "ndgc@10"), suggested),
    ((*EVALUATE, "-m", "ndcg(gain=linaer)@5"), suggested),
    ((*EVALUATE, "-m", "map", "--ties", "bset"), suggested),
    ((*EVALUATE, "-m", "map", "--run-format", "tec"), suggested),
    ((*EVALUATE, "-m", "swaps(ties=best)@5"), written),
    ((*EVALUATE, "-m", "bpref@10"), written),
    ((*EVALUATE, "-m", "map@2(rel=1)"), written),
    ((*EVALUATE, "-m", "P(ties=bounds)@2"), written_first),
    ((*EVALUATE, "-m", "P(ties=bounds)@2"), with_ties),
    ((*EVALUATE, "-m", "swaps(reference=z)"), with_known_run),
    (("evaluate", "q.txt", "runs", "-m", "map"), by_pattern),
    (("evaluate", "q.txt", "runs/a.run", "runs/a.run", "-m", "map"), once),
    (("check", "runs/a.run"), with_topics),
    (("evaluate", "topics", "runs/a.run", "-m", "map"), as_topics),
    (("compare", "--qrels", "q.txt", "runs/a.run", "runs/b.run"), with_metric),
    (("compare", "q.txt", "runs/a.run", "runs/b.run", "-m", "map"), with_qrels),
    ((*GATE, "-m", "map"), with_margin),
    ((*GATE, "--margin", "map=1%"), with_metric),
    (("gate", "q.txt", *GATE[3:], "-m", "map", "--margin", "map=1%"), with_qrels),
]


@pytest.mark.parametrize(("words", "fix"), COMMANDS)
def test_a_fix_of_a_command_line_works(
    tmp_path: Path, words: Words, fix: Callable[[Words, str], Words]
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "q.txt").write_text(QRELS)
    topics = [f"<top>\n<num> Number: {n}\n<title> a=b\n</top>\n" for n in (10, 2, 1)]
    (tmp_path / "topics").write_text("\n".join(topics))
    for name in ("a", "b"):
        (tmp_path / "runs" / f"{name}.run").write_text(TREC)
    done = called(*words, cwd=tmp_path)
    assert done.code == 2, done.out
    right = fix(words, done.err or done.out)
    assert (fixed := called(*right, cwd=tmp_path)).code == 0, (right, fixed.err)


def test_a_folder_around_results_and_a_config_lead_to_the_results(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text(QRELS)
    (tmp_path / "r.txt").write_text(TREC)
    (tmp_path / "a=b.yaml").write_text(f"{DATA}metrics: [map]\n")
    message = called("verify", "a=b.yaml", cwd=tmp_path).err
    (command,) = re.findall("run harness (run .*),", message)
    assert called(*command.split(), cwd=tmp_path).code == 0
    message = called("verify", "results", cwd=tmp_path).err
    (folder,) = re.findall("name one of: (.*)", message)
    assert called("verify", folder, cwd=tmp_path).code == 0


def test_a_pool_names_all_broken_runs(tmp_path: Path) -> None:
    files = {"a": TREC, "b=1": "2 Q0 d 1 nan t\n", "c": "2 Q0 d 1\n"}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    done = called("pool", *files, cwd=tmp_path)
    assert done.code == 2
    assert re.findall(r"^error: (\S+):1: ", done.err, re.MULTILINE) == ["b=1", "c"]
    assert "duplicates" not in done.err
    checked = called("check", *files, "--topics", "a", cwd=tmp_path).out
    assert [line.split()[1] for line in checked.splitlines() if "REJECT  " in line] == ["b=1", "c"]
    assert called("pool", "a", cwd=tmp_path).code == 0


DATA = "datasets: {d: q.txt}\nruns: {a: r.txt}\n"
CONFIGS = [  # config, pattern of what the fix of the message quotes, what to write in its place
    (f"{DATA}metrics: [map]\nouptut: o\n", "use (.*)", ("ouptut", "{}")),
    (f"{DATA}metrics: [nddcg@10]\n", "use (.*)", ("nddcg@10", '"{}"')),
    (f"{DATA}metrics: [map]\npolicy: {{ties: avrage}}\n", "use (.*)",
     ("avrage", "{}")),
    (f"{DATA}metrics: [map]\n\toutput: o\n", "indent with (spaces)", ("\t", "")),
    (f"{DATA}", "the key '(metrics)' is missing", ("runs:", "{}: [map]\nruns:")),
    ("datasets: {d: q.txt, e: q.txt}\nruns: {a: {path: r.txt}}\nmetrics: [map]\n",
     "add (dataset: )NAME", ("path:", "{}d, path:")),
    ("datasets: {d: q.txt}\nruns: {a: [r.txt, s.txt]}\nmetrics: [map]\n",
     "(give one of them another name)", ("[r.txt, s.txt]", "r.txt, b: s.txt")),
    ("datasets: {d: {path: q.txt, duplicates: best}}\n"
     "runs: {a: {path: r.txt, duplicates: best}}\nmetrics: [map]\n", "'(first)'",
     ("q.txt, duplicates: best", "q.txt, duplicates: {}")),
    ("datasets: {d: q.txt}\nruns: {a: {path: r.txt, order: ascend}}\nmetrics: [map]\n",
     "'(ascending)'", ("ascend", "{}")),
    ("datasets: {d: q.txt}\nruns: {a: {path: m.tsv, order: ascending}}\nmetrics: [map]\n",
     "(leave 'order' out)", (", order: ascending", "")),
    ("datasets: {d: q.txt}\nruns: {a: {path: r.txt, columns: {scor: gbm}}}\nmetrics: [map]\n",
     "use (.*)", ("r.txt, columns: {scor: gbm}", "t.csv, columns: {{{}: gbm}}")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "quoted", "edit"), CONFIGS)
def test_a_fix_of_a_config_works(
    tmp_path: Path, text: str, quoted: str, edit: tuple[str, str]
) -> None:
    files = {"q.txt": QRELS, "r.txt": TREC, "s.txt": TREC, "m.tsv": by_query("{q} {d} {rank}"),
             "t.csv": lines("{q},{d},{s}", "qid,docno,gbm")}  # fmt: skip
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    path = tmp_path / "c.yaml"
    path.write_text(text)
    done = called("run", "c.yaml", cwd=tmp_path)
    assert done.code == 2, done.out
    assert called("check", "c.yaml", cwd=tmp_path).code
    (word,) = {*re.findall(quoted, done.err)}
    old, new = edit
    path.write_text(text.replace(old, new.format(word)))
    fixed = called("run", "c.yaml", cwd=tmp_path)
    assert fixed.code == 0, (path.read_text(), fixed.err)
