"""What tests of several systems at once share: deviations, differences, matrices of p-values."""

from __future__ import annotations

import numpy as np

from ..core.ragged import Floats
from .differences import noise
from .registry import SMALLEST, AllPairs


def deviations(values: Floats) -> tuple[Floats, Floats]:
    """Return each system's difference to the middle one of the query, and the rounding of means.

    Of the middle one, so that neither a single huge value nor the order of the systems matters;
    ``(n_systems, n_queries)`` as the values. The second array is what floating point may have
    added to each system's mean deviation, ``(n_systems,)``.
    """
    if not values.size:
        return values, np.zeros(len(values))
    middle = (values.shape[0] - 1) // 2
    centre = np.partition(values, middle, axis=0)[middle : middle + 1]
    found: Floats = values - centre
    added = noise(values, centre)
    equal = np.abs(found) <= added
    found[equal] = added[equal] = 0.0
    return found, added.mean(axis=1)


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


def means(values: Floats) -> Floats:
    """Return the mean of each system, NaN without queries."""
    n_queries = values.shape[1]
    return values.mean(axis=1) if n_queries else np.full(values.shape[0], np.nan)
