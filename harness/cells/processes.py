"""Processes on this machine; apart, so that only who asks for several loads what starts them."""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


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
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin)

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


def _begin() -> None:
    """Make ready, as the command itself does: what is imported is no garbage."""
    gc.set_threshold(100_000)
