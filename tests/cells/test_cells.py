"""Evaluated cells: kept, found again, computed anew where anything they follow from changed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from pathlib import Path

import numpy as np
import pytest

import harness
from harness.config import sweep
from harness.config.load import load
from harness.core.metric import REGISTRY
from harness.errors import InputError
from harness.experiment import cache as caches
from harness.experiment import executors, work
from harness.experiment import executors as processes
from harness.experiment.cache import INDEX, Cache
from harness.experiment.cache_key import Naming
from harness.experiment.cell_record import Record
from harness.experiment.cells import TRIES, evaluate_all
from harness.files import sha256
from harness.readers import read_qrels
from harness.readers.hashed import HashedSource

CONFIG = """
output: ../out
datasets: {trec: {path: ../runs/trec/qrels.txt}}
runs: {"{system}": {path: "../runs/trec/{system}.run"}}
metrics: [map, ndcg@10, arp]
"""
LONG_AGO = 1_600_000_000
"""A time of change that no clock takes for recent."""


@pytest.fixture
def place(tmp_path: Path, root: Path) -> Path:
    """A folder with runs and a config."""
    shutil.copytree(root / "runs", tmp_path / "runs", ignore=shutil.ignore_patterns("*.py"))
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/x.yaml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[tuple[str, list[str]]]]:
    """What was evaluated since the last call: run and metrics."""
    calls: list[tuple[str, list[str]]] = []
    original = work.evaluate_one

    def watched(*args: object, **given: object) -> object:
        calls.append((str(given["run"]), [str(metric) for metric in args[1]]))  # type: ignore[attr-defined]
        return original(*args, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(work, "evaluate_one", watched)

    def since() -> list[tuple[str, list[str]]]:
        found = list(calls)
        calls.clear()
        return found

    return since


Outputs = Callable[[Path], dict[str, str]]


def test_what_is_known_is_not_computed_again(
    place: Path, evaluated: Callable, outputs: Outputs
) -> None:
    first = harness.run(place / "configs/x.yaml")
    runs = [name for name, _ in evaluated()]
    assert len(runs) == len(set(runs)) == len(first.leaderboard.entries)
    before = outputs(place / "out")
    again = harness.run(place / "configs/x.yaml")
    assert evaluated() == []
    assert again.cached == len(runs)
    assert outputs(place / "out") == before


def test_a_new_metric_alone_is_computed(place: Path, evaluated: Callable, outputs: Outputs) -> None:
    config = place / "configs/x.yaml"
    harness.run(config)
    evaluated()
    harness.run(config, overrides=["metrics=[map, P@5, ndcg@10, arp]"])
    assert {tuple(names) for _, names in evaluated()} == {("P@5",)}
    partly = outputs(place / "out")
    shutil.rmtree(place / "out")
    harness.run(config, overrides=["metrics=[map, P@5, ndcg@10, arp]"])
    whole = outputs(place / "out")
    assert {**partly, "manifest.json": ""} == {**whole, "manifest.json": ""}
    evaluated()
    harness.run(config, overrides=["metrics=[arp, map]"])
    assert evaluated() == []


def test_a_level_that_was_not_asked_for_before_counts_its_own_empty_queries(place: Path) -> None:
    config = place / "configs/x.yaml"
    harness.run(config)
    level = ["metrics=[map, map(rel=3)]"]
    partly = harness.run(config, overrides=level).leaderboard.rows()
    shutil.rmtree(place / "out")
    assert harness.run(config, overrides=level).leaderboard.rows() == partly


@pytest.mark.parametrize("old", [False, True], ids=["just written", "written long ago"])
def test_a_touched_file_computes_nothing_and_a_changed_byte_its_cell(
    place: Path, evaluated: Callable, old: bool
) -> None:
    run = place / "runs/trec/bm25.run"
    if old:
        for path in (place / "runs").rglob("*"):
            os.utime(path, (LONG_AGO, LONG_AGO))
    harness.run(place / "configs/x.yaml")
    evaluated()
    os.utime(run)
    harness.run(place / "configs/x.yaml")
    assert evaluated() == []
    content = bytearray(run.read_bytes())
    place_of_digit = content.index(b".") + 1
    content[place_of_digit] = ord("1") if content[place_of_digit] != ord("1") else ord("2")
    times = run.stat().st_atime_ns, run.stat().st_mtime_ns
    run.write_bytes(content)
    os.utime(run, ns=times)  # same size, same time: the inode's own time tells
    harness.run(place / "configs/x.yaml")
    assert [name for name, _ in evaluated()] == ["bm25"]


@pytest.mark.parametrize(
    "override",
    ["policy.ties=stable", "policy.depth=20", "convention=lightgbm", "crosscheck=none"],
)
def test_a_choice_computes_all_anew(place: Path, evaluated: Callable, override: str) -> None:
    harness.run(place / "configs/x.yaml", overrides=["metrics=[ndcg@10]"])
    n = len(evaluated())
    harness.run(place / "configs/x.yaml", overrides=["metrics=[ndcg@10]", override])
    assert len(evaluated()) == n


def test_the_code_that_computes_is_part_of_the_name(
    place: Path, evaluated: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.run(place / "configs/x.yaml")
    n = len(evaluated())
    monkeypatch.setattr("harness.experiment.cache_key.code", lambda: "another version")
    harness.run(place / "configs/x.yaml")
    assert len(evaluated()) == n


COMPARED = "rbo(p=0.9,reference=bm25)"


def test_a_metric_that_compares_to_another_run_is_computed_alone(
    place: Path, evaluated: Callable, outputs: Outputs
) -> None:
    config, both = place / "configs/x.yaml", [f"metrics=[map, '{COMPARED}']"]
    harness.run(config, overrides=["metrics=[map]"])
    n = len(evaluated())
    harness.run(config, overrides=both)
    assert [names for _, names in evaluated()] == [[COMPARED]] * n
    partly = outputs(place / "out")
    harness.run(config, overrides=both)
    assert evaluated() == []
    shutil.rmtree(place / "out")
    harness.run(config, overrides=both)
    assert {**partly, "manifest.json": ""} == {**outputs(place / "out"), "manifest.json": ""}


def test_a_changed_byte_of_the_run_that_others_are_compared_to(
    place: Path, evaluated: Callable
) -> None:
    config, both = place / "configs/x.yaml", [f"metrics=[map, '{COMPARED}']"]
    before = harness.run(config, overrides=both).leaderboard.rows()
    evaluated()
    run = place / "runs/trec/bm25.run"
    content = run.read_bytes()
    run.write_bytes(content.replace(b" 1 ", b" 01 ", 1))
    harness.run(config, overrides=both)
    computed = dict(evaluated())
    assert computed.pop("bm25") == ["map", COMPARED]
    assert {*map(tuple, computed.values())} == {(COMPARED,)}
    run.write_bytes(content)  # what it was compared to before is known still
    assert harness.run(config, overrides=both).leaderboard.rows() == before
    assert evaluated() == []


def test_a_seed_is_compared_to_the_same_seed_of_the_other_run(place: Path) -> None:
    for model in "ab":
        for seed in (1, 2):
            shutil.copy(place / "runs/trec/lsi.run", place / f"runs/trec/{model}-{seed}.txt")
    runs = 'runs={"model {model}": {path: "../runs/trec/{model}-{seed}.txt"}}'
    metrics = "metrics=['rbo(p=0.9,reference=model b)']"
    config = load(place / "configs/x.yaml", overrides=[runs, metrics])
    cells = sweep.resolve(config)
    naming = Naming(config, cells)
    others = [(Path(cell.run_entry.path).name, *naming.others(cell)) for cell in cells]
    assert [(own, Path(other).name) for own, other in others] == [
        ("a-1.txt", "b-1.txt"),
        ("a-2.txt", "b-2.txt"),
        ("b-1.txt", "b-1.txt"),
        ("b-2.txt", "b-2.txt"),
    ]


def test_how_the_other_run_is_read_counts_too(place: Path, evaluated: Callable) -> None:
    runs = "bm25: {path: ../runs/trec/bm25.run%s}, lsi: {path: ../runs/trec/lsi.run}"
    for more in ("", ", duplicates: last"):
        override = [f"runs={{{runs % more}}}", f"metrics=['{COMPARED}']"]
        harness.run(place / "configs/x.yaml", overrides=override)
        assert [run for run, _ in evaluated()] == ["bm25", "lsi"]


def test_bounds_of_a_comparison_follow_from_the_other_run(place: Path, evaluated: Callable) -> None:
    config = place / "configs/x.yaml"
    harness.run(config, overrides=["metrics=[tau_ap(reference=bm25)]", "policy.ties=bounds"])
    names = dict(evaluated())["lsi"]
    run = place / "runs/trec/bm25.run"
    run.write_bytes(run.read_bytes().replace(b" 1 ", b" 01 ", 1))
    harness.run(config, overrides=["metrics=[tau_ap(reference=bm25)]", "policy.ties=bounds"])
    assert dict(evaluated())["lsi"] == names


def test_a_damaged_record_is_computed_anew(
    place: Path, evaluated: Callable, outputs: Outputs
) -> None:
    harness.run(place / "configs/x.yaml")
    before, n = outputs(place / "out"), len(evaluated())
    files = sorted((place / "out/cells").glob("??/*.parquet"))
    assert len(files) == n
    files[0].write_bytes(files[0].read_bytes()[:100])
    files[1].write_bytes(b"")
    (place / "out/cells" / INDEX).write_text("{", encoding="utf-8")
    harness.run(place / "configs/x.yaml")
    assert len(evaluated()) == 2
    assert outputs(place / "out") == before


def test_a_shared_cache_and_none(place: Path, evaluated: Callable) -> None:
    config = place / "configs/x.yaml"
    harness.run(config, overrides=["cache=../shared", "output=../one"])
    assert evaluated()
    assert not (place / "one/cells").exists()
    harness.run(config, overrides=["cache=../shared", "output=../two"])
    assert evaluated() == []
    for _ in range(2):
        harness.run(config, overrides=["cache=none", "output=../three"])
        assert evaluated()
    assert not (place / "three/cells").exists()


def test_warnings_are_the_same_from_the_cache(place: Path) -> None:
    rows = [f"{qid} Q0 DOC-{i:05d} {i} 1.0 flat\n" for qid in range(1, 31) for i in range(9)]
    (place / "runs/trec/flat.run").write_text("".join(rows), encoding="utf-8")
    said = []
    for _ in range(2):
        with pytest.warns(harness.errors.HarnessWarning, match=r"flat\.run"):
            results = harness.run(place / "configs/x.yaml")
        said.append((results.warnings, results.findings))
    assert said[0] == said[1]
    assert [one.rule for one in said[0][1] if one.severity == "warning"]


def test_a_renamed_run_computes_nothing_and_is_warned_of_by_its_new_name(
    place: Path, evaluated: Callable
) -> None:
    qrels = (place / "runs/trec/qrels.txt").read_text(encoding="utf-8")
    (place / "runs/trec/judged.txt").write_text(qrels + "999 0 x -1\n", "utf-8")
    rows = [f"{qid} Q0 DOC-{i:05d} {i} 1.0 flat\n" for qid in range(1, 31) for i in range(9)]
    (place / "runs/trec/flat.run").write_text("".join(rows), encoding="utf-8")
    (place / "runs/trec/alien.run").write_text("1 Q0 unknown 1 1.0 alien\n", encoding="utf-8")

    def said(dataset: str, judged: str, flat: str, alien: str, *more: str) -> set[str]:
        overrides = [
            f"datasets={{{dataset}: {{path: ../runs/trec/{judged}}}}}",
            f"runs={{a: {{path: ../runs/trec/{flat}}}, {alien}: {{path: ../runs/trec/alien.run}}}}",
            *more,
        ]
        with pytest.warns(harness.errors.HarnessWarning):
            results = harness.run(place / "configs/x.yaml", overrides=overrides)
        rules = "constant-scores", "nothing-judged"
        found = [one for one in results.findings if one.rule in rules]
        return {*results.warnings, *(f"{one.place}: {one.what}" for one in found)}

    def expected(dataset: str, judged: str, flat: str, alien: str) -> set[str]:
        return {
            f"../runs/trec/{judged}: 1 query has no usable judgement: every grade is below 0, "
            "which means not judged",
            f"../runs/trec/{flat}:1: all scores are equal in 30 of 30 queries",
            "../runs/trec/alien.run:1: none of the 1 documents retrieved is judged",
        }

    before = "trec", "judged.txt", "flat.run", "alien"
    assert said(*before) == expected(*before)
    evaluated()
    (place / "runs/trec/judged.txt").rename(place / "runs/trec/grades.txt")
    (place / "runs/trec/flat.run").rename(place / "runs/trec/level.run")
    after = "robust", "grades.txt", "level.run", "foreign"
    assert said(*after) == expected(*after)
    assert evaluated() == []


def test_a_run_that_others_are_compared_to_can_be_renamed_too(
    place: Path, evaluated: Callable
) -> None:
    runs = "{name}: {{path: ../runs/trec/bm25.run}}, lsi: {{path: ../runs/trec/lsi.run}}"
    rows = []
    for name in ("bm25", "first"):
        override = [
            f"runs={{{runs.format(name=name)}}}",
            f"metrics=['rbo(p=0.9,reference={name})']",
        ]
        found = harness.run(place / "configs/x.yaml", overrides=override).leaderboard.entries
        rows.append([[*entry.summary.values()] for entry in found])
    assert rows[0] == rows[1]
    assert [run for run, _ in evaluated()] == ["bm25", "lsi"]


def test_more_processes_give_the_same_bytes(place: Path, outputs: Outputs) -> None:
    harness.run(place / "configs/x.yaml", overrides=["crosscheck=all"])
    one = outputs(place / "out")
    shutil.rmtree(place / "out")
    results = harness.run(place / "configs/x.yaml", overrides=["crosscheck=all"], jobs=2)
    assert results.cached == 0
    assert outputs(place / "out") == one


@pytest.mark.parametrize("grown", [False, True], ids=["from nothing", "a sweep that grew"])
def test_a_run_that_is_killed_goes_on_where_it_was(
    place: Path, outputs: Outputs, grown: bool
) -> None:
    for number in range(12):
        shutil.copy(place / "runs/trec/bm25.run", place / f"runs/trec/more{number}.run")
        with (place / f"runs/trec/more{number}.run").open("a") as file:
            file.write(f"27 Q0 added{number} 999 -{number} bm25\n")
    config = place / "configs/x.yaml"
    harness.run(config)
    undisturbed, cells = outputs(place / "out"), records(place)
    command = [sys.executable, "-m", "harness", "run", str(config)]
    kept = []
    for delay in (0.0, 0.02, 0.05, 0.1):
        shutil.rmtree(place / "out")
        if grown:
            harness.run(config, overrides=["where={run: '!more*'}"])
        before = records(place)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            while records(place) == before and process.poll() is None:
                time.sleep(0.005)
            time.sleep(delay)  # in the middle of the cells, however long starting took
            process.send_signal(signal.SIGKILL)
        kept.append(records(place))
        for name, digest in outputs(place / "out").items():
            assert grown or name == "timing.json" or digest == undisturbed[name]
        results = harness.run(config)
        assert results.cached == kept[-1]
        found = outputs(place / "out")
        if grown:  # the manifest says which queries pytrec_eval saw of the cells there were
            found["manifest.json"] = undisturbed["manifest.json"]
        assert found == undisturbed
    assert any(0 < n < cells for n in kept)


def records(place: Path) -> int:
    return len(list((place / "out").glob("cells/??/*.parquet")))


def test_a_file_that_changes_while_the_run_is_going(
    place: Path, outputs: Outputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, qrels = place / "configs/x.yaml", place / "runs/trec/qrels.txt"
    run = place / "runs/trec/lsi.run"
    for path in (place / "runs/trec").iterdir():
        os.utime(path, (LONG_AGO, LONG_AGO))
    original, content, judged = work.evaluate_one, run.read_bytes(), qrels.read_bytes()

    def changing(*args: object, **given: object) -> object:
        if given["run"] == "bm25":
            run.write_bytes(content.replace(b" 1 ", b" 01 ", 1))
        if given["run"] == "random":
            qrels.write_bytes(judged.replace(b" 0\n", b" 1\n", 1))
        return original(*args, **given)  # type: ignore[arg-type]

    harness.run(config)
    monkeypatch.setattr(work, "evaluate_one", changing)
    more = ["metrics=[map, ndcg@10, arp, P@5]"]
    failed = {one.run: one.error for one in harness.run(config, overrides=more).leaderboard.failed}
    # lsi had other values before; tfidf comes after the judgements changed
    assert set(failed) == {"lsi", "tfidf"}
    assert "changed while the run was going" in failed["lsi"]
    monkeypatch.setattr(work, "evaluate_one", original)
    harness.run(config, overrides=more)
    after = outputs(place / "out")
    shutil.rmtree(place / "out")
    harness.run(config, overrides=more)
    cold = outputs(place / "out")
    assert after["leaderboard.csv"] == cold["leaderboard.csv"]
    assert after["per_query.parquet"] == cold["per_query.parquet"]


PLUGIN = """
import helper
from harness import metric

