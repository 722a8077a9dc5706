"""Means over the ranks that a document can have where scores are tied.

In a random order of a group of tied documents each of them is equally likely to stand at each
of the group's ranks. So the expectation of a sum of (gain) x (weight of the rank) takes the mean
weight of the ranks ``tie_first`` to ``tie_last`` (McSherry and Najork, ECIR 2008). A document
that is not tied keeps the plain arithmetic, so that without ties not a bit changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..core.aligned import Aligned
from ..core.ragged import Array, Floats, Ints, frozen, offsets_of, positions_of, sum_by
from ..core.tied import groups_of

_STEP = 2.0**-32
_SMALLEST_TABLE = 10


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums of the weights of the first 0, 1, 2... ranks, in two parts.

    ``high`` sums the weights rounded to multiples of 2^-32, which is exact up to 2^21; ``low``
    sums what was rounded off. So their differences have the digits that the sum of a few
    weights at a deep rank has, where those of one running total would have lost them.
    """

    high: Floats
    low: Floats

    @classmethod
    def of(cls, weights: Floats) -> Totals:
        """Sum these weights of the ranks 1, 2..."""
        rounded = np.rint(weights / _STEP) * _STEP
        return cls(_summed(rounded), _summed(weights - rounded))

    def over(self, first: Ints, last: Ints) -> Floats:
        """Return the sum of the weights of the ranks `first` to `last`, ends included."""
        before = first - 1
        sums: Floats = self.high[last] - self.high[before] + (self.low[last] - self.low[before])
        return sums


def _summed(numbers: Floats) -> Floats:
    return frozen(np.concatenate([np.zeros(1), np.cumsum(numbers)]))


@lru_cache(maxsize=8)
def _inverse_totals(divisor: Callable[[Ints], Array], size: int) -> Totals:
    return Totals.of(1.0 / divisor(np.arange(1, size + 1)))


def totals_of_inverse(divisor: Callable[[Ints], Array], longest: int) -> Totals:
    """Return the totals of ``1 / divisor(rank)`` for at least the ranks up to `longest`.

    >>> totals = totals_of_inverse(np.sqrt, 4)
    >>> totals.over(np.array([1, 4]), np.array([1, 4])).tolist()
    [1.0, 0.5]
    """
    return _inverse_totals(divisor, 1 << max(_SMALLEST_TABLE, longest.bit_length()))


def within(aligned: Aligned, items: Ints, cutoff: int | None) -> Ints:
    """Return those of the items that can stand among the first `cutoff` documents."""
    return items if cutoff is None else items[aligned.tie_first[items] <= cutoff]


def mean_discounted(
    aligned: Aligned,
    items: Ints,
    gain: Floats,
    divisor: Callable[[Ints], Array],
    cutoff: int | None = None,
) -> Floats:
    """Return each document's mean of ``gain / divisor(rank)`` over the ranks it can have.

    Parameters
    ----------
    aligned : Aligned
    items : ndarray of int64, shape (n,)
        Documents, as :func:`within` names them.
    gain : ndarray of float64, shape (n,)
    divisor : callable
        What gains at these ranks (from 1) are divided by; the same object at each call, as its
        totals are kept.
    cutoff : int, optional
        Ranks beyond it weigh nothing.
    """
    values: Floats = gain / divisor(aligned.rank[items])
    first, last = aligned.tie_first[items], aligned.tie_last[items]
    tied = np.flatnonzero(last > first)
    if tied.size:
        first, last = first[tied], last[tied]
        size = last - first + 1
        last = last if cutoff is None else np.minimum(last, cutoff)
        totals = totals_of_inverse(divisor, int(last.max()))
        values[tied] = gain[tied] * (totals.over(first, last) / size)
    return values


def spread(aligned: Aligned, items: Ints, gain: Floats) -> tuple[Ints, Ints, Floats]:
    """Return query, rank and mean gain of each place that one of the documents can have.

    Parameters
    ----------
    aligned : Aligned
    items : ndarray of int64, shape (n,)
        Indices of documents, ascending.
    gain : ndarray of float64, shape (n,)

    Returns
    -------
    row, rank, gain : ndarray, shape (n_places,)
        No place is named twice.
    """
    groups = groups_of(aligned, items)
    alone = np.ones(items.size, dtype=bool)
    alone[groups.at] = False
    mean = sum_by(groups.group, gain[groups.at], groups.size.size) / groups.size
    ranks = positions_of(offsets_of(groups.size)) + np.repeat(groups.first, groups.size)
    row, rank = aligned.row[items[alone]], aligned.rank[items[alone]]
    return (
        np.concatenate([row, np.repeat(groups.row, groups.size)]),
        np.concatenate([rank, ranks]),
        np.concatenate([gain[alone], np.repeat(mean, groups.size)]),
    )
