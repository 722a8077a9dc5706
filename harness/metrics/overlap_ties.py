"""The overlap of two rankings with ties, depth by depth, for all queries at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..core.aligned import Aligned
from ..core.pairs import group_keys
from ..core.ragged import Array, Floats, Ints, offsets_of, positions_of

Tied = Literal["none", "w", "a", "b"]


@dataclass(frozen=True)
class Side:
    """One ranking of each query: its length and its groups of two tied documents and more.

    ``length`` is ``(n_queries,)``; ``row``, ``first`` and ``last`` are the groups' queries and
    the ranks over which they extend, ``(n_groups,)``.
    """

    length: Ints
    row: Ints
    first: Ints
    last: Ints


@dataclass(frozen=True)
class TiedLists:
    """Two rankings of each query, and the documents that are on both.

    Per shared document, ``(n_shared,)``: its query ``row``, and the first and last rank of its
    group in each ranking, ``first_a``, ``last_a``, ``first_b``, ``last_b``.
    """

    a: Side
    b: Side
    row: Ints
    first_a: Ints
    last_a: Ints
    first_b: Ints
    last_b: Ints


def tied_lists(aligned: Aligned, rel: int = 1) -> TiedLists:
    """Lay each query's ranking beside its ideal order, both with their ties.

    Tied in the ranking are documents with the same score, in the ideal order those with the
    same grade; against a reference run, those to which that run gives the same score.
    """
    relevant, ideal = aligned.relevant(rel), aligned.ideal
    items: Any = slice(None) if relevant.size == aligned.rank.size else relevant
    row, grade = aligned.row[items], aligned.grade[items]
    lengths = aligned.n_relevant(rel)
    wanted = np.flatnonzero(ideal.values >= max(rel, 0))
    of_ideal = ideal.row[wanted]
    offsets = offsets_of(lengths)
    if aligned.reference_ties is None:
        level = ideal.values[wanted]
        keys = group_keys(np.concatenate([of_ideal, row]), -np.concatenate([level, grade]))
        sizes = np.bincount(keys[: wanted.size], minlength=int(keys.max(initial=-1)) + 1)
        of_items = keys[wanted.size :]
        first_b = (np.cumsum(sizes) - sizes)[of_items] - offsets[row] + 1
        last_b = first_b + sizes[of_items] - 1
        starts, ends = _stretches(of_ideal, level)
    else:
        level = aligned.reference_ties[wanted]
        place = (offsets[:-1] + ideal.lengths)[row] - grade
        starts, ends = _stretches(of_ideal, level)
        first_b = level[place]
        last_b = first_b + np.repeat(ends - starts, ends - starts + 1)[place]
    tied = np.flatnonzero(ends > starts)
    starts, ends = starts[tied], ends[tied]
    before = offsets[of_ideal[starts]] - 1
    b = Side(lengths, of_ideal[starts], starts - before, ends - before)
    first_a, last_a = aligned.tie_first[items], aligned.tie_last[items]
    return TiedLists(_ranking(aligned), b, row, first_a, last_a, first_b, last_b)


def _stretches(row: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Return the first and the last index of each stretch of equal values within a row."""
    changes = np.ones(row.size, dtype=bool)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    changes[1:] |= row[1:] != row[:-1]
    starts = np.flatnonzero(changes)
    return starts, np.append(starts[1:], row.size) - 1


def _ranking(aligned: Aligned) -> Side:
    length, groups = aligned.n_retrieved, aligned.groups
    if groups is None:
        tied = np.flatnonzero(aligned.tie_last > aligned.tie_first)
        starts, _ = _stretches(aligned.row[tied], aligned.tie_first[tied])
        heads = tied[starts]
        return Side(length, aligned.row[heads], aligned.tie_first[heads], aligned.tie_last[heads])
    first, last = groups.values[:, 0], np.minimum(groups.values[:, 1], length[groups.row])
    kept = last > first
    return Side(length, groups.row[kept], first[kept], last[kept])


@dataclass(frozen=True)
class Depths:
    """Both rankings at every depth from 1 to the end of the longer one, ``(n_depths,)``.

    At a depth at most one group of each ranking is partial: the depth lies before its end. A
    document of it counts ``share``, the part of the group's ranks that are reached. ``full``
    documents lie above it and ``partial`` are in it. ``overlap`` is the sum over shared documents
    of the product of what they count in both; ``full_overlap`` and ``partial_overlap`` count
    those that are full in both, and partial in one of them alone. Queries without a document in
    one of the rankings have one depth.
    """

    offsets: Ints
    depth: Ints
    short: Ints
    long: Ints
    overlap: Floats
    norm: Floats
    full_overlap: Array
    partial_overlap: Array
    full: Array
    partial: Array
    share: Floats

    @property
    def agreement(self) -> Floats:
        """A(d), the overlap as a share of what it could be."""
        return self.overlap / self.norm

    def sum(self, weights: Floats) -> Floats:
        """Sum a number for each depth by query, ``(n_queries,)``."""
        return np.add.reduceat(weights, self.offsets[:-1]) if weights.size else np.zeros(0)

    def at(self, numbers: Array, depth: Ints) -> Array:
        """Return the number that belongs to one depth of each query, ``(n_queries,)``."""
        found: Array = numbers[self.offsets[:-1] + depth - 1]
        return found


