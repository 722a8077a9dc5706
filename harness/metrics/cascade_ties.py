"""What a reader who goes down tied documents in any order does, on the average."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.ragged import Floats, Ints, lengths_of, offsets_of, positions_of, rows_of


@dataclass(frozen=True)
class TiedStops:
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
    nothing cancels. O(seen * documents that can stop a reader) for each group; the loop is over
    the latter, all groups together.

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
    stopping, seen = stopping[order], groups.seen[order]
    offsets, starts = offsets_of(seen), groups.offsets[:-1][order]
    group, place = rows_of(offsets), positions_of(offsets)
    harmless = groups.size[order] - stopping
    passed = (place <= harmless[group]).astype(np.float64)
    stopped = np.zeros_like(passed)
    for step in range(int(stopping.max(initial=0))):
        active = int(np.searchsorted(-stopping, -step, side="left"))
        end = int(offsets[active])
        size = (harmless[:active] + step + 1)[group[:end]]
        stop = groups.stop[starts[:active] + step][group[:end]]
        earlier, here = place[:end] / size, stop / size
        through = earlier * (1.0 - stop)
        stopped[:end] = (
            (1.0 - earlier - 1.0 / size) * stopped[:end]
            + through * _before(stopped[:end])
            + here * passed[:end]
        )
        passed[:end] = (1.0 - earlier) * passed[:end] + through * _before(passed[:end])
    return order[group], place, stopped


def _before(values: Floats) -> Floats:
    """Return the value one place before; what stands at a group's first place is not used."""
    shifted = np.zeros_like(values)
    shifted[1:] = values[:-1]
    return shifted
