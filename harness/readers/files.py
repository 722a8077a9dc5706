"""Files written whole or not at all, their names and hashes, and locks on folders.

A lock ends with its process, even if that is killed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import itertools
import os
import re
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ..errors import HarnessError, InputError, Problem, legible, warn
from ..input_files import check_outputs, is_input, name_of, url_of
from . import remote

if TYPE_CHECKING:
    import pyarrow as pa

LOCK = ".lock"
"""The file by which a folder is held."""
RECORDS = "[0-9a-f][0-9a-f]"
"""Folders of a cache with its records."""
ABANDONED = 3600
"""Seconds since a file of a cache was last written to, from which on nothing writes to it."""
_UNFINISHED = re.compile(r"\..+\.[a-z0-9_]{8}\.part", re.S)
"""Names of files that are being written, as `tempfile` makes them."""
LONGEST_FILE_NAME = 200
"""Bytes of a name: file systems take 255, with an ending and while it is written."""
_RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³])(\..*)?", re.I | re.S)


@contextlib.contextmanager
def locked(folder: Path, within: Iterable[str] = ()) -> Iterator[None]:
    """Lock a results folder against other runs; warn and wait if another run has the lock.

    Files that killed runs left unfinished are removed, from the folder and from those `within` it.
    """
    if url := url_of(folder):  # which nothing locks, but which must take files
        remote.write(f"{url}/{LOCK}", b"")
        yield
        return
    from filelock import FileLock, Timeout  # imports in 80 ms

    path = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            raise OSError(errno.ELOOP, "the lock is a link, which is not followed", str(path))
        path.open("ab").close()
    except OSError as error:
        raise _not_written(error, folder) from error
    lock = FileLock(path, fallback_to_soft=False)
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError, NotImplementedError):  # the system has no locks
            try:
                held.enter_context(lock.acquire(timeout=0))
            except Timeout:
                message = f"{folder}: another run writes here; waiting until it is done"
                warn(message)
                held.enter_context(lock.acquire())
        if lock.is_locked:
            remove_unfinished(folder, *(folder / name for name in within))
        yield


def remove_unfinished(*folders: Path, age: float = 0) -> int:
    """Remove unfinished files of killed processes; return their number.

    The caller has the lock of the first folder, or gives the `age` in seconds after which a file
    counts as unfinished. A link to another folder than the first is not followed.
    """
    removed, latest = 0, time.time() - age
    for place, folder in enumerate(folders):
        for path in folder.glob(".*.part") if place == 0 or not folder.is_symlink() else ():
            if _UNFINISHED.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                with contextlib.suppress(OSError):
                    if path.stat().st_mtime <= latest or not age:
                        path.unlink()
                        removed += 1
    return removed


def write_all(folder: Path, files: Mapping[str, bytes], *, flush: bool = True) -> None:
    """Write several files into `folder`, each whole or not at all; HarnessError if it cannot.

    All are written under temporary names first and then moved into place in the order given. The
    last one (the manifest) shows that the others belong together. Without `flush` they need not
    outlive a power cut. Below a URL each is written whole, one after the other. InputError, before
    any is written, if one is an input.
    """
    check_outputs(folder, files)
    if url := url_of(folder):
        for name, content in files.items():
            remote.write(f"{url}/{name}", content)
        return
    waiting: list[tuple[Path, Path]] = []  # files and their places
    try:
        for name, content in files.items():
            with _begun(below(folder, name), waiting, flush=flush) as file:
                file.write(content)
        while waiting:
            waiting[0][0].replace(waiting[0][1])
            waiting.pop(0)
    except OSError as error:
        raise _not_written(error, folder) from error
    finally:
        for unfinished, _ in waiting:
            with contextlib.suppress(OSError):  # the next run removes it
                unfinished.unlink()


@contextlib.contextmanager
def _begun(
    target: Path, waiting: list[tuple[Path, Path]], *, flush: bool = True
) -> Iterator[IO[bytes]]:
    """Give a new file with a temporary name, and add it to those waiting for their places."""
    os.umask(mask := os.umask(0))
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(".part", f".{target.name}.", target.parent)
    waiting.append((Path(name), target))
    file = os.fdopen(handle, "wb")
    try:
        yield file
        file.flush()
        if flush:
            os.fsync(handle)
        Path(name).chmod(0o666 & ~mask)
    finally:
        with contextlib.suppress(OSError):  # a full disk refuses the rest of the buffer again
            file.close()


def _not_written(error: OSError, where: Path) -> HarnessError:
    message = f"cannot be written: {error.strerror}"
    fix = "free space or write to another folder; nothing was left half written"
    return HarnessError(Problem(str(error.filename or where), message, fix=fix))


def compare_recorded(
    folder: Path, recorded: Mapping[str, Collection[str]]
) -> tuple[dict[str, str], list[str]]:
    """Return the unedited files with their SHA-256, and the names of the edited ones.

    `recorded` has the hashes of the contents that earlier runs wrote, by name.
    """
    unedited: dict[str, str] = {}
    edited = []
    for name in sorted(recorded):
        with contextlib.suppress(OSError, HarnessError):
            path = below(folder, name)
            if path.is_symlink() or not is_file(path):
                continue
            if (digest := sha256(path)) in recorded[name]:
                unedited[name] = digest
            else:
                edited.append(name)
    return unedited, edited


def check_own(folder: Path, names: Iterable[str], own: Collection[str], *, force: bool) -> None:
    """Raise InputError if one of the files to write exists and is not our `own`, unless forced."""
    candidates = [] if force else [name for name in dict.fromkeys(names) if name not in own]
    foreign = [n for n in candidates if is_file(folder / n) or os.path.lexists(folder / n)]
    if foreign:
        message = "expected only files that harness wrote, got others, or files edited since: "
        fix = "move them away, name another folder, or replace them with --force"
        raise InputError(Problem(name_of(folder), message + ", ".join(foreign), fix=fix))


def remove(folder: Path, names: Iterable[str]) -> None:
    """Remove files of a folder of results but inputs, and folders in it that are empty then."""
    for name in names:
        path = below(folder, name)
        if is_input(path):
            continue
        if url := url_of(path):
            remote.delete(url)
            continue
        with contextlib.suppress(OSError):
            path.unlink()
            if path.parent != folder:
                path.parent.rmdir()


def below(folder: Path, name: str) -> Path:
    """Return the path of a file; HarnessError if its name or a link leads out of the folder."""
    target, parts = folder / name, Path(name).parts
    leads_out = os.path.isabs(name) or ".." in parts
    if not leads_out and any((folder.joinpath(*parts[:n])).is_symlink() for n in range(len(parts))):
        leads_out = not target.parent.resolve().is_relative_to(folder.resolve())
    if leads_out:
        message = f"'{name}' would be written outside of this folder of results"
        fix = "move the link that leads out of it away, or name another folder"
        raise HarnessError(Problem(str(folder), message, fix=fix))
    return target


def check_writable(folder: Path) -> None:
    """Raise HarnessError if `folder` could not be written to, before any work; makes nothing."""
    if url_of(folder):  # writing the lock finds out
        return
    existing = folder.resolve()
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return
    message = "may not be written to" if existing.is_dir() else "is a file, not a folder"
    fix = "name another folder, or change its permissions"
    message = f"no place for the results: {existing} {message}"
    raise HarnessError(Problem(str(folder), message, fix=fix))


def parquet(tables: Iterable[pa.Table], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return tables, one after the other, as the bytes of a Parquet file (zstd)."""
    import pyarrow.parquet as pq

    tables = iter(tables)
    first_table = next(tables)
    sink = io.BytesIO()
    schema = first_table.schema.with_metadata(metadata)
    with pq.ParquetWriter(sink, schema, compression="zstd") as file:
        for table in itertools.chain([first_table], tables):
            file.write_table(table)
    return sink.getvalue()


