"""Workers that evaluate cells, in this process, in several or on a cluster."""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from multiprocessing.context import BaseContext
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from .. import __version__
from .. import errors as internal_errors
from ..config import plugins as plugins
from ..config.cells import Cell, reference_cell
from ..config.model import Config
from ..core.metric import Metric
from ..core.policy import Policy
from ..core.qrels_and_runs import Run
from ..errors import (
    HarnessError,
    InputError,
    Problem,
    ShortageError,
    VerificationError,
    first_of,
    not_installed,
    said_by,
    shortage,
    warn,
)
from ..readers import ir_metadata as ir_metadata
from ..readers.files import is_file, state_of
from ..readers.source import Source
from .cache import Input, Record, code, computes_with, group_sizes_of, installed_code
from .crosscheck import Crosscheck, Peer
from .visit import LoadedDataset, read_dataset, visit


@dataclass(frozen=True, eq=False)
class Job:
    """Some cells of one dataset."""

    config: Config
    places: Sequence[int]
    """Cells to evaluate, by their places among all."""
    cells: Mapping[int, Cell]
    """These; all of their dataset, if a metric compares with the run of another."""
    n_cells: int
    """Number of cells of the config."""


JobResult = tuple[int, Record | HarnessError]
"""The place of a cell, and its record or why it has none."""


def work(job: Job) -> list[JobResult]:
    """Evaluate the cells of a job, one after the other."""
    return list(each(job))


def work_there(job: Job, by: str) -> tuple[str, list[JobResult]]:
    """Do the same on a worker of a cluster, and return its address too.

    HarnessError unless it has the code and the kind of machine that `by` names.
    """
    _load_plugins(job.config.base, job.config.plugins)
    if by != (computed_here := computed_by(job.config.parsed_metrics())):
        message = f"expected workers with {by}, got {computed_here}"
        fix = "start the workers in the same environment, on machines of the same kind"
        raise HarnessError(Problem("--scheduler", message, fix=fix))
    distributed: Any = import_module("distributed")
    return distributed.get_worker().address.rpartition("/")[2], list(each(job))


def each(job: Job) -> Iterator[JobResult]:
    """Yield the outcome of each cell of a job; VerificationError stops the job."""
    _load_plugins(job.config.base, job.config.plugins)
    metrics = job.config.parsed_metrics()
    for place in job.places:
        try:
            yield place, _evaluate(job, place, metrics)
        except VerificationError:
            raise
        except HarnessError as error:  # its frames hold judgements; no worker sends them
            yield place, error.with_traceback(None)
        except Exception as error:
            problem = shortage(error)
            failed = HarnessError(internal_errors.problem(error))
            yield place, failed if problem is None else ShortageError(problem)


def _evaluate(job: Job, place: int, metrics: tuple[Metric, ...]) -> Record:
    """Return the record of a cell, from reading its files to the cross-check."""
    config, cell = job.config, job.cells[place]
    policy, opened = config.policy.for_runs(), list[_File]()
    dataset, peer, of_dataset = _dataset(cell, metrics, policy)
    inputs = {**of_dataset}
    check = Crosscheck(peer, config.crosscheck, place, job.n_cells)

    def read_reference(name: str) -> Run:
        other = reference_cell(tuple(job.cells.values()), cell, name)
        return other.read_run(dataset.qrels, opens)

    def opens(path: str) -> _File:
        opened.append(_File(path))
        return opened[-1]

    visited = visit(
        cell, dataset, metrics, policy, opens=opens, reference=read_reference, watch=check.watch
    )
    audit = check.compare(visited.value())
    inputs |= {file.path: file.as_read() for file in opened}
    visited = replace(visited, findings=(*dataset.findings, *visited.findings))
    return Record.of(visited, audit, inputs)


class _File(Source):
    """A file that is hashed while it is read."""

    def __init__(self, path: str) -> None:
        self.path, self.state = path, state_of(path)
        super().__init__(path, hashed=True)

    def as_read(self) -> Input:
        """Return its state and hash; ChangedInputError if the state differs from before."""
        digest = self.sha256()
        if state_of(self.path) != self.state:
            raise changed_input(self.path)
        return Input(self.state, digest)


class ChangedInputError(InputError):
    """A file changed while a cell, or several cells, read it."""


def changed_input(path: str) -> ChangedInputError:
    """Return the error of a file that changed."""
    fix = "run again when nothing writes to it; finished cells come from the cache"
    return ChangedInputError(Problem(path, "the file changed during the run", fix=fix))


