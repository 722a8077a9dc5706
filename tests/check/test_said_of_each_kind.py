"""Effects and advice are true of the kind of file, and each thing is said once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.check import check_config, check_files
from harness.guard.counts import of_count
from harness.guard.finding import Finding
from harness.guard.fits import Rows
from harness.guard.registry import RULES, accepted, finding
from harness.main import main


def the(rule: str, qrels: Path, run: Path) -> Finding:
    found = check_files(str(qrels), [str(run)], of_qrels={}, of_runs={}).findings
    return next(one for one in found if one.rule == rule)


def test_a_header_line_of_each_kind(trec: Any, letor: Any) -> None:
    qrels, run = trec.folder / "qrels", trec.folder / "run"
    trec.put("header", ["qid Q0 docno rank score tag\n", *trec.lines("run")])
    assert the("header-line", qrels, trec.folder / "header").effect == (
        "read as a row, it would be of a query that there is not"
    )
    trec.put("headed", ["qid Q0 docno grade\n", *trec.lines("qrels")])
    assert the("header-line", trec.folder / "headed", run).effect == (
        "read as a row, it would be a judgement for a query that there is not"
    )
    letor.put("p.txt", ["score\n", *letor.lines("gbrt/fold1.txt")])
    assert the("header-line", letor.folder / "fold1.txt", letor.folder / "p.txt").effect == (
        "read as a row, it would shift every prediction by one"
    )


def test_a_grade_that_is_not_finite_is_not_ranked(trec: Any) -> None:
    lines = trec.lines("qrels")
    trec.put("qrels", [*lines[:4], lines[4].rsplit(maxsplit=1)[0] + " nan\n", *lines[5:]])
    one = the("not-finite", trec.folder / "qrels", trec.folder / "run")
    assert one.effect == "it does not say whether the document is relevant"


def test_run_says_the_same_effects(letor: Any) -> None:
    import harness

    letor.put("gbrt/fold1.txt", ["score\n", *letor.lines("gbrt/fold1.txt")])
    found = harness.run(letor.folder / "c.yaml").findings
    (one,) = [one for one in found if one.rule == "header-line"]
    assert one.effect == "read as a row, it would shift every prediction by one"


@pytest.mark.parametrize(
    "rule", ["score-ties", "constant-scores", "nearly-constant-scores", "labels-as-scores"]
)
def test_a_note_is_not_advised_to_become_one(rule: str) -> None:
    assert "accept" in RULES[rule].fix or "and this is a note" in RULES[rule].fix
    (one,) = accepted([finding(rule, "r", "")], [rule])
    for note in (one, finding(rule, "r", "", severity="note")):
        assert note.fix == RULES[rule].fix_of_note
        assert "accept" not in note.fix
        assert "this is a note" not in note.fix
    own = finding(rule, "r", "", fix="something else")
    assert accepted([own], [rule])[0].fix == "something else"


def drawn(n: int, seed: int) -> Rows:
    random = np.random.default_rng(seed)
    return Rows(random.integers(0, 4, n), np.arange(n) // 10)


def noisy(rows: Rows, seed: int) -> Any:
    return rows.grades + np.random.default_rng(seed).normal(0, 1.5, rows.grades.size)


def test_one_line_too_many_is_not_blamed_on_a_fold_of_the_count() -> None:
    own, other = drawn(400, 1), drawn(401, 2)
    one = of_count("p", "f5", own, np.append(noisy(own, 3), 1.0), {"f3": other})
    assert "they fit without" in one.what
    assert "f3" not in one.what + one.fix
    assert "look at predictions" in one.fix
    theirs = of_count("p", "f5", own, noisy(other, 3), {"f3": other})
    assert "whose grades they correlate with" in theirs.what
    assert theirs.fix == "give the predictions of f5"


@pytest.mark.parametrize("n", [399, 401])
def test_the_count_alone_may_be_another_folds(n: int) -> None:
    own, other = drawn(400, 1), drawn(n, 2)
    scores = np.random.default_rng(7).random(n)  # of a random baseline
    one = of_count("p", "f5", own, scores, {"f3": other})
    assert "they are as many as the rows of f3, and may be theirs" in one.what
    assert one.fix.endswith(
        "predict its rows, and nothing else; or give the predictions of f5"
    ) or (one.fix == f"{RULES['row-count'].fix}; or give the predictions of f5")


def test_accepted_labels_are_all_that_is_said(letor: Any) -> None:
    grades = [line.split()[0] + "\n" for line in letor.lines("fold1.txt")]
    letor.put("gbrt/fold1.txt", grades)
    for accept in ("", "guard: {accept: [labels-as-scores]}\n"):
        text = (letor.folder / "c.yaml").read_text().replace(accept or "\n\n", "")
        (letor.folder / "a.yaml").write_text(text + accept)
        found = check_config(letor.folder / "a.yaml").findings
        of_run = {one.rule for one in found if "gbrt/fold1" in one.place}
        assert of_run == {"labels-as-scores"}


def test_what_fails_is_said_once_with_its_rule(letor: Any, capsys: Any) -> None:
    for model in ("gbrt", "neural"):
        lines = letor.lines(f"{model}/fold1.txt")
        letor.put(f"{model}/fold1.txt", ["nan\n"] * 20 + lines[20:])
    with pytest.raises(SystemExit):
        main(["run", str(letor.folder / "c.yaml")])
    said = capsys.readouterr()
    failed = [line for line in said.out.splitlines() if line.strip().startswith("FAILED")]
    assert len(failed) == 2
    errors = [line for line in said.err.splitlines() if line.startswith("error")]
    assert errors == [
        f"error: {model} on letor-fold1: {letor.folder}/{model}/fold1.txt:1: score 'nan' is not a "
        "finite number: line 1 'nan', line 2 'nan', line 3 'nan' (+17 more) [not-finite]"
        for model in ("gbrt", "neural")
    ]
    assert said.err.count("  fix: ") == 1  # below both
    assert said.err.index("  fix: ") > said.err.index("neural on")


def test_failures_of_a_dataset_that_is_not_shown_are_below_one_table(
    letor: Any, capsys: Any
) -> None:
    letor.put("fold3.txt", letor.lines("fold2.txt"))
    for model in ("gbrt", "neural"):
        letor.put(f"{model}/fold3.txt", letor.lines(f"{model}/fold2.txt"))
        letor.put(f"{model}/fold1.txt", ["x y\n"])
    with pytest.raises(SystemExit):
        main(["run", str(letor.folder / "c.yaml")])
    out = capsys.readouterr().out
    assert out.count("FAILED: gbrt fold=1 on letor-fold1") == 1
    assert out.count("FAILED") == 2


def test_every_error_of_a_sweep_begins_as_one(trec: Any, capsys: Any) -> None:
    trec.put("qrels", ["1 0\n", "2 0 d x\n"])
    trec.put("c.yaml", ["datasets: {d: {path: qrels}}\n", "runs: {r: {path: run}}\n",
                        "metrics: [map]\n"])  # fmt: skip
    with pytest.raises(SystemExit, match="2"):
        main(["run", str(trec.folder / "c.yaml")])
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith(("error: ", "  fix: ")) for line in lines)
    assert any(line.endswith("]") for line in lines)


def test_a_file_of_predictions_that_is_cut(letor: Any) -> None:
    lines = letor.lines("gbrt/fold1.txt")
    letor.put("p.txt", [*lines[:700], lines[700][:4]])
    one = the("row-count", letor.folder / "fold1.txt", letor.folder / "p.txt")
    rows = f"701 predictions for {len(lines):,} rows of {letor.folder / 'fold1.txt'}"
    assert one.what == (
        f"the file may be cut, as its last line has no line end: {rows}; in their order without a "
        "prediction"
    )
    assert one.fix == "get the whole file again"
    letor.put("p.txt", [*lines[500:700], lines[700][:4]])  # the first are not there either
    one = the("row-count", letor.folder / "fold1.txt", letor.folder / "p.txt")
    assert one.what.startswith("the file may be cut, as its last line has no line end: 201 ")
    letor.put("p.txt", [*lines, lines[0][:4]])  # too many are not cut
    one = the("row-count", letor.folder / "fold1.txt", letor.folder / "p.txt")
    assert "cut, as" not in one.what
    letor.put("p.txt", lines[:700])
    one = the("row-count", letor.folder / "fold1.txt", letor.folder / "p.txt")
    assert "cut" not in one.what
