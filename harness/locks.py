"""Locks of the system on files, and files under way that nobody holds any more.

A lock ends with the process that holds it, however that ends.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

LOCK = ".lock"
"""The file by which a folder is held."""
_UNFINISHED = ".part"
"""How the names of files end that are being written."""
_OWN = re.compile(rf"\.(?P<name>.+)\.[a-z0-9_]{{8}}{re.escape(_UNFINISHED)}", re.S)
"""Their whole names, as :mod:`tempfile` makes them: of files named otherwise none is ours."""
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def lock_file(folder: Path) -> IO[bytes]:
    """Return the file that a folder is locked by, made where it is none.

    A link is not followed, as its target may be elsewhere, and nothing waits for a pipe's reader.
    """
    path = folder / LOCK
    if path.is_symlink():
        raise OSError(errno.ELOOP, "the lock is a link, which is not followed", str(path))
    return open(path, "ab", opener=lambda name, mode: os.open(name, mode | _FLAGS, 0o666))


def lock(file: IO[bytes], *, alone: bool = True, wait: bool = True) -> bool | None:
    """Return whether a file could be locked; None where the system has no such locks."""
    try:
        import fcntl

        fcntl.flock(
            file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | (0 if wait else fcntl.LOCK_NB)
        )
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


def is_at(file: IO[bytes], path: Path) -> bool:
    """Return whether an open file is still the one at a path: it may have been deleted there."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except OSError:
        return False


def begin(target: Path) -> tuple[IO[bytes], Path]:
    """Return a new file beside its place, held by this process as long as it is open.

    Its folder must be there.
    """
    while True:
        handle, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name}.", suffix=_UNFINISHED
        )
        file, beside = os.fdopen(handle, "wb"), Path(name)
        if lock(file, wait=False) is None or is_at(file, beside):
            return file, beside
        file.close()  # another process took it for one that nobody holds
        beside.unlink(missing_ok=True)


def remove_unfinished(*folders: Path, names: Iterable[str] | None = None) -> int:
    """Remove files that were being written when their process was killed; return how many.

    Those that a process holds stay, as do folders, links and files named otherwise; nothing is
    looked for behind a link but the first folder.

    Parameters
    ----------
    folders : Path
        Whose lock the caller has, where files are written there that are not held themselves.
    names : iterable of str, optional
        Of files, where only what was to become these is removed.
    """
    removed, wanted = 0, None if names is None else {*names}
    for place, folder in enumerate(folders):
        if not folder.is_dir() or (place and folder.is_symlink()):
            continue
        with os.scandir(folder) as found:
            left = [
                one.path for one in found
                if (own := _OWN.fullmatch(one.name)) and (wanted is None or own["name"] in wanted)
                and one.is_file(follow_symlinks=False)
            ]  # fmt: skip
        for path in left:
            with contextlib.suppress(OSError), _held(path):  # it does no harm where it is
                os.unlink(path)
                removed += 1
    return removed


@contextlib.contextmanager
def _held(path: str) -> Iterator[None]:
    """Hold a file that is there; an OSError where another process does."""
    with open(path, "ab", opener=lambda name, mode: os.open(name, mode | _FLAGS)) as file:
        if lock(file, wait=False) is False:
            raise BlockingIOError
        yield
