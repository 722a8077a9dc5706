"""A JSON object of objects in pieces, so that a file is never whole in memory as Python's values.

A file is cut at commas between the members of its objects. What is between two cuts is a whole JSON
text once the objects that are open where it begins are opened before it, with a member in each, and
closed behind it, with another: Python's own reader says of it what it would say of the whole file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from ..errors import InputError, Problem
from .json_text import TooLong, parse
from .source import Source
from .whole_lines import BOM

_BLOCK = 1 << 17
"""Bytes that are read and parsed at a time."""
LONGEST = 1 << 19
"""Bytes without a comma at which the text can be cut: a name, or a value that is no number."""

_BLANKS = re.compile(rb"[ \t\r\n]{1024,}")
"""Blanks that are left out where they are between names and values, so many of them."""

_OBJECT, _LIST, _END, _COMMA, _QUOTE = 1, 2, 3, 4, 5
_KINDS = np.zeros(256, np.int8)
for _kind, _bytes in (
    (_OBJECT, b"{"),
    (_LIST, b"["),
    (_END, b"}]"),
    (_COMMA, b","),
    (_QUOTE, b'"'),
):
    _KINDS[[*_bytes]] = _kind
_QUOTE_MARK = ord('"')
_STEPS = np.array([0, 1, 1, -1, 0, 0], np.int32)
"""How many more are open after each kind."""
_BEFORE = (b"", b'{"":0', b'{"":{"":0')
_AFTER = (b"", b',"":0}', b',"":0}}')
"""What stands before and behind a piece where so many objects are open."""
_WRITE = 'write {"q1": {"d1": 1, "d2": 0}}'


def pieces(source: Source) -> Iterator[tuple[bool, list[tuple[str, Any]]]]:
    """Yield the members of the object that a file holds, objects among them cut where need be.

    Yields
    ------
    goes_on : bool
        Whether the first member is the rest of the last one before, whose key it lacks.
    members : list of (str, value)
        An object is a tuple of its members.

    Raises
    ------
    InputError
        Where the file is not JSON, with the line; or no object.
    """
    place, scan = _Place(source.name), _Scan()
    held = _Held()
    with source.explained(), source.open() as stream:
        for block in blocks(stream):
            if place.is_start and held.is_blank() and block.lstrip().startswith(b"["):
                raise no_mapping(source.name)
            cut, depth = scan.take(block)
            if cut >= 0:
                yield place.read(held.and_then(block[:cut]), depth)
                held = _Held([block[cut:]])
            else:
                held = held.and_then(block)
                if held.size > LONGEST and held.without_blanks().size > LONGEST:
                    place.refuse(held)
    yield place.read(held, 0)


def no_mapping(name: str) -> InputError:
    """Return the error for JSON that is something else."""
    return InputError(Problem(name, "not a mapping of qid to docno to number", fix=_WRITE))


def blocks(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a file, cut in no escape."""
    block = stream.read(_BLOCK).removeprefix(BOM) or stream.read(_BLOCK)
    while block:
        while (len(block) - len(block.rstrip(b"\\"))) % 2 and (more := stream.read(1)):
            block += more
        yield block
        block = stream.read(_BLOCK)


def _after(text: bytes, line: int, column: int) -> tuple[int, int]:
    """Return the line, and how many characters of it are before, after a text that begins there."""
    line_end = text.rfind(b"\n") + 1
    return line + text.count(b"\n"), len(text[line_end:].decode("utf-8", "replace")) + (
        0 if line_end else column
    )


@dataclass
class _Held:
    """Text that begins outside of names, as it was read but for blanks that were left out."""

    parts: list[bytes] = field(default_factory=list)
    gaps: list[tuple[int, int, int]] = field(default_factory=list)
    """Where one blank stands for many, as bytes before it: line ends among them, or none, and
    characters after the last one."""

    @property
    def size(self) -> int:
        """Bytes, those left out not counted."""
        return sum(map(len, self.parts))

    def is_blank(self) -> bool:
        """Whether there is nothing but blanks."""
        return not any(part.strip() for part in self.parts)

    def and_then(self, block: bytes) -> _Held:
        """Return this with a block behind it."""
        return _Held([*self.parts, block], self.gaps)

    def without_blanks(self) -> _Held:
        """Leave out all but one of many blanks; the names and values stay."""
        text = b"".join(self.parts)
        quotes = np.flatnonzero(np.frombuffer(unescaped(text), np.uint8) == _QUOTE_MARK)
        parts: list[bytes] = []
        gaps: list[tuple[int, int, int]] = []
        end = size = 0
        for run in _BLANKS.finditer(text):
            start = run.start()
            if np.searchsorted(quotes, start) % 2:
                continue  # in a name
            parts += [text[end:start], b" "]
            gaps += [(at - end + size, n, m) for at, n, m in self.gaps if end <= at < start]
            size += start - end
            gaps.append((size, *self.after(run.end(), 0, 0, start)))
            size, end = size + 1, run.end()
        gaps += [(at - end + size, n, m) for at, n, m in self.gaps if end <= at]
        self.parts, self.gaps = [*parts, text[end:]], gaps
        return self

    def after(self, end: int, line: int, column: int, start: int = 0) -> tuple[int, int]:
        """Return line and column of the place `end`, where those of `start` are given."""
        text = b"".join(self.parts)
        for at, lines, columns in self.gaps:
            if start <= at < end:
                line, column = _after(text[start:at], line, column)
                line, column = line + lines, columns + (0 if lines else column)
                start = at + 1
        return _after(text[start:end], line, column)


