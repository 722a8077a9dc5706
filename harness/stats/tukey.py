"""Tukey's honestly significant difference of systems that share their queries."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc

from ..core.ragged import Floats
from .differences import noise, unit
from .registry import (
    AllPairs,
    Stream,
    all_pairs_test,
    as_p,
    centred,
    means,
    mirrored,
    pairwise,
    tolerance,
    without_answer,
)
from .studentized_range import studentized_range_isf, studentized_range_sf


@all_pairs_test(
    "tukey",
    title="Tukey's HSD test on a two-way ANOVA of systems and queries",
    sources=("tukey1949", "carterette2012"),
)
def tukey(values: Floats, stream: Stream, level: float = 0.05) -> AllPairs:
    r"""Compare all pairs by Tukey's HSD, the queries taken out first.

    .. math:: q_{ij} = |m_i - m_j| / \sqrt{MS_E / n},\quad \nu = (k - 1)(n - 1)

    where :math:`MS_E` is what the two-way analysis of variance leaves of the values after the
    systems' and the queries' means. The p-value is the probability that a studentised range of k
    means exceeds q: it is already adjusted for all pairs.

    Notes
    -----
    Differs from ``scipy.stats.tukey_hsd``, which is the one-way test: it leaves the differences
    between queries in the error, and misses most true differences. With two systems p is that of
    the paired t-test. It takes one variance for all, as ``randomized-tukey`` does: with eight
    systems of equal means, one of them ten times as noisy as the others, some pair is found in
    18 % of the tables at a level of .05, and what is between the others is hidden.

    References
    ----------
    J. W. Tukey, "Comparing individual means in the analysis of variance", Biometrics 5(2), 1949;
    B. Carterette, "Multiple testing in statistical analysis of systems-based information
    retrieval experiments", TOIS 30(1), 2012.

    Examples
    --------
    >>> values = np.array([[0.2, 0.4, 0.7], [0.3, 0.5, 0.9], [0.3, 0.6, 0.9]])
    >>> found = tukey(values, Stream())
    >>> found.method, found.p.round(3)[0].tolist()
    ('studentized range(3, 4)', [1.0, 0.035, 0.016])
    """
    positions = means(values)
    nothing = without_answer(values, positions)
    if nothing is not None:
        return nothing
    n_systems, n_queries = values.shape
    fit = _fit(values)
    if not fit.error:
        p = np.where(fit.difference == 0, 1.0, np.nan)
        return AllPairs(p, positions=positions, note="zero variance")
    scale = math.sqrt(fit.error / n_queries)
    q = np.abs(fit.difference[np.triu_indices(n_systems, 1)]) / scale
    distinct, back = np.unique(q, return_inverse=True)
    p = mirrored(studentized_range_sf(distinct, n_systems, fit.freedom)[back], n_systems)
    critical = studentized_range_isf(level, n_systems, fit.freedom) * scale
    margin = critical * (1 - np.eye(n_systems))
    f = n_queries * float((fit.effect * fit.effect).sum()) / (n_systems - 1) / fit.error
    return AllPairs(
        p,
        low=(fit.difference - margin) * fit.unit,
        high=(fit.difference + margin) * fit.unit,
        statistic=f,
        overall_p=as_p(fdtrc(n_systems - 1, fit.freedom, f)),
        critical_difference=critical * fit.unit,
        positions=positions,
        method=f"studentized range({n_systems}, {fit.freedom})",
        statistic_name=f"F({n_systems - 1}, {fit.freedom})",
    )


class _Fit(NamedTuple):
    """Two-way analysis of variance: systems' effects, their differences, the error's variance.

    All three in units of `unit`, whose square may be no number.
    """

    unit: float
    effect: Floats
    difference: Floats
    error: float
    freedom: int


def _fit(values: Floats) -> _Fit:
    freedom = (values.shape[0] - 1) * (values.shape[1] - 1)
    left = centred(values)
    step = unit(left)
    left /= step
    effect = left.mean(axis=1)
    left -= effect[:, None]
    added = tolerance(values) / step
    nothing_left = (np.abs(left) <= noise(values, values).max(axis=0) / step + added.max()).all()
    error = 0.0 if nothing_left else float((left * left).sum()) / freedom
    return _Fit(step, effect, pairwise(effect, added), error, freedom)
