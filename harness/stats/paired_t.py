"""Student's t-test of paired differences."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr

from ..core.ragged import Floats
from .registry import Outcome, Stream, as_p, paired_test


@paired_test("paired-t", title="two-sided paired t-test", sources=("student1908",))
def paired_t(differences: Floats, stream: Stream) -> Outcome:
    """Test that the mean difference is 0, by Student's t.

    ``t = mean / (s / sqrt(n))`` with the sample deviation s (n - 1), and p the probability of a t
    at least as far from 0 with n - 1 degrees of freedom.

    Equal differences other than 0 have no deviation, and t would be infinite. The p-value is then
    undefined, with the note ``zero variance``. Tests that flip signs or count wins define it.

    Its statistic is t.

    References
    ----------
    Student, The probable error of a mean, Biometrika 6(1), 1908. Its type I error
    on retrieval metrics: Urbano, Lima and Hanjalic, SIGIR 2019.

    Examples
    --------
    >>> import numpy as np
    >>> found = paired_t(np.array([1.0, 2.0, 3.0]), Stream())
    >>> round(found.statistic, 4), round(found.p, 4), found.method
    (3.4641, 0.0742, 't(2)')
    """
    freedom = differences.size - 1
    if np.ptp(differences) == 0:
        return Outcome(np.nan, note="zero variance")
    error = differences.std(ddof=1) / np.sqrt(differences.size)
    t = float(differences.mean() / error)
    return Outcome(as_p(2 * stdtr(freedom, -abs(t))), t, f"t({freedom})")
