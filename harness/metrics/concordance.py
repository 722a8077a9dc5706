"""Pairs of documents whose order agrees with their grades."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.aligned import Aligned
from ..core.blocks import by_block
from ..core.inversions import inversions
from ..core.pairs import (
    compress,
    group_keys,
    judged_items,
    pairs_in_runs,
    sorted_keys,
    tied_pairs,
)
from ..core.ragged import Array, Ints
from ..core.reference import levels


class Concordance(NamedTuple):
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


def discordant(aligned: Aligned, rel: int | None = None) -> Ints:
    """Count the pairs of each query in which the lower grade is ranked first, ``(n_queries,)``."""

    def count(part: Aligned) -> Ints:
        items = judged_items(part)
        return inversions(items.offsets, _grades(part, rel))

    return aligned.memo(("discordant", rel), lambda: by_block(aligned, count))


def _grades(aligned: Aligned, rel: int | None) -> Array:
    grades = levels(aligned)[judged_items(aligned).values]
    return grades if rel is None else (grades >= rel).astype(np.int64)


def _count(aligned: Aligned, rel: int | None) -> Concordance:
    any_tied = bool(aligned.n_tied.any())

    def count(part: Aligned) -> Ints:
        items, grades = judged_items(part), _grades(part, rel)
        tied_grades = tied_pairs(items.offsets, grades)
        tied_scores = tied_both = wrong = np.zeros_like(tied_grades)
        if any_tied:
            groups = group_keys(items.row, part.tie_first[items.values])
            tied_scores = pairs_in_runs(items.offsets, groups)
            # Within a tied group the grades stand in descending order: none is discordant.
            falling = compress(-grades)
            bits = int(falling.max(initial=0)).bit_length()
            both = sorted_keys((groups << bits) + falling)
            tied_both = pairs_in_runs(items.offsets, both)
            wrong = inversions(items.offsets, -(both & ((1 << bits) - 1)))
        pairs = items.lengths * (items.lengths - 1) // 2
        return np.stack([pairs, wrong, tied_scores, tied_grades, tied_both], axis=1)

    pairs, wrong, tied_scores, tied_grades, tied_both = by_block(aligned, count).T
    if not any_tied:
        wrong = discordant(aligned, rel)
    right = pairs - tied_scores - tied_grades + tied_both - wrong
    return Concordance(pairs, right, wrong, tied_scores, tied_grades, tied_both)
