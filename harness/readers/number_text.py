"""Numbers as text: whether a word is one, and what is wrong with it."""

from __future__ import annotations

import math
import re

from ..core.tables import GRADE_LIMIT
from ..errors import Problem, shorten

# one way to match only: on a field of a million digits, backtracking would take forever
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""A number as C's atof reads it: no hexadecimal, no NaN, no infinity."""
_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[+-]?(nan|inf(inity)?)", re.ASCII | re.IGNORECASE)
_WRAPPED = re.compile(r"\s*([A-Za-z_][\w.]*)?[(\[][(\[\s]*([^\s,()\[\]]+)", re.ASCII)
_BETWEEN = re.compile(r"[\s,]+")
LOOK = 4096
"""Characters of a line that are looked at; it may have millions."""
ONE_EACH = (
    "write each number on a line of its own, as '\\n'.join(map(str, scores)) does; if there are "
    "several for one row, such as class probabilities, write the one to rank by"
)
WITHOUT_INDEX = "write it without the index, as series.to_csv(path, index=False, header=False) does"


def is_like_number(text: str) -> bool:
    """Return whether `text` is meant as a number, even if it is not a finite one."""
    return bool(NUMBER.fullmatch(text) or _NOT_FINITE.fullmatch(text))


def check_number(text: str, word: str, whole: bool) -> Problem | None:
    """Return what is wrong with a score or grade as it is written, or None.

    The fix is empty if it depends on the file.
    """
    got = f"got '{shorten(text, 60)}'"
    if _NOT_FINITE.fullmatch(text) or (NUMBER.fullmatch(text) and not math.isfinite(float(text))):
        return Problem("", f"{word}: expected a finite number, {got}", rule="not-finite")
    if not NUMBER.fullmatch(text):
        return Problem("", f"{word}: expected a number, {got}")
    fix = "judgements are small integers; scale or round them"
    if word == "grade" and not abs(float(text)) <= GRADE_LIMIT:
        what = f"grade: expected a number between -{GRADE_LIMIT} and {GRADE_LIMIT}, {got}"
        return Problem("", what, fix=fix)
    if whole and float(text) != int(float(text)):
        rule = "grade-values" if word == "grade" else ""
        return Problem("", f"{word}: expected a whole number, {got}", fix=fix, rule=rule)
    return None


def is_decimal_comma(text: str) -> bool:
    """Return whether `text` is a number with a comma before its decimals.

    >>> is_decimal_comma("0,199312"), is_decimal_comma("3,0.25")
    (True, False)
    """
    return bool(_COMMA.fullmatch(text))


def is_wrapped(line: str) -> bool:
    """Return whether a line is numbers in brackets, as Python or PyTorch prints them.

    >>> [is_wrapped(line) for line in ("[0.5, 1.5]", "tensor(0.5)", "0.5", "[CLS] 0.5")]
    [True, True, False, False]
    """
    found = _WRAPPED.match(line[:LOOK])
    return found is not None and is_like_number(found[2])


def not_one_number(line: str) -> tuple[str, str] | None:
    """Return what is wrong with a line that has more than one number on it, and the fix.

    None if it may be one number.

    >>> not_one_number("0.3 0.7")[0], not_one_number("0.5")
    ('expected one number a line, got 2 columns', None)
    """
    if is_wrapped(line):
        return "expected one number a line, got numbers in brackets", ONE_EACH
    text = line.strip()
    words = _BETWEEN.split(text[:LOOK])
    if len(words) < 2:
        return None
    if is_decimal_comma(text):
        number = text.replace(".", "").replace(",", ".")
        what = "expected one number a line, got 2 columns or a decimal comma"
        return what, f"write {number}; or, if there is an index, {WITHOUT_INDEX}"
    n = sum(1 for _ in _BETWEEN.finditer(text)) + 1
    counts = any(not is_like_number(word) or word.lstrip("+-").isdigit() for word in words)
    return f"expected one number a line, got {n:,} columns", WITHOUT_INDEX if counts else ONE_EACH
