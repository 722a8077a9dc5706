"""Processes on this machine; apart, so that only who asks for several loads what starts them."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from multiprocessing.context import BaseContext
from typing import Any, TypeVar

T = TypeVar("T")
_WARM = "harness.cells.warm"
"""What processes import: once, before the first is asked for, where a server forks them."""
_NOT_SAID = "ignore:resource_tracker"
"""Python's process that cleans up after one that was stopped: what it cleaned is no news."""
_OPEN, _OPEN_EACH, _OPEN_BEFORE = 12, 2, 4
"""Files that are open at once: of a pool, of each process of it, and of what comes before."""


class Processes(Executor):
    """Processes on this machine; new ones where one of them was killed.

    Parameters
    ----------
    jobs : int
    """

    def __init__(self, jobs: int) -> None:
        _check_files(_OPEN + _OPEN_EACH * jobs)
        self._jobs, self._pool = jobs, self._new(jobs)

    @staticmethod
    def _new(jobs: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(jobs, mp_context=_context(), initializer=_begin)

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


def prepare(jobs: int) -> None:
    """Let what processes need be imported beside what is done here until they are asked for."""
    _check_files(_OPEN_BEFORE + _OPEN + _OPEN_EACH * jobs)
    if _context().get_start_method() == "forkserver":
        from multiprocessing import forkserver, resource_tracker

        sys.warnoptions.append(_NOT_SAID)  # which it is started with
        try:
            resource_tracker.ensure_running()  # starting it would let Ctrl-C in again
        finally:
            sys.warnoptions.remove(_NOT_SAID)
        with _not_interrupted():
            forkserver.ensure_running()


def _check_files(n: int) -> None:
    """Raise where so many files cannot be opened at once.

    Where they end later, the server that forks processes prints what Python says of it.
    """
    found: list[int] = []
    try:
        for _ in range(n):
            found.append(os.open(os.devnull, os.O_RDONLY))  # noqa: PERF401 - all are closed again
    except OSError as error:
        raise OSError(error.errno, error.strerror) from error  # it is no matter of this one
    finally:
        for one in found:
            os.close(one)


def _context() -> BaseContext:
    """Return how processes start: never forked from here, where threads may hold something.

    They are forked from a server that does nothing else; on other systems than Linux, where parts
    of the system do not outlive a fork, each is started anew.
    """
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_WARM])
    return context


@contextlib.contextmanager
def _not_interrupted() -> Iterator[None]:
    """Hold Ctrl-C back; processes started within never see it, as it is for who started them.

    Another thread may take the signal where this one does not: it is held back in Python too.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    seen: list[int] = []
    ours = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda *_: seen.append(1)) if ours else None
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if ours:
            signal.signal(signal.SIGINT, handler)
        if seen:
            signal.raise_signal(signal.SIGINT)


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
