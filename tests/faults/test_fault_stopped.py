"""Ctrl-C in each phase: exit code 130, one sentence, nothing broken; the next run completes."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from collections.abc import Callable

import pytest
from small_sweep import TRIALS, Sweep, Undisturbed, in_each_part, left_of

Goes = Callable[..., None]
SAID = "stopped; nothing is left half written; the same command goes on where it was\n"
PHASES = [
    ("harness.config.load", "load", 0),
    ("harness.config.sweep", "resolve", 0),
    ("harness.readers", "read_qrels", 0),
    ("harness.readers", "read_qrels", 1),
    ("harness.experiment.work", "evaluate_one", 0),
    ("harness.experiment.work", "evaluate_one", 7),
    ("harness.experiment.cache", "write_all", 3),
    ("harness.experiment.run", "compare", 0),
    ("harness.reports.paper", "files", 0),
    ("harness.files", "parquet", 0),
    ("os", "fsync", 4),
    ("pathlib", "Path.replace", 15),
    ("tqdm", "tqdm.__init__", 0),
]
IN_WORKERS = [PHASES[0], ("harness.experiment.cells", "_Run.take", 2), PHASES[7], PHASES[10]]


def stopped(ended: tuple[int, str]) -> None:
    assert ended == (130, SAID)


@pytest.mark.parametrize("phase", PHASES, ids=lambda phase: f"{phase[1]} {phase[2]}")
def test_in_each_phase(sweep: Sweep, goes_on: Goes, phase: tuple[str, str, int]) -> None:
    ended = sweep.run(call=phase, act=["signal", signal.SIGINT])
    stopped((ended.code, ended.err))
    assert sweep.unfinished() == []
    goes_on(sweep)


@pytest.mark.parametrize("phase", [PHASES[4], PHASES[9], PHASES[11]], ids=lambda phase: phase[1])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ended_by_the_system(
    sweep: Sweep, goes_on: Goes, phase: tuple[str, str, int], jobs: str
) -> None:
    """SIGTERM ends a run as a kill does, without a word."""
    if jobs == "2" and phase == PHASES[4]:
        phase = IN_WORKERS[1]
    ended = sweep.run("--jobs", jobs, call=phase, act=["signal", signal.SIGTERM])
    assert ended.code == -signal.SIGTERM
    assert ended.err == ""
    assert left_of(ended.session) == []
    goes_on(sweep)


def test_at_any_time(sweep: Sweep, undisturbed: Undisturbed, goes_on: Goes) -> None:
    def strike(share: float) -> bool:
        ended = sweep.run(signal=signal.SIGINT, after=share * undisturbed.seconds)
        if ended.code:
            stopped((ended.code, ended.err))
        goes_on(sweep)
        shutil.rmtree(sweep.out)
        return ended.code != 0

    in_each_part(max(8, TRIALS), 3, strike)


@pytest.mark.parametrize("phase", IN_WORKERS, ids=lambda phase: f"{phase[1]} {phase[2]}")
def test_with_workers_who_get_it_too(
    sweep: Sweep, goes_on: Goes, phase: tuple[str, str, int]
) -> None:
    """As a terminal sends it: to every process of the command."""
    ended = sweep.run("--jobs", "2", call=phase, act=["signal group", signal.SIGINT])
    stopped((ended.code, ended.err))
    assert left_of(ended.session) == []
    goes_on(sweep)


def test_while_workers_start(sweep: Sweep, goes_on: Goes) -> None:
    def strike(share: float) -> bool:
        strikes = [[0.2 + share * 0.4, ["signal group", signal.SIGINT]]]
        ended = sweep.run("--jobs", "2", strikes=strikes)
        if ended.code:
            stopped((ended.code, ended.err))
        assert left_of(ended.session) == []
        goes_on(sweep)
        shutil.rmtree(sweep.out)
        return ended.code != 0

    in_each_part(2, 4, strike)


def test_the_whole_command(
    sweep: Sweep, goes_on: Goes, whole_command: Callable[..., subprocess.Popen[str]]
) -> None:
    with whole_command("run", sweep.config, "--jobs", "2") as process:
        while not (sweep.out / ".lock").exists() and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    stopped((process.returncode, err))
    assert left_of(process.pid) == []
    goes_on(sweep)
