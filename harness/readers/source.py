"""Opening a file: plain or compressed, a pipe or standard input, and why it cannot be read.

What a file is, is told by its first bytes and not by its suffix.
"""

from __future__ import annotations

import contextlib
import lzma
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from .. import system
from ..errors import InputError, Problem, ShortageError
from . import gz, no_text, xz
from .on_disk import NAMELESS, STDIN, no_permission, on_disk, stdin
from .packed import PACKED, check_name, codec_of
from .pieces import lines_of
from .sample import Sample
from .spool import spooled
from .unpacking import Unpacking
from .whole_lines import BOM, LONGEST, joined, sought

BLOCK = 4 << 20
"""Bytes that are read and parsed at a time, at most; a smaller file is one block."""
_LEAST, _BLOCKS, _UNPACKED = 1 << 19, 24, 4
"""Bytes of a block of a larger file, at least; how many blocks it gives where they can be smaller:
half a dozen are in memory at a time. How much larger than itself a packed file is taken to be."""
_USUAL, _LINES = 24, 4096
"""Bytes of a line below which blocks are smaller, as a row takes as much room however short it
is, and threads keep that of several blocks; bytes of the file that tell how long its lines are."""
HEAD = 1 << 16
"""Bytes that a guess of the format looks at."""

_PICKLES = tuple(b"\x80%c" % number for number in range(2, 6))
PLAIN_ARRAY = "save plain numbers: np.save(path, scores.astype(float))"


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
        Pieces of what :meth:`blocks` gave.
    cut_blocks : list of int
        Those of :meth:`blocks`, from 0, whose lines had more fields than were read.
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
        self.file = spooled(stdin(), self.name).path if given == STDIN else on_disk(given)
        self.unfinished, self._head = b"", b""
        self.sample = Sample()
        self.cut_blocks: list[int] = []
        self.again = False
        with self.explained():
            size = os.path.getsize(self.file)
            if size == 0:
                raise no_rows(self.name, "the file is empty")
            with open(self.file, "rb") as raw:
                first = raw.read(_LINES)
        self.codec = codec_of(first)
        self.has_checksum = self.codec != "zstd" or bool(int.from_bytes(first[4:5], "big") & 4)
        self.one_block = not self.codec and size <= BLOCK
        unpacked = size * _UNPACKED if self.codec else size
        self.block = BLOCK if size <= BLOCK else _block(unpacked, b"" if self.codec else first)
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
        packed = os.path.getsize(self.file)
        return Unpacking(self.unpacking(), packed, self.name)  # type: ignore[return-value]

    def unpacking(self) -> Any:
        """Return the stream that unpacks a compressed file."""
        if self.codec == "xz":
            return xz.opened(self.file)
        if self.codec == "gzip" and gz.is_padded(self.file):
            return gz.opened(self.file)
        return pa.CompressedInputStream(pa.OSFile(self.file), self.codec)

    def read(self, size: int = -1) -> bytes:
        """Return the first `size` unpacked bytes; all of them by default."""
        with self.explained(), self.open() as stream:
            return stream.read() if size < 0 else stream.read(size)

    @property
    def head(self) -> bytes:
        """The first unpacked bytes, after a byte order mark; more where a line is longer."""
        if self._head:
            return self._head
        with self.explained(), self.open() as stream:
            found = stream.read(HEAD)
            while b"\n" not in found and len(found) <= LONGEST and (more := stream.read(BLOCK)):
                found += more
        found = found.removeprefix(BOM)
        self._head = found if len(found) <= HEAD else b""  # what is long is read again
        return found

    @property
    def has_mark(self) -> bool:
        """Whether the text begins with a byte order mark."""
        return self.read(len(BOM)) == BOM

    def blocks(self, size: int | None = None) -> Iterator[bytes]:
        """Yield the text in blocks of about `size` bytes that end where a line ends."""
        size = size or self.block
        self.check_text()
        self.sample = Sample()
        with self.explained(), self.open() as stream:
            for block in (joined if self.codec else sought)(stream, size):
                if block is None:
                    raise InputError(self.too_long())
                self.unfinished = block[block.rfind(b"\n") + 1 :]
                self.sample.add(block)
                yield block
                del block

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield each line with its number, from 1."""
        number = 0
        for block in self.blocks():
            for line in lines_of(block):
                number += 1
                yield number, line
                del line  # before the next one is made
            del block

    def too_long(self) -> Problem:
        """Return the problem of the first line that is longer than :data:`LONGEST`."""
        number, length = 1, 0
        with self.open() as stream:
            while length <= LONGEST and (piece := stream.read(HEAD)):
                for end in re.finditer(b"[^\n]*(\n?)", piece):
                    length += end.end() - end.start()
                    if length > LONGEST:
                        break
                    if end[1]:
                        number, length = number + 1, 0
        what = f"the line is longer than {LONGEST:,} bytes"
        return Problem(f"{self.name}:{number}", what, fix="see whether its line ends were lost")

    def check_text(self) -> None:
        """Raise where the first bytes are no lines of text."""
        head, what, fix, line = self.head, "", "give a text file", ""
        if what := no_text.wide(head):
            fix = no_text.AS_UTF8
        elif head.startswith(b"PK\x03\x04"):
            fix = "unpack it; gz, bz2, xz and zst are read as they are"
            what = "a zip archive, not text"
        elif codec := codec_of(head):
            what, fix = f"{codec} data inside {self.codec} data", "unpack it once"
        elif head.startswith(_PICKLES):
            what, fix = "a pickle, which is never loaded, as it can run code", PLAIN_ARRAY
        elif b"\0" in head:
            what = "not text: it holds zero bytes"
            fix = no_text.FIX
            line = f":{1 + head[: head.index(0)].count(10)}"
        elif b"\r" in head and b"\n" not in head and (what := no_text.binary(head)):
            fix = no_text.FIX
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
            fix = system.MORE.get(getattr(error, "errno", 0), "")
            if fix or not getattr(self, "codec", ""):
                problem = Problem(self.name, f"cannot be read ({error})", fix=fix)
                raise (ShortageError if fix else InputError)(problem) from error
            cut = isinstance(error, EOFError) or "runcated" in str(error)
            what = f"the {self.codec} data {'is cut short' if cut else f'is damaged ({error})'}"
            rule = "truncated" if cut else "damaged"
            problem = Problem(self.name, what, fix="get the whole file again", rule=rule)
            raise InputError(problem) from error


def no_rows(name: str, what: str = "the file holds no rows") -> InputError:
    """Return the error for a file that has nothing in it."""
    fix = "check how it was written or downloaded"
    return InputError(Problem(name, what, fix=fix, rule="empty-file"))


def _block(size: int, first: bytes) -> int:
    """Return the bytes of a block of a file of a size, by what it begins with."""
    usual = len(first) / max(first.count(b"\n"), 1) / _USUAL if first else 1
    short = max(min(usual, 1) ** 3, 0.125)
    return int(short * max(min(size / _BLOCKS, BLOCK), _LEAST))
