"""What the tests of several systems at once share."""

from __future__ import annotations

import numpy as np

from ..core.ragged import Floats
from .differences import noise
from .outcomes import SMALLEST
from .registry import AllPairs


def deviations(values: Floats) -> Floats:
    """Return each system's difference to the middle one of the query, 0 but for floating point.

    The middle one, so that neither a single huge value nor the order of the systems matters.

    Parameters
    ----------
    values : ndarray, shape (n_systems, n_queries)

    Returns
    -------
    ndarray, shape (n_systems, n_queries)

    Examples
    --------
    >>> deviations(np.array([[0.3, 0.5], [0.1 + 0.2, 0.75]])).tolist()
    [[0.0, 0.0], [0.0, 0.25]]
    """
    return _deviations(values)[0]


def _deviations(values: Floats) -> tuple[Floats, Floats]:
    """Return the deviations, and what floating point may have added to each that is not 0."""
    if not values.size:
        return values, values
    middle = (values.shape[0] - 1) // 2
    centre = np.partition(values, middle, axis=0)[middle : middle + 1]
    found: Floats = values - centre
    added = noise(values, centre)
    equal = np.abs(found) <= added
    found[equal] = added[equal] = 0.0
    return found, added


def centred(values: Floats) -> Floats:
    """Return `values` less the mean of each query, with the small rounding of small numbers.

    >>> centred(np.array([[0.5, 0.5], [0.5, 0.75]])).tolist()
    [[0.0, -0.125], [0.0, 0.125]]
    """
    found = deviations(values)
    found -= found.mean(axis=0)
    return found


def tolerance(values: Floats) -> Floats:
    """Return what floating point may have added to each mean deviation, ``(n_systems,)``."""
    found: Floats = _deviations(values)[1].mean(axis=1)
    return found


def pairwise(positions: Floats, tolerances: Floats | None = None) -> Floats:
    """Return row minus column, ``(n_systems, n_systems)``; 0 within the larger tolerance.

    >>> pairwise(np.array([0.5, 0.25])).tolist()
    [[0.0, 0.25], [-0.25, 0.0]]
    """
    difference: Floats = positions[:, None] - positions
    if tolerances is not None:
        difference[np.abs(difference) <= np.maximum.outer(tolerances, tolerances)] = 0.0
    return difference


def mirrored(above: Floats, n_systems: int) -> Floats:
    """Return the symmetric matrix of p-values of the pairs above the diagonal, which is 1.

    None of them is 0.

    >>> mirrored(np.array([0.1, 0.2, 0.3]), 3).tolist()
    [[1.0, 0.1, 0.2], [0.1, 1.0, 0.3], [0.2, 0.3, 1.0]]
    """
    p = np.ones((n_systems, n_systems))
    rows, columns = np.triu_indices(n_systems, 1)
    p[rows, columns] = p[columns, rows] = np.clip(above, SMALLEST, 1.0)
    return p


def without_answer(values: Floats, positions: Floats) -> AllPairs | None:
    """Return what stands for a test of these values, or None where there is something to test.

    Systems that are equal on every query have p = 1, be it one query; of others fewer than two
    queries have no answer.
    """
    n_systems, n_queries = values.shape
    if n_systems < 2:
        return AllPairs(np.ones((n_systems, n_systems)), positions=positions, note="one system")
    if n_queries and not deviations(values).any():
        p = np.ones((n_systems, n_systems))
        return AllPairs(p, overall_p=1.0, positions=positions, note="identical")
    if n_queries < 2:
        place = deviations(values).sum(axis=1)
        equal = (pairwise(place) == 0) & (n_queries == 1)
        p = np.where(equal | np.eye(n_systems, dtype=bool), 1.0, np.nan)
        return AllPairs(p, positions=positions, note=f"n={n_queries}")
    return None


def means(values: Floats) -> Floats:
    """Return the mean of each system, NaN where there are no queries."""
    n_queries = values.shape[1]
    return values.mean(axis=1) if n_queries else np.full(values.shape[0], np.nan)
