"""Numbers as text: whether a word is one, and what is wrong with it."""

from __future__ import annotations

import math
import re

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
