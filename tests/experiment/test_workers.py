"""Several processes give the same bytes; a worker that dies loses no more than its job."""

import os
import shutil
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.config.cells import resolve
from harness.config.load import load
from harness.experiment import workers
from harness.experiment.cache import Cache
from harness.experiment.evaluate_all import evaluate_all
from harness.experiment.workers import TRIES, Job, Processes


class Pool(Executor):
    """Calls at once, keeps the jobs it was given, and raises first as often as it is told."""

    workers = 4

    def __init__(self, error: Exception | None = None, times: int = 0) -> None:
        self.jobs: list[Job] = []
        self.error, self.times = error, times

    def submit(self, fn: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        self.jobs.append(args[0])
        future: Future[Any] = Future()
        if len(self.jobs) <= self.times and self.error is not None:
            future.set_exception(self.error)
        else:
            future.set_result(fn(*args))
        return future


def test_more_processes_give_the_same_bytes(config: Path, outputs: Callable) -> None:
    folder = harness.run(config, overrides=["crosscheck=all"]).folder
    one = outputs(folder)
    shutil.rmtree(folder)
    results = harness.run(config, overrides=["crosscheck=all"], jobs=2)
    assert results.cached == 0
    assert outputs(folder) == one


@pytest.mark.parametrize("times", [1, TRIES - 1, 100])
def test_a_job_whose_worker_dies_goes_to_another(config: Path, times: int) -> None:
    loaded = load(config)
    pool = Pool(BrokenExecutor("the worker is gone"), times)
    found = evaluate_all(loaded, resolve(loaded)[:1], Cache(None), pool)
    if times < TRIES:
        assert len(found.board.entries) == 1
    else:
        (failure,) = found.board.failed
        assert "its worker died 3 times: BrokenExecutor: the worker is gone" in str(failure.error)


def test_a_broken_pool_is_replaced() -> None:
    with Processes(1) as pool:
        with pytest.raises(BrokenExecutor):
            pool.submit(os._exit, 1).result()
        assert pool.submit(abs, -1).result() == 1


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs masks of signals")
def test_ctrl_c_waits_while_a_process_starts_whatever_thread_takes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[str] = []
    before = signal.signal(signal.SIGINT, lambda *_: calls.append("stopped"))
    begins = threading.Event()

    def take() -> None:
        begins.wait(10)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=take)  # started outside, so that the mask is not its own
    thread.start()
    try:
        with workers._without_interrupts():
            begins.set()
            thread.join()
            time.sleep(0.01)  # Python calls handlers between two steps of the main thread
            assert calls == []
        assert calls == ["stopped"]
    finally:
        signal.signal(signal.SIGINT, before)
