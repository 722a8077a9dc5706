"""Where a file is: its path, or why there is none that can be read."""

from __future__ import annotations

import difflib
import errno
import os
import stat
import sys
from pathlib import Path
from typing import IO

from ..errors import InputError, Problem
from .spool import spooled_pipe

STDIN, NAMELESS = "-", "<stdin>"
"""Standard input as it is named, and as messages name it."""


def on_disk(path: str) -> str:
    """Return the path of a regular file that holds what is at `path`."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(Problem("", missing(path), rule="missing-file")) from None
    except PermissionError:
        mode = stat.S_IFREG
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENAMETOOLONG):
            raise
        what = f"no file can be reached by that name: {error.strerror}"
        raise InputError(Problem(path, what, rule="missing-file")) from error
    if stat.S_ISDIR(mode):
        names = _listing(Path(path))
        held = (
            f"; it holds {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}" if names else ""
        )
        several = f"{path.rstrip('/')}/*"
        fix = f"name one file; on the command line several runs can be given, as {several}"
        raise InputError(Problem(path, f"a folder, not a file{held}", fix=fix, rule="missing-file"))
    if stat.S_ISCHR(mode) and _endless(path):
        fix = "name a file, or - for standard input"
        raise InputError(Problem(path, "a device that gives data without end", fix=fix))
    return path if stat.S_ISREG(mode) else spooled_pipe(path)


def no_permission(name: str) -> InputError:
    """Return the error of a file that is there and may not be read."""
    return InputError(Problem(name, "no permission to read it", fix="change its mode or its owner"))


def _endless(device: str) -> bool:
    with open(device, "rb", buffering=0) as file:
        return not file.isatty() and file.read(1) != b""


def _listing(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def missing(path: str | os.PathLike[str]) -> str:
    """Return the message for a file that is not there, with the names that are near it.

    >>> missing("/no/such/folder/x.run")
    'no file /no/such/folder/x.run; there is no folder /no/such/folder'
    """
    folder, name = Path(path).parent, Path(path).name
    if os.path.islink(path):
        return f"no file {os.fspath(path)}; {link_to(path)}"
    if not folder.is_dir():
        return f"no file {os.fspath(path)}; there is no folder {folder}"
    names = _listing(folder)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    held = near or (names if len(names) <= 5 else [])
    if held:
        return f"no file {os.fspath(path)}; the folder holds {', '.join(held)}"
    return f"no file {os.fspath(path)}; the folder holds {_counted(folder)}, none like it"


def link_to(path: str | os.PathLike[str]) -> str:
    """Return what is to be said of a link that leads to nothing."""
    return f"it is a link to {os.fspath(os.readlink(path))}, which is not there"


def _counted(folder: Path) -> str:
    """Return how many files and folders a folder holds."""
    with os.scandir(folder) as entries:
        inner = [os.path.isdir(entry) for entry in entries]  # no error of a link to itself
    n, folders = inner.count(False), inner.count(True)
    files = f"{n} file{'s' * (n != 1)}" if n else "no files"
    return files + (f" and {folders} folder{'s' * (folders != 1)}" if folders else "")


def stdin() -> IO[bytes]:
    """Return standard input; it is None where the command was started with it closed."""
    if sys.stdin is None:
        fix = "give the name of a file, or send one to the command: < a.run"
        raise InputError(Problem(NAMELESS, "standard input is closed", fix=fix))
    return sys.stdin.buffer
