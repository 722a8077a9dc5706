"""The guard in ``harness run``: what it prints, keeps, makes fail and stops."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import harness
from harness.cli.main import main
from harness.config.cells import Cell
from harness.config.load import load
from harness.config.model import DatasetEntry, RunEntry
from harness.errors import ConfigError, HarnessWarning, InputError
from harness.experiment import cells as flow
from harness.guard.check import check_config
from harness.guard.shared_rows import part_of

N = 8
"""Queries of a fold; each has 30 documents with grades 0 to 4."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Three folds of a learning-to-rank dataset, and a model's predictions for each."""
    random = np.random.default_rng(3)
    for fold in (1, 2, 3):
        grades = random.integers(0, 5, N * 30)
        qids = 100 * fold + np.repeat(np.arange(N), 30)
        scores = grades + random.normal(0, 2, grades.size)
        rows = zip(grades.tolist(), qids.tolist(), strict=True)
        text = "".join(f"{grade} qid:{qid} 1:0.5\n" for grade, qid in rows)
        (tmp_path / f"fold{fold}.txt").write_text(text, encoding="utf-8")
        put(tmp_path / f"model-{fold}.txt", scores.tolist())
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


def found(results: harness.experiment.run.Outcome) -> list[tuple[str, str, str]]:  # type: ignore[name-defined]
    return [(one.rule, one.severity, f"{one.place}: {one.what}") for one in results.findings]


def labels_of(place: Path, fold: int) -> list[float]:
    lines = (place / f"fold{fold}.txt").read_text(encoding="utf-8").splitlines()
    return [float(line.split()[0]) for line in lines]


