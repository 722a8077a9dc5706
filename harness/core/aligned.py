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
    """Keeps what was computed from an object; a changed copy of it begins with nothing."""

    @cached_property
    def memos(self) -> dict[Any, Any]:
        """What was computed, by key."""
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
    """A run's judged documents in rank order, with the judgements of each query.

    Per query (shape ``(n_queries,)``): ``qids``, ``answered`` (whether the run names the
    query), ``n_retrieved`` and ``n_tied`` (retrieved documents that share a score with
    another), ``ideal`` (all grades, descending). Per judged and retrieved document (shape
    ``(n_items,)``, grouped by query, ascending rank): ``rank`` from 1, ``grade``, ``score``,
    and ``tie_first``, ``tie_last``: the ranks over which its group of tied scores extends.

    ``groups`` holds the first and the last rank of every group of tied scores, ``(n_groups, 2)``
    by query. It covers the whole ranking, with unjudged documents and at any depth. It is
    None if every retrieved document is judged: the items hold the same then. ``reference_ties``,
    if the judgements are a reference run's ranking, holds for each place of ``ideal`` the
    rank at which its group of tied scores begins.

    ``subtopics`` holds the subtopics of each item: bit s for subtopic s of its query.
    ``judged_subtopics`` holds those of every judgement. Both are None without subtopics.

    ``n_left_out`` judged queries are not rows: the run does not answer them, and
    ``missing_queries: skip`` leaves them out.

    ``n_unscored`` are the rows of each query that the run gives no score, ``(n_queries,)``. It is
    None if all have one, or if the judgements are not learning-to-rank rows.

    A grade below 0 is a document in the pool that was not judged, as in trec_eval. ``views``
    holds the same run aligned under other policies; read them through
    `harness.core.policy_views.view`.
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
        """Judgements of each query, ``(n_queries,)``; grades below 0 are none."""
        grades = self.ideal.values
        if grades.min(initial=0) >= 0:
            return self.ideal.lengths
        return self.ideal.count(grades >= 0)

    @cached_property
    def unjudged(self) -> Ints:
        """Items (indices into ``rank``, ``grade``...) whose grade is below 0."""
        return np.flatnonzero(self.grade < 0)

    @cached_property
    def unanswered(self) -> Ints:
        """The queries that the run does not name."""
        return np.flatnonzero(~self.answered)

    @cached_property
    def deepest(self) -> int:
        """The largest rank of a judged and retrieved document; 0 if there is none."""
        return int(self.rank.max(initial=0))

    def n_relevant(self, rel: float = 1) -> Ints:
        """Judged documents with a grade of at least `rel`, ``(n_queries,)``."""
        if (key := ("n_relevant", rel)) not in self.memos:
            self.memos[key] = self.ideal.count(self.ideal.values >= max(rel, 0))
        n_relevant: Ints = self.memos[key]
        return n_relevant

    @cached_property
    def without_grades(self) -> Bools:
        """The queries without a grade above 0, ``(n_queries,)``."""
        return np.equal(self.ideal.count(self.ideal.values > 0), 0)

    def of_queries(self, some: slice | Bools) -> Aligned:
        """Return the alignment of some queries: from one to before another, or those of a mask."""
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
        """Return rising items (indices into ``rank``, ``grade``...) as rows, one a query."""
        return Ragged(np.searchsorted(items, self.offsets), items)

    def found(self, rel: float = 1) -> Ragged:
        """Relevant documents retrieved: the items whose grade is at least `rel`, by query."""
        if (key := ("found", rel)) not in self.memos:
            items = np.flatnonzero(self.grade >= max(rel, 0))
            self.memos[key] = Ragged(np.searchsorted(items, self.offsets), items)
        found: Ragged = self.memos[key]
        return found

    def relevant(self, rel: float = 1) -> Ints:
        """Items (indices into ``rank``, ``grade``...) whose grade is at least `rel`."""
        return self.found(rel).values

    def hits(self, rel: float = 1) -> Ints:
        """Relevant documents so far, at each of the items `relevant` names: 1, 2, ..."""
        return self.found(rel).rank

    def rank_of_relevant(self, rel: float = 1) -> Ints:
        """Ranks of the items `relevant` names."""
        if (key := ("rank_of_relevant", rel)) not in self.memos:
            self.memos[key] = self.rank[self.found(rel).values]
        ranks: Ints = self.memos[key]
        return ranks

    def sum(self, weights: Array, items: Array | None = None) -> Floats:
        """Sum `weights` by query in rank order, ``(n_queries,)`` float64.

        Parameters
        ----------
        items : ndarray, shape (n,), optional
            Which documents the weights belong to (indices); all documents by default.
        """
        row = self.row if items is None else self.row[items]
        return sum_by(row, weights, self.n_queries)

    def count(self, items: Array) -> Ints:
        """Count the named documents by query, ``(n_queries,)`` int64.

        Parameters
        ----------
        items : ndarray
            Rising indices, or a mask of all documents.
        """
        items = np.flatnonzero(items) if items.dtype == bool else items
        return lengths_of(np.searchsorted(items, self.offsets))


def columns_of(aligned: Aligned, items: Any) -> dict[str, Any]:
    """Columns of some documents, by field; `items` are indices, a mask or a slice."""
    columns = {name: getattr(aligned, name)[items] for name in _OF_ITEMS}
    subtopics = aligned.subtopics
    return columns | {"subtopics": None if subtopics is None else subtopics[items]}


def without_queries() -> Aligned:
    """Alignment of no query, of which a metric's functions compute nothing."""
    none, start = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    ideal, scores = Ragged(start, none), np.zeros(0)
    qids, answered = string_column([]), np.zeros(0, dtype=bool)
    return Aligned(qids, answered, none, none, ideal, start, none, none, scores, none, none)
