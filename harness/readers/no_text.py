"""Bytes that are no text: what is wrong with them, and what to do."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1f\x7f]")
FIX = "give a text file; where it was one, copy or download it again"

_WIDE = {
    b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16",
}  # fmt: skip
"""Byte order marks; those of UTF-32 first, as one begins with that of UTF-16."""
AS_UTF8 = "save it as UTF-8"


def wide(head: bytes) -> str:
    """Return what is wrong with text that says to be of two or four bytes a character, or ``""``.

    >>> wide("name: a".encode("utf-16")), wide(b"name: a")
    ('the text is UTF-16', '')
    """
    names = (name for mark, name in _WIDE.items() if head.startswith(mark))
    return f"the text is {name}" if (name := next(names, "")) else ""


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
