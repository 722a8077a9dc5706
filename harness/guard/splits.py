"""Whether scores tell documents of high grades from all others without an error.

Such are binarised labels, with noise or without, which no correlation tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..core.ragged import Array, Ints

QUERIES, RARER, PAIRS = 10, 100, 500
"""Queries that have both kinds of documents; of the kind that a query has fewer of, summed over
them; and pairs of one of each: with fewer, a good model may order them all."""
MOST = 32
"""Grades, at most."""
HEAD = 1 << 10
"""Rows that are looked at first: a model's errors show there."""


class Split(NamedTuple):
    """How much some scores separate without an error: sums over queries that have both kinds."""

    queries: int = 0
    rarer: int = 0
    pairs: int = 0

    @property
    def enough(self) -> bool:
        """Whether no model does it by chance."""
        return self.queries >= QUERIES and self.rarer >= RARER and self.pairs >= PAIRS


class Splits:
    """The thresholds of the grades at which scores separate the documents of every query.

    Of each threshold t: whether, in every query, each document with a grade of t and more has a
    higher score than each other one.
    """

    def __init__(self) -> None:
        self._known: Mapping[float, Split | None] | None = {}

    def add(self, query: Ints, rank: Ints, grade: Array) -> None:
        """Look at more queries: their documents, ``(n,)`` each, from the highest score on.

        Documents of one score have one `rank`, the first of theirs.

        >>> some = Splits()
        >>> some.add(np.zeros(4, dtype=int), np.array([1, 2, 3, 3]), np.array([1, 2, 0, 0]))
        >>> some.split(1), some.split(2)
        (Split(queries=1, rarer=2, pairs=4), None)
        """
        for n in (HEAD, grade.size):
            if self._known is None or not self.wants(grade):
                return
            here = _splits(query[:n], rank[:n], grade[:n])
            known = None if here is None else _both(self._known, here)
            whole = n >= grade.size
            if whole or known is None or _are_wrong(known):
                self._known = known
            if whole:
                return

    def wants(self, grade: Array) -> bool:
        """Whether documents of these grades, ``(n,)``, may tell anything more."""
        known = self._known
        if known is None or not grade.size:
            return False
        inside = known and min(known) <= grade.min() and grade.max() <= max(known)
        return not (inside and _are_wrong(known))

    def split(self, threshold: float) -> Split | None:
        """Return what is separated at a threshold; None where scores err."""
        return None if self._known is None else _at(self._known, threshold)

    def facts(self) -> tuple[float, ...]:
        """Return the threshold that separates most pairs, queries and pairs; ``()`` if few."""
        found = [
            (split.pairs, threshold, split.queries)
            for threshold, split in (self._known or {}).items()
            if split is not None and split.enough
        ]
        if not found:
            return ()
        pairs, threshold, queries = max(found)
        return threshold, queries, pairs


def _are_wrong(known: Mapping[float, Split | None]) -> bool:
    """Whether scores err at all thresholds but the lowest grade, which all documents have."""
    return len(known) > 1 and all(known[one] is None for one in sorted(known)[1:])


def _splits(query: Ints, rank: Ints, grade: Array) -> dict[float, Split | None] | None:
    """Return what is separated at each grade; None where there are too many."""
    one, other = grade[:-1], grade[1:]
    wrong = (query[1:] == query[:-1]) & ((other > one) | ((other < one) & (rank[1:] == rank[:-1])))
    lower, higher = np.minimum(one, other)[wrong], np.maximum(one, other)[wrong]
    lowest, highest = grade.min(), grade.max()
    if ((lower == lowest) & (higher == highest)).any():
        return {lowest.item(): Split(), highest.item(): None}
    levels, code = np.unique(grade, return_inverse=True)
    if levels.size > MOST:
        return None
    low, high = np.searchsorted(levels, lower), np.searchsorted(levels, higher)
    # neighbours in the wrong order err at the thresholds above the lower grade, up to the higher
    begins, ends = (np.bincount(at + 1, minlength=levels.size + 1) for at in (low, high))
    errs = np.cumsum(begins - ends)[: levels.size] > 0
    n = np.bincount(query)
    found: dict[float, Split | None] = {}
    for at, level in enumerate(levels.tolist()):
        if errs[at]:
            found[level] = None
            continue
        above = np.bincount(query[code >= at], minlength=n.size)
        few = np.minimum(above, n - above)
        found[level] = Split(int((few > 0).sum()), int(few.sum()), int((above * (n - above)).sum()))
    return found


def _both(
    one: Mapping[float, Split | None], other: Mapping[float, Split | None]
) -> dict[float, Split | None]:
    """Return what is separated in some queries and in others."""
    found: dict[float, Split | None] = {}
    for level in {*one, *other}:
        mine, theirs = _at(one, level), _at(other, level)
        if mine is None or theirs is None:
            found[level] = None
        else:
            found[level] = Split(*map(sum, zip(mine, theirs, strict=True)))
    return found


def _at(known: Mapping[float, Split | None], threshold: float) -> Split | None:
    """Return what is separated at any threshold: as at the next grade that a document has."""
    above = [level for level in known if level >= threshold]
    return known[min(above)] if above else Split()
