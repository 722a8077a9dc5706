"""RBO's weights: sums of p^d / d from a depth on, and what the ranks beyond a depth carry."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..core.ragged import Floats, Ints, frozen

_MARGIN = 1024


@lru_cache(maxsize=8)
def _tails(p: float, size: int) -> Floats:
    """Return R(d) = sum over j >= d of p^j / j, for d = 0..size (R(0) is not used: 0).

    Summed from its far end: as ln(1/(1-p)) minus the first terms it would lose its digits where
    it is small. What lies beyond the far end is the integral with Euler and Maclaurin's
    corrections, exact to the last digits at depths over a thousand.
    """
    from scipy.special import exp1

    depths = np.arange(1, size + _MARGIN, dtype=np.float64)
    end, rate = float(size + _MARGIN), -math.log(p)
    term = p**end / end
    cubic = rate**3 + 3 * rate**2 / end + 6 * rate / end**2 + 6 / end**3
    beyond = float(exp1(rate * end)) + term * (0.5 + (rate + 1 / end) / 12 - cubic / 720)
    falling = np.concatenate([[beyond], (p**depths / depths)[::-1]])
    tails = np.cumsum(falling)[::-1][: size + 1]
    return frozen(np.concatenate([[0.0], tails[:size]]))


def tails_to(p: float, depth: int) -> Floats:
    """Return a table of R(d) = sum over j >= d of p^j / j that reaches at least to `depth`."""
    return _tails(float(p), 1 << max(10, depth.bit_length()))


def beyond(p: float, depth: Ints, tails: Floats) -> Floats:
    """Return the share of RBO's weight that lies beyond each depth, ``1 - W(p, depth)``."""
    share: Floats = p ** (depth - 1.0) - (1 - p) / p * depth * tails[depth]
    return np.maximum(share, 0.0)
