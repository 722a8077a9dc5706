"""What pipes and standard input give, kept in temporary files, since a reader looks twice."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from typing import IO, Any

from ..errors import InputError, Problem

_PIECE = 1 << 20
_PIPES: dict[str, Any] = {}


@functools.lru_cache(maxsize=1)
def spooled(stream: IO[bytes], name: str) -> Any:
    """Return a temporary file with all that `stream` gives; one stream is read once.

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
        spool = tempfile.NamedTemporaryFile(prefix="harness-")  # noqa: SIM115 - lives on
        while piece := _piece(stream, name):
            spool.write(piece)
        spool.flush()
    except OSError as error:
        if spool is not None:
            with contextlib.suppress(OSError):  # what is left in its buffer
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
    return str(_PIPES[path].name)


def forget() -> None:
    """Delete the temporary files that hold what pipes and standard input gave."""
    spooled.cache_clear()
    _PIPES.clear()


def _piece(stream: IO[bytes], name: str) -> bytes:
    try:
        return stream.read(_PIECE)
    except OSError as error:
        raise InputError(Problem(name, f"cannot be read ({error})")) from error
