"""Opening a file: plain or compressed, a pipe or standard input, and why it cannot be read.

What a file is, is told by its first bytes and not by its suffix.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import io
import lzma
import os
import re
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple, cast

import pyarrow as pa

from .. import files as system
from ..errors import InputError, Problem, ShortageError
from .blocks import BOM, LONGEST, LineTooLongError, line_blocks, lines_of
from .compression import PACKED, Unpacking, check_name, check_unpacked, codec_of, unpacked
from .head_comments import count_head

_SPOOLED: dict[object, IO[bytes]] = {}
"""Temporary files that hold what standard input and pipes gave; they are deleted when closed."""
_PIECE = 1 << 20


def spooled(stream: IO[bytes], name: str, key: object = None) -> str:
    """Return the path of a temporary file with all that a stream gives; each is read once.

    The file takes half of the free space at most, as a stream may have no end.

    Parameters
    ----------
    name : str
        What the stream is called in messages.
    key : object, optional
        What tells it from other streams, if it is opened each time.

    Raises
    ------
    InputError
        If there is no room for it.
    """
    key = stream if key is None else key
    if key not in _SPOOLED:
        try:
            file = tempfile.NamedTemporaryFile(prefix="harness-")  # noqa: SIM115 - lives on
            _SPOOLED[key] = cast("IO[bytes]", file)
            room = shutil.disk_usage(tempfile.gettempdir()).free // 2
            while piece := stream.read(_PIECE):
                room -= len(piece)
                if room < 0:
                    raise OSError(errno.ENOSPC, "it takes more than half of the free space")
                file.write(piece)
            file.flush()
        except OSError as error:
            if key in _SPOOLED:
                _SPOOLED.pop(key).close()
            what = f"cannot be kept in a temporary file: {error.strerror}"
            fix = "free space there, or name another folder for temporary files in TMPDIR"
            raise InputError(Problem(name, what, fix=fix)) from error
    return _SPOOLED[key].name


def spooled_pipe(path: str) -> str:
    """Return the path of a temporary file with all that a pipe gives, which is read once."""
    if path in _SPOOLED:
        return _SPOOLED[path].name
    with open(path, "rb") as stream:
        return spooled(stream, path, path)


def forget() -> None:
    """Delete the temporary files that hold what pipes and standard input gave."""
    for file in _SPOOLED.values():
        file.close()
    _SPOOLED.clear()


STDIN, NAMELESS = "-", "<stdin>"
"""Standard input as it is named, and as messages name it."""


def on_disk(path: str) -> str:
    """Return the path of a regular file that holds what is at `path`."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(Problem("", missing(path), rule="missing-file")) from None
    except PermissionError:
        mode = stat.S_IFREG
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENAMETOOLONG):
            raise
        what = f"no file can be reached by that name: {error.strerror}"
        raise InputError(Problem(path, what, rule="missing-file")) from error
    if stat.S_ISDIR(mode):
        names = _listing(Path(path))
        held = (
            f"; it holds {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}" if names else ""
        )
        several = f"{path.rstrip('/')}/*"
        fix = f"name one file; on the command line several runs can be given, as {several}"
        raise InputError(Problem(path, f"a folder, not a file{held}", fix=fix, rule="missing-file"))
    if stat.S_ISCHR(mode) and _endless(path):
        fix = "name a file, or - for standard input"
        raise InputError(Problem(path, "a device that gives data without end", fix=fix))
    return path if stat.S_ISREG(mode) else spooled_pipe(path)


def check_there(path: str | os.PathLike[str]) -> None:
    """Raise as :func:`on_disk` does if there is no file at `path`; nothing is read."""
    path = os.fspath(path)
    if path != STDIN and (not os.path.exists(path) or os.path.isdir(path)):
        on_disk(path)


def no_permission(name: str) -> InputError:
    """Return the error of a file that is there and may not be read."""
    return InputError(Problem(name, "no permission to read it", fix="change its mode or its owner"))


def _endless(device: str) -> bool:
    with open(device, "rb", buffering=0) as file:
        return not file.isatty() and file.read(1) != b""


