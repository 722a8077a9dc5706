"""Evaluated cells, kept by what they follow from, and the hashes of the files that they read."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from ..errors import HarnessError, InputError, Problem
from ..files import sha256, state_of, write_all
from .cell_record import Record

INDEX, MARKER = "inputs.json", "CACHEDIR.TAG"
_MARK = b"""Signature: 8a477f597d28d172789f06886806bc55
# This folder is a cache of ranking-harness: every file in it can be computed again.
# CACHEDIR.TAG is described at https://bford.info/cachedir/
"""
"""Content of the marker: backup programs know the first line, and the second one is ours."""
_RECORD = re.compile(r"[0-9a-f]{64}\.parquet")
_RECENT = 2_000_000_000
"""Nanoseconds: a file changed so shortly before it was read could change again unseen."""
DAMAGED = (OSError, ValueError, KeyError, TypeError, pa.ArrowException)
"""What reading a damaged record raises."""


class Input(NamedTuple):
    """A file as it was read: its state (size, times, inode) and the SHA-256 of its bytes.

    The state of a file that is not settled might stay the same when its bytes change.
    """

    state: tuple[int, ...]
    digest: str
    is_settled: bool = False

    @property
    def size(self) -> int:
        """Bytes."""
        return self.state[0]


class Cache:
    """A folder of records, and an index of the hashes of their input files.

    A record is written whole or not at all, and read only under the hash of all that it follows
    from, so a cache is never stale and can be shared, copied and deleted at any time.

    Parameters
    ----------
    folder : Path, optional
        None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._n_records = sum(1 for _ in self.records())
        self._index, n_indexed = _read_index(folder / INDEX) if folder else ({}, 0)
        self._sizes = {read.size for read in self._index.values()}
        self._knows_sizes = self._n_records <= n_indexed
        self._is_changed = not self._knows_sizes

    def known(self, path: str) -> Input | None:
        """Return a file's state and hash; None if no record can be of it, or it is unreadable.

        The hash of a file whose size no earlier file had is taken while it is read. A killed run
        leaves records of files that are not in the index.
        """
        if self.folder is None:
            return None
        if self._knows_sizes and state_of(path)[0] not in self._sizes:
            return None
        with contextlib.suppress(InputError):
            return self.hashed(path)
        return None

    def hashed(self, path: str) -> Input:
        """Return a file's state and hash.

        Raises
        ------
        InputError
            If it is gone, or may not be read.
        """
        state, known = state_of(path), self._index.get(self._key_of(path))
        if known is not None and known.is_settled and known.state == state:
            return known
        try:
            read = Input(state, sha256(Path(path)))
        except OSError as error:
            raise InputError(Problem(path, f"cannot be read: {error.strerror}")) from error
        self.remember(path, read)
        return read

    def remember(self, path: str, read: Input) -> None:
        """Keep a file's hash in the index."""
        is_settled = time.time_ns() - max(read.state[1:3]) > _RECENT
        self._index[self._key_of(path)] = read._replace(is_settled=is_settled)
        self._sizes.add(read.size)
        self._is_changed = True

    def get(self, key: str) -> Record | None:
        """Return the record of that name; None if there is none that can be read."""
        if self.folder is None:
            return None
        try:
            return Record.from_parquet((self.folder / _name(key)).read_bytes())
        except DAMAGED:
            return None

    def put(self, key: str, record: Record) -> None:
        """Keep a record."""
        if self.folder is not None:
            self._mark(self.folder)
            self._n_records += not (self.folder / _name(key)).exists()
            write_all(self.folder, {_name(key): record.to_parquet()}, flush=False)

    def save(self) -> None:
        """Write the index and the marker."""
        if self.folder is None or not self._is_changed:
            return
        text = json.dumps({"files": self._index, "records": self._n_records}, indent=0)
        with contextlib.suppress(HarnessError):  # it can be computed again
            self._mark(self.folder)
            write_all(self.folder, {INDEX: text.encode()}, flush=False)

    @staticmethod
    def _mark(folder: Path) -> None:
        """Mark the folder as a cache; without the marker, nothing in it is ever deleted."""
        if not is_marked(folder):
            with contextlib.suppress(HarnessError):  # a cache for reading alone needs none
                write_all(folder, {MARKER: _MARK}, flush=False)

    def records(self) -> Iterator[Path]:
        """Yield the files of all records in order; links and other files are left out."""
        for path in sorted(self.folder.glob("??/*.parquet")) if self.folder else ():
            is_named = _RECORD.fullmatch(path.name) and path.name[:2] == path.parent.name
            if is_named and not path.parent.is_symlink() and not path.is_symlink():
                yield path

    def _key_of(self, path: str) -> str:
        """Return the path from the cache, which holds when both are moved together."""
        return os.path.relpath(os.path.abspath(path), os.path.abspath(self.folder or ""))


def _name(key: str) -> str:
    return f"{key[:2]}/{key}.parquet"


def is_marked(folder: Path) -> bool:
    """Return whether a folder holds the marker that :class:`Cache` writes."""
    marker = folder / MARKER
    try:
        return not marker.is_symlink() and marker.read_bytes() == _MARK
    except OSError:
        return False


def foreign(folder: Path) -> list[str]:
    """Return the files of other programs that a cache in this folder would write over."""
    if is_marked(folder):
        return []
    return [name for name in (MARKER, INDEX) if (folder / name).exists()]


def _read_index(path: Path) -> tuple[dict[str, Input], int]:
    """Return the files of an index and its number of records; none if it cannot be read."""
    try:
        content = json.loads(path.read_bytes())
        files = {
            str(name): Input(tuple(map(int, state)), str(digest), bool(is_settled))
            for name, (state, digest, is_settled) in content["files"].items()
        }
        return files, int(content["records"])
    except (*DAMAGED, AttributeError, ArithmeticError, RecursionError):
        return {}, 0
