"""A run joined to the judgements: what every metric is a function of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from .arrow import select, string_column
from .policy import Policy
from .ragged import (
    Array,
    Bools,
    Floats,
    Ints,
    Ragged,
    frozen,
    lengths_of,
    offsets_of,
    rows_of,
    sum_by,
)

T = TypeVar("T")


class Memo:
    """Cache of the values computed from an object; a changed copy of it starts empty."""

    @cached_property
    def memos(self) -> dict[Any, Any]:
        """Computed values, by key."""
        return {}

    def memo(self, key: Any, make: Callable[[], T]) -> T:
        """Return `make()`, computed once for each `key`: what several metrics or tables share."""
        if key not in self.memos:
            self.memos[key] = make()
        value: T = self.memos[key]
        return value


_OF_ITEMS = ("rank", "grade", "score", "tie_first", "tie_last")


@dataclass(frozen=True, eq=False, repr=False)
class Aligned(Memo):
    """The judged documents of a run in rank order, with the judgements of each query.

    An item is a retrieved document that is judged. Items are grouped by query, in rank order. A
    grade below 0 means unjudged, as in trec_eval. ``views`` has the same run aligned under other
    policies.

    Parameters
    ----------
    qids : pyarrow string array, shape (n_queries,)
    answered : ndarray of bool, shape (n_queries,)
        Whether the run has the query.
    n_retrieved : ndarray of int64, shape (n_queries,)
        Number of retrieved documents.
    n_tied : ndarray of int64, shape (n_queries,)
        Number of retrieved documents that share their score with another one.
    ideal : Ragged
        All grades of each query, descending.
    rank, grade, score : ndarray, shape (n_items,)
        Rank from 1, grade and score of each item.
    tie_first, tie_last : ndarray of int64, shape (n_items,)
        First and last rank of the item's group of tied scores.
    groups : Ragged, optional
        First and last rank of each group of tied scores, ``(n_groups, 2)`` by query, unjudged
        documents included. None if every retrieved document is judged.
    reference_ties : ndarray of int64, optional
        For a reference run: the rank at which the tied group of each place in ``ideal`` begins.
    n_left_out : int
        Number of judged queries without an answer that ``missing_queries: skip`` leaves out.
    subtopics, judged_subtopics : ndarray of int64, optional
        Subtopics of each item, and of each judgement: bit s is subtopic s of its query.
    n_unscored : ndarray of int64, shape (n_queries,), optional
        Number of learning-to-rank rows without a score.
    """

    qids: pa.Array
    answered: Bools
    n_retrieved: Ints
    n_tied: Ints
    ideal: Ragged
    offsets: Ints
    rank: Ints
    grade: Ints
    score: Floats
    tie_first: Ints
    tie_last: Ints
    policy: Policy = field(default_factory=Policy)
    n_extra: int = 0
    views: Mapping[Policy, Aligned] = field(default_factory=dict, repr=False)
    groups: Ragged | None = None
    reference_ties: Ints | None = None
    n_left_out: int = 0
    subtopics: Ints | None = None
    judged_subtopics: Ragged | None = None
    n_unscored: Ints | None = None

    def __post_init__(self) -> None:
        for name in _OF_ITEMS:
            if getattr(self, name).size != self.offsets[-1]:
                raise ValueError(f"{name} does not fit the offsets")
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __repr__(self) -> str:
        return f"<Aligned: {self.n_queries} queries, {self.rank.size} judged documents retrieved>"

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.qids)

    @cached_property
    def row(self) -> Ints:
        """Query of each judged and retrieved document, ``(n_items,)``."""
        # If every judged document is retrieved, both tables have the same rows.
        ideal = self.ideal
        return ideal.row if self.offsets is ideal.offsets else rows_of(self.offsets)

    @cached_property
    def n_judged(self) -> Ints:
        """Number of judgements of each query, ``(n_queries,)``, without grades below 0."""
        grades = self.ideal.values
        if grades.min(initial=0) >= 0:
            return self.ideal.lengths
        return self.ideal.count(grades >= 0)

    @cached_property
    def unjudged(self) -> Ints:
        """Items with a grade below 0, as indices."""
        return np.flatnonzero(self.grade < 0)

    @cached_property
    def unanswered(self) -> Ints:
        """Indices of the queries that the run does not answer."""
        return np.flatnonzero(~self.answered)

    @cached_property
    def deepest(self) -> int:
        """Largest rank of an item; 0 without items."""
        return int(self.rank.max(initial=0))

    def n_relevant(self, rel: float = 1) -> Ints:
        """Number of judged documents with a grade of at least `rel`, ``(n_queries,)``."""
        if (key := ("n_relevant", rel)) not in self.memos:
            self.memos[key] = self.ideal.count(self.ideal.values >= max(rel, 0))
        n_relevant: Ints = self.memos[key]
        return n_relevant

    @cached_property
    def without_grades(self) -> Bools:
        """Mask of the queries without a grade above 0, ``(n_queries,)``."""
        return np.equal(self.ideal.count(self.ideal.values > 0), 0)

    def of_queries(self, some: slice | Bools) -> Aligned:
        """Return the alignment of some queries, as a slice or a mask."""
        if isinstance(some, slice):
            qids = self.qids.slice(some.start, some.stop - some.start)
            items: Any = slice(*self.offsets[[some.start, some.stop]].tolist())
            offsets = self.offsets[some.start : some.stop + 1] - items.start
        else:
            qids, items = select(self.qids, some), some[self.row]
            offsets = offsets_of(lengths_of(self.offsets)[some])
        ties, subtopics = self.reference_ties, self.judged_subtopics
        if ties is not None:
            ties = Ragged(self.ideal.offsets, ties).of_rows(some).values
        return Aligned(
            qids,
            self.answered[some],
            self.n_retrieved[some],
            self.n_tied[some],
            self.ideal.of_rows(some),
            offsets,
            **columns_of(self, items),
            policy=self.policy,
            n_extra=self.n_extra,
            reference_ties=ties,
            groups=None if self.groups is None else self.groups.of_rows(some),
            judged_subtopics=None if subtopics is None else subtopics.of_rows(some),
            n_unscored=None if self.n_unscored is None else self.n_unscored[some],
        )

    def by_query(self, items: Ints) -> Ragged:
        """Group items, given as ascending indices, by query."""
        return Ragged(np.searchsorted(items, self.offsets), items)

    def found(self, rel: float = 1) -> Ragged:
        """Relevant items, those with a grade of at least `rel`, by query."""
        if (key := ("found", rel)) not in self.memos:
            items = np.flatnonzero(self.grade >= max(rel, 0))
            self.memos[key] = Ragged(np.searchsorted(items, self.offsets), items)
        found: Ragged = self.memos[key]
        return found

    def relevant(self, rel: float = 1) -> Ints:
        """Relevant items, those with a grade of at least `rel`, as indices."""
        return self.found(rel).values

    def hits(self, rel: float = 1) -> Ints:
        """Number of relevant items of the query up to each item of `relevant`: 1, 2, ..."""
        return self.found(rel).rank

    def rank_of_relevant(self, rel: float = 1) -> Ints:
        """Ranks of the items of `relevant`."""
        if (key := ("rank_of_relevant", rel)) not in self.memos:
            self.memos[key] = self.rank[self.found(rel).values]
        ranks: Ints = self.memos[key]
        return ranks

    def sum(self, weights: Array, items: Array | None = None) -> Floats:
        """Sum `weights` by query in rank order, ``(n_queries,)`` float64.

        Parameters
        ----------
        weights : ndarray, shape (n,)
            Number to add for each item.
        items : ndarray, shape (n,), optional
            Indices of the items that have these weights; all items by default.
        """
        row = self.row if items is None else self.row[items]
        return sum_by(row, weights, self.n_queries)

    def count(self, items: Array) -> Ints:
        """Count items by query, ``(n_queries,)`` int64.

        Parameters
        ----------
        items : ndarray
            Ascending indices, or a mask of all items.
        """
        items = np.flatnonzero(items) if items.dtype == bool else items
        return lengths_of(np.searchsorted(items, self.offsets))


def columns_of(aligned: Aligned, items: Any) -> dict[str, Any]:
    """Columns of some items, by field; `items` are indices, a mask or a slice."""
    columns = {name: getattr(aligned, name)[items] for name in _OF_ITEMS}
    subtopics = aligned.subtopics
    return columns | {"subtopics": None if subtopics is None else subtopics[items]}


def without_queries() -> Aligned:
    """An alignment without queries, for which the functions of a metric compute nothing."""
    none, start = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    ideal, scores = Ragged(start, none), np.zeros(0)
    qids, answered = string_column([]), np.zeros(0, dtype=bool)
    return Aligned(qids, answered, none, none, ideal, start, none, none, scores, none, none)
