"""A temporary file for what can be read once, or lies elsewhere."""

from __future__ import annotations

import contextlib
import os
import tempfile
import weakref
from collections.abc import Callable
from typing import IO, Any

from ..errors import InputError, Problem

OTHER_PLACE = "write it to a file, and name that; or name a larger folder in TMPDIR"


class Temporary:
    """A temporary file, deleted with this object or when the process ends.

    On Linux it has no name, so that nothing of it is left however the process ends. `fill` writes
    it, given the open file and its path; `name` is what messages call it.
    """

    def __init__(self, name: str, fill: Callable[[IO[bytes], str], None]) -> None:
        self._file = tempfile.NamedTemporaryFile(prefix="harness-", delete=False)  # noqa: SIM115
        self.delete = weakref.finalize(self, _delete, self._file)
        try:
            if os.path.exists(_unnamed(self._file)):
                os.unlink(self._file.name)
            fill(self._file, self.path)
            self._file.flush()
        except BaseException as error:
            self.delete()
            if not isinstance(error, OSError):
                raise
            message = f"cannot be kept in a temporary file: {error.strerror}"
            raise InputError(Problem(name, message, fix=OTHER_PLACE)) from error

    @property
    def path(self) -> str:
        """The path by which every process of this user can open it."""
        name: str = self._file.name
        return name if os.path.exists(name) else _unnamed(self._file)


def _unnamed(file: Any) -> str:
    """Return the path of an open file on Linux, which processes can open without its name."""
    return f"/proc/{os.getpid()}/fd/{file.fileno()}"


def _delete(file: Any) -> None:
    file.close()
    with contextlib.suppress(OSError):
        os.unlink(file.name)
