"""What ``harness run`` finds of predictions that belong elsewhere, as ``harness check`` does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.cli.main import main
from harness.guard.check import check_config

GBRT = "gbrt/fold1.txt"


def run(files: Any, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit code, and standard error with paths from the folder."""
    with pytest.raises(SystemExit) as stopped:
        main(["run", str(files.folder / "c.yaml"), "--set", "output=out"])
    assert isinstance(stopped.value.code, int)
    return stopped.value.code, capsys.readouterr().err.replace(f"{files.folder}/", "")


def test_clean_sweeps_are_told_nothing_of(letor: Any, capsys: Any) -> None:
    code, said = run(letor, capsys)
    assert code == 0
    for rule in ("shifted", "swapped-fold", "upside-down", "swapped-columns", "rank-as-score"):
        assert f"[{rule}]" not in said


def test_a_slip(letor: Any, capsys: Any) -> None:
    letor.put(GBRT, ["0.5\n", *letor.lines(GBRT)[:-1]])
    code, said = run(letor, capsys)
    assert code == 0
    assert (
        "gbrt/fold1.txt:32: the predictions fit the rows of letor-fold1 better if prediction 32 "
        "belongs to row 31 and so on, rows 31 to 1,172 at least: correlation with the grades "
        "within queries 0.61, against 0.02 as they stand: prediction 32 -> row 31 (query 46, grade "
        "1); prediction 33 -> row 32 (query 46, grade 0); prediction 34 -> row 33 (query 46, grade "
        "0) (+at least 1,139 more) [shifted]"
    ) in said


def test_warnings_are_counted_beside_the_numbers(letor: Any, capsys: Any) -> None:
    lines = letor.lines("neural/fold1.txt")
    letor.put("neural/fold1.txt", ["0.5\n", *lines[:-1]])
    config, out = str(letor.folder / "c.yaml"), str(letor.folder / "out")

    def printed(*words: str) -> Any:
        with pytest.raises(SystemExit) as stopped:
            main([*words])
        assert stopped.value.code == 0
        return capsys.readouterr()

    said = f"\nguard: 1 warning (shifted); see manifest.json, or harness check {config}\n"
    assert said in printed("run", config, "--set", f"output={out}").out
    assert "guard:" not in printed("run", config, "--set", f"output={out}", "-f", "csv").out
    for words in ([], ["--methods"]):
        shown = printed("table", out, *words)
        assert "the results have 1 warning (shifted) of the guard; 'findings'" in shown.err
        assert "guard" not in shown.out


def test_folds_of_one_size_that_changed_places(letor: Any, capsys: Any) -> None:
    for fold in ("1", "2"):
        for name in (f"fold{fold}.txt", f"gbrt/fold{fold}.txt", f"neural/fold{fold}.txt"):
            letor.put(name, letor.lines(name)[:1000])
    first, second = letor.lines(GBRT), letor.lines("gbrt/fold2.txt")
    letor.put(GBRT, second)
    letor.put("gbrt/fold2.txt", first)
    code, said = run(letor, capsys)
    assert code == 0
    assert (
        "gbrt/fold1.txt:1: the predictions fit the rows of letor-fold2 (fold2.txt) (correlation "
        "with the grades within queries 0.64) and not those of letor-fold1 (0.03), as many"
    ) in said


TREC = """\
datasets: {d: {format: trec, path: qrels}}
runs: {r: {format: trec, path: run}}
metrics: [map]
"""


def test_scores_that_are_ranks(trec: Any, capsys: Any) -> None:
    trec.put("c.yaml", [TREC])
    assert "[rank-as-score]" not in run(trec, capsys)[1]
    rows = [line.split() for line in trec.lines("run")]
    trec.put("run", [" ".join([*row[:4], row[3], row[5]]) + "\n" for row in rows])
    code, said = run(trec, capsys)
    assert code == 2  # the only run
    assert f"the score is the rank in {len(rows):,} of {len(rows):,} rows" in said
    exchanged = [" ".join([*row[:3], row[4], row[3], row[5]]) + "\n" for row in rows]
    trec.put("run", exchanged)
    code, said = run(trec, capsys)
    assert code == 2  # the only run
    assert "column 4 and the rank in column 5" in said
    assert "[swapped-columns]" in said


