"""Lines and numbers of text: blocks of whole lines, comments at the head, numbers."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import count
from typing import Any, TypeVar

from ..core.qrels_and_runs import GRADE_LIMIT
from ..errors import Problem, shorten

T = TypeVar("T")
S = TypeVar("S")
BOM = b"\xef\xbb\xbf"
LONGEST = 1 << 20  # Bytes that a line of text may have
LOOK = 4096  # Characters of a line that are looked at; it may have millions
IsDataLine = Callable[[int, bytes], bool]
"""``is_data(number, line)``: whether a line is a row."""
_END: Any = object()

_GLUED = re.compile(rb"#+[^\s#]")

# one way to match only: on a field of a million digits, backtracking would take forever
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""A number as C's atof reads it: no hexadecimal, no NaN, no infinity."""
LIKE_NUMBER = rb"[+-]?(?i:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|nan|inf(?:inity)?)"
"""A pattern of fields that are meant as numbers, finite or not."""
_NOT_FINITE = re.compile(r"[+-]?(nan|inf(inity)?)", re.ASCII | re.IGNORECASE)
_WRAPPED = re.compile(r"\s*([A-Za-z_][\w.]*)?[(\[][(\[\s]*([^\s,()\[\]]+)", re.ASCII)
BETWEEN = re.compile(r"[\s,;]+", re.ASCII)
NUMBERS_IN_BRACKETS = "expected one number a line, got numbers in brackets"
ONE_EACH = (
    "write one number a line, such as series.to_csv(path, index=False, header=False); "
    "of several class probabilities, the one to rank by"
)


def decoded(line: bytes) -> str:
    """Return at most 64 KiB of text, whatever its bytes."""
    return line[: 1 << 16].decode("utf-8", "replace")


def lines_of(block: bytes) -> list[bytes]:
    """Return the lines of a block, without their ends."""
    return block.removesuffix(b"\n").split(b"\n")


def without_first_lines(block: bytes, n: int) -> tuple[bytes, int]:
    """Return a block without its first `n` lines, and how many it had of them."""
    start = passed = 0
    while passed < n and start < len(block):
        start, passed = block.find(b"\n", start) + 1 or len(block), passed + 1
    return block[start:], passed


def each(function: Callable[[S], T], items: Iterable[S], threads: int = 2) -> Iterator[T]:
    """Yield the function of each item, in order, computed by some threads ahead of the caller."""
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[T]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def ahead(items: Iterable[T]) -> Iterator[T]:
    """Yield `items`, computing some of them in advance in one other thread."""
    advance = partial(next, iter(items), _END)
    return iter(partial(next, each(lambda _: advance(), count(), 1)), _END)


def is_comment(line: bytes) -> bool:
    r"""Whether a line at the head of a file is a comment, and not a row of query ``#...``.

    A row has its qid right after the ``#``, at least three fields, and a number after the qid.

    >>> is_comment(b"# made by me"), is_comment(b"#1 Q0 d7 1 0.5 t"), is_comment(b"#1,d7,0.5\r")
    (True, False, False)
    """
    if not line.startswith(b"#"):
        return False
    fields = BETWEEN.split(decoded(line).strip(), 16)[:16]
    return not (_GLUED.match(line) and len(fields) > 2 and any(map(is_like_number, fields[1:])))


def count_head(lines: Iterable[bytes]) -> int:
    r"""Return the number of lines up to the last comment before the first row.

    >>> count_head([b"# by me", b"", b"#", b"1 Q0 d 1 2 t", b"#7 Q0 d 1 2 t"])
    3
    """
    last_comment = 0
    for number, line in enumerate(lines, 1):
        if is_comment(line):
            last_comment = number
        elif line.strip():
            break
    return last_comment


def is_like_number(text: str) -> bool:
    """Whether `text` is meant as a number, even if it is not finite."""
    return bool(NUMBER.fullmatch(text) or _NOT_FINITE.fullmatch(text))


def check_number(text: str, word: str, whole: bool = False) -> Problem | None:
    """Problem of a score or grade as it is written; the fix may be empty."""
    got = f"got '{shorten(text, 60)}'"
    if _NOT_FINITE.fullmatch(text) or (NUMBER.fullmatch(text) and not math.isfinite(float(text))):
        return Problem("", f"{word}: expected a finite number, {got}", rule="not-finite")
    if not NUMBER.fullmatch(text):
        fix = "write decimals with a point" if NUMBER.fullmatch(text.replace(",", ".")) else ""
        return Problem("", f"{word}: expected a number, {got}", fix=fix)
    fix = "grades are small numbers; scale or round them"
    if word == "grade" and not abs(float(text)) <= GRADE_LIMIT:
        message = f"grade: expected a number between -{GRADE_LIMIT} and {GRADE_LIMIT}, {got}"
        return Problem("", message, fix=fix)
    if whole and float(text) != int(float(text)):
        rule = "grade-values" if word == "grade" else ""  # the grade of one subtopic
        if word != "grade":
            fix = f"write whole numbers, or another name above a column without {word}s"
        return Problem("", f"{word}: expected a whole number, {got}", fix=fix, rule=rule)
    return None


def is_wrapped(line: str) -> bool:
    """Whether a line is numbers in brackets, as Python or PyTorch prints them.

    >>> [is_wrapped(line) for line in ("[0.5, 1.5]", "tensor(0.5)", "0.5", "[CLS] 0.5")]
    [True, True, False, False]
    """
    match = _WRAPPED.match(line[:LOOK])
    return match is not None and is_like_number(match[2])


def not_one_number(line: str) -> str:
    """Problem of a line that has more than one number; empty if it has one.

    >>> not_one_number("0.3 0.7"), not_one_number("0.5")
    ('expected one number a line, got 2 columns', '')
    """
    if is_wrapped(line):
        return NUMBERS_IN_BRACKETS
    n = len(BETWEEN.findall(line.strip())) + 1
    return f"expected one number a line, got {n:,} columns" if n > 1 else ""
