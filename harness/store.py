"""Files out: written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import re
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from . import system
from .errors import HarnessError, HarnessWarning, InputError, Problem

_BLOCK = 1 << 20
LOCK = ".lock"
RECORDS = "[0-9a-f][0-9a-f]"
"""Which folders of a cache hold its records."""
_UNFINISHED = ".part"
"""How the names of files end that are being written."""
_OWN = re.compile(rf"\..+\.[a-z0-9_]{{8}}{re.escape(_UNFINISHED)}", re.S)
"""Their whole names, as :mod:`tempfile` makes them: of files named otherwise none is ours."""


def write_all(folder: Path, files: Mapping[str, bytes], *, flush: bool = True) -> None:
    """Write several files into `folder`, each whole or not at all.

    Every file is first written beside its place and flushed to the disk; only when all of them
    are there are they moved into place, in the order given. The last one (the manifest) is the
    mark that the others belong together.

    Parameters
    ----------
    folder : Path
        Made where it does not exist.
    files : mapping of str to bytes
        Contents by relative path.
    flush : bool
        Whether they are brought to the disk before they take their places: what can be computed
        again, and is checked when it is read, need not outlive a power cut.

    Raises
    ------
    HarnessError
        Where the folder cannot be written.
    """
    waiting: list[tuple[Path, Path]] = []
    try:
        for name, content in files.items():
            target = below(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, beside = tempfile.mkstemp(
                dir=target.parent, prefix=f".{target.name}.", suffix=_UNFINISHED
            )
            waiting.append((Path(beside), target))
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                if flush:
                    file.flush()
                    os.fsync(file.fileno())
            Path(beside).chmod(0o666 & ~_umask())
        while waiting:
            beside_path, target = waiting[0]
            beside_path.replace(target)
            waiting.pop(0)
    except OSError as error:
        raise HarnessError(
            Problem(
                str(error.filename or folder),
                f"cannot write the results: {error.strerror}",
                fix=f"{system.fix(error)}; nothing was left half written",
            )
        ) from error
    finally:
        for beside_path, _ in waiting:
            with contextlib.suppress(OSError):  # the next run removes it
                beside_path.unlink()


def unneeded(
    folder: Path, before: Mapping[str, str], now: Iterable[str]
) -> tuple[dict[str, str], list[str]]:
    """Return which files of earlier runs belong to no result any more.

    Parameters
    ----------
    folder : Path
    before : mapping of str to str
        SHA-256 of the files that earlier runs wrote, by name.
    now : iterable of str
        Names of those that are written now.

    Returns
    -------
    dict of str to str
        Those that can go.
    list of str
        Those that hold other bytes than were written, and are somebody's own now.
    """
    gone, own = {}, []
    for name in sorted(before.keys() - {*now}):
        with contextlib.suppress(OSError, HarnessError):
            path = below(folder, name)
            if path.is_symlink() or not path.is_file():
                continue
            if sha256(path) == before[name]:
                gone[name] = before[name]
            else:
                own.append(name)
    return gone, own


def remove(folder: Path, names: Iterable[str]) -> None:
    """Remove files of a folder of results, and folders in it that are empty then."""
    for name in names:
        path = below(folder, name)
        with contextlib.suppress(OSError):
            path.unlink()
            if path.parent != folder:
                path.parent.rmdir()


def below(folder: Path, name: str) -> Path:
    """Return where a file goes: never out of the folder, by its name or by a link in its way.

    Raises
    ------
    HarnessError
        Where it would.
    """
    target = folder / name
    parts = Path(name).parts
    leads_out = os.path.isabs(name) or ".." in parts
    between = (folder.joinpath(*parts[:n]) for n in range(1, len(parts)))
    if not leads_out and any(map(os.path.islink, between)):
        leads_out = not target.parent.resolve().is_relative_to(folder.resolve())
    if leads_out:
        what = f"'{name}' would be written outside of this folder of results"
        fix = "move the link that leads out of it away, or name another folder"
        raise HarnessError(Problem(str(folder), what, fix=fix))
    return target


@contextlib.contextmanager
def locked(folder: Path, within: Iterable[str] = ()) -> Iterator[None]:
    """Hold a folder of results against other runs; wait where another holds it, and say so.

    The lock is the system's, on a file in the folder: it ends with the process that holds it,
    however that ends. What runs left unfinished that were killed is removed, from the folder and
    from those `within` that results are written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = _lock_file(folder)
    except OSError as error:
        what = f"cannot write the results: {error.strerror}"
        raise HarnessError(
            Problem(str(error.filename or folder), what, fix=system.fix(error))
        ) from error
    with file:
        alone = _lock(file, wait=False)
        if alone is False:
            what = f"{folder}: another run writes here; waiting until it is done"
            warnings.warn(what, HarnessWarning, stacklevel=3)
            alone = _lock(file)
        if alone:
            remove_unfinished(folder, *(folder / name for name in within))
        yield


