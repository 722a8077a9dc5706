"""How sure the place of a system is: its interval over resampled queries."""

from __future__ import annotations

import numpy as np

from ..core.ragged import Floats, Ints
from .differences import EPS
from .resampling import resampled_means
from .several import deviations, tolerance
from .streams import Stream


def rank_intervals(
    values: Floats, level: float = 0.05, stream: Stream | None = None
) -> tuple[Ints, Ints]:
    """Return an interval of each system's place by its mean, by bootstrap over the queries.

    Queries are drawn with replacement, the same for all systems; each draw ranks their means.
    The interval is the narrowest with at most ``level / 2`` of the draws before `low` and as many
    after `high`.

    Parameters
    ----------
    values : ndarray, shape (n_systems, n_queries)
        Higher is better; at least one system and one query, all finite.
    level : float
        At most this share of draws is outside, in (0, 1): .05 gives 95 % intervals.
    stream : Stream, optional

    Returns
    -------
    low, high : ndarray, shape (n_systems,)
        Places, 1 the best; systems with equal means (but for floating point) share the best of
        their places.

    References
    ----------
    Hall and Miller, Annals of Statistics 2009. Such an interval is of one system at a time, and
    it says nothing of pairs: two systems whose intervals overlap may well differ on the same
    queries. Between systems that are equal in truth the bootstrap is too sure of their order.

    Examples
    --------
    >>> low, high = rank_intervals(np.array([[0.2, 0.4, 0.1], [0.3, 0.3, 0.1], [0.9, 0.8, 0.9]]))
    >>> low.tolist(), high.tolist()
    ([2, 2, 1], [3, 3, 1])
    """
    n_systems = values.shape[0]
    # What is common to all goes first: one query's huge values would hide the others.
    order = np.lexsort(values.T)  # the draws are not to hang on the order of the systems
    means = resampled_means(deviations(values[order]).T, stream or Stream())
    place = np.empty(means.shape, dtype=np.int64)
    place[:, order] = _places(means, tolerance(values[order]))
    place += np.arange(n_systems) * n_systems
    counts = np.bincount(place.ravel(), minlength=n_systems**2).reshape(n_systems, n_systems)
    reached = np.cumsum(counts, axis=1)
    # .29 * 100 is 28.999999999999996: the share of whole draws needs a tolerance too.
    outside = int(level / 2 * means.shape[0] * (1 + EPS))
    low = (reached > outside).argmax(axis=1) + 1
    high = (reached >= means.shape[0] - outside).argmax(axis=1) + 1
    return low, high


def _places(means: Floats, tolerances: Floats) -> Ints:
    """Return the place, from 0, of each column in each row; equal ones share the best.

    Neighbours are equal within the larger tolerance of the two columns.
    """
    order = np.argsort(-means, axis=1, kind="stable")
    ordered = np.take_along_axis(means, order, axis=1)
    is_new = np.ones(ordered.shape, dtype=bool)
    own = tolerances[order]
    is_new[:, 1:] = ordered[:, :-1] - ordered[:, 1:] > np.maximum(own[:, :-1], own[:, 1:])
    place = np.maximum.accumulate(np.where(is_new, np.arange(means.shape[1]), 0), axis=1)
    result = np.empty_like(place)
    np.put_along_axis(result, order, place, axis=1)
    return result
