"""Whole powers whose last digit is the same on every processor and under every numpy."""

from __future__ import annotations

import numpy as np

from .ragged import Floats, Ints


def powers(base: float, exponent: Ints) -> Floats:
    """Return ``base ** exponent``, by multiplying in turn.

    Parameters
    ----------
    base : float
        In (0, 1).
    exponent : ndarray of int, any shape
        0 or more.

    Returns
    -------
    ndarray of float64
        Of the same shape. :func:`numpy.power` has another last digit where the processor has other
        vector units, and where numpy is of another version: a product has not.

    Examples
    --------
    >>> powers(0.5, np.array([0, 3, 1])).tolist()
    [1.0, 0.125, 0.5]
    """
    factors = np.full(1 + int(exponent.max(initial=0)), float(base))
    factors[0] = 1.0
    with np.errstate(under="ignore"):
        table: Floats = np.multiply.accumulate(factors)
    return table[exponent]
