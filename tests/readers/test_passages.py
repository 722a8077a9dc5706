"""Documents of passages: scores against literal loops, refusals, proposals, and reports."""

import json
import random
import warnings
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow as pa
import pytest
from command_line import called, succeeds
from csv_rows import csv_rows
from refusals import refuses

import harness
from harness.readers.passages import TAKEN, USUAL

PATTERN = r"(.+)#\d+$"
Scores = dict[str, dict[str, float]]


def passages(seed: int = 3) -> Scores:
    """Scores of passages of a few queries, with documents that have none."""
    rng = random.Random(seed)
    run: Scores = {}
    for qid in ("10", "2", "1"):
        names = {f"D-{rng.randint(0, 7)}#{rng.choice((0, 2, 10, 11))}" for _ in range(25)}
        scores = {name: rng.randint(-8, 8) / 4 for name in sorted(names)}
        run[qid] = {**scores, "D-99": 0.5, "x#y": -1.0}
    return run


def many_passages() -> Scores:
    """Scores of a thousand rows, in which groups of Arrow come in another order."""
    rng = random.Random(8)
    names = [f"D{document}#{number}" for document in range(60) for number in range(9)]
    return {
        str(qid): {name: float(rng.randint(0, 90)) for name in rng.sample(names, 60)}
        for qid in rng.sample(range(100), 17)
    }


def documents(run: Scores, take: str, sign: int = 1) -> Scores:
    """Scores of documents as the setting promises, by loops over rows."""
    result: Scores = {}
    for qid, scores in run.items():
        of_document: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for name, score in scores.items():
            docno, _, number = name.rpartition("#")
            is_passage = docno and number.isdecimal()
            of_document[docno if is_passage else name].append(
                (int(number) if is_passage else 0, sign * score)
            )
        result[qid] = {
            docno: {
                "max": max(score for _, score in rows), "first": min(rows)[1],
                "sum": sum(score for _, score in rows), "mean": fmean(score for _, score in rows),
            }[take]
            for docno, rows in of_document.items()
        }  # fmt: skip
    return result


