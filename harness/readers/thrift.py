"""Thrift's compact protocol, in which a Parquet file says what is in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Fields = dict[int, Any]
"""A struct: its values by the numbers of their fields."""

_DEEPEST = 20
"""Structs and lists inside each other; Parquet's have five."""
_SEVEN_BITS, _LONG = 127, 63
"""What a byte of a number has, and a bit that says that more follow; and all that one may have."""
_NO_FIELDS: Mapping[int, Callable[[Any], Any]] = {}
_BYTE, _DOUBLE, _BINARY, _STRUCT = 3, 7, 8, 12
_TRUTHS, _INTEGERS, _LISTS = (1, 2), (4, 5, 6), (9, 10)
_LIST_OF_MANY = 15


def struct(
    data: bytes, at: int, made_of: Mapping[int, Callable[[Any], Any]] = _NO_FIELDS, depth: int = 0
) -> tuple[Fields, int]:
    r"""Return the struct that begins at a place, and the place behind it.

    Parameters
    ----------
    data : bytes
    at : int
        Where it begins.
    made_of : mapping of int to callable
        What is kept of each item of the lists in these fields; all by default.

    Raises
    ------
    IndexError
        Where it goes on behind the end of `data`.
    ValueError
        Where it is none.

    >>> struct(b"\x15\x02\x18\x02ab\x19\x25\x04\x06\x00rest", 0)
    ({1: 1, 2: b'ab', 3: [2, 3]}, 11)
    """
    if depth > _DEEPEST:
        raise ValueError("too many structs inside each other")
    fields: Fields = {}
    key = 0
    while head := data[at]:
        kind = head & 15
        if head >> 4:
            key += head >> 4
            at += 1
        else:
            key, at = _signed(data, at + 1)
        if kind in _INTEGERS:  # most are, and short: there can be millions
            if (number := data[at]) > _SEVEN_BITS:
                number, at = _unsigned(data, at)
            else:
                at += 1
            fields[key] = (number >> 1) ^ -(number & 1)
        elif kind == _STRUCT:
            fields[key], at = struct(data, at, _NO_FIELDS, depth + 1)
        elif kind in _TRUTHS:
            fields[key] = kind == _TRUTHS[0]
        else:
            fields[key], at = _value(data, at, kind, depth, made_of.get(key))
    return fields, at + 1


def _value(
    data: bytes, at: int, kind: int, depth: int, made_of: Callable[[Any], Any] | None = None
) -> tuple[Any, int]:
    if kind == _BINARY:
        length, at = _unsigned(data, at)
        if at + length > len(data):
            raise IndexError("a text behind the end")
        return data[at : at + length], at + length
    if kind in _INTEGERS:
        return _signed(data, at)
    if kind == _STRUCT:
        return struct(data, at, _NO_FIELDS, depth + 1)
    if kind in _LISTS and depth <= _DEEPEST:
        return _items(data, at, depth + 1, made_of)
    if kind in (_BYTE, _DOUBLE):
        size = 1 if kind == _BYTE else 8
        return data[at : at + size], at + size
    raise ValueError(f"a field of kind {kind}")


def _items(
    data: bytes, at: int, depth: int, made_of: Callable[[Any], Any] | None
) -> tuple[list[Any], int]:
    head = data[at]
    n, at = (head >> 4, at + 1) if head >> 4 < _LIST_OF_MANY else _unsigned(data, at + 1)
    kind = _BYTE if head & 15 in _TRUTHS else head & 15
    if n > len(data) - at:  # each takes a byte
        raise IndexError("items behind the end")
    items = []
    for _ in range(n):
        item, at = _value(data, at, kind, depth)
        items.append(item if made_of is None else made_of(item))
    return items, at


def _signed(data: bytes, at: int) -> tuple[int, int]:
    number, at = _unsigned(data, at)
    return (number >> 1) ^ -(number & 1), at


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while (byte := data[at]) > _SEVEN_BITS:
        number |= (byte & _SEVEN_BITS) << shift
        shift += 7
        at += 1
        if shift > _LONG:
            raise ValueError("a number without an end")
    return number | byte << shift, at + 1