def test_what_was_found_is_in_the_manifest(letor: Any, capsys: Any) -> None:
    letor.put(GBRT, ["0.5\n", *letor.lines(GBRT)[:-1]])
    run(letor, capsys)
    found = json.loads((letor.folder / "out/manifest.json").read_text())["findings"]
    (one,) = [one for one in found if one["rule"] == "shifted"]
    assert (one["place"], one["count"], one["at_least"]) == (f"{GBRT}:32", 1142, True)
    assert one["examples"][0] == "prediction 32 -> row 31 (query 46, grade 1)"


@pytest.mark.parametrize("name", ["run", "qrels"])
def test_qids_and_docnos_that_changed_places(trec: Any, capsys: Any, name: str) -> None:
    trec.put("c.yaml", [TREC])
    rows = [line.split() for line in trec.lines(name)]
    trec.put(name, [" ".join([row[2], row[1], row[0], *row[3:]]) + "\n" for row in rows])
    code, said = run(trec, capsys)
    assert code == 2  # the only run
    assert "qid and docno have changed places: " in said
    assert " more) [swapped-columns]" in said


FOLDS = """\
datasets: {"d{fold}": {format: trec, path: "{fold}.qrels"}}
runs: {"{model}": {format: trec, path: "{model}.{fold}.run"}}
metrics: [map]
"""


def test_runs_of_two_folds_that_changed_places(trec: Any, capsys: Any) -> None:
    trec.put("c.yaml", [FOLDS])
    for fold in "12":
        qids = {str(qid) for qid in range(1, 31) if qid % 2 == (fold == "2")}
        judged = [line for line in trec.lines("qrels") if line.split()[0] in qids]
        trec.put(f"{fold}.qrels", judged)
        rows = [line for line in trec.lines("run") if line.split()[0] in qids]
        trec.put(f"good.{fold}.run", rows)
        trec.put(f"bad.{'21'[int(fold) - 1]}.run", rows)
    code, said = run(trec, capsys)
    assert code == 1
    what = "bad.1.run: no query of it is one of d1; of 15 looked at 15 are those of 2.qrels"
    assert f"{what} [no-common-query]" in said
    checked = check_config(trec.folder / "c.yaml").findings
    heads = [str(one).replace(f"{trec.folder}/", "") for one in checked if one.severity == "error"]
    assert len(heads) == 2
    assert heads[0] == (
        f"error: {what} [no-common-query]\n"
        "  effect: nothing is evaluated, or every query counts 0\n"
        "  fix:    name the run for d1"
    )
    (trec.folder / "good.1.run").unlink()
    (trec.folder / "good.2.run").unlink()
    assert what in run(trec, capsys)[1]  # no run at all is of its dataset


@pytest.mark.parametrize(
    ("choice", "severity"),
    [
        ("", "warning"),
        ("policy: {empty_queries: skip}\n", "note"),
        ("convention: lightgbm\n", "note"),
    ],
)
def test_queries_without_relevant_documents(
    letor: Any, capsys: Any, choice: str, severity: str
) -> None:
    for name in ("fold1.txt", "fold2.txt"):
        letor.put(name, [f"0{row[1:]}" if at < 300 else row
                         for at, row in enumerate(letor.lines(name))])  # fmt: skip
    config = "".join(letor.lines("c.yaml")).replace("[map]", "[ndcg@5]")
    letor.put("c.yaml", [config, choice])
    run(letor, capsys)
    found = json.loads((letor.folder / "out/manifest.json").read_text())["findings"]
    assert {one["severity"] for one in found if one["rule"] == "empty-queries"} == {severity}
    checked = check_config(letor.folder / "c.yaml").findings
    assert {one.severity for one in checked if one.rule == "empty-queries"} == {severity}


def test_a_file_that_failed_has_one_spelling(letor: Any, capsys: Any, monkeypatch: Any) -> None:
    (letor.folder / "configs").mkdir()
    config = "".join(letor.lines("c.yaml")).replace('path: "', 'path: "../')
    letor.put("configs/c.yaml", [config])
    letor.put(GBRT, ["nan\n", *letor.lines(GBRT)[1:]])
    monkeypatch.chdir(letor.folder)
    with pytest.raises(SystemExit):
        main(["run", "configs/c.yaml"])
    said = capsys.readouterr()
    assert "FAILED: gbrt fold=1: gbrt/fold1.txt:1: score 'nan' is not" in said.out
    assert "error: gbrt on letor-fold1: gbrt/fold1.txt:1: score 'nan' is not" in said.err
    # what is kept names it as the config does, wherever the command is given
    assert (
        "../gbrt/fold1.txt:1: score 'nan'"
        in next(letor.folder.glob("configs/**/leaderboard.csv")).read_text()
    )
