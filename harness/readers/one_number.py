"""Lines of predictions that hold numbers, and not one number: lists, tensors, several columns."""

from __future__ import annotations

import re
from itertools import takewhile

from .number_text import is_like_number

BELONGS = "where one number a line belongs"
ONE_EACH = (
    "write each number on a line of its own, as '\\n'.join(map(str, scores)) does; of several for "
    "one row, such as the probabilities of classes, the one to rank by"
)
LOOK = 4096
"""Characters of a line that are looked at; it may have millions."""
_WRAPPED = re.compile(r"([A-Za-z_][\w.]*)?[(\[][(\[\s]*([^()\[\]]*)(.?)", re.ASCII)
_BETWEEN = re.compile(r"[\s,]+")


def wrapped(line: str) -> tuple[str, str] | None:
    """Return what is wrong with a line of numbers as a program shows them, and what to do.

    None for other lines.

    >>> wrapped("[0.5, 1.5]")[0]
    'a list of numbers where one number a line belongs'
    >>> wrapped("tensor(0.5, device='cuda:0')")[1]
    'write 0.5 alone, as .item() and .tolist() give it'
    >>> wrapped("[0.5]")[1]
    'write 0.5 alone; numbers of shape (n, 1) are written so after .ravel()'
    >>> wrapped("0.5"), wrapped("[CLS] 0.5")
    (None, None)
    """
    found = _WRAPPED.match(line[:LOOK].strip())
    words = [word for word in _BETWEEN.split(found[2]) if word] if found else []
    numbers = [*takewhile(is_like_number, words)]
    rest = words[len(numbers) :]
    if found is None or not numbers:
        return None
    is_cut = not found[3] and len(rest) == 1  # as the beginning of a long line is
    if rest and not is_cut and "=" not in rest[0]:
        return None
    if len(numbers) > 1 or not found[3]:
        return f"a list of numbers {BELONGS}", ONE_EACH
    how = (
        ", as .item() and .tolist() give it"
        if found[1]
        else "; numbers of shape (n, 1) are written so after .ravel()"
    )
    return f"a number in brackets {BELONGS}", f"write {numbers[0]} alone{how}"


def are_fractions(line: str) -> bool:
    """Return whether there are several numbers on a line, and none of them counts anything.

    >>> [are_fractions(line) for line in ("0.3 0.7", "0.3,0.7", "7 0.25", "0.5", "0.5 d1")]
    [True, True, False, False, False]
    """
    words = _BETWEEN.split(line[:LOOK].strip(" \t\r,"))
    words = words[:-1] if len(line) > LOOK else words  # the last one may be cut
    return len(words) > 1 and all(
        is_like_number(word) and not word.lstrip("+-").isdigit() for word in words
    )
