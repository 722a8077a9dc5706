"""What a reader who goes down tied documents in any order does, on the average."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..core.ragged import Floats, Ints, lengths_of, offsets_of, positions_of, rows_of

_BLOCK = 1 << 15
"""Ranks of groups that are worked on at a time; a few arrays of them fit a cache."""
_NEGLIGIBLE = 60 * np.log(2)


class TiedStops(NamedTuple):
    """Groups of tied documents, as far as a reader who stops sees them.

    ``stop`` are the stop probabilities of the documents that can stop a reader, group after
    group: those of group ``g`` are ``stop[offsets[g]:offsets[g + 1]]``, at least one. Per group,
    ``(n_groups,)``: ``size`` (all its documents) and ``seen`` (how many of its ranks count).
    """

    stop: Floats
    offsets: Ints
    size: Ints
    seen: Ints


def stops_at(groups: TiedStops) -> tuple[Ints, Ints, Floats]:
    """Return the probability that a reader of a group stops at each of its ranks.

    The mean, over all orders of the group's documents, of R at that rank times the product of
    (1 - R) over the ranks before it in the group. A group is built up document by document, each
    put into a random place among those there already: a rank keeps what it had where the new
    document stands after it, gets what the rank before had, times (1 - R) of the new one, where
    that stands before, and is taken by the new one itself otherwise. Only means are taken, so
    nothing cancels. Ranks that all but 2^-60 of those who stop do not get to are left out, which
    bounds the work by some hundred steps a document.

    Returns
    -------
    group, place : ndarray of int64, shape (n_seen,)
        Each rank's group, and its place in it from 0.
    probability : ndarray, shape (n_seen,)

    Examples
    --------
    >>> # R = 1/2 and 0 in either order: 1/2 * 1/2 at each of the two ranks
    >>> stops_at(TiedStops(np.array([0.5]), np.array([0, 1]), np.array([2]), np.array([2])))[2]
    array([0.25, 0.25])
    """
    stopping = lengths_of(groups.offsets)
    # Groups with most documents to put in come first, so that a step's groups are a head of all.
    order = np.argsort(-stopping, kind="stable")
    seen = np.minimum(groups.seen, _reached(groups))[order]
    stopping, size, starts = stopping[order], groups.size[order], groups.offsets[:-1][order]
    offsets = offsets_of(seen)
    stopped = np.empty(offsets[-1])
    bounds = np.unique(np.searchsorted(offsets, np.arange(0, offsets[-1], _BLOCK)))
    for first, last in pairwise([*bounds.tolist(), order.size]):
        part = slice(first, last)
        stopped[offsets[first] : offsets[last]] = _build(
            groups.stop, starts[part], stopping[part], size[part], seen[part]
        )
    return order[rows_of(offsets)], positions_of(offsets), stopped


def _reached(groups: TiedStops) -> Ints:
    """Return after how many ranks of each group next to nobody is left, ``(n_groups,)``.

    A share of at most m^t gets past t ranks, where m is the mean of (1 - R) in the group
    (Maclaurin's inequality), and a share of 1 - m stops at the first.
    """
    mean = np.add.reduceat(groups.stop, groups.offsets[:-1]) / groups.size
    if not ((groups.stop >= 0) & (groups.stop <= 1)).all():
        return groups.size
    with np.errstate(divide="ignore"):
        ranks = (_NEGLIGIBLE - np.log(mean)) / -np.log1p(-mean)
    reached: Ints = np.minimum(np.ceil(ranks) + 1, groups.size).astype(np.int64)
    return reached


def _build(stop: Floats, starts: Ints, stopping: Ints, size: Ints, seen: Ints) -> Floats:
    """Return the probabilities of some groups, those with most documents to put in first."""
    offsets = offsets_of(seen)
    group, place = rows_of(offsets), positions_of(offsets)
    harmless = size - stopping
    passed = (place <= harmless[group]).astype(np.float64)
    stopped = np.zeros_like(passed)
    for step in range(int(stopping[0])):
        active = int(np.searchsorted(-stopping, -step, side="left"))
        end = int(offsets[active])
        n, of, at = harmless[:active] + step + 1, group[:end], place[:end]
        new = stop[starts[:active] + step]
        through = at * ((1.0 - new) / n)[of]
        after = n[of] - at
        share = (1.0 / n)[of]
        stopped[:end] = (
            (after - 1) * share * stopped[:end]
            + through * _before(stopped[:end])
            + (new / n)[of] * passed[:end]
        )
        passed[:end] = after * share * passed[:end] + through * _before(passed[:end])
    return stopped


def _before(values: Floats) -> Floats:
    """Return the value one place before; what stands at a group's first place is not used."""
    shifted = np.empty_like(values)
    shifted[0] = 0.0
    shifted[1:] = values[:-1]
    return shifted
