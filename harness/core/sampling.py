"""Expectations over the orders of tied documents, estimated from random ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .aligned import Aligned
from .hashing import splitmix64
from .ragged import Floats
from .reorder import reorder
from .tied import has_ties, only

Kernel = Callable[[Aligned], Floats]
DRAWS = 100
"""Random orders that a mean is taken over."""
_LOWEST_BITS = (1 << 64) - 1


def sampled(
    metric: Kernel, aligned: Aligned, draws: int = DRAWS, seed: int = 0
) -> tuple[Floats, Floats]:
    """Return a metric's mean over random orders of tied documents, and its standard error.

    For metrics whose exact expectation is not known (``Definition.expected`` is None). Queries
    in which no judged document is tied have their own value, and error 0. What a query gets
    depends on its qid and the seed, not on the other queries.

    Parameters
    ----------
    metric : Metric or callable
        Gives the values of an alignment, ``(n_queries,)``.
    aligned : Aligned
    draws : int
        Random orders, at least 2.
    seed : int

    Returns
    -------
    values, errors : ndarray, shape (n_queries,)
        NaN where the metric is NaN in one of the orders.

    Raises
    ------
    ValueError
        Where there are fewer than two draws.

    Examples
    --------
    >>> import harness.metrics
    >>> from harness.core.align import align
    >>> from harness.core.names import parse
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 0, "b": 1}, "r": {"a": 1}})
    >>> run = Run.from_dict({"q": {"a": 1.0, "b": 1.0}, "r": {"a": 1.0}})
    >>> values, errors = sampled(parse("11pt_avg")[0], align(qrels, run))   # 1 or 1/2; 1
    >>> values.round(2).tolist(), errors.round(2).tolist()
    ([0.75, 1.0], [0.03, 0.0])
    """
    values, errors = sampled_together([metric], aligned, draws, seed)
    return values[:, 0], errors[:, 0]


def sampled_together(
    metrics: Sequence[Kernel], aligned: Aligned, draws: int = DRAWS, seed: int = 0
) -> tuple[Floats, Floats]:
    """Return :func:`sampled` of several metrics from the same draws, each made once.

    Parameters
    ----------
    metrics : sequence of Metric or callable
    aligned, draws, seed
        As :func:`sampled` takes them.

    Returns
    -------
    values, errors : ndarray, shape (n_queries, n_metrics)
        Each column as :func:`sampled` gives it.
    """
    if draws < 2:
        raise ValueError(f"an error needs at least 2 draws, not {draws}")
    values = np.empty((aligned.n_queries, len(metrics)))
    for column, metric in enumerate(metrics):
        values[:, column] = metric(aligned)
    errors, tied = np.zeros_like(values), has_ties(aligned)
    if not tied.any():
        return values, errors
    part = aligned if tied.all() else only(aligned, tied)
    mean = np.zeros((part.n_queries, len(metrics)))
    squares = np.zeros_like(mean)
    for draw in range(draws):
        drawn = reorder(part, ("random", _seed_of(seed, draw)))
        for column, metric in enumerate(metrics):
            # Welford's update: a value that is the same in all draws stays what it is
            drawn_values = metric(drawn)
            step = drawn_values - mean[:, column]
            mean[:, column] += step / (draw + 1)
            squares[:, column] += step * (drawn_values - mean[:, column])
    values[tied], errors[tied] = mean, np.sqrt(squares / ((draws - 1) * draws))
    return values, errors


def _seed_of(seed: int, draw: int) -> int:
    """Return the seed of one draw; those of one seed share nothing with those of the next."""
    start = int(splitmix64(np.array([seed & _LOWEST_BITS], dtype=np.uint64))[0])
    return start + draw
