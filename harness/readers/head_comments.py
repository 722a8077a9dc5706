"""Comment lines at the head of a text: the only lines with ``#`` that are not rows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .number_text import is_like_number

METADATA_MARK = re.compile(rb"^#[ \t]*ir_metadata\.(start|end)[ \t\r]*$")
_GLUED = re.compile(rb"#+[^\s#]")
_BETWEEN = re.compile(rb"[\s,]+")
_ROW_FIELDS, _MOST_FIELDS = 3, 16


def is_comment(line: bytes) -> bool:
    r"""Return whether a line at the head of a file is a comment, and not a row of query ``#...``.

    A row has its qid right after the ``#``, at least three fields, and a number after the qid.

    >>> is_comment(b"# made by me"), is_comment(b"#1 Q0 d7 1 0.5 t"), is_comment(b"#1,d7,0.5\r")
    (True, False, False)
    """
    if not line.startswith(b"#"):
        return False
    fields = _BETWEEN.split(line.strip(), _MOST_FIELDS)[:_MOST_FIELDS]
    numbers = (is_like_number(field.decode("utf-8", "replace")) for field in fields[1:])
    return not (_GLUED.match(line) and len(fields) >= _ROW_FIELDS and any(numbers))


def count_head(lines: Iterable[bytes]) -> int:
    r"""Return the number of lines up to the last comment before the first row.

    Blank lines may stand between comments. Every line of an ir_metadata block is a comment.

    >>> count_head([b"# by me", b"", b"#", b"1 Q0 d 1 2 t", b"#7 Q0 d 1 2 t"])
    3
    """
    last, in_metadata = 0, False
    for number, line in enumerate(lines, 1):
        mark = METADATA_MARK.match(line)
        if mark or is_comment(line) or (in_metadata and line.startswith(b"#")):
            last = number
            in_metadata = mark[1] == b"start" if mark else in_metadata
        elif line.strip():
            break
        del line  # before the next one is read
    return last
