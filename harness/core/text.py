"""Width of text, text cut to fit, and names that become files."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from importlib import import_module

from ..errors import legible

LONGEST = 120
"""Characters of a name in a table for a terminal."""
LONGEST_FILE_NAME = 200
"""Bytes of a name: file systems take 255, with an ending and while it is written."""
_RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³])(\..*)?", re.I | re.S)


def width(text: str) -> int:
    """Return the columns that text takes: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF")
        for sign in text
    )


def flush_left(text: str, size: int) -> str:
    """Return text with blanks after it, `size` columns in all."""
    return text + " " * (size - width(text))


def flush_right(text: str, size: int) -> str:
    """Return text with blanks before it, `size` columns in all."""
    return " " * (size - width(text)) + text


def cut(text: str, width: int) -> str:
    """Return `text` in at most `width` characters, its middle left out."""
    text = legible(" ".join(text.split()))
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[len(text) - end :]}"


def cut_all(texts: Sequence[str], width: int) -> list[str]:
    """Return the texts cut; those that look the same then are cut around their first difference."""
    short = [cut(text, width) for text in texts]
    for name in [name for name, times in Counter(short).items() if times > 1]:
        places = [place for place, text in enumerate(short) if text == name]
        group = [legible(" ".join(texts[place].split())) for place in places]
        columns = enumerate(zip(*group, strict=False))
        start = max(next((at for at, signs in columns if len({*signs}) > 1), 0) - 1, 0)
        around = [f"{text[:2]}…{text[start : start + width - 4]}…" for text in group]
        numbered = [f"{name} {number}" for number in range(1, len(group) + 1)]
        for place, text in zip(
            places, around if len({*around}) == len(group) else numbered, strict=True
        ):
            short[place] = text
    return short


def readable(texts: Sequence[str]) -> list[str]:
    """Return :func:`~harness.errors.legible` texts, long ones cut to what still differs."""
    shown = list(map(legible, texts))
    long = [text for text in dict.fromkeys(shown) if len(text) > LONGEST]
    short = dict(zip(long, cut_all(long, LONGEST), strict=True))
    return [short.get(text, text) for text in shown]


class Shown:
    """A value that shows its text: `print` it, or end a notebook's cell with it."""

    def _repr_html_(self) -> str:
        return f'<pre style="font-family: monospace">{escape(str(self))}</pre>'


def rendered(name: str, value: object) -> str:
    """Return what a function of :mod:`harness.reports.objects` makes of a value.

    It is loaded when a value is printed, since reports import the core.
    """
    text: str = getattr(import_module("harness.reports.objects"), name)(value)
    return text


def wrong_with(name: str) -> str:
    """Return why a name cannot be a file on every system; an empty text if it can."""
    if not name.strip():
        return "is empty"
    for sign in name:
        if sign in '/\\<>:"|?*' or legible(sign) != sign:
            return f"holds '{legible(sign)}'"
    if name[0] == ".":
        return "begins with a dot"
    if name[-1] in ". ":
        return "ends with a dot or a blank"
    if _RESERVED.fullmatch(name):
        return "is reserved on Windows"
    n = len(name.encode())
    return f"has {n} bytes, and at most {LONGEST_FILE_NAME} fit" if n > LONGEST_FILE_NAME else ""


def folded(name: str) -> str:
    """Return the same text for two names that some system takes for one file."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def readable_name(name: str) -> str:
    """Return a file's name as text, with bytes that are not UTF-8 as escapes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def part(text: str) -> str:
    """Return `text` as a part of a file name that every system and LaTeX take."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-")[:60].strip("-") or "x"


def distinct(stems: Iterable[str]) -> list[str]:
    """Return the stems, with a number after those that are taken already in any case."""
    names: dict[str, str] = {}
    for stem in stems:
        name, number = stem, 1
        while folded(name) in names:
            number += 1
            name = f"{stem}-{number}"
        names[folded(name)] = name
    return list(names.values())
