"""The guard in ``harness run``: what it prints, keeps, makes fail and stops."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from command_line import Said, called

import harness
from harness.errors import InputError
from harness.experiment.check import check_config

N = 8
"""Queries of a fold; each has 30 documents with grades 0 to 4."""
pytestmark = pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Three folds of a learning-to-rank dataset, and a model's predictions for each."""
    random = np.random.default_rng(3)
    for fold in (1, 2, 3):
        grades = random.integers(0, 5, N * 30)
        qids = 100 * fold + np.repeat(np.arange(N), 30)
        rows = zip(grades.tolist(), qids.tolist(), strict=True)
        text = "".join(f"{grade} qid:{qid} 1:0.5\n" for grade, qid in rows)
        (tmp_path / f"fold{fold}.txt").write_text(text, encoding="utf-8")
        put(tmp_path / f"model-{fold}.txt", (grades + random.normal(0, 2, grades.size)).tolist())
    return tmp_path


def put(path: Path, scores: list[float]) -> None:
    path.write_text("".join(f"{score}\n" for score in scores), encoding="utf-8")


def config(place: Path, **changes: Any) -> Path:
    content = {
        "output": "out",
        "datasets": {"web{fold}": {"format": "letor", "path": "fold{fold}.txt"}},
        "runs": {"{model}": {"format": "scores", "path": "{model}-{fold}.txt"}},
        "metrics": ["ndcg@10"],
        **changes,
    }
    path = place / "x.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def run(path: Path, *more: str) -> Said:
    return called("run", path, "--set", f"output={path.parent / 'out'}", *more)