def depths(lists: TiedLists, tied: Tied) -> Depths:
    """Return overlap and agreement at every depth, documents of tied groups counted as `tied` says.

    Corsi and Urbano (SIGIR 2024). O(n): the counts of shared documents that are full in both
    rankings, partial in one and partial in both change only where groups begin and end, and
    the overlap at a depth is bilinear in the two shares.
    """
    short = np.maximum(np.minimum(lists.a.length, lists.b.length), 1)
    long = np.maximum(np.maximum(lists.a.length, lists.b.length), 1)
    offsets = offsets_of(long)
    depth = positions_of(offsets) + 1
    start = (offsets[:-1] - 1)[lists.row]
    shared = np.bincount(lists.row, minlength=long.size)

    def reached(rank_a: Ints, rank_b: Ints) -> Ints:
        """Count the shared documents with both ranks reached; each query by itself."""
        steps = np.bincount(np.maximum(rank_a, rank_b) + start, minlength=depth.size + 1)
        steps[offsets[1:]] -= shared
        counts: Ints = np.cumsum(steps)[:-1]
        return counts

    counted = tied != "a" or bool((long > short).any())  # whether more than the shares is needed
    a, b = (_Reach.of(side, offsets, depth, counted) for side in (lists.a, lists.b))
    nothing = np.zeros(1, dtype=np.int64)
    begun = reached(lists.first_a, lists.first_b)
    if tied == "w":
        reach_a, reach_b = a.full + a.partial, b.full + b.partial
        return Depths(
            offsets, depth, short, long, begun.astype(np.float64), (reach_a + reach_b) / 2,
            begun, nothing, np.maximum(reach_a, reach_b), nothing, np.ones(1),
        )  # fmt: skip
    ties_a, ties_b = lists.a.row.size > 0, lists.b.row.size > 0
    begun_a = reached(lists.first_a, lists.last_b) if ties_b else begun
    begun_b = reached(lists.last_a, lists.first_b) if ties_a else begun
    whole = reached(lists.last_a, lists.last_b) if ties_a and ties_b else begun_a
    if not ties_b:
        whole = begun_b
    overlap = whole.astype(np.float64)
    only_a = only_b = nothing
    if ties_a:
        only_a = begun_a - whole
        overlap += a.share * only_a
    if ties_b:
        only_b = begun_b - whole
        overlap += b.share * (only_b + a.share * (begun - begun_a - only_b))
    norm = np.sqrt(a.squares) * np.sqrt(b.squares) if tied == "b" else depth.astype(np.float64)
    # Beyond the end of the shorter ranking all its documents are full, so that the last three
    # are those of the longer one there.
    return Depths(
        offsets, depth, short, long, overlap, norm, whole, only_a + only_b,
        np.minimum(a.full, b.full), a.partial + b.partial, a.share * b.share,
    )  # fmt: skip


@dataclass(frozen=True)
class _Reach:
    """How far each depth reaches into one ranking; arrays ``(n_depths,)``, or ``(1,)`` for all."""

    full: Array
    partial: Array
    share: Floats

    @property
    def squares(self) -> Floats:
        squares: Floats = self.full + self.partial * self.share**2
        return squares

    @staticmethod
    def of(side: Side, offsets: Ints, depth: Ints, counted: bool) -> _Reach:
        """At the last rank of a group, and beyond the ranking's end, all is full."""
        size = side.last - side.first  # all but the last rank
        if not size.size:
            return _Reach(depth, np.zeros(1, dtype=np.int64), np.ones(1))
        before = offsets_of(size)[:-1]
        number = np.arange(size.sum())
        at = number + np.repeat(offsets[side.row] + side.first - 1 - before, size)
        reached, whole = number + np.repeat(1 - before, size), np.repeat(size + 1, size)
        share = np.ones(depth.size)
        share[at] = reached / whole
        full, partial = depth, np.zeros(1, dtype=np.int64)
        if counted:
            full, partial = depth.copy(), np.zeros(depth.size, dtype=np.int64)
            full[at] -= reached
            partial[at] = whole
        return _Reach(full, partial, share)


def undefined(lists: TiedLists) -> Floats:
    """Return NaN for queries without a document in one of the rankings and 0 for the others."""
    gaps: Floats = np.where((lists.a.length > 0) & (lists.b.length > 0), 0.0, np.nan)
    return gaps
