"""Where cells are evaluated: in this process, in several, or on a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from ..errors import HarnessError, Problem

T = TypeVar("T")
PATIENCE = 60
"""Seconds that a cluster has to show its first worker."""
ANSWER = 10
"""Seconds that a scheduler has to answer."""


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
        from .processes import Processes

        with Processes(jobs) as pool:
            yield pool
    else:
        yield InProcess()


@contextlib.contextmanager
def _dask(address: str) -> Iterator[Executor]:
    from .remote import work_and_say

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
        client = distributed.Client(address, timeout=ANSWER, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        what = f"no scheduler answers: {error}"
        raise HarnessError(
            Problem(f"--scheduler {address}", what, fix="start it, or check the address")
        ) from error
    with client:
        _check_workers(client, address)
        pool = client.get_executor()  # which gives a job out again only where its worker died
        pool.workers = max(2, sum(client.ncores().values()))  # more may come
        pool.task = work_and_say
        pool.check = partial(_check_workers, client, address)
        yield pool


def _check_workers(client: Any, address: str) -> None:
    """Wait for a worker, where there is none; raise where none comes."""
    import asyncio  # 30 ms, and Dask has loaded it

    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except asyncio.TimeoutError as error:  # before Python 3.11 not yet the built-in one
        what = f"the scheduler has had no worker for {PATIENCE} seconds"
        fix = "start workers that see the same files, such as 'dask worker ADDRESS'"
        raise HarnessError(Problem(f"--scheduler {address}", what, fix=fix)) from error