def write(folder: Path, form: str, run: Scores, scattered: bool) -> Path:
    rows = [(qid, name, score) for qid, scores in run.items() for name, score in scores.items()]
    if scattered:
        random.Random(1).shuffle(rows)
    path = folder / f"run.{form}"
    if form == "json":
        path.write_text(json.dumps(run), encoding="utf-8")
        return path
    header, line = {
        "txt": ("", "{0} Q0 {1} 1 {2} t"),
        "csv": ("qid,docno,score\n", "{0},{1},{2}"),
        "jsonl": ("", '{{"qid": "{0}", "docno": "{1}", "score": {2}}}'),
    }[form]
    text = header + "".join(line.format(*row) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("order", ["descending", "ascending"])
@pytest.mark.parametrize("take", ["max", "first", "sum", "mean"])
@pytest.mark.parametrize("form", ["txt", "csv", "jsonl", "json"])
@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
def test_scores_are_those_of_literal_loops(
    form: str, take: str, order: str, tmp_path: Path
) -> None:
    sign = 1 if order == "descending" else -1
    for run in (*map(passages, range(4)), many_passages()):
        expected = documents(run, take, sign)
        for scattered in (False, True) if form != "json" else (False,):
            path = write(tmp_path, form, run, scattered)
            setting = {"from": PATTERN, "take": take}
            read = harness.read_run(path, documents=setting, order=order).to_dict()
            assert read == {qid: pytest.approx(scores) for qid, scores in expected.items()}
            if not scattered:  # in the order of the file, as ties: stable needs it
                assert [[*row] for row in read.values()] == [[*row] for row in expected.values()]


def test_commands_take_the_pattern(tmp_path: Path) -> None:
    grades, run = qrels(tmp_path), passages()
    paths = [str(write(tmp_path, form, run, False)) for form in ("txt", "csv")]
    judged, pattern = str(tmp_path / "q.txt"), ("--set", f"run.documents={PATTERN}")
    expected = harness.evaluate(grades, documents(run, "max"), ["map"]).summary()["map"]
    shown = succeeds("evaluate", judged, *paths, "-m", "map", *pattern, "-f", "csv")
    assert [float(row["map"]) for row in csv_rows(shown)] == [expected] * 2
    succeeds("check", judged, *paths, *pattern)
    succeeds("compare", *paths, "--qrels", judged, "-m", "map", *pattern)
    margin = ("--margin", "0.5", "--on-undecided", "pass")
    succeeds("gate", *paths, "--qrels", judged, "-m", "map", *pattern, *margin)
    assert not harness.check(judged, paths, documents=PATTERN).count("error")


def config(folder: Path, setting: Any, **keys: Any) -> Path:
    path = folder / "c.yaml"
    entry = {"path": "run.txt", "documents": setting}
    text = {"datasets": {"d": {"path": "q.txt"}}, "runs": {"run=1": entry}, "output": "out"}
    path.write_text(json.dumps({**text, "metrics": ["map", "ndcg@3"], **keys}), encoding="utf-8")
    return path


def qrels(folder: Path) -> dict[str, dict[str, int]]:
    grades = {qid: {f"D-{n}": (n * 5) % 3 for n in range(8)} for qid in ("1", "2", "10")}
    lines = (f"{qid} 0 {d} {g}\n" for qid, row in grades.items() for d, g in row.items())
    (folder / "q.txt").write_text("".join(lines), encoding="utf-8")
    return grades


@pytest.mark.parametrize("setting", [PATTERN, {"from": PATTERN, "take": "sum"}])
def test_a_config_says_so_in_caption_methods_and_manifest(setting: Any, tmp_path: Path) -> None:
    grades, run = qrels(tmp_path), passages()
    write(tmp_path, "txt", run, True)
    path = config(tmp_path, setting, tables={"t": {}})
    take = "max" if isinstance(setting, str) else "sum"
    results = harness.run(path)
    expected = harness.evaluate(grades, documents(run, take), ["map", "ndcg@3"]).summary()
    (entry,) = results.leaderboard.entries
    assert entry.evaluation.summary() == expected
    sentence = f"A document has the {'best score' if take == 'max' else 'sum of the scores'}"
    assert sentence in (tmp_path / "out" / "tables" / "t.md").read_text(encoding="utf-8")
    assert '"passages"' in (tmp_path / "out" / "manifest.json").read_text(encoding="utf-8")
    again = harness.run(path)
    assert again.cached == 1
    (tmp_path / "c.yaml").write_text(
        path.read_text(encoding="utf-8").replace("#", "[#]"), encoding="utf-8"
    )
    assert harness.run(path).cached == 0  # another setting is another cell


@pytest.mark.parametrize("pattern", USUAL)
def test_usual_spellings_are_proposed_and_the_proposal_works(pattern: str, tmp_path: Path) -> None:
    grades = qrels(tmp_path)
    example = USUAL[pattern]
    lines = [
        f"{qid} Q0 {example.replace('D1', docno)} 1 {n} t\n"
        for qid, row in grades.items() for n, docno in enumerate(row)
    ]  # fmt: skip
    (tmp_path / "run.txt").write_text("".join(lines), encoding="utf-8")
    findings = harness.check(tmp_path / "q.txt", tmp_path / "run.txt").findings
    (error,) = [finding for finding in findings if finding.severity == "error"]
    assert error.rule == "docno-spelling"
    proposed = error.fix.split("'")[1]
    path = config(tmp_path, proposed)
    assert harness.check(path).count("error") == 0
    values = harness.run(path).leaderboard.entries[0].evaluation.summary()
    assert values["map"] > 0


def test_wrong_settings_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "txt", passages(), False)
    for setting in ("(", "abc", "(a)(b)", "(?P<x>.+)(?=#)"):
        with refuses("documents.from"):
            harness.read_run(path, documents=setting)
    for setting in ({"form": "x"}, {}, 3):
        with refuses("documents"):
            harness.read_run(path, documents=setting)
    with refuses("documents", suggests="from"):
        harness.read_run(path, documents={"from": PATTERN, "frm": 1})
    with refuses("run.txt", "columns"):
        harness.read_run(path, documents=r"(.+)__\d$")
    qrels(tmp_path)
    with refuses("$.runs['run=1'].documents (line 1)"):
        harness.run(config(tmp_path, {"from": "abc"}))
    rows = tmp_path / "l.txt"
    rows.write_text("1 qid:1 1:2\n0 qid:1 1:3\n", encoding="utf-8")
    scores = tmp_path / "s.txt"
    scores.write_text("1\n2\n", encoding="utf-8")
    with refuses("s.txt", "columns"):
        harness.read_run(scores, dataset=harness.read_qrels(rows), documents=PATTERN)


