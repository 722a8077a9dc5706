"""Faults of a Dask cluster, on a real ``LocalCluster``: what a run says, and what it gives."""

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.errors import HarnessError
from harness.experiment import workers

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")
Start = Callable[[int], tuple[Any, Any]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a cluster of worker processes, and a client; both are closed at the end."""
    closing: list[Any] = []

    def started(n: int) -> tuple[Any, Any]:
        cluster = distributed.LocalCluster(
            n_workers=n, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
        )
        closing.append(cluster)
        client = distributed.Client(cluster, set_as_default=False)
        closing.append(client)
        return cluster, client

    yield started
    for one in reversed(closing):
        one.close()


@pytest.fixture
def config(tmp_path: Path, root: Path) -> Path:
    shutil.copytree(root / "runs/trec", tmp_path / "runs", ignore=shutil.ignore_patterns("*.py"))
    text = "datasets: {trec: {path: runs/qrels.txt}}\noutput: out\nmetrics: [map]\n"
    (tmp_path / "c.yaml").write_text(text + "runs: {'{system}': {path: 'runs/{system}.run'}}\n")
    return tmp_path / "c.yaml"


def hide_files() -> None:
    """Hide runs from this process, as if it were on a machine without them."""
    stat = os.stat

    def hidden(path: Any, *words: Any, **more: Any) -> os.stat_result:
        if str(path).endswith("bm25.run"):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return stat(path, *words, **more)

    os.stat = hidden


def hide_harness() -> None:
    import importlib.util

    importlib.util.find_spec = lambda name: None  # type: ignore[assignment,misc]


def change_version() -> None:
    sys.modules["harness.experiment.workers"].__version__ = "0.0.1"  # type: ignore[attr-defined]


def test_where_the_dashboard_is_and_who_did_what(
    config: Path, start: Start, capfd: pytest.CaptureFixture[str]
) -> None:
    cluster, _ = start(2)
    results = harness.run(config, scheduler=cluster.scheduler_address)
    err = capfd.readouterr().err
    assert f"dashboard: {cluster.dashboard_link}" in err
    (line,) = (one for one in err.splitlines() if one.startswith("cells by worker: "))
    counts = [int(part.split()[1]) for part in line.removeprefix("cells by worker: ").split(", ")]
    assert sum(counts) == len(results.cells.entries)


@pytest.mark.parametrize(
    ("fault", "said"), [(hide_files, r"has no file .*bm25\.run"), (change_version, "0.0.1")]
)
def test_a_worker_that_cannot_do_the_job(
    config: Path, start: Start, fault: Callable[[], None], said: str
) -> None:
    cluster, client = start(1)
    client.run(__import__, "harness.experiment.workers")
    client.run(fault)
    with pytest.raises(HarnessError, match=said) as caught:
        harness.run(config, scheduler=cluster.scheduler_address)
    assert caught.value.problems[0].where.startswith("--scheduler")
    assert caught.value.problems[0].fix
    assert not (config.parent / "out/leaderboard.csv").exists()


def test_a_worker_without_the_harness(config: Path, start: Start) -> None:
    cluster, client = start(2)
    first = next(iter(client.scheduler_info()["workers"]))
    client.run(hide_harness, workers=[first])
    with pytest.raises(HarnessError, match=r"^--scheduler") as caught:
        harness.run(config, scheduler=cluster.scheduler_address)
    assert first in str(caught.value)


def test_a_run_goes_on_with_the_last_worker(
    config: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, _ = start(2)
    taken, done = workers.Cluster.taken, []

    def lose_a_worker(self: workers.Cluster, worker: str, results: Any) -> Any:
        if not done:
            done.append(worker)
            cluster.sync(cluster.scale_down, [*cluster.workers][:1])
        return taken(self, worker, results)

    monkeypatch.setattr(workers.Cluster, "taken", lose_a_worker)
    results = harness.run(config, scheduler=cluster.scheduler_address)
    assert not results.cells.failed
    assert len(cluster.workers) == 1


def test_a_scheduler_that_is_lost(
    config: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "SILENCE", 3)
    monkeypatch.setattr(workers, "ANSWER", 1)
    cluster, _ = start(1)
    taken = workers.Cluster.taken
    lost: list[threading.Thread] = []

    def lose(self: workers.Cluster, worker: str, results: Any) -> Any:
        if not lost:
            lost.append(threading.Thread(target=cluster.close))
            lost[0].start()
            lost[0].join()
        return taken(self, worker, results)

    monkeypatch.setattr(workers.Cluster, "taken", lose)
    with pytest.raises(HarnessError, match=r"^--scheduler"):
        harness.run(config, scheduler=cluster.scheduler_address)
    again = harness.run(config)
    assert 0 < again.cached < len(again.cells.entries)
