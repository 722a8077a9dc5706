"""What the pages of a Parquet file unpack to, by their own headers, before Arrow reads any.

A footer need not be true, and Arrow believes each page: what a page says that it unpacks to is made
room for, and a code of two bits may stand for a text of a megabyte.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from struct import Struct
from struct import error as StructError  # noqa: N812 - it is an exception
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ..core.ragged import Array
from .thrift import Fields, struct

_ROW_GROUPS, _COLUMNS, _OF_COLUMN = 4, 1, 3
_CODEC, _N_VALUES, _SIZE, _DATA, _DICTIONARY = 4, 5, 7, 9, 11
"""Fields of the footer."""
_KIND, _UNPACKED, _PACKED, _PAGE, _OF_DICTIONARY, _PAGE_2 = 1, 2, 3, 5, 7, 8
"""Fields of a page's header."""
_IS_DICTIONARY, _IS_DATA = 2, {0: (_PAGE, 2), 3: (_PAGE_2, 4)}
"""Kinds of pages; where those with data have what they say of it, and in that their encoding."""
_PREFIXES = 7
"""The encoding in which a text says how much of the one before it repeats."""
_CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
_WINDOW, _LONGEST_HEADER = 1 << 13, 1 << 24
_PIECE = 1 << 18
"""Bytes of a dictionary that are looked at together."""
_NUMBER = 8
"""Bytes that a value takes at least, as a number or as the place of a text."""
_LENGTH = Struct("<I")


class DamagedError(Exception):
    """Pages are not where the footer says, or are none."""


class Readable(Protocol):
    """A file of Arrow's."""

    def read_at(self, nbytes: int, offset: int) -> bytes:
        """Return bytes from a place on."""

    def size(self) -> int:
        """Return how many there are."""


@dataclass(frozen=True)
class Group:
    """Some columns of a row group.

    Parameters
    ----------
    unpacked : int
        Bytes of their pages, and eight for each value.
    longest : int
        Bytes that a text may have which takes few of them: of a dictionary, or with a prefix.
    """

    unpacked: int
    longest: int


def footer_of(file: Readable) -> bytes:
    """Return what a Parquet file says of itself, of which Arrow has found that it is there."""
    size = file.size()
    length = int.from_bytes(file.read_at(8, size - 8)[:4], "little")
    return file.read_at(length + 8, size - length - 8)


