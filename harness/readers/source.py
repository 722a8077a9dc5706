"""Opening files: plain or compressed, a pipe or standard input; and errors of reading.

The first bytes decide the kind of a file, not its suffix.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import hashlib
import io
import logging
import lzma
import os
import re
import shlex
import shutil
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import pyarrow as pa

from ..core.ragged import Array
from ..core.rules import finding
from ..errors import (
    Finding,
    InputError,
    Place,
    Problem,
    ShortageError,
    not_installed,
    shortage,
    shorten,
    warn_of,
)
from ..input_files import add_inputs, url_of
from . import remote
from .files import sha256, write_all
from .memory_limit import check_fits, free_memory, too_large
from .temporary import OTHER_PLACE, Temporary
from .text import BOM, LONGEST, IsDataLine, count_head, lines_of

T = TypeVar("T")
_SPOOLED: dict[object, Temporary] = {}
"""The content of standard input and pipes, until the process ends."""
_LONGEST_STREAM = 16 << 30
"""Bytes of standard input or a pipe, at most; a longer one is no run that people have."""
IR_DATASETS = "ir_datasets:"  # Before an id of ir_datasets
STDIN, NAMELESS = "-", "<stdin>"  # Standard input in a command, and in messages
BLOCK = 4 << 20  # Bytes that are read and parsed at a time, at most; a smaller file is one block
_LEAST, _BLOCKS = 1 << 19, 24
"""Bytes of a block of a larger file, at least; how many blocks it gives if they can be smaller."""
_TAIL = 1 << 16  # Bytes of the end of the text that are kept, at most
_SAMPLES = 16  # Pieces of a large file that are kept, at most
HEAD = 1 << 16  # Bytes that a guess of the format looks at


def _open_gzip(path: str) -> Any:
    """Return the unpacked bytes: by isal, in a third of the time of Python's own if it is there."""
    try:
        from isal import igzip
    except ImportError:  # it has no wheel for some processors
        return gzip.open(path)
    unpacked: Any = igzip.open(path)  # type: ignore[no-untyped-call]
    return unpacked


