"""A small sweep that is run in processes of its own, and struck there."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.files import state_of

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
CELLS = 12
"""Two folds, three models of two seeds."""
INDEX = "cells/inputs.json"
LONG_AGO = 1_600_000_000
"""A time of change that no clock takes for recent."""
NOBODY = 65534
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount and change users")
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


def in_each_part(parts: int, seed: int, strike: Callable[[float], bool]) -> None:
    """Strike a run in each of so many parts of its time, again where it was done before.

    `strike` is given a share of the time, or of what else is counted, and says whether it hit.
    """
    draw, end = random.Random(seed), 1.0
    for part in range(parts):
        for _ in range(20):
            share = (part + draw.random()) / parts * end
            if strike(share):
                break
            end = share  # where this run was done
        else:
            raise AssertionError(f"no run was hit in part {part + 1} of {parts}")


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
        for path in (out, err):
            path.write_text("")  # it may be struck before it has any
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

        Hidden ones and those of the cache too: what should not be there is seen. Of the cache's
        index, which holds times and inodes, it is what :meth:`untrue` finds in it.
        """
        found = {}
        for path in sorted(self.out.rglob("*")):
            name = path.relative_to(self.out).as_posix()
            if path.is_file() and path.name not in NO_FINAL_FILE and name != "timing.json":
                content = path.read_bytes()
                if name == INDEX:
                    content = "; ".join(self.untrue(content)).encode()
                found[name] = hashlib.sha256(content).hexdigest()
        return found

    def untrue(self, index: bytes) -> list[str]:
        """Return what the index of the cache says that is not so; of which files depends on when.

        A file in the state that it names has the hash that it names; and where it knows of all
        records, it knows the sizes of all files that they follow from.
        """
        try:
            found = json.loads(index)
            if [*found] != ["files", "sizes", "records"]:
                return [f"the keys {[*found]}"]
            wrong = [
                name
                for name, (*state, digest) in found["files"].items()
                if (path := self.out / "cells" / name).exists() and state_of(path) == (*state,)
                and hashlib.sha256(path.read_bytes()).hexdigest() != digest
            ]  # fmt: skip
            n_records = len(list(self.out.glob("cells/??/*.parquet")))
            if n_records == CELLS == len(found["records"]):
                sizes = {path.stat().st_size for path in self.folder.glob("data/*/*.txt")}
                wrong += [f"no size {size}" for size in sizes.difference(found["sizes"])]
        except (ValueError, TypeError, AttributeError) as error:
            return [f"not whole: {error}"]
        return wrong

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


@dataclass(frozen=True)
class Undisturbed:
    """A sweep that nothing disturbed: its files by hash, what it said, how long it took."""

    files: dict[str, str]
    err: str
    seconds: float


def open_to_all(sweep: Sweep) -> None:
    """Let anybody come to the sweep's folder, and write results there."""
    for folder in [sweep.folder, *sweep.folder.parents]:
        if folder.stat().st_uid == os.geteuid() and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    sweep.out.mkdir(exist_ok=True)
    sweep.out.chmod(0o777)