_Dataset = tuple[LoadedDataset, Peer, Mapping[str, Input]]
"""A dataset, shared data of the cross-checks of its cells, and its files."""
last_dataset: dict[Any, _Dataset] = {}
"""The dataset that this process read last: its cells come one after the other."""


def _dataset(cell: Cell, metrics: tuple[Metric, ...], policy: Policy) -> _Dataset:
    """Return a cell's dataset, which is read if the last cell had another."""
    entry = cell.dataset_entry
    paths = [path for path in (entry.path, group_sizes_of(entry)) if path]
    key = (entry.model_dump_json(), metrics, policy, *map(state_of, paths))
    if key not in last_dataset:
        last_dataset.clear()
        files = list(map(_File, paths))
        loaded = read_dataset(cell, files[0], metrics, policy)
        inputs = {file.path: file.as_read() for file in files}
        last_dataset[key] = loaded, Peer(loaded.qrels, metrics, policy), inputs
    return last_dataset[key]


@functools.cache
def _load_plugins(base: Path, names: tuple[str, ...]) -> None:
    """Import plugins of a config, in a process that did not read the config itself."""
    for name in names:
        plugins.load_plugin(name, base)


T = TypeVar("T")
TRIES = 3
"""Number of attempts for a job if workers die."""
POLL = 1
"""Seconds between two polls of a cluster."""
ANSWER = 4
"""Seconds that a scheduler has to take a connection, or to end one."""
WITHOUT_WORKERS = 30
"""Seconds without a worker after which a cluster is reported to have none."""
WORKER_TIMEOUT = 600
"""Seconds without a worker after which a run on a cluster stops, by default."""
SILENCE = 20
"""Seconds without an answer after which a scheduler is lost; a busy one may take some."""


def evaluated_jobs(pool: Executor, jobs: Sequence[Job]) -> Iterator[JobResult]:
    """Yield the outcome of each cell as soon as it is known.

    A job whose worker dies goes to another. A pool of processes that breaks loses all of its jobs:
    they go again one at a time, so that only the one that breaks it is given up.
    """
    cluster = pool if isinstance(pool, Cluster) else None
    died = (BrokenExecutor, CancelledError, *(cluster.died if cluster else ()))
    tries, one_at_a_time = [0] * len(jobs), False
    queue, running = deque(range(len(jobs))), dict[Future[Any], int]()
    while queue or running:
        while queue and not (one_at_a_time and running):
            number = queue.popleft()
            tries[number] += 1
            job = jobs[number]
            function: Any = work_there if cluster else work
            by = (computed_by(job.config.parsed_metrics()),) if cluster else ()
            running[pool.submit(function, job, *by)] = number
        finished, _ = wait(running, POLL if cluster else None, return_when=FIRST_COMPLETED)
        if cluster and not finished:
            cluster.check_workers()
        for future in finished:
            number = running.pop(future)
            try:
                result: Any = future.result()
                yield from cluster.taken(*result) if cluster else result
            except HarnessError:
                raise
            except died as error:
                if cluster:
                    cluster.check()  # a lost scheduler cancels every job
                one_at_a_time = one_at_a_time or isinstance(error, BrokenExecutor)
                if tries[number] < TRIES + (not one_at_a_time):
                    queue.append(number)
                else:
                    message = f"its worker died {TRIES} times: {type(error).__name__}: {error}"
                    fix = "give fewer --jobs, or more memory: a killed worker often ran out of it"
                    lost = ShortageError(message, fix=fix)
                    yield from ((place, lost) for place in jobs[number].places)
            except Exception as error:  # of what gives out jobs and takes answers
                failed = HarnessError(internal_errors.problem(error))
                yield from ((place, failed) for place in jobs[number].places)


