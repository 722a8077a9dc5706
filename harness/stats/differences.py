"""Differences of paired values, free of what floating point adds to them."""

from __future__ import annotations

import numpy as np

from ..core.ragged import Floats

EPS = 100 * np.finfo(np.float64).eps
"""Two numbers nearer than this, relative to the larger, are one."""


def differences(values: Floats, baseline: Floats) -> Floats:
    """Return ``values - baseline``, 0 where the two are equal but for floating point.

    Sizes that agree but for floating point are made one, whatever their signs, so that tied
    differences are tied: .3 - .2 and .2 - .1 are two floats, and one difference. What counts as
    floating point is each query's own (:func:`noise`): a query with huge values hides no other.

    Parameters
    ----------
    values, baseline : ndarray, shape (n_queries,)
        Values of one metric, in the order of the same queries; all finite.

    Returns
    -------
    ndarray, shape (n_queries,)

    Examples
    --------
    >>> import numpy as np
    >>> np.unique(abs(differences(np.array([0.3, 0.2, 0.7]), np.array([0.2, 0.1, 0.7])))).size
    2
    """
    found = values - baseline
    if not found.size:
        return found
    return np.copysign(snapped(np.abs(found), noise(values, baseline)), found)


def noise(values: Floats, others: Floats) -> Floats:
    """Return how much of ``values - others`` may be floating point alone, of each by itself.

    :data:`EPS` times the larger of the two, or times the largest of all where that is below 1
    (times 1 where it is not): a value of 1e-17 among correlations up to .9 is a 0.

    >>> (noise(np.array([1e16, 0.5]), np.array([1e16, 0.25])) / EPS).tolist()
    [1e+16, 1.0]
    """
    size: Floats = np.maximum(np.abs(values), np.abs(others))
    added: Floats = EPS * np.maximum(size, min(float(size.max(initial=0.0)), 1.0))
    return added


def snapped(sizes: Floats, tolerance: Floats) -> Floats:
    """Return `sizes` (not below 0) with those that agree within their tolerances made equal.

    Those within their own tolerance of 0 become 0. Of the others, neighbours in order that lie
    within the larger tolerance of the two form a group, and each takes its smallest.

    >>> snapped(np.array([0.1, 0.1 + 1e-17, 1e-18, 0.2]), np.full(4, 1e-15)).tolist()
    [0.1, 0.1, 0.0, 0.2]
    """
    result = np.zeros_like(sizes)
    some = np.flatnonzero(sizes > tolerance)
    order = some[np.argsort(sizes[some], kind="stable")]
    ordered, own = sizes[order], tolerance[order]
    first = np.empty(ordered.size, dtype=bool)
    first[:1] = True
    np.greater(np.diff(ordered), np.maximum(own[1:], own[:-1]), out=first[1:])
    result[order] = ordered[first][np.cumsum(first) - 1]
    return result
