"""Effects and advice are true of the kind of file, and each thing is said once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import Finding
from harness.guard.check import check_files
from harness.guard.lost_rows import of_count
from harness.guard.registry import RULES, accepted, finding
from harness.guard.row_order import Rows


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
