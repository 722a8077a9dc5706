"""On which line of a file a row stands, looked for after the file was read."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from ..core.ragged import Array
from ..errors import HarnessWarning, InputError, Problem
from .no_text import FIX, binary
from .source import HEAD, Source
from .whole_lines import LONGEST

IsData = Callable[[int, bytes], bool]
Words = Sequence[str]

_NEWLINE = 10
_FEW = 1 << 12
_BLANK, _HASH = 32, 35


def find_lines(
    source: Source, wanted: Mapping[int, Words], is_data: IsData, *, whole: bool
) -> dict[int, int]:
    """Return the line of each row that is found.

    Parameters
    ----------
    source : Source
        After it was read.
    wanted : mapping of int to sequence of str
        Words that the row of each position, from 0, has on its line: a line without them is
        another one, and is not returned.
    is_data : callable
        ``is_data(number, line)``: whether a line is a row.
    whole : bool
        Whether the file is read again, as far as the last of these rows. Else what was kept of
        it is looked at: its beginning, or all of a small one.
    """
    return {
        row: number for row, (number, _) in find_texts(source, wanted, is_data, whole=whole).items()
    }


def find_texts(
    source: Source, wanted: Mapping[int, Words], is_data: IsData, *, whole: bool
) -> dict[int, tuple[int, str]]:
    """Return the line of each row that is found, and its text; else as :func:`find_lines`."""
    texts = _again(source) if whole else _kept(source)
    found, rows = {}, sorted(wanted)
    for row, (number, line) in zip(rows, _lines(texts, rows, is_data), strict=False):
        if all(word.encode() in line for word in wanted[row]):
            found[row] = number, line.decode("utf-8", "replace").strip()
    return found


def check_length(source: Source) -> None:
    """Raise where the first line is longer than the lines of a text may be."""
    if len(source.head) > LONGEST and b"\n" not in source.head:
        raise InputError(source.too_long())


def check_binary(source: Source) -> None:
    """Raise where a file that was not understood begins as no text does."""
    if what := binary(source.read(HEAD)):  # a first line may have megabytes
        raise InputError(Problem(source.name, what, fix=FIX))


def last_line(source: Source) -> int:
    """Return the number of the last line, which has no end; the file is read again for it."""
    return 1 + sum(block.count(b"\n") for block in _again(source))


def _again(source: Source) -> Iterator[bytes]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HarnessWarning)  # said when it was read
        yield from Source(source.file).blocks()


def _kept(source: Source) -> Iterable[bytes]:
    """Return whole lines from the beginning of the text, as far as they are at hand."""
    pieces = source.sample.pieces
    if pieces:
        return pieces if source.sample.whole else pieces[: source.sample.begins]
    head = source.head
    return [head if len(head) < HEAD else head[: head.rfind(b"\n") + 1]]


def _lines(
    texts: Iterable[bytes], rows: Sequence[int], is_data: IsData
) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the text of each of these rows, which rise, as far as there are any."""
    wanted = iter(rows)
    row = next(wanted, None)
    n_lines = n_rows = 0
    for text in _cut(texts):
        data = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(data == _NEWLINE)
        if ends.size == 0 or ends[-1] != data.size - 1:
            ends = np.append(ends, data.size)
        starts = np.zeros_like(ends)
        starts[1:] = ends[:-1] + 1
        held: Sequence[int] | range = range(ends.size)
        if _has_others(data[starts]) or not (n_lines or is_data(1, text[: ends[0]])):
            lines = zip(starts.tolist(), ends.tolist(), strict=True)
            held = [
                at
                for at, (start, end) in enumerate(lines)
                if is_data(n_lines + at + 1, text[start:end])
            ]
        while row is not None and row < n_rows + len(held):
            at = held[row - n_rows]
            yield n_lines + at + 1, text[starts[at] : ends[at]]
            row = next(wanted, None)
        if row is None:
            return
        n_lines, n_rows = n_lines + ends.size, n_rows + len(held)


def _cut(texts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the texts, the first lines by themselves: most rows that are asked for are there."""
    for at, text in enumerate(texts):
        end = 0 if at else text.rfind(b"\n", 0, _FEW) + 1
        yield from filter(None, (text[:end], text[end:]))


def _has_others(first: Array) -> bool:
    """Whether a line may be blank or a comment, by the first byte of each, or its end."""
    return bool(((first <= _BLANK) | (first == _HASH)).any())