def state_of(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """State of a file that changes with its bytes: size, two times, inode; else InputError.

    In a store, a mark of the content stands for the inode, and the times are 0.
    """
    if url := url_of(path):
        return remote.state_of(url)
    try:
        status = os.stat(path)
    except OSError as error:
        gone = isinstance(error, FileNotFoundError)
        message = "deleted or moved during the run" if gone else str(error.strerror)
        rule, fix = "missing-file" if gone else "", "put it back and run again"
        raise InputError(Problem(os.fspath(path), message, fix=fix, rule=rule)) from error
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def hashes_of(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the SHA-256 of contents by name, in hexadecimal."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether a path or a URL is a regular file."""
    return remote.exists(url) if (url := url_of(path)) else os.path.isfile(path)


def read_file(path: Path) -> bytes:
    """Return the content of a file at a path or a URL."""
    return remote.read(url) if (url := url_of(path)) else path.read_bytes()


def sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file at a path or a URL, in hexadecimal."""
    copy = remote.fetched(url) if (url := url_of(path)) else None
    digest = hashlib.sha256()
    with open(copy.path if copy else path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def wrong_with(name: str) -> str:
    """Return the reason why a name is not valid on every system; empty if it is."""
    if not name.strip():
        return "is empty"
    for sign in name:
        if sign in '/\\<>:"|?*' or legible(sign) != sign:
            return f"contains '{legible(sign)}'"
    if name[0] == ".":
        return "begins with a dot"
    if name[-1] in ". ":
        return "ends with a dot or a blank"
    if _RESERVED.fullmatch(name):
        return "is reserved on Windows"
    n = len(name.encode())
    return f"has {n} bytes, and at most {LONGEST_FILE_NAME} fit" if n > LONGEST_FILE_NAME else ""


def readable_name(name: str) -> str:
    """Return a file's name as text, with bytes that are not UTF-8 as escapes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def part(text: str) -> str:
    """Return `text` as a part of a file name that every system and LaTeX take."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-")[:60].strip("-") or "x"
