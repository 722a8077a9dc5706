"""A disk that is full, read-only or forbidden: nothing breaks, and a sentence says what to do."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from small_sweep import CELLS, NOBODY, ROOT_ONLY, Sweep, Undisturbed, open_to_all

Goes = Callable[..., None]


@pytest.fixture
def disk(sweep: Sweep, mount: Callable[[Path, str], None]) -> Callable[[str], None]:
    """Gives the sweep's output folder a file system of its own; called again: another size."""
    return lambda options: mount(sweep.out, options)


@ROOT_ONLY
@pytest.mark.parametrize("where", ["first record", "cache", "results", "last files"])
def test_a_full_disk(
    sweep: Sweep, undisturbed: Undisturbed, goes_on: Goes, disk: Callable[[str], None], where: str
) -> None:
    assert sweep.run().code == 0
    pages = {True: 1, False: 1}  # the lock and the index
    for path in sweep.out.rglob("*"):
        if path.is_file():
            pages["cells" in path.parts] += -(-path.stat().st_size // 4096)
    size = {
        "first record": 1,
        "cache": pages[True] // 2,
        "results": pages[True] + 2,
        "last files": pages[True] + pages[False] - 3,
    }[where]
    disk(f"size={size * 4096}")
    ended = sweep.run()
    assert ended.code == 2, ended.err
    assert "cannot write the results: No space left on device" in ended.err
    assert ended.err.endswith(
        "\n  fix:   free space or write to another folder; nothing was left half written\n"
    )
    assert sweep.unfinished() == []
    assert ({*sweep.files()} == {"cells/CACHEDIR.TAG"}) == (where == "first record")
    assert "manifest.json" not in sweep.files()
    disk("size=64m")
    goes_on(sweep)


@pytest.mark.parametrize("size", [2000, 5000, 9000])
def test_a_limit_on_the_size_of_files(sweep: Sweep, goes_on: Goes, size: int) -> None:
    ended = sweep.run(limits={"RLIMIT_FSIZE": size})
    assert ended.code == 2
    assert "cannot write the results: File too large" in ended.err
    fix = "raise the limit on the size of files (ulimit -f); nothing was left half written"
    assert ended.err.endswith(f"\n  fix:   {fix}\n")
    assert sweep.unfinished() == []
    goes_on(sweep)


@ROOT_ONLY
def test_a_read_only_disk(sweep: Sweep, goes_on: Goes, disk: Callable[[str], None]) -> None:
    disk("size=64m,ro")
    ended = sweep.run()
    assert ended.code == 2
    assert "no place for the results" in ended.err
    assert "may not be written to\n  fix:   name another folder, or change its perm" in ended.err
    disk("size=64m,rw")
    goes_on(sweep)


@ROOT_ONLY
@pytest.mark.parametrize(
    ("path", "mode", "code", "said"),
    [
        ("data/gbrt/fold1-seed1.txt", 0, 1, "gbrt on fold1: {}: no permission to read it "
         "[unreadable]\n  fix:   change its mode or its owner\n"),
        ("data/fold1/test.txt", 0, 1, "error: gbrt on fold1 and 5 other cells: {}: no "
         "permission to read it [unreadable]\n  fix:   change its mode or its owner\n"),
        ("data/gbrt", 0, 2, "no permission to look into {}; change its mode or its owner"),
        ("data/gbrt", 0o644, 2, "no permission to look into {}; change its mode or its owner"),
        ("configs/x.yaml", 0, 2, "{}: 1 problem\n  cannot be read: Permission denied\n"),
        ("out", 0o555, 2, "no place for the results: {} may not be written to\n"
         "  fix:   name another folder, or change its permissions\n"),
    ],
)  # fmt: skip
def test_what_may_not_be_touched(
    sweep: Sweep, goes_on: Goes, path: str, mode: int, code: int, said: str
) -> None:
    open_to_all(sweep)
    target = sweep.folder / path
    before = target.stat().st_mode
    target.chmod(mode)
    ended = sweep.run(user=NOBODY)
    target.chmod(before)
    assert ended.code == code, ended.err
    assert said.format(target) in ended.err
    goes_on(sweep, less=code == 1)


@ROOT_ONLY
@pytest.mark.parametrize(
    ("path", "failed"), [("data/gbrt/fold1-seed1.txt", 1), ("data/fold1/test.txt", 6)]
)
def test_an_input_that_is_known_and_may_not_be_read_any_more(
    sweep: Sweep, goes_on: Goes, path: str, failed: int
) -> None:
    """Its cells fail as if they were new: the others' records are there."""
    assert sweep.run().code == 0
    open_to_all(sweep)
    for one in [sweep.out, *sweep.out.rglob("*")]:
        os.chown(one, NOBODY, NOBODY)
    target = sweep.folder / path
    before = target.stat().st_mode
    target.chmod(0)
    ended = sweep.run(user=NOBODY)
    target.chmod(before)
    assert ended.code == 1, ended.err
    said = f"{target}: no permission to read it [unreadable]\n  fix:   change its mode or its owner"
    assert said in ended.err
    content = json.loads((sweep.out / "manifest.json").read_text(encoding="utf-8"))
    assert (len(content["failed"]), len(content["cells"])) == (failed, CELLS - failed)
    goes_on(sweep, less=True)


@ROOT_ONLY
def test_results_of_somebody_else(sweep: Sweep, goes_on: Goes) -> None:
    open_to_all(sweep)
    assert sweep.run().code == 0
    sweep.out.chmod(0o777)
    ended = sweep.run(user=NOBODY)
    assert ended.code == 2
    assert f"{Path('.lock')}: cannot write the results: Permission denied" in ended.err
    assert "fix:   change its permissions, or write to another folder" in ended.err
    goes_on(sweep)


@ROOT_ONLY
def test_a_cache_that_may_only_be_read(sweep: Sweep, undisturbed: Undisturbed) -> None:
    """What it holds is used; it is no error as long as nothing has to be added."""
    assert sweep.run("--set", "cache=../kept").code == 0
    open_to_all(sweep)
    for path in [sweep.out, *sweep.out.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    ended = sweep.run("--set", "cache=../kept", user=NOBODY)
    assert (ended.code, ended.err) == (0, undisturbed.err)
    ended = sweep.run("--set", "cache=../kept", "--set", "metrics=[map, arp]", user=NOBODY)
    assert ended.code == 2
    assert "cannot write the results: Permission denied" in ended.err
