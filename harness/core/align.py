"""Join a run to the qrels: the only sort, the only join, the only place that knows ties.

What comes out is *sparse*: a document that nobody judged counts only through the ranks of those
below it, so the result's size follows the judgements and not the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import AlignmentError, Problem
from .policy import Policy
from .ragged import Array, Bools, Floats, Ints, Ragged, frozen, offsets_of, rows_of, sum_by
from .tables import Docnos, Qrels, Run

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Aligned:
    """A run's judged documents in rank order, with the judgements of each query.

    Per query (shape ``(n_queries,)``): ``qids``, ``answered`` (whether the run names the
    query), ``n_retrieved`` and ``n_tied`` (retrieved documents that share a score with
    another), ``ideal`` (all grades, descending). Per judged and retrieved document (shape
    ``(n_items,)``, grouped by query, ascending rank): ``rank`` from 1, ``grade``, ``score``,
    and ``tie_first``, ``tie_last``: the ranks over which its group of tied scores extends.

    A grade below 0 is a document in the pool that was not judged, as in trec_eval.
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
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for name in ("rank", "grade", "score", "tie_first", "tie_last"):
            if getattr(self, name).size != self.offsets[-1]:
                raise ValueError(f"{name} does not fit the offsets")
            object.__setattr__(self, name, frozen(getattr(self, name)))

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.qids)

    @cached_property
    def row(self) -> Ints:
        """Query of each judged and retrieved document, ``(n_items,)``."""
        return rows_of(self.offsets)

    @cached_property
    def n_judged(self) -> Ints:
        """Judgements of each query, ``(n_queries,)``; grades below 0 are none."""
        return self.ideal.count(self.ideal.values >= 0)

    def memo(self, key: Any, make: Callable[[], T]) -> T:
        """Return `make()`, computed once for each `key`: what several metrics share."""
        if key not in self._memo:
            self._memo[key] = make()
        value: T = self._memo[key]
        return value

    def n_relevant(self, rel: int = 1) -> Ints:
        """Judged documents with a grade of at least `rel`, ``(n_queries,)``."""
        return self.memo(
            ("n_relevant", rel), lambda: self.ideal.count(self.ideal.values >= max(rel, 0))
        )

    def relevant(self, rel: int = 1) -> Ints:
        """Items (indices into ``rank``, ``grade``...) whose grade is at least `rel`."""
        return self.memo(("relevant", rel), lambda: np.flatnonzero(self.grade >= max(rel, 0)))

    def hits(self, rel: int = 1) -> Ints:
        """Relevant documents so far, at each of the items :meth:`relevant` names: 1, 2, ..."""

        def count() -> Ints:
            row = self.row[self.relevant(rel)]
            starts = np.searchsorted(row, np.arange(self.n_queries))
            running: Ints = np.arange(1, row.size + 1) - starts[row]
            return running

        return self.memo(("hits", rel), count)

    def sum(self, weights: Array, items: Array | None = None) -> Floats:
        """Sum `weights` by query in rank order, ``(n_queries,)`` float64.

        Parameters
        ----------
        weights : ndarray, shape (n,)
        items : ndarray, shape (n,), optional
            Which documents the weights belong to (indices); all documents by default.
        """
        row = self.row if items is None else self.row[items]
        return sum_by(row, weights, self.n_queries)

    def count(self, items: Array) -> Ints:
        """Count the named documents (indices or a mask) by query, ``(n_queries,)`` int64."""
        return np.bincount(self.row[items], minlength=self.n_queries)


def align(qrels: Qrels, run: Run | Iterable[Run], policy: Policy | None = None) -> Aligned:
    """Rank the run's documents and join them to the judgements.

    Parameters
    ----------
    qrels : Qrels
        The judgements; their queries, in their order, are the rows of the result.
    run : Run or iterable of Run
        The system's scores, whole or in parts that hold different queries each (a file that
        streams past).
    policy : Policy, optional
        Ties, missing queries, depth.

    Returns
    -------
    Aligned

    Raises
    ------
    AlignmentError
        Where qrels and run share no query, or a query is missing and that is an error.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"d1": 2, "d2": 0, "d3": 1}})
    >>> run = Run.from_dict({"q1": {"d2": 3.0, "d1": 2.0, "d7": 2.0}})
    >>> aligned = align(qrels, run)      # d7 and d1 are tied: the larger docno goes first
    >>> aligned.rank.tolist(), aligned.grade.tolist(), aligned.ideal.values.tolist()
    ([1, 3], [0, 2], [2, 1, 0])
    """
    policy = policy or Policy()
    parts = [run] if isinstance(run, Run) else run
    ranked = [_rank_part(qrels, part, policy) for part in parts]
    answered = np.zeros(qrels.n_queries, dtype=np.int64)
    n_retrieved, n_tied = np.zeros_like(answered), np.zeros_like(answered)
    for part in ranked:
        np.add.at(answered, part.queries, 1)
        n_retrieved[part.queries] += part.n_retrieved
        n_tied[part.queries] += part.n_tied
    if (answered > 1).any():
        again = qrels.qids[int(np.flatnonzero(answered > 1)[0])].as_py()
        raise AlignmentError(f"query '{again}' is in more than one part of the run")
    n_extra = sum(part.n_extra for part in ranked)
    if not answered.any():
        raise AlignmentError(_no_overlap(qrels, ranked))

    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in ranked])
        for name in ("query", "rank", "grade", "score", "tie_first", "tie_last")
    }
    query = columns.pop("query")
    if (np.diff(query) < 0).any():
        order = np.argsort(query, kind="stable")
        query = query[order]
        columns = {name: column[order] for name, column in columns.items()}
    offsets = offsets_of(np.bincount(query, minlength=qrels.n_queries))
    aligned = Aligned(
        qrels.qids, answered > 0, n_retrieved, n_tied, qrels.ideal, offsets,
        policy=policy, n_extra=n_extra, **columns,
    )  # fmt: skip
    return _without_missing(aligned, policy) if not aligned.answered.all() else aligned


