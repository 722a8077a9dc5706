"""The forms of RBO: what lists that end say of the lists that they begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from ..core.powers import powers
from ..core.ragged import Floats, Ints
from .overlap import Overlap
from .overlap_ties import Depths
from .rbo_tails import beyond, tails_to

Form = Literal["ext", "min", "res", "max", "ext-cut", "truncated"]
Gain = Callable[[Ints, Ints], Floats]
"""What documents, by query and the depth from which they are shared, add to a value."""


def table_for(p: float, first: Ints, second: Ints) -> Floats:
    """Return the table of tails that lists of these lengths need."""
    return tails_to(p, int((first + second).max(initial=0)) + 1)


def untied(p: float, form: Form, pair: Overlap, k: int | None = None) -> Floats:
    """Return RBO of lists without ties, ``(n_queries,)``; no list may be empty."""
    if form == "res":
        return residual(p, pair)
    if form == "max":
        return untied(p, "min", pair) + residual(p, pair)
    return pair.sum(gain_of(p, form, pair, k)(pair.row, pair.depth))


def gain_of(p: float, form: Form, pair: Overlap, k: int | None = None) -> Gain:
    """Return what a document in the overlap from depth m on adds to RBO: p^d / d at every d >= m.

    In the extrapolated forms that goes to the end of the shorter list (of the longer one where
    the document comes later than that), and then its part of the agreement is taken to go on
    (equation 32, gathered by document).
    """
    tails = table_for(p, pair.first, pair.second)
    short, long = np.minimum(pair.first, pair.second), np.maximum(pair.first, pair.second)
    scale = (1 - p) / p
    if form == "min":
        return lambda row, depth: scale * tails[depth]
    if form == "truncated":
        stop = short if k is None else np.minimum(short, k)
        return lambda row, depth: scale * np.maximum(tails[depth] - tails[stop[row] + 1], 0.0)

    def extrapolated(row: Ints, depth: Ints) -> Floats:
        end = long[row]
        if form == "ext":
            end = np.where(depth <= short[row], short[row], end)
        gains: Floats = scale * (tails[depth] - tails[end + 1]) + powers(p, end) / end
        return gains

    return extrapolated


def residual(p: float, pair: Overlap) -> Floats:
    """Return equation 30, its sums gathered into what lies beyond s, l and f = l + s - X."""
    tails = table_for(p, pair.first, pair.second)
    shared = np.bincount(pair.row, minlength=pair.first.size)
    all_found = pair.first + pair.second - shared
    s, l, f = (beyond(p, depth, tails) for depth in (pair.first, pair.second, all_found))  # noqa: E741
    return s + (l - f)


def with_ties(p: float, form: Form, at: Depths, shared: Ints, k: int | None = None) -> Floats:
    """Return RBO of lists with ties, ``(n_queries,)``, from their overlap at every depth."""
    tails = table_for(p, at.short, at.long)
    weights = (1 - p) * powers(p, at.depth - 1)
    agreement = at.agreement
    if form == "truncated":
        stop = at.short if k is None else np.minimum(at.short, k)
        return at.sum(np.where(at.depth <= np.repeat(stop, at.long), weights * agreement, 0.0))
    if form == "res":
        return _residual(p, at, shared, weights, tails)
    if form == "ext":
        agreement = _carried_on(at, agreement)
    least = at.sum(weights * agreement)
    if form in ("ext", "ext-cut"):
        last: Floats = at.at(agreement, at.long) * powers(p, at.long)
        return least + last
    least += (1 - p) / p * shared * tails[at.long + 1]
    return least if form == "min" else least + _residual(p, at, shared, weights, tails)


def _past_short(at: Depths) -> Floats:
    """Return how far beyond the shorter list's end each depth past it is."""
    by = at.depth[at.past] - np.repeat(at.short, at.long - at.short)
    return by.astype(np.float64)


def _carried_on(at: Depths, agreement: Floats) -> Floats:
    """Let the shorter list go on with documents of the longer one, as often as it agreed so far."""
    if not at.past.size:
        return agreement
    # Of the documents in reach that only the longer list holds, what one counts on average.
    mean = (at.full + at.partial * at.share) / (at.full + at.partial)
    so_far = np.repeat(at.at(agreement, at.short), at.long - at.short)
    agreement = agreement.copy()
    agreement[at.past] += _past_short(at) * so_far * mean / at.norm[at.past]
    return agreement


def _residual(p: float, at: Depths, shared: Ints, weights: Floats, tails: Floats) -> Floats:
    """Return what is open: the most the lists could agree beyond their ends, less the least."""
    most = np.zeros(at.depth.size)
    if at.past.size:
        # The shorter list goes on with the first documents that only the longer one holds.
        by = _past_short(at)
        full = np.minimum(at.full, by)
        most[at.past] = weights[at.past] * (full + (by - full) * at.share) / at.norm[at.past]
    all_found = at.short + at.long - shared
    past_long = powers(p, at.long) - (1 - p) / p * at.short * tails[at.long + 1]
    beyond_ends = beyond(p, at.long, tails) - beyond(p, all_found, tails)
    open_part: Floats = at.sum(most) + np.maximum(past_long, 0.0) + beyond_ends
    return open_part
