"""Text to numbers as C's ``atol`` and ``atof`` read it: the longest beginning that is one."""

from __future__ import annotations

import re

_LONG = re.compile(r"[ \t-\r]*([+-]?)0*([0-9]{0,20})")  # 20 digits are beyond the largest
_DECIMAL = re.compile(r"[ \t-\r]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_SPECIAL = re.compile(r"[ \t-\r]*([+-]?(?:inf(?:inity)?|nan))", re.IGNORECASE)
_HEXADECIMAL = re.compile(
    r"[ \t-\r]*([+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?)", re.IGNORECASE
)
_LARGEST = 2**63 - 1


def atol(text: str) -> int:
    """Return the whole number that `text` begins with, 0 where there is none.

    >>> atol("23.4"), atol(" -7x"), atol("x"), atol("1e3"), atol("9" * 5000)
    (23, -7, 0, 1, 9223372036854775807)
    """
    sign, digits = _LONG.match(text).groups()  # type: ignore[union-attr]  # it always matches
    return max(-_LARGEST - 1, min(int(f"{sign}{digits or 0}"), _LARGEST))


def atof(text: str) -> float:
    """Return the number that `text` begins with, 0.0 where there is none.

    >>> atof("1.5f"), atof(".25,"), atof("0x1p-1"), atof("-inf"), atof("")
    (1.5, 0.25, 0.5, -inf, 0.0)
    """
    if match := _HEXADECIMAL.match(text):
        return float.fromhex(match[1])
    match = _DECIMAL.match(text) or _SPECIAL.match(text)
    return float(match[1]) if match else 0.0
