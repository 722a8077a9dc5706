"""kill -9 at seeded moments of a sweep: nothing is broken, nothing stays, the next run completes.

Moments are drawn until so many runs have really been killed: a run that was done before does not
count. `HARNESS_TRIALS=500` kills 500 runs at any time of theirs.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from small_sweep import TRIALS, Sweep, Undisturbed, in_each_part, left_of

from harness import files as store

Goes = Callable[..., None]
KILL = ["signal", signal.SIGKILL]
IN_ONE = max(36, TRIALS)
"""Kills of a run in one process, at any time of it."""
AT_CALLS = max(11, TRIALS // 4)
"""Kills when the run asks something of the file system, up to the last rename."""
IN_SEVERAL = max(3, TRIALS // 20)
WHOLE = max(5, TRIALS // 50)


def test_fifty_runs_are_really_killed() -> None:
    assert IN_ONE + AT_CALLS + IN_SEVERAL >= 50


def test_at_any_time(sweep: Sweep, undisturbed: Undisturbed, goes_on: Goes) -> None:
    kept = set()

    def strike(share: float) -> bool:
        ended = sweep.run(signal=signal.SIGKILL, after=share * undisturbed.seconds)
        kept.add(len(list(sweep.out.glob("cells/??/*.parquet"))))
        goes_on(sweep)
        shutil.rmtree(sweep.out)
        return ended.code == -signal.SIGKILL

    in_each_part(IN_ONE, 0, strike)
    assert len(kept) > 2, "all were killed before or after the cells"


def test_at_calls_of_the_file_system(sweep: Sweep, goes_on: Goes) -> None:
    last = 0
    while sweep.run(event=last, act=KILL).code:  # when the whole run asks no more, it ends well
        last = last * 2 + 50
        shutil.rmtree(sweep.out, ignore_errors=True)

    def strike(share: float) -> bool:
        shutil.rmtree(sweep.out, ignore_errors=True)
        ended = sweep.run(event=int(share * last), act=KILL)
        goes_on(sweep)
        return ended.code == -signal.SIGKILL

    in_each_part(AT_CALLS, 1, strike)


@pytest.mark.parametrize(
    ("home", "name", "call"),
    [
        ("os", "fsync", 0), ("os", "fsync", 5),  # beside their places
        ("pathlib", "Path.replace", 12), ("pathlib", "Path.replace", 14),  # cells, then results
        ("pathlib", "Path.replace", 21),
    ],
)  # fmt: skip
def test_in_the_middle_of_writing(
    sweep: Sweep, goes_on: Goes, home: str, name: str, call: int
) -> None:
    ended = sweep.run(call=[home, name, call], act=KILL)
    assert ended.code == -signal.SIGKILL
    assert sweep.unfinished() != []
    goes_on(sweep)  # which compares hidden files too
    assert sweep.unfinished() == []


def test_over_results_that_were_there(sweep: Sweep, undisturbed: Undisturbed) -> None:
    """Each file is the old or the new one; the next run makes all of them new."""
    other = ["--set", "metrics=[map]", "--set", "tables={}"]
    assert sweep.run(*other).code == 0
    old = sweep.files()
    for call in (8, 10, 6):  # 12 cells and the index are known
        ended = sweep.run(call=["pathlib", "Path.replace", call], act=KILL)
        assert ended.code == -signal.SIGKILL
        for name, digest in sweep.files().items():
            if "cells/" not in name and not Path(name).name.startswith("."):
                assert digest in (old.get(name), undisturbed.files[name])
    assert sweep.run().code == 0
    found = sweep.files()
    assert found["leaderboard.csv"] == undisturbed.files["leaderboard.csv"]
    assert found["per_query.parquet"] == undisturbed.files["per_query.parquet"]
    assert sweep.unfinished() == []


def test_with_workers(sweep: Sweep, goes_on: Goes) -> None:
    def strike(share: float) -> bool:
        ended = sweep.run("--jobs", "2", signal=signal.SIGKILL, after=share * 2.0)
        assert left_of(ended.session) == [], "workers outlive the run"
        goes_on(sweep)
        shutil.rmtree(sweep.out)
        return ended.code == -signal.SIGKILL

    in_each_part(IN_SEVERAL, 2, strike)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_whole_command(
    sweep: Sweep, goes_on: Goes, whole_command: Callable[..., subprocess.Popen[str]], jobs: str
) -> None:
    def strike(share: float) -> bool:
        with whole_command("run", sweep.config, "--jobs", jobs) as process:
            while not list(sweep.out.glob("cells/??/*.parquet")) and process.poll() is None:
                time.sleep(0.005)
            time.sleep(share * 0.3)
            process.kill()
            process.communicate()
        assert left_of(process.pid) == []
        goes_on(sweep)
        shutil.rmtree(sweep.out)
        return process.returncode == -signal.SIGKILL

    in_each_part(WHOLE, int(jobs), strike)


def test_what_a_live_run_is_writing_stays(tmp_path: Path) -> None:
    """Of two runs that share a cache the second removes nothing; who comes later does."""
    (tmp_path / "ab").mkdir()
    half = [tmp_path / "ab/.x.parquet.q1w2e3r4.part", tmp_path / ".inputs.json.q1w2e3r4.part"]
    other = [tmp_path / "ab/.hidden", tmp_path / "notes.part"]
    with store.shared(tmp_path):
        for path in [*half, *other]:
            path.write_text("half")
        with store.shared(tmp_path) as removed:
            assert removed == 0
    with store.shared(tmp_path) as removed:
        assert removed == 2
    assert not any(path.exists() for path in half)
    assert all(path.exists() for path in other)


def test_a_cache_in_the_results_is_left_to_those_who_share_it(tmp_path: Path) -> None:
    with store.shared(tmp_path / "out/cells"):
        live = tmp_path / "out/cells/.inputs.json.q1w2e3r4.part"
        dead = [tmp_path / "out/.a.csv.q1w2e3r4.part", tmp_path / "out/tables/.a.tex.q1w2e3r_.part"]
        dead[1].parent.mkdir()
        for path in (live, *dead):
            path.write_text("half")
        with store.locked(tmp_path / "out", ["tables", "plots"]):
            assert live.exists()
            assert not any(path.exists() for path in dead)


def test_a_run_removes_no_file_of_others(
    sweep: Sweep, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """Names that are not just ours, other folders, folders and links of such a name."""
    ours = sweep.out / ".a.csv.q1w2e3r4.part"
    theirs = [
        ".download.part", "x.q1w2e3r4.part", ".q1w2e3r4.part", ".a.csv.q1w2e3.part",
        ".a.csv.Q1W2E3R4.part", "mine/.a.csv.q1w2e3r4.part", "cells/mine/.a.csv.q1w2e3r4.part",
        "tables/deep/.a.csv.q1w2e3r4.part",
    ]  # fmt: skip
    for path in [ours, *(sweep.out / name for name in theirs)]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    folders = [sweep.out / ".x.part", sweep.out / ".x.csv.q1w2e3r4.part"]
    for folder in folders:
        folder.mkdir()
    (tmp_path / "elsewhere").mkdir()
    behind = tmp_path / "elsewhere/.a.svg.q1w2e3r4.part"
    behind.write_text("mine")
    (sweep.out / "plots").symlink_to(behind.parent)
    (sweep.out / ".b.csv.q1w2e3r4.part").symlink_to(behind)
    ended = sweep.run()
    assert (ended.code, ended.err) == (0, undisturbed.err)
    assert not ours.exists()
    assert [name for name in theirs if (sweep.out / name).read_text() != "mine"] == []
    assert all(folder.is_dir() for folder in folders)
    assert (behind.read_text(), (sweep.out / ".b.csv.q1w2e3r4.part").is_symlink()) == ("mine", True)


def test_pruning_a_cache_removes_what_killed_runs_left(sweep: Sweep, goes_on: Goes) -> None:
    sweep.run(call=["pathlib", "Path.replace", 3], act=KILL)
    (left,) = sweep.unfinished()
    assert "cells" in left.parts
    cache = str(sweep.out / "cells")
    pruned = ["cache", "prune", cache, "--days", "0"]
    assert sweep.run(arguments=pruned).code == 0
    assert left.exists()
    said = sweep.run(arguments=[*pruned, "--delete"]).out
    assert "deleted, and 1 unfinished file of killed runs" in said
    assert not left.exists()
    goes_on(sweep)


def test_a_folder_without_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    """As on some file systems of clusters: a run is not kept from writing, and removes nothing."""
    import fcntl

    def refuse(*_: object) -> None:
        raise OSError(38, os.strerror(38))

    left = tmp_path / ".a.csv.q1w2e3r4.part"
    left.write_text("half")
    monkeypatch.setattr(fcntl, "flock", refuse)
    with store.locked(tmp_path), store.shared(tmp_path) as removed:
        assert removed == 0
    assert left.exists()
    assert not recwarn.list
