"""Numbers as leaderboards print them."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

BLANK = {"", "-", "–", "—", "n/a", "na", "nan", "none", "null", "undefined"}
LARGEST = 300
"""The largest power of ten of a number's last digit."""
_NUMBER = re.compile(
    r"[*_]*\s*(?P<number>[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?)\s*(?P<percent>%?)"
    r"[*_\s]*(?:(?:±|\+/-)[^*†]*|\([^)]*\)|\[[^\]]*\])?[*_†‡§¶‖▲▼△▽↑↓\s]*"
)


class Printed(NamedTuple):
    """A number, the unit of its last digit, and whether a percent sign stood behind it."""

    value: float
    unit: float
    percent: bool = False


def number(text: str) -> Printed | None:
    """Return the number of a cell, without marks and what stands behind ± ; None where it has none.

    A blank is NaN.

    >>> number("31,3 %")
    Printed(value=31.3, unit=0.1, percent=True)
    >>> number("0.3128*").value, number("**.25** (0.01)").value, number("n/a").value
    (0.3128, 0.25, nan)
    >>> number("bm25") is None
    True
    """
    text = text.strip().replace("\u2212", "-")
    if text.lower() in BLANK:
        return Printed(math.nan, 0.0)
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    digits = found["number"].replace(",", ".").lower()
    mantissa, _, exponent = digits.partition("e")
    places = len(mantissa.partition(".")[2]) - int(exponent or 0)
    value = float(digits)
    if math.isinf(value) or places < -LARGEST:
        return None
    return Printed(value, 10.0**-places, bool(found["percent"]))
