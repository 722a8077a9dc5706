"""The sign test: wins against losses."""

from __future__ import annotations

from scipy.special import bdtr

from ..core.ragged import Floats
from .registry import Outcome, Stream, as_p, paired_test


@paired_test("sign", title="two-sided sign test", sources=("conover1999",))
def sign(differences: Floats, stream: Stream) -> Outcome:
    """Test that wins and losses are equally likely; ties are dropped.

    With w wins and l losses, ``p = min(1, 2 P(B <= min(w, l)))`` for B binomial with w + l trials
    and probability 1/2.

    It ignores the sizes of differences, so it is exact for any distribution, with little power. It
    tests the median difference, not the mean in tables.

    Its statistic is the number of wins.

    References
    ----------
    Conover, Practical Nonparametric Statistics, 3rd edition, 1999, section 3.4. Its
    weakness: Smucker, Allan and Carterette, CIKM 2007.

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
