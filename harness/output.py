"""Standard output that cannot be written: closed, on a full disk, or its reader gone."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from . import system
from .escaping import for_terminal

FAILED = 2
"""The exit status where the output cannot be written."""
_ELSEWHERE = "free space, or send it elsewhere"


@contextlib.contextmanager
def written(gone: Callable[[], None]) -> Iterator[None]:
    """Run what prints, and end with a sentence where it cannot be printed.

    Parameters
    ----------
    gone : callable
        Called where the reader of the output has gone, as in ``harness ... | head``.
    """
    if sys.stdout is None:  # `harness ... >&-`
        _end("standard output is closed", "send it to a file, or to /dev/null")
    try:
        try:
            yield
        finally:
            with printing():
                sys.stdout.flush()
    except (BrokenPipeError, ReaderGoneError):
        _drop(sys.stdout)
        gone()
    except OutputError as error:
        _drop(sys.stdout)
        fix = system.fix(error) if error.errno == errno.EFBIG else _ELSEWHERE
        _end(error.strerror or str(error), fix)


class ReaderGoneError(Exception):
    """The reader of standard output has gone: no error of the system, which Typer ends with 1."""


class OutputError(OSError):
    """Standard output refuses what is written to it; other errors of the system are not its."""


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """Let what the system refuses within be the output's."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error
    except OSError as error:
        raise OutputError(error.errno, error.strerror) from error


def show(text: str, *, error: bool = False) -> None:
    """Print text at once; nowhere where standard error is closed, or its reader gone.

    Files and pipes get it as it is; a terminal, and standard error always, what
    :func:`~harness.escaping.for_terminal` makes of it: no name may move the cursor.
    """
    stream = sys.stderr if error else sys.stdout
    if stream is None:
        return
    if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name == "ascii":
        stream.reconfigure(encoding="utf-8", errors="replace")  # as Typer prints all the rest
    if error or stream.isatty():
        text = for_terminal(text)
    encoding = stream.encoding or "utf-8"
    with _heard_or_not() if error else printing():
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()


def listed(files: Sequence[str]) -> str:
    """Return names of files; those of a folder with many together.

    >>> listed(["a.csv", "plots/a.svg", "plots/b.svg", "plots/c.svg", "plots/d.svg", "t/a.tex"])
    'a.csv, plots/ (4 files), t/a.tex'
    """
    folders = Counter(name.rpartition("/")[0] for name in files if "/" in name)
    many = {folder: f"{folder}/ ({n} files)" for folder, n in folders.items() if n > 3}
    return ", ".join(dict.fromkeys(many.get(name.rpartition("/")[0], name) for name in files))


def end_quietly() -> None:
    """End as programs do that do not mind that nobody reads on."""
    sys.exit(0)


def end_by_signal() -> None:
    """End as a C program does: by SIGPIPE, which a shell shows as status 141."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    sys.exit(0)


@contextlib.contextmanager
def _heard_or_not() -> Iterator[None]:
    """Go on where nobody reads standard error any more: results do not hang on it."""
    try:
        yield
    except BrokenPipeError:
        _drop(sys.stderr)


def _drop(stream: TextIO) -> None:
    """Send what is left in the buffer nowhere, so that the interpreter's end does not meet it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _end(why: str, fix: str) -> None:
    show(f"error: the output cannot be written ({why})\n  fix:   {fix}\n", error=True)
    sys.exit(FAILED)
