"""A small sweep, how it ends when nothing disturbs it, and a quick way to run it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from small_sweep import CONFIG, LONG_AGO, MODELS, Sweep, Undisturbed


@pytest.fixture(scope="session")
def template(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data and config of the sweep: two folds, three models of two seeds, twelve cells."""
    folder = tmp_path_factory.mktemp("template")
    for name in ("fold1", "fold2", *MODELS):
        shutil.copytree(root / "runs/letor" / name, folder / "data" / name)
    for path in folder.glob("data/*/*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    (folder / "configs").mkdir()
    (folder / "configs/x.yaml").write_text(CONFIG, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def server(template: Path, root: Path) -> Iterator[subprocess.Popen[str]]:
    """The interpreter that forks commands."""
    warm = shutil.copytree(template, template.with_name("warm"))
    command = [sys.executable, str(root / "tests/faults/forked_command.py")]
    with subprocess.Popen(
        [*command, str(warm / "configs/x.yaml")], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert "ready" in process.stdout.readline()
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(scope="session")
def new_sweep(
    template: Path, server: subprocess.Popen[str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Sweep]:
    """Gives a sweep that was never run."""

    def new() -> Sweep:
        folder = tmp_path_factory.mktemp("sweep")
        return Sweep(shutil.copytree(template, folder, dirs_exist_ok=True), server)

    return new


@pytest.fixture
def sweep(new_sweep: Callable[[], Sweep]) -> Iterator[Sweep]:
    """A sweep that was never run."""
    found = new_sweep()
    yield found
    shutil.rmtree(found.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def undisturbed(new_sweep: Callable[[], Sweep]) -> Undisturbed:
    """How the sweep ends when nothing disturbs it."""
    found = new_sweep()
    ended = found.run()
    assert ended.code == 0, ended.err
    return Undisturbed(found.files(), ended.err, ended.seconds)


@pytest.fixture(scope="session")
def goes_on(undisturbed: Undisturbed) -> Callable[..., None]:
    """Asserts that no file is broken after a fault, and that the next run completes all.

    Where a run of the sweep could not be evaluated, there are results without it, and `less` is
    true: they must be what their own manifest says.
    """

    def check(sweep: Sweep, less: bool = False) -> None:
        if less:
            manifest = json.loads((sweep.out / "manifest.json").read_text(encoding="utf-8"))
            assert manifest["failed"]
            assert manifest["outputs"].items() <= sweep.files().items()
        else:
            assert sweep.partial(undisturbed.files) == []
        ended = sweep.run()
        assert (ended.code, ended.err) == (0, undisturbed.err)
        assert sweep.files() == undisturbed.files

    return check


@pytest.fixture
def mount() -> Iterator[Callable[[Path, str], None]]:
    """Gives a folder a file system of its own; called again: with other options, such as size."""
    mounted = []

    def mount(folder: Path, options: str) -> None:
        folder.mkdir(exist_ok=True)
        more = "remount," if folder in mounted else ""
        command = ["mount", "-t", "tmpfs", "-o", more + options, "tmpfs", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no mounts here: {done.stderr.strip()}")
        if not more:
            mounted.append(folder)

    yield mount
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture(scope="session")
def whole_command(root: Path) -> Callable[..., subprocess.Popen[str]]:
    """Starts `python -m harness` as a user does, in a session of its own."""

    def start(*arguments: str | Path, **given: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "harness", *map(str, arguments)]
        return subprocess.Popen(
            command, text=True, cwd=root, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **given,
        )  # fmt: skip

    return start