class Cluster(Executor):
    """Workers of a Dask scheduler: their threads, and the error of a job if its worker dies."""

    def __init__(self, address: str, worker_timeout: int = WORKER_TIMEOUT) -> None:
        try:
            distributed: Any = import_module("distributed")
        except ImportError as error:
            raise not_installed("--scheduler", "distributed", "dask") from error
        for name in ("distributed.client", "tornado.application"):  # what they log is raised here
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._where, self._address = f"--scheduler {address}", address
        self._worker_timeout = worker_timeout
        self._empty_since: float | None = None
        self._is_reported = False
        try:
            self._client = distributed.Client(address, timeout=ANSWER, set_as_default=False)
        except Exception as error:  # another program at that address raises anything
            message = f"no scheduler answers: {said_by(error)}"
            raise self._error(message, "start it, or check the address") from error
        self.died = (distributed.scheduler.KilledWorker,)
        self.cells = Counter[str]()
        """Cells evaluated by each worker, by its address."""
        try:
            self.workers = max(2, self.check())
            found = self._client.run(find_spec, "harness")
            if bare := [name for name, spec in found.items() if spec is None]:
                message = f"the harness is not installed on {first_of(bare, 3)}"
                fix = "start the workers in an environment with the package ranking-harness"
                raise self._error(message, fix)
        except BaseException:
            self.shutdown()
            raise
        self._pool = self._client.get_executor()  # gives a job again only if its worker died

    def _error(self, message: str, fix: str) -> HarnessError:
        return HarnessError(Problem(self._where, message, fix=fix))

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Give a task to the next free worker."""
        future: Future[T] = self._pool.submit(fn, *args, **kwargs)
        return future

    @property
    def dashboard(self) -> str:
        """The address of the scheduler's dashboard; empty if it has none."""
        with contextlib.suppress(KeyError):
            return str(self._client.dashboard_link or "")
        return ""

    def taken(self, worker: str, results: Sequence[JobResult]) -> Sequence[JobResult]:
        """Count and return a worker's results; HarnessError if it lacks a file that is here."""
        self.cells[worker] += len(results)
        for _, error in results:
            problem = error.problems[0] if isinstance(error, HarnessError) else None
            if problem and problem.rule == "missing-file" and is_file(problem.where):
                message = f"the worker {worker} has no file {problem.where}, which is here"
                fix = "mount the folder under the same path on all workers, or write URLs"
                raise self._error(message, fix)
        return results

    def check(self) -> int:
        """Return the number of threads of all workers; HarnessError if the scheduler is lost."""
        try:
            workers = self._client.sync(self._client.ncores, callback_timeout=SILENCE)
        except Exception as error:
            fix = "start it and run the command again, which takes finished cells from the cache"
            raise self._error("the scheduler was lost", fix) from error
        return sum(workers.values())

    def check_workers(self) -> None:
        """Warn if there has been no worker for a while; HarnessError after the timeout."""
        now = time.monotonic()
        if self.check():
            self._empty_since, self._is_reported = None, False
            return
        self._empty_since = now if self._empty_since is None else self._empty_since
        seconds = now - self._empty_since
        if seconds >= self._worker_timeout:
            message = f"the cluster has had no worker for {seconds:.0f} s"
            fix = (
                "start workers and run the command again, which takes finished cells from the cache"
            )
            raise self._error(message, fix)
        if seconds >= WITHOUT_WORKERS and not self._is_reported:
            self._is_reported = True
            message = f"the cluster has had no worker for {seconds:.0f} s"
            effect = f"the run waits, and stops after {self._worker_timeout} s without a worker"
            fix = f"start workers: dask worker {self._address}"
            warn(str(Problem(self._where, message, effect=effect, fix=fix)))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster."""
        with contextlib.suppress(Exception):  # of a scheduler that does not answer
            self._client.close(timeout=ANSWER)


def computed_by(metrics: Iterable[Metric]) -> str:
    """Return code of the harness, versions, packages of metrics and machine, as text."""
    packages = [
        f"{name} {package['version']} ({str(package['sha256'])[:12]})"
        for name, package in installed_code(metrics).items()
    ]
    return ", ".join([f"harness {__version__} ({code()[:12]})", *computes_with(), *packages])


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
    """Return the start method of processes: forked from a server without threads, else new ones."""
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["harness.experiment.workers", "numpy.random"])
    return context


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Defer Ctrl-C; processes that start meanwhile never receive it.

    The mask is this thread's alone. Another thread may take the signal, and Python then calls the
    handler in this one, so the handler waits too.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    handler, held = signal.getsignal(signal.SIGINT), list[tuple[int, FrameType | None]]()
    defers = callable(handler) and threading.current_thread() is threading.main_thread()
    if defers:
        signal.signal(signal.SIGINT, lambda *arguments: held.append(arguments))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if defers:
            signal.signal(signal.SIGINT, handler)
            if held and callable(handler):
                handler(*held[0])


def _begin() -> None:
    """End this process when the one that started it does, however that is killed."""
    gc.set_threshold(100_000)  # as the command itself does

    def wait_for_parent() -> None:
        if (parent := multiprocessing.parent_process()) is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait_for_parent, daemon=True).start()
