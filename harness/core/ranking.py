"""The order of each query's documents: by score, then by the policy for ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .policy import Policy
from .ragged import Array, Bools, Ints
from .tables import Run


@dataclass(frozen=True)
class Ties:
    """Groups of tied scores in a ranked order, only those of two documents and more.

    ``member`` says of each place whether it is in one, ``(n_rows,)``; ``starts`` and ``ends``
    are the first and the last place of each group.
    """

    member: Bools
    starts: Ints
    ends: Ints

    def group(self, places: Ints) -> Ints:
        """Return the group that each of these places, all of them members, is in."""
        group: Ints = np.searchsorted(self.starts, places, side="right") - 1
        return group


def rank_order(run: Run, policy: Policy | None = None) -> Ints:
    """Return the rows of `run` in ranked order, query by query, ``(n_rows,)``."""
    policy = policy or Policy()
    order, ties = by_score(run, policy)
    order = settle_ties(run, order, ties, None, policy)
    return np.arange(run.n_rows) if order is None else order


def by_score(run: Run, policy: Policy) -> tuple[Ints | None, Ties]:
    """Order the rows by falling score within their query, ties in any order.

    Returns the order (None where the rows stand in it already) and the ties in it.
    """
    scores: Array = run.scores
    if policy.score_type == "float32":
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32)
    elif policy.score_type == "none":
        scores = np.zeros(run.n_rows, dtype=np.float32)
    begins = np.zeros(run.n_rows + 1, dtype=bool)
    begins[run.offsets] = True
    begins = begins[1 : run.n_rows]
    order = None
    if not ((scores[1:] <= scores[:-1]) | begins).all():
        if scores.dtype == np.float32:
            # Ties are settled later, but for those that keep the order of the input.
            kind: Literal["stable"] | None = "stable" if policy.ties == "stable" else None
            order = np.argsort(_descending_keys(run.row, scores), kind=kind)
        else:
            order = np.lexsort((-scores, run.row))
        scores = scores[order]
    same = np.zeros(run.n_rows + 1, dtype=bool)  # as the place before
    same[1 : run.n_rows] = (scores[1:] == scores[:-1]) & ~begins
    this, following = same[:-1], same[1:]
    ties = Ties(
        this | following, np.flatnonzero(following & ~this), np.flatnonzero(this & ~following)
    )
    return order, ties


def _descending_keys(row: Ints, scores: Array) -> Array:
    """Return int64 keys that sort by row, then by falling float32 score."""
    bits = (scores + np.float32(0)).view(np.int32)  # -0.0 becomes 0.0
    bits ^= (bits >> 31) & np.int32((1 << 31) - 1)  # integers that rise as the scores do
    keys: Array = row << 32
    keys -= bits
    return keys


def settle_ties(
    run: Run, order: Ints | None, ties: Ties, place: Ints | None, policy: Policy
) -> Ints | None:
    """Return `order` with the groups of tied scores put in the policy's order.

    Where places are given, only groups that hold one of them are looked at: the order of the
    others is seen by no metric. The order comes back as it is where there is nothing to settle.
    """
    if policy.ties == "stable":
        return order
    places = np.flatnonzero(ties.member)
    group = ties.group(places)
    if place is not None:
        holds = np.zeros(ties.starts.size, dtype=bool)
        holds[ties.group(place[ties.member[place]])] = True
        places, group = places[holds[group]], group[holds[group]]
    if not places.size:
        return order
    settled = np.arange(run.n_rows) if order is None else order.copy()
    rows = settled[places]
    within = rows if policy.ties == "reverse" else run.docnos.byte_order(rows)
    span = int(within.max()) + 1
    keys = group * span + (within if policy.ties == "docno+" else -within)
    settled[places] = rows[np.argsort(keys)]
    return settled
