"""The lines of a text that are wrong: the first of them, and how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from ..errors import SHOWN, InputError, Problem
from .pieces import lines_of, pieces
from .source import Source

LIMIT = 1_000
"""Wrong lines after which the rest is not looked at: to tell why a line is wrong takes 10 us."""
TEXT = 1 << 16
"""Bytes of a wrong line that are kept, to be shown."""
_PARTS = 8
_SMALL = 1 << 13


@dataclass
class WrongLines:
    """What is wrong with some lines.

    Attributes
    ----------
    problems : list of Problem
        Of the first ones, with their places and texts.
    total : int
        How many lines are wrong, as far as they were looked at.
    last : int
        Number of the last line that was looked at.
    """

    problems: list[Problem] = field(default_factory=list)
    total: int = 0
    last: int = 0

    def error(self) -> InputError:
        """Return the error that lists them."""
        return InputError(self.problems, total=self.total, at_least=self.total == LIMIT)


def wrong_lines(
    source: Source,
    lines: Iterable[tuple[int, bytes]],
    check: Callable[[bytes], Problem | None],
) -> WrongLines:
    """Return what `check` says of the lines, up to :data:`LIMIT` wrong ones.

    Parameters
    ----------
    lines : iterable of (int, bytes)
        Those to look at, with their numbers.
    check : callable
        Returns what is wrong with a line, wherever it stands; None where nothing is.
    """
    found = WrongLines()
    for number, line in lines:
        found.last = number
        wrong = check(line)
        if wrong:
            found.total += 1
            if len(found.problems) < SHOWN:
                where, text = f"{source.name}:{number}", line[:TEXT].decode("utf-8", "replace")
                found.problems.append(replace(wrong, where=where, found=text))
            if found.total == LIMIT:
                break
        del line  # before the next one is read
    return found


def doubtful_lines(source: Source, reads: Callable[[bytes], bool]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines among which all wrong ones are, with their numbers from 1.

    Of each stretch of lines that can be read together, only the first and the last one are
    yielded: a large file with a wrong line at its end is searched as fast as it is read.

    Parameters
    ----------
    reads : callable
        Whether some whole lines can be read.
    """
    number = 1
    for block in source.blocks():
        for piece, is_sound in _stretches(block, reads):
            n = piece.count(b"\n") + (not piece.endswith(b"\n"))
            if is_sound:
                yield number, piece[: piece.find(b"\n")] if n > 1 else piece.removesuffix(b"\n")
                if n > 1:
                    yield number + n - 1, piece[piece.rfind(b"\n", 0, -1) + 1 :].removesuffix(b"\n")
            else:
                at = number
                for line in lines_of(piece):
                    yield at, line
                    at += 1  # enumerate would hold the one before
                    del line
            number += n


def _stretches(block: bytes, reads: Callable[[bytes], bool]) -> Iterator[tuple[bytes, bool]]:
    """Yield stretches of a block, and whether each can be read; what cannot is cut up small."""
    if reads(block):
        yield block, True
    elif len(block) <= _SMALL:
        yield block, False
    else:
        for part in pieces(block, max(len(block) // _PARTS, _SMALL // 2)):
            if len(part) == len(block):  # one long line
                yield part, False
            else:
                yield from _stretches(part, reads)
