"""A small sweep, how it ends when nothing disturbs it, and a quick way to run it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from small_sweep import CONFIG, LONG_AGO, MODELS, Sweep, Undisturbed

TRIALS = int(os.environ.get("HARNESS_TRIALS", "0"))
"""More points than by default, where it is given."""
CONFIG = """
output: ../out
datasets: {"fold{fold}": {format: letor, path: "../data/fold{fold}/test.txt"}}
runs: {"{model}": {format: scores, path: "../data/{model}/fold{fold}-seed{seed}.txt"}}
metrics: [map, ndcg@10, "swaps(normalize=true)"]
policy: {empty_queries: skip}
reports: [csv, markdown]
compare: {baseline: gbrt}
tables: {main: {metrics: [map]}}
"""
MODELS = ("gbrt", "lambdamart", "linear-regression")
LONG_AGO = 1_600_000_000
"""A time of change that no clock takes for recent."""
NO_FINAL_FILE = (".lock",)
"""Files without values, which stay where they are."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str
    seconds: float
    session: int


def left_of(session: int, patience: float = 20.0) -> list[int]:
    """Return processes of a command that are still there after some seconds."""
    until = time.monotonic() + patience
    while (found := _of_session(session)) and time.monotonic() < until:
        time.sleep(0.02)
    return found


def _of_session(session: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            after = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(after[3]) == session and after[0] != "Z":
            found.append(int(path.parent.name))
    return found


class Sweep:
    """A folder with data and a config, to be run."""

    def __init__(self, folder: Path, server: subprocess.Popen[str]) -> None:
        self.folder, self._server = folder, server
        self.config, self.out = folder / "configs/x.yaml", folder / "out"

    def run(
        self, *more: str, signal: int | None = None, after: float = 0.0, **asked: Any
    ) -> Ended:  # fmt: skip
        """Run the sweep in a forked process, and let it be struck.

        Parameters
        ----------
        more : str
            Further arguments of the command.
        signal, after : int, float
            A signal that is sent after so many seconds.
        asked : dict
            ``event`` or ``call`` with ``act``, ``limits``, ``user``, ``clock``, ``arguments``,
            ``strikes``; see forked_command.py.
        """
        out, err = self.folder / "said.out", self.folder / "said.err"
        asked.setdefault("strikes", [] if signal is None else [[after, ["signal", signal]]])
        asked.setdefault("arguments", ["run", str(self.config), *more])
        asked = {
            "out": str(out), "err": str(err), "limits": {}, "user": 0, "clock": None, "call": None,
            "event": None, "act": None, **asked,
        }  # fmt: skip
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        found = json.loads(self._server.stdout.readline())
        assert not found["hung"], err.read_text()
        said = [path.read_text(encoding="utf-8", errors="replace") for path in (out, err)]
        return Ended(found["code"], *said, found["seconds"], found["session"])

    def files(self) -> dict[str, str]:
        """Return the hashes of all files of the results, but for what says when they were made.

        Hidden ones and those of the cache too: what should not be there is seen.
        """
        found = {}
        for path in sorted(self.out.rglob("*")):
            name = path.relative_to(self.out).as_posix()
            if path.is_file() and path.name not in NO_FINAL_FILE and name != "timing.json":
                content = b"" if name == "cells/inputs.json" else path.read_bytes()
                found[name] = hashlib.sha256(content).hexdigest()
        return found

    def unfinished(self) -> list[Path]:
        """Return the files under names of those that are being written."""
        return list(self.out.rglob(".*.part"))

    def partial(self, whole: dict[str, str]) -> list[str]:
        """Return the files under final names that are not as they are when nothing disturbs."""
        return [
            name
            for name, digest in self.files().items()
            if not Path(name).name.startswith(".") and whole.get(name) != digest
        ]


@pytest.fixture(scope="session")
def template(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data and config of the sweep: two folds, three models, six cells."""
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


@dataclass(frozen=True)
class Undisturbed:
    """A sweep that nothing disturbed: its files by hash, what it said, how long it took."""

    files: dict[str, str]
    err: str
    seconds: float


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