@contextlib.contextmanager
def shared(folder: Path | None) -> Iterator[int]:
    """Write to a folder beside other runs; give how many files of dead ones were removed.

    Whoever comes when no other run is there removes what was left unfinished.
    """
    try:
        if folder is None:
            raise OSError
        folder.mkdir(parents=True, exist_ok=True)
        file = _lock_file(folder)
    except OSError:  # it may be read all the same
        yield 0
        return
    with file:
        alone = _lock(file, wait=False)
        removed = remove_unfinished(folder, *folder.glob(RECORDS)) if alone else 0
        _lock(file, alone=False)
        yield removed


def _lock_file(folder: Path) -> IO[bytes]:
    """Return the file that a folder is locked by, made where it is none.

    A link is not followed, as its target may be elsewhere, and nothing waits for a pipe's reader.
    """
    path = folder / LOCK
    if path.is_symlink():
        raise OSError(errno.ELOOP, "the lock is a link, which is not followed", str(path))
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return open(path, "ab", opener=lambda name, mode: os.open(name, mode | flags, 0o666))


def _lock(file: IO[bytes], *, alone: bool = True, wait: bool = True) -> bool | None:
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


def remove_unfinished(*folders: Path) -> int:
    """Remove files that were being written when their run was killed; return how many.

    Nobody may be writing there. Folders, links and files named otherwise stay; nothing is looked
    for behind a link but the first folder.
    """
    removed = 0
    for place, folder in enumerate(folders):
        if not folder.is_dir() or (place and folder.is_symlink()):
            continue
        with os.scandir(folder) as found:
            left = [
                one for one in found
                if _OWN.fullmatch(one.name) and one.is_file(follow_symlinks=False)
            ]  # fmt: skip
        for one in left:
            with contextlib.suppress(OSError):  # it does no harm where it is
                os.unlink(one.path)
                removed += 1
    return removed


def check_writable(folder: Path) -> None:
    """Raise where `folder` could not be written to, before any work is done; makes nothing.

    Raises
    ------
    HarnessError
    """
    there = folder.resolve()
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        what, fix = "is a file, not a folder", "name another folder, or move the file away"
    elif not os.access(there, os.W_OK | os.X_OK):
        what, fix = "may not be written to", "name another folder, or change its permissions"
    else:
        return
    raise HarnessError(Problem(str(folder), f"no place for the results: {there} {what}", fix=fix))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def parquet(tables: Iterable[pa.Table]) -> bytes:
    """Return tables, one after the other, as the bytes of a Parquet file (zstd).

    Raises
    ------
    StopIteration
        Where there is none.
    """
    tables = iter(tables)
    table: Any = next(tables)
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, table.schema, compression="zstd") as file:
        while table is not None:
            file.write_table(table)
            del table  # before the next is made
            table = next(tables, None)
    return sink.getvalue()


def state_of(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """Return what changes where the bytes of a file do: size, two times, inode.

    Raises
    ------
    InputError
        Where the file is gone.
    """
    try:
        found = os.stat(path)
    except OSError as error:
        what = f"cannot be looked at: {error.strerror}"
        fix = "put it back where it was, and run again"
        raise InputError(Problem(os.fspath(path), what, fix=fix)) from error
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