def test_clean_cells_say_nothing(place: Path) -> None:
    results = harness.run(config(place))
    assert found(results) == []
    manifest = json.loads((results.folder / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["manifest"], manifest["findings"]) == (3, [])


def test_labels_read_as_scores_fail_the_cell_and_no_other(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(place / "model-2.txt", labels_of(place, 2))
    for _ in range(2):  # and so from the cache
        with pytest.raises(SystemExit, match=r"^1$"):
            main(["run", str(config(place))])
        said = capsys.readouterr()
        assert (
            f"error: model on web2: {place}/model-2.txt:1: scores and grades have a correlation of "
            "exactly 1, over 240 judged documents: query 200, document d0: score 3, grade 3; query "
            "201, document d0: score 1, grade 1; query 202, document d0: score 4, grade 4 (+237 "
            "more) [labels-as-scores]\n"
            "  effect: where labels were saved as scores, the values are the labels' own; where a "
            "model orders a fold perfectly, it may be its training data\n"
            "  fix:    save what the model predicts for test data, and not the labels; a config "
            "accepts an oracle run by 'guard: {accept: [labels-as-scores]}'\n"
        ) in said.err
        assert "equal the grades" not in said.err  # which the reader warns of
        assert (  # and not a second time what is said below
            f"FAILED: model fold=2 on web2: {place}/model-2.txt:1: scores and grades have a "
            "correlation of exactly 1, over 240 judged documents [labels-as-scores]\n"
        ) in said.out
    manifest = json.loads((place / "out/manifest.json").read_text(encoding="utf-8"))
    assert manifest["findings"][0]["rule"] == "labels-as-scores"
    assert manifest["findings"][0]["severity"] == "error"


def test_what_is_accepted_is_a_note(place: Path) -> None:
    put(place / "model-2.txt", labels_of(place, 2))
    results = harness.run(config(place, guard={"accept": ["labels-as-scores"]}))
    assert found(results) == [
        (
            "labels-as-scores",
            "note",
            "model-2.txt:1: scores and grades have a correlation of exactly 1, over "
            "240 judged documents",
        )
    ]
    assert len(results.leaderboard.entries) == 3


def test_findings_are_printed_once_and_kept(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for fold in (1, 2, 3):
        put(place / f"flat-{fold}.txt", [0.5] * (N * 30))
    said = []
    for _ in range(2):
        with pytest.raises(SystemExit, match=r"^0$"):
            main(["run", str(config(place))])
        said.append(capsys.readouterr().err)
    assert said[0] == said[1]  # the second from the cache
    lines = said[0].splitlines()
    assert (
        f"warning: {place}/flat-1.txt:1: all scores are equal in 8 of 8 queries: 100, 101, 102 "
        f"(+5 more); also in 2 other files: {place}/flat-2.txt:1, {place}/flat-3.txt:1 "
        "[constant-scores]"
    ) in lines
    rules = [line.rpartition("[")[2] for line in lines if line.startswith("warning")]
    assert rules == ["constant-scores]"]  # equal bytes, and ties, follow from it
    assert "  effect: there the policy for ties decides the order, and not the system" in lines
    manifest = json.loads((place / "out/manifest.json").read_text(encoding="utf-8"))
    # each file's own figures
    constant = [one for one in manifest["findings"] if one["rule"] == "constant-scores"]
    assert [(one["place"], one["count"]) for one in constant] == [
        (f"flat-{fold}.txt:1", 8) for fold in (1, 2, 3)
    ]


@pytest.mark.parametrize("jobs", [1, 2])
def test_workers_find_the_same(place: Path, jobs: int) -> None:
    put(place / "model-3.txt", [1000.0 + n for n in range(N * 30)])
    with (
        pytest.warns(HarnessWarning, match="score-range"),
        pytest.warns(HarnessWarning, match="unrelated"),
    ):
        results = harness.run(config(place, cache="none"), jobs=jobs)
    unrelated, (rule, severity, what) = found(results)
    assert unrelated[:2] == ("unrelated", "warning")
    assert (rule, severity) == ("score-range", "warning")
    assert "model-3.txt: scores from 1000 to 1239, those of the same model on its 2 other" in what


def test_a_dataset_without_relevant_documents_stops_the_run(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (place / "fold2.txt").read_text(encoding="utf-8")
    lines = [f"0 {line.partition(' ')[2]}\n" for line in text.splitlines()]
    (place / "fold2.txt").write_text("".join(lines), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["run", str(config(place))])
    assert (
        f"error: {place}/fold2.txt:1: none of the 8 queries has a relevant document: "
        "200, 201, 202 (+5 more) [no-relevant-documents]\n"
        "  effect: every metric of relevance is 0, or what the policy puts there\n"
        "  fix:    check that the right column was written as the grade; 1 and more means "
        "relevant\n"
    ) in capsys.readouterr().err
    assert not (place / "out/leaderboard.csv").exists()
    results = harness.run(config(place, guard={"accept": ["no-relevant-documents"]}))
    assert [rule for rule, *_ in found(results)] == ["no-relevant-documents"]


def test_folds_with_queries_in_common(place: Path) -> None:
    shutil.copy(place / "fold1.txt", place / "fold2.txt")
    with (place / "fold2.txt").open("a", encoding="utf-8") as file:
        file.write("1 qid:999 1:0\n")
    put(place / "model-2.txt", [n % 7 for n in range(N * 30 + 1)])
    with pytest.warns(HarnessWarning):
        results = harness.run(config(place))
    shared = next(one for one in results.findings if one.rule == "shared-queries")
    assert shared.what == "8 of 17 queries are in several of the 3 folds"
    assert shared.place == "fold2.txt:1"
    assert shared.examples == tuple(
        f"query {100 + n}: fold1.txt:{30 * n + 1} and fold2.txt:{30 * n + 1}" for n in range(3)
    )


@pytest.mark.parametrize("jobs", [1, 2])
def test_pooled_folds_with_queries_in_common_stop_the_run_at_once(place: Path, jobs: int) -> None:
    rows = (place / "fold1.txt").read_text(encoding="utf-8")
    (place / "fold2.txt").write_text(rows.replace("1:0.5", "1:0.7"), encoding="utf-8")
    scores = [-float(line) for line in (place / "model-1.txt").read_text().split()]
    put(place / "model-1.txt", scores)
    accepted = ["shared-queries", "unrelated"]  # fold 2's predictions were made for other rows
    path = config(place, summary={"pool": ["fold"]}, guard={"accept": accepted})
    with pytest.warns(HarnessWarning, match="upside-down"), pytest.raises(InputError) as caught:
        harness.run(path, jobs=jobs)
    (problem,) = caught.value.problems
    # two processes may have given fold 3 before
    assert problem.what.startswith("8 of ")
    assert " folds: query 100: fold1.txt:1 and fold2.txt:1, query 101: fold1" in problem.what
    assert problem.what.endswith(" (+5 more) [pooled-queries]")
    assert not (place / "out/leaderboard.csv").exists()
    checked = check_config(path)
    (found,) = [one for one in checked.findings if one.severity == "error"]
    assert (found.rule, found.count) == ("pooled-queries", 8)
    assert found.what == "8 of 16 queries are in several of the 3 folds"
    assert "shared-queries" not in {one.rule for one in checked.findings}


def test_what_is_left_is_not_evaluated_where_pooled_folds_share_queries(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    took = flow._Run.take
    monkeypatch.setattr(flow._Run, "take", lambda run, done: (seen.append(done), took(run, done)))
    shutil.copy(place / "fold1.txt", place / "fold2.txt")  # the same bytes are no other queries
    shutil.copy(place / "model-1.txt", place / "model-2.txt")
    path = config(place, summary={"pool": ["fold"]})
    with pytest.warns(HarnessWarning), pytest.raises(InputError, match="pooled-queries"):
        harness.run(path)
    assert len(seen) == 2  # of three cells


def test_an_unknown_rule_is_a_config_error(place: Path) -> None:
    with pytest.raises(ConfigError, match=r"guard\.accept\[0\] \(line \d+\).*did you mean 'score-"):
        load(config(place, guard={"accept": ["score-tie"]}))
    with pytest.raises(ConfigError, match=r"unknown key 'acept'; did you mean 'accept'"):
        load(config(place, guard={"acept": []}))


def test_judgements_of_another_collection(tmp_path: Path) -> None:
    judged = [f"{q} 0 A{q}-{d} {d % 3}\n" for q in range(10) for d in range(20)]
    (tmp_path / "qrels.txt").write_text("".join(judged), encoding="utf-8")
    for name, first in (("fits", "A"), ("alien", "B")):
        rows = [f"{q} Q0 {first}{q}-{d} {d + 1} {50 - d} x\n" for q in range(10) for d in range(20)]
        (tmp_path / f"{name}.run").write_text("".join(rows), encoding="utf-8")
    shifted = [
        f"{q} Q0 A{(q + 1) % 10}-{d} {d + 1} {50 - d} x\n" for q in range(10) for d in range(20)
    ]
    (tmp_path / "shifted.run").write_text("".join(shifted), encoding="utf-8")
    path = config(
        tmp_path, datasets={"t": {"path": "qrels.txt"}}, runs={"{name}": {"path": "{name}.run"}}
    )
    results = harness.run(path)
    assert [one.run for one in results.leaderboard.entries] == ["fits"]
    alien, other = results.errors
    assert "[other-collection]" in alien
    assert "[other-topics]" in other
    assert "200 docnos looked at 200 are judged for others" in other
    with pytest.raises(InputError, match=r"other-collection(?s:.)*other-topics"):
        harness.run(path, overrides=["where={name: '!fits'}"])


def test_what_readers_refuse_is_in_the_manifest_as_check_says_it(place: Path) -> None:
    judged = [f"{q} 0 d{d} {d * 7 % 3}\n" for q in range(8) for d in range(20)]
    (place / "qrels.txt").write_text("".join(judged), encoding="utf-8")
    rows = [f"{q} Q0 d{d} {d + 1} {50 - d} x\n" for q in range(8) for d in range(20)]
    several = {4: "0 Q0 d4 5 x1 x\n", 9: "0 Q0 d9 10 x2 x\n"}
    swapped = [" ".join((one.split()[2], "Q0", one.split()[0], *one.split()[3:])) for one in rows]
    runs = {
        "good": rows,
        "nan": [*rows[:2], "0 Q0 d2 3 nan x\n", *rows[3:]],
        "short": [*rows[:6], "0 Q0 d6 7\n", *rows[7:]],
        "several": [several.get(n, one) for n, one in enumerate(rows)],
        "swapped": [f"{one}\n" for one in swapped],
        "other": [f"topic{one}" for one in rows],
    }
    for name, lines in runs.items():
        (place / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    path = config(
        place, datasets={"t": {"path": "qrels.txt"}}, runs={"{name}": {"path": "{name}.run"}}
    )
    results = harness.run(path)
    manifest = json.loads((results.folder / "manifest.json").read_text(encoding="utf-8"))
    errors = [one for one in manifest["findings"] if one["severity"] == "error"]
    (no_query,) = [one for one in errors if one["rule"] == "no-common-query"]
    assert {one["rule"]: (one["place"], one["count"], one["examples"]) for one in errors} == {
        "not-finite": ("nan.run:3", 1, ["0 Q0 d2 3 nan x"]),
        "columns": ("short.run:7", 1, ["0 Q0 d6 7"]),
        "unreadable": (
            "several.run:5", 2, ["line 5 '0 Q0 d4 5 x1 x'", "line 10 '0 Q0 d9 10 x2 x'"]
        ),
        "swapped-columns": ("swapped.run", 8, ["0", "1", "2"]),
        "no-common-query": (no_query["place"], no_query["count"], no_query["examples"]),
    }  # fmt: skip
    assert all(one["effect"] and one["fix"] for one in errors)
    of_check = [one.as_dict() for one in check_config(path).findings if one.severity == "error"]
    text = json.dumps(of_check).replace(f"{place}/", "")
    kept = ("rule", "what", "count", "examples", "fix")
    told = [{name: one[name] for name in kept} for one in json.loads(text)]
    for one in errors:
        assert {name: one[name] for name in kept} in told
    # each problem of a run says whose it is
    assert [one.partition(": score")[0] for one in results.errors if "several" in one] == [
        f"several on t: {place}/several.run:{line}" for line in (5, 10)
    ]


def test_notes_of_several_files_keep_the_first_ones_figures(place: Path) -> None:
    accept = {"accept": ["constant-scores"]}
    for fold in (1, 2, 3):
        put(place / f"flat-{fold}.txt", [0.5] * (N * 30))
    results = harness.run(config(place, guard=accept))
    manifest = json.loads((results.folder / "manifest.json").read_text(encoding="utf-8"))
    (note,) = [one for one in manifest["findings"] if one["rule"] == "constant-scores"]
    assert (note["place"], note["what"]) == (
        "flat-1.txt:1", "all scores are equal in 8 of 8 queries"
    )  # fmt: skip
    assert (note["count"], note["examples"]) == (8, ["100", "101", "102"])
    assert (note["n_others"], note["others"]) == (2, ["flat-2.txt:1", "flat-3.txt:1"])


def test_what_a_reader_warns_of_can_be_accepted(place: Path) -> None:
    rows = [f"{q} Q0 d{d} {d + 1} {50 - d} tag{d % 2}\n" for q in range(8) for d in range(20)]
    (place / "several.run").write_text("".join(rows), encoding="utf-8")
    judged = [f"{q} 0 d{d} {d * 7 % 3}\n" for q in range(8) for d in range(20)]
    (place / "qrels.txt").write_text("".join(judged), encoding="utf-8")
    path = config(place, datasets={"t": {"path": "qrels.txt"}}, runs={"a": {"path": "several.run"}})
    what = "several.run: 2 tags in one run: 'tag0', 'tag1'; it may be several systems' "
    with pytest.warns(HarnessWarning, match="2 tags in one run"):
        results = harness.run(path)
    assert results.warnings == (f"{what}output",)
    results = harness.run(path, overrides=["guard.accept=[several-tags]"])
    assert results.warnings == ()
    at_line = what.replace(".run:", ".run:2:")
    assert found(results) == [("several-tags", "note", f"{at_line}output")]


def test_facts_are_the_same_beside_a_reference(place: Path) -> None:
    for fold in (1, 2, 3):
        put(place / f"ties-{fold}.txt", [n % 5 for n in range(N * 30 - fold)] + [0.5] * fold)
    changes = {"metrics": ["ndcg@10"]}, {"metrics": ["rbo(p=0.9,reference=model)"]}
    plain, compared = (found(harness.run(config(place, **some))) for some in changes)
    assert plain == compared != []


def test_what_readers_warn_of_is_a_finding_too(place: Path) -> None:
    """In the manifest, with its rule and how to mend it."""
    rows = [
        f"{qid} Q0 d{rank} {rank} {10 - rank} {'a' if rank % 2 else 'b'}\n"
        for qid in (1, 2)
        for rank in range(1, 8)
    ]
    (place / "two.run").write_text("".join(rows), encoding="utf-8")
    (place / "qrels").write_text("1 0 d1 1\n1 0 d2 0\n2 0 d2 1\n2 0 d1 0\n", encoding="utf-8")
    datasets = {"t": {"format": "trec", "path": "qrels"}}
    runs = {"r": {"format": "trec", "path": "two.run"}}
    with pytest.warns(HarnessWarning, match="tags"):
        results = harness.run(config(place, datasets=datasets, runs=runs))
    manifest = json.loads((results.folder / "manifest.json").read_text(encoding="utf-8"))
    (tags,) = (one for one in manifest["findings"] if one["rule"] == "several-tags")
    assert (tags["severity"], tags["place"]) == ("warning", "two.run:2")
    assert tags["fix"] == "split it, where it is; or write one tag"
    shutil.copy(place / "two.run", place / "three.run")
    runs["s"] = {"format": "trec", "path": "three.run"}
    with pytest.warns(HarnessWarning) as caught:
        harness.run(config(place, datasets=datasets, runs=runs))
    (said,) = [text for one in caught if "[several-tags]" in (text := str(one.message))]
    assert "1 other file" in said
    assert said.endswith("\n  fix:    split it, where it is; or write one tag")


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (["fold1", "fold2"], True),
        (["Part-1 test", "Part-2 test"], True),
        (["news", "web"], False),
        (["covid19", "trec8"], False),
    ],
)
def test_folds_that_are_listed_by_name(names: list[str], parts: bool) -> None:
    found = [part_of(cell_on(name), ()) for name in names]
    wholes = {one.whole for one in found if one is not None}
    assert (len(wholes) == 1 and None not in found) == parts


@pytest.mark.parametrize(
    ("placeholder", "value", "parts"),
    [("fold", "a", True), ("k", "3", True), ("n", "3", True), ("k", "web", False),
     ("collection", "3", False), ("half", "3", True)],
)  # fmt: skip
def test_placeholders_of_folds(placeholder: str, value: str, parts: bool) -> None:
    part = part_of(cell_on("d", **{placeholder: value}), pooled=["half"])
    assert part == (("d", value) if parts else None)


def test_what_is_captured_beside_a_fold_is_another_dataset() -> None:
    both = [cell_on("d", collection=name, fold="1") for name in ("mslr", "yahoo")]
    assert [part_of(cell, ()) for cell in both] == [("d mslr", "1"), ("d yahoo", "1")]
    # train and test are not parts of one, as these are other folds' training rows
    cells = [cell_on("d", fold="1", split=name) for name in ("train", "test")]
    assert [part_of(cell, ()) for cell in cells] == [("d train", "1"), ("d test", "1")]
    assert part_of(cells[0], ["split", "fold"]) == ("d", "1 train")
    assert part_of(cell_on("d", split="2"), ()) == ("d", "2")


def cell_on(dataset: str, **captured: str) -> Cell:
    entry, run = DatasetEntry(path="d.txt", format="letor"), RunEntry(path="r.txt")
    return Cell(dataset, "r", entry, run, dataset, "r", captured, {})
