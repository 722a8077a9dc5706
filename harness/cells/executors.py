"""Where cells are evaluated: in this process, in several, or on a cluster."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from importlib import import_module
from typing import Any, TypeVar

from ..errors import HarnessError, Problem

T = TypeVar("T")


class InProcess(Executor):
    """Does what it is given at once."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Return a future that is done."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes(Executor):
    """Processes on this machine; new ones where one of them was killed.

    Parameters
    ----------
    jobs : int
    """

    def __init__(self, jobs: int) -> None:
        self._jobs, self._pool = jobs, self._new(jobs)

    @staticmethod
    def _new(jobs: int) -> ProcessPoolExecutor:
        # started anew, not forked: what threads hold here would be held there for good
        return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Give a task to the next free process."""
        try:
            return self._pool.submit(fn, *args, **kwargs)
        except BrokenExecutor:
            self._pool.shutdown(wait=False)
            self._pool = self._new(self._jobs)
            return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End the processes; what was not begun is dropped."""
        self._pool.shutdown(wait, cancel_futures=True)


@contextlib.contextmanager
def executor(jobs: int = 1, scheduler: str | None = None) -> Iterator[Executor]:
    """Give the executor that is asked for, and end it.

    Parameters
    ----------
    jobs : int
        Processes on this machine.
    scheduler : str, optional
        Address of a Dask scheduler, ``tcp://host:8786``, whose workers see the same files. A job
        whose worker dies is given to another.

    Raises
    ------
    HarnessError
        Where the scheduler cannot be reached, or Dask is not installed.
    """
    if scheduler is not None:
        with _dask(scheduler) as found:
            yield found
    elif jobs > 1:
        with Processes(jobs) as pool:
            yield pool
    else:
        yield InProcess()


@contextlib.contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        raise HarnessError(
            Problem(
                "--scheduler", "needs Dask distributed",
                fix='pip install "ranking-harness[dask]"',
            )
        ) from error  # fmt: skip
    try:
        client = distributed.Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        what = f"no scheduler answers: {error}"
        raise HarnessError(
            Problem(f"--scheduler {address}", what, fix="start it, or check the address")
        ) from error
    with client:
        yield client.get_executor(retries=2)