def _listing(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def missing(path: str | os.PathLike[str]) -> str:
    """Return the message for a file that is not there, with the names that are near it.

    >>> missing("/no/such/folder/x.run")
    'no file /no/such/folder/x.run; there is no folder /no/such/folder'
    """
    folder, name = Path(path).parent, Path(path).name
    if os.path.islink(path):
        return f"no file {os.fspath(path)}; {link_to(path)}"
    if not folder.is_dir():
        return f"no file {os.fspath(path)}; there is no folder {folder}"
    names = _listing(folder)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    held = near or (names if len(names) <= 5 else [])
    if held:
        return f"no file {os.fspath(path)}; the folder holds {', '.join(held)}"
    return f"no file {os.fspath(path)}; the folder holds {_counted(folder)}, none like it"


def link_to(path: str | os.PathLike[str]) -> str:
    """Return what is to be said of a link that leads to nothing."""
    return f"it is a link to {os.fspath(os.readlink(path))}, which is not there"


def _counted(folder: Path) -> str:
    """Return how many files and folders a folder holds."""
    with os.scandir(folder) as entries:
        inner = [os.path.isdir(entry) for entry in entries]  # no error of a link to itself
    n, folders = inner.count(False), inner.count(True)
    files = f"{n} file{'s' * (n != 1)}" if n else "no files"
    return files + (f" and {folders} folder{'s' * (folders != 1)}" if folders else "")


def stdin() -> IO[bytes]:
    """Return standard input; it is None where the command was started with it closed."""
    if sys.stdin is None:
        fix = "give the name of a file, or send one to the command: < a.run"
        raise InputError(Problem(NAMELESS, "standard input is closed", fix=fix))
    return sys.stdin.buffer


_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1f\x7f]")
FIX = "give a text file; where it was one, copy or download it again"

_WIDE = {
    b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16",
}  # fmt: skip
"""Byte order marks; those of UTF-32 first, as one begins with that of UTF-16."""
AS_UTF8 = "save it as UTF-8"


def wide(head: bytes) -> str:
    """Return what is wrong with text that says to be of two or four bytes a character, or ``""``.

    >>> wide("name: a".encode("utf-16")), wide(b"name: a")
    ('the text is UTF-16', '')
    """
    names = (name for mark, name in _WIDE.items() if head.startswith(mark))
    return f"the text is {name}" if (name := next(names, "")) else ""


def binary(head: bytes) -> str:
    """Return why the beginning of a file is no text; ``""`` where it may be one.

    Control characters and bytes that are not UTF-8 are a quarter of it; of random bytes, both are
    a half. A text has one kind of them at most: bytes of another encoding.

    >>> binary(bytes(range(1, 256)))
    'not text: it holds control characters, and bytes that are not UTF-8'
    >>> binary("K\\xf6ln".encode("latin-1"))
    ''
    """
    text = head.decode("utf-8", "replace")
    controls = len(_CONTROL.findall(text))
    if not controls or 4 * (controls + text.count("\ufffd")) < len(text):
        return ""
    return "not text: it holds control characters, and bytes that are not UTF-8"


BLOCK = 4 << 20
"""Bytes that are read and parsed at a time, at most; a smaller file is one block."""
_LEAST, _BLOCKS = 1 << 19, 24
"""Bytes of a block of a larger file, at least; how many blocks it gives if they can be smaller."""
_FIRST, _UNPACKED = 1 << 12, 1 << 18
"""Bytes that tell the compression of a file; unpacked bytes that are asked for at a time."""
_TAIL = 1 << 16
"""Bytes of the end of the text that are kept, at most."""
_SAMPLES = 16
"""Pieces of a large file that are kept, at most."""
HEAD = 1 << 16
"""Bytes that a guess of the format looks at."""

_PICKLES = tuple(b"\x80%c" % number for number in range(2, 6))
PLAIN_ARRAY = "save plain numbers: np.save(path, scores.astype(float))"


class Sample(NamedTuple):
    """Some whole lines of a text, in pieces, and whether they are all of it."""

    pieces: list[bytes]
    whole: bool


