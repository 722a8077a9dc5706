"""Effect sizes, and the smallest difference that can be found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..core.metric import Direction
from ..core.ragged import Floats
from .intervals import two_sided


@dataclass(frozen=True)
class Effects:
    """Effect sizes of a difference, with the fields of `.comparison.Comparison`."""

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

    Cohen, Statistical Power Analysis, 1988; Hedges, Journal of Educational Statistics 1981, with
    the exact J, not ``1 - 3 / (4 v - 1)``; Cliff, Psychological Bulletin 1993: his delta *within*
    pairs, not of every value of a run against every value of the other.
    """
    above = int(np.count_nonzero(differences > 0))
    below = int(np.count_nonzero(differences < 0))
    wins, losses = (above, below) if direction == "higher" else (below, above)
    n = differences.size
    d_z = 0.0 if n and not differences.any() else np.nan
    if n > 1 and np.ptp(differences) > 0:
        d_z = float(differences.mean() / differences.std(ddof=1))
    cliffs_delta = (wins - losses) / n if n else np.nan
    return Effects(d_z, _unbiased(d_z, n), cliffs_delta, wins, n - wins - losses, losses)


def _unbiased(d_z: float, n: int) -> float:
    """Return Hedges' g of paired differences."""
    if not d_z:
        return d_z
    if n < 3:
        return np.nan
    from scipy.special import poch

    # poch(x, 1/2) is Gamma(x + 1/2) / Gamma(x), without the loss of digits of two logarithms.
    return float(poch(n / 2 - 1, 0.5) / np.sqrt((n - 1) / 2) * d_z)


MOST = 10**7
"""The largest number of queries that is given as the need of an experiment."""
POINTS = 2001
"""Points at which the distribution of the standard deviation is integrated."""


def detectable(sd: float, n: int, level: float = 0.05, power: float = 0.8) -> float:
    """Return the smallest mean difference that a paired t-test finds with this power.

    ``delta sd / sqrt(n)``, where delta is the noncentrality at which
    ``P(|T| > t(1 - level / 2; n - 1))`` is `power`, T following the noncentral t distribution
    with n - 1 degrees of freedom.

    Cohen, Statistical Power Analysis, 1988, chapter 2. It depends on the spread only; power at the
    observed difference ("post hoc") would restate p.
    """
    if n < 2 or not sd > 0:
        return np.nan
    return _noncentrality(n, level, power) * sd / float(np.sqrt(n))


def queries_needed(difference: float, sd: float, level: float) -> int | None:
    """Fewest queries with which `detectable` is at most `difference`; None if above `MOST`."""
    if not detectable(sd, MOST, level) <= difference:
        return None
    below, enough = 1, MOST
    while enough - below > 1:
        middle = (below + enough) // 2
        if detectable(sd, middle, level) <= difference:
            enough = middle
        else:
            below = middle
    return enough


@lru_cache(maxsize=1024)
def _noncentrality(n: int, level: float, power: float) -> float:
    """Return the noncentrality that gives the power, by bisection."""
    spread = _spread(n, level)
    low, high = 0.0, 4.0
    while _exceeding(high, *spread) < power:
        low, high = high, 2 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if _exceeding(middle, *spread) < power:
            low = middle
        else:
            high = middle
    return high


def _exceeding(noncentrality: float, bounds: Floats, weights: Floats) -> float:
    """Return ``P(|Z + noncentrality| > bound)``, Z normal, over bounds with these weights."""
    from scipy.special import ndtr

    beyond = ndtr(noncentrality - bounds) + ndtr(-noncentrality - bounds)
    return float(weights @ beyond)


@lru_cache(maxsize=64)
def _spread(n: int, level: float) -> tuple[Floats, Floats]:
    """Thresholds of Z + noncentrality, the critical t times the spread s, and their weights.

    ``s = sqrt(chi2 / v)`` has a density proportional to ``s^(v - 1) exp(-v s^2 / 2)``. In log s
    the trapezoidal rule, equal weights, converges fast for every v; SciPy's noncentral t is NaN
    in parts of its tails.
    """
    freedom = n - 1
    # Beyond these the density is below exp(-42) of its height.
    right = np.sqrt(42 / freedom)
    log_s = np.linspace(-right - 42 / freedom - 0.5 * (freedom < 42), right, POINTS)
    log_density = freedom * (log_s - np.expm1(2 * log_s) / 2)
    weights = np.exp(log_density)
    weights /= weights.sum()
    return two_sided(freedom, level) * np.exp(log_s), weights
