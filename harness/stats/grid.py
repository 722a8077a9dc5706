"""Numbers that are whole multiples of one step, found as such."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.ragged import Floats

FINEST = 2.0**-17
"""A step is looked for down to this share of the largest number: five decimals of values to 1."""
NEAR = 1e-8
"""A number is a multiple if it is this near to one, in steps."""


def multiples(sizes: Floats) -> NDArray[np.int64] | None:
    """Return `sizes` as whole multiples of their largest common step, or None if there is none.

    Precision at 10 has steps of .1, a metric printed with four decimals of .0001, reciprocal rank
    to rank 10 of 1/2520. What is had by integers is free of floating point, and few enough of
    them can be counted instead of drawn.

    The step is found by Euclid's algorithm with remainders nearest 0, for all numbers together.

    Parameters
    ----------
    sizes : ndarray, shape (n,)
        Above 0.

    Returns
    -------
    ndarray of int64, shape (n,), or None

    Examples
    --------
    >>> multiples(np.array([0.3 - 0.1, 0.1, 0.7])).tolist()
    [2, 1, 7]
    >>> multiples(np.array([1.0, 2**0.5, 3**0.5]))
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
    whole = np.rint(distinct / step)
    step = (whole * distinct).sum() / (whole * whole).sum()  # the best fit to all numbers
    if np.abs(distinct - whole * step).max() > NEAR * step:
        return None
    found: NDArray[np.int64] = np.rint(sizes / step).astype(np.int64)
    return found
