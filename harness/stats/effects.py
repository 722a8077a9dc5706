"""Effect sizes of paired differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.metric import Direction
from ..core.ragged import Floats
from .differences import deviation


@dataclass(frozen=True)
class Effects:
    """How large a difference is; the fields are those of :class:`~.comparison.Comparison`."""

    d_z: float
    hedges_g: float
    cliffs_delta: float
    wins: int
    ties: int
    losses: int


def effects(differences: Floats, direction: Direction = "higher") -> Effects:
    """Return the effect sizes of paired differences.

    ``d_z = mean / sd`` with n - 1 in sd's denominator; ``g = J(n - 1) d_z`` with
    ``J(v) = Gamma(v / 2) / (sqrt(v / 2) Gamma((v - 1) / 2))``.

    Cohen, Statistical Power Analysis, 1988; Hedges, Journal of Educational Statistics 1981, whose
    exact J is used, not ``1 - 3 / (4 v - 1)``; Cliff, Psychological Bulletin 1993: this is his
    delta *within* pairs, not the one of every value of a run against every value of the other.

    >>> found = effects(np.array([0.2, 0.0, 0.1, -0.1, 0.3]))
    >>> found.wins, found.ties, found.losses, found.cliffs_delta, round(found.d_z, 4)
    (3, 1, 1, 0.4, 0.6325)
    """
    above = int(np.count_nonzero(differences > 0))
    below = int(np.count_nonzero(differences < 0))
    wins, losses = (above, below) if direction == "higher" else (below, above)
    n = differences.size
    d_z = _d_z(differences)
    return Effects(
        d_z=d_z,
        hedges_g=_unbiased(d_z, n),
        cliffs_delta=(wins - losses) / n if n else np.nan,
        wins=wins,
        ties=n - wins - losses,
        losses=losses,
    )


def _d_z(differences: Floats) -> float:
    if differences.size and not differences.any():
        return 0.0
    if differences.size < 2:
        return np.nan
    if np.ptp(differences) == 0:
        return np.nan
    return float(differences.mean() / deviation(differences))


def _unbiased(d_z: float, n: int) -> float:
    """Return Hedges' g of paired differences."""
    if not d_z:
        return d_z
    if n < 3:
        return np.nan
    from scipy.special import poch

    # poch(x, 1/2) is Gamma(x + 1/2) / Gamma(x), without the loss of digits of two logarithms.
    return float(poch(n / 2 - 1, 0.5) / np.sqrt((n - 1) / 2) * d_z)
