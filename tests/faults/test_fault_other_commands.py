"""`init`, `plot` and `annotate` killed, stopped or out of space: nothing of theirs stays."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from small_sweep import Ended, Sweep

Asked = Callable[[Sweep], tuple[list[str], Path]]
NEW = "new/deep"
"""Folders that are not there before."""
FEW = 300
"""Bytes that a file may have."""


def init(sweep: Sweep) -> tuple[list[str], Path]:
    target = sweep.folder / NEW / "x.yaml"
    return ["init", str(sweep.folder / "data"), "--force", "-o", str(target)], target


def plot(sweep: Sweep) -> tuple[list[str], Path]:
    folder = sweep.folder / NEW
    kind = ["distribution", "-m", "map", "--dataset", "fold1"]
    command = ["plot", str(sweep.out), *kind, "-o", str(folder)]
    return command, folder / "distribution-fold1-map.png"


def plot_beside(sweep: Sweep) -> tuple[list[str], Path]:
    command, target = plot(sweep)
    return command[:-2], sweep.out / "plots" / target.name


def annotate(sweep: Sweep) -> tuple[list[str], Path]:
    target = sweep.folder / NEW / "x.txt.zst"
    run = sweep.folder / "data/gbrt/fold1-seed1.txt"
    command = ["annotate", str(run), "--set", "actor.name=Me", "--force", "-o", str(target)]
    return command, target


@pytest.fixture(params=[init, plot, plot_beside, annotate], ids=lambda one: one.__name__)
def asked(request: pytest.FixtureRequest, sweep: Sweep) -> tuple[list[str], Path]:
    """The words of a command, and what it writes."""
    command: Asked = request.param
    if command in (plot, plot_beside):
        pytest.importorskip("matplotlib")
        assert sweep.run().code == 0
    return command(sweep)


def unfinished(sweep: Sweep) -> list[Path]:
    return [*sweep.folder.rglob(".*.part")]


def test_killed(sweep: Sweep, asked: tuple[list[str], Path]) -> None:
    """The next same command removes what is left, and nothing of others."""
    command, target = asked
    for call in (["os", "fsync", 0], ["pathlib", "Path.replace", 0]):
        ended = sweep.run(arguments=command, call=call, act=["signal", signal.SIGKILL])
        assert ended.code == -signal.SIGKILL
        (left,) = unfinished(sweep)
        assert left.parent == target.parent
        assert not target.exists()
        of_others = target.parent / ".mine.csv.q1w2e3r4.part"
        if target.parent.parent != sweep.out:  # of results all that was left goes
            of_others.write_text("mine")
        ended = sweep.run(arguments=command)
        assert (ended.code, ended.err) == (0, "")
        of_others.unlink(missing_ok=True)
        assert unfinished(sweep) == []
        target.unlink()


def test_stopped(sweep: Sweep, asked: tuple[list[str], Path]) -> None:
    command, target = asked
    ended = sweep.run(arguments=command, call=["os", "fsync", 0], act=["signal", signal.SIGINT])
    assert (ended.code, ended.err) == (130, "stopped; nothing is left half written\n")
    assert not target.parent.exists()
    assert sweep.run(arguments=command).code == 0


def refused(ended: Ended, where: Path, why: str, fix: str) -> None:
    fix = f"{fix}; nothing was left half written"
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"error: {where}: cannot be written: {why}\n  fix:   {fix}\n"


def test_no_room(sweep: Sweep, asked: tuple[list[str], Path]) -> None:
    command, target = asked
    ended = sweep.run(arguments=command, limits={"RLIMIT_FSIZE": FEW})
    where = target if command[0] == "annotate" else target.parent
    refused(ended, where, "File too large", "raise the limit on the size of files (ulimit -f)")
    assert not target.parent.exists()
    assert not (sweep.folder / NEW).parent.exists()
    assert sweep.run(arguments=command).code == 0


def test_what_was_there_stays(sweep: Sweep, asked: tuple[list[str], Path]) -> None:
    command, target = asked
    target.parent.mkdir(parents=True)
    target.write_text("before")
    assert sweep.run(arguments=command, limits={"RLIMIT_FSIZE": FEW}).code == 2
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    assert target.read_text() == "before"


def test_few_open_files(sweep: Sweep) -> None:
    for most in (4, 5, 6, 7, 8, 9, 12):
        ended = sweep.run(arguments=annotate(sweep)[0], limits={"RLIMIT_NOFILE": most})
        if ended.code:
            assert ended.code == 2
            assert "Too many open files" in ended.err
            assert ended.err.endswith("raise the limit on open files (ulimit -n)\n") or (
                "raise the limit on open files (ulimit -n); nothing" in ended.err
            )
        assert unfinished(sweep) == []
    assert ended.code == 0
