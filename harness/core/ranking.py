"""The order of each query's documents: by score, then by the policy for ties."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .policy import Policy, Scores
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
    order, ties = by_score(run, [policy.score_type])[policy.score_type]
    order = settle_ties(run, order, ties, None, policy)
    return np.arange(run.n_rows) if order is None else order


def by_score(run: Run, types: Iterable[Scores]) -> dict[Scores, tuple[Ints | None, Ties]]:
    """Order the rows by falling score within their query, ties in any order.

    The rows are sorted once, in single precision; where double precision is asked for, only
    those that single precision ties are sorted again.

    Returns, for each type, the order (None where the rows stand in it already) and the ties in
    it.
    """
    found: dict[Scores, tuple[Ints | None, Ties]] = {}
    begins = np.zeros(run.n_rows + 1, dtype=bool)
    begins[run.offsets] = True
    begins = begins[1 : run.n_rows]
    types = set(types)
    if "none" in types:
        found["none"] = None, _ties(np.zeros(run.n_rows, dtype=np.float32), begins)
    if not types - {"none"}:
        return found
    with np.errstate(over="ignore"):
        single = run.scores.astype(np.float32)
    order = None
    if not ((single[1:] <= single[:-1]) | begins).all():
        order = np.argsort(_descending_keys(run.row, single))
        single = single[order]
    ties = _ties(single, begins)
    found["float32"] = order, ties
    if "float64" in types:
        found["float64"] = _refined(run, order, ties)
    return found


def _ties(scores: Array, begins: Bools) -> Ties:
    """Return the groups of equal scores; `begins` says which places after the first begin one."""
    same = np.zeros(scores.size + 1, dtype=bool)
    same[1 : scores.size] = (scores[1:] == scores[:-1]) & ~begins
    return _groups(same)


def _groups(same: Bools) -> Ties:
    """Return the groups, told which places have the score of the one before, ``(n_rows + 1,)``."""
    this, following = same[:-1], same[1:]
    return Ties(
        this | following, np.flatnonzero(following & ~this), np.flatnonzero(this & ~following)
    )


def _refined(run: Run, order: Ints | None, ties: Ties) -> tuple[Ints | None, Ties]:
    """Return the order and the ties in double precision, given those in single precision.

    Rounding keeps the order, so that two scores can only part that were tied.
    """
    places = np.flatnonzero(ties.member)
    rows = places if order is None else order[places]
    scores = run.scores[rows]
    begins = np.ones(run.n_rows + 1, dtype=bool)
    begins[places] = False
    begins[ties.starts] = True
    inside = ~begins[places[1:]]  # tied with the place before
    if (scores[1:] == scores[:-1])[inside].all():
        return order, ties
    if (scores[1:] > scores[:-1])[inside].any():
        within = np.lexsort((-scores, ties.group(places)))
        order = np.arange(run.n_rows) if order is None else order.copy()
        order[places], scores = rows[within], scores[within]
    same = np.zeros(run.n_rows + 1, dtype=bool)
    same[places[1:]] = (scores[1:] == scores[:-1]) & inside
    return order, _groups(same)


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
    if policy.ties == "stable" and order is None:
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
    of_input = policy.ties in ("stable", "reverse")
    within = rows if of_input else run.docnos.byte_order(rows)
    span = int(within.max()) + 1
    keys = group * span + (within if policy.ties in ("stable", "docno+") else -within)
    settled[places] = rows[np.argsort(keys)]
    return settled
