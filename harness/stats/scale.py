"""Arithmetic that squares, for numbers of any size."""

from __future__ import annotations

import numpy as np

from ..core.ragged import Floats


def unit(values: Floats) -> float:
    """Return the power of 2 to divide by, so that the largest size is from 1 to 2.

    Dividing by it loses no digit, and squares neither vanish (of 1e-170) nor are infinite (of
    1e160).

    >>> unit(np.array([0.1, -5.0])), unit(np.zeros(3))
    (4.0, 1.0)
    """
    largest = float(np.abs(values).max(initial=0.0))
    return float(np.ldexp(1.0, np.frexp(largest)[1] - 1)) if largest else 1.0


def deviation(values: Floats) -> float:
    """Return the standard deviation of a sample, with n - 1, of values of any size.

    Parameters
    ----------
    values : ndarray, shape (n,)
        At least two.

    Examples
    --------
    >>> deviation(np.array([1e-200, 3e-200])) == 2**0.5 * 1e-200
    True
    """
    step = unit(values)
    return float((values / step).std(ddof=1) * step)
