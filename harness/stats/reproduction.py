"""How near a reproduction comes to its original, by their values of each query."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import stdtr

from ..core.ragged import Floats
from .registry import as_p


def rmse(original: Floats, reproduced: Floats) -> float:
    """Return the root mean square error of the values of each query.

    ``sqrt(mean((o - r)^2))``

    Breuer et al., How to measure the reproducibility of system-oriented IR experiments,
    SIGIR 2020.

    >>> rmse(np.array([0.5, 0.1]), np.array([0.2, 0.5])) == (0.125) ** 0.5
    True
    """
    if not original.size:
        return math.nan
    return float(np.sqrt(np.mean((original - reproduced) ** 2)))


def nrmse(original: Floats, reproduced: Floats, bounds: tuple[float, float] = (0, 1)) -> float:
    """Return :func:`rmse` as a share of the largest that a reproduction of these values can have.

    That one gives each query the bound that its original value is further from:
    ``rmse / sqrt(mean(max(o - low, high - o)^2))``.

    >>> round(nrmse(np.array([0.5, 0.0]), np.array([0.0, 1.0])), 12)
    1.0
    """
    low, high = bounds
    if not original.size or not (math.isfinite(low) and math.isfinite(high)):
        return math.nan
    worst = np.sqrt(np.mean(np.maximum(original - low, high - original) ** 2))
    return rmse(original, reproduced) / float(worst)


def effect_ratio(
    original: float, original_baseline: float, reproduced: float, reproduced_baseline: float
) -> float:
    """Return how large the reproduced effect is, in original ones; NaN if the original is 0.

    ``ER = (mean(r_a) - mean(r_b)) / (mean(o_a) - mean(o_b))``: 1 if the improvement over the
    baseline is as large, 0 if there is none, below 0 if it goes the other way.

    >>> effect_ratio(0.5, 0.25, 0.375, 0.25), effect_ratio(0.5, 0.5, 0.4, 0.3)
    (0.5, nan)
    """
    effect = original - original_baseline
    return (reproduced - reproduced_baseline) / effect if effect else math.nan


def delta_ri(
    original: float, original_baseline: float, reproduced: float, reproduced_baseline: float
) -> float:
    """Return by how much the relative improvement falls short; NaN if a baseline is 0.

    ``DeltaRI = (o_a - o_b) / o_b - (r_a - r_b) / r_b`` of means: 0 if it is as large, above 0
    if the original one is larger.

    >>> delta_ri(0.5, 0.25, 0.375, 0.25)
    0.5
    """
    if not (original_baseline and reproduced_baseline):
        return math.nan
    relative = (reproduced - reproduced_baseline) / reproduced_baseline
    return (original - original_baseline) / original_baseline - relative


def unpaired_t(first: Floats, second: Floats, *, equal_variances: bool = False) -> float:
    """Return the two-sided p that two samples have one mean, whichever queries they are of.

    Welch's t-test, or Student's if the variances are taken to be equal.

    Welch, The generalization of Student's problem when several different population variances
    are involved, Biometrika 34, 1947.

    >>> round(unpaired_t(np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0, 5.0])), 4)
    0.1443
    """
    sizes = first.size, second.size
    if min(sizes) < 2:
        return math.nan
    difference = float(first.mean() - second.mean())
    one, other = (float(part.var(ddof=1)) if np.ptp(part) else 0.0 for part in (first, second))
    freedom = float(sum(sizes) - 2)
    if equal_variances:
        pooled = ((sizes[0] - 1) * one + (sizes[1] - 1) * other) / freedom
        parts = pooled / sizes[0], pooled / sizes[1]
    else:
        parts = one / sizes[0], other / sizes[1]
    error = math.sqrt(sum(parts))
    if not error:
        return 1.0 if first[0] == second[0] else math.nan
    if not equal_variances:
        shares = [part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True)]
        freedom = sum(parts) ** 2 / sum(shares)
    return as_p(2 * stdtr(freedom, -abs(difference / error)))
