"""Outcomes that need no test, and p-values that are never 0."""

from __future__ import annotations

import numpy as np

from ..core.ragged import Floats
from .registry import Outcome

SMALLEST = float(np.finfo(np.float64).tiny)
"""The least p-value that is given, 2.2e-308: what is below it cannot be told from 0."""


def named_outcome(differences: Floats) -> Outcome | None:
    """Return the outcome that differences have under every paired test, if they have one.

    No difference but 0: p = 1, as every sample of signs or queries is then as far from 0 as this
    one. Otherwise one query, or none, is too few for an answer.

    Parameters
    ----------
    differences : ndarray, shape (n_queries,)
        As :func:`~harness.stats.differences.differences` gives them: equal is exactly 0.

    Returns
    -------
    Outcome or None
        None where it is for the test to answer.

    Examples
    --------
    >>> import numpy as np
    >>> named_outcome(np.zeros(50)).p, named_outcome(np.array([0.1])).note
    (1.0, 'n=1')
    """
    if not differences.size:
        return Outcome(np.nan, note="n=0")
    if not differences.any():
        return Outcome(1.0, 0.0, note="identical")
    if differences.size == 1:
        return Outcome(np.nan, note="n=1")
    return None


def as_p(tail: float) -> float:
    """Return a computed probability as a p-value: above 0, and not above 1.

    >>> as_p(0.0) > 0, as_p(1.0000000000000002)
    (True, 1.0)
    """
    return min(max(float(tail), SMALLEST), 1.0)
