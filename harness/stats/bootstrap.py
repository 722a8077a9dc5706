"""Bootstrap tests of paired differences: resampled under the hypothesis that their mean is 0."""

from __future__ import annotations

import numpy as np

from ..core.ragged import Floats, Ints
from .differences import EPS, unit
from .registry import Outcome, Stream, named_outcome, paired_test

CHUNK = 2**17
"""Numbers drawn at a time: they stay in the processor's cache, and memory is bounded."""
TOGETHER = 2**14
"""Numbers counted at a time: in larger pieces it takes three times as long."""
FEW_VALUES = 20
"""If values are this many times fewer than queries, their counts are drawn instead."""
FEW_COLUMNS = 3
"""Up to here looking values up is faster than counting queries and multiplying."""


def resampled_means(columns: Floats, stream: Stream) -> Floats:
    """Return the mean of each column over each bootstrap resample, ``(n_draws, n_columns)``.

    A resample is n queries drawn from n with replacement, the same for every column. If the
    columns hold few distinct rows (reciprocal ranks, precision), how often each is drawn comes
    from the multinomial distribution: the same law by other random numbers.
    """
    distinct, counts = np.unique(columns, axis=0, return_counts=True)
    if distinct.shape[0] * FEW_VALUES <= columns.shape[0]:
        return _by_value(distinct, counts / columns.shape[0], columns.shape[0], stream)
    if columns.shape[1] <= FEW_COLUMNS:
        return _by_looking_up(columns, stream)
    return _by_counting(columns, stream)


