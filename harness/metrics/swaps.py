"""Swaps: how far a ranking is from the ideal order, in exchanges of neighbours."""

from __future__ import annotations

import numpy as np

from ..core.aligned import Aligned
from ..core.metric import metric
from ..core.pairs import inversions, judged_items, tied_pairs
from ..core.ragged import Floats


@metric(
    "swaps",
    direction="lower",
    bounds=(0, np.inf),
    source="Kendall, Biometrika 30, 1938 (distance); counted as the exchanges of a bubble sort",
    unit="swaps",
    missing=np.nan,
    reference=True,
)
def swaps(aligned: Aligned, *, normalize: bool = False) -> Floats:
    """Exchanges of neighbouring documents that bring the ranking into the ideal order.

    Equal to the number of discordant pairs: two judged and retrieved documents with different
    grades, the one with the lower grade ranked first. Documents of one grade need no order, and
    unjudged ones play no part. A whole number; ``normalize=true`` divides it by the number of
    pairs with different grades. It looks at order alone: tied scores stand in the order that
    the policy gives them, where ``kendall`` counts them as ties.

    Parameters
    ----------
    aligned : Aligned
    normalize : bool
        Whether to give the share of the pairs with different grades, in [0, 1]. A query without
        such a pair (one document, or all of one grade) has no share and is NaN; its number of
        swaps is 0.

    Returns
    -------
    ndarray, shape (n_queries,)
        0 for the ideal order. NaN for a query of which no judged document was retrieved, or that
        the run does not answer, as 0 would be a prize.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 10, "b": 7, "c": 9}})
    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})   # one exchange: b and c
    >>> swaps(align(qrels, run)).tolist()
    [1.0]
    """
    items = judged_items(aligned)
    grades = aligned.grade[items.values]
    found = aligned.memo("swaps", lambda: inversions(items.offsets, grades))
    if not normalize:
        return np.where(items.lengths > 0, found, np.nan)
    pairs = items.lengths * (items.lengths - 1) // 2 - tied_pairs(items.offsets, grades)
    values: Floats = np.divide(found, pairs, out=np.full(pairs.size, np.nan), where=pairs > 0)
    return values
