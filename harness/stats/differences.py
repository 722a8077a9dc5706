"""Differences of paired values, free of what floating point adds to them."""

from __future__ import annotations

import numpy as np

from ..core.ragged import Floats

EPS = 100 * np.finfo(np.float64).eps
"""Two numbers nearer than this, relative to the largest, are one."""


def differences(values: Floats, baseline: Floats) -> Floats:
    """Return ``values - baseline``, 0 where the two are equal but for floating point.

    Sizes that agree but for floating point are made one, whatever their signs, so that tied
    differences are tied: .3 - .2 and .2 - .1 are two floats, and one difference.

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
    tolerance = EPS * max(float(np.abs(values).max()), float(np.abs(baseline).max()))
    return np.copysign(snapped(np.abs(found), tolerance), found)


def snapped(sizes: Floats, tolerance: float) -> Floats:
    """Return `sizes` (not below 0) with those that differ by at most `tolerance` made equal.

    Neighbours in order that lie within the tolerance form a group, and each takes its smallest;
    a group that begins within the tolerance of 0 becomes 0.

    >>> snapped(np.array([0.1, 0.1 + 1e-17, 1e-18, 0.2]), 1e-15).tolist()
    [0.1, 0.1, 0.0, 0.2]
    """
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    first = np.empty(ordered.size, dtype=bool)
    first[:1] = True
    np.greater(np.diff(ordered), tolerance, out=first[1:])
    starts = ordered[first]
    starts[starts <= tolerance] = 0.0
    result = np.empty_like(sizes)
    result[order] = starts[np.cumsum(first) - 1]
    return result