def _chunks(draws: int, width: int) -> list[slice]:
    step = max(CHUNK // width, 1)
    return [slice(first, min(first + step, draws)) for first in range(0, draws, step)]


def _by_value(distinct: Floats, shares: Floats, n: int, stream: Stream) -> Floats:
    rng = stream.rng()
    means = np.empty((stream.draws, distinct.shape[1]))
    separate = np.ascontiguousarray(distinct.T)
    for part in _chunks(stream.draws, distinct.shape[0]):
        counts = rng.multinomial(n, shares, size=part.stop - part.start)
        means[part] = _sums(counts, separate)
    means /= n
    return means


def _by_looking_up(columns: Floats, stream: Stream) -> Floats:
    rng = stream.rng()
    n = columns.shape[0]
    separate = np.ascontiguousarray(columns.T)
    means = np.empty((stream.draws, columns.shape[1]))
    room = np.empty((max(CHUNK // n, 1), n))  # once: a new one for each chunk doubles the time
    for part in _chunks(stream.draws, n):
        drawn = rng.integers(n, size=(part.stop - part.start, n))
        found = room[: part.stop - part.start]
        for place, column in enumerate(separate):
            np.take(column, drawn, out=found, mode="clip")
            means[part, place] = found.sum(axis=1)
    means /= n
    return means


def _by_counting(columns: Floats, stream: Stream) -> Floats:
    rng = stream.rng()
    n = columns.shape[0]
    separate = np.ascontiguousarray(columns.T)
    means = np.empty((stream.draws, columns.shape[1]))
    room = np.empty((max(CHUNK // n, 1), n))
    starts = np.arange(max(TOGETHER // n, 1))[:, None] * n
    for part in _chunks(stream.draws, n):
        drawn = rng.integers(n, size=(part.stop - part.start, n))
        for first in range(0, len(drawn), len(starts)):
            some = drawn[first : first + len(starts)]
            some = some + starts[: len(some)]
            counts = np.bincount(some.ravel(), minlength=some.size)
            room[first : first + len(some)] = counts.reshape(some.shape)
        means[part] = _sums(room[: len(drawn)], separate)
    means /= n
    return means


def _sums(counts: Ints | Floats, separate: Floats) -> Floats:
    """Return each row of `counts` times each row of `separate`.

    Not by ``@``, whose digits depend on the number of BLAS threads.
    """
    found: Floats = np.einsum("dq,sq->ds", counts.astype(np.float64, copy=False), separate)
    return found


@paired_test(
    "bootstrap",
    title="paired two-sided bootstrap test (shift method)",
    sources=("efron1993", "smucker2007", "phipson2010"),
    random=True,
)
def bootstrap(differences: Floats, stream: Stream) -> Outcome:
    """Bootstrap test of the mean difference: differences are moved to mean 0 and resampled.

    ``p = (b + 1) / (m + 1)``, b of m resamples having ``|mean* - mean| >= |mean|``; sizes that
    differ by floating point alone are equal. Unlike randomisation, which changes signs, it
    takes the queries for a sample of many more. With few queries it rejects too often: at a
    level of .05 it is .18 for 5 queries of normal differences, .09 for 10, .08 for 20, and .060
    for the 50 of Urbano, Lima and Hanjalic (SIGIR 2019). ``bootstrap-t`` corrects that.

    Its statistic is the mean difference. If no difference varies no resample does
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
    >>> bootstrap(np.zeros(5), Stream())
    Outcome(p=1.0, statistic=0.0, method='', note='identical')
    """
    known = _without_spread(differences)
    if known is not None:
        return known
    mean = float(differences.mean())
    means = resampled_means(_centred(differences)[:, None], stream)[:, 0]
    return _outcome(mean, means, abs(mean), _tolerance(differences))


@paired_test(
    "bootstrap-t",
    title="paired two-sided studentised bootstrap test",
    sources=("efron1993", "sakai2006", "phipson2010"),
    random=True,
)
def bootstrap_t(differences: Floats, stream: Stream) -> Outcome:
    """Bootstrap test of the mean difference in units of its standard error (studentised).

    ``p = (b + 1) / (m + 1)``, b of m resamples having ``|t*| >= |t|``, where t is the paired
    t statistic and ``t* = (mean* - mean) / (sd* / sqrt(n))``. It is compared as
    ``|mean* - mean| >= |mean| sd* / sd``, so that a resample of one value alone (sd* = 0, t*
    infinite) counts as extreme: p is then too high rather than too low.

    Its statistic is t; ``identical``, ``zero variance`` and ``n=1`` as in `bootstrap`.

    References
    ----------
    Efron and Tibshirani, 1993, chapter 16; for retrieval Sakai, SIGIR 2006, whose b / m it is
    with one added to both.

    Examples
    --------
    >>> bootstrap_t(np.array([0.1, 0.2, -0.1, 0.3, 0.0]), Stream(draws=999)).p
    0.2
    """
    known = _without_spread(differences)
    if known is not None:
        return known
    differences = differences / unit(differences)
    mean, n = float(differences.mean()), differences.size
    centred = _centred(differences)
    drawn = resampled_means(np.column_stack([centred, centred**2]), stream)
    variance = float((centred**2).mean())
    ratio = np.sqrt(np.maximum(drawn[:, 1] - drawn[:, 0] ** 2, 0.0) / variance)
    statistic = mean / np.sqrt(variance / (n - 1))
    return _outcome(statistic, drawn[:, 0], abs(mean) * ratio, _tolerance(differences))


def _centred(differences: Floats) -> Floats:
    """Return differences less their mean, turned so that p is the same both ways round."""
    centred: Floats = differences - differences.mean()
    return -centred if differences.mean() < 0 else centred


def _outcome(
    statistic: float, means: Floats, threshold: Floats | float, tolerance: float
) -> Outcome:
    extreme = int(np.count_nonzero(np.abs(means) >= threshold - tolerance))
    p = (extreme + 1) / (means.size + 1)
    return Outcome(p, float(statistic), f"{means.size} draws")


def _tolerance(differences: Floats) -> float:
    return float(EPS * np.abs(differences).max())


def _without_spread(differences: Floats) -> Outcome | None:
    """Return the outcome of differences whose resamples would all be the same."""
    named = named_outcome(differences)
    if named is None and np.ptp(differences) == 0:
        return Outcome(np.nan, note="zero variance")
    return named
