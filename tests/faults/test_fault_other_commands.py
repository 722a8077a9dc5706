"""`init`, `plot` and `annotate` killed, stopped or refused: nothing half is left, and the next
same command writes what an undisturbed one does, byte for byte. Other commands write no file, but
`run`, and `cache prune`, which deletes.
"""

from __future__ import annotations

import gzip
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from small_sweep import NOBODY, ROOT_ONLY, Ended, Sweep, open_to_all

from harness import BatchCollector
from harness import files as store

Asked = Callable[[Sweep], tuple[list[str], Path]]
Goes = Callable[..., None]
Mount = Callable[[Path, str], None]
MEMORY = "raise the limit (ulimit -v, or the job's)"
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


@pytest.fixture
def again(sweep: Sweep, asked: tuple[list[str], Path]) -> Callable[[], None]:
    """Asserts that the command writes now what it writes undisturbed, and nothing beside it."""
    command, target = asked
    made = [path for path in (target.parent, *target.parent.parents) if not path.exists()]
    assert sweep.run(arguments=command).code == 0
    whole = target.read_bytes()
    target.unlink()
    for folder in made:
        folder.rmdir()

    def check() -> None:
        ended = sweep.run(arguments=command)
        assert (ended.code, ended.err) == (0, "")
        assert target.read_bytes() == whole
        assert unfinished(sweep) == []

    return check


def unfinished(sweep: Sweep) -> list[Path]:
    return [*sweep.folder.rglob(".*.part")]


def test_killed(sweep: Sweep, asked: tuple[list[str], Path], again: Callable[[], None]) -> None:
    """The next same command removes what is left, and nothing of others."""
    command, target = asked
    for call in (["os", "fsync", 0], ["pathlib", "Path.replace", 0]):
        ended = sweep.run(arguments=command, call=call, act=["signal", signal.SIGKILL])
        assert ended.code == -signal.SIGKILL
        left = unfinished(sweep)
        if target.parent.parent == sweep.out:  # timing.json, which is written first
            assert left.pop(0).parent == sweep.out
        assert [path.parent for path in left] in ([], [target.parent])
        assert not target.exists()
        of_others = target.parent / ".mine.csv.q1w2e3r4.part"
        if target.parent.parent != sweep.out:  # of results all that was left goes
            of_others.write_text("mine")
        assert sweep.run(arguments=command).code == 0
        of_others.unlink(missing_ok=True)
        assert unfinished(sweep) == []
        target.unlink()
    again()


def test_stopped(sweep: Sweep, asked: tuple[list[str], Path], again: Callable[[], None]) -> None:
    command, target = asked
    for call in (["os", "open", 0], ["os", "fsync", 0], ["pathlib", "Path.replace", 0]):
        ended = sweep.run(arguments=command, call=call, act=["signal", signal.SIGINT])
        assert (ended.code, ended.err) == (130, "stopped; nothing is left half written\n")
        assert not target.parent.exists()
    again()


def refused(ended: Ended, where: Path, why: str, fix: str) -> None:
    fix = f"{fix}; nothing was left half written"
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"error: {where}: cannot be written: {why}\n  fix:   {fix}\n"


def no_place(ended: Ended, command: list[str], why: str, fix: str) -> None:
    """Said before there is anything to write, but by `annotate`, which computes nothing."""
    assert (ended.code, ended.out) == (2, "")
    if command[0] == "annotate":
        assert f": cannot be written: {why}\n  fix:   {fix}" in ended.err
    else:
        assert ": no place for the results: " in ended.err
        assert "may not be written to\n  fix:   name another folder, or change its" in ended.err


def test_no_room(sweep: Sweep, asked: tuple[list[str], Path], again: Callable[[], None]) -> None:
    command, target = asked
    ended = sweep.run(arguments=command, limits={"RLIMIT_FSIZE": FEW})
    where = target if command[0] == "annotate" else target.parent
    where = sweep.out if where.parent == sweep.out else where
    refused(ended, where, "File too large", "raise the limit on the size of files (ulimit -f)")
    assert not target.parent.exists()
    assert not (sweep.folder / NEW).parent.exists()
    again()


@ROOT_ONLY
@pytest.mark.parametrize(
    "asked", [init, plot, annotate], ids=lambda one: one.__name__, indirect=True
)
def test_a_disk_that_is_full_or_read_only(
    sweep: Sweep, asked: tuple[list[str], Path], again: Callable[[], None], mount: Mount
) -> None:
    command, target = asked
    disk = sweep.folder / Path(NEW).parts[0]
    mount(disk, "size=4096")
    (disk / "other").write_bytes(bytes(4096))
    where = target if command[0] == "annotate" else target.parent
    ended = sweep.run(arguments=command)
    refused(ended, where, "No space left on device", "free space or write to another folder")
    assert [path.name for path in disk.iterdir()] == ["other"]
    mount(disk, "size=64m,ro")
    no_place(sweep.run(arguments=command), command, "Read-only file system", "write to another")
    mount(disk, "size=64m,rw")
    again()


