"""Effect sizes, the smallest difference that can be found, and how near a reproduction comes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import stdtr

from ..core.metric import Direction
from ..core.ragged import Floats
from .intervals import two_sided
from .registry import as_p


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


def rmse(original: Floats, reproduced: Floats) -> float:
    """Return the root mean square error of the values of each query.

    ``sqrt(mean((o - r)^2))``

    Breuer et al., How to measure the reproducibility of system-oriented IR experiments,
    SIGIR 2020.
    """
    if not original.size:
        return math.nan
    return float(np.sqrt(np.mean((original - reproduced) ** 2)))


def nrmse(original: Floats, reproduced: Floats, bounds: tuple[float, float] = (0, 1)) -> float:
    """Return `rmse` as a share of the largest that a reproduction of these values can have.

    That one gives each query the bound that its original value is further from:
    ``rmse / sqrt(mean(max(o - low, high - o)^2))``.
    """
    low, high = bounds
    if not original.size or not (math.isfinite(low) and math.isfinite(high)):
        return math.nan
    worst = np.sqrt(np.mean(np.maximum(original - low, high - original) ** 2))
    return rmse(original, reproduced) / float(worst)


def effect_ratio(
    original: float, original_baseline: float, reproduced: float, reproduced_baseline: float
) -> float:
    """Ratio of the reproduced effect to the original one; NaN if the original effect is 0.

    ``ER = (mean(r_a) - mean(r_b)) / (mean(o_a) - mean(o_b))``: 1 if the improvement over the
    baseline is as large, 0 if there is none, below 0 if it goes the other way.
    """
    effect = original - original_baseline
    return (reproduced - reproduced_baseline) / effect if effect else math.nan


def delta_ri(
    original: float, original_baseline: float, reproduced: float, reproduced_baseline: float
) -> float:
    """Return by how much the relative improvement falls short; NaN if a baseline is 0.

    ``DeltaRI = (o_a - o_b) / o_b - (r_a - r_b) / r_b`` of means: 0 if it is as large, above 0
    if the original one is larger.
    """
    if not (original_baseline and reproduced_baseline):
        return math.nan
    relative = (reproduced - reproduced_baseline) / reproduced_baseline
    return (original - original_baseline) / original_baseline - relative


def unpaired_t(first: Floats, second: Floats) -> float:
    """Return the two-sided p that two samples have one mean, whichever queries they are of.

    Welch, The generalization of Student's problem when several different population variances
    are involved, Biometrika 34, 1947.
    """
    if min(first.size, second.size) < 2:
        return math.nan
    samples = first, second
    parts = [float(s.var(ddof=1)) / s.size if np.ptp(s) else 0.0 for s in samples]
    error = math.sqrt(sum(parts))
    if not error:
        return 1.0 if first[0] == second[0] else math.nan
    squares = [part**2 / (s.size - 1) for part, s in zip(parts, samples, strict=True)]
    freedom = sum(parts) ** 2 / sum(squares)
    return as_p(2 * stdtr(freedom, -abs(float(first.mean() - second.mean()) / error)))
