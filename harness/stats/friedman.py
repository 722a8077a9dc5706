"""Friedman's test on ranks, with Nemenyi's comparison of all pairs."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import chdtrc

from ..core.ragged import Floats
from .differences import noise, pairwise, without_answer
from .registry import AllPairs, Stream, all_pairs_test, as_p
from .tukey import p_of_pairs, studentized_range_isf


@all_pairs_test(
    "friedman-nemenyi",
    title="the Friedman test with Nemenyi's post-hoc test",
    sources=("friedman1937", "nemenyi1963", "demsar2006"),
)
def friedman_nemenyi(values: Floats, stream: Stream, level: float = 0.05) -> AllPairs:
    r"""Compare the mean ranks of all pairs by Nemenyi's test, and of all systems by Friedman's.

    .. math::

       \chi^2 = (k - 1) \frac{\sum_j (\sum_i r_{ij} - n \frac{k + 1}{2})^2}
       {\sum_{ij} (r_{ij} - \frac{k + 1}{2})^2},\quad
       q_{ij} = |R_i - R_j| / \sqrt{k (k + 1) / (12 n)}

    with r the rank of a system on a query (1 is best, tied ones share the mean of their ranks)
    and R the mean rank. This chi-squared is the one corrected for ties.

    Notes
    -----
    Unlike ``tukey`` it asks how often a system is better, not by how much; and whether two
    systems differ depends on the others in the table.

    References
    ----------
    M. Friedman, JASA 32(200), 1937; P. Nemenyi, thesis, Princeton, 1963; J. Demsar,
    "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.

    Examples
    --------
    >>> values = np.array([[0.2, 0.4, 0.7, 0.1], [0.3, 0.5, 0.9, 0.2], [0.3, 0.6, 0.9, 0.3]])
    >>> found = friedman_nemenyi(values, Stream())
    >>> found.positions.tolist(), round(found.statistic, 3), found.p.round(3)[0].tolist()
    ([3.0, 1.75, 1.25], 7.429, [1.0, 0.181, 0.036])
    """
    n_systems, n_queries = values.shape
    rank = ranks(values)
    positions = rank.mean(axis=1) if n_queries else np.full(n_systems, np.nan)
    nothing = without_answer(values, positions)
    if nothing is not None:
        return nothing
    away = rank - (n_systems + 1) / 2
    chi2 = (n_systems - 1) * float((away.sum(axis=1) ** 2).sum()) / float((away * away).sum())
    scale = math.sqrt(n_systems * (n_systems + 1) / (12 * n_queries))
    return AllPairs(
        p_of_pairs(pairwise(positions), scale, math.inf),
        statistic=chi2,
        overall_p=as_p(chdtrc(n_systems - 1, chi2)),
        critical_difference=studentized_range_isf(level, n_systems, math.inf) * scale,
        positions=positions,
        method=f"studentized range({n_systems}, inf)",
        statistic_name=f"chi-squared({n_systems - 1})",
    )


def ranks(values: Floats) -> Floats:
    """Return each system's rank on each query, 1 the highest; tied ones share their mean.

    Values that differ by floating point alone are tied.
    """
    rank = np.empty(values.shape)
    for system, row in enumerate(values):
        rounding = noise(values, row)
        above = (values > row + rounding).sum(axis=0)
        equal = (np.abs(values - row) <= rounding).sum(axis=0)
        rank[system] = above + (equal + 1) / 2
    return rank
