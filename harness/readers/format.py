"""What a format is: a name, what it reads, and how it is recognised."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Literal, TypeVar

from ..core.tables import Qrels, Run
from .source import HEAD, Source
from .text import LOOK, count_head, decoded, is_like_number, is_wrapped, separator

T = TypeVar("T")
_FIELDS = 16  # Fields of a line that are split off: one may have millions
Kind = Literal["qrels", "run"]
IsDataLine = Callable[[int, bytes], bool]  # ``is_data(number, line)``: whether a line is a row


class ScatteredQueries(Exception):  # noqa: N818 - a signal, not an error of the file
    """A query came back in a later part; the run has to be read whole."""


def name_it(kind: Kind, names: str) -> str:
    """Return how to name a format, for the fix of a message."""
    return f"name it: format: {names} in the config, --{kind}-format {names} on the command line"


@dataclass(frozen=True)
class Head:
    """The first unpacked bytes of a file and its suffix, such as ``.csv``; they tell the format."""

    suffix: str
    data: bytes

    @cached_property
    def lines(self) -> list[bytes]:
        """The first lines (at most 20) that are neither blank nor a comment at the head.

        The last line of `data` counts only if it is complete, or there is no other.
        """
        whole, end, rest = self.data.rpartition(b"\n")
        lines = whole.split(b"\n") if end else []
        is_all = not end or len(self.data) < HEAD
        start = count_head([*lines, rest] if is_all else lines)
        found = list(islice(filter(bytes.strip, lines[start:]), 20))
        if not found and is_all and rest.strip() and start <= len(lines):
            return [rest]
        return found

    @property
    def first(self) -> int:
        """Number of the first of these lines."""
        return self.data.split(b"\n").index(self.lines[0]) + 1

    @property
    def first_text(self) -> str:
        """The first of these lines."""
        return decoded(self.lines[0])

    @cached_property
    def fields(self) -> list[list[str]]:
        """The same lines, split at white space as far as formats tell them apart by it."""
        return [[decoded(field) for field in line.split(None, _FIELDS)] for line in self.lines]

    @property
    def has_heading(self) -> bool:
        """Whether a line of names is above lines of numbers, as in ``,0`` and ``0,0.53``."""
        if len(self.lines) < 2 or len(self.lines[0]) > LOOK:
            return False
        rows = [decoded(line).strip() for line in self.lines]
        between = separator(rows[0])
        names, *numbers = ([one.strip('" ') for one in row.split(between)] for row in rows)
        is_index = len(names) > 1 and names[0] in ("", "Unnamed: 0")
        if not is_index and any(map(is_like_number, names)):
            return False
        if any(len(one.split()) != 1 or is_wrapped(one) for one in names[is_index:]):
            return False
        return self.mostly(
            numbers,
            lambda row: len(row) == len(names) and all(not x or is_like_number(x) for x in row),
        )

    @staticmethod
    def mostly(items: Sequence[T], fits: Callable[[T], bool]) -> bool:
        """Return whether more than half of `items` fit: one bad line must not hide a format."""
        return 2 * sum(map(fits, items)) > len(items)


@dataclass(frozen=True)
class Format:
    """One way to write qrels or runs to a file."""

    name: str  # for the key format of a config
    about: str  # one line for lists of formats
    suffixes: tuple[str, ...]  # for lists of formats, not for deciding
    # looks(head, kind): whether a file that begins like this is surely of this format
    looks: Callable[[Head, Kind], bool]
    # qrels(source, *, duplicates, name, fractions, **options)
    qrels: Callable[..., Qrels] | None = None
    # run(source, *, dataset, duplicates, name, **options)
    run: Callable[..., Run] | None = None
    # as run, but yields parts that hold whole queries each, or raises ScatteredQueries
    stream: Callable[..., Iterator[Run]] | None = None
    needs_dataset: bool = False  # whether a run follows the rows of a dataset
    magic: tuple[bytes, ...] = ()  # how files begin that are not text
    # is_data(source): which lines are rows, for files with one row a line, in order; or None
    is_data: Callable[[Source], IsDataLine | None] | None = None
    has_rows: bool = False  # whether messages number the rows of a file, from 1

    def reader(self, kind: Kind) -> Callable[..., Any] | None:
        """Return the function that reads this kind of table, or None."""
        return self.qrels if kind == "qrels" else self.run

    def options(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of this format's own options."""
        reader = self.reader(kind)
        common = {"of", "source", "dataset", "duplicates", "name", "fractions", "how"}
        names = inspect.signature(reader).parameters if reader is not None else ()
        return tuple(name for name in names if name not in common)
