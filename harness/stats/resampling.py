"""Means of bootstrap resamples: queries drawn with replacement, for several columns at once."""

from __future__ import annotations

import numpy as np

from ..core.ragged import Floats, Ints
from .streams import Stream

CHUNK = 2**17
"""Numbers drawn at a time: they stay in the processor's cache, and memory is bounded."""
TOGETHER = 2**14
"""Numbers counted at a time: in larger pieces it takes three times as long."""
FEW_VALUES = 20
"""Where values are this many times fewer than queries, their counts are drawn instead."""
FEW_COLUMNS = 3
"""Up to here looking values up is faster than counting queries and multiplying."""


def resampled_means(columns: Floats, stream: Stream) -> Floats:
    """Return the mean of each column over each bootstrap resample of the queries.

    A resample is n queries drawn from n with replacement, the same for every column. Where the
    columns hold few distinct rows (reciprocal ranks, precision), how often each is drawn comes
    from the multinomial distribution: the same law by other random numbers.

    Parameters
    ----------
    columns : ndarray, shape (n_queries, n_columns)
        At least one query; all finite.
    stream : Stream
        Its draws are the number of resamples.

    Returns
    -------
    ndarray, shape (n_draws, n_columns)

    Examples
    --------
    >>> means = resampled_means(np.array([[0.0, 5.0], [1.0, 5.0]]), Stream(draws=1000))
    >>> np.unique(means[:, 0]).tolist(), np.unique(means[:, 1]).tolist()
    ([0.0, 0.5, 1.0], [5.0])
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

    Not by ``@``, whose digits hang on the number of BLAS's threads, which others of ours fight.
    """
    found: Floats = np.einsum("dq,sq->ds", counts.astype(np.float64, copy=False), separate)
    return found
