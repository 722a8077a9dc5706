"""Too little memory, too few open files: a sentence that says what to do, and nothing broken."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable

import pytest
from small_sweep import TRIALS, Sweep, Undisturbed

Goes = Callable[..., None]
FILES = "  fix:   raise the limit on open files (ulimit -n)"
MEMORY = "  fix:   raise the limit (ulimit -v, or the job's), or give fewer --jobs"


@pytest.mark.parametrize("most", [7, 9, 11, 16])
def test_few_open_files(sweep: Sweep, undisturbed: Undisturbed, goes_on: Goes, most: int) -> None:
    ended = sweep.run(limits={"RLIMIT_NOFILE": most})
    assert "Traceback" not in ended.err
    if ended.code:
        assert "Too many open files" in ended.err
        assert FILES in ended.err
    else:
        assert sweep.files() == undisturbed.files
    assert ended.code or most > 9
    goes_on(sweep, less=ended.code == 1)


@pytest.mark.parametrize("most", [12, 20, 32])
def test_few_open_files_for_workers(
    sweep: Sweep, undisturbed: Undisturbed, goes_on: Goes, most: int
) -> None:
    ended = sweep.run("--jobs", "2", limits={"RLIMIT_NOFILE": most})
    assert "Traceback" not in ended.err
    if most < 20:
        assert ended.code == 2
        assert ended.err.startswith("error: ")
        assert ended.err.endswith(f"Too many open files\n{FILES}\n")
    elif most == 32:
        assert (ended.code, ended.err) == (0, undisturbed.err)
    goes_on(sweep)


@pytest.mark.parametrize("most", range(7, 31) if TRIALS else [15, 18, 20, 22, 26])
def test_few_open_files_for_workers_of_the_whole_command(
    sweep: Sweep, goes_on: Goes, whole_command: Callable[..., subprocess.Popen[str]], most: int
) -> None:
    """Python's own server that forks workers may say something before our sentence."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    with whole_command("run", sweep.config, "--jobs", "2", preexec_fn=limit) as process:
        _, err = process.communicate(timeout=60)
    if process.returncode:
        assert process.returncode == 2
        assert err.endswith(f"error: Too many open files\n{FILES}\n")
    assert most < 24 if process.returncode else most > 18
    goes_on(sweep)


@pytest.mark.parametrize(
    ("home", "name", "call"),
    [
        ("harness.experiment.work", "evaluate_one", 0),
        ("harness.experiment.work", "evaluate_one", 7),
        ("harness.experiment.run", "derive", 0),
        ("harness.files", "parquet", 0),
    ],
)
def test_memory_runs_out_under_way(
    sweep: Sweep, goes_on: Goes, home: str, name: str, call: int
) -> None:
    """The system refuses what is asked for there."""
    ended = sweep.run(call=[home, name, call], act=["exhaust memory"])
    assert ended.code == (1 if name == "evaluate_one" else 2)
    assert "Traceback" not in ended.err
    assert "not enough memory" in ended.err
    assert MEMORY in ended.err
    goes_on(sweep, less=ended.code == 1)
