"""How many bytes of all files have been read, as a bar."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from types import TracebackType

from tqdm import tqdm

from ..escaping import legible
from ..readers.hashed import HashedSource

_SHOWN = 40
"""Characters of a file's name beside the bar, at most: the last ones."""


class Progress:
    """A bar over the bytes of some files, on a terminal alone.

    Parameters
    ----------
    paths : iterable of str
        Files, each as often as it is read.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._bar = tqdm(
            total=sum(map(_size, paths)), unit="B", unit_scale=True, disable=None, leave=False
        )

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._bar.close()

    @contextlib.contextmanager
    def file(self, path: str) -> Iterator[FileProgress]:
        """Show that a file is read; at the end it counts as read, however it was."""
        self._bar.set_postfix_str(legible(path[-_SHOWN:]), refresh=True)
        reader = FileProgress(self._bar, _size(path))
        try:
            yield reader
        finally:
            reader.add(reader.left)


class FileProgress:
    """Counts the bytes of one file as they pass, each once."""

    def __init__(self, bar: tqdm[None], left: int) -> None:
        self._bar, self.left = bar, left

    def follow(self, source: HashedSource) -> HashedSource:
        """Count what a source reads; return it."""
        source.tell = self.add
        return source

    def add(self, n: int) -> None:
        """Count some bytes; a file that is read again is not counted again."""
        n = min(n, self.left)
        self.left -= n
        self._bar.update(n)


def _size(path: str) -> int:
    """Return the size of a file; 0 where it is none, as a pipe or one that is not there."""
    with contextlib.suppress(OSError):
        return os.path.getsize(path)
    return 0
