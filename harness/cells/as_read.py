"""Files as they were read, and whether they are still so."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Container, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ..errors import InputError, Problem
from ..store import sha256, state_of

CHANGED = "changed while the run was going"


class Input(NamedTuple):
    """A file as it was read: what told its state before, and the SHA-256 of its bytes."""

    state: tuple[int, ...]
    digest: str

    @property
    def size(self) -> int:
        """The bytes it had."""
        return self.state[0]


def as_read(path: str, before: tuple[int, ...], digest: Callable[[], str]) -> Input:
    """Return a file that was read, and what `digest` gives of it.

    Raises
    ------
    InputError
        Where its size, time of change or inode are not those of `before`: values may follow from
        other bytes than the hash does. One that is gone meanwhile was read.
    """
    found = Input(before, digest())
    if os.path.isfile(path):  # a pipe changes as it is read
        size, changed, _, inode = state_of(path)
        if (size, changed, inode) != (before[0], before[1], before[3]):
            raise has_changed(path)
    return found


def if_readable(path: str, before: tuple[int, ...], hashed: Callable[[str], Input]) -> Input | None:
    """Return a file and its hash; None where it cannot be read, or is not as it was `before`."""
    with contextlib.suppress(OSError, InputError):
        if before and os.path.isfile(path):
            return as_read(path, before, lambda: hashed(path).digest)
    return None


def has_changed(path: str) -> InputError:
    """Return the error of a cell one of whose files changed while it, or others, read it."""
    what = f"{CHANGED}: other values follow from other bytes"
    fix = "run again when nothing writes to it; what is known by then is not computed again"
    return InputError(Problem(path, what, fix=fix))


def state_if_there(path: str) -> tuple[int, ...]:
    """Return what changes where the bytes of a file do; nothing where it is gone."""
    try:
        return state_of(path)
    except InputError:
        return ()


def changed_since(inputs: Mapping[str, Input], told: Container[str]) -> Iterator[str]:
    """Yield a sentence for each file whose bytes are not those that were read.

    Nothing of those in `told`, of which an error tells that already.
    """
    for path, read in inputs.items():
        became = "" if path in told else _became(path, read)
        if became:
            yield (
                f"{path}: {became} while the run was going, after its values were computed: "
                f"results follow from the {read.size:,} bytes that were read, whose hash the "
                "manifest has; run again, when nothing writes to it, to have them of what is there"
            )


def _became(path: str, read: Input) -> str:
    state = state_if_there(path)
    if not state:
        return "deleted or moved"
    if state == read.state or not os.path.isfile(path):
        return ""
    try:
        same = state[0] == read.size and sha256(Path(path)) == read.digest
    except OSError:
        same = False
    return "" if same else "changed"
