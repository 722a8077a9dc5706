"""Evaluated cells, kept by what they follow from."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import HarnessError, InputError
from ..readers.json_text import parse
from ..readers.on_disk import no_permission
from ..store import sha256, state_of, write_all
from .as_read import Input
from .record import Record, sizes_of

INDEX = "inputs.json"
_RECENT = 2_000_000_000
"""Nanoseconds: a file changed so shortly before it was read could change again unseen."""


@dataclass(eq=False)
class Cache:
    """A folder of records, and what is known of the files they were computed from.

    A record is written whole or not at all, and read only under the hash of all that it follows
    from, so a cache is never stale and can be shared, copied and deleted at any time.

    Parameters
    ----------
    folder : Path, optional
        None keeps nothing.
    """

    folder: Path | None
    _index: dict[str, list[Any]] = field(default_factory=dict, init=False)
    _changed: bool = field(default=False, init=False)
    _sizes: set[int] = field(default_factory=set, init=False)
    _names: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        if self.folder is None:
            return
        records = {path.stem: path for path in self.records()}
        try:
            found = parse((self.folder / INDEX).read_bytes())
            index = {
                str(path): [*map(int, state), str(digest)]
                for path, (*state, digest) in found["files"].items()
            }
            sizes, names = {int(size) for size in found["sizes"]}, {*map(str, found["records"])}
        except (
            OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError,
        ):  # fmt: skip
            index, sizes, names = {}, set(), set()
        self._index, self._names = index, {*records}
        # of a run that was killed, or one beside this, there are records that the index lacks
        lacking = [records[name] for name in records.keys() - names]
        self._sizes = sizes.union(*map(sizes_of, lacking))
        self._changed = bool(lacking)

    def known(self, path: str) -> Input | None:
        """Return a file's state and hash; None where it is not known and need not be.

        It is known where the file has not been touched since. It need not be known where no file
        of that size was ever read: then no record can follow from it, and the hash is taken while
        the file is read. Where it may not be read its reader says so, which fails its cell alone.
        """
        state = state_of(path)
        found = self._index.get(os.path.abspath(path))
        if found is not None and found[:-1] == [*state]:
            return Input(state, str(found[-1]))
        if self.folder is None or state[0] not in self._sizes:
            return None
        try:
            return self._read(path, state)
        except InputError:
            return None

    def hashed(self, path: str) -> Input:
        """Return a file's state and hash, read for it where it is not known.

        Raises
        ------
        InputError
            Where it is gone, or may not be read.
        """
        state = state_of(path)
        found = self._index.get(os.path.abspath(path))
        if found is not None and found[:-1] == [*state]:
            return Input(state, str(found[-1]))
        return self._read(path, state)

    def _read(self, path: str, state: tuple[int, ...]) -> Input:
        try:
            found = sha256(Path(path))
        except PermissionError as error:
            raise no_permission(path) from error
        self.remember(path, state, found)
        return Input(state, found)

    def remember(self, path: str | Path, state: Sequence[int], digest: str) -> None:
        """Take note of a file's hash, as long as it stays in the state it was in before."""
        if time.time_ns() - max(state[1], state[2]) > _RECENT:
            self._index[os.path.abspath(path)] = [*state, digest]
        self._sizes.add(state[0])
        self._changed = True

    def get(self, key: str) -> Record | None:
        """Return the record of that name; None where there is none, or none that can be read."""
        if self.folder is None:
            return None
        try:
            return Record.from_parquet(self._path(key).read_bytes())
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
            return None

    def put(self, key: str, record: Record) -> None:
        """Keep a record."""
        if self.folder is not None:
            path = self._path(key)
            self._names.add(key)
            name = path.relative_to(self.folder).as_posix()
            write_all(self.folder, {name: record.to_parquet()}, flush=False)

    def save(self) -> None:
        """Write what is known of the inputs."""
        if self.folder is not None and self._changed:
            known = {"sizes": sorted(self._sizes), "records": sorted(self._names)}
            found = {"files": self._index, **known}
            text = json.dumps(found, indent=0)
            with contextlib.suppress(HarnessError):  # it can be found out again
                write_all(self.folder, {INDEX: text.encode()}, flush=False)
            self._changed = False

    def records(self) -> Iterator[Path]:
        """Yield the files of all records."""
        if self.folder is not None and self.folder.is_dir():
            yield from sorted(self.folder.glob("??/*.parquet"))

    def _path(self, key: str) -> Path:
        return (self.folder or Path()) / key[:2] / f"{key}.parquet"
