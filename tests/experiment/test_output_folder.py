"""The output folder: what a run replaces and removes there, and what it leaves alone."""

import json
import shutil
from pathlib import Path

import pytest
from command_line import called, refused, succeeds

import harness
from harness.errors import HarnessWarning, InputError
from harness.experiment import run as experiment

MORE = """
compare: {baseline: two, seed: 3}
tables: {main: {}, wide: {formats: [csv]}}
reports: [csv, markdown, html]
summary: {spread: [seed]}
"""
NAMES = [
    "manifest.json", "timing.json", "leaderboard.csv", "leaderboard.md", "leaderboard.html",
    "leaderboard_cells.csv", "per_query.parquet", "significance.csv", "standings.csv",
    "tables/main.tex", "tables/wide.csv",
]  # fmt: skip


@pytest.fixture
def config(place: Path) -> Path:
    """A config that asks for every kind of file."""
    for path in (place / "data").glob("*.run"):
        shutil.copy(path, path.with_name(f"{path.stem}-1.txt"))
        path.rename(path.with_name(f"{path.stem}-2.txt"))
    path = place / "configs/toy.yaml"
    runs = 'runs: {"{run}": {path: "../data/{run}-{seed}.txt"}}'
    lines = [runs if line.startswith("runs") else line for line in path.read_text().splitlines()]
    path.write_text("\n".join(lines) + MORE)
    return path


def test_foreign_files_are_refused_before_any_work(
    place: Path, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in NAMES:
        path = place / "out" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"files": [], "version": 3}')
    with monkeypatch.context() as patch:
        patch.setattr(experiment, "evaluate_all", lambda *_: pytest.fail("evaluated"))
        with pytest.raises(InputError, match=r"manifest\.json, .*leaderboard\.csv"):
            harness.run(config)
    for name in ("manifest.json", "timing.json", "leaderboard.csv", "per_query.parquet"):
        (place / "out" / name).rename(place / name)
    with pytest.raises(InputError) as caught:
        harness.run(config)
    assert all(name in str(caught.value) for name in NAMES if not (place / name).exists())
    for name in ("manifest.json", "timing.json", "leaderboard.csv", "per_query.parquet"):
        (place / name).rename(place / "out" / name)
    assert "--force" in refused("run", config)
    assert all(b"version" in (place / "out" / name).read_bytes() for name in NAMES)
    assert called("run", config, "--force")[0] == 0
    assert not any(b'version": 3}' in (place / "out" / name).read_bytes() for name in NAMES)
    harness.run(config)


def test_edited_files_links_and_folders_are_refused(place: Path, config: Path) -> None:
    harness.run(config)
    for name in NAMES:
        path = place / "out" / name
        content = path.read_bytes()
        if name != "timing.json":
            path.write_bytes(content + b"\n")
            with pytest.raises(InputError, match=f": {name}"):
                harness.run(config)
            path.write_bytes(content)
    (place / "out/manifest.json").write_text("edited")
    harness.run(config, force=True)
    board = place / "out/leaderboard.csv"
    board.rename(place / "mine.csv")
    board.symlink_to(place / "mine.csv")
    with pytest.raises(InputError, match=r"leaderboard\.csv"):
        harness.run(config)
    assert board.is_symlink()


def test_files_of_an_earlier_config_go_and_only_those(place: Path, config: Path) -> None:
    harness.run(config)
    folder = place / "out"
    (folder / "mine.txt").write_text("mine")
    (folder / "leaderboard.md").write_text("edited")
    (folder / "tables/mine.tex").write_text("mine")
    plain = ["compare=null", "reports=[csv]", "tables={}", "summary={}"]
    with pytest.warns(HarnessWarning, match=": leaderboard.md$"):
        harness.run(config, overrides=plain)
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert {path.as_posix() for path in files if path.parts[0] not in ("cells", ".lock")} == {
        "leaderboard.csv", "leaderboard.md", "manifest.json", "mine.txt", "per_query.parquet",
        "tables/mine.tex", "timing.json",
    }  # fmt: skip
    timing = json.loads((folder / "timing.json").read_text())
    assert {*timing["files"]} == {"leaderboard.csv", "manifest.json", "per_query.parquet"}
    assert {"leaderboard.html", "significance.csv", "tables/main.tex"} <= {*timing["earlier"]}


def test_a_page_with_another_title_is_ours(place: Path, config: Path) -> None:
    harness.run(config, overrides=["reports=[csv, page]"])
    folder = place / "out"
    for title in ("Web = 1", "Web 2"):
        succeeds("page", folder, "--title", title)
        assert title in (folder / "page.html").read_text("utf-8")
    answer = succeeds("verify", folder)
    assert "page.html was not compared" in answer
    succeeds("page", folder, "--participant", "all")
    harness.run(config, overrides=["reports=[csv, page]"])
    assert "Web 2" not in (folder / "page.html").read_text("utf-8")
    assert [*(folder / "participants").glob("*.html")]
    assert "page.html" not in succeeds("verify", folder)
    with (folder / "page.html").open("a") as page:
        page.write("mine")
    with pytest.raises(InputError, match=r"page\.html"):
        harness.run(config, overrides=["reports=[csv, page]"])


TIMINGS = [
    '"files": ""', '"files": "", "earlier": ""',
    '"files": 3, "earlier": {}', '"files": {"a": 1}, "earlier": {}',
    '"files": {"a": ["b"]}, "earlier": {}', '"files": {}, "earlier": null',
    '"files": {}, "earlier": [["a", "b"]]', '"files": {"a\\u0000b": "c"}, "earlier": {}',
    '"files": {"../x": "c", "/": "d", "": "e"}, "earlier": {"\\ud800": "f"}',
]  # fmt: skip


@pytest.mark.parametrize("part", TIMINGS)
def test_a_damaged_timing_is_no_traceback(place: Path, config: Path, part: str) -> None:
    folder = harness.run(config).folder
    text = f'{{"began": 1, "seconds": null, {part}}}'
    (folder / "timing.json").write_text(text)
    err = refused("run", config)
    assert "expected only files that harness wrote" in err
    assert called("plot", folder, "distribution", "--metric", "map")[0] in (0, 2)
    assert called("verify", folder)[0] in (0, 1)
    assert called("run", config, "--force")[0] == 0
    assert called("run", config)[0] == 0
