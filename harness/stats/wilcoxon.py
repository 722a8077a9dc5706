"""Wilcoxon's signed rank test."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..core.ragged import Floats
from .randomization import exact_on_grid
from .registry import Outcome, Stream, as_p, paired_test


@paired_test("wilcoxon", title="two-sided Wilcoxon signed rank test", sources=("wilcoxon1945",))
def wilcoxon(differences: Floats, stream: Stream) -> Outcome:
    """Test that differences are symmetric about 0, by the ranks of their sizes.

    Differences of 0 are dropped, the sizes of the others ranked from the smallest (ties share
    their mean rank), and W the sum of the ranks of those above 0. p is the probability of a W at
    least as far from its mean under random signs: exact with ties too, by convolution, for up to
    some 500 queries that differ; above that by the normal approximation with the variance of the
    tied ranks and a continuity correction of 1/2.

    It tests ranks of differences, and not the mean that a table shows.

    Its statistic is W.

    References
    ----------
    Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1(6), 1945. Why it
    is not to be preferred: Smucker, Allan and Carterette, CIKM 2007.

    Examples
    --------
    >>> import numpy as np
    >>> found = wilcoxon(np.array([0.3, 0.1, -0.1, 0.2, 0.0]), Stream())  # ranks 4, 1.5, 1.5, 3
    >>> found.statistic, found.p, found.method
    (8.5, 0.375, 'exact')
    """
    nonzero = differences[differences != 0]
    doubled = doubled_ranks(np.abs(nonzero))
    above, below = int(doubled[nonzero > 0].sum()), int(doubled[nonzero < 0].sum())
    p, method = exact_on_grid(doubled, above - below), "exact"
    if p is None:
        deviation = math.sqrt((doubled.astype(np.float64) ** 2).sum())  # of above - below
        distance = max(abs(above - below) - 2, 0)  # W is a quarter of it from its mean
        p, method = as_p(math.erfc(distance / deviation / math.sqrt(2))), "normal approximation"
    return Outcome(p, above / 2, method)


def doubled_ranks(sizes: Floats) -> NDArray[np.int64]:
    """Return twice the mean rank of each size, smallest first: whole numbers with ties too."""
    _, group, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    ranks: NDArray[np.int64] = (2 * np.cumsum(counts) - counts + 1)[group.reshape(-1)]
    return ranks