def groups_of(
    file: Readable,
    footer: bytes,
    columns: Sequence[int],
    long: Sequence[int],
    check: Callable[[int], None],
) -> Iterator[Group]:
    """Yield the row groups of a file.

    Parameters
    ----------
    file : file of Arrow's
    footer : bytes
    columns : sequence of int
        Places of the columns to look at.
    long : sequence of int
        Those of them whose values may be longer than a number.
    check : callable
        Gets the bytes that what was looked at unpacks to, before any of it is unpacked.

    Raises
    ------
    DamagedError
    """
    try:
        found = struct(footer, 0, {_ROW_GROUPS: partial(_chunks, columns=columns)})[0]
        total = 0
        for chunks in found.get(_ROW_GROUPS, ()):
            unpacked, longest = 0, 1
            for place, chunk in zip(columns, chunks, strict=True):
                for page in _pages(file, chunk):
                    unpacked += page.unpacked
                    check(total + unpacked)
                    if place in long and page.is_repeated:
                        longest = max(longest, page.longest(file))
            total += unpacked
            yield Group(unpacked, longest)
    except (IndexError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise DamagedError(str(error)) from None


def _chunks(group: Fields, columns: Sequence[int]) -> list[Fields]:
    """Return what a row group says of some columns: a large file has many of both."""
    keys = (_CODEC, _N_VALUES, _SIZE, _DATA, _DICTIONARY)
    given = [group[_COLUMNS][place][_OF_COLUMN] for place in columns]
    return [{key: of[key] for key in keys if key in of} for of in given]


@dataclass(frozen=True)
class _Page:
    start: int
    packed: int
    size: int
    """Bytes of its content, once unpacked."""
    codec: int
    n_values: int
    is_dictionary: bool
    is_repeated: bool

    @property
    def unpacked(self) -> int:
        return self.size + _NUMBER * self.n_values

    def longest(self, file: Readable) -> int:
        """Return the bytes of the longest text of a dictionary; at most, where that is not told."""
        most = self.size
        if not self.is_dictionary or most <= _WINDOW:
            return most
        with contextlib.suppress(pa.ArrowException, OSError, ValueError, StructError):
            return _longest(self._content(file), self.n_values)
        return most

    def _content(self, file: Readable) -> Any:
        packed = file.read_at(self.packed, self.start)
        if not self.codec:
            return packed
        if self.codec not in _CODECS:
            raise ValueError("a codec that is not taken apart here")
        return pa.Codec(_CODECS[self.codec]).decompress(packed, self.size)


def _longest(content: Any, n_values: int) -> int:
    """Return the bytes of the longest of some texts, each of which its length precedes."""
    if found := _of_short(np.frombuffer(content, np.uint8), n_values):
        return found
    length_at, view, at, longest = _LENGTH.unpack_from, memoryview(content), 0, 0
    for _ in range(n_values):
        (length,) = length_at(view, at)
        if length > longest:
            longest = length
        at += length + 4
    return max(longest, 1)


def _of_short(data: Array, n_values: int) -> int:
    """Return the same where all are of 1 to 255 bytes without a zero, as names are; else 0.

    Three zero bytes stand then in each length and nowhere else.
    """
    found = [np.zeros(0, np.int64)]
    for first in range(0, data.size - 3, _PIECE):
        one, two, three = (data[first + i :][:_PIECE] for i in (1, 2, 3))
        found.append(np.flatnonzero((one[: three.size] | two[: three.size] | three) == 0) + first)
        if found[-1].size > _PIECE // 4:
            return 0
    at = np.concatenate(found)
    del found
    if not n_values or at.size != n_values or at[0]:
        return 0
    lengths = data[at]
    ends = at + lengths + _LENGTH.size
    return int(lengths.max()) if (ends == np.append(at[1:], data.size)).all() else 0


def _pages(file: Readable, chunk: Fields) -> Iterator[_Page]:
    """Yield the pages of a column, as Arrow comes to them."""
    at = chunk[_DATA]
    if 0 < chunk.get(_DICTIONARY, 0) < at:
        at = chunk[_DICTIONARY]
    end = at + chunk[_SIZE]
    if at < 0 or end > file.size():
        raise ValueError("a column behind the end of the file")
    window, start, n_seen = b"", at, 0
    while at < end and n_seen < chunk[_N_VALUES]:
        if not start <= at < start + len(window) - _WINDOW // 2:
            window, start = file.read_at(_WINDOW, at), at
        header, behind = _header(file, window, at - start, at)
        kind, packed, size = header[_KIND], header[_PACKED], header[_UNPACKED]
        n_values, is_dictionary, encoding = 0, kind == _IS_DICTIONARY, None
        if is_dictionary:
            n_values = header[_OF_DICTIONARY][1]
        elif kind in _IS_DATA:
            field, place = _IS_DATA[kind]
            n_values, encoding = header[field][1], header[field][place]
            n_seen += n_values
        if min(packed, size, n_values) < 0:
            raise ValueError("a page of less than nothing")
        is_repeated = is_dictionary or encoding == _PREFIXES
        yield _Page(at + behind, packed, size, chunk[_CODEC], n_values, is_dictionary, is_repeated)
        at += behind + packed


def _header(file: Readable, window: bytes, place: int, at: int) -> tuple[Fields, int]:
    """Return the header at a place, and its size; it has the least and the greatest text in it."""
    size = _WINDOW
    try:
        header, behind = struct(window, place)
        return header, behind - place
    except IndexError:
        while size < _LONGEST_HEADER:
            size *= 8
            with contextlib.suppress(IndexError):
                return struct(file.read_at(size, at), 0)
        raise
