"""How wide text is, and text made to fit."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

from ..escaping import legible

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
    r"""Return :func:`~harness.escaping.legible` texts, long ones cut to what still differs.

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
