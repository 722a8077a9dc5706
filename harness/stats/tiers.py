"""Tiers: which systems, in the order of their means, cannot be told apart."""

from __future__ import annotations

import numpy as np

from ..core.ragged import Bools, Ints


def groups(apart: Bools) -> Ints:
    """Return the first and last system of each group that cannot be told apart.

    A group is a longest run of neighbours, in the order of the mean, no two of which can be
    told apart: the bars of a critical-difference diagram. A system that can be told apart from
    its neighbour, but not from one further off (whose differences to it vary more), is not in a
    group with the latter, as the neighbour between them would be in it too.

    Parameters
    ----------
    apart : ndarray of bool, shape (n_systems, n_systems)
        Whether two systems can be told apart, both in the order of their means, best first;
        symmetric, False on the diagonal; at least one system.

    Returns
    -------
    ndarray, shape (n_groups, 2)
        Best group first; groups may overlap, none holds another, and each system is in one at
        least, if alone.

    References
    ----------
    Demsar, JMLR 2006, section 3.2.2.

    Examples
    --------
    The first and the last of three differ, the middle one from neither:

    >>> groups(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)).tolist()
    [[0, 1], [1, 2]]
    """
    n = apart.shape[0]
    later = np.triu(apart, 1)
    # The group that begins at i ends before the first system that differs from any from i on.
    first_apart = np.where(later.any(axis=1), later.argmax(axis=1), n)
    last = np.minimum.accumulate(first_apart[::-1])[::-1] - 1
    starts = np.flatnonzero(np.diff(last, prepend=-1) > 0)
    return np.column_stack([starts, last[starts]]).astype(np.int64)


def tiers(apart: Bools) -> tuple[str, ...]:
    """Return the tier of each system: the numbers of the groups that it is in.

    ``1``, ``2``, or ``1-2`` for a system of both. Two systems have a number in common exactly
    where no two can be told apart of them and those between them. Going down the order of the
    means neither number ever falls.

    Parameters
    ----------
    apart : ndarray of bool, shape (n_systems, n_systems)
        As in `groups`.

    Returns
    -------
    tuple of str
        Best system first.

    Examples
    --------
    >>> tiers(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool))
    ('1', '1-2', '2')
    """
    first, last = groups(apart).T
    system = np.arange(apart.shape[0])
    low = np.searchsorted(last, system) + 1
    high = np.searchsorted(first, system, side="right")
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return tuple(f"{one}" if one == other else f"{one}-{other}" for one, other in pairs)
