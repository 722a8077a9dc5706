"""Confidence intervals of a mean over queries: of one run's values, or of differences."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from ..core.ragged import Floats
from .differences import EPS
from .resampling import resampled_means
from .scale import deviation, unit
from .streams import Stream
from .student import two_sided

Interval = tuple[float, float]


def t_interval(values: Floats, level: float = 0.05) -> Interval:
    """Return the confidence interval of the mean by Student's t.

    ``mean -+ t(1 - level / 2; n - 1) sd / sqrt(n)``. For differences it is the interval that
    leaves out 0 exactly where a paired t-test has ``p < level``.

    Parameters
    ----------
    values : ndarray, shape (n_queries,)
        Of one run, or run minus baseline; all finite.
    level : float
        Share of such intervals that miss the mean, in (0, 1): .05 gives a 95 % interval.

    Returns
    -------
    low, high : float
        NaN with fewer than two values, and where all are equal: they say nothing of how much
        others would vary.

    References
    ----------
    Student, Biometrika 1908. Unlike `bca_interval` it is symmetric, draws nothing, and may go
    beyond the metric's bounds.

    Examples
    --------
    >>> low, high = t_interval(np.array([0.1, 0.2, 0.6]))
    >>> f"{low:.3f} {high:.3f}"
    '-0.357 0.957'
    """
    if not _vary(values):
        return np.nan, np.nan
    n, mean = values.size, float(values.mean())
    margin = float(two_sided(n - 1, level) * deviation(values) / np.sqrt(n))
    return mean - margin, mean + margin


def bca_interval(values: Floats, level: float = 0.05, stream: Stream | None = None) -> Interval:
    """Return the bias-corrected and accelerated (BCa) bootstrap interval of the mean.

    The ``Phi(z0 + (z0 + z) / (1 - a (z0 + z)))`` quantiles of the resampled means, with z the
    normal quantiles of ``level / 2`` and ``1 - level / 2``, z0 that of the share of resampled
    means below the mean (those equal to it count half), and a the acceleration: by the
    jackknife ``sum(u^3) / (6 sum(u^2)^1.5)``, for a mean with ``u = value - mean``.

    Parameters
    ----------
    values : ndarray, shape (n_queries,)
        Of one run, or run minus baseline; all finite.
    level : float
        Share of such intervals that miss the mean, in (0, 1): .05 gives a 95 % interval.
    stream : Stream, optional
        Its draws are the number of resamples.

    Returns
    -------
    low, high : float
        NaN with fewer than two values, and where all are equal: they say nothing of how much
        others would vary.

    References
    ----------
    Efron, JASA 1987. Unlike `t_interval` it follows the skewness of the values and stays within
    their range. For few queries it is too narrow: of 95 % intervals of normal values 85 % hold the
    mean for n = 5, 90 % for n = 10. Quantiles are interpolated linearly between neighbours, as
    NumPy's are.

    Examples
    --------
    >>> low, high = bca_interval(np.array([0.1, 0.2, 0.6, 0.1, 0.3]))
    >>> f"{low:.2f} {high:.2f}"
    '0.14 0.48'
    """
    if not _vary(values):
        return np.nan, np.nan
    step = unit(values)
    values = values / step
    mean = float(values.mean())
    centred = values - mean
    means = resampled_means(centred[:, None], stream or Stream())[:, 0]
    tolerance = EPS * float(np.abs(values).max())
    below = np.count_nonzero(means < -tolerance)
    above = np.count_nonzero(means > tolerance)
    share = 0.5 + (below - above) / (2 * means.size)
    bias = ndtri(np.clip(share, 0.5 / means.size, 1 - 0.5 / means.size))
    acceleration = (centred**3).sum() / (6 * (centred**2).sum() ** 1.5)
    z = bias + ndtri(np.array([level / 2, 1 - level / 2]))
    # Beyond 1 / a the corrected quantile has passed the last resample.
    room = np.maximum(1 - acceleration * z, np.finfo(np.float64).tiny)
    ends = mean + np.quantile(means, ndtr(bias + z / room))
    ends[np.abs(ends) <= tolerance] = 0.0  # an end at 0 is not to leave 0 out
    return float(ends[0] * step), float(ends[1] * step)


def _vary(values: Floats) -> bool:
    """Return whether there is a spread to estimate."""
    return values.size > 1 and float(np.ptp(values)) > EPS * float(np.abs(values).max())
