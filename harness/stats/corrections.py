"""Corrections of p-values for the number of comparisons."""

from __future__ import annotations

from typing import get_args

import numpy as np

from ..core.ragged import Floats
from ..errors import unknown
from .comparison import Correction

CORRECTIONS: tuple[Correction, ...] = get_args(Correction)


def adjust(p: Floats, method: Correction) -> Floats:
    r"""Return p-values adjusted for a family of comparisons.

    With :math:`p_{(1)} \le \dots \le p_{(m)}`, and each result at most 1:

    * ``bonferroni``: :math:`m\, p_i`
    * ``holm``: :math:`\max_{j \le i} (m - j + 1)\, p_{(j)}`
    * ``bh``: :math:`\min_{j \ge i} \frac{m}{j}\, p_{(j)}`
    * ``by``: the same times :math:`\sum_{j=1}^m 1/j`
    * ``none``: as they are

    ``holm`` and ``bonferroni`` bound the probability of one false finding in the family (Holm
    never finds less); ``bh`` bounds the share of false ones among the findings, for independent
    or positively dependent tests, and ``by`` for any.

    Parameters
    ----------
    p : ndarray, any shape
        P-values of the family. NaN (a comparison without an answer) is left out of it.
    method : str
        One of `CORRECTIONS`.

    Returns
    -------
    ndarray
        Of the same shape; NaN if `p` is.

    Raises
    ------
    UnknownNameError
        If the method is unknown.
    ValueError
        If a p-value is outside [0, 1].

    References
    ----------
    S. Holm, Scandinavian Journal of Statistics 6(2), 1979; Y. Benjamini and Y. Hochberg, JRSS B
    57(1), 1995; Y. Benjamini and D. Yekutieli, Annals of Statistics 29(4), 2001.

    >>> adjust(np.array([0.01, 0.04, 0.03, np.nan, 0.005]), "holm").tolist()
    [0.03, 0.06, 0.06, nan, 0.02]
    """
    if method not in CORRECTIONS:
        raise unknown("correction", method, CORRECTIONS)
    adjusted = np.array(p, dtype=np.float64)
    answered = ~np.isnan(adjusted)
    family = adjusted[answered]
    if ((family < 0) | (family > 1)).any():
        raise ValueError(
            f"expected p-values of 0 to 1, got {family[(family < 0) | (family > 1)][0]}"
        )
    adjusted[answered] = np.minimum(_adjusted(family, method), 1.0)
    return adjusted


def _adjusted(p: Floats, method: Correction) -> Floats:
    if method == "none":
        return p
    if method == "bonferroni":
        return p * p.size
    order = np.argsort(p, kind="stable")
    place = np.arange(1, p.size + 1)
    result = np.empty(p.size)
    if method == "holm":
        result[order] = np.maximum.accumulate(p[order] * (p.size - place + 1))
        return result
    penalty = float((1 / place).sum()) if method == "by" else 1.0
    scaled = p[order] * (penalty * p.size / place)
    result[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return result
