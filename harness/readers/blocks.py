"""Text in blocks of whole lines, parsed ahead of the caller, and comments at its head."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import IO, Any, TypeVar

from ..files import threads_of
from .number_text import is_like_number

T = TypeVar("T")
S = TypeVar("S")
PIECE = 1 << 18
"""Bytes of a piece, about: a few arrays of one number a byte fit a processor's cache."""
BOM = b"\xef\xbb\xbf"
LONGEST = 1 << 20
"""Bytes that a line of text may have."""
_END: Any = object()

METADATA_MARK = re.compile(rb"^#[ \t]*ir_metadata\.(start|end)[ \t\r]*$")
_GLUED = re.compile(rb"#+[^\s#]")
_BETWEEN = re.compile(rb"[\s,]+")
_ROW_FIELDS, _MOST_FIELDS = 3, 16


class LineTooLongError(Exception):
    """A line has more bytes than :data:`LONGEST`."""


def pieces(block: bytes, size: int = PIECE) -> Iterator[bytes]:
    r"""Yield the whole lines of a block in pieces of at least `size` bytes, the last one apart.

    >>> list(pieces(b"1\n22\n3\n4", 2))
    [b'1\n', b'22\n', b'3\n', b'4']
    """
    start = 0
    while start < len(block):
        end = block.find(b"\n", start + size - 1) + 1 or len(block)
        yield block[start:end]
        start = end


def lines_of(block: bytes) -> list[bytes]:
    r"""Return the lines of a block, without their ends.

    >>> lines_of(b"1\n\n22"), lines_of(b"1\n")
    ([b'1', b'', b'22'], [b'1'])
    """
    return block.removesuffix(b"\n").split(b"\n")


def line_blocks(stream: IO[bytes], size: int) -> Iterator[bytes]:
    """Yield the text of a stream in blocks of whole lines, of about `size` bytes.

    Raises
    ------
    LineTooLongError
    """
    block = stream.read(size).removeprefix(BOM) or stream.read(size)
    while block:
        rest = b"" if block.endswith(b"\n") else stream.readline(LONGEST + 1)
        if len(rest) > LONGEST:
            raise LineTooLongError
        yield block + rest
        block = stream.read(size)


def without_first_lines(block: bytes, n: int) -> tuple[bytes, int]:
    r"""Return a block without its first `n` lines, and how many it had of them.

    >>> without_first_lines(b"a\nb\nc\n", 2), without_first_lines(b"a\nb", 3)
    ((b'c\n', 2), (b'', 2))
    """
    start = passed = 0
    while passed < n and start < len(block):
        start, passed = block.find(b"\n", start) + 1 or len(block), passed + 1
    return block[start:], passed


def ahead(items: Iterable[T], depth: int = 2) -> Iterator[T]:
    """Yield `items`, computing up to `depth` of them in advance in one other thread.

    Reading and parsing release the interpreter's lock, so two processors share the work.

    >>> list(ahead(x * x for x in range(4)))
    [0, 1, 4, 9]
    """
    iterator = iter(items)
    with threads_of(1) as pool:
        waiting = deque(pool.submit(next, iterator, _END) for _ in range(depth))
        try:
            while (item := waiting.popleft().result()) is not _END:
                waiting.append(pool.submit(next, iterator, _END))
                yield item
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def each(function: Callable[[S], T], items: Iterable[S], threads: int = 2) -> Iterator[T]:
    """Yield the function of each item, in order, computed by some threads ahead of the caller.

    >>> list(each(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    with threads_of(threads) as pool:
        waiting: deque[Future[T]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def is_comment(line: bytes) -> bool:
    r"""Return whether a line at the head of a file is a comment, and not a row of query ``#...``.

    A row has its qid right after the ``#``, at least three fields, and a number after the qid.

    >>> is_comment(b"# made by me"), is_comment(b"#1 Q0 d7 1 0.5 t"), is_comment(b"#1,d7,0.5\r")
    (True, False, False)
    """
    if not line.startswith(b"#"):
        return False
    fields = _BETWEEN.split(line.strip(), _MOST_FIELDS)[:_MOST_FIELDS]
    numbers = (is_like_number(field.decode("utf-8", "replace")) for field in fields[1:])
    return not (_GLUED.match(line) and len(fields) >= _ROW_FIELDS and any(numbers))


def count_head(lines: Iterable[bytes]) -> int:
    r"""Return the number of lines up to the last comment before the first row.

    Blank lines may stand between comments. Every line of an ir_metadata block is a comment.

    >>> count_head([b"# by me", b"", b"#", b"1 Q0 d 1 2 t", b"#7 Q0 d 1 2 t"])
    3
    """
    last, in_metadata = 0, False
    for number, line in enumerate(lines, 1):
        mark = METADATA_MARK.match(line)
        if mark or is_comment(line) or (in_metadata and line.startswith(b"#")):
            last = number
            in_metadata = mark[1] == b"start" if mark else in_metadata
        elif line.strip():
            break
    return last
