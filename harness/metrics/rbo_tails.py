"""RBO's weights: sums of p^d / d from a depth on, and what the ranks beyond a depth carry."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..core.powers import powers
from ..core.ragged import Floats, Ints, frozen

_MARGIN = 1024


def exp1(x: float) -> float:
    """Return E1(x), the integral of exp(-t) / t from x > 0 on.

    SciPy has it too, but takes several times as long to import as a benchmark's RBO to compute.
    Abramowitz and Stegun, 5.1.11 (up to 1) and 5.1.22.
    """
    if x <= 1:
        series, term = 1.0, 1.0
        for k in range(1, 26):
            term *= -k * x / (k + 1) ** 2
            series += term
        return -np.euler_gamma - math.log(x) + x * series
    fraction = 0.0
    for k in range(20 + int(80 / x), 0, -1):
        fraction = k / (1 + k / (x + fraction))
    return math.exp(-x) / (x + fraction)


@lru_cache(maxsize=8)
def _tails(p: float, size: int) -> Floats:
    """Return R(d) = sum over j >= d of p^j / j, for d = 0..size (R(0) is not used: 0).

    Summed from its far end: as ln(1/(1-p)) minus the first terms it would lose its digits where
    it is small. What lies beyond the far end is the integral with Euler and Maclaurin's
    corrections, exact to the last digits at depths over a thousand.
    """
    depths = np.arange(1, size + _MARGIN)
    end, rate = float(size + _MARGIN), -math.log(p)
    term = p**end / end
    cubic = rate**3 + 3 * rate**2 / end + 6 * rate / end**2 + 6 / end**3
    beyond = exp1(rate * end) + term * (0.5 + (rate + 1 / end) / 12 - cubic / 720)
    falling = np.concatenate([[beyond], (powers(p, depths) / depths)[::-1]])
    tails = np.cumsum(falling)[::-1][: size + 1]
    return frozen(np.concatenate([[0.0], tails[:size]]))


def tails_to(p: float, depth: int) -> Floats:
    """Return a table of R(d) = sum over j >= d of p^j / j that reaches at least to `depth`."""
    return _tails(float(p), 1 << max(10, depth.bit_length()))


def beyond(p: float, depth: Ints, tails: Floats) -> Floats:
    """Return the share of RBO's weight that lies beyond each depth, ``1 - W(p, depth)``."""
    share: Floats = powers(p, depth) / p - (1 - p) / p * depth * tails[depth]
    return np.maximum(share, 0.0)
