"""The sign test: wins against losses."""

from __future__ import annotations

from scipy.special import bdtr

from ..core.ragged import Floats
from .registry import Outcome, Stream, as_p, paired_test


@paired_test("sign", title="two-sided sign test", sources=("conover1999",))
def sign(differences: Floats, stream: Stream) -> Outcome:
    """Test that a query is won as often as lost; ties are dropped.

    With w wins and l losses, ``p = min(1, 2 P(B <= min(w, l)))`` for B binomial with w + l trials
    and probability 1/2.

    It ignores sizes, so it is exact for any distribution, and has little power. What it
    tests is the median difference, and not the mean that a table shows.

    Its statistic is the number of wins.

    References
    ----------
    Conover, Practical Nonparametric Statistics, 3rd edition, 1999, section 3.4. Why it is not to
    be preferred: Smucker, Allan and Carterette, CIKM 2007.

    Examples
    --------
    >>> import numpy as np
    >>> found = sign(np.array([0.1, 0.2, 0.0, 0.1, -0.3]), Stream())  # 2 (1 + 4) / 16
    >>> found.statistic, round(found.p, 12)
    (3.0, 0.625)
    """
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    p = as_p(2 * bdtr(min(wins, losses), wins + losses, 0.5))
    return Outcome(p, float(wins), "exact")