def unescaped(text: bytes) -> bytes:
    """Return a text of the same size in which each quotation mark begins or ends a name."""
    if b"\\" not in text:
        return text
    return text.replace(rb"\\", b"..").replace(rb"\"", b"..")


class _Scan:
    """How deep in a JSON text, and in what, the bytes end that were taken in."""

    def __init__(self) -> None:
        self.is_quoted, self.depth, self.second = False, 0, 0

    def take(self, block: bytes) -> tuple[int, int]:
        """Take bytes in; return where they can be cut last, and how many objects are open there.

        -1 where they cannot. Of lists nothing is cut off, as they belong to no run.
        """
        block = unescaped(block)
        kinds = _KINDS[np.frombuffer(block, np.uint8)]
        at = np.flatnonzero(kinds)
        kinds = kinds[at]
        quotes = kinds == _QUOTE
        is_quoted = (np.cumsum(quotes) + self.is_quoted) % 2 == 1
        self.is_quoted = bool(is_quoted[-1]) if at.size else self.is_quoted
        at, kinds = at[~is_quoted & ~quotes], kinds[~is_quoted & ~quotes]
        depth = self.depth + np.cumsum(_STEPS[kinds])
        self.depth = int(depth[-1]) if at.size else self.depth

        opening = np.flatnonzero((_STEPS[kinds] == 1) & (depth == 2))
        commas = np.flatnonzero((kinds == _COMMA) & ((depth == 1) | (depth == 2)))
        opened = np.append(kinds[opening], self.second)[np.searchsorted(opening, commas) - 1]
        commas = commas[(depth[commas] == 1) | (opened == _OBJECT)]
        self.second = int(kinds[opening[-1]]) if opening.size else self.second
        return (int(at[commas[-1]]), int(depth[commas[-1]])) if commas.size else (-1, 0)


@dataclass
class _Place:
    """Where in a file the next piece begins."""

    name: str
    line: int = 1
    column: int = 0
    """Characters before it in its line."""
    depth: int = 0
    """Objects that are open."""
    is_start: bool = True

    def read(self, held: _Held, depth: int) -> tuple[bool, list[tuple[str, Any]]]:
        """Return what :func:`pieces` yields for a text, at whose end `depth` objects are open."""
        found = self._parsed(held, _AFTER[depth])
        if not isinstance(found, tuple):
            raise no_mapping(self.name)
        members, goes_on = [*found], self.depth == 2
        if depth == 1:
            members.pop()
        elif depth == 2:
            members[-1] = members[-1][0], members[-1][1][:-1]
        if goes_on:
            members[0] = "", members[0][1][1:]
        elif self.depth == 1:
            del members[0]
        self.line, self.column = held.after(held.size, self.line, self.column)
        self.is_start, self.depth = False, depth
        return goes_on, members

    def refuse(self, held: _Held) -> None:
        """Raise for a text without an end: for what is wrong with its beginning, or its length."""
        self._parsed(held, None)
        what = f"{LONGEST:,} bytes without the end of a name or a value"
        raise InputError(Problem(f"{self.name}:{self.line}", what, fix=_WRITE))

    def _parsed(self, held: _Held, after: bytes | None) -> Any:
        """Return the value of a piece; None where it only lacks what is behind it."""
        before = _BEFORE[self.depth]
        text = b"".join([before, *held.parts, after or b""])
        if after is None:  # the last character may be cut
            text = text.decode("utf-8", "ignore").encode()
        try:
            return parse(text, tuple)
        except json.JSONDecodeError as error:
            said = error.msg.startswith("Unterminated")
            if after is None and (said or error.pos >= len(error.doc)):
                return None
            end = len(error.doc[: error.pos].encode()) - len(before)
            line, column = held.after(end, self.line, self.column)
            what = f"not JSON ({error.msg}, column {column + 1})"
            if isinstance(error, TooLong):
                what = f"{error.msg} (column {column + 1})"
            raise InputError(Problem(f"{self.name}:{line}", what)) from None
        except UnicodeDecodeError:
            raise InputError(Problem(self.name, "not UTF-8 text")) from None
        except ValueError as error:
            raise InputError(Problem(self.name, f"not JSON ({error})")) from None
