"""A real cluster on this machine: a scheduler, two worker processes, one of them killed."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.errors import HarnessError, HarnessWarning
from harness.experiment import evaluate_all, workers
from harness.experiment.evaluate_all import executor
from harness.experiment.workers import JobResult, evaluated_jobs

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")

CONFIG = """
output: ../out
plugins: [slow.py]
datasets: {trec: {path: ../runs/trec/qrels.txt}}
runs: {"{system}": {path: "../runs/trec/{system}.run"}}
metrics: [map, ndcg@10, slowly]
crosscheck: none
"""
SLOW = """
import os, pathlib, time
import numpy as np
from harness import metric

@metric("slowly", direction="higher", bounds=(0, 1), source="this test")
def slowly(aligned):
    '''Takes its time, and says which process it is in.'''
    folder = pathlib.Path(os.environ["SLOWLY"])
    (folder / str(os.getpid())).touch()
    time.sleep(0.4)
    return np.zeros(aligned.n_queries)
"""


@pytest.fixture
def place(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(root / "runs", tmp_path / "runs", ignore=shutil.ignore_patterns("*.py"))
    for number in range(8):
        shutil.copy(tmp_path / "runs/trec/bm25.run", tmp_path / f"runs/trec/copy{number}.run")
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/x.yaml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "configs/slow.py").write_text(SLOW, encoding="utf-8")
    (tmp_path / "seen").mkdir()
    monkeypatch.setenv("SLOWLY", str(tmp_path / "seen"))
    return tmp_path


@pytest.fixture
def start(place: Path) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Start one of Dask's programs; all of them are killed at the end."""
    file = place / "scheduler.json"
    (place / "elsewhere").mkdir()  # paths must not depend on the folder that workers start in
    options = {
        "scheduler": ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
        "worker": ["--nthreads", "1", "--no-nanny", "--no-dashboard"],
    }
    running: list[subprocess.Popen[bytes]] = []

    def started(program: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *options[program]]
        command += ["--scheduler-file", str(file)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        running.append(subprocess.Popen(command, cwd=place / "elsewhere", **quiet))  # type: ignore[call-overload]
        return running[-1]

    try:
        yield started
    finally:
        for process in running:
            process.kill()
            process.wait()


def address(place: Path, workers: int) -> str:
    """Address of the scheduler, once so many workers have come."""
    file = str(place / "scheduler.json")
    with distributed.Client(scheduler_file=file, timeout=60, set_as_default=False) as client:
        if workers:
            client.wait_for_workers(workers, timeout=60)
        return str(client.scheduler.address)


@pytest.fixture
def scheduler(place: Path, start: Callable[[str], subprocess.Popen[bytes]]) -> str:
    """Address of a scheduler with two worker processes that share nothing but the files."""
    for program in ("scheduler", "worker", "worker"):
        start(program)
    return address(place, 2)


def test_a_cluster_gives_the_same_and_outlives_a_worker(
    place: Path, scheduler: str, outputs: Callable[[Path], dict[str, str]]
) -> None:
    harness.run(place / "configs/x.yaml")
    here = outputs(place / "out")
    shutil.rmtree(place / "out")
    for path in (place / "seen").iterdir():
        path.unlink()

    command = [sys.executable, "-m", "harness", "run", "configs/x.yaml", "--scheduler", scheduler]
    with subprocess.Popen(
        command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as run:
        end = time.monotonic() + 60
        while len(seen := sorted((place / "seen").iterdir())) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        os.kill(int(seen[0].name), signal.SIGKILL)  # in the middle of a cell
        said, _ = run.communicate(timeout=120)
    assert run.returncode == 0, said
    workers = {int(path.name) for path in (place / "seen").iterdir()}
    assert len(workers) == 2  # none of them the process that was called, which evaluates nothing
    assert run.pid not in workers
    assert outputs(place / "out") == here


def test_a_scheduler_that_does_not_exist_fails_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "ANSWER", 0.5)
    began = time.monotonic()
    with (
        pytest.raises(HarnessError, match=r"^--scheduler tcp://127\.0\.0\.1:9: "),
        executor(1, "tcp://127.0.0.1:9"),
    ):
        pass
    assert time.monotonic() - began < 5


@pytest.mark.filterwarnings("always::harness.errors.HarnessWarning")
def test_a_cluster_without_workers_is_reported_and_stops_the_run(
    place: Path,
    start: Callable[[str], subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "WITHOUT_WORKERS", 1)
    start("scheduler")
    worker = start("worker")
    where = address(place, 1)
    taken: list[JobResult] = []

    def evaluated(*arguments: Any) -> Iterator[JobResult]:
        for result in evaluated_jobs(*arguments):
            taken.append(result)
            worker.kill()  # it is lost after its first job
            yield result

    monkeypatch.setattr(evaluate_all, "evaluated_jobs", evaluated)
    config = place / "configs/x.yaml"
    with (
        pytest.warns(HarnessWarning, match=r"worker for [1-9] s\n  effect: .* 3 s") as seen,
        pytest.raises(HarnessError, match=r"worker for [3-9] s\n  fix: +start workers"),
    ):
        harness.run(config, scheduler=where, worker_timeout=3)
    assert [str(one.message).count("dask worker") for one in seen].count(1) == 1
    assert not (place / "out/leaderboard.csv").exists()
    start("worker")
    again = harness.run(config, scheduler=where, worker_timeout=60)
    assert 0 < len(taken) <= again.cached < len(again.cells.entries)


def test_workers_that_come_late_are_waited_for(
    place: Path,
    start: Callable[[str], subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start("scheduler")
    where = address(place, 0)
    check = workers.Cluster.check_workers

    def start_one(self: workers.Cluster) -> None:
        check(self)
        if self._empty_since is not None and not late:
            late.append(start("worker"))

    late: list[object] = []
    monkeypatch.setattr(workers.Cluster, "check_workers", start_one)
    results = harness.run(place / "configs/x.yaml", scheduler=where)
    assert (len(results.cells.entries) > 1, len(late)) == (True, 1)
