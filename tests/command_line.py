"""The command line as tests call it: as a program of its own, or in this process."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from harness.cli.main import main


def started(
    *words: str, cwd: Path, stdin: str | None = None, python: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run ``harness`` as a program; `python` are options of the interpreter."""
    return subprocess.run(
        [sys.executable, *python, "-m", "harness", *words],
        cwd=cwd, input=stdin, capture_output=True, text=True,
    )  # fmt: skip


class Said(NamedTuple):
    """The exit code, and what was printed, every line break as it is."""

    code: int
    out: str
    err: str


def called(*words: object, cwd: Path | None = None) -> Said:
    """Run ``harness`` in this process, which takes a tenth of the time."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    before, code = Path.cwd(), 0
    os.chdir(cwd or before)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main([*map(str, words)])
    except SystemExit as stopped:
        code = stopped.code if isinstance(stopped.code, int) else 0
    finally:
        os.chdir(before)
    for stream in (out, err):
        stream.flush()
    return Said(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))  # type: ignore[attr-defined]


def succeeds(*words: object, cwd: Path | None = None) -> str:
    """Output of a command, which must end with 0."""
    done = called(*words, cwd=cwd)
    assert done.code == 0, done.err
    return done.out


def refused(*words: object, cwd: Path | None = None) -> str:
    """Errors of a command, which must end with 2 and print nothing else."""
    done = called(*words, cwd=cwd)
    assert (done.code, done.out) == (2, ""), done
    return done.err
