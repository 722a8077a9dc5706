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
    """
    if not original.size:
        return math.nan
    return float(np.sqrt(np.mean((original - reproduced) ** 2)))


def nrmse(original: Floats, reproduced: Floats, bounds: tuple[float, float] = (0, 1)) -> float:
    """Return :func:`rmse` as a share of the largest that a reproduction of these values can have.

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
    """Return how large the reproduced effect is, in original ones; NaN if the original is 0.

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
    parts = [float(one.var(ddof=1)) / one.size if np.ptp(one) else 0.0 for one in (first, second)]
    error = math.sqrt(sum(parts))
    if not error:
        return 1.0 if first[0] == second[0] else math.nan
    freedom = sum(parts) ** 2 / sum(
        part**2 / (one.size - 1) for part, one in zip(parts, (first, second), strict=True)
    )
    return as_p(2 * stdtr(freedom, -abs(float(first.mean() - second.mean()) / error)))
