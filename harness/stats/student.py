"""Quantiles of Student's t."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv


def two_sided(freedom: float, level: float) -> float:
    """Return the value that ``|t|`` exceeds with probability `level`.

    From both tails of the beta distribution of ``freedom / (freedom + t^2)``, right to some
    1e-15 in every version of SciPy; ``stdtrit`` is not (1.15.0 has 2e-11).

    >>> f"{two_sided(9, 0.05):.4f}"
    '2.2622'
    """
    small = betaincinv(freedom / 2, 0.5, level)
    large = betaincinv(0.5, freedom / 2, 1 - level)
    return float(np.sqrt(freedom * large / small))
