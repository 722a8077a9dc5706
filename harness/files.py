"""Files out: written whole or not at all; what the system refuses, in one sentence.

A lock ends with the process that holds it, however that ends.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import hashlib
import io
import itertools
import mmap
import os
import re
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO

from .errors import HarnessError, HarnessWarning, InputError, Problem, for_terminal

if TYPE_CHECKING:
    import pyarrow as pa

LOCK = ".lock"
"""The file by which a folder is held."""
RECORDS = "[0-9a-f][0-9a-f]"
"""Which folders of a cache hold its records."""
_UNFINISHED = re.compile(r"\.(?P<name>.+)\.[a-z0-9_]{8}\.part", re.S)
"""Names of files that are being written, as :mod:`tempfile` makes them."""
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

NO_MEMORY = "not enough memory"
MORE_MEMORY = "raise the limit (ulimit -v, or the job's)"
_FEWER = ", or give fewer --jobs"
_OF_ARROW = re.compile(r"^Unknown error: Wrapping .* failed$|[mc]alloc|bad_alloc", re.S)
"""What Arrow says, outside of its own MemoryError, if it gets no memory."""
_NO_THREAD = re.compile("start new thread|launch worker thread")
_FILES = "raise the limit on open files (ulimit -n)"
_SPACE = "free space or write to another folder"
MORE = {errno.EMFILE: _FILES, errno.ENFILE: _FILES, errno.ENOMEM: MORE_MEMORY}
"""What to do if there is not enough of something, by the number of the error."""
_FIXES = {
    **MORE,
    errno.EFBIG: "raise the limit on the size of files (ulimit -f)",
    errno.EACCES: "change its permissions, or write to another folder",
    errno.EPERM: "change its permissions, or write to another folder",
    errno.EROFS: "write to another folder",
    errno.ELOOP: "move the link away",
    errno.EEXIST: "move away the file, or the link to nothing, that stands there",
    errno.ENOENT: "its folder was deleted or moved under way: run again",
}


def advice(error: OSError) -> str:
    """Return what to do if a file could not be written."""
    return _FIXES.get(error.errno or 0, _SPACE)


def problem(error: BaseException) -> Problem | None:
    """Return what the system refused; None for an error that is not the system's.

    >>> print(problem(MemoryError()))
    not enough memory
      fix:   raise the limit (ulimit -v, or the job's)
    >>> problem(ValueError("an error of ours")) is None
    True
    """
    if (found := shortage(error)) is not None:
        return found
    if isinstance(error, RuntimeError) and isinstance(error.__context__, OSError):
        error = error.__context__  # of a link to itself, before Python 3.13
    if not isinstance(error, OSError):
        return None
    if error.filename is None and _is_current_folder_gone():
        return Problem("", "the current folder was deleted", fix="change to another one")
    fix = "" if error.errno == errno.ENOENT else _FIXES.get(error.errno or 0, "")
    return Problem(str(error.filename or ""), error.strerror or str(error), fix=fix)


def shortage(error: BaseException) -> Problem | None:
    """Return what there is not enough of: memory, threads, open files; None if it is not that."""
    text = str(error)
    of_arrow = type(error).__module__ == "pyarrow.lib"
    of_loader = isinstance(error, ImportError) and re.search("failed to map|annot allocate", text)
    if isinstance(error, MemoryError) or of_loader or (of_arrow and _OF_ARROW.search(text)):
        return Problem("", NO_MEMORY, fix=MORE_MEMORY)
    if _NO_THREAD.search(text) and (isinstance(error, RuntimeError) or of_arrow):
        fix = f"{MORE_MEMORY}, or raise the one on processes (ulimit -u)"
        return Problem("", "no further thread can be started", fix=fix)
    if isinstance(error, OSError) and error.errno in MORE:
        return Problem(str(error.filename or ""), error.strerror or text, fix=advice(error))
    return None


def or_fewer_jobs(one: Problem) -> Problem:
    """Return a problem with what else can be done about it in a command that has ``--jobs``.

    >>> print(or_fewer_jobs(Problem("", NO_MEMORY, fix=MORE_MEMORY)))
    not enough memory
      fix:   raise the limit (ulimit -v, or the job's), or give fewer --jobs
    """
    if _FEWER in one.fix:
        return one
    return replace(one, fix=one.fix.replace(MORE_MEMORY, MORE_MEMORY + _FEWER, 1))


def _is_current_folder_gone() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    except OSError:
        pass
    return False


def check_room(size: int = 1) -> None:
    """Raise MemoryError if so many bytes are not free: Arrow's C++ ends the process then."""
    try:
        mmap.mmap(-1, max(size, 1)).close()
    except OSError as error:
        raise MemoryError from error


def threads_of(number: int | None = None) -> ThreadPoolExecutor:
    """Return so many threads, or one for each processor."""
    return ThreadPoolExecutor(number or os.cpu_count() or 1)


def lock_file(folder: Path) -> IO[bytes]:
    """Return the file that a folder is locked by, made if there is none; links are refused."""
    path = folder / LOCK
    if path.is_symlink():
        raise OSError(errno.ELOOP, "the lock is a link, which is not followed", str(path))
    return open(path, "ab", opener=_open)


def _open(name: str, flags: int) -> int:
    return os.open(name, flags | _FLAGS, 0o666)  # follows no link, waits for no pipe's reader


def lock(file: IO[bytes], *, alone: bool = True, wait: bool = True) -> bool | None:
    """Return whether a file could be locked; None if the system has no such locks."""
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


def remove_unfinished(*folders: Path, names: Iterable[str] | None = None) -> int:
    """Remove files that were being written when their process was killed; return how many.

    Files that a process holds stay, as do folders, links and files with other names.

    Parameters
    ----------
    folders : Path
        A link is followed for the first one only.
    names : iterable of str, optional
        Remove only what was to become these files.
    """
    removed, wanted = 0, None if names is None else {*names}
    for place, folder in enumerate(folders):
        if not folder.is_dir() or (place and folder.is_symlink()):
            continue
        for path in folder.glob(".*.part"):
            own = _UNFINISHED.fullmatch(path.name)
            if not own or path.is_symlink() or not path.is_file():
                continue
            if wanted is None or own["name"] in wanted:
                with contextlib.suppress(OSError), open(path, "ab", opener=_open) as file:
                    if lock(file, wait=False) is not False:
                        path.unlink()
                        removed += 1
    return removed


def write_all(
    folder: Path, files: Mapping[str, bytes], *, flush: bool = True, alone: bool = True
) -> None:
    """Write several files into `folder`, each whole or not at all.

    Every file is first written beside its place; only when all of them are there are they moved
    into place, in the order given. The last one (the manifest) is the mark that the others belong
    together.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.
    files : mapping of str to bytes
        Contents by relative path.
    flush : bool
        Whether they are brought to the disk first: what can be computed again, and is checked when
        it is read, need not outlive a power cut.
    alone : bool
        Whether the caller has the folder's lock. Otherwise each file is held itself, and what was
        left of these very files by a process that was killed is removed.

    Raises
    ------
    HarnessError
        If the folder cannot be written.
    """
    with _together(folder, flush=flush, alone=alone) as begin:
        for name, content in files.items():
            with begin(below(folder, name)) as file:
                file.write(content)


@contextlib.contextmanager
def writing(target: Path, mode: int | None = None) -> Iterator[IO[bytes]]:
    """Give a file to write that takes its place when it is whole.

    Parameters
    ----------
    target : Path
        Its folder is made if it does not exist. What was left of this very file by a process that
        was killed is removed.
    mode : int, optional
        Its permissions; by default those of any new file.

    Raises
    ------
    HarnessError
        If it cannot be written.
    """
    with (
        _together(target, flush=True, alone=False, mode=mode) as begin,
        begin(target) as file,
    ):
        yield file


@contextlib.contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make a folder, and take it away again if what follows fails and leaves it empty."""
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
    """Give what begins a file; at the end all take their places, or none if anything fails."""
    waiting: list[tuple[Path, Path]] = []
    mode = 0o666 & ~_umask() if mode is None else mode
    with contextlib.ExitStack() as held:

        @contextlib.contextmanager
        def begin(target: Path) -> Iterator[IO[bytes]]:
            held.enter_context(made(target.parent))
            if not alone:
                remove_unfinished(target.parent, names=[target.name])
            handle, name = tempfile.mkstemp(".part", f".{target.name}.", target.parent)
            file, beside = os.fdopen(handle, "wb"), Path(name)
            lock(file, wait=False)
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
            what = "cannot write the results" if alone else "cannot be written"
            fix = f"{advice(error)}; nothing was left half written"
            path = str(error.filename or where)
            raise HarnessError(Problem(path, f"{what}: {error.strerror}", fix=fix)) from error
        finally:
            for beside, _ in waiting:
                with contextlib.suppress(OSError):  # the next run removes it
                    beside.unlink()


def _close(file: IO[bytes]) -> None:
    with contextlib.suppress(OSError):  # where writing failed, what was left in the buffer fails
        file.close()


def compare_recorded(
    folder: Path, recorded: Mapping[str, Collection[str]]
) -> tuple[dict[str, str], list[str]]:
    """Return which files still hold what was written to them, and which were edited since.

    Parameters
    ----------
    folder : Path
    recorded : mapping of str to collection of str
        SHA-256 of the contents that earlier runs wrote, by name.

    Returns
    -------
    dict of str to str
        SHA-256 of the files that hold one of these contents, by name.
    list of str
        Names of the files that hold something else.
    """
    own: dict[str, str] = {}
    edited = []
    for name in sorted(recorded):
        with contextlib.suppress(OSError, HarnessError):
            path = below(folder, name)
            if path.is_symlink() or not path.is_file():
                continue
            if (digest := sha256(path)) in recorded[name]:
                own[name] = digest
            else:
                edited.append(name)
    return own, edited


def check_own(
    folder: Path, names: Iterable[str], own: Collection[str], *, force: bool = False
) -> None:
    """Raise if a file would be written over that is not our own.

    Parameters
    ----------
    folder : Path
    names : iterable of str
        Files that are to be written.
    own : collection of str
        Files that hold what an earlier run wrote; see :func:`compare_recorded`.
    force : bool
        Whether other files are written over, too.

    Raises
    ------
    InputError
    """
    others = [] if force else [
        name for name in dict.fromkeys(names)
        if name not in own and os.path.lexists(folder / name)
    ]  # fmt: skip
    if others:
        what = "expected only files that harness wrote, got others, or files edited since: "
        fix = "move them away, name another folder, or replace them with --force"
        raise InputError(Problem(str(folder), what + ", ".join(others), fix=fix))


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
    """Hold a folder of results against other runs; wait if another holds it, and warn.

    What killed runs left unfinished is removed, from the folder and from those `within` it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = lock_file(folder)
    except OSError as error:
        what = f"cannot write the results: {error.strerror}"
        raise HarnessError(
            Problem(str(error.filename or folder), what, fix=advice(error))
        ) from error
    with file:
        is_locked = lock(file, wait=False)
        if is_locked is False:
            what = f"{folder}: another run writes here; waiting until it is done"
            warnings.warn(what, HarnessWarning, stacklevel=4)
            is_locked = lock(file)
        if is_locked:  # None: the system has no locks
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
        file = lock_file(folder)
    except OSError:  # it may be read all the same
        yield 0
        return
    with file:
        alone = lock(file, wait=False)
        removed = remove_unfinished(folder, *folder.glob(RECORDS)) if alone else 0
        lock(file, alone=False)
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
    """Return tables, one after the other, as the bytes of a Parquet file (zstd)."""
    import pyarrow.parquet as pq

    tables = iter(tables)
    first = next(tables)
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, first.schema, compression="zstd") as file:
        for table in itertools.chain([first], tables):
            file.write_table(table)
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
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


class OutputError(Exception):
    """Standard output refuses what is written to it; the system's error is the cause."""


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """Turn what the system refuses into an :class:`OutputError`."""
    try:
        yield
    except OSError as error:
        raise OutputError from error


@contextlib.contextmanager
def written(gone: Callable[[], object]) -> Iterator[None]:
    """Run what prints, and end with a sentence if it cannot be printed.

    Parameters
    ----------
    gone : callable
        Called if the reader of the output has gone, as in ``harness ... | head``.
    """
    if sys.stdout is None:  # `harness ... >&-`
        _end("standard output is closed", "send it to a file, or to /dev/null")
    try:
        try:
            yield
        finally:
            with printing():
                sys.stdout.flush()
    except OutputError as refused:
        error = refused.__cause__
        assert isinstance(error, OSError)
        _drop(sys.stdout)
        if isinstance(error, BrokenPipeError):
            gone()
        fix = advice(error) if error.errno == errno.EFBIG else "free space, or send it elsewhere"
        _end(error.strerror or str(error), fix)


def show(text: str, *, error: bool = False) -> None:
    """Print text at once; do nothing if standard error is closed or its reader gone.

    Files and pipes get it as it is; a terminal, and standard error always, what
    :func:`~harness.errors.for_terminal` makes of it: no name may move the cursor.
    """
    stream = sys.stderr if error else sys.stdout
    if stream is None:
        return
    if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name == "ascii":
        stream.reconfigure(encoding="utf-8", errors="replace")  # as Click prints all the rest
    if error or stream.isatty():
        text = for_terminal(text)
    encoding = stream.encoding or "utf-8"
    try:
        with printing():
            stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            stream.flush()
    except OutputError:
        if not error:
            raise
        _drop(stream)  # results do not depend on who reads standard error


def listed(files: Sequence[str]) -> str:
    """Return names of files; those of a folder with many together.

    >>> listed(["a.csv", "plots/a.svg", "plots/b.svg", "plots/c.svg", "plots/d.svg", "t/a.tex"])
    'a.csv, plots/ (4 files), t/a.tex'
    """
    folders = Counter(name.rpartition("/")[0] for name in files if "/" in name)
    many = {folder: f"{folder}/ ({n} files)" for folder, n in folders.items() if n > 3}
    return ", ".join(dict.fromkeys(many.get(name.rpartition("/")[0], name) for name in files))


def end_by_signal() -> None:
    """End as a C program does: by SIGPIPE, which a shell shows as status 141."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    sys.exit(0)


def _drop(stream: TextIO) -> None:
    """Send what is left in the buffer nowhere, so that the interpreter's end does not meet it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _end(why: str, fix: str) -> None:
    show(f"error: the output cannot be written ({why})\n  fix:   {fix}\n", error=True)
    sys.exit(2)