def rank_order(run: Run, policy: Policy | None = None) -> Ints:
    """Return the rows of `run` in ranked order, query by query, ``(n_rows,)``."""
    policy = policy or Policy()
    order, scores, starts = _by_score(run, policy)
    return _settle_ties(run, order, scores, starts, None, policy)


def as_reference(run: Run, qids: pa.Array, policy: Policy | None = None) -> Qrels:
    """Return qrels whose ideal order is the ranking of `run`, for these queries.

    The last document has grade 1, the first as many as there are documents. With it, a metric
    that compares a ranking to the ideal order compares two runs.

    >>> run = Run.from_dict({"q1": {"a": 0.1, "b": 0.9}})
    >>> as_reference(run, pa.array(["q0", "q1"])).to_dict()
    {'q0': {}, 'q1': {'a': 1, 'b': 2}}
    """
    place = np.empty(run.n_rows, dtype=np.int64)
    place[rank_order(run, policy)] = np.arange(run.n_rows)
    grades = run.offsets[1:][run.row] - place
    at = pc.index_in(qids, run.qids).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    lengths = np.where(at >= 0, np.diff(run.offsets)[at], 0)
    offsets = offsets_of(lengths)
    rows = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - run.offsets[at], lengths)
    return Qrels(qids, offsets, Docnos(run.docnos.take(rows), offsets), grades[rows], run.name)


@dataclass(frozen=True)
class _Ranked:
    """What one part of a run contributes; `queries` has its answered queries, codes of qrels."""

    queries: Ints
    n_retrieved: Ints
    n_tied: Ints
    n_extra: int
    qids: pa.Array
    query: Ints
    rank: Ints
    grade: Ints
    score: Floats
    tie_first: Ints
    tie_last: Ints


def _rank_part(qrels: Qrels, run: Run, policy: Policy) -> _Ranked:
    if run.docnos is qrels.docnos:
        of_run = np.arange(qrels.n_queries)
        found = judgement = np.arange(run.n_rows)
    else:
        of_run = (
            pc.index_in(run.qids, qrels.qids.cast(run.qids.type))
            .fill_null(-1)
            .to_numpy(zero_copy_only=False)
            .astype(np.int64)
        )
        found, judgement = qrels.find(of_run[run.row], run.docnos.to_strings())

    order, scores, starts = _by_score(run, policy)
    order = _settle_ties(run, order, scores, starts, found, policy)
    lengths = np.diff(run.offsets)
    place = _inverse(order, run.n_rows)[found]
    by_rank = np.argsort(place)
    found, judgement, place = found[by_rank], judgement[by_rank], place[by_rank]
    row = run.row[found]
    group = np.searchsorted(starts, place, side="right") - 1
    first = starts[group] - run.offsets[row] + 1
    last = np.append(starts, run.n_rows)[group + 1] - run.offsets[row]
    rank = place - run.offsets[row] + 1
    grade = qrels.grades[judgement]
    n_retrieved = lengths.copy()

    if policy.depth is not None:
        keep = rank <= policy.depth
        found, row, grade, group = found[keep], row[keep], grade[keep], group[keep]
        rank, first, last = rank[keep], first[keep], np.minimum(last[keep], policy.depth)
        n_retrieved = np.minimum(n_retrieved, policy.depth)
    if policy.judged_only:
        keep = grade >= 0
        found, row, grade, group = found[keep], row[keep], grade[keep], group[keep]
        n_retrieved = np.bincount(row, minlength=run.n_queries)
        start = offsets_of(n_retrieved)[row]
        rank = np.arange(row.size) - start + 1
        first = np.searchsorted(group, group, side="left") - start + 1
        last = np.searchsorted(group, group, side="right") - start

    sizes = np.diff(np.append(starts, run.n_rows))
    tied_row = run.row[starts[sizes > 1]]
    n_tied = np.bincount(tied_row, weights=sizes[sizes > 1], minlength=run.n_queries)
    answered = of_run >= 0
    return _Ranked(
        queries=of_run[answered],
        n_retrieved=n_retrieved[answered],
        n_tied=n_tied[answered].astype(np.int64),
        n_extra=int((~answered).sum()),
        qids=run.qids,
        query=of_run[row],
        rank=rank,
        grade=grade,
        score=run.scores[found],
        tie_first=first,
        tie_last=last,
    )


