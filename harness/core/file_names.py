"""Names that become names of files: which ones every system takes, and others made so."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from ..escaping import legible

LONGEST = 200
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
    return f"has {n} bytes, and at most {LONGEST} fit" if n > LONGEST else ""


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
