"""Swaps: how far a ranking is from the ideal order, in exchanges of neighbours."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.blocks import by_block
from ..core.metric import metric
from ..core.pairs import inversions, judged_items, tied_pairs
from ..core.ragged import Array, Floats, Ints, offsets_of, sum_by
from ..core.ranking import levels
from ..core.ties import tied_groups
from .pair_agreement import discordant

Normalize = Literal[False, True, "all"]


def _expected(aligned: Aligned, *, normalize: Normalize = False) -> Floats:
    """Return the expectation over the orders of tied documents.

    A pair of different grades in one group of tied scores counts one half.
    """

    def change(part: Aligned) -> Floats:
        groups = tied_groups(part, 0)
        grades, offsets = levels(part)[groups.items], offsets_of(groups.found)
        pairs = groups.found * (groups.found - 1) // 2 - tied_pairs(offsets, grades)
        return sum_by(groups.row, pairs / 2 - inversions(offsets, grades), part.n_queries)

    return _share(aligned, discordant(aligned) + by_block(aligned, change), normalize)


def _share(aligned: Aligned, found: Array, normalize: Normalize) -> Floats:
    """Return swaps as a count, or as a share of the pairs that `normalize` asks for."""
    if normalize is False:
        return np.where(judged_items(aligned).lengths > 0, found, np.nan)

    def count(part: Aligned) -> Ints:
        items = judged_items(part)
        pairs: Ints = items.lengths * (items.lengths - 1) // 2
        if normalize == "all":
            return pairs
        return pairs - tied_pairs(items.offsets, levels(part)[items.values])

    pairs = by_block(aligned, count)
    values: Floats = np.divide(found, pairs, out=np.full(pairs.size, np.nan), where=pairs > 0)
    return values


@metric(
    "swaps",
    title="the number of swaps",
    cite=("kendall1938",),
    variants={
        "normalize=true": ("the share of swapped pairs", ("kendall1938",)),
        "normalize=all": ("the share of swapped pairs among all pairs", ("kendall1938",)),
    },
    direction="lower",
    bounds=(0, np.inf),
    source="Kendall, Biometrika 30, 1938 (distance); counted as the exchanges of a bubble sort",
    unit="swaps",
    missing=np.nan,
    reference=True,
    expected=_expected,
)
def swaps(aligned: Aligned, *, normalize: Normalize = False) -> Floats:
    """Exchanges of neighbouring documents that bring the ranking into the ideal order.

    Equal to the number of discordant pairs: two judged and retrieved documents with different
    grades, the one with the lower grade ranked first. Documents of one grade need no order, and
    unjudged ones play no part. A whole number; ``normalize`` divides it by a number of pairs.
    It looks at order alone: tied scores stand in the order that the policy gives them, where
    ``kendall`` counts them as ties. With ``reference`` the other run's scores take the place of
    the grades.

    Parameters
    ----------
    aligned : Aligned
    normalize : {False, True, "all"}
        ``true`` divides by the pairs with different grades, so the reversed ideal order has 1.
        Only ties of the grades (with ``reference``, of the other run's scores) lower this number,
        so exchanging the two runs can change the value. ``all`` divides by all n(n-1)/2 pairs of
        the n documents, the same number for both directions. With it, the value is symmetric if
        neither run ties documents; grades with ties cannot reach 1. A query without pairs to
        divide by is NaN; its number of swaps is 0.

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
