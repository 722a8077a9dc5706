"""Intervals that take repetitions and queries into account together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.arrow import call, to_numpy
from ..core.metric import Metric
from ..core.plan import Plan
from ..core.ragged import Floats, Ints
from ..core.systems import System
from .resampling import resampled_means
from .streams import Stream


def clustered(system: System, metric: Metric, plan: Plan) -> tuple[float, float]:
    """Return the interval of a system's mean, over its repetitions and queries.

    Queries that a repetition has no value for are left out.
    """
    names = ("summary", system.dataset, str(metric), system.run)
    stream = Stream(names, plan.seed, plan.summary_draws)

    def order() -> Ints:
        return to_numpy(call("array_sort_indices", system.entries[0].evaluation.qids))

    def make() -> tuple[float, float]:
        values = system.repetitions(metric)[:, system.memo("order of qids", order)]
        return clustered_interval(values[:, ~np.isnan(values).any(axis=0)], plan.level, stream)

    return system.memo((stream, plan.level), make)


def clustered_interval(
    values: Floats, level: float = 0.05, stream: Stream | None = None
) -> tuple[float, float]:
    """Return an interval of a mean over repetitions (seeds) and queries, by clustered bootstrap.

    Queries and repetitions are both drawn with replacement, a query with its values of all
    repetitions; the interval lies between the quantiles level / 2 and 1 - level / 2 of the means.
    An interval over the repetitions' means alone says how much the seed matters on these very
    queries; one over queries alone, how much the queries matter for these very models. A reader
    wants to know of other queries and another training.

    Parameters
    ----------
    values : ndarray, shape (n_repetitions, n_queries)
        All finite.
    level : float
        .05 for an interval of 95 %.
    stream : Stream, optional

    Returns
    -------
    low, high : float
        NaN where there are fewer than two queries.

    Notes
    -----
    With few repetitions (five are usual) their part of the spread is too small by
    (n - 1) / n, as in any bootstrap. Owen, The pigeonhole bootstrap, Annals of Applied
    Statistics 1(2), 2007.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> seeds, queries = rng.normal(0, 1, (5, 1)), rng.normal(0, 0.1, (1, 50))
    >>> low, high = clustered_interval(seeds + queries)
    >>> bool(high - low > 0.5)  # over queries alone it would be .06 wide
    True
    """
    repetitions, queries = values.shape
    if queries < 2:
        return float("nan"), float("nan")
    stream = stream or Stream()
    means = resampled_means(values.T, stream)
    if repetitions > 1:
        again = replace(stream, names=(*stream.names, "repetitions")).rng()
        drawn = again.integers(repetitions, size=means.shape)
        means = np.take_along_axis(means, drawn, axis=1)
    found = np.quantile(means.mean(axis=1), [level / 2, 1 - level / 2], method="inverted_cdf")
    return float(found[0]), float(found[1])
