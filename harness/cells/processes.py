"""Processes on this machine; apart, so that only who asks for several loads what starts them."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
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
        with _not_interrupted():  # as the processes that this may start
            try:
                return self._pool.submit(fn, *args, **kwargs)
            except BrokenExecutor:
                self._pool.shutdown(wait=False)
                self._pool = self._new(self._jobs)
                return self._pool.submit(fn, *args, **kwargs)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the processes; where something was raised, in the middle of what they do."""
        if kind is not None:
            for process in list((getattr(self._pool, "_processes", None) or {}).values()):
                process.terminate()
        self.shutdown()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End the processes; what was not begun is dropped."""
        self._pool.shutdown(wait, cancel_futures=True)


@contextlib.contextmanager
def _not_interrupted() -> Iterator[None]:
    """Hold Ctrl-C back; processes started within never see it, as it is for who started them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Make ready, as the command itself does: what is imported is no garbage."""
    gc.set_threshold(100_000)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End when the process that started this one does, however that is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
