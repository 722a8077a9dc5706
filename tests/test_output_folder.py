"""The output folder: what a run replaces there, and what it leaves alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import harness
from harness.cli.main import main
from harness.config import load as configs
from harness.config import sweep
from harness.errors import ConfigError, InputError
from harness.experiment import run as experiment

CONFIG = """
output: ../out
datasets: {"toy-{fold}": {path: "../data/qrels-{fold}.txt"}}
runs: {"{run}": {path: "../data/{run}-{fold}.run"}}
metrics: [map, "P@2", "P@1"]
compare: {baseline: two, seed: 3}
tables: {main: {}, wide: {formats: [csv]}}
reports: [csv, markdown, html]
summary: {pool: [fold]}
"""
PICTURES = ["plots=[{kind: scatter, formats: [svg]}, {kind: heatmap, formats: [svg]}]"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("configs", "data"):
        (tmp_path / name).mkdir()
    queries = {"1": ("10", "2"), "2": ("1", "30")}
    for fold, qids in queries.items():
        rows = [f"{q} 0 a 1\n{q} 0 b 0\n{q} 0 c 2\n" for q in qids]
        (tmp_path / f"data/qrels-{fold}.txt").write_text("".join(rows), encoding="utf-8")
        for name, scores in (("one", "314"), ("two", "135"), ("ten", "521")):
            rows = [
                f"{q} Q0 {d} 1 {s}.{len(q)} x\n"
                for q in qids
                for d, s in zip("abc", scores, strict=True)
            ]
            path = tmp_path / f"data/{name}-{fold}.run"
            path.write_text("".join(rows), encoding="utf-8")
    (tmp_path / "configs/toy.yaml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


def run(place: Path, *overrides: str, force: bool = False) -> harness.Results:
    return harness.run(place / "configs/toy.yaml", overrides=overrides, force=force)


NAMES = [
    "manifest.json", "timing.json", "leaderboard.csv", "leaderboard.md", "leaderboard.html",
    "leaderboard_cells.csv", "per_query.parquet", "significance.csv", "standings.csv",
    "tables/main.tex", "tables/wide.csv",
]  # fmt: skip


def test_foreign_files_are_refused_before_any_work(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in NAMES:
        path = place / "out" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"files": [], "version": 3}', encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(experiment, "evaluate_all", lambda *_: pytest.fail("evaluated"))
        with pytest.raises(InputError) as caught:
            run(place)
        with pytest.raises(SystemExit) as stopped:
            main(["run", str(place / "configs/toy.yaml")])
    assert stopped.value.code == 2
    assert "--force" in capsys.readouterr().err
    assert all(name in str(caught.value) for name in NAMES)
    assert all(b"version" in (place / "out" / name).read_bytes() for name in NAMES)
    with pytest.raises(SystemExit) as stopped:
        main(["run", str(place / "configs/toy.yaml"), "--force"])
    assert not stopped.value.code
    assert not any(b'version": 3}' in (place / "out" / name).read_bytes() for name in NAMES)
    run(place)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "timing.json"])
def test_an_edited_file_is_refused(place: Path, name: str) -> None:
    run(place)
    path = place / "out" / name
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(InputError, match="edited since") as caught:
        run(place)
    assert str(caught.value).splitlines()[0].endswith(f"since: {name}")
    run(place, force=True)
    run(place)


def test_a_link_and_a_folder_in_the_place_of_a_file_are_refused(place: Path) -> None:
    run(place)
    board = place / "out/leaderboard.csv"
    board.rename(place / "mine.csv")
    board.symlink_to(place / "mine.csv")
    (place / "out/leaderboard.md").unlink()
    (place / "out/leaderboard.md").mkdir()
    with pytest.raises(InputError, match=r"leaderboard\.csv, leaderboard\.md"):
        run(place)
    assert board.is_symlink()


def test_runs_go_on_in_their_own_folder(place: Path) -> None:
    run(place)
    run(place)
    run(place, "metrics=[P@1]", "tables={main: {percent: ['*']}}", "policy.ties=best")
    shutil.move(place / "out", place / "elsewhere")
    run(place, "output=../elsewhere")
    (place / "configs/other.yaml").write_text(CONFIG, encoding="utf-8")
    harness.run(place / "configs/other.yaml", overrides=["output=../elsewhere", "tables={}"])
    (place / "elsewhere/timing.json").unlink()  # the manifest has the hashes of values
    harness.run(place / "configs/other.yaml", overrides=["output=../elsewhere", "tables={}"])


@pytest.mark.parametrize("again", [(), ("metrics=[P@1]", "tables={main: {percent: ['*']}}")])
def test_a_run_that_was_killed_while_writing_goes_on(
    place: Path, monkeypatch: pytest.MonkeyPatch, again: tuple[str, ...]
) -> None:
    class Killed(BaseException):
        pass

    replace, seen = Path.replace, set()
    run(place)
    n_files = len(run(place, *again).files) + 1
    for first in (False, True):
        for n in range(0, n_files, 3 - first):
            if first:
                shutil.rmtree(place / "out")
            left = [n]

            def killed(self: Path, target: Path, left: list[int] = left) -> Path:
                if target.parent.parent.name != "cells" and target.parent.name != "cells":
                    if not left[0]:
                        raise Killed
                    left[0] -= 1
                return replace(self, target)

            with monkeypatch.context() as patch:
                patch.setattr(Path, "replace", killed)
                with pytest.raises(Killed):
                    run(place, f"compare.seed={n + 10 * first}", *again)
            seen.add(len(list((place / "out").glob("*.*"))))
            if n % 2:  # killed twice
                with monkeypatch.context() as patch:
                    patch.setattr(Path, "replace", killed)
                    left[0] = n // 2
                    with pytest.raises(Killed):
                        run(place)
            run(place)
    assert len(seen) > 3


def test_the_files_of_a_run_are_known_before_it(place: Path) -> None:
    for overrides in ([], ["summary={}", "compare=null"], ["reports=[csv]", "tables={}"]):
        loaded = configs.load(place / "configs/toy.yaml", overrides=overrides)
        known = experiment.output_names(loaded, sweep.resolve(loaded))
        written = harness.run(loaded).files
        assert {*known} == {*written, "timing.json"}


def test_pictures_are_known_before_a_run_too(place: Path) -> None:
    pytest.importorskip("matplotlib")
    for overrides in (PICTURES, [*PICTURES, "summary={}"]):
        loaded = configs.load(place / "configs/toy.yaml", overrides=overrides)
        known = experiment.output_names(loaded, sweep.resolve(loaded))
        written = harness.run(loaded).files
        assert sum(name.startswith("plots/") for name in written) > 3
        assert {*known} == {*written, "timing.json"}


def test_pictures_of_the_plot_command_are_ours(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")

    def plot(*more: str) -> int:
        words = ["plot", str(place / "out"), "scatter", "-m", "map", "-m", "P@1", "-f", "svg"]
        with pytest.raises(SystemExit) as stopped:
            main([*words, *more])
        return int(stopped.value.code or 0)

    run(place)
    assert plot() == plot() == 0
    (picture,) = (place / "out/plots").iterdir()
    run(place)
    assert picture.is_file()  # no run removes what was asked for on the command line
    run(place, *PICTURES)
    assert plot() == 0
    run(place, *PICTURES)
    picture.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=rf"plots/{picture.name}"):
        run(place, *PICTURES)
    assert plot() == 2
    assert picture.read_text(encoding="utf-8") == "mine"
    assert plot("--force") == 0
    run(place, *PICTURES)


@pytest.mark.parametrize("name", ["inputs.json", "CACHEDIR.TAG"])
def test_a_cache_replaces_no_foreign_file(place: Path, name: str) -> None:
    path = place / "mydata" / name
    path.parent.mkdir()
    path.write_text('{"files": ["a.txt"]}', encoding="utf-8")
    with pytest.raises(InputError, match=rf"mydata: expected only files .*: {name}"):
        run(place, "cache=../mydata")
    assert path.read_text(encoding="utf-8") == '{"files": ["a.txt"]}'
    run(place, "cache=../mydata", force=True)
    run(place, "cache=../mydata")


def test_more_than_fifty_pictures_are_refused(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    many = "metrics=[map, 'P@1,2,3,4,5,6,7,8,9,10']"  # 11 metrics, 55 pairs
    with pytest.raises(ConfigError) as caught:
        run(place, many, "plots=[heatmap, scatter]")
    assert r"$.plots[1]" in str(caught.value)
    assert "scatter: expected at most 50 pictures, got 55" in str(caught.value)
    assert "metrics: [...]" in str(caught.value)
    forty_five = "plots=[{kind: scatter, metrics: ['P@*']}]"
    configs.load(place / "configs/toy.yaml", overrides=[many, forty_five])
    run(place, many, "tables={}")
    with pytest.raises(SystemExit) as stopped:
        main(["plot", str(place / "out"), "scatter"])
    assert stopped.value.code == 2
    assert "--metric" in capsys.readouterr().err
    assert not (place / "out/plots").exists()
