"""Where cells are evaluated: in this process, in several, or on a cluster."""

from __future__ import annotations

import contextlib
import gc
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from dataclasses import replace
from importlib import import_module
from multiprocessing.context import BaseContext
from typing import Any, TypeVar

from .. import __version__
from .. import errors as internal_errors
from ..core.metric import Metric
from ..errors import HarnessError, Problem, ShortageError, said_by
from .cache import code, computes_with, installed_code
from .work import Done, Job, work

T = TypeVar("T")
TRIES = 3
"""Number of times that a job whose worker dies is tried."""
POLL = 1
"""Seconds between two looks at a cluster."""
PATIENCE = 60
"""Seconds that a cluster has to show its first worker."""
ANSWER = 4
"""Seconds that a scheduler has to take a connection, or to end one."""
SILENCE = 20
"""Seconds without an answer after which a scheduler is lost; a busy one may take some."""


def evaluated_jobs(pool: Executor, jobs: Sequence[Job]) -> Iterator[Done]:
    """Yield what became of each cell as soon as it is known.

    A job whose worker dies goes to another. A pool of processes that breaks loses all of its jobs:
    they go again one at a time, so that only the one that breaks it is given up.
    """
    cluster = pool if isinstance(pool, Cluster) else None
    died = (BrokenExecutor, CancelledError, *(cluster.died if cluster else ()))
    tries, one_at_a_time = [0] * len(jobs), False
    queue, running = deque(range(len(jobs))), dict[Future[list[Done]], int]()
    while queue or running:
        while queue and not (one_at_a_time and running):
            number = queue.popleft()
            tries[number] += 1
            running[pool.submit(work_on_cluster if cluster else work, jobs[number])] = number
        finished, _ = wait(running, POLL if cluster else None, return_when=FIRST_COMPLETED)
        if cluster and not finished:
            cluster.check()
        for future in finished:
            number = running.pop(future)
            try:
                for done in future.result():
                    _check_computed_by(done, jobs[number].config.parsed_metrics())
                    yield done
            except HarnessError:
                raise
            except died as error:
                if cluster:
                    cluster.check()  # a lost scheduler cancels every job
                one_at_a_time = one_at_a_time or isinstance(error, BrokenExecutor)
                if tries[number] < TRIES + (not one_at_a_time):
                    queue.append(number)
                else:
                    what = f"its worker died {TRIES} times: {type(error).__name__}: {error}"
                    fix = "give fewer --jobs, or more memory: a killed worker often ran out of it"
                    lost = ShortageError(Problem("", what, fix=fix))
                    yield from (Done(place, error=lost) for place in jobs[number].metrics)
            except Exception as error:  # of what gives out jobs and takes answers
                failed = HarnessError(internal_errors.problem(error))
                yield from (Done(place, error=failed) for place in jobs[number].metrics)


class Cluster(Executor):
    """The workers of a Dask scheduler: their threads, and what a job raises if its worker dies."""

    def __init__(self, address: str) -> None:
        try:
            distributed: Any = import_module("distributed")
        except ImportError as error:
            what = "expected the package distributed, got none"
            fix = "pip install distributed"
            raise HarnessError(Problem("--scheduler", what, fix=fix)) from error
        for name in ("distributed.client", "tornado.application"):  # what they log is raised here
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._where = f"--scheduler {address}"
        try:
            self._client = distributed.Client(address, timeout=ANSWER, set_as_default=False)
        except Exception as error:  # another program at that address raises anything
            what = f"no scheduler answers: {said_by(error)}"
            raise self._error(what, "start it, or check the address") from error
        self.died = (distributed.scheduler.KilledWorker,)
        self._had_worker = time.monotonic()
        try:
            while not (workers := self.check()):
                time.sleep(0.1)
        except BaseException:
            self.shutdown()
            raise
        self.workers = max(2, workers)
        self._pool = self._client.get_executor()  # gives a job again only if its worker died

    def _error(self, what: str, fix: str) -> HarnessError:
        return HarnessError(Problem(self._where, what, fix=fix))

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Give a task to the next free worker."""
        return self._pool.submit(fn, *args, **kwargs)  # type: ignore[no-any-return]

    def check(self) -> int:
        """Return how many threads the workers have; HarnessError if there are none for long."""
        try:
            workers = self._client.sync(self._client.ncores, callback_timeout=SILENCE)
        except Exception as error:
            fix = "start it and run the command again, which takes finished cells from the cache"
            raise self._error("the scheduler was lost", fix) from error
        if workers:
            self._had_worker = time.monotonic()
        elif time.monotonic() - self._had_worker > PATIENCE:
            what = f"the scheduler has had no worker for {PATIENCE} seconds"
            fix = "start workers that see the same files, such as 'dask worker ADDRESS'"
            raise self._error(what, fix)
        return sum(workers.values())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster."""
        with contextlib.suppress(Exception):  # of a scheduler that does not answer
            self._client.close(timeout=ANSWER)


def work_on_cluster(job: Job) -> list[Done]:
    """Evaluate the cells of a job, and name what computed them."""
    done = work(job)
    by = computed_by(job.config.parsed_metrics())
    return [replace(one, by=by) for one in done]


def computed_by(metrics: Iterable[Metric]) -> str:
    """Return what computes here: code of the harness, versions, packages of metrics, machine."""
    packages = [
        f"{name} {found['version']} ({str(found['sha256'])[:12]})"
        for name, found in installed_code(metrics).items()
    ]
    return ", ".join([f"harness {__version__} ({code()[:12]})", *computes_with(), *packages])


def _check_computed_by(done: Done, metrics: Iterable[Metric]) -> None:
    """Raise HarnessError if a worker has other code or another kind of machine than this one."""
    if done.by and done.by != (here := computed_by(metrics)):
        what = f"expected workers with {here}, got {done.by}"
        fix = "start the workers in the same environment, on machines of the same kind"
        raise HarnessError(Problem("--scheduler", what, fix=fix))


class Processes(Executor):
    """Processes on this machine; new ones if one of them was killed."""

    def __init__(self, jobs: int) -> None:
        prepare()
        self.workers, self._pool = jobs, self._new(jobs)

    @staticmethod
    def _new(jobs: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(jobs, mp_context=_context(), initializer=_begin)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Give a task to the next free process."""
        with _without_interrupts():  # as the processes that this may start
            try:
                return self._pool.submit(fn, *args, **kwargs)
            except BrokenExecutor:
                self._pool.shutdown(wait=False)
                self._pool = self._new(self.workers)
                return self._pool.submit(fn, *args, **kwargs)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the processes; if something was raised, in the middle of their work."""
        if kind is not None:
            for process in [*(getattr(self._pool, "_processes", None) or {}).values()]:
                process.terminate()
        self._pool.shutdown(cancel_futures=True)


def prepare() -> None:
    """Start importing what processes need, next to what this one imports."""
    if _context().get_start_method() == "forkserver":
        from multiprocessing import forkserver, resource_tracker

        resource_tracker.ensure_running()  # which lets Ctrl-C in again
        with _without_interrupts():
            forkserver.ensure_running()


def _context() -> BaseContext:
    """Return how processes start: forked from a server without threads, else as new ones."""
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["harness.experiment.work", "numpy.random"])
    return context


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back; processes that are started meanwhile never see it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """End this process when the one that started it does, however that is killed."""
    gc.set_threshold(100_000)  # as the command itself does

    def wait_for_parent() -> None:
        if (parent := multiprocessing.parent_process()) is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait_for_parent, daemon=True).start()
