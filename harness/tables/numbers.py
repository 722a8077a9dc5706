"""Numbers as a table shows them: rounded once, from every digit that the stored value has."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal

from .model import UNDEFINED

# a double has at most 1,075 significant decimals: nothing is rounded before the last step
_EXACT = Context(prec=1100, rounding=ROUND_HALF_EVEN)


def fixed(value: float, digits: int, *, percent: bool = False, leading_zero: bool = False) -> str:
    """Return a number with `digits` decimals.

    The decimal expansion of the stored double is rounded, half to even, as ``format`` does; with
    `percent` it is multiplied by 100 before, without an error of its own. A value that rounds
    to 0 has no sign.

    Parameters
    ----------
    value : float
    digits : int
    percent : bool
        Show the value x 100; these keep their leading zero.
    leading_zero : bool
        ``0.423`` in place of ``.423``.

    Examples
    --------
    >>> fixed(0.4235, 3), fixed(-0.5, 2), fixed(1.25, 1), fixed(0.125, 1, percent=True)
    ('.423', '-.50', '1.2', '12.5')
    >>> fixed(-0.0001, 2, leading_zero=True), fixed(0.575, 1, percent=True), fixed(7.0, 0)
    ('0.00', '57.5', '7')
    """
    if not math.isfinite(value):
        return UNDEFINED
    number = _EXACT.multiply(Decimal(value), Decimal(100 if percent else 1))
    text = f"{number.quantize(Decimal(1).scaleb(-digits), context=_EXACT):f}"
    if not text.strip("-0."):
        text = text.removeprefix("-")
    if leading_zero or percent or not digits:
        return text
    sign = "-" if text.startswith("-") else ""
    return sign + text.removeprefix("-").removeprefix("0")


def deviation(value: float, digits: int, percent: bool, leading_zero: bool) -> str:
    """Return ``± .012``; nothing where there is none.

    >>> deviation(0.0123, 3, False, False)
    '± .012'
    """
    if math.isnan(value):
        return ""
    return f"± {fixed(value, digits, percent=percent, leading_zero=leading_zero)}"


def interval(low: float, high: float, digits: int, percent: bool, leading_zero: bool) -> str:
    """Return ``[.41, .44]``; nothing where there is none.

    >>> interval(0.41, 0.44, 2, False, False)
    '[.41, .44]'
    """
    if math.isnan(low) or math.isnan(high):
        return ""
    ends = (fixed(end, digits, percent=percent, leading_zero=leading_zero) for end in (low, high))
    return f"[{', '.join(ends)}]"
