"""What the system refuses (memory, files, space, permission), and what can be done about it."""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from .errors import HarnessError, Problem

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_OF_ARROW = re.compile(r"^Unknown error: Wrapping .* failed$|[mc]alloc|bad_alloc", re.S)
"""What Arrow says, outside of its own MemoryError, where it gets no memory: for a text of a table,
say."""
_NO_THREAD = re.compile("start new thread|launch worker thread")
_SPARING = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # the usual one reserves 1 GB of addresses at once
    "ARROW_IO_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "MALLOC_ARENA_MAX": "1",  # of processes that are started: glibc reserves 64 MB for a thread
    "OMP_NUM_THREADS": "1",
}
"""What libraries look for in the environment, and take fewer addresses by."""
_ARENAS = -8
"""What glibc's `mallopt` calls the number of places that threads take memory from."""
LEAST = 512 << 20
"""Bytes of addresses below which no command begins: the libraries alone take 330 MB."""
_ROOM = 32 << 20
"""Bytes of addresses that libraries find free, beyond what they are known to need."""
_STACK = 8 << 20
"""Bytes of a thread's stack, where the system has no limit of its own on it, or a smaller one."""
NO_MEMORY = "not enough memory"
MORE_MEMORY = "raise the limit (ulimit -v, or the job's)"
_FEWER = ", or give fewer --jobs"
_ADDRESSES = "RLIMIT_AS"
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
    errno.EEXIST: "move away the file, or the link to nothing, that stands there",
    errno.ENOENT: "its folder was deleted or moved under way: run again",
}


def fix(error: OSError) -> str:
    """Return what to do where a file could not be written."""
    return _FIXES.get(error.errno or 0, _SPACE)


def problem(error: BaseException) -> Problem | None:
    """Return what the system refused; None where the error is none of the system's.

    >>> print(problem(MemoryError()))
    not enough memory
      fix:   raise the limit (ulimit -v, or the job's)
    >>> problem(ValueError("an error of ours")) is None
    True
    """
    if (found := shortage(error)) is not None:
        return found
    if isinstance(error, RuntimeError) and isinstance(error.__context__, OSError):
        error = error.__context__  # of a link to itself, before Python 3.13
    if isinstance(error, OSError) and error.filename is None and not _has_current_folder():
        return Problem("", "the current folder was deleted", fix="change to another one")
    if isinstance(error, OSError):
        known = error.errno in _FIXES and error.errno != errno.ENOENT
        what = error.strerror or str(error)
        return Problem(str(error.filename or ""), what, fix=fix(error) if known else "")
    return None


def shortage(error: BaseException) -> Problem | None:
    """Return what there is not enough of to go on: memory, threads, open files; None elsewhere.

    What Arrow and Python's loader say of memory is no ``MemoryError`` always.
    """
    text = str(error)
    if isinstance(error, MemoryError):
        return Problem("", NO_MEMORY, fix=MORE_MEMORY)
    of_arrow = type(error).__module__ == "pyarrow.lib"
    if of_arrow and _OF_ARROW.search(text):
        return Problem("", NO_MEMORY, fix=MORE_MEMORY)
    if isinstance(error, ImportError) and ("failed to map" in text or "annot allocate" in text):
        return Problem("", f"{NO_MEMORY} to load a library", fix=MORE_MEMORY)
    if _NO_THREAD.search(text) and (isinstance(error, RuntimeError) or of_arrow):
        what, more = "no further thread can be started", "the one on processes (ulimit -u)"
        return Problem("", what, fix=f"{MORE_MEMORY}, or raise {more}")
    if isinstance(error, OSError) and error.errno in MORE:
        what = error.strerror or text
        return Problem(str(error.filename or ""), what, fix=fix(error))
    return None


def or_fewer_jobs(one: Problem) -> Problem:
    """Return a problem with what else can be done about it in a command that has ``--jobs``.

    >>> print(or_fewer_jobs(Problem("", NO_MEMORY, fix=MORE_MEMORY)))
    not enough memory
      fix:   raise the limit (ulimit -v, or the job's), or give fewer --jobs
    """
    if _FEWER in one.fix:
        return one
    return replace(one, fix=one.fix.replace(MORE_MEMORY, MORE_MEMORY + _FEWER, 1))


def _has_current_folder() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    except OSError:
        pass
    return True


def allocate_sparingly() -> None:
    """Let libraries, before they are loaded, take few addresses where these are limited.

    A command that would need 700 MB of them needs 400 so.
    """
    if _limit(_ADDRESSES) is None:
        return
    for name, value in _SPARING.items():
        os.environ.setdefault(name, value)
    import ctypes  # 5 ms

    with contextlib.suppress(AttributeError, OSError):  # where the C library is another one
        ctypes.CDLL(None).mallopt(_ARENAS, 1)


def _limit(what: str) -> int | None:
    """Return the most bytes that this process may have of something; None without a limit."""
    try:
        import resource
    except ImportError:  # a system without such limits
        return None
    most, _ = resource.getrlimit(getattr(resource, what))
    return None if most == resource.RLIM_INFINITY else most


def check_memory() -> None:
    """Raise where the limit on memory is too small to read and evaluate anything.

    Otherwise load, where there is one, the libraries that are not always needed: with too little
    memory each fails in its own way, some end the process, and the BLAS of SciPy asks for more
    without an end. So none is left to be loaded when data have taken what there is.

    Raises
    ------
    HarnessError
    """
    most = _limit(_ADDRESSES)
    if most is None:
        return
    if most < LEAST:
        what = f"memory is limited to {most >> 20} MB (ulimit -v), and Python, numpy, pyarrow "
        what += f"and SciPy with the least of data take {LEAST >> 20} MB of addresses"
        more = "raise the limit; one of a control group (systemd, Docker, Slurm) counts only what"
        raise HarnessError(Problem("", what, fix=f"{more} is used"))
    import numpy  # noqa: F401
    import pyarrow.csv
    import pyarrow.json
    import pyarrow.parquet  # noqa: F401
    import scipy.special  # noqa: F401


def check_room(size: int = 0) -> None:
    """Raise where so many bytes of addresses, and some more, are not left.

    To be asked before Arrow parses: where it gets no memory for a field or a thread, C++ ends the
    process, and nothing can be said.

    Raises
    ------
    MemoryError
    """
    try:
        mmap.mmap(-1, _ROOM + size).close()
    except OSError as error:
        raise MemoryError from error


def threads_of(number: int | None = None) -> ThreadPoolExecutor:
    """Return so many threads, or one for each processor, where there is memory for them.

    Raises
    ------
    MemoryError
    """
    from concurrent.futures import ThreadPoolExecutor  # most commands need none

    number = number or os.cpu_count() or 1
    # Python waits forever for a thread that finds none for its first step
    check_room(number * max(_limit("RLIMIT_STACK") or 0, _STACK))
    return ThreadPoolExecutor(number)
