"""Whether a printed number is a value, rounded; and if not, what went wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal

from ..tables.numbers import fixed

_EXACT = Context(prec=1100)


def is_rounded(number: Decimal, digits: int, value: float, *, percent: bool = False) -> bool:
    """Whether a number with so many decimals is a value rounded, or the value itself.

    Where the value's shortest decimal form lies in the middle, both neighbours are right.

    >>> is_rounded(Decimal(".424"), 3, 0.4237), is_rounded(Decimal(".423"), 3, 0.4237)
    (True, False)
    >>> is_rounded(Decimal(".13"), 2, 0.125), is_rounded(Decimal(".12"), 2, 0.125)
    (True, True)
    """
    if math.isnan(value):
        return False
    if number == expected(value, digits, percent=percent):
        return True
    return number in (_exact(value, percent), _half_up(_exact(value, percent), digits))


def expected(value: float, digits: int, *, percent: bool = False) -> Decimal:
    """Return a value with so many decimals."""
    return Decimal(fixed(value, digits, percent=percent))


def wrong_by(number: Decimal, digits: int, value: float, *, percent: bool = False) -> str:
    """Return how a number went wrong in its last digit; nothing where it is another value.

    >>> wrong_by(Decimal(".423"), 3, 0.4237), wrong_by(Decimal(".431"), 3, 0.4237)
    ('cut off, not rounded', '')
    >>> wrong_by(Decimal(".425"), 3, 0.42446)
    'rounded twice'
    """
    exact = _exact(value, percent)
    unit = Decimal(1).scaleb(-digits)
    if number == exact.quantize(unit, ROUND_DOWN, _EXACT):
        return "cut off, not rounded"
    for more in (1, 2):
        if number == _half_up(_half_up(exact, digits + more), digits):
            return "rounded twice"
    return "the last digit is off by one" if abs(number - exact) < unit else ""


def is_percent(pairs: Sequence[tuple[Decimal, float]]) -> bool:
    """Whether printed numbers are their values x 100.

    >>> is_percent([(Decimal("42.4"), 0.4237), (Decimal("0.0"), 0.0)])
    True
    """
    votes = 0
    for number, value in pairs:
        if value and number and not math.isnan(value):
            ratio = abs(float(number) / value)
            votes += 1 if ratio > 10 else -1
    return votes > 0


def _exact(value: float, percent: bool) -> Decimal:
    number = Decimal(repr(value))
    return number.scaleb(2) if percent else number


def _half_up(number: Decimal, digits: int) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _EXACT)
