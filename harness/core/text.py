"""How wide text is, and text made to fit."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from ..errors import legible

LONGEST = 120
"""Characters of a name in a table for a terminal."""


def width(text: str) -> int:
    """Return the places that text takes: two for a wide character, none for a combining one.

    >>> width("bm25"), width("検索"), width("e\u0301")
    (4, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF")
        for sign in text
    )


def flush_left(text: str, size: int) -> str:
    """Return text with blanks behind it, `size` places in all."""
    return text + " " * (size - width(text))


def flush_right(text: str, size: int) -> str:
    """Return text with blanks before it, `size` places in all."""
    return " " * (size - width(text)) + text


def cut(text: str, width: int) -> str:
    """Return `text` in at most `width` characters, its middle left out.

    >>> cut("a-very-long-name-of-a-run", 12)
    'a-very…a-run'
    """
    text = _one_line(text)
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[len(text) - end :]}"


def cut_all(texts: Sequence[str], width: int) -> list[str]:
    """Return the texts, each cut where that leaves them different; else they are numbered.

    >>> cut_all(["model-a-of-fold1", "model-b-of-fold1", "bm25"], 13)
    ['mo…a-of-fold1', 'mo…b-of-fold1', 'bm25']
    >>> cut_all(["a" * 20 + "1" + "b" * 20, "a" * 20 + "2" + "b" * 20], 9)
    ['aa…a1bbb…', 'aa…a2bbb…']
    >>> cut_all(["same-name", "same-name"], 9)
    ['same-name 1', 'same-name 2']
    """
    found = [cut(text, width) for text in texts]
    again = Counter(found)
    for short in [short for short, times in again.items() if times > 1]:
        places = [place for place, text in enumerate(found) if text == short]
        group = [_one_line(texts[place]) for place in places]
        for place, text in zip(places, _told_apart(group, short, width), strict=True):
            found[place] = text
    return found


def readable(texts: Sequence[str]) -> list[str]:
    r"""Return :func:`~harness.errors.legible` texts, long ones cut to what still differs.

    >>> readable(["a\x1b", "b" * 1000])[0], len(readable(["a", "b" * 1000])[1])
    ('a\\x1b', 120)
    """
    found = list(map(legible, texts))
    long = [text for text in dict.fromkeys(found) if len(text) > LONGEST]
    short = dict(zip(long, cut_all(long, LONGEST), strict=True))
    return [short.get(text, text) for text in found]


def _one_line(text: str) -> str:
    return legible(" ".join(text.split()))


def _told_apart(group: Sequence[str], short: str, width: int) -> list[str]:
    columns = enumerate(zip(*group, strict=False))
    differ = next((at for at, letters in columns if len(set(letters)) > 1), 0)
    start = max(differ - 1, 0)
    ways = (
        [f"{text[:2]}…{text[len(text) - width + 3 :]}" for text in group],
        [f"{text[: width - 1]}…" for text in group],
        [f"{text[:2]}…{text[start : start + width - 4]}…" for text in group],
        [f"{short} {number}" for number in range(1, len(group) + 1)],
    )
    return next(way for way in ways if len(set(way)) == len(group))


LONGEST_FILE_NAME = 200
"""Bytes of a name: file systems take 255, with an ending and while it is written."""
_RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³])(\..*)?", re.I | re.S)
_SIGNS = '/\\<>:"|?*'


def wrong_with(name: str) -> str:
    """Return why a name is none that every system takes for a file; nothing where it is one.

    >>> wrong_with("main"), wrong_with("検索")
    ('', '')
    >>> wrong_with("../main")
    "holds '/'"
    >>> wrong_with(".main"), wrong_with("CON"), wrong_with("a" * 201)
    ('begins with a dot', 'is reserved on Windows', 'has 201 bytes, and at most 200 fit')
    """
    if not name.strip():
        return "is empty"
    for sign in name:
        if sign in _SIGNS or legible(sign) != sign:
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
    """Return what is the same for two names that some system takes for one file.

    >>> folded("Main") == folded("main"), folded("e\u0301") == folded("\u00e9")
    (True, True)
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def readable_name(name: str) -> str:
    r"""Return a file's name as text, bytes of it that are no UTF-8 as escapes.

    >>> print(readable_name("a\udcff.run"))
    a\xff.run
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def part(text: str) -> str:
    """Return `text` as a part of a file's name that every system and LaTeX take.

    >>> part("rbo(p=0.9,reference=a/b)@10"), part("../\N{GREEK SMALL LETTER ALPHA}")
    ('rbo-p-0-9-reference-a-b-10', 'x')
    """
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-")[:60].strip("-") or "x"


def distinct(stems: Iterable[str]) -> list[str]:
    """Return the stems with a number after those that were there before, whatever their case.

    >>> distinct(["a", "b", "A"])
    ['a', 'b', 'A-2']
    """
    taken: set[str] = set()
    found = []
    for stem in stems:
        name, number = stem, 1
        while folded(name) in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(folded(name))
        found.append(name)
    return found
