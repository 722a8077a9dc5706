"""Input files of a command, which it never overwrites.

A command runs in `keeping_inputs`. Readers add the files that they read, and commands those
that they are going to read; whoever writes asks `check_outputs` first.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path, PurePath

from .errors import InputError, Problem

_MOST_LINKS = 40  # as on Linux
_Identity = tuple[int, int] | str
_INPUTS: ContextVar[set[_Identity] | None] = ContextVar("inputs", default=None)
"""Device and inode of each input and of the links to it, or its URL; None outside of a command."""
_URL = re.compile(r"([a-z][a-z0-9+.-]+):/{1,2}(?=.)", re.I)
"""Start of a URL; a drive of Windows has one letter."""
NOT_READ = "expected a path on this machine, got a URL"
COPY_FIRST = "copy it to this machine first, and give the path of the copy"


def url_of(path: str | os.PathLike[str]) -> str:
    """Return the URL that is given as a path; empty for a path.

    >>> url_of("s3://bucket/a.run"), url_of("C:/a.run"), url_of("runs/a:/b.run")
    ('s3://bucket/a.run', '', '')
    """
    text = path.as_posix() if isinstance(path, PurePath) else os.fspath(path)
    if (url := _URL.match(text)) is None or os.path.exists(text):
        return ""
    rest = text[url.end() :]  # pathlib makes one slash of several
    return f"{url[1]}://{rest}" if url[1] != "file" else f"file:///{rest.lstrip('/')}"


def name_of(path: str | os.PathLike[str]) -> str:
    """Return a path as it was written: pathlib takes a slash from a URL."""
    return url_of(path) or os.fspath(path)


def joined(folder: Path, name: str | Path) -> Path:
    """Return a path that starts at a folder, unless it is a URL."""
    return Path(name) if url_of(name) else folder / name


def real_path(path: str | os.PathLike[str]) -> str:
    """Return the path without links, or the URL."""
    return url_of(path) or os.path.realpath(path)


def check_local(path: str | os.PathLike[str]) -> None:
    """Raise InputError if `path` is a URL."""
    if url := url_of(path):
        raise InputError(Problem(url, NOT_READ, fix=COPY_FIRST, rule="missing-file"))


@contextlib.contextmanager
def keeping_inputs(*paths: str | os.PathLike[str], apart: bool = False) -> Iterator[None]:
    """Refuse to write `paths`, and files that readers read meanwhile.

    Files that are read `apart` may be written afterwards.
    """
    outer = _INPUTS.get()
    token = _INPUTS.set(set() if outer is None or apart else outer)
    try:
        add_inputs(*paths)
        yield
    finally:
        _INPUTS.reset(token)


def add_inputs(*paths: str | os.PathLike[str]) -> None:
    """Add files that the command around must not write; those that do not exist are ignored."""
    inputs = _INPUTS.get()
    if inputs is None:
        return
    for each in paths:
        path = os.fspath(each)
        for _ in range(_MOST_LINKS):
            identity = _identity(path)
            if identity is None:
                break
            inputs.add(identity)
            if not os.path.islink(path):
                break
            path = os.path.join(os.path.dirname(path), os.readlink(path))


def is_input(path: str | os.PathLike[str]) -> bool:
    """Whether a file, or the target of a link, is an input of the running command."""
    inputs = _INPUTS.get()
    if not inputs:
        return False
    return _identity(os.fspath(path)) in inputs or _identity(os.path.realpath(path)) in inputs


def check_outputs(folder: Path, names: Iterable[str]) -> None:
    """Raise InputError if one of the files to write is an input."""
    if _INPUTS.get():
        fix = "name another file or folder for the output"
        problems = [
            Problem(name_of(folder / name), "expected a file to write, got an input", fix=fix)
            for name in dict.fromkeys(names)
            if is_input(folder / name)
        ]
        if problems:
            raise InputError(problems)


def _identity(path: str) -> _Identity | None:
    if url := url_of(path):
        return url
    try:
        state = os.lstat(path)
    except (OSError, ValueError):
        return None
    return (state.st_dev, state.st_ino) if state.st_ino else None
