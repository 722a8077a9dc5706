"""How many places text takes on a terminal."""

from __future__ import annotations

import unicodedata


def width(text: str) -> int:
    """Return the places that text takes: two for a wide character, none for a combining one.

    >>> width("bm25"), width("検索"), width("e\u0301")
    (4, 4, 1)
    """
    return sum(
        0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF")
        for sign in text
    )