@metric("constant", direction="higher", bounds=(0, 9), source="this test")
def constant(aligned):
    "The same for every query."
    return helper.VALUE + 0 * aligned.n_retrieved
"""


def test_a_plugin_and_what_it_imports_are_part_of_the_name(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = place / "lib"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in ("a", "b"):
        (place / "configs" / name).mkdir()
        (place / "configs" / name / "m.py").write_text("", encoding="utf-8")
    (place / "configs/a/m.py").write_text(PLUGIN, encoding="utf-8")
    overrides = ["plugins=[a/m.py, b/m.py]", "metrics=[constant]"]
    seen = []
    for value in ("1.0", "2.0"):
        (folder / "helper.py").write_text(f"VALUE = {value}\n", encoding="utf-8")
        sys.modules.pop("helper", None)
        results = harness.run(place / "configs/x.yaml", overrides=overrides)
        seen.append(results.leaderboard.entries[0].summary["constant"])
    changed = PLUGIN.replace("helper.VALUE +", "1 + helper.VALUE +")
    (place / "configs/a/m.py").write_text(changed, encoding="utf-8")
    results = harness.run(place / "configs/x.yaml", overrides=overrides)
    seen.append(results.leaderboard.entries[0].summary["constant"])
    sys.modules.pop("helper", None)
    REGISTRY.pop("constant", None)
    assert seen == [1.0, 2.0, 3.0]


def test_two_runs_that_share_a_cache(place: Path, evaluated: Callable) -> None:
    config = place / "configs/x.yaml"
    one, two = (Cache(place / "shared") for _ in range(2))
    for cache, names in ((one, "bm25"), (two, "lsi")):
        loaded = load(config, [f"where={{run: {names}}}"])
        evaluate_all(loaded, sweep.resolve(loaded), cache)
    two.save()
    one._changed = True
    one.save()  # the last to write knows nothing of the other's files
    evaluated()
    harness.run(config, overrides=["cache=../shared", "where={run: [bm25, lsi]}"])
    assert evaluated() == []


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")  # runs of one odd line
def test_after_a_prune_or_a_kill_new_files_are_hashed_while_they_are_read(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, cells = place / "configs/x.yaml", place / "out/cells"
    harness.run(config)
    for path in (place / "runs/trec").glob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    apart: list[str] = []
    monkeypatch.setattr(caches, "sha256", lambda path: apart.append(path.name) or sha256(path))

    def added(name: str, size: int) -> list[str]:
        """Run again beside one run more, of a size of its own; what was hashed apart for it."""
        line = f"1 Q0 {'d' * size} 1 1 x\n"
        (place / f"runs/trec/{name}.run").write_text(line, encoding="utf-8")
        apart.clear()
        harness.run(config)
        return [one for one in apart if one.startswith(name)]

    next(cells.glob("??/*.parquet")).unlink()  # as a prune does
    assert added("one", 100) == []
    index = (cells / INDEX).read_bytes()
    assert added("two", 200) == []
    (cells / INDEX).write_bytes(index)  # as if the run had been killed, or another wrote it
    assert added("three", 300) == ["three.run"]  # sizes are not known, so any file may be known
    assert added("four", 400) == []
    found = json.loads((cells / INDEX).read_text(encoding="utf-8"))
    assert found["records"] == sorted(path.stem for path in cells.glob("??/*.parquet"))
    # a file of a known size may be one that is known
    shutil.copy(place / "runs/trec/three.run", place / "runs/trec/same.run")
    apart.clear()
    harness.run(config)
    assert "same.run" in apart


@pytest.mark.parametrize("text", ["{", "[]", '{"files": {"x": 3}, "sizes": "abc", "records": 1}'])
def test_a_damaged_index_is_none(place: Path, evaluated: Callable, text: str) -> None:
    harness.run(place / "configs/x.yaml")
    evaluated()
    (place / "out/cells" / INDEX).write_text(text, encoding="utf-8")
    harness.run(place / "configs/x.yaml")
    assert evaluated() == []


def test_a_known_file_that_may_not_be_hashed_fails_its_own_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.run"
    path.write_text("1", encoding="utf-8")
    cache = Cache(tmp_path / "cells")
    assert cache.hashed(str(path)).digest == hashlib.sha256(b"1").hexdigest()
    path.write_text("2", encoding="utf-8")  # as many bytes as a file that is known

    def refused(file: Path) -> str:
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr("harness.experiment.cache.sha256", refused)
    assert cache.known(str(path)) is None  # so that its reader says what follows
    with pytest.raises(InputError) as caught:
        cache.hashed(str(path))
    assert str(caught.value) == (
        f"{path}: no permission to read it\n  fix:   change its mode or its owner"
    )


def test_a_second_run_waits_for_the_first(place: Path, outputs: Outputs) -> None:
    config = place / "configs/x.yaml"
    harness.run(config)
    undisturbed = outputs(place / "out")
    shutil.rmtree(place / "out")
    command = [sys.executable, "-m", "harness", "run", str(config)]
    with harness.files.locked(place / "out"):
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        assert process.stderr is not None
        said = process.stderr.readline().decode()
        assert "another run writes here; waiting until it is done" in said
        assert not (place / "out/leaderboard.csv").exists()
    process.communicate()
    assert process.returncode == 0
    assert outputs(place / "out") == undisturbed


def test_a_record_comes_back_as_it_was(place: Path) -> None:
    config = load(
        place / "configs/x.yaml",
        ["policy.ties=average", "metrics=[map, 'arp(over=grades)', ndcg_rel]"],
    )
    cells = sweep.resolve(config)[:1]
    entry = evaluate_all(config, cells, Cache(None)).entries[0]
    (done,) = work.work(work.Job.of(config, cells, {0: ("map", "arp(over=grades)", "ndcg_rel")}))
    assert done.record is not None
    back = Record.from_parquet(done.record.to_parquet())
    again = back.entry(config.parsed_metrics(), config.to_policy(), cells[0], {})
    assert np.array_equal(again.evaluation.values, entry.evaluation.values, equal_nan=True)
    assert again.evaluation.counts == entry.evaluation.counts
    assert again.summary == entry.summary
    assert again.evaluation.weights.keys() == entry.evaluation.weights.keys() == {1}
    assert again.evaluation.summary_errors() == entry.evaluation.summary_errors() != {}
    assert back.audit == done.record.audit


def test_the_hash_is_taken_while_the_file_is_read(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "qrels.txt"
    path.write_bytes((root / "runs/trec/qrels.txt").read_bytes())
    source = HashedSource(path)
    read_qrels(source)
    monkeypatch.setattr(source, "explained", None)  # nothing can be opened any more
    assert source.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a mark"])
def test_the_hash_of_many_blocks_is_that_of_the_file(tmp_path: Path, mark: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(mark + b"q1 0 d1 1\n" * 1_000_000)  # 10 MB, in blocks of 1 MiB
    source = HashedSource(path)
    assert len(list(source.blocks())) > 3
    expected = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(b"")  # cannot be read again
    assert source.sha256() == expected


class _Counting(executors.InProcess):
    """Four workers on another machine, so to say, of whom is known what they are given."""

    workers = 4

    def __init__(self) -> None:
        self.given: list[work.Job] = []

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        self.given.append(args[0])
        return super().submit(fn, *args, **kwargs)


def test_pieces_become_smaller_and_hold_what_they_need(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.experiment.cells.InProcess", type("No", (), {}))
    run = (place / "runs/trec/bm25.run").read_text(encoding="utf-8")
    for number in range(50):
        (place / f"runs/trec/copy{number}.run").write_text(run, encoding="utf-8")
    for metrics, needs_all in (("[map]", False), ("[map, rbo(reference=bm25)]", True)):
        config = load(place / "configs/x.yaml", overrides=[f"metrics={metrics}"])
        cells = sweep.resolve(config)
        pool = _Counting()
        found = evaluate_all(config, cells, Cache(None), pool)
        assert [entry.run for entry in found.entries] == [cell.run for cell in cells]
        assert [at for job in pool.given for at in job.metrics] == list(range(len(cells)))
        sizes = [len(job.metrics) for job in pool.given]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] == len(cells) // 16
        assert sizes[-4:] == [1, 1, 1, 1]
        needed = [len(job.cells) for job in pool.given]
        assert needed == ([len(cells)] * len(sizes) if needs_all else sizes)


class _Dying(executors.InProcess):
    """A pool whose worker dies some times."""

    died = (ConnectionError,)

    def __init__(self, times: int) -> None:
        self.times = times

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        if self.times:
            self.times -= 1
            return super().submit(_die)
        return super().submit(fn, *args, **kwargs)


def _die() -> None:
    raise ConnectionError("the worker is gone")


@pytest.mark.parametrize("times", [1, 3, 100])
def test_a_job_whose_worker_dies_goes_to_another(
    place: Path, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.experiment.cells.InProcess", type("No", (), {}))
    config = load(place / "configs/x.yaml")
    cells = sweep.resolve(config)[:1]
    found = evaluate_all(config, cells, Cache(None), _Dying(times), jobs=2)
    if times <= TRIES:
        assert len(found.entries) == 1
    else:
        (failure,) = found.failures
        assert "its worker died 3 times: ConnectionError: the worker is gone" in str(failure.error)


def test_a_pool_that_breaks_is_made_anew() -> None:
    with processes.Processes(1) as pool:
        with pytest.raises(BrokenExecutor):
            pool.submit(os._exit, 1).result()
        assert pool.submit(abs, -1).result() == 1


# Grades 1 0 1 0 0 1 and falling scores: P@1 of sizes 2, 4 is (1 + 1) / 2, of 4, 2 (1 + 0) / 2.
def test_group_sizes_found_beside_a_file_are_a_part_of_what_values_follow_from(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text("1 1:1\n0 1:2\n1 1:3\n0 1:4\n0 1:5\n1 1:6\n")
    (tmp_path / "p.txt").write_text("6\n5\n4\n3\n2\n1\n")
    (tmp_path / "c.yaml").write_text(
        "datasets: {a: {format: letor, path: a.txt}}\n"
        "runs: {m: {format: scores, path: p.txt}}\nmetrics: [P@1]\noutput: out\n"
    )
    for sizes, value in (("2\n4\n", 1.0), ("4\n2\n", 0.5), ("2\n4\n", 1.0)):
        (tmp_path / "a.txt.query").write_text(sizes)
        (entry,) = harness.run(tmp_path / "c.yaml").leaderboard.entries
        assert entry.summary["P@1"] == value
    inputs = json.loads((tmp_path / "out/manifest.json").read_text())["inputs"]
    assert [one["path"] for one in inputs] == ["a.txt", "a.txt.query", "p.txt"]
