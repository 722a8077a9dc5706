"""Sums of two columns that tell their correlation, and that add up over parts of a stream."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..core.ragged import Array


@dataclass(frozen=True)
class Moments:
    """Means, and sums of squared and mixed deviations from them.

    Parameters
    ----------
    n : int
        Pairs.
    x, y : float
        Means.
    xx, yy, xy : float
        Sums of the deviations' products.
    """

    n: int = 0
    x: float = 0.0
    y: float = 0.0
    xx: float = 0.0
    yy: float = 0.0
    xy: float = 0.0

    @classmethod
    def of(cls, x: Array, y: Array) -> Moments:
        """Return the moments of two columns of one length, ``(n,)`` each."""
        if not x.size:
            return cls()
        with np.errstate(over="ignore", invalid="ignore"):
            mean_x, mean_y = float(x.sum()) / x.size, float(y.sum()) / y.size
            dx, dy = x - mean_x, y - mean_y
            return cls(x.size, mean_x, mean_y, _sum(dx, dx), _sum(dy, dy), _sum(dx, dy))

    def __add__(self, more: Moments) -> Moments:
        """Return the moments of both together (Chan, Golub and LeVeque, 1979)."""
        if not self.n or not more.n:
            return more if more.n else self
        n = self.n + more.n
        dx, dy, weight = more.x - self.x, more.y - self.y, self.n * more.n / n
        return Moments(
            n,
            self.x + dx * more.n / n,
            self.y + dy * more.n / n,
            self.xx + more.xx + dx * dx * weight,
            self.yy + more.yy + dy * dy * weight,
            self.xy + more.xy + dx * dy * weight,
        )

    @property
    def correlation(self) -> float:
        """Pearson's correlation; NaN where a column is constant, or too large to square.

        >>> moments = Moments.of(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
        >>> round(moments.correlation, 12)
        1.0
        """
        product = math.sqrt(self.xx) * math.sqrt(self.yy) if self.xx > 0 < self.yy else 0.0
        return self.xy / product if 0 < product < math.inf else math.nan


def _sum(one: Array, other: Array) -> float:
    """Return the sum of the products; by one thread, which ``@`` might not."""
    return float(np.einsum("i,i", one, other))