_CODECS: dict[str, tuple[re.Pattern[bytes], Callable[[str], Any]]] = {
    "gzip": (re.compile(rb"\x1f\x8b"), _open_gzip),
    "bz2": (re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), bz2.open),
    "xz": (re.compile(rb"\xfd7zXZ\x00"), lzma.open),
    "zstd": (
        re.compile(rb"\x28\xb5\x2f\xfd"),
        lambda path: pa.CompressedInputStream(pa.OSFile(path), "zstd"),
    ),
}
PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}
TORCH = re.compile(rb"(?s)PK\x03\x04.{0,500}/data\.pkl|\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19\.")
"""First bytes of files of torch.save, of today and before its version 1.6."""
PLAIN_ARRAY = "save plain numbers: np.save(path, scores.astype(float))"
WHOLE_FILE = "get the whole file again"
AS_UTF8 = "save it as UTF-8"
_OTHER_FILES = (
    (
        re.compile(rb"\s*<(!doctype html|html|head|body)\b", re.IGNORECASE),
        "an HTML page, not data",
        "download the file again; a server sent this page",
    ),
    (
        re.compile(rb"%PDF-|\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a"),
        "a PDF or a picture, not data",
        "give the file with the numbers",
    ),
    (re.compile(rb"(?s).{257}ustar"), "a tar archive, not text", "unpack it first: tar xf FILE"),
    (TORCH, "a file of torch.save, not text", "name it: format: torch"),
    (
        re.compile(rb"PK\x03\x04"),
        "a zip archive, not text",
        "unpack it; save a spreadsheet (.xlsx) as CSV",
    ),
    (
        re.compile(rb"\x80[\x02-\x05]"),
        "a pickle, which is never loaded, as it can run code",
        PLAIN_ARRAY,
    ),
)
"""First bytes of binary files, with their kind and the fix."""
_WIDE = {
    "UTF-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "UTF-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
"""Byte order marks; those of UTF-32 first, as one begins with that of UTF-16."""


def codec_of(head: bytes) -> str:
    """Return the compression of data with these first bytes, or ``""``."""
    return next((codec for codec, (magic, _) in _CODECS.items() if magic.match(head)), "")


class _Unpacking(io.RawIOBase):
    """A stream of unpacked bytes that stops when they are more than the free memory."""

    def __init__(self, stream: Any, name: str, codec: str) -> None:
        self._stream, self._name, self._codec, self._size = stream, name, codec, 0
        self._most = free_memory()

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._stream.read(len(buffer))
        except Exception as error:  # each library has its own
            if shortage(error) is not None:
                raise
            is_cut = isinstance(error, EOFError)
            message = f"the {self._codec} data is {'cut short' if is_cut else f'damaged ({error})'}"
            rule = "truncated" if is_cut else "damaged"
            raise InputError(Problem(self._name, message, fix=WHOLE_FILE, rule=rule)) from error
        buffer[: len(piece)] = piece
        self._size += len(piece)
        if self._size > self._most:
            raise too_large(self._name, self._size, self._most)
        return len(piece)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def spooled(stream: IO[bytes], name: str, key: object) -> str:
    """Return a temporary file with the content of a stream, which is read once."""
    if key not in _SPOOLED:
        _SPOOLED[key] = Temporary(name, lambda file, _: _copy(stream, file, name))
    return _SPOOLED[key].path


def _copy(stream: IO[bytes], file: Any, name: str) -> None:
    """Copy a stream until its end; InputError if it seems to have none."""
    free = shutil.disk_usage(os.path.dirname(file.name)).free
    most_bytes, size = min(_LONGEST_STREAM, free // 2), 0
    while block := stream.read(BLOCK):
        if not size and len(block) == BLOCK and not block.strip(b"\0"):
            message = f"begins with {BLOCK:,} zero bytes, and is no data"
            raise InputError(Problem(name, message, fix="give a file or a program's output"))
        size += len(block)
        if size > most_bytes:
            size_text = f"{most_bytes / 1e9:,.1f} GB"
            message = f"expected at most {size_text}, got more: the stream may never end"
            raise InputError(Problem(name, message, fix=OTHER_PLACE, rule="unpacks-too-far"))
        file.write(block)


def qrels_file(path: str) -> str:
    """Return a TREC file with the qrels of ``ir_datasets:ID``, kept in the cache of ir_datasets.

    When it is not there yet, ir_datasets reads the qrels from its cache, or downloads them.
    """
    name = path.removeprefix(IR_DATASETS)

    def refused(message: str, fix: str) -> InputError:
        return InputError(Problem(path, message, fix=fix))

    try:
        import ir_datasets
    except ImportError:
        raise not_installed(path, "ir_datasets", "ir_datasets") from None
    file = Path(ir_datasets.util.home_path()) / "ranking-harness" / f"{name}.qrels"
    if file.is_file():
        return os.fspath(file)
    logging.getLogger("ir_datasets").disabled = True  # the error below says it
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        message = f"expected an id of ir_datasets, got '{name}'"
        raise refused(message, "copy an id from https://ir-datasets.com") from None
    if not dataset.has_qrels():
        message = "expected an id with qrels, got one without"
        raise refused(message, f"name a part of it that has them, such as {name}/test")
    try:
        lines = [
            f"{judgement.query_id} 0 {judgement.doc_id} {judgement.relevance}\n"
            for judgement in dataset.qrels_iter()
        ]
    except Exception as error:  # of its download, its archive, or its format
        reason = shorten(str(error).partition("\n")[0], 80)
        message = f"expected qrels in its cache, got {type(error).__name__}: {reason}"
        raise refused(message, f"go online and run: ir_datasets export {name} qrels") from error
    write_all(file.parent, {file.name: "".join(lines).encode()})
    return os.fspath(file)


def on_disk(path: str) -> str:
    """Return the path of a regular file with the content of `path`."""
    if path.startswith(IR_DATASETS):
        return qrels_file(path)
    try:
        mode = os.stat(path).st_mode
    except PermissionError:
        return path
    except OSError:
        raise missing(path) from None
    if stat.S_ISDIR(mode):
        names = sorted(os.listdir(path))
        message = f"expected a file, got a folder with {', '.join(names[:3]) or 'nothing in it'}"
        suffixes = Counter(os.path.splitext(name)[1] for name in names).most_common(1)
        fix = "name one file"
        for suffix, _ in suffixes:
            fix += f", or several runs as {path.rstrip('/')}/*{suffix}"
        if {"manifest.json", "leaderboard.csv"} <= {*names}:
            message = "expected a file, got a folder of results"
            fix = f"name one file, or print the results with: harness table {shlex.quote(path)}"
        raise InputError(Problem(path, message, fix=fix, rule="missing-file"))
    if stat.S_ISREG(mode):
        return path
    if path in _SPOOLED:
        return spooled(io.BytesIO(), path, path)
    with open(path, "rb") as stream:
        return spooled(stream, path, path)


def check_there(path: str | os.PathLike[str]) -> None:
    """Raise as `on_disk` does if there is no file at `path`; nothing is read."""
    if url := url_of(path):
        remote.check_there(url)
        return
    path = os.fspath(path)
    if path != STDIN and (not os.path.exists(path) or os.path.isdir(path)):
        on_disk(path)


def missing(path: str | os.PathLike[str], fix: str = "correct the path") -> InputError:
    """Return the error of a file that does not exist; the fix is a similar name or `fix`."""
    folder, name = os.path.split(os.fspath(path))
    if os.path.islink(path):
        target = os.fspath(os.readlink(path))
        why = f"it is a link to {target}, which does not exist"
        return remote.missing_error(path, why, "correct the link")
    if folder and not os.path.isdir(folder):
        return remote.missing_error(path, f"there is no folder {folder}", fix)
    return remote.missing_among(path, name, sorted(os.listdir(folder or ".")), fix)


def next_to(path: str) -> str:
    """Return the file of group sizes next to a file, or ``""``."""
    stem, suffix = os.path.splitext(path)
    stem = stem if suffix.lower() in PACKED else path
    return next((name for end in (".query", ".group") if os.path.isfile(name := stem + end)), "")


def wide(head: bytes) -> str:
    """Problem of text in UTF-16 or UTF-32; else ``""``."""
    name = next((name for name, marks in _WIDE.items() if head.startswith(marks)), "")
    return name and f"the text is {name}"


def no_rows(name: str, message: str = "the file has no rows") -> InputError:
    """Return the error for a file without rows."""
    fix = "check how it was written or downloaded"
    return InputError(Problem(name, message, fix=fix, rule="empty-file"))


def shown_name(path: str) -> str:
    """Name of a file, or of standard input, in messages."""
    return NAMELESS if path == STDIN else path


class ReadReport(NamedTuple):
    """The end of a text that was read, and a sample of its lines."""

    unfinished: bytes = b""  # the last line, if it has no line end
    last_lines: Sequence[bytes] = ()  # those that fit into 64 KiB
    sample: bytes = b""  # whole lines from all over the text
    is_whole: bool = True  # whether the sample is all of it


class Source:
    """A file that can be read as often as needed, unpacked.

    `path` is a file, a pipe, ``-`` for standard input, or a URL; all but the first are kept in a
    temporary file, that of a URL for as long as a source of it. `findings` are about its content,
    or that of a file which is read with it. The bytes of a `hashed` source are hashed as they pass,
    and so are the rows of a learning-to-rank file.
    """

    def __init__(self, path: str | os.PathLike[str], *, hashed: bool = False) -> None:
        name = url_of(path) or os.fspath(path)
        self.name = shown_name(name)
        self._copy = remote.fetched(name) if url_of(name) else None
        self.file = self._copy.path if self._copy else _stdin() if name == STDIN else on_disk(name)
        add_inputs(name)
        self.findings: list[Finding] = []
        self.hashed, self._digest = hashed, ""
        self.row_marks: Array | None = None  # the hashes of those rows, once they were read
        self.by_features = False  # whether these hashes are of the values, and of tables too
        self.by_sizes = False  # whether the rows' queries come from group sizes
        self.codec, self._head = "", b""
        self._n_comments: int | None = None
        self.report = ReadReport()  # once blocks() has ended
        self.n_rows = 0  # of columns of text, as far as they were read
        self.format = ""  # the name of the format that it is read in
        self.is_row: IsDataLine | None = None  # which lines were read as rows of a table
        self.ascending = False  # whether the lowest score of a run is best
        self.has_extra_fields = False  # whether some lines had more fields than were read
        self.has_ranks = False  # whether its scores were made of ranks, or of the order of lists
        self.columns: dict[str, str] = {}  # of a table that were read, by what they hold
        self.unused_columns: tuple[str, ...] = ()
        self.has_features = False  # whether some of these are features of learning-to-rank rows
        self.ends_before_cut = False  # whether a last line without a line end is left out
        self.may_reread = False  # whether warnings may read the whole file again to find their line
        with self.explained():
            size = os.path.getsize(self.file)
            if size == 0:
                raise no_rows(self.name, "the file is empty")
            with open(self.file, "rb") as raw:
                start = raw.read(1 << 12)
        self.codec = codec_of(start)
        self.one_block = not self.codec and size <= BLOCK
        smaller = min(max(size // _BLOCKS, _LEAST), BLOCK)
        self.block = BLOCK if self.codec or self.one_block else smaller
        suffix = os.path.splitext(name)[1].lower()
        if self.codec != PACKED.get(suffix, self.codec):
            message = f"expected {PACKED[suffix]} data, as its name ends in {suffix}, got "
            message += f"{self.codec} data" if self.codec else "data that are not compressed"
            self.findings.append(finding("other-compression", self.name, message))

    def error(self, what: str, fix: str = "", rule: str = "") -> InputError:
        """Return the error of this file."""
        return InputError(Problem(self.name, what, fix=fix, rule=rule))

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
        """Return the unpacked bytes as a stream, which ends when they exceed the free memory."""
        if not self.codec:
            return open(self.file, "rb")
        stream = _CODECS[self.codec][1](self.file)
        return io.BufferedReader(_Unpacking(stream, self.name, self.codec), 1 << 18)

    def read(self, size: int = -1) -> bytes:
        """Return the first `size` unpacked bytes; all of them by default."""
        if not self.codec and size < 0:
            check_fits(self.name, os.path.getsize(self.file))
        with self.explained(), self.open() as stream:
            return stream.read(size)

    @property
    def head(self) -> bytes:
        """The first unpacked bytes, after a byte order mark; more if the first line is longer."""
        if not self._head:
            with self.explained(), self.open() as stream:
                head = stream.read(HEAD)
                if b"\n" not in head:
                    head += stream.readline(LONGEST + 1)
            self._head = head.removeprefix(BOM)
        return self._head

    @property
    def n_comments(self) -> int:
        """Lines up to the last comment at the head of the text; later ones are rows."""
        if self._n_comments is None:
            has_any = self.head.lstrip()[:1] == b"#"
            self._n_comments = count_head(line for _, line in self.lines()) if has_any else 0
        return self._n_comments

    def _text(self, size: int) -> Iterator[bytes]:
        with self.explained(), self.open() as stream:
            block = stream.read(size).removeprefix(BOM) or stream.read(size)
            while block:
                rest = b"" if block.endswith(b"\n") else stream.readline(LONGEST + 1)
                if len(rest) > LONGEST:
                    raise self._too_long()
                text = block + rest
                yield text[: text.rfind(b"\n") + 1] if self.ends_before_cut else text
                block = stream.read(size)

    def blocks(self, size: int | None = None) -> Iterator[bytes]:
        """Yield the text in blocks of about `size` bytes that end where a line ends."""
        self.check_text()
        block = tail = b""
        pieces: list[bytes] = []
        step = 1
        digest = hashlib.sha256() if self.hashed and not self.codec else None
        if digest is not None and self.read(len(BOM)) == BOM:
            digest.update(BOM)
        for n, block in enumerate(self._text(size or self.block)):
            if digest is not None:
                digest.update(block)
            yield block
            if n % step == 0:
                is_whole = not n and self.one_block and len(block) <= _SAMPLES * HEAD
                pieces.append(block if is_whole else block[: block.rfind(b"\n", 0, HEAD) + 1])
            if len(pieces) > _SAMPLES:
                pieces, step = pieces[::2], step * 2
            tail = (block if len(block) > _TAIL else tail + block)[-_TAIL - 1 :]
        self._digest = digest.hexdigest() if digest is not None else self._digest
        last_lines = lines_of(tail)[len(tail) > _TAIL :]
        is_whole = pieces == [block]
        if block not in pieces:
            pieces.append(b"\n".join(last_lines))
        unfinished = block[block.rfind(b"\n") + 1 :]
        self.report = ReadReport(unfinished, last_lines, b"".join(pieces), is_whole)

    def lines(self, *, first_block: bool = False) -> Iterator[tuple[int, bytes]]:
        """Yield each line with its number, from 1; of the first block alone on request."""
        blocks = self._text(self.block)
        texts = [next(blocks, b"")] if first_block else blocks
        return enumerate(chain.from_iterable(map(lines_of, texts)), 1)

    def check_length(self) -> None:
        """Raise if the first line is longer than `LONGEST`."""
        if len(self.head) > LONGEST and b"\n" not in self.head:
            raise self._too_long()

    def _too_long(self) -> InputError:
        with self.open() as stream:
            lines = iter(lambda: stream.readline(LONGEST + 1), b"")
            number = next(number for number, line in enumerate(lines, 1) if len(line) > LONGEST)
        message = f"the line is longer than {LONGEST:,} bytes"
        fix = "check whether line ends were lost"
        return InputError(Problem(Place(self.name, number), message, fix=fix))

    def check_text(self) -> None:
        """Raise if the first bytes are not lines of text."""
        head = self.head
        if message := wide(head):
            raise self.error(message, AS_UTF8)
        if inner := codec_of(head):
            raise self.error(f"{inner} data inside {self.codec} data", "unpack it once")
        for begins, message, fix in _OTHER_FILES:
            if begins.match(head):
                raise self.error(message, fix)
        if b"\0" in head:
            fix = "give a text file, or copy it again"
            raise self.error("not text: it contains zero bytes", fix)
        if b"\r" in head and b"\n" not in head:
            fix = "end them in a line feed: tr '\\r' '\\n' < FILE > OTHER"
            raise self.error("its lines end in a carriage return alone", fix)

    def sha256(self) -> str:
        """Return the hash of the file's bytes, compressed as they are, in hexadecimal."""
        if not self._digest:
            with self.explained():
                self._digest = sha256(Path(self.file))
        return self._digest

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Turn errors of the system into an `InputError`."""
        try:
            yield
        except PermissionError as error:
            raise self.error("no permission to read it", "change its mode or its owner") from error
        except OSError as error:
            kind = InputError if shortage(error) is None else ShortageError
            raise kind(Problem(self.name, f"cannot be read ({error})")) from error


@contextlib.contextmanager
def reading(path: str | os.PathLike[str] | Source) -> Iterator[Source]:
    """Open a file, and warn of its findings in the end; an open source keeps them."""
    if isinstance(path, Source):
        yield path
        return
    source = Source(path)
    try:
        yield source
    finally:
        warn_of(source.findings)


def _stdin() -> str:
    if sys.stdin is None:  # the command was started with it closed
        fix = "give the name of a file, or send one to the command: < a.run"
        raise InputError(Problem(NAMELESS, "standard input is closed", fix=fix))
    return spooled(sys.stdin.buffer, NAMELESS, sys.stdin.buffer)
