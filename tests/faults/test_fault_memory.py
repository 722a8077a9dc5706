"""Real limits on memory: right results, or a sentence and exit code 2; no traceback, no signal.

`HARNESS_TRIALS=N` tries so many limits from the one on below which nothing is begun, and below it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from small_sweep import TRIALS, Sweep, Undisturbed
from typer.main import get_command

from harness import system
from harness.cli import app
from harness.errors import Problem

MB = 1 << 20
SMALLEST, LARGEST = 350, 410
"""Libraries are loaded, and what is done for the sweep needs more than there is, at one place or
another. With less they end the process in their own ways: none is loaded below `system.LEAST`."""
ENOUGH, MOST = system.LEAST // MB, 2500
"""From the limit on below which nothing is begun."""
LIMITS = [
    low + place * (high - low) // trials
    for low, high, trials in (
        (SMALLEST, LARGEST, max(2, TRIALS)),
        (ENOUGH, ENOUGH + 32, max(2, TRIALS)),
        (ENOUGH + 32, MOST, max(1, TRIALS // 4)),
    )
    for place in range(trials)
]
COMMANDS = get_command(app).commands  # type: ignore[attr-defined]
NOT_COMPARED = "warning: runs could not be evaluated, and the others are not compared"
"""Of runs that failed for want of memory, where one is left."""
COMMAND = """
import sys
from harness import main, system
system.LEAST = 0
main.main(sys.argv[1:])
"""
"""The command, without the limit below which nothing is begun."""


def limited(sweep: Sweep, megabytes: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a whole command in a process that may have so many addresses."""
    most = megabytes * MB

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))

    command = [sys.executable, "-c", COMMAND, *arguments]
    return subprocess.run(
        command, cwd=sweep.folder, preexec_fn=limit, capture_output=True, text=True, timeout=120,
        check=False, env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )  # fmt: skip


def check_sentence(ended: subprocess.CompletedProcess[str], codes: tuple[int, ...] = (2,)) -> None:
    """Assert that a command ended with a sentence about memory, and said it once."""
    assert ended.returncode in codes, (ended.returncode, ended.stderr)
    assert "Traceback" not in ended.stderr
    beside = "  fix:   ", NOT_COMPARED
    problems = [line for line in ended.stderr.splitlines() if not line.startswith(beside)]
    assert all("memory" in line or "thread" in line for line in problems), ended.stderr
    assert "raise the limit (ulimit -v, or the job's)" in ended.stderr
    assert len(problems) <= 3, ended.stderr


@pytest.mark.parametrize("place", range(len(LIMITS)), ids=lambda at: f"{at}-{LIMITS[at]}")
def test_a_real_limit(
    sweep: Sweep, undisturbed: Undisturbed, goes_on: Callable[..., None], place: int
) -> None:
    most, whole = LIMITS[place], LIMITS[place] >= ENOUGH
    ran = limited(sweep, most, "run", str(sweep.config))
    if ran.returncode == 0:
        assert sweep.files() == undisturbed.files
    else:
        check_sentence(ran, (1, 2))
    goes_on(sweep, less=ran.returncode == 1)
    verified = limited(sweep, most, "verify", str(sweep.out))
    if verified.returncode == 0:
        assert "every digit is the same" in verified.stdout
    else:
        check_sentence(verified)
        assert "NOT VERIFIED" not in verified.stdout
    compared = limited(sweep, most, "compare", str(sweep.out), str(sweep.out))
    if compared.returncode:
        check_sentence(compared)
    if whole:
        assert (ran.returncode, verified.returncode, compared.returncode) == (0, 0, 0)


