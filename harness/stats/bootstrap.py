"""Bootstrap tests of paired differences: resampled under the hypothesis that their mean is 0."""

from __future__ import annotations

import numpy as np

from ..core.ragged import Floats, Ints
from .differences import EPS, means, unequal
from .registry import Outcome, Stream, paired_test

CHUNK = 2**14
"""Numbers drawn at a time: they stay in the processor's cache."""
FEW_VALUES = 20
"""If values are this many times fewer than queries, their counts are drawn instead."""
FEW_COLUMNS = 3
"""Up to here looking values up is faster than counting queries and multiplying."""


def resampled_means(columns: Floats, stream: Stream, weights: Floats | None = None) -> Floats:
    """Return the mean of each column over each bootstrap resample, ``(n_draws, n_columns)``.

    A resample is n queries drawn from n with replacement, the same for every column. Each query
    is drawn with its weight, above 0: the mean is ``sum(weight x value) / sum(weight)``.
    """
    weights = unequal(weights)
    if weights is None:
        return _resampled_sums(columns, stream) / len(columns)
    sums = _resampled_sums(np.column_stack([columns * weights[:, None], weights]), stream)
    averages: Floats = sums[:, :-1] / sums[:, -1:]
    return averages


def _resampled_sums(columns: Floats, stream: Stream) -> Floats:
    """Return the sum of each column over each bootstrap resample, ``(n_draws, n_columns)``.

    If the columns have few distinct rows (reciprocal ranks, precision), their counts are drawn from
    the multinomial distribution: the same law with other random numbers.
    """
    n, rng = len(columns), stream.rng()
    distinct, counts = np.unique(columns, axis=0, return_counts=True)
    by_value = distinct.shape[0] * FEW_VALUES <= n
    separate = np.ascontiguousarray((distinct if by_value else columns).T)
    sums = np.empty((stream.draws, len(separate)))
    step = max(CHUNK // separate.shape[1], 1)
    for start in range(0, stream.draws, step):
        part = sums[start : start + step]
        if by_value:
            part[:] = _weighted(rng.multinomial(n, counts / n, size=len(part)), separate)
            continue
        drawn = rng.integers(n, size=(len(part), n))
        if len(separate) <= FEW_COLUMNS:
            for place, column in enumerate(separate):
                part[:, place] = column[drawn].sum(axis=1)
        else:
            drawn += n * np.arange(len(part))[:, None]
            counted = np.bincount(drawn.ravel(), minlength=drawn.size)
            part[:] = _weighted(counted.reshape(drawn.shape), separate)
    return sums


def _weighted(counts: Ints, separate: Floats) -> Floats:
    """Return counts times columns, without ``@``: its digits depend on the number of threads."""
    means: Floats = np.einsum("dq,sq->ds", counts.astype(np.float64), separate)
    return means


@paired_test(
    "bootstrap",
    title="two-sided paired bootstrap test by the shift method",
    sources=("efron1993", "smucker2007", "phipson2010"),
    random=True,
    weighted=True,
)
def bootstrap(differences: Floats, stream: Stream, weights: Floats | None = None) -> Outcome:
    """Bootstrap test of the mean difference: differences are moved to mean 0 and resampled.

    ``p = (b + 1) / (m + 1)``, b of m resamples having ``|mean* - mean| >= |mean|``; sizes that
    differ by floating point alone are equal. Unlike randomisation, which changes signs, it
    takes the queries for a sample of many more. With few queries it rejects too often: at a
    level of .05 it is .18 for 5 queries of normal differences, .09 for 10, .08 for 20, and .060
    for the 50 of Urbano, Lima and Hanjalic (SIGIR 2019). ``bootstrap-t`` corrects that.

    Its statistic is the mean difference. Queries keep their weights in a resample, if they have
    any: all means are weighted then. If no difference varies no resample does
    either, and p is NaN (``zero variance``), or 1 if they are all 0 (``identical``).

    References
    ----------
    Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 16; for retrieval
    Smucker, Allan and Carterette, CIKM 2007. They print b / m, which can be 0; a p-value cannot
    (Phipson and Smyth, 2010).

    Examples
    --------
    >>> bootstrap(np.array([0.1, 0.2, -0.1, 0.3, 0.0]), Stream(draws=999)).p
    0.148
    """
    if np.ptp(differences) == 0:
        return Outcome(np.nan, note="zero variance")
    mean = float(means(differences[None], weights)[0])
    drawn = resampled_means(_centred(differences, mean)[:, None], stream, weights)[:, 0]
    return _outcome(mean, drawn, abs(mean), differences)


@paired_test(
    "bootstrap-t",
    title="two-sided paired studentised bootstrap test",
    sources=("efron1993", "sakai2006", "phipson2010"),
    random=True,
)
def bootstrap_t(differences: Floats, stream: Stream) -> Outcome:
    """Bootstrap test of the mean difference in units of its standard error (studentised).

    ``p = (b + 1) / (m + 1)``, b of m resamples having ``|t*| >= |t|``, where t is the paired
    t statistic and ``t* = (mean* - mean) / (sd* / sqrt(n))``. It is compared as
    ``|mean* - mean| >= |mean| sd* / sd``. A resample with a single value (sd* = 0, t* infinite)
    counts as extreme, so p is too high rather than too low.

    Its statistic is t; ``identical``, ``zero variance`` and ``n=1`` as in `bootstrap`.

    References
    ----------
    Efron and Tibshirani, 1993, chapter 16; for retrieval Sakai, SIGIR 2006, with b / m.

    Examples
    --------
    >>> bootstrap_t(np.array([0.1, 0.2, -0.1, 0.3, 0.0]), Stream(draws=999)).p
    0.2
    """
    if np.ptp(differences) == 0:
        return Outcome(np.nan, note="zero variance")
    mean, n = float(differences.mean()), differences.size
    centred = _centred(differences, mean)
    drawn = resampled_means(np.column_stack([centred, centred**2]), stream)
    variance = float((centred**2).mean())
    ratio = np.sqrt(np.maximum(drawn[:, 1] - drawn[:, 0] ** 2, 0.0) / variance)
    statistic = mean / np.sqrt(variance / (n - 1))
    return _outcome(statistic, drawn[:, 0], abs(mean) * ratio, differences)


def _centred(differences: Floats, mean: float) -> Floats:
    """Return differences less their mean, turned so that p is the same both ways round."""
    centred: Floats = differences - mean
    return -centred if mean < 0 else centred


def _outcome(
    statistic: float, drawn: Floats, threshold: Floats | float, differences: Floats
) -> Outcome:
    tolerance = EPS * np.abs(differences).max()
    extreme = int(np.count_nonzero(np.abs(drawn) >= threshold - tolerance))
    p = (extreme + 1) / (drawn.size + 1)
    return Outcome(p, float(statistic), f"{drawn.size} draws", drawn=True)
