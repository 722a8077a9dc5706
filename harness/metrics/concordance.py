"""Pairs of documents whose order agrees with their grades."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.aligned import Aligned
from ..core.pairs import compress, group_keys, inversions, judged_items, tied_pairs
from ..core.ragged import Ints
from ..core.reference import levels


@dataclass(frozen=True)
class Concordance:
    """Pairs of judged and retrieved documents of each query, ``(n_queries,)`` each.

    ``right`` and ``wrong`` have different grades and different scores; ``tied_scores`` and
    ``tied_grades`` have the same, ``tied_both`` of them both; ``pairs`` is all of them.
    """

    pairs: Ints
    right: Ints
    wrong: Ints
    tied_scores: Ints
    tied_grades: Ints
    tied_both: Ints


def concordance(aligned: Aligned, rel: int | None = None) -> Concordance:
    """Count the pairs of each query by the order of their scores and of their grades.

    Scores are tied where the policy holds them tied.

    Parameters
    ----------
    aligned : Aligned
    rel : int, optional
        Tell apart only grades of at least `rel` from the others.
    """
    return aligned.memo(("concordance", rel), lambda: _count(aligned, rel))


def _count(aligned: Aligned, rel: int | None) -> Concordance:
    items = judged_items(aligned)
    grades, groups = levels(aligned)[items.values], aligned.tie_first[items.values]
    if rel is not None:
        grades = (grades >= rel).astype(np.int64)
    n_pairs = items.lengths * (items.lengths - 1) // 2
    tied_scores, tied_grades = tied_pairs(items.offsets, groups), tied_pairs(items.offsets, grades)
    if tied_scores.any():
        # Within a tied group the grades stand in descending order, so that none is discordant.
        pairs = group_keys(items.row, groups)
        falling = compress(-grades)
        both = pairs * (int(falling.max(initial=0)) + 1) + falling
        wrong = inversions(items.offsets, grades[np.argsort(both)])
        tied_both = tied_pairs(items.offsets, both)
    else:
        tied_both = np.zeros_like(tied_scores)
        key = "swaps" if rel is None else ("inversions", rel)
        wrong = aligned.memo(key, lambda: inversions(items.offsets, grades))
    right = n_pairs - tied_scores - tied_grades + tied_both - wrong
    return Concordance(n_pairs, right, wrong, tied_scores, tied_grades, tied_both)