def test_addresses_are_spared_where_they_are_limited() -> None:
    """Without a limit nothing is changed; what a user has set stays."""
    script = "from harness import system; import os; before = {*os.environ.items()}; "
    script += "system.allocate_sparingly(); print(sorted({*os.environ.items()} - before))"
    spared = [
        ("ARROW_DEFAULT_MEMORY_POOL", "system"), ("ARROW_IO_THREADS", "1"),
        ("JE_ARROW_MALLOC_CONF", "background_thread:false"), ("MALLOC_ARENA_MAX", "1"),
    ]  # fmt: skip
    for most, expected in (("unlimited", []), (f"{1000 << 10}", spared)):
        done = subprocess.run(
            ["bash", "-c", f'ulimit -v {most}; exec "$0" -c "$1"', sys.executable, script],
            capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2],
            env={"OMP_NUM_THREADS": "3"},
        )  # fmt: skip
        assert done.stdout == f"{expected}\n"


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_no_command_begins_with_less_than_libraries_need(sweep: Sweep, command: str) -> None:
    """What most of them would fail by is no sentence: OpenBLAS tries without an end, say."""
    limits = {"RLIMIT_AS": system.LEAST - 1}
    ended = sweep.run(arguments=[command, str(sweep.config)], limits=limits)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: memory is limited to 511 MB (ulimit -v), and Python, ")
    assert ended.err.count("\n") == 2
    assert sweep.run(arguments=[command, "--help"]).code == 0 or command == "trec_eval"


def test_a_shortage_is_no_difference_of_numbers(sweep: Sweep) -> None:
    """A cell that could not be evaluated for want of memory, and a table that Arrow cannot make."""
    assert sweep.run().code == 0
    verify = ["verify", str(sweep.out)]
    for home, name, call, cells in (
        ("harness.cells.work", "evaluate_one", 3, True),
        ("harness.verify.files", "read_table", 1, False),
    ):
        ended = sweep.run(arguments=verify, call=[home, name, call], act=["exhaust memory"])
        where = "lambdamart on fold1: " * cells
        fix = "raise the limit (ulimit -v, or the job's), or give fewer --jobs"
        assert ended.err == f"error: {where}not enough memory\n  fix:   {fix}\n"
        assert (ended.code, ended.out) == (2, "")
    few = sweep.run(arguments=verify, limits={"RLIMIT_NOFILE": 7})
    assert few.code == 2, few.out
    assert "raise the limit on open files (ulimit -n)" in few.err


def test_one_cause_is_said_once(sweep: Sweep) -> None:
    """The judgements of a fold are wrong, then of each."""
    for fold in (1, 2):
        path = sweep.folder / f"data/fold{fold}/test.txt"
        path.write_text("x" + path.read_text(encoding="utf-8")[1:], encoding="utf-8")
        ended = sweep.run()
        said = [line for line in ended.err.splitlines() if line.startswith("error: ")]
        assert len(said) == fold, ended.err
        if fold == 1:
            assert ended.code == 1
            assert said[0].startswith("error: gbrt on fold1 and 5 other cells: ")
            assert "test.txt:1: " in said[0]
    assert ended.code == 2
    assert ended.err.count("test.txt:1: ") == ended.err.count(" (6 cells) [unreadable]\n") == 2


@pytest.mark.parametrize("end", range(max(4, TRIALS)))
def test_verify_ends_as_it_says_where_an_input_is_gone(
    sweep: Sweep, whole_command: Callable[..., subprocess.Popen[str]], end: int
) -> None:
    """A thread of Arrow's that was not done aborted the process, four times of ten."""
    assert sweep.run().code == 0
    path = sweep.folder / "data/gbrt/fold1-seed1.txt"
    if end % 2:
        path.unlink()
    else:
        os.truncate(path, path.stat().st_size // 2)
    with whole_command("verify", sweep.out) as process:
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, "")


def test_what_arrow_says_of_memory_is_known() -> None:
    import pyarrow as pa

    said = system.problem(pa.lib.ArrowException("Unknown error: Wrapping letor-fold2 failed"))
    assert said == Problem("", system.NO_MEMORY, fix=system.MORE_MEMORY)
    assert system.problem(pa.lib.ArrowMemoryError("malloc of size 9 failed")) == said
    assert system.problem(pa.lib.ArrowException("Unknown error: a wrong byte")) is None
    assert system.problem(pa.lib.ArrowInvalid("Invalid: Wrapping")) is None
    assert system.shortage(FileNotFoundError(2, "No such file")) is None
