"""What pipes and standard input give, kept in temporary files, since a reader looks twice."""

from __future__ import annotations

import errno
import functools
import os
import shutil
import tempfile
from dataclasses import dataclass
from typing import IO, cast

from ..errors import InputError, Problem

_PIECE = 1 << 20
_PIPES: dict[str, Spool] = {}
_OPEN_FILES = "/proc/self/fd"


@dataclass(frozen=True, eq=False)
class Spool:
    """A temporary file, deleted when this is dropped, and the path to open it by again."""

    file: IO[bytes]
    path: str

    def close(self) -> None:
        """Delete it."""
        try:  # noqa: SIM105 - modules are gone when the interpreter ends
            self.file.close()
        except OSError:  # what is left in its buffer
            pass

    __del__ = close


@functools.lru_cache(maxsize=1)
def spooled(stream: IO[bytes], name: str) -> Spool:
    """Return a temporary file with all that `stream` gives; one stream is read once.

    It takes half of the free space at most, as a stream may have no end. Where the system names
    open files (Linux), its name in the folder is gone at once, so that nothing is left of it
    however the process ends.

    Parameters
    ----------
    stream : file
    name : str
        What it is called in messages.

    Raises
    ------
    InputError
        Where there is no room for it, or it cannot be read.
    """
    spool = None
    try:
        spool = _temporary()
        room = shutil.disk_usage(tempfile.gettempdir()).free // 2
        while piece := _piece(stream, name):
            room -= len(piece)
            if room < 0:
                raise OSError(errno.ENOSPC, "it takes more than half of the free space")
            spool.file.write(piece)
        spool.file.flush()
    except OSError as error:
        if spool is not None:
            spool.close()
        where = "" if spool is None else f" in {tempfile.gettempdir()}"
        what = f"cannot be kept in a temporary file{where}: {error.strerror}"
        fix = "free space there, or name another folder for temporary files in TMPDIR"
        raise InputError(Problem(name, what, fix=fix)) from error
    return spool


def spooled_pipe(path: str) -> str:
    """Return the path of a temporary file with all that a pipe gives, which is read once."""
    if path not in _PIPES:
        with open(path, "rb") as stream:
            _PIPES[path] = spooled.__wrapped__(stream, path)
    return _PIPES[path].path


def forget() -> None:
    """Delete the temporary files that hold what pipes and standard input gave."""
    spooled.cache_clear()
    _PIPES.clear()


def _temporary() -> Spool:
    if os.path.isdir(_OPEN_FILES):
        file = tempfile.TemporaryFile()  # noqa: SIM115 - lives on
        return Spool(file, f"/proc/{os.getpid()}/fd/{file.fileno()}")
    named = tempfile.NamedTemporaryFile(prefix="harness-")  # noqa: SIM115 - lives on
    return Spool(cast("IO[bytes]", named), named.name)


def _piece(stream: IO[bytes], name: str) -> bytes:
    try:
        return stream.read(_PIECE)
    except OSError as error:
        raise InputError(Problem(name, f"cannot be read ({error})")) from error