def _by_score(run: Run, policy: Policy) -> tuple[Ints | None, Array, Ints]:
    """Order the rows by falling score within their query.

    Returns the order (None where the rows stand in it already), the scores in that order, and
    where each group of tied scores starts.
    """
    scores: Array = run.scores
    if policy.ties == "trec_eval":
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32)
    begins = np.zeros(run.n_rows + 1, dtype=bool)
    begins[run.offsets] = True
    begins = begins[1 : run.n_rows]
    order = None
    if not ((scores[1:] <= scores[:-1]) | begins).all():
        if policy.ties == "trec_eval":
            order = np.argsort(_descending_keys(run.row, scores))
        else:
            order = np.lexsort((-scores, run.row))
        scores = scores[order]
    starts = np.flatnonzero(np.append(True, (scores[1:] != scores[:-1]) | begins)[: run.n_rows])
    return order, scores, starts


def _descending_keys(row: Ints, scores: Array) -> Array:
    """Return uint64 keys that sort by row, then by falling float32 score."""
    bits = (scores + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0
    negative = bits >> np.uint32(31) == 1
    rising = np.where(negative, ~bits, bits | np.uint32(1 << 31))
    keys: Array = (row.astype(np.uint64) << np.uint64(32)) | (~rising).astype(np.uint64)
    return keys


def _settle_ties(
    run: Run, order: Ints | None, scores: Array, starts: Ints, found: Ints | None, policy: Policy
) -> Ints:
    """Return `order` with the groups of tied scores put in the policy's order.

    Only groups that hold one of the rows `found` are looked at: the order of others is seen
    by no metric.
    """
    if order is None:
        order = np.arange(run.n_rows)
    if policy.ties == "stable" or starts.size == run.n_rows:
        return order
    sizes = np.diff(np.append(starts, run.n_rows))
    touched = sizes > 1
    if found is not None:
        holds = np.zeros(starts.size, dtype=bool)
        holds[np.searchsorted(starts, _inverse(order, run.n_rows)[found], side="right") - 1] = True
        touched &= holds
    if not touched.any():
        return order
    group = np.repeat(np.flatnonzero(touched), sizes[touched])
    places = np.flatnonzero(np.repeat(touched, sizes))
    rows = order[places]
    docno = run.docnos.byte_order(rows)
    order[places] = rows[np.lexsort((-docno, group))]
    return order


def _inverse(order: Ints, n: int) -> Ints:
    inverse = np.empty(n, dtype=np.int64)
    inverse[order] = np.arange(n)
    return inverse


def _without_missing(aligned: Aligned, policy: Policy) -> Aligned:
    missing = ~aligned.answered
    if policy.missing_queries == "error":
        names = aligned.qids.filter(pa.array(missing)).to_pylist()
        raise AlignmentError(
            Problem(
                "",
                f"the run does not answer {len(names)} of the {aligned.n_queries} judged queries: "
                f"{_some(names)}",
                fix="complete the run, or set missing_queries: zero (as trec_eval -c) or skip",
            )
        )
    if policy.missing_queries == "zero":
        return aligned
    keep = aligned.answered
    ideal = aligned.ideal
    return Aligned(
        aligned.qids.filter(pa.array(keep)), aligned.answered[keep], aligned.n_retrieved[keep],
        aligned.n_tied[keep],
        Ragged(offsets_of(ideal.lengths[keep]), ideal.values[np.repeat(keep, ideal.lengths)]),
        offsets_of(np.diff(aligned.offsets)[keep]),
        aligned.rank, aligned.grade, aligned.score, aligned.tie_first, aligned.tie_last,
        policy, aligned.n_extra,
    )  # fmt: skip


def _no_overlap(qrels: Qrels, ranked: list[_Ranked]) -> Problem:
    of_run = [qid for part in ranked[:1] for qid in part.qids.slice(0, 3).to_pylist()]
    return Problem(
        "",
        f"qrels and run have no query in common: qrels have {_some(qrels.qids[:3].to_pylist())}, "
        f"the run has {_some(of_run) or 'none'}",
        fix="check that the run belongs to these qrels, and that both write qids alike",
    )


def _some(names: list[str], shown: int = 5) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(f"'{name}'" for name in names[:shown]) + more
