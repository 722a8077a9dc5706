"""Evaluated cells, kept by what they follow from, and the hashes of the files that they read."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from ..errors import HarnessError, InputError
from ..files import sha256, state_of, write_all
from ..readers.json_dict import parse
from ..readers.source import no_permission
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


class Input(NamedTuple):
    """A file as it was read: its state (size, times, inode) and the SHA-256 of its bytes."""

    state: tuple[int, ...]
    digest: str

    @property
    def size(self) -> int:
        """Bytes."""
        return self.state[0]


class Hashed(NamedTuple):
    """A file's hash in the index; `is_settled` if its state would differ if it had changed."""

    state: tuple[int, ...]
    is_settled: bool
    digest: str


@dataclass(eq=False)
class Cache:
    """A folder of records, and an index of the hashes of their input files.

    A record is written whole or not at all, and read only under the hash of all that it follows
    from, so a cache is never stale and can be shared, copied and deleted at any time.

    Parameters
    ----------
    folder : Path, optional
        None keeps nothing.
    """

    folder: Path | None
    _index: dict[str, Hashed] = field(default_factory=dict, init=False)
    _names: set[str] = field(default_factory=set, init=False)
    _sizes: set[int] = field(default_factory=set, init=False)
    _knows_sizes: bool = field(default=True, init=False)
    _changed: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if self.folder is not None:
            index = _read_index(self.folder / INDEX) or ({}, set(), set())
            self._index, self._sizes, indexed = index
            self._names = {path.stem for path in self.records()}
            # records of a killed run, or of one at the same time, may be of files not in the index
            self._knows_sizes = self._names <= indexed
            self._changed = not self._knows_sizes

    def known(self, path: str) -> Input | None:
        """Return a file's state and hash; None if its hash is not known and not needed yet.

        No record can be of a file whose size no earlier file had; its hash is taken while it is
        read. A file that may not be read is None too: its reader reports that.
        """
        state = state_of(path)
        if self.folder is None or (self._knows_sizes and state[0] not in self._sizes):
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
            return Input(state, known.digest)
        try:
            read = Input(state, sha256(Path(path)))
        except PermissionError as error:
            raise no_permission(path) from error
        self.remember(path, read)
        return read

    def remember(self, path: str, read: Input) -> None:
        """Keep a file's hash in the index."""
        is_settled = time.time_ns() - max(read.state[1:3]) > _RECENT
        self._index[self._key_of(path)] = Hashed(read.state, is_settled, read.digest)
        self._sizes.add(read.size)
        self._changed = True

    def get(self, key: str) -> Record | None:
        """Return the record of that name; None if there is none that can be read."""
        if self.folder is None:
            return None
        try:
            return Record.from_parquet((self.folder / _name(key)).read_bytes())
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
            return None

    def put(self, key: str, record: Record) -> None:
        """Keep a record."""
        if self.folder is not None:
            self._mark(self.folder)
            self._names.add(key)
            write_all(self.folder, {_name(key): record.to_parquet()}, flush=False)

    def save(self) -> None:
        """Write the index, and the marker if there are records."""
        if self.folder is None:
            return
        if self._names:
            self._mark(self.folder)
        if self._changed:
            known = {"sizes": sorted(self._sizes), "records": sorted(self._names)}
            text = json.dumps({"files": self._index, **known}, indent=0)
            with contextlib.suppress(HarnessError):  # it can be found out again
                write_all(self.folder, {INDEX: text.encode()}, flush=False)
            self._changed = False

    @staticmethod
    def _mark(folder: Path) -> None:
        """Mark the folder as a cache; without the marker, nothing in it is ever deleted."""
        if not is_marked(folder):
            with contextlib.suppress(HarnessError):  # a cache that may only be read needs none
                write_all(folder, {MARKER: _MARK}, flush=False)

    def records(self) -> Iterator[Path]:
        """Yield the files of all records in order; links and other files are left out."""
        for path in sorted((self.folder or Path()).glob("??/*.parquet")) if self.folder else ():
            if (
                _RECORD.fullmatch(path.name)
                and path.name[:2] == path.parent.name
                and not path.parent.is_symlink()
                and not path.is_symlink()
                and path.is_file()
            ):
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
    found = [MARKER] if (folder / MARKER).exists() else []
    if (folder / INDEX).exists() and _read_index(folder / INDEX) is None:
        found.append(INDEX)
    return found


def _read_index(path: Path) -> tuple[dict[str, Hashed], set[int], set[str]] | None:
    """Return files, sizes and records of an index; None if it is missing or something else."""
    try:
        content: Mapping[str, Any] = parse(path.read_bytes())
        files = {
            str(name): Hashed(tuple(map(int, state)), bool(is_settled), str(digest))
            for name, (state, is_settled, digest) in content["files"].items()
        }
        return files, {*map(int, content["sizes"])}, {*map(str, content["records"])}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None
