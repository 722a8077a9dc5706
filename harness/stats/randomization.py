"""Fisher's randomisation test of paired differences."""

from __future__ import annotations

from ..core.ragged import Floats
from .outcomes import named_outcome
from .registry import Outcome, paired_test
from .sign_flips import sign_flip_p
from .streams import Stream


@paired_test(
    "randomization",
    title="paired two-sided randomisation test",
    sources=("fisher1935", "smucker2007", "phipson2010"),
    random=True,
)
def randomization(differences: Floats, stream: Stream) -> Outcome:
    """Test that the two systems are exchangeable on each query, by flipping signs.

    If it makes no difference which of two systems a value comes from, each difference is as
    likely with the other sign: ``p = P(|sum s_i d_i| >= |sum d_i|)`` over random signs s_i.

    Exact where values lie on a grid (P@10, values of few decimals) or few queries differ; else
    from draws, ``(b + 1) / (m + 1)`` with the b of m draws at least as far from 0, which is never
    0. Differences that tie the observed mean count, also where floating point would hide it.

    Parameters
    ----------
    differences : ndarray, shape (n_queries,)
    stream : Stream
        Gives the draws: the same for the same seed and names, whatever else is computed.

    Returns
    -------
    Outcome
        Its statistic is the mean difference.

    References
    ----------
    Fisher, The Design of Experiments, 1935, section 21. In retrieval: Smucker, Allan and
    Carterette, CIKM 2007. That a drawn p is (b + 1) / (m + 1): Phipson and Smyth, Statistical
    Applications in Genetics and Molecular Biology 9(1), 2010.

    Examples
    --------
    >>> import numpy as np
    >>> randomization(np.array([0.1, 0.2, 0.3, 0.0]), Stream()).p  # 2 of 8 ways
    0.25
    """
    named = named_outcome(differences)
    if named is not None:
        return named
    p, method = sign_flip_p(differences, stream)
    return Outcome(p, float(differences.mean()), method)
