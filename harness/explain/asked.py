"""The number that somebody published, and which values round to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np

from ..core.ragged import Floats
from ..errors import InputError, Problem

_SLACK = 1e-12
"""What rounding errors of a mean may take it past a bound, as a share of it."""


@dataclass(frozen=True)
class Window:
    """The values that are printed so: from `low` to `high`, both included."""

    centre: float
    low: float
    high: float

    def distances(self, values: Floats) -> Floats:
        """Return how far values lie from the published one; 0 where they round to it."""
        slack = _SLACK * max(1.0, abs(self.centre))
        fits = (values >= self.low - slack) & (values <= self.high + slack)
        found: Floats = np.where(fits, 0.0, np.abs(values - self.centre))
        return found


@dataclass(frozen=True)
class Asked:
    """A published value: ``0.4731``, ``.473``, ``47.31`` or ``47.31%``.

    Parameters
    ----------
    text : str
        As it was written.
    number : Decimal
    percent : bool
        Whether it was written with a percent sign.
    """

    text: str
    number: Decimal
    percent: bool = False

    def windows(self, largest: float = 1.0) -> list[Window]:
        """Return the values that round to it, of a metric that is at most `largest`.

        Half of the last printed digit either way, so that it does not matter how halves are
        rounded. A number above 1 is also read as percent, where the metric is a share.

        >>> [(w.low, w.high) for w in read("0.4731").windows()]
        [(0.47305, 0.47315)]
        >>> [round(w.centre, 6) for w in read("47.31").windows()]
        [47.31, 0.4731]
        """
        if self.percent:
            return [self._window(2)]
        found = [self._window(0)]
        if self.number > 1 and largest <= 1:
            found.append(self._window(2))
        return found

    def is_read_as_share(self, value: float) -> bool:
        """Return whether a value that fits, or comes near, is the percentage without its sign.

        >>> read("47.31").is_read_as_share(0.4731), read("47.31").is_read_as_share(47.3)
        (True, False)
        """
        if self.percent or self.number <= 1:
            return False
        itself, share = (self._window(places).centre for places in (0, 2))
        return abs(value - share) < abs(value - itself)

    def _window(self, places: int) -> Window:
        exponent = self.number.as_tuple().exponent
        half = Decimal(5).scaleb(int(exponent) - 1)
        low, high = ((self.number + sign * half).scaleb(-places) for sign in (-1, 1))
        return Window(float(self.number.scaleb(-places)), float(low), float(high))


def read(text: str) -> Asked:
    """Return the published value that `text` is.

    Raises
    ------
    InputError
        Where it is no number.
    """
    given = text.strip()
    percent = given.endswith("%")
    try:
        number = Decimal(given.removesuffix("%").strip())
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        fix = "write the value as it was printed, such as 0.4731, .473 or 47.31%"
        if re.fullmatch(r"[-+]?\d*,\d+ ?%?", given):
            fix = f"write it with a point: {given.replace(',', '.')}"
        raise InputError(Problem("", f"'{text}' is not a number", fix=fix))
    return Asked(given, number, percent)
