"""One cause is said once: what follows from it is no further finding."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from harness.cli.main import main
from harness.errors import Finding
from harness.guard.check import check_config, check_files
from harness.guard.registry import FOLLOWS, RULES, finding, without_effects

N, DEEP = 40, 12

Score = Callable[[int, int, float], float]


class Files:
    """Judgements of 40 queries, in which 12 documents of a run each are judged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        random = np.random.default_rng(2)
        self.grades = [random.permutation([0] * 7 + [1, 1, 1, 2, 3]).tolist() for _ in range(N)]
        self.scores = [sorted((random.normal(0, 1, DEEP) + 5).tolist())[::-1] for _ in range(N)]
        self.order = [np.argsort(-(np.array(one) + random.normal(0, 1, DEEP))).tolist()
                      for one in self.grades]  # fmt: skip
        judged = [f"q{q} 0 d{q}-{d} {self.grades[q][d]}\n" for q in range(N) for d in range(DEEP)]
        (folder / "qrels").write_text("".join(judged))
        self.run("a.run", lambda rank, grade, score: score)

    def run(self, name: str, score: Score, ranks: Callable[[int], int] = lambda r: r,
            moved: int = 0) -> None:  # fmt: skip
        """Write a run with ``score(rank, grade, score)`` and the ranks in the order of the file."""
        lines = [
            f"q{q + moved} Q0 d{q}-{d} {ranks(rank)} "
            f"{score(rank, self.grades[q][d], self.scores[q][rank - 1]):.6g} tag\n"
            for q in range(N)
            for rank, d in enumerate(self.order[q], 1)
        ]
        (self.folder / name).write_text("".join(lines))

    def in_capitals(self, name: str) -> None:
        """Write a run of the judged documents in capitals, and twice as many that nobody judged."""
        lines = [
            f"q{q} Q0 {docno} 1 {score} tag\n"
            for q in range(N)
            for d, score in enumerate(self.scores[q])
            for docno, score in ((f"D{q}-{d}", score), (f"X{d}", score - 4), (f"Y{d}", score - 8))
        ]
        (self.folder / name).write_text("".join(lines))

    def config(self, **changes: Any) -> str:
        content = {
            "output": "out",
            "datasets": {"d": {"path": "qrels", "format": "trec"}},
            "runs": {"{run}": {"path": "{run}.run", "format": "trec"}},
            "metrics": ["ndcg"], **changes,
        }  # fmt: skip
        (self.folder / "x.yaml").write_text(yaml.safe_dump(content))
        return str(self.folder / "x.yaml")

    def rules(self, **changes: Any) -> list[str]:
        """Rules that are not broken by the sound run, of all severities."""
        return [one.rule for one in check_config(self.config(**changes)).findings]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_a_sound_run_has_nothing(files: Files) -> None:
    assert files.rules() == []


CASES: dict[str, tuple[Callable[[Files], None], list[str]]] = {
    "constant": (
        lambda files: files.run("b.run", lambda *_: 1.5), ["constant-scores"],
    ),
    "two of equal scores": (
        lambda files: [files.run(name, lambda *_: 1.5) for name in ("b.run", "c.run")] and None,
        ["constant-scores", "constant-scores"],
    ),
    "labels": (
        lambda files: files.run("b.run", lambda rank, grade, score: grade), ["labels-as-scores"],
    ),
    "labels turned round": (
        lambda files: files.run("b.run", lambda rank, grade, score: -grade), ["labels-as-scores"],
    ),
    "ranks": (
        lambda files: files.run("b.run", lambda rank, *_: rank), ["rank-as-score"],
    ),
    "negated": (
        lambda files: files.run("b.run", lambda rank, grade, score: -score), ["upside-down"],
    ),
    "beyond single precision": (
        lambda files: files.run("b.run", lambda rank, grade, score: score * 1e39), ["overflow"],
    ),
    "topics moved by one": (
        lambda files: files.run("b.run", lambda rank, grade, score: score, moved=1),
        ["other-topics"],
    ),
    "docnos in another case among unjudged ones": (
        lambda files: files.in_capitals("b.run"), ["docno-spelling"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_one_cause_is_one_finding(files: Files, name: str) -> None:
    breaks, expected = CASES[name]
    breaks(files)
    assert files.rules() == expected


@pytest.mark.parametrize("name", ["labels", "labels turned round"])
def test_what_follows_from_what_is_accepted_stays_unsaid(files: Files, name: str) -> None:
    CASES[name][0](files)
    found = check_config(files.config(guard={"accept": ["labels-as-scores"]})).findings
    assert [(one.rule, one.severity) for one in found] == [("labels-as-scores", "note")]


@pytest.mark.parametrize("name", [one for one in CASES if one not in ("labels", "ranks")])
def test_harness_run_says_the_same(
    files: Files, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    breaks, expected = CASES[name]
    breaks(files)
    with contextlib.suppress(SystemExit):
        main(["run", files.config(), "--set", f"output={files.folder / 'out'}"])
    said = capsys.readouterr().err
    assert {rule for rule in RULES if f"[{rule}]" in said} == {*expected}


def test_ties_beside_constant_queries_are_said(files: Files) -> None:
    lines = (files.folder / "a.run").read_text().splitlines()
    words = [line.split() for line in lines]
    for at, row in enumerate(words):
        row[4] = "1.5" if at < 60 else str(-(int(row[3]) // 3))
    (files.folder / "a.run").write_text("".join(" ".join(row) + "\n" for row in words))
    assert {"constant-scores", "score-ties"} <= {*files.rules()}


def test_other_rules_of_other_files_stay() -> None:
    found = [
        finding("upside-down", "a.run:7", ""),
        finding("ranks-against-scores", "a.run:9", ""),
        finding("ranks-against-scores", "b.run:9", ""),
        finding("score-ties", "a.run", ""),
    ]
    kept = without_effects(found)
    assert [(one.rule, one.place) for one in kept] == [
        ("upside-down", "a.run:7"),
        ("ranks-against-scores", "b.run:9"),
        ("score-ties", "a.run"),
    ]


def test_a_refusal_stays_where_its_cause_is_accepted() -> None:
    found = [finding("swapped-columns", "r", ""), finding("no-common-query", "r", "")]
    assert without_effects(found) == found[:1]
    assert without_effects(found, ["swapped-columns"]) == found


def test_rules_of_causes_exist() -> None:
    assert {*FOLLOWS}.union(*FOLLOWS.values()) <= {*RULES}


def ties(files: Files, **changes: Any) -> Finding:
    files.run("a.run", lambda rank, *_: -(rank // 4))
    found = check_config(files.config(**changes)).findings
    (one,) = [one for one in found if one.rule == "score-ties"]
    return one


@pytest.mark.parametrize("order", ["trec_eval", "trec_eval10", "stable", "bounds"])
def test_ties_are_a_note_where_the_config_says_their_order(files: Files, order: str) -> None:
    assert ties(files).severity == "warning"
    assert ties(files, policy={"depth": 100}).severity == "warning"
    assert ties(files, policy={"ties": order}).severity == "note"


def test_examples_of_labels_are_one_of_each_query(files: Files) -> None:
    files.run("b.run", lambda rank, grade, score: 2.0**grade + rank / 1000)
    (one,) = check_files(
        str(files.folder / "qrels"), [str(files.folder / "b.run")], of_qrels={}, of_runs={}
    ).findings
    assert one.rule == "labels-as-scores"
    assert one.count == N
    assert [name.split(",")[0] for name in one.examples] == ["query q0", "query q1", "query q2"]
    assert one.shown.endswith("(+37 more)")
