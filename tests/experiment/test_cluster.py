"""A real cluster on this machine: a scheduler, two worker processes, one of them killed."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import harness
from harness.errors import HarnessError
from harness.experiment import workers
from harness.experiment.cells import executor

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
def scheduler(place: Path) -> Iterator[str]:
    """Address of a scheduler with two worker processes that share nothing but the files."""
    file = place / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    programs = [
        ["dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
        *[["dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard"]] * 2,
    ]
    (place / "elsewhere").mkdir()  # paths must not depend on the folder that workers start in
    running = []
    for program, *options in programs:
        command = [sys.executable, "-m", f"distributed.cli.{program}", *options]
        command += ["--scheduler-file", str(file)]
        running.append(subprocess.Popen(command, cwd=place / "elsewhere", **quiet))  # type: ignore[call-overload]
    try:
        with distributed.Client(
            scheduler_file=str(file), timeout=60, set_as_default=False
        ) as client:
            client.wait_for_workers(2, timeout=60)
            yield client.scheduler.address
    finally:
        for process in running:
            process.kill()
            process.wait()


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