class Source:
    """A file that can be read as often as needed, unpacked.

    Parameters
    ----------
    path : str or path
        A file, a pipe, or ``-`` for standard input; the last two are kept in a temporary file.

    Attributes
    ----------
    name : str
        The path as it was given, for messages.
    unfinished : bytes
        After :meth:`blocks` has run to its end: the last line, where it has no line end.
    sample : Sample
        After that: pieces from all over the text.
    last_lines : list of bytes
        After that: the last lines, whole, as far as they fit into 64 KiB.
    has_extra_fields : bool
        Whether some lines had more fields than were read.
    unused_columns : tuple of str
        Columns of a table that were not read.
    formats : dict of str to str
        Formats that were guessed, by the kind of table.
    again : bool
        Whether it is read again for the line of what is warned of, where that is not at hand.
    has_checksum : bool
        Whether one is promised that shows damage; of zstd in a bit of the first frame's header.
    one_block : bool
        Whether the file is so small that :meth:`blocks` gives one block.
    block : int
        Bytes of a block, about.

    Raises
    ------
    InputError
        Where there is no such file (with near names), it is a folder, it is empty, or it is named
        as a compressed file and is neither one nor text.

    Warns
    -----
    HarnessWarning
        Where the suffix names another compression than the bytes have.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        given = os.fspath(path)
        self.name = NAMELESS if given == STDIN else given
        self.file = spooled(stdin(), self.name) if given == STDIN else on_disk(given)
        self.unfinished, self._head = b"", b""
        self._n_comments: int | None = None
        self.last_lines: list[bytes] = []
        self.sample = Sample([], True)
        self.has_extra_fields = False
        self.unused_columns: tuple[str, ...] = ()
        self.formats: dict[str, str] = {}
        self.again = False
        with self.explained():
            size = os.path.getsize(self.file)
            if size == 0:
                raise no_rows(self.name, "the file is empty")
            with open(self.file, "rb") as raw:
                first = raw.read(_FIRST)
        self.codec = codec_of(first)
        self.has_checksum = self.codec != "zstd" or bool(int.from_bytes(first[4:5], "big") & 4)
        self.one_block = not self.codec and size <= BLOCK
        self.block = (
            BLOCK if self.codec or self.one_block else min(max(size // _BLOCKS, _LEAST), BLOCK)
        )
        suffix = os.path.splitext(given)[1].lower()
        check_name(given, suffix, first)

    @classmethod
    def of(cls, path: str | os.PathLike[str] | Source) -> Source:
        """Return `path` itself where it is a source already."""
        return path if isinstance(path, cls) else cls(path)  # type: ignore[arg-type]

    @property
    def label(self) -> str:
        """The file's own name, without its folders."""
        return self.name if self.name == NAMELESS else Path(self.name).name

    @property
    def stem(self) -> str:
        """The path without a suffix of compression."""
        stem, suffix = os.path.splitext(self.name)
        return stem if suffix.lower() in PACKED else self.name

    @property
    def suffix(self) -> str:
        """The last suffix that is not one of compression, in lower case, such as ``.csv``."""
        return os.path.splitext(self.stem)[1].lower()

    def open(self) -> IO[bytes]:
        """Return the unpacked bytes as a stream."""
        if not self.codec:
            return open(self.file, "rb")
        return io.BufferedReader(Unpacking(unpacked(self.codec, self.file), self.name), _UNPACKED)

    def read(self, size: int = -1) -> bytes:
        """Return the first `size` unpacked bytes; all of them by default."""
        if not self.codec:
            check_unpacked(self.name, os.path.getsize(self.file) if size < 0 else 0)
        with self.explained(), self.open() as stream:
            return stream.read(size)

    @property
    def head(self) -> bytes:
        """The first unpacked bytes, after a byte order mark; more where a line is longer."""
        if self._head:
            return self._head
        with self.explained(), self.open() as stream:
            found = stream.read(HEAD)
            if b"\n" not in found:
                found += stream.readline(LONGEST + 1)
        self._head = found.removeprefix(BOM)
        return self._head

    @property
    def n_comments(self) -> int:
        """Lines up to the last comment at the head of the text; later ones are rows."""
        if self._n_comments is None:
            head = self.head
            begins = head.lstrip()[:1] == b"#" or (len(head) >= HEAD and not head.strip())
            texts = self._text(HEAD)
            self._n_comments = (
                count_head(chain.from_iterable(map(lines_of, texts))) if begins else 0
            )
        return self._n_comments

    def _text(self, size: int) -> Iterator[bytes]:
        with self.explained(), self.open() as stream:
            try:
                yield from line_blocks(stream, size)
            except LineTooLongError:
                raise InputError(self.too_long()) from None

    @property
    def has_mark(self) -> bool:
        """Whether the text begins with a byte order mark."""
        return self.read(len(BOM)) == BOM

    def blocks(self, size: int | None = None) -> Iterator[bytes]:
        """Yield the text in blocks of about `size` bytes that end where a line ends."""
        self.check_text()
        block = tail = b""
        pieces: list[bytes] = []
        every = 1
        for n, block in enumerate(self._text(size or self.block)):
            yield block
            if n % every == 0:
                pieces.append(block if not n and self.one_block else _first_lines(block))
            if len(pieces) > _SAMPLES:
                pieces, every = pieces[::2], every * 2
            tail = (block if len(block) > _TAIL else tail + block)[-_TAIL - 1 :]
        self.unfinished = block[block.rfind(b"\n") + 1 :]
        self.last_lines = lines_of(tail)[len(tail) > _TAIL :]
        if block not in pieces:
            pieces.append(b"\n".join(self.last_lines))
        self.sample = Sample(pieces, self.one_block and len(pieces) == 1)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield each line with its number, from 1."""
        return enumerate(chain.from_iterable(map(lines_of, self.blocks())), 1)

    def lines_at_hand(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of the first block alone, unless the file may be read :attr:`again`."""
        return self.lines() if self.again else enumerate(lines_of(next(self.blocks(), b"")), 1)

    def too_long(self) -> Problem:
        """Return the problem of the first line that is longer than :data:`LONGEST`."""
        with self.open() as stream:
            lines = iter(lambda: stream.readline(LONGEST + 1), b"")
            number = next(number for number, line in enumerate(lines, 1) if len(line) > LONGEST)
        what = f"the line is longer than {LONGEST:,} bytes"
        return Problem(f"{self.name}:{number}", what, fix="see whether its line ends were lost")

    def check_text(self) -> None:
        """Raise where the first bytes are no lines of text."""
        head, what, fix, line = self.head, "", "give a text file", ""
        if what := wide(head):
            fix = AS_UTF8
        elif head.startswith(b"PK\x03\x04"):
            fix = "unpack it; gz, bz2, xz and zst are read as they are"
            what = "a zip archive, not text"
        elif codec := codec_of(head):
            what, fix = f"{codec} data inside {self.codec} data", "unpack it once"
        elif head.startswith(_PICKLES):
            what, fix = "a pickle, which is never loaded, as it can run code", PLAIN_ARRAY
        elif b"\0" in head:
            what = "not text: it holds zero bytes"
            fix = FIX
            line = f":{1 + head[: head.index(0)].count(10)}"
        elif b"\r" in head and b"\n" not in head and (what := binary(head)):
            fix = FIX
        elif b"\r" in head and b"\n" not in head:
            what = "its lines end in a carriage return alone"
            fix = "end them in a line feed: tr '\\r' '\\n' < FILE > OTHER"
        if what and self.suffix == ".npy":
            what, fix, line = f"no .npy file, but {what}", PLAIN_ARRAY, ""
        if what:
            raise InputError(Problem(f"{self.name}{line}", what, fix=fix))

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Turn what the system and the codecs raise into an :class:`InputError`."""
        try:
            yield
        except PermissionError as error:
            raise no_permission(self.name) from error
        except (OSError, EOFError, lzma.LZMAError, zlib.error, pa.ArrowException) as error:
            if isinstance(error, pa.ArrowException) and type(error) is not pa.ArrowException:
                raise  # not of a codec
            fix = system.SHORTAGES.get(getattr(error, "errno", 0), "")
            if fix or not getattr(self, "codec", ""):
                problem = Problem(self.name, f"cannot be read ({error})", fix=fix)
                raise (ShortageError if fix else InputError)(problem) from error
            cut = isinstance(error, EOFError) or "runcated" in str(error)
            what = f"the {self.codec} data {'is cut short' if cut else f'is damaged ({error})'}"
            rule = "truncated" if cut else "damaged"
            problem = Problem(self.name, what, fix="get the whole file again", rule=rule)
            raise InputError(problem) from error


def _first_lines(block: bytes) -> bytes:
    return block[: block.rfind(b"\n", 0, HEAD) + 1]


def no_rows(name: str, what: str = "the file holds no rows") -> InputError:
    """Return the error for a file that has nothing in it."""
    fix = "check how it was written or downloaded"
    return InputError(Problem(name, what, fix=fix, rule="empty-file"))
