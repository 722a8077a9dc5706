"""``harness check``: what it prints, and how it ends."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import Said, called, refused

import harness
from harness.guard.check_report import RULES_PAGE
from harness.readers.source import Source


def check(*words: object) -> Said:
    return called("check", *words)


@pytest.mark.parametrize(
    "name", ["compare", "folds", "paper", "pictures", "plugin", "quickstart", "sweep", "trec"]
)
def test_the_examples_have_no_error_and_only_true_warnings(root: Path, name: str) -> None:
    # 8 and 9 of the 50 queries of the folds have no relevant document; lsi.run leaves out query 17
    result = check(root / f"configs/{name}.yaml")
    assert result.code == 0
    warned = {
        re.sub(r".*/|:\d+$", "", line.split(": ")[1]) + " " + line.rsplit("[", 1)[1].rstrip("]")
        for line in result.out.splitlines()
        if line.startswith("warning: ")
    }
    assert warned <= {"test.txt empty-queries", "lsi.run missing-queries"}


def test_exit_codes(trec: Any, root: Path) -> None:
    qrels, run = trec.folder / "qrels", trec.folder / "run"
    assert check(qrels, run, "--strict").code == 0
    trec.put("run", trec.lines("run")[:1234])  # a warning
    assert check(qrels, run).code == 0
    assert check(qrels, run, "--strict").code == 1
    trec.put("run", [*trec.lines("run"), "no row\n"])
    assert check(qrels, run).code == check(qrels, run, "--strict").code == 2
    config = root / "configs/sweep.yaml"  # empty_queries: skip, so that these are notes
    assert check(config, "--strict").code == 0
    assert check(config, "--strict", "--set", "policy.empty_queries=zero").code == 1


def test_scattered_queries_of_a_run_without_a_dataset_are_gathered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Source.blocks, "__defaults__", (40,))
    qrels, run = tmp_path / "bad.qrels", tmp_path / "a.run"
    qrels.write_text("1 0 d x\n2 0 d y\n", encoding="utf-8")
    run.write_text("".join(f"{n % 3} Q0 d{n} 1 {9 - n} t\n" for n in range(9)), encoding="utf-8")
    found = harness.check(qrels, run)
    assert [one.rule for one in found.findings] == ["columns", "gathered-queries"]
    assert (found.rows, found.alone) == (9, 1)


def test_a_wrong_score_in_json_is_of_its_file(trec: Any) -> None:
    trec.put("run.json", ['{"5": {"DOC-1": null}}'])
    lines = check(trec.folder / "qrels", trec.folder / "run.json").out.splitlines()
    assert f"ERROR  {trec.folder}/run.json" in lines
    assert not any(line.startswith("OK") for line in lines)


def test_findings_lead_to_their_rules(trec: Any) -> None:
    files = trec.folder / "qrels", trec.folder / "run"
    assert RULES_PAGE not in check(*files).out
    swapped = re.compile(r" Q0 (\S+) ")
    trec.put("run", [swapped.sub(r" \1 Q0 ", line) for line in trec.lines("run")])
    printed = check(*files).out
    assert "fix:    write Q0 in column 2 and the docno in column 3\n" in printed
    assert printed.endswith(f"\nwhat each rule means: {RULES_PAGE}\n")
    markdown = check(*files, "--format", "markdown").out
    assert f" [columns]({RULES_PAGE}#columns) |\n" in markdown


def test_what_is_printed(trec: Any) -> None:
    lines = trec.lines("run")
    trec.put("run", [*lines[:5], lines[2], *lines[5:]])
    result = check(trec.folder / "qrels", trec.folder / "run", "--notes")
    assert (
        "  note: line 183: no relevant document in 2 of 30 queries: 8, 3 [empty-queries]\n"
        in result.out
    )


def test_json(letor: Any) -> None:
    letor.put("gbrt/fold1.txt", letor.lines("gbrt/fold1.txt")[1:])
    result = check(letor.folder / "c.yaml", "-f", "json")
    assert result.code == 2
    found = json.loads(result.out)
    assert {*found} == {"findings", "counts", "rows", "runs_without_dataset", "checked"}
    assert found["counts"]["error"] == 1
    runs = [f"{model}/fold{fold}.txt" for model in ("gbrt", "neural") for fold in (1, 2)]
    assert found["rows"] == sum(len(letor.lines(run)) for run in runs)
    first = found["findings"][0]
    assert {*first} == {
        "rule", "severity", "place", "what", "count", "examples", "effect", "fix", "file",
        "dataset", "run",
    }  # fmt: skip
    path = f"{letor.folder}/gbrt/fold1.txt"
    assert [first[name] for name in ("rule", "place", "file", "dataset", "run")] == [
        "row-count", path, path, "letor-fold1", "gbrt"
    ]  # fmt: skip
    placed = next(one for one in found["findings"] if one["rule"] == "empty-queries")
    assert placed["place"] == f"{placed['file']}:{placed['line']}"
    assert (placed["dataset"], "run" in placed) == ("letor-fold1", False)
    assert found["checked"][0] == {
        "dataset": "letor-fold1", "run": "gbrt", "columns": {"fold": "1"},
        "dataset_path": f"{letor.folder}/fold1.txt", "run_path": path,
    }  # fmt: skip


def test_sarif(letor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    letor.put("gbrt/fold1.txt", letor.lines("gbrt/fold1.txt")[1:])
    monkeypatch.chdir(letor.folder)
    result = check("c.yaml", "-f", "sarif")
    assert result.code == 2
    log = json.loads(result.out)
    (run,) = log["runs"]
    assert (log["version"], run["tool"]["driver"]["name"]) == ("2.1.0", "harness")
    rules = run["tool"]["driver"]["rules"]
    findings = json.loads(check("c.yaml", "-f", "json").out)["findings"]
    assert len(run["results"]) == len(findings)
    for one, found in zip(run["results"], findings, strict=True):
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"] == found["rule"]
        assert rules[one["ruleIndex"]]["helpUri"].endswith(f"rules/#{found['rule']}")
        assert one["level"] == found["severity"]
        assert one["message"]["text"].startswith(found["what"])
        (at,) = one["locations"]
        assert at["physicalLocation"]["artifactLocation"]["uri"] == found["file"]
        region = at["physicalLocation"].get("region", {})
        assert region.get("startLine") == found.get("line")


def test_what_is_no_config(root: Path, tmp_path: Path) -> None:
    def found(path: Path) -> list[dict[str, Any]]:
        result = check(path, "--format", "json")
        assert result.code == 2
        some: list[dict[str, Any]] = json.loads(result.out)["findings"]
        return some

    (alone,) = found(root / "runs/trec/bm25.run")
    (in_python,) = harness.check(root / "runs/trec/bm25.run").findings
    assert (alone["rule"], alone["what"]) == ("config", in_python.what)
    (tmp_path / "c.yaml").write_text("datasets: {a: [}\n")
    (one,) = found(tmp_path / "c.yaml")
    assert (one["place"], one["line"]) == (f"{tmp_path}/c.yaml:1", 1)
    (tmp_path / "on_top.yaml").write_text("extends: c.yaml\n")
    assert [(Path(of["file"]).name, of["line"]) for of in found(tmp_path / "on_top.yaml")] == [
        ("c.yaml", 1)
    ]
    assert [one["rule"] for one in found(tmp_path / "none.yaml")] == ["missing-file"]
    both = refused("check", root / "configs/trec.yaml", root / "runs/trec/bm25.run")
    assert "expected a config alone" in both


def test_every_problem_of_a_config_is_found_and_its_files_are_read(letor: Any) -> None:
    letor.put("c.yaml", [*letor.lines("c.yaml"), "metrics_sets: {}\n"])
    letor.put("c.yaml", [line.replace("[map]", "[mapp, ndgc]") for line in letor.lines("c.yaml")])
    letor.put("gbrt/fold1.txt", [*letor.lines("gbrt/fold1.txt"), "x\n"])
    found = json.loads(check(letor.folder / "c.yaml", "-f", "json").out)
    errors = [one for one in found["findings"] if one["severity"] == "error"]
    assert [one["rule"] for one in errors] == ["config", "config", "config", "unreadable"]
    assert len(found["checked"]) == 4


def test_ok_lines_come_with_verbose_alone(trec: Any) -> None:
    qrels, good = trec.folder / "qrels", trec.folder / "run"
    bad = trec.folder / "bad=1.run"
    trec.put(bad.name, trec.lines("run")[:1234])
    words = (qrels, good, bad)
    short, whole = (check(*words, *flag).out.splitlines() for flag in ((), ("-v",)))
    ok = [line for line in whole if line.startswith("OK ")]
    assert ok == [f"OK     {good}"]
    assert short == [line for line in whole if line not in ok]
    line, *_ = check(qrels, good).out.splitlines()  # a clean check says what was checked
    assert line.startswith("no problem in 2 files (1 dataset and 1 run, ")
    assert "--verbose" in refused("check", *words, "--verbose", "-f", "json")
