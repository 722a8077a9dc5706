"""Differences of paired values and of several systems, without rounding errors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.ragged import Floats, Ints
from .registry import SMALLEST, AllPairs

EPS = 100 * np.finfo(np.float64).eps
"""Two numbers nearer than this, relative to the larger, are one."""


def differences(values: Floats, baseline: Floats) -> Floats:
    """Return ``values - baseline``, 0 if the two are equal but for floating point.

    Sizes that agree but for floating point are made equal, for any signs, so that tied
    differences are tied: .3 - .2 and .2 - .1 are two floats, and one difference. What counts as
    floating point is each query's own (`noise`): a query with huge values hides no other.
    """
    raw = values - baseline
    if not raw.size:
        return raw
    return np.copysign(snapped(np.abs(raw), noise(values, baseline)), raw)


def noise(values: Floats, subtracted: Floats) -> Floats:
    """Rounding error bound of each difference ``values - subtracted``.

    `EPS` times the larger of the two, or times the largest of all if that is below 1
    (times 1 if it is not): a value of 1e-17 among correlations up to .9 is a 0.
    """
    size: Floats = np.maximum(np.abs(values), np.abs(subtracted))
    added: Floats = EPS * np.maximum(size, min(float(size.max(initial=0.0)), 1.0))
    return added


def snapped(sizes: Floats, tolerance: Floats) -> Floats:
    """Return `sizes` (not below 0) with those that agree within their tolerances made equal.

    Those within their own tolerance of 0 become 0. Of the others, neighbours in order that lie
    within the larger tolerance of the two form a group, and each takes its smallest.
    """
    result = np.zeros_like(sizes)
    above = np.flatnonzero(sizes > tolerance)
    order = above[np.argsort(sizes[above], kind="stable")]
    ordered, bounds = sizes[order], tolerance[order]
    begins = np.empty(ordered.size, dtype=bool)
    begins[:1] = True
    np.greater(np.diff(ordered), np.maximum(bounds[1:], bounds[:-1]), out=begins[1:])
    result[order] = ordered[begins][np.cumsum(begins) - 1]
    return result


FINEST = 2.0**-17
"""Smallest step, as a share of the largest number: five decimals of values to 1."""
NEAR = 1e-8
"""A number is a multiple if it is this near to one, in steps."""


def multiples(sizes: Floats) -> NDArray[np.int64] | None:
    """Return `sizes` as whole multiples of their largest common step, or None without one.

    Precision at 10 has steps of .1, a metric printed with four decimals of .0001, reciprocal rank
    to rank 10 of 1/2520. Integers are free of rounding, and few enough of
    them can be counted instead of drawn.

    The step is found by Euclid's algorithm with remainders nearest 0, for all numbers together.
    """
    if not sizes.size:
        return None
    distinct = np.unique(sizes)
    finest = FINEST * distinct[-1]
    left = distinct
    while left.size:
        step = left[0]
        if step < finest:
            return None
        remainders = np.abs(left - step * np.rint(left / step))
        remainders = np.unique(remainders[remainders > finest / 2])
        left = np.append(remainders, step) if remainders.size else remainders
    steps = np.rint(distinct / step)
    step = (steps * distinct).sum() / (steps * steps).sum()  # the best fit to all numbers
    if np.abs(distinct - steps * step).max() > NEAR * step:
        return None
    factors: NDArray[np.int64] = np.rint(sizes / step).astype(np.int64)
    return factors


def largest_first(differences: Floats, most: int) -> Ints:
    """Return the places of the largest rises, then of the falls, the largest last.

    There are `most` of each at most.
    """
    up, down = (np.argsort(keys, kind="stable")[:most] for keys in (-differences, differences))
    places: Ints = np.concatenate([up[differences[up] > 0], down[differences[down] < 0][::-1]])
    return places


def deviations(values: Floats, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Return each system's difference to the middle one of the query, and the rounding of means.

    Of the middle one, so that neither a single huge value nor the order of the systems matters;
    ``(n_systems, n_queries)`` as the values. The second array is what floating point may have
    added to each system's mean deviation, ``(n_systems,)``.
    """
    if not values.size:
        return values, np.zeros(len(values))
    middle = (values.shape[0] - 1) // 2
    centre = np.partition(values, middle, axis=0)[middle : middle + 1]
    centred: Floats = values - centre
    added = noise(values, centre)
    equal = np.abs(centred) <= added
    centred[equal] = added[equal] = 0.0
    return centred, means(added, weights)


def pairwise(positions: Floats, tolerances: Floats | None = None) -> Floats:
    """Return row minus column, ``(n_systems, n_systems)``; 0 within the larger tolerance."""
    difference: Floats = positions[:, None] - positions
    if tolerances is not None:
        difference[np.abs(difference) <= np.maximum.outer(tolerances, tolerances)] = 0.0
    return difference


def mirrored(above: Floats, n_systems: int) -> Floats:
    """Return the symmetric matrix of p-values of the pairs above the diagonal, which is 1.

    None of them is 0.
    """
    p = np.ones((n_systems, n_systems))
    rows, columns = np.triu_indices(n_systems, 1)
    p[rows, columns] = p[columns, rows] = np.clip(above, SMALLEST, 1.0)
    return p


def without_answer(values: Floats, positions: Floats) -> AllPairs | None:
    """Return the result if there is nothing to test, else None.

    Systems that are equal on every query have p = 1, be it one query; of others fewer than two
    queries have no answer.
    """
    n_systems, n_queries = values.shape
    p = np.ones((n_systems, n_systems))
    if n_systems < 2:
        return AllPairs(p, positions=positions, note="one system")
    apart = deviations(values)[0]
    if n_queries and not apart.any():
        return AllPairs(p, overall_p=1.0, positions=positions, note="identical")
    if n_queries < 2:
        differ = (pairwise(apart.sum(axis=1)) != 0) | (n_queries == 0)
        p[differ & ~np.eye(n_systems, dtype=bool)] = np.nan
        return AllPairs(p, positions=positions, note=f"n={n_queries}")
    return None


def means(values: Floats, weights: Floats | None = None) -> Floats:
    """Return the mean of each system, by the weights of the queries; NaN without queries."""
    if not values.shape[1]:
        return np.full(values.shape[0], np.nan)
    weights = unequal(weights)
    averages: Floats = values.mean(axis=1)
    return averages if weights is None else (values * weights).sum(axis=1) / weights.sum()


def unequal(weights: Floats | None) -> Floats | None:
    """Return weights, None if all are equal: then a weighted mean is the mean."""
    return None if weights is None or not np.ptp(weights) else weights
