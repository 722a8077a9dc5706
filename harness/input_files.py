"""Input files of a command: whatever it is asked for, it never writes one.

A command runs in `keeping_inputs`. Readers add the files that they read, and commands those
that they are going to read; whoever writes asks `check_outputs` first.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path

from .errors import InputError, Problem

_MOST_LINKS = 40  # as on Linux
_INPUTS: ContextVar[set[tuple[int, int]] | None] = ContextVar("inputs", default=None)
"""Device and inode of each input and of the links to it; None outside of a command."""


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
    """Whether a file, or a link or what it leads to, is an input of the command around."""
    inputs = _INPUTS.get()
    if not inputs:
        return False
    return _identity(os.fspath(path)) in inputs or _identity(os.path.realpath(path)) in inputs


def check_outputs(folder: Path, names: Iterable[str]) -> None:
    """Raise InputError if one of the files to write is an input."""
    if _INPUTS.get():
        fix = "name another file or folder for the output"
        problems = [
            Problem(str(folder / name), "expected a file to write, got an input", fix=fix)
            for name in dict.fromkeys(names)
            if is_input(folder / name)
        ]
        if problems:
            raise InputError(problems)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        state = os.lstat(path)
    except (OSError, ValueError):
        return None
    return (state.st_dev, state.st_ino) if state.st_ino else None