def manifest(place: Path) -> list[dict[str, Any]]:
    """The findings in the manifest."""
    text = (place / "out/manifest.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)["findings"]
    return found


def summary(findings: Any) -> list[tuple[str, str, str]]:
    return [(one.rule, one.severity, one.place) for one in findings]


def labels_of(place: Path, fold: int) -> list[float]:
    lines = (place / f"fold{fold}.txt").read_text(encoding="utf-8").splitlines()
    return [float(line.split()[0]) for line in lines]


def test_labels_fail_the_cell_and_no_other(place: Path) -> None:
    assert summary(harness.run(config(place)).findings) == []
    put(place / "model-2.txt", labels_of(place, 2))
    for _ in range(2):  # and so from the cache
        printed = run(config(place))
        assert printed.code == 2
        assert "[labels-as-scores]" in printed.err
        assert "equal the grades" not in printed.err  # which the reader warns of
        note = "model fold=2 on web2 could not be evaluated; "
        assert note in " ".join(printed.out.split())
    (one,) = manifest(place)
    assert (one["rule"], one["severity"]) == ("labels-as-scores", "error")
    results = harness.run(config(place, guard={"accept": ["labels-as-scores"]}))
    assert summary(results.findings) == [("labels-as-scores", "note", "model-2.txt:1")]
    assert len(results.leaderboard.entries) == 3


@pytest.mark.parametrize(
    ("policy", "rule"),
    [
        ("missing_queries: error", "refused-missing-queries"),
        ("empty_queries: error", "refused-empty-queries"),
    ],
)
def test_queries_that_the_policy_refuses(tmp_path: Path, policy: str, rule: str) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n2 0 a 0\n10 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 a 1 3 x\n2 Q0 a 1 3 x\n")
    path = tmp_path / "c.yaml"
    path.write_text(
        f"datasets: {{q: {{path: q}}}}\nruns: {{r: {{path: r}}}}\nmetrics: [map]\n"
        f"policy: {{{policy}}}\n"
    )
    done = run(path)
    assert (done.code, f"[{rule}]" in done.err) == (2, True)


def test_findings_are_printed_once_and_kept(place: Path) -> None:
    for fold in (1, 2, 3):
        put(place / f"flat-{fold}.txt", [0.5] * (N * 30))
    ran = [run(config(place)) for _ in range(2)]
    assert [done.code for done in ran] == [0, 0]
    printed = [done.err for done in ran]
    cells = [line for text in printed for line in text.splitlines() if " from cache" in line]
    assert [line.split(",")[1] for line in cells] == [" 0 from cache", " 6 from cache"]
    assert printed[0].replace(cells[0], cells[1]) == printed[1]
    heads = [line for line in printed[0].splitlines() if line.startswith("warning")]
    assert heads == [  # equal bytes, and ties, follow from it
        f"warning: {place}/flat-1.txt:1: all scores are equal in 8 of 8 queries: 100, 101, 102 "
        f"(+5 more); also in 2 other files: {place}/flat-2.txt:1, {place}/flat-3.txt:1 "
        "[constant-scores]"
    ]
    kept = [(one["rule"], one["place"], one["count"]) for one in manifest(place)]
    assert kept == [("constant-scores", f"flat-{fold}.txt:1", 8) for fold in (1, 2, 3)]
    run(config(place, guard={"accept": ["constant-scores"]}))
    (note,) = manifest(place)  # of several files
    assert (note["place"], note["n_others"]) == ("flat-1.txt:1", 2)
    assert note["others"] == ["flat-2.txt:1", "flat-3.txt:1"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_pooled_folds_with_queries_in_common_stop_the_run_at_once(place: Path, jobs: int) -> None:
    rows = (place / "fold1.txt").read_text(encoding="utf-8")
    (place / "fold2.txt").write_text(rows.replace("1:0.5", "1:0.7"), encoding="utf-8")
    path = config(place, summary={"pool": ["fold"]}, guard={"accept": ["shared-queries"]})
    with pytest.raises(InputError) as caught:
        harness.run(path, jobs=jobs)
    (problem,) = caught.value.problems
    assert problem.what.startswith("8 of ")
    assert problem.what.endswith(" [pooled-queries]")
    assert not (place / "out/leaderboard.csv").exists()
    (found,) = [one for one in check_config(path).findings if one.severity == "error"]
    assert (found.rule, found.count) == ("pooled-queries", 8)


def trec(place: Path, **runs: list[str]) -> Path:
    judged = [f"{q} 0 A{q}-{d} {d * 7 % 3}\n" for q in range(10) for d in range(20)]
    (place / "qrels.txt").write_text("".join(judged), encoding="utf-8")
    for name, rows in runs.items():
        (place / f"{name}.run").write_text("".join(rows), encoding="utf-8")
    return config(
        place, datasets={"t": {"path": "qrels.txt"}}, runs={"{name}": {"path": "{name}.run"}}
    )


def rows(name: Callable[[int, int], str] = lambda q, d: f"A{q}-{d}") -> list[str]:
    return [f"{q} Q0 {name(q, d)} {d + 1} {50 - d} x\n" for q in range(10) for d in range(20)]


def test_what_readers_refuse_is_in_the_manifest_as_check_finds_it(tmp_path: Path) -> None:
    some = rows()
    path = trec(
        tmp_path,
        good=some,
        nan=[*some[:2], "0 Q0 d2 3 nan x\n", *some[3:]],
        short=[*some[:6], "0 Q0 d6 7\n", *some[7:]],
        swapped=[" ".join((w[2], "Q0", w[0], *w[3:])) + "\n" for w in map(str.split, some)],
        other=[f"topic{one}" for one in some],
    )
    harness.run(path)
    errors = {one["rule"]: one for one in manifest(tmp_path) if one["severity"] == "error"}
    assert {rule: one["place"] for rule, one in errors.items()} == {
        "not-finite": "nan.run:3", "columns": "short.run:7", "swapped-columns": "swapped.run",
        "no-common-query": "other.run",
    }  # fmt: skip
    for one in check_config(path).findings:
        if one.severity == "error":
            assert errors[one.rule]["count"] == one.count
            assert errors[one.rule]["examples"] == list(one.examples)
            assert (errors[one.rule]["effect"], errors[one.rule]["fix"]) == (one.effect, one.fix)


@pytest.mark.parametrize(
    "choice", ["", "policy: {empty_queries: skip}\n", "convention: lightgbm\n"]
)
def test_empty_queries_that_a_config_has_a_choice_for(letor: Any, choice: str) -> None:
    for name in ("fold1.txt", "fold2.txt"):
        letor.put(name, [f"0{row[1:]}" if at < 300 else row
                         for at, row in enumerate(letor.lines(name))])  # fmt: skip
    text = "".join(letor.lines("c.yaml")).replace("[map]", "[ndcg@5]")
    letor.put("c.yaml", [text, choice])
    run(letor.folder / "c.yaml")
    kept = {one["severity"] for one in manifest(letor.folder) if one["rule"] == "empty-queries"}
    found = check_config(letor.folder / "c.yaml").findings
    checked = {one.severity for one in found if one.rule == "empty-queries"}
    assert kept == checked == {"note" if choice else "warning"}


def test_rows_with_warnings_are_marked(place: Path) -> None:
    for fold in (1, 2, 3):
        shutil.copy(place / f"model-{fold}.txt", place / f"sound-{fold}.txt")
    put(place / "sound-1.txt", np.round(np.loadtxt(place / "model-1.txt"), 3).tolist())
    put(place / "model-2.txt", np.loadtxt(place / "model-2.txt")[::-1].tolist())
    path = config(
        place, summary={"pool": ["fold"]}, reports=["csv", "html", "markdown"],
        tables={"main": {"formats": ["latex", "markdown", "html", "text"]}},
        guard={"accept": ["same-file-twice"]},
    )  # fmt: skip
    done = run(path)
    assert done.code == 0
    note = "! The guard warns of row-order in model; harness check explains it."
    shown = done.out
    assert note in shown
    assert "\nmodel!  " in shown
    assert "\nsound   " in shown
    for name in ("leaderboard.html", "leaderboard.md"):
        text = (place / "out" / name).read_text()
        assert note in text, name
        assert "model!" in text, name
        assert "sound!" not in text, name
    for ending in (".tex", ".md", ".html", ".txt"):  # a reader of the paper has no guard
        text = (place / "out/tables/main").with_suffix(ending).read_text()
        lines = [line for line in text.splitlines() if "guard" in line or "model!" in line]
        assert lines == (["% " + note.removeprefix("! ")] if ending == ".tex" else []), ending
    assert run(path, "--strict").code == 1
    assert run(path, "--strict", "--set", "guard.accept=[row-order,same-file-twice]").code == 0
