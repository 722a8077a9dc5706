"""A long JSON text part by part, so that few of its values are in memory as Python's.

A text is cut at commas. What is between two cuts is a whole text once the lists and objects that
are open where it begins are opened before it, and those open where it ends are closed behind it:
Python's own reader says of it what it would say of the whole text.
"""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np

from ..core.ragged import Array, Ints
from .json_pieces import blocks, unescaped
from .json_text import check_halves, once, value_of
from .whole_lines import BOM

_QUOTE, _COMMA, _OBJECT = b'",{'
_IS_MARK = np.isin(np.arange(256), list(b'{}[],"'))
_IS_OPENING = np.isin(np.arange(256), list(b"{["))
_HALF = "\ud800"
"""A key that no sound text has."""
_BEFORE = {_OBJECT: '{"\\ud800":', ord("["): "["}
_MORE = {_OBJECT: ',"\\ud800":0', ord("["): ",0"}
_AFTER = {_OBJECT: "}", ord("["): "]"}
"""What stands before and behind a part for each list or object that is open there."""

Members = list[tuple[str, Any]]


def parse_long(text: bytes) -> Any:
    r"""Return the value of a JSON text in which lists and objects inside others stand for any.

    Objects whose keys stand twice are refused, but for those that lie in others and are long.

    Parameters
    ----------
    text : bytes
        One line.

    Raises
    ------
    ValueError
        As :func:`~.json_text.parse` raises it.

    >>> parse_long(b'{"a": 1, "b": [[], 2], "c": [], "d": "e"}')
    {'a': 1, 'b': ['...'], 'c': [], 'd': 'e'}
    """
    try:
        found = _value(text)
    except json.JSONDecodeError:
        text.decode()  # that it is no text comes first
        raise
    check_halves(text)
    return found


def _value(text: bytes) -> Any:
    members: Members = []
    before = opened = b""
    start = end = place = 0
    is_quoted, text = False, text.removeprefix(BOM)
    for block in blocks(io.BytesIO(text)):
        at, marks, is_quoted = _outside(block, is_quoted)
        cut = int(np.append(np.flatnonzero(marks == _COMMA), -1).max())
        after = _opened(opened, marks[:cut]) if cut >= 0 else b""
        opened = _opened(opened, marks)
        if after:
            stop = end + int(at[cut])
            place = _part(text, slice(start, stop), before, after, place, members)[1]
            before, start = after, stop
        end += len(block)
    value, _ = _part(text, slice(start, end), before, b"", place, members)
    return once(members) if isinstance(value, dict) else _short(value)


def _outside(block: bytes, is_quoted: bool) -> tuple[Ints, Array, bool]:
    """Return the places and bytes of marks outside of names, and whether a name goes on."""
    data = np.frombuffer(unescaped(block), np.uint8)
    at = np.flatnonzero(_IS_MARK[data])
    marks = data[at]
    quotes = marks == _QUOTE
    inside = (np.cumsum(quotes) + is_quoted) % 2 == 1
    outside = ~inside & ~quotes
    return at[outside], marks[outside], bool(inside[-1]) if at.size else is_quoted


def _opened(opened: bytes, marks: Array) -> bytes:
    """Return what is open after some marks, where `opened` was before."""
    marks = marks[marks != _COMMA]
    if not marks.size:
        return opened
    opens = _IS_OPENING[marks]
    depth = np.cumsum(np.where(opens, 1, -1))
    stays = opens & (depth <= np.minimum.accumulate(depth[::-1])[::-1])
    return opened[: max(len(opened) + min(int(depth.min()), 0), 0)] + marks[stays].tobytes()


def _part(
    text: bytes, where: slice, before: bytes, after: bytes, place: int, members: Members
) -> tuple[Any, int]:
    """Return the value of a part, and the characters up to its end; add members of the object.

    Parameters
    ----------
    before, after : bytes
        What is open where it begins, and where it ends.
    place : int
        Characters before it.
    """
    part = str(memoryview(text)[where], "utf-8")
    n = len(part)
    start = "".join(map(_BEFORE.__getitem__, before)) + "0" * bool(before)
    end = _MORE[after[-1]] + "".join(map(_AFTER.__getitem__, reversed(after))) if after else ""
    if start or end:
        part = f"{start}{part}{end}"
    try:
        value = value_of(part, _sound)
    except json.JSONDecodeError as error:
        raise type(error)(error.msg, "", error.pos - len(start) + place) from None
    if isinstance(value, dict):
        members += [(key, _short(of)) for key, of in value.items()]
    return value, place + n


def _sound(pairs: Members) -> dict[str, Any]:
    return once([pair for pair in pairs if pair[0] != _HALF])


def _short(value: Any) -> Any:
    """Return what stands for a value."""
    if isinstance(value, dict) and value:
        return {"...": "..."}
    return ["..."] if isinstance(value, list) and value else value