def test_passages_in_memory_are_those_of_files(tmp_path: Path) -> None:
    grades, run, metrics = qrels(tmp_path), passages(), ["map", "ndcg@3"]
    expected = harness.evaluate(grades, documents(run, "max"), metrics).to_dict()
    rows = [(qid, name, score) for qid, scores in run.items() for name, score in scores.items()]
    names = ("qid", "docno", "score")
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    for form in (run, rows, table, write(tmp_path, "txt", run, False)):
        values = harness.evaluate(grades, form, metrics, documents=PATTERN)
        assert values.to_dict() == expected
    taken = {"from": PATTERN, "take": "sum"}
    runs = {"passages": run, "again": table}
    (row,) = harness.compare(grades, runs, ["map"], baseline="again", documents=taken).rows
    assert row.difference == 0
    with refuses("documents"):
        harness.evaluate(grades, run, ["map"], documents=3)


def test_a_list_of_passages_is_a_list_of_documents() -> None:
    found = harness.evaluate(
        {"1": ["D1"]}, {"1": ["D2#0", "D2#4", "D1#1", "D2#1"]}, ["recip_rank"], documents=PATTERN
    )
    assert found.to_dict() == {"1": {"recip_rank": 0.5}}


@pytest.mark.parametrize("sign", ["#", "::", "/", ".", "-p"])
def test_passages_of_the_only_judged_documents_are_proposed(tmp_path: Path, sign: str) -> None:
    rng = random.Random(4)
    with (tmp_path / "q.txt").open("w") as judged, (tmp_path / "p.run").open("w") as run:
        for qid in rng.sample(range(1000), 20):
            judged.write(f"{qid} 0 D=x{qid}y{rng.randint(0, 49)} 1\n")
            for document in range(50):
                for number in range(2):
                    score = rng.random()
                    run.write(f"{qid} Q0 D=x{qid}y{document}{sign}{number} 1 {score} t\n")
    (proposal,) = (
        finding
        for finding in harness.check(tmp_path / "q.txt", tmp_path / "p.run").findings
        if finding.rule == "docno-spelling"
    )
    pattern = proposal.fix.partition("'")[2].partition("'")[0]
    assert pattern in USUAL
    board = harness.evaluate(
        tmp_path / "q.txt", tmp_path / "p.run", ["num_rel_ret"], documents=pattern
    )
    assert board.values.sum() == 20


def test_command_takes_another_score_and_names_it(tmp_path: Path) -> None:
    run = passages()
    path = write(tmp_path, "txt", run, scattered=True)
    qrels = {qid: dict.fromkeys(("D-1", "D-99"), 1) for qid in run}
    (tmp_path / "q.json").write_text(json.dumps(qrels))
    # the number may be left out: each docno matches
    command = "evaluate", tmp_path / "q.json", path, "-m", "map", "--format", "csv"
    for take in ("sum", "mean", "first", "max"):
        done = called(*command, "--set", f"run.documents={take}:([^#]+)(?:#[0-9]+)?")
        expected = harness.evaluate(qrels, documents(run, take), ["map"]).summary()["map"]
        assert float(done.out.rpartition(",")[2]) == pytest.approx(expected)
        assert TAKEN[take] in done.err


@pytest.mark.parametrize(
    ("take", "order", "is_warned"),
    [("sum", "ascending", True), ("sum", "descending", False), ("max", "ascending", False)],
)
def test_sums_of_negative_scores_are_warned_of(
    tmp_path: Path, take: str, order: str, is_warned: bool
) -> None:
    run = {qid: {d: abs(x) + 1 for d, x in scores.items()} for qid, scores in passages().items()}
    path = write(tmp_path, "csv", run, scattered=False)
    for source in (run, path):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            qrels = {qid: {"D-99": 1} for qid in run}
            options: Any = {"documents": {"from": PATTERN, "take": take}, "order": order}
            harness.evaluate(qrels, source, ["map"], **options)
        rules = [warning.message.finding.rule for warning in caught if warning.message.finding]
        assert ("sum-of-negatives" in rules) is is_warned
