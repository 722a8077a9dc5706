"""Bytes that are no text: what is wrong with them, and what to do."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1f\x7f]")
FIX = "give a text file; where it was one, copy or download it again"


def binary(head: bytes) -> str:
    """Return why the beginning of a file is no text; ``""`` where it may be one.

    Control characters and bytes that are not UTF-8 are a quarter of it; of random bytes, both are
    a half. A text has one kind of them at most: bytes of another encoding.

    >>> binary(bytes(range(1, 256)))
    'not text: it holds control characters, and bytes that are not UTF-8'
    >>> binary("K\\xf6ln".encode("latin-1"))
    ''
    """
    text = head.decode("utf-8", "replace")
    controls = len(_CONTROL.findall(text))
    if not controls or 4 * (controls + text.count("\ufffd")) < len(text):
        return ""
    return "not text: it holds control characters, and bytes that are not UTF-8"