@ROOT_ONLY
def test_forbidden(sweep: Sweep, asked: tuple[list[str], Path], again: Callable[[], None]) -> None:
    command, target = asked
    open_to_all(sweep)
    sweep.out.chmod(0o755)
    sweep.folder.chmod(0o755)
    ended = sweep.run(arguments=command, user=NOBODY)
    no_place(ended, command, "Permission denied", "change its permissions, or write to another")
    assert not target.parent.exists()
    again()


def test_its_folder_is_deleted_under_way(
    sweep: Sweep, asked: tuple[list[str], Path], again: Callable[[], None]
) -> None:
    command, target = asked
    for call in (["os", "fsync", 0], ["pathlib", "Path.replace", 0]):
        ended = sweep.run(arguments=command, call=call, act=["delete", str(target.parent)])
        assert (ended.code, ended.out) == (2, "")
        assert "cannot be written: No such file or directory\n" in ended.err
        assert "its folder was deleted or moved under way: run again" in ended.err
        assert not target.parent.exists()
    again()


def test_no_memory(sweep: Sweep, asked: tuple[list[str], Path], again: Callable[[], None]) -> None:
    command, target = asked
    ended = sweep.run(arguments=command, call=["os", "fsync", 0], act=["exhaust memory"])
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"error: not enough memory\n  fix:   {MEMORY}\n"
    assert not target.parent.exists()
    again()


def test_two_at_once(
    sweep: Sweep, asked: tuple[list[str], Path], again: Callable[[], None],
    whole_command: Callable[..., subprocess.Popen[str]],
) -> None:  # fmt: skip
    """Both write all of it, and the later one stays."""
    command, target = asked
    running = [whole_command(*command) for _ in range(2)]
    said = [process.communicate(timeout=90)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    written = target.read_bytes()
    again()
    assert target.read_bytes() == written


def test_what_is_read_is_damaged(sweep: Sweep) -> None:
    """What is to be written is not begun, and a sentence names the file."""
    command, target = annotate(sweep)
    run = Path(command[1])
    run.write_bytes(gzip.compress(run.read_bytes(), mtime=0)[:-6])
    ended = sweep.run(arguments=command)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"error: {run}: the gzip data is cut short\n  fix:   ")
    assert not target.parent.exists()
    pytest.importorskip("matplotlib")
    shutil.copy(sweep.folder / "data/gbrt/fold1-seed2.txt", run)
    assert sweep.run().code == 0
    values = sweep.out / "per_query.parquet"
    values.write_bytes(values.read_bytes()[:-100])
    ended = sweep.run(arguments=plot(sweep)[0])
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"error: {values}: is not the file that manifest.json was written")
    assert not target.parent.exists()


def test_a_collector_is_saved_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From Python; what a killed process left of that very file goes with the next one."""
    collector = BatchCollector()
    collector.add(np.array([[0.5, 0.2]]), np.array([[1, 0]]), np.array([2]))
    path = tmp_path / "x.npz"
    (tmp_path / ".x.npz.q1w2e3r4.part").write_text("half")
    (tmp_path / ".y.npz.q1w2e3r4.part").write_text("of another one")
    with monkeypatch.context() as struck:
        struck.setattr(store.os, "fsync", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            collector.save(path)
    assert not path.exists()
    collector.save(path)
    assert {one.name for one in tmp_path.iterdir()} == {"x.npz", ".y.npz.q1w2e3r4.part"}


def test_pruning_a_cache(sweep: Sweep, goes_on: Goes) -> None:
    """Killed, stopped or forbidden when some records are gone: the next prune takes the others."""
    command = ["cache", "prune", str(sweep.out / "cells"), "--days", "0", "--delete"]
    for act, code in ((["signal", signal.SIGKILL], -9), (["signal", signal.SIGINT], 130)):
        assert sweep.run().code == 0
        ended = sweep.run(arguments=command, call=["pathlib", "Path.unlink", 5], act=act)
        assert ended.code == code
        assert len([*sweep.out.glob("cells/??/*.parquet")]) == 7
        assert sweep.run(arguments=command).code == 0
        assert [*sweep.out.glob("cells/??/*.parquet")] == []
        goes_on(sweep)


@ROOT_ONLY
def test_a_cache_that_may_not_be_pruned(sweep: Sweep, goes_on: Goes) -> None:
    assert sweep.run().code == 0
    open_to_all(sweep)
    before = sweep.files()
    command = ["cache", "prune", str(sweep.out / "cells"), "--days", "0", "--delete"]
    ended = sweep.run(arguments=command, user=NOBODY)
    assert ended.code == 2
    assert ": Permission denied\n  fix:   change its permissions" in ended.err
    assert sweep.files() == before
    goes_on(sweep)


def test_what_was_there_stays(
    sweep: Sweep, asked: tuple[list[str], Path], again: Callable[[], None]
) -> None:
    command, target = asked
    target.parent.mkdir(parents=True)
    target.write_text("before")
    assert sweep.run(arguments=command, limits={"RLIMIT_FSIZE": FEW}).code == 2
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    assert target.read_text() == "before"
    if target.parent.parent == sweep.out:
        assert sweep.run(arguments=command).code == 2  # a picture of others, in our folder
        assert target.read_text() == "before"
        target.unlink()
    again()


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
