"""Confidence intervals of a mean over queries: of one run's values, or of differences."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from ..core.arrow import call, to_numpy
from ..core.entries import System
from ..core.metric import Metric
from ..core.ragged import Floats
from .bootstrap import resampled_means
from .comparison import IntervalMethod, Plan
from .differences import EPS, means, unequal
from .registry import Stream


@lru_cache(maxsize=1024)
def two_sided(freedom: float, level: float) -> float:
    """Return the value that ``|t|`` exceeds with probability `level`.

    From both tails of the beta distribution of ``freedom / (freedom + t^2)``, right to some
    1e-15 in every version of SciPy; ``stdtrit`` is not (1.15.0 has 2e-11).
    """
    from scipy.special import betaincinv

    small = betaincinv(freedom / 2, 0.5, level)
    large = betaincinv(0.5, freedom / 2, 1 - level)
    return float(np.sqrt(freedom * large / small))


Interval = tuple[float, float]


def t_interval(values: Floats, level: float = 0.05) -> Interval:
    """Return the confidence interval of the mean by Student's t.

    ``mean -+ t(1 - level / 2; n - 1) sd / sqrt(n)``. For differences it is the interval that
    leaves out 0 exactly if a paired t-test has ``p < level``.

    Student, Biometrika 1908. Unlike `bca_interval` it is symmetric, draws nothing, and may go
    beyond the metric's bounds.
    """
    if not _vary(values):
        return np.nan, np.nan
    n, mean = values.size, float(values.mean())
    margin = float(two_sided(n - 1, level) * values.std(ddof=1) / np.sqrt(n))
    return mean - margin, mean + margin


def bca_interval(
    values: Floats,
    level: float = 0.05,
    stream: Stream | None = None,
    weights: Floats | None = None,
) -> Interval:
    """Return the bias-corrected and accelerated (BCa) bootstrap interval of the mean.

    The ``Phi(z0 + (z0 + z) / (1 - a (z0 + z)))`` quantiles of the resampled means, with z the
    normal quantiles of ``level / 2`` and ``1 - level / 2``, z0 that of the share of resampled
    means below the mean (those equal to it count half), and a the acceleration: by the
    jackknife ``sum(u^3) / (6 sum(u^2)^1.5)``, for a mean with ``u = value - mean``. If queries
    have weights, all means are weighted, and ``u = weight (value - mean)``.

    Efron, JASA 1987. Unlike `t_interval` it follows the skewness of the values and stays within
    their range. For few queries it is too narrow: 95% intervals of normal values contain the
    mean in 85% of samples for n = 5, and in 90% for n = 10. Quantiles are interpolated linearly
    between neighbours, as in NumPy.
    """
    if not _vary(values):
        return np.nan, np.nan
    weights = unequal(weights)
    mean = float(means(values[None], weights)[0])
    centred = values - mean
    drawn = resampled_means(centred[:, None], stream or Stream(), weights)[:, 0]
    tolerance = EPS * float(np.abs(values).max())
    below = np.count_nonzero(drawn < -tolerance)
    above = np.count_nonzero(drawn > tolerance)
    share = 0.5 + (below - above) / (2 * drawn.size)
    from scipy.special import ndtr, ndtri

    bias = ndtri(np.clip(share, 0.5 / drawn.size, 1 - 0.5 / drawn.size))
    pull = centred if weights is None else centred * (weights / weights.mean())
    acceleration = (pull**3).sum() / (6 * (pull**2).sum() ** 1.5)
    z = bias + ndtri(np.array([level / 2, 1 - level / 2]))
    # Beyond 1 / a the corrected quantile has passed the last resample.
    room = np.maximum(1 - acceleration * z, np.finfo(np.float64).tiny)
    ends = mean + np.quantile(drawn, ndtr(bias + z / room))
    ends[np.abs(ends) <= tolerance] = 0.0  # an end at 0 is not to leave 0 out
    return float(ends[0]), float(ends[1])


def method_of(plan: Plan, weights: Floats | None) -> IntervalMethod:
    """Return the kind of interval: the plan's, or BCa if queries have weights."""
    return plan.interval if weights is None else "bca"


def interval_of(
    values: Floats, plan: Plan, stream: Stream, weights: Floats | None = None
) -> Interval:
    """Return the interval of a mean over queries, as the plan has it; see `method_of`."""
    if method_of(plan, weights) == "bca":
        return bca_interval(values, plan.level, stream, weights)
    return t_interval(values, plan.level)


def summary_interval(system: System, metric: Metric, plan: Plan) -> Interval:
    """Return the interval of a system's mean without a comparison.

    It is `clustered` over repetitions, BCa if queries have weights, and else Student's t.
    """
    if len(system.entries) > 1:
        return clustered(system, metric, plan)
    values, weights = system.values(metric), system.weights(metric)
    if weights is None:
        return t_interval(values[~np.isnan(values)], plan.level)
    order = to_numpy(call("array_sort_indices", [system.evaluation.qids]))
    order = order[~np.isnan(values[order]) & (weights[order] > 0)]
    names = ("summary", system.dataset, str(metric), system.run)
    stream = Stream(names, plan.seed, plan.summary_draws)
    return bca_interval(values[order], plan.level, stream, weights[order])


def _vary(values: Floats) -> bool:
    """Whether values have a spread."""
    return values.size > 1 and float(np.ptp(values)) > EPS * float(np.abs(values).max())


def clustered(system: System, metric: Metric, plan: Plan) -> Interval:
    """Return the interval of a system's mean, over its repetitions and queries.

    Queries that a repetition has no value for, or that have no weight, are left out.
    """
    names = ("summary", system.dataset, str(metric), system.run)
    stream = Stream(names, plan.seed, plan.summary_draws)

    def make() -> Interval:
        order = to_numpy(call("array_sort_indices", [system.entries[0].evaluation.qids]))
        values, weights = system.repetitions(metric)[:, order], system.weights(metric)
        counted = ~np.isnan(values).any(axis=0)
        if weights is not None:
            counted &= weights[order] > 0
            weights = weights[order][counted]
        return clustered_interval(values[:, counted], plan.level, stream, weights)

    return system.memo((stream, plan.level), make)


def clustered_interval(
    values: Floats,
    level: float = 0.05,
    stream: Stream | None = None,
    weights: Floats | None = None,
) -> tuple[float, float]:
    """Return an interval of a mean over repetitions (seeds) and queries, by clustered bootstrap.

    Queries and repetitions are both drawn with replacement, a query with its weight and its values
    of all repetitions. The interval lies between the quantiles level / 2 and 1 - level / 2 of the
    means.
    An interval over the means of repetitions is only for these queries, and one over queries only
    for these models. This interval is for other queries and another training.

    With few repetitions (five are usual), their part of the spread is too small by
    (n - 1) / n, as in any bootstrap. Owen, The pigeonhole bootstrap, Annals of Applied
    Statistics 1(2), 2007.
    """
    repetitions, queries = values.shape
    if queries < 2:
        return float("nan"), float("nan")
    stream = stream or Stream()
    averages = resampled_means(values.T, stream, weights)
    if repetitions > 1:
        of_repetitions = replace(stream, names=(*stream.names, "repetitions")).rng()
        drawn = of_repetitions.integers(repetitions, size=averages.shape)
        averages = np.take_along_axis(averages, drawn, axis=1)
    bounds = np.quantile(averages.mean(axis=1), [level / 2, 1 - level / 2], method="inverted_cdf")
    return float(bounds[0]), float(bounds[1])
