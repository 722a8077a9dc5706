"""Numbers as text: whether a word is one, and what is wrong with it."""

from __future__ import annotations

import math
import re
from itertools import takewhile

from ..core.tables import GRADE_LIMIT
from ..errors import Problem, shorten

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""A number as C's atof reads it: no hexadecimal, no NaN, no infinity. One way to match, as a field
of a million digits would else take forever to be none."""
_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}((,\d{3})+\.\d*|(,\d{3}){2,})", re.ASCII)
_NOT_FINITE = re.compile(r"[+-]?(nan|inf(inity)?)", re.ASCII | re.IGNORECASE)

_WORDS = {"nan", "inf", "infinity", "null", "none", "na", "true", "false"}


def is_like_number(text: str) -> bool:
    """Return whether `text` is meant as a number, even if it is not a finite one."""
    return bool(NUMBER.fullmatch(text) or _NOT_FINITE.fullmatch(text))


def is_meant_as_number(text: str) -> bool:
    """Return whether `text` begins like a number, or is a word for one, however it is spelled.

    >>> [is_meant_as_number(text) for text in ("0x1p3", "1.000,5", "--1", "null", "d1", "1:0.5")]
    [True, True, True, True, False, False]
    """
    start = text.lower().lstrip("+-\u2212.,")
    is_word = start.partition("(")[0] in _WORDS
    return is_word or (start[:1].isnumeric() and ":" not in text)


def check_number(text: str, word: str, whole: bool) -> Problem | None:
    """Return what is wrong with a score or grade as it is written; None where nothing is.

    What to do about it is left empty where it depends on the file.
    """
    said = f"{word} '{shorten(text, 60)}' is not a"
    if _NOT_FINITE.fullmatch(text) or (NUMBER.fullmatch(text) and not math.isfinite(float(text))):
        return Problem("", f"{said} finite number", rule="not-finite")
    if not NUMBER.fullmatch(text):
        return Problem("", f"{said} number")
    if word == "grade" and not abs(float(text)) <= GRADE_LIMIT:
        fix = "judgements are small integers; scale or round them before"
        return Problem("", f"{said} number between -{GRADE_LIMIT} and {GRADE_LIMIT}", fix=fix)
    if whole and float(text) != int(float(text)):
        fix = "judgements are integers; scale or round them"
        return Problem("", f"{said} whole number", fix=fix, rule=of_number(word, True))
    return None


def commas(text: str) -> tuple[str, str]:
    """Return what commas in a number look like, and the number without them; nothing for others.

    >>> commas("0,199312"), commas("1,234.5"), commas("3,0.25")
    (('decimal comma', '0.199312'), ('separator of thousands', '1234.5'), ('', ''))
    """
    if _THOUSANDS.fullmatch(text):
        return "separator of thousands", text.replace(",", "")
    if _COMMA.fullmatch(text):
        return "decimal comma", text.replace(".", "").replace(",", ".")
    return "", ""


def of_number(word: str, is_finite: bool) -> str:
    """Return the rule that a number breaks which is not finite, or else is not whole."""
    if not is_finite:
        return "not-finite"
    return "grade-values" if word == "grade" else ""


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
