"""Overlap of two rankings without ties: the depth at which each shared document enters it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from ..core.aligned import Aligned
from ..core.ragged import Array, Floats, Ints, offsets_of, positions_of, stretches, sum_by
from .pairs import group_keys, numbered


class Overlap(NamedTuple):
    """Lengths and shared documents of two lists for each query.

    ``first`` and ``second`` are the lengths, ``(n_queries,)``. A document on both lists is in the
    overlap from ``depth``, ``(n_shared,)``, the larger of its two ranks. ``row`` is its query, and
    ``rank`` its rank on the second list.
    """

    first: Ints
    second: Ints
    row: Ints
    depth: Ints
    rank: Ints

    def sum(self, weights: Floats) -> Floats:
        """Sum a number for each shared document by query, ``(n_queries,)``."""
        return sum_by(self.row, weights, self.first.size)


def overlap_of(aligned: Aligned, rel: float = 1) -> Overlap:
    """Compare each query's ranking with its ideal order.

    The ideal order holds the documents with a grade of at least `rel`, by falling grade. Those
    of one grade are in the ranking's own order, the retrieved before the others.
    """
    return aligned.memo(("overlap", rel), lambda: _overlap(aligned, rel))


def _overlap(aligned: Aligned, rel: float) -> Overlap:
    items, lengths = aligned.relevant(rel), aligned.n_relevant(rel)
    row, rank = aligned.row[items], aligned.rank[items]
    keys, place = _ideal_places(aligned, rel)
    ideal_rank = place - offsets_of(lengths)[row] + 1
    if np.bincount(keys).max(initial=0) > 1:  # the ranking orders those of one grade
        ideal_rank += numbered(keys)[0] - 1
    depth = np.maximum(rank, ideal_rank)
    return Overlap(aligned.n_retrieved, lengths, row, depth, ideal_rank)


def _ideal_places(aligned: Aligned, rel: float) -> tuple[Ints, Ints]:
    """Return a key for the query and grade of each relevant item, and their first ideal place."""
    items, ideal = aligned.relevant(rel), aligned.ideal
    relevant = np.flatnonzero(ideal.values >= max(rel, 0))
    # One key for each (query, grade), rising as the ideal order goes on.
    keys = group_keys(
        np.concatenate([ideal.row[relevant], aligned.row[items]]),
        -np.concatenate([ideal.values[relevant], aligned.grade[items]]),
    )
    of_ideal, of_items = keys[: relevant.size], keys[relevant.size :]
    sizes = np.bincount(of_ideal, minlength=int(keys.max(initial=-1)) + 1)
    return of_items, (np.cumsum(sizes) - sizes)[of_items]


def expected_sum(aligned: Aligned, rel: float, gain: Callable[[Ints, Ints], Floats]) -> Floats:
    """Return the expectation of the sum of `gain` over shared documents, ``(n_queries,)``.

    Documents of one grade have the same order in the ideal order and in the ranking. So of k such
    documents in one group of m tied scores, the i-th one always has the same rank there, and in
    the ranking that of the i-th of k places drawn out of m: place j with probability
    C(j-1, i-1) C(m-j, k-i) / C(m, k). O(n) for each place of the largest group. `gain` takes
    queries and depths and returns what documents shared from these depths on add.
    """
    pair, items = overlap_of(aligned, rel), aligned.relevant(rel)
    start, end = aligned.tie_first[items], aligned.tie_last[items]
    gains = np.zeros(items.size)
    single = start == end
    gains[single] = gain(pair.row[single], pair.depth[single])
    tied = np.flatnonzero(~single)
    row, start, ideal = pair.row[tied], start[tied], pair.rank[tied]
    size = end[tied] - start + 1
    number, n_alike = numbered(group_keys(group_keys(row, start), aligned.grade[items[tied]]))
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, size.max(initial=0) + 1.0)))])

    def choose(n: Ints, k: Ints) -> Floats:
        """Return ln C(n, k)."""
        ways: Floats = logs[n] - logs[k] - logs[n - k]
        return ways

    last_step = size - n_alike
    pending, step = np.arange(tied.size), 0
    while (pending := pending[last_step[pending] >= step]).size:
        i, k, m = number[pending], n_alike[pending], size[pending]
        ways = choose(i - 1 + step, i - 1) + choose(m - i - step, k - i) - choose(m, k)
        rank = start[pending] + i - 1 + step
        gains[tied[pending]] += np.exp(ways) * gain(row[pending], np.maximum(rank, ideal[pending]))
        step += 1
    return sum_by(pair.row, gains, aligned.n_queries)


Tied = Literal["none", "w", "a", "b"]


class TieGroups(NamedTuple):
    """The first and the last rank of the group of tied documents at each rank, query by query."""

    first: Ints
    last: Ints

    def to(self, depth: Ints, offsets: Ints, length: Ints) -> TieGroups:
        """Return the groups at every depth; beyond the ranking's end each depth is one."""
        places = positions_of(offsets_of(length)) + np.repeat(offsets[:-1], length)
        start, end = depth.copy(), depth.copy()
        start[places], end[places] = self.first, self.last
        return TieGroups(start, end)

    def share(self, depth: Ints) -> Floats:
        """Return the share of the group up to each depth."""
        shares: Floats = (depth - self.first + 1) / (self.last - self.first + 1)
        return shares

    def squares(self, share: Floats) -> Floats:
        """Return the sum of the squared shares of the documents at every depth."""
        sums: Floats = share * share * (self.last - self.first + 1) + (self.first - 1)
        return sums

    def full(self, depth: Ints, places: Ints) -> Ints:
        """Number of documents that count fully at each depth: all at the end of a group."""
        ends = depth[places]
        return np.where(ends == self.last[places], ends, self.first[places] - 1)


