"""Files out: written whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from . import locks, system
from .errors import HarnessError, HarnessWarning, InputError, Problem

_BLOCK = 1 << 20
RECORDS = "[0-9a-f][0-9a-f]"
"""Which folders of a cache hold its records."""


def write_all(
    folder: Path, files: Mapping[str, bytes], *, flush: bool = True, alone: bool = True
) -> None:
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
    alone : bool
        Whether the caller has the folder's lock. Otherwise each file is held itself, and what was
        left of these very files by a process that was killed is removed.

    Raises
    ------
    HarnessError
        Where the folder cannot be written.
    """
    with _together(folder, flush=flush, alone=alone) as begin:
        for name, content in files.items():
            with begin(below(folder, name)) as file:
                file.write(content)


@contextlib.contextmanager
def writing(target: Path, mode: int | None = None) -> Iterator[IO[bytes]]:
    """Give a file to write that takes its place when it is whole, for what is not all in memory.

    Parameters
    ----------
    target : Path
        Its folder is made where it does not exist. What was left of this very file by a process
        that was killed is removed.
    mode : int, optional
        Its permissions; those of any new file where left out.

    Raises
    ------
    HarnessError
        Where it cannot be written.
    """
    with (
        _together(target, flush=True, alone=False, mode=mode) as begin,
        begin(target) as file,
    ):
        yield file


@contextlib.contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make a folder, and take it away again where what follows fails and leaves it empty."""
    missing = [*itertools.takewhile(lambda one: not one.exists(), (folder, *folder.parents))]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for one in missing:
            with contextlib.suppress(OSError):
                one.rmdir()
        raise


@contextlib.contextmanager
def _together(
    where: Path, *, flush: bool, alone: bool, mode: int | None = None
) -> Iterator[Callable[[Path], contextlib.AbstractContextManager[IO[bytes]]]]:
    """Give what begins a file; at the end all take their places, or none where anything fails."""
    waiting: list[tuple[Path, Path]] = []
    mode = 0o666 & ~_umask() if mode is None else mode
    with contextlib.ExitStack() as held:

        @contextlib.contextmanager
        def begin(target: Path) -> Iterator[IO[bytes]]:
            held.enter_context(made(target.parent))
            if not alone:
                locks.remove_unfinished(target.parent, names=[target.name])
            file, beside = locks.begin(target)
            waiting.append((beside, target))
            held.callback(_close, file)
            yield file
            file.flush()
            if flush:
                os.fsync(file.fileno())
            beside.chmod(mode)
            if alone:
                file.close()  # nobody removes it

        try:
            yield begin
            while waiting:
                beside, target = waiting[0]
                beside.replace(target)
                waiting.pop(0)
        except OSError as error:
            raise HarnessError(
                Problem(
                    str(error.filename or where),
                    f"{'cannot write the results' if alone else 'cannot be written'}: "
                    f"{error.strerror}",
                    fix=f"{system.fix(error)}; nothing was left half written",
                )
            ) from error
        finally:
            for beside, _ in waiting:
                with contextlib.suppress(OSError):  # the next run removes it
                    beside.unlink()


def _close(file: IO[bytes]) -> None:
    with contextlib.suppress(OSError):  # where writing failed, what was left in the buffer fails
        file.close()


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
def locked(folder: Path, within: Iterable[str] = ()) -> Iterator[Callable[[], None]]:
    """Hold a folder of results against other runs; wait where another holds it, and say so.

    What runs left unfinished that were killed is removed, from the folder and from those `within`
    that results are written to. Gives what holds the folder again where it was deleted meanwhile,
    and another run may have made it anew: to be called before anything is written.
    """
    places, file = [folder, *(folder / name for name in within)], None
    with contextlib.ExitStack() as held:

        def hold() -> None:
            nonlocal file
            if file is None or not locks.is_at(file, folder / locks.LOCK):
                file = held.enter_context(_alone(folder))
                if locks.lock(file, wait=False):  # the system has locks at all
                    locks.remove_unfinished(*places)

        hold()
        yield hold


def _alone(folder: Path) -> IO[bytes]:
    """Return the locked file of a folder; the one that is there when it is locked.

    Who waits for a file holds nothing where that was deleted under way.
    """
    warned = False
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = locks.lock_file(folder)
        except OSError as error:
            what = f"cannot write the results: {error.strerror}"
            raise HarnessError(
                Problem(str(error.filename or folder), what, fix=system.fix(error))
            ) from error
        alone = locks.lock(file, wait=False)
        if alone is False:
            if not warned:
                what = f"{folder}: another run writes here; waiting until it is done"
                warnings.warn(what, HarnessWarning, stacklevel=6)
                warned = True
            alone = locks.lock(file)
        if alone is None or locks.is_at(file, folder / locks.LOCK):
            return file
        file.close()


@contextlib.contextmanager
def shared(folder: Path | None) -> Iterator[int]:
    """Write to a folder beside other runs; give how many files of dead ones were removed.

    Whoever comes when no other run is there removes what was left unfinished.
    """
    try:
        if folder is None:
            raise OSError
        folder.mkdir(parents=True, exist_ok=True)
        file = locks.lock_file(folder)
    except OSError:  # it may be read all the same
        yield 0
        return
    with file:
        alone = locks.lock(file, wait=False)
        removed = locks.remove_unfinished(folder, *folder.glob(RECORDS)) if alone else 0
        locks.lock(file, alone=False)
        yield removed


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
    system.check_room(table.nbytes)
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, table.schema, compression="zstd") as file:
        while table is not None:
            file.write_table(table)
            del table  # before the next is made
            table = next(tables, None)
    return sink.getvalue()


def state_of(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """Return what changes where the bytes of a file do: size, two times, inode.

    Raises an :class:`InputError` where the file is gone.
    """
    try:
        found = os.stat(path)
    except OSError as error:
        what, rule = f"cannot be looked at: {error.strerror}", ""
        if isinstance(error, FileNotFoundError):
            what, rule = "deleted or moved while the run was going", "missing-file"
        fix = "put it back where it was, and run again"
        raise InputError(Problem(os.fspath(path), what, fix=fix, rule=rule)) from error
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
