"""What the system refuses (memory, files, space, permission), and what can be done about it."""

from __future__ import annotations

import errno
import mmap
import os
from typing import TYPE_CHECKING

from .errors import HarnessError, Problem

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

LEAST = 800 << 20
"""Bytes of addresses that Python, numpy, pyarrow and SciPy take before any file is read."""
_THREAD = 16 << 20
"""Bytes of addresses that are enough for a thread to start: its stack, and as much again."""
NO_MEMORY = "not enough memory"
MORE_MEMORY = "raise the limit (ulimit -v, or the job's), or give fewer --jobs"
_FILES = "raise the limit on open files (ulimit -n)"
_SPACE = "free space or write to another folder"
MORE = {errno.EMFILE: _FILES, errno.ENFILE: _FILES, errno.ENOMEM: MORE_MEMORY}
"""What to do where there is not enough of something, by the number of the error."""
_FIXES = {
    **MORE,
    errno.EFBIG: "raise the limit on the size of files (ulimit -f)",
    errno.EACCES: "change its permissions, or write to another folder",
    errno.EPERM: "change its permissions, or write to another folder",
    errno.EROFS: "write to another folder",
    errno.ELOOP: "move the link away",
    errno.ENOENT: "its folder was deleted or moved under way: run again",
}


def fix(error: OSError) -> str:
    """Return what to do where a file could not be written."""
    return _FIXES.get(error.errno or 0, _SPACE)


def problem(error: BaseException) -> Problem | None:
    """Return what the system refused; None where the error is none of the system's.

    >>> print(problem(MemoryError()))
    not enough memory
      fix:   raise the limit (ulimit -v, or the job's), or give fewer --jobs
    >>> problem(ValueError("an error of ours")) is None
    True
    """
    text = str(error)
    if isinstance(error, MemoryError):
        return Problem("", NO_MEMORY, fix=MORE_MEMORY)
    if isinstance(error, ImportError) and ("failed to map" in text or "annot allocate" in text):
        return Problem("", f"{NO_MEMORY} to load a library", fix=MORE_MEMORY)
    if isinstance(error, RuntimeError) and "start new thread" in text:
        what, more = "no further thread can be started", "the one on processes (ulimit -u)"
        return Problem("", what, fix=f"{MORE_MEMORY}, or raise {more}")
    if isinstance(error, OSError) and error.filename is None and not _has_current_folder():
        return Problem("", "the current folder was deleted", fix="change to another one")
    if isinstance(error, OSError):
        known = error.errno in _FIXES and error.errno != errno.ENOENT
        return Problem(
            str(error.filename or ""), error.strerror or text, fix=fix(error) if known else ""
        )
    return None


def _has_current_folder() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    except OSError:
        pass
    return True


def check_memory() -> None:
    """Raise where the limit on memory is too small for any run.

    Below it libraries fail while they are loaded, each in its own way; some end the process.

    Raises
    ------
    HarnessError
    """
    try:
        import resource
    except ImportError:  # a system without such limits
        return
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY and most < LEAST:
        what = f"memory is limited to {most >> 20} MB (ulimit -v), and Python, numpy, pyarrow "
        what += f"and SciPy alone take {LEAST >> 20} MB of addresses"
        more = "raise the limit; one of a control group (systemd, Docker, Slurm) counts only what"
        raise HarnessError(Problem("", what, fix=f"{more} is used"))


def threads_of(number: int | None = None) -> ThreadPoolExecutor:
    """Return so many threads, or one for each processor, where there is memory for them.

    Raises
    ------
    MemoryError
    """
    from concurrent.futures import ThreadPoolExecutor  # most commands need none

    number = number or os.cpu_count() or 1
    _check_room(number)
    return ThreadPoolExecutor(number)


def _check_room(threads: int) -> None:
    """Raise where there is no memory left to start threads.

    Python waits forever for a thread that finds none for its first step.
    """
    try:
        mmap.mmap(-1, threads * _THREAD).close()
    except OSError as error:
        raise MemoryError from error