def _ranking(aligned: Aligned) -> TieGroups:
    """Return the groups of each query's ranking: the documents with the same score."""
    length, groups = aligned.n_retrieved, aligned.groups
    if groups is None or aligned.rank.size == int(length.sum()):  # every document is an item
        return TieGroups(aligned.tie_first, aligned.tie_last)
    start, end = groups.values[:, 0], np.minimum(groups.values[:, 1], length[groups.row])
    tied = end > start
    row, start, end = groups.row[tied], start[tied], end[tied]
    offsets, sizes = offsets_of(length), end - start + 1
    places = positions_of(offsets_of(sizes)) + np.repeat(offsets[row] + start - 1, sizes)
    rank = positions_of(offsets) + 1
    first_at, last_at = rank.copy(), rank
    first_at[places], last_at[places] = np.repeat(start, sizes), np.repeat(end, sizes)
    return TieGroups(first_at, last_at)


def _ideal(aligned: Aligned, rel: float) -> tuple[TieGroups, Ints]:
    """Return the groups of each query's ideal order, and the place in it of each relevant item.

    Tied are the documents with the same grade; against a reference run, those to which that run
    gives the same score.
    """
    items, ideal, lengths = aligned.relevant(rel), aligned.ideal, aligned.n_relevant(rel)
    row, grade, before = aligned.row[items], aligned.grade[items], offsets_of(lengths)[:-1]
    relevant = np.flatnonzero(ideal.values >= max(rel, 0))
    of_ideal = ideal.row[relevant]
    if aligned.reference_ties is None:
        level, (_, place) = ideal.values[relevant], _ideal_places(aligned, rel)
    else:
        level = aligned.reference_ties[relevant]
        place = (before + ideal.lengths)[row] - grade
    starts, sizes = stretches(of_ideal, level)
    start = np.repeat(starts + 1 - before[of_ideal[starts]], sizes)
    return TieGroups(start, start + np.repeat(sizes - 1, sizes)), place


