"""Swaps: how far a ranking is from the ideal order, in exchanges of neighbours."""

from __future__ import annotations

import numpy as np

from ..core.aligned import Aligned
from ..core.blocks import by_block
from ..core.inversions import inversions
from ..core.metric import metric
from ..core.pairs import judged_items, tied_pairs
from ..core.ragged import Array, Floats, Ints, offsets_of, sum_by
from ..core.reference import levels
from ..core.tied import tied_groups
from .concordance import discordant


def _expected(aligned: Aligned, *, normalize: bool = False) -> Floats:
    """Return the expectation over the orders of tied documents.

    A pair of different grades in one group of tied scores counts one half.
    """

    def change(part: Aligned) -> Floats:
        groups = tied_groups(part, 0)
        grades, offsets = levels(part)[groups.items], offsets_of(groups.found)
        pairs = groups.found * (groups.found - 1) // 2 - tied_pairs(offsets, grades)
        return sum_by(groups.row, pairs / 2 - inversions(offsets, grades), part.n_queries)

    return _share(aligned, discordant(aligned) + by_block(aligned, change), normalize)


def _share(aligned: Aligned, found: Array, normalize: bool) -> Floats:
    """Return swaps as their number, or as a share of the pairs with different grades."""
    if not normalize:
        return np.where(judged_items(aligned).lengths > 0, found, np.nan)

    def differing(part: Aligned) -> Ints:
        items = judged_items(part)
        same = tied_pairs(items.offsets, levels(part)[items.values])
        pairs: Ints = items.lengths * (items.lengths - 1) // 2 - same
        return pairs

    pairs = by_block(aligned, differing)
    values: Floats = np.divide(found, pairs, out=np.full(pairs.size, np.nan), where=pairs > 0)
    return values


@metric(
    "swaps",
    direction="lower",
    bounds=(0, np.inf),
    source="Kendall, Biometrika 30, 1938 (distance); counted as the exchanges of a bubble sort",
    unit="swaps",
    missing=np.nan,
    reference=True,
    expected=_expected,
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
    return _share(aligned, discordant(aligned), normalize)
