"""Evaluated cells are kept, and computed again only if something they follow from changed."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import called

import harness
from harness.config.cells import resolve
from harness.config.load import load
from harness.core.metric import REGISTRY
from harness.experiment.cache import INDEX, Keys

ALL = {"one": ["map", "ndcg@10", "arp"], "ten": ["map", "ndcg@10", "arp"]}
ALL["two"] = ALL["one"]
LONG_AGO = 1_600_000_000
"""A time of change that no clock takes for recent."""


def test_a_second_run_computes_nothing(
    config: Path, evaluated: Callable, outputs: Callable
) -> None:
    first = harness.run(config)
    assert evaluated() == ALL
    before = outputs(first.folder)
    second = harness.run(config)
    assert (evaluated(), second.cached) == ({}, 3)
    assert outputs(first.folder) == before


@pytest.mark.parametrize("old", [False, True], ids=["just written", "written long ago"])
def test_a_touched_file_computes_nothing_and_a_changed_byte_its_cell(
    place: Path, config: Path, evaluated: Callable, old: bool
) -> None:
    run = place / "data/one.run"
    if old:
        for path in (place / "data").iterdir():
            os.utime(path, (LONG_AGO, LONG_AGO))
    harness.run(config)
    evaluated()
    os.utime(run)
    harness.run(config)
    assert evaluated() == {}
    times = run.stat().st_atime_ns, run.stat().st_mtime_ns
    run.write_bytes(run.read_bytes().replace(b"3", b"4", 1))
    os.utime(run, ns=times)  # same size, same time: the inode's own time tells
    harness.run(config)
    assert evaluated().keys() == {"one"}


@pytest.mark.parametrize(
    "override",
    ["metrics=[ndcg@10, P@5]", "policy.ties=stable", "policy.depth=20", "convention=lightgbm",
     "crosscheck=none", 'runs={"{run}": {path: "../data/{run}.run", duplicates: last}}'],
)  # fmt: skip
def test_another_setting_computes_everything(
    config: Path, evaluated: Callable, override: str
) -> None:
    for overrides in (["metrics=[ndcg@10]"], ["metrics=[ndcg@10]", override]):
        harness.run(config, overrides=overrides)
        assert evaluated().keys() == ALL.keys()


def test_other_code_computes_everything(
    config: Path, evaluated: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.run(config)
    monkeypatch.setattr("harness.experiment.cache.code", lambda: "another version")
    evaluated()
    harness.run(config)
    assert evaluated() == ALL


def test_a_seed_is_compared_to_the_same_seed_of_the_other_run(place: Path, config: Path) -> None:
    for model in "ab":
        for seed in (1, 2):
            shutil.copy(place / "data/one.run", place / f"data/{model}-{seed}.txt")
    runs = 'runs={"model {model}": {path: "../data/{model}-{seed}.txt"}}'
    loaded = load(config, overrides=[runs, "metrics=['rbo(p=0.9,reference=model b)']"])
    cells = resolve(loaded)
    keys = Keys(loaded, cells)
    others = [(cell.run_entry.path[-7:], keys.runs(cell)[1].run_entry.path) for cell in cells]
    assert [(own, other[-7:]) for own, other in others] == [
        ("a-1.txt", "b-1.txt"), ("a-2.txt", "b-2.txt"),
        ("b-1.txt", "b-1.txt"), ("b-2.txt", "b-2.txt"),
    ]  # fmt: skip


def test_damaged_and_exchanged_records_and_a_damaged_index(
    config: Path, evaluated: Callable, outputs: Callable
) -> None:
    folder = harness.run(config).folder
    evaluated()
    before, index = outputs(folder), folder / "cells" / INDEX
    for text in ("{", "[]", '{"files": {"x": 3}, "records": 1}'):
        index.write_text(text)
        harness.run(config)
        assert evaluated() == {}
    first, second, _ = sorted((folder / "cells").glob("??/*.parquet"))
    first.write_bytes(first.read_bytes()[:100])
    second.write_bytes(b"")
    harness.run(config)
    assert len(evaluated()) == 2
    first.write_bytes(second.read_bytes())  # the record of another cell
    harness.run(config)
    assert len(evaluated()) == 1
    assert outputs(folder) == before


def test_metadata_at_the_head_of_a_run_are_read(place: Path, config: Path) -> None:
    run = place / "data/one.run"
    head = "# ir_metadata.start\n# tag: own\n# actor: {team: T}\n# ir_metadata.end\n"
    run.write_text(head + run.read_text())
    cells = {cell.run: cell.ir_metadata for cell in harness.run(config).manifest.cells}
    assert cells == {"one": {"tag": "own", "actor": {"team": "T"}}, "ten": None, "two": None}


@pytest.mark.parametrize("large", [100, 10**9])
def test_a_large_cache_is_reported(
    config: Path, large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.cli.run.LARGE", large)
    _, _, err = called("run", config)
    assert ("cells: the cache has " in err) == (large == 100)


def test_a_shared_cache_and_none(place: Path, config: Path, evaluated: Callable) -> None:
    for output, expected in (("one", ALL), ("two", {})):
        harness.run(config, overrides=["cache=../shared", f"output=../{output}"])
        assert evaluated() == expected
        assert not (place / output / "cells").exists()
    for _ in range(2):
        harness.run(config, overrides=["cache=none", "output=../three"])
        assert evaluated() == ALL
    assert not (place / "three/cells").exists()


PLUGIN = """
import helper
from harness import metric

@metric("constant", direction="higher", bounds=(0, 9), source="this test")
def constant(aligned):
    "The same for every query."
    return helper.VALUE + 0 * aligned.n_retrieved
"""


def test_a_plugin_and_what_it_imports_are_part_of_the_key(
    place: Path, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "lib").mkdir()
    monkeypatch.syspath_prepend(place / "lib")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    changed, seen = PLUGIN.replace("helper.VALUE +", "1 + helper.VALUE +"), []
    for value, plugin in (("1.0", PLUGIN), ("2.0", PLUGIN), ("2.0", changed)):
        (place / "configs/m.py").write_text(plugin)
        (place / "lib/helper.py").write_text(f"VALUE = {value}\n")
        sys.modules.pop("helper", None)
        found = harness.run(config, overrides=["plugins=[m.py]", "metrics=[constant]"])
        seen.append(found.leaderboard.entries[0].summary["constant"])
    sys.modules.pop("helper", None)
    REGISTRY.pop("constant", None)
    assert seen == [1.0, 2.0, 3.0]