class Depths(NamedTuple):
    """Both rankings at every depth from 1 to the end of the longer one, ``(n_depths,)``.

    ``overlap`` is the sum over shared documents of the product of what they count in both.
    Queries without a document in one of the rankings have one depth. ``shared`` counts the
    documents that are on both, by query.

    At a depth at most one group of each ranking is partial: the depth lies before its end. Of
    the depths ``past`` the end of the shorter ranking, ``(n_past,)``, a document of it counts
    ``share``, the part of the group's ranks that are reached; ``full`` documents that only the
    longer ranking holds lie above it and ``partial`` are in it.
    """

    offsets: Ints
    depth: Ints
    short: Ints
    long: Ints
    shared: Ints
    overlap: Floats
    norm: Floats
    past: Ints
    full: Ints
    partial: Ints
    share: Floats

    @property
    def agreement(self) -> Floats:
        """A(d), the overlap divided by the largest possible overlap."""
        return self.overlap / self.norm

    def sum(self, weights: Floats) -> Floats:
        """Sum a number for each depth by query, ``(n_queries,)``."""
        return np.add.reduceat(weights, self.offsets[:-1]) if weights.size else np.zeros(0)

    def at(self, numbers: Array, depth: Ints) -> Array:
        """Return the number at one depth of each query, ``(n_queries,)``."""
        values: Array = numbers[self.offsets[:-1] + depth - 1]
        return values


def depths(aligned: Aligned, rel: float, tied: Tied) -> Depths:
    """Return overlap and agreement of each query's ranking and ideal order at every depth.

    Documents of tied groups count as `tied` says: Corsi and Urbano (SIGIR 2024). O(n): the counts
    of shared documents that are full in both rankings, partial in one and partial in both change
    only where groups begin and end, and the overlap at a depth is bilinear in the two shares.
    """
    lengths = aligned.n_retrieved, aligned.n_relevant(rel)
    short, long = np.maximum(np.minimum(*lengths), 1), np.maximum(np.maximum(*lengths), 1)
    offsets = offsets_of(long)
    depth = positions_of(offsets) + 1
    past = np.flatnonzero(depth > np.repeat(short, long))
    items = aligned.relevant(rel)
    shared, start = aligned.count(items), (offsets[:-1] - 1)[aligned.row[items]]
    ideal, place = _ideal(aligned, rel)
    first_a, last_a = aligned.tie_first[items], aligned.tie_last[items]
    first_b, last_b = ideal.first[place], ideal.last[place]

    def reached(rank_a: Ints, rank_b: Ints) -> Ints:
        """Count the shared documents of each query with both ranks reached."""
        steps = np.bincount(np.maximum(rank_a, rank_b) + start, minlength=depth.size + 1)
        steps[offsets[1:]] -= shared
        counts: Ints = np.cumsum(steps)[:-1]
        return counts

    a = _ranking(aligned).to(depth, offsets, lengths[0])
    b = ideal.to(depth, offsets, lengths[1])
    begun = reached(first_a, first_b)
    if tied == "w":
        full = np.maximum(a.last[past], b.last[past]) - begun[past]
        overlap, norm = begun.astype(np.float64), (a.last + b.last) / 2
        partial, share = np.zeros_like(past), np.ones(past.size)
        lists = offsets, depth, short, long, shared
        return Depths(*lists, overlap, norm, past, full, partial, share)
    share_a, share_b = a.share(depth), b.share(depth)
    begun_a = reached(first_a, last_b)
    entire = reached(last_a, last_b)
    only_a, only_b = begun_a - entire, reached(last_a, first_b) - entire
    overlap = entire.astype(np.float64)
    overlap += share_a * only_a
    overlap += share_b * (only_b + share_a * (begun - begun_a - only_b))
    norm = depth.astype(np.float64)
    if tied == "b":
        norm = np.sqrt(a.squares(share_a)) * np.sqrt(b.squares(share_b))
    # Here all documents of the shorter ranking are full.
    full_a, full_b = a.full(depth, past), b.full(depth, past)
    full = np.minimum(full_a, full_b) - entire[past]
    partial = a.last[past] - full_a + b.last[past] - full_b - (only_a + only_b)[past]
    share = share_a[past] * share_b[past]
    return Depths(offsets, depth, short, long, shared, overlap, norm, past, full, partial, share)
