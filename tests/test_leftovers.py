"""What an earlier run left in a folder of results: removed where it is no result any more."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import harness
from harness import files as store
from harness.errors import HarnessWarning

CONFIG = """
name: toy
datasets: {toy: {path: ../data/qrels.txt}}
runs: {"{run}": {path: "../data/{run}.run"}}
metrics: [map]
compare: {seed: 3}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("configs", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "data/qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n3 0 b 1\n")
    for name, scores in (("one", "31"), ("two", "13"), ("three", "52")):
        rows = [f"{q} Q0 {d} 1 {s} x\n" for q in "123" for d, s in zip("ab", scores, strict=True)]
        (tmp_path / f"data/{name}.run").write_text("".join(rows))
    (tmp_path / "configs/toy.yaml").write_text(CONFIG)
    return tmp_path


def test_files_of_an_earlier_config_go_and_only_those(place: Path) -> None:
    config = place / "configs/toy.yaml"
    harness.run(config, overrides=["reports=[csv, html, markdown]", "tables={main: {}}"])
    folder = place / "configs/results/toy"
    (folder / "mine.txt").write_text("mine", encoding="utf-8")
    (folder / "leaderboard.md").write_text("edited", encoding="utf-8")
    (folder / "tables/mine.tex").write_text("mine", encoding="utf-8")
    with pytest.warns(HarnessWarning, match="no part of these results: leaderboard.md$"):
        harness.run(config, overrides=["compare=null"])

    def names() -> set[str]:
        files = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix() for path in files} - {".lock"}

    kept = {name for name in names() if not name.startswith(("cells/", "."))}
    assert kept == {
        "leaderboard.csv", "leaderboard.md", "manifest.json", "mine.txt", "per_query.parquet",
        "tables/mine.tex", "timing.json",
    }  # fmt: skip
    timing = json.loads((folder / "timing.json").read_text(encoding="utf-8"))
    assert {*timing["files"]} == {"leaderboard.csv", "manifest.json", "per_query.parquet"}
    assert {"leaderboard.html", "significance.csv", "tables/main.tex"} <= {*timing["earlier"]}


def test_what_a_killed_run_did_not_remove_goes_with_the_next(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = place / "configs/toy.yaml"
    harness.run(config, overrides=["reports=[csv, html]"])
    folder = place / "configs/results/toy"
    with monkeypatch.context() as patch:
        patch.setattr(store, "remove", lambda *_: None)  # killed before
        harness.run(config)
    assert (folder / "leaderboard.html").exists()
    harness.run(config)
    assert not (folder / "leaderboard.html").exists()


@pytest.mark.parametrize("content", ["[]", "{", '{"files": 3, "earlier": {"../x": 1}}'])
def test_a_list_of_files_that_is_none_removes_nothing(place: Path, content: str) -> None:
    folder = harness.run(place / "configs/toy.yaml").folder
    (folder.parent / "x").write_text("", encoding="utf-8")
    (folder / "timing.json").write_text(content, encoding="utf-8")
    harness.run(place / "configs/toy.yaml", force=True)
    empty = hashlib.sha256(b"").hexdigest()
    assert store.compare_recorded(folder, {"../x": {empty}}) == ({}, [])
    assert (folder.parent / "x").exists()
