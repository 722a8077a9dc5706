"""Groups of tied scores in an alignment, and the queries that have some."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from .aligned import Aligned
from .hashing import hash_strings, pair_keys, splitmix64
from .policy import Policy
from .ragged import (
    Array,
    Bools,
    Floats,
    Ints,
    lengths_of,
    offsets_of,
    positions_of,
    rows_of,
)


@dataclass(frozen=True, eq=False)
class TiedGroups:
    """Groups of tied scores that hold a judged document, by rank in each query.

    Per document of `Aligned` that is in one, ``(n_items,)``: ``items`` (its index, ascending),
    ``at`` (its position among the documents that were asked for) and ``group`` (the number of
    its group). Per group, ``(n_groups,)``: ``row`` (its query),
    ``first`` and ``last`` (its ranks), ``size`` (its documents, unjudged ones included; at
    least 2) and ``found`` (those of them that are among ``items``).
    """

    items: Ints
    at: Ints
    group: Ints
    row: Ints
    first: Ints
    last: Ints
    size: Ints
    found: Ints


def tied_groups(aligned: Aligned, rel: int | None = None) -> TiedGroups:
    """Return the groups of tied scores whose order a metric could see.

    With `rel`, only documents of at least this grade, and only groups that hold one.
    """

    def make() -> TiedGroups:
        if rel is None:
            return groups_of(aligned, np.flatnonzero(aligned.tie_last > aligned.tie_first))
        return groups_of(aligned, aligned.relevant(rel))

    return aligned.memo(("tied_groups", rel), make)


def groups_of(aligned: Aligned, items: Ints) -> TiedGroups:
    """Return the groups of tied scores that hold some of these documents (rising indices)."""
    at = np.flatnonzero(aligned.tie_last[items] > aligned.tie_first[items])
    items = items[at]
    row, first = aligned.row[items], aligned.tie_first[items]
    begins = np.ones(items.size, dtype=bool)
    begins[1:] = (first[1:] != first[:-1]) | (row[1:] != row[:-1])
    heads = np.flatnonzero(begins)
    found = lengths_of(np.append(heads, items.size))
    first, last = first[heads], aligned.tie_last[items[heads]]
    return TiedGroups(
        items, at, np.cumsum(begins) - 1, row[heads], first, last, last - first + 1, found
    )


def has_ties(aligned: Aligned) -> Bools:
    """Return which queries have a tied score that a judged document shares, ``(n_queries,)``."""
    found = np.zeros(aligned.n_queries, dtype=bool)
    found[tied_groups(aligned).row] = True
    return found


def is_cut(aligned: Aligned, policy: Policy) -> bool:
    """Return whether some list is longer than the policy's depth."""
    return policy.depth is not None and bool((aligned.n_retrieved > policy.depth).any())


def first_documents(aligned: Aligned, policy: Policy) -> Aligned:
    """Return what the policy's depth, and then `judged_only`, leave of rankings."""
    if policy.depth is not None and is_cut(aligned, policy):
        aligned = _cut(aligned, policy.depth)
    return _condensed(aligned) if policy.judged_only else aligned


def _condensed(aligned: Aligned) -> Aligned:
    """Return the run without its unjudged documents."""
    kept = _kept(aligned, aligned.grade >= 0)
    row, size = kept.row, kept.rank.size
    begins = (row[1:] != row[:-1]) | (kept.tie_first[1:] != kept.tie_first[:-1])
    starts = np.flatnonzero(np.append(True, begins)[:size])
    group, before = np.searchsorted(starts, np.arange(size), "right") - 1, kept.offsets[row]
    return replace(
        kept,
        n_retrieved=np.diff(kept.offsets),
        rank=np.arange(size) - before + 1,
        tie_first=starts[group] - before + 1,
        tie_last=np.append(starts[1:], size)[group] - before,
        groups=None,
    )


def _cut(aligned: Aligned, depth: int) -> Aligned:
    """Return the run with only the first `depth` documents of each query."""
    keep = aligned.rank <= depth
    return replace(
        _kept(aligned, keep),
        n_retrieved=np.minimum(aligned.n_retrieved, depth),
        tie_last=np.minimum(aligned.tie_last[keep], depth),
    )


def _kept(aligned: Aligned, keep: Array) -> Aligned:
    return replace(
        aligned,
        offsets=offsets_of(np.bincount(aligned.row[keep], minlength=aligned.n_queries)),
        rank=aligned.rank[keep], grade=aligned.grade[keep], score=aligned.score[keep],
        tie_first=aligned.tie_first[keep], tie_last=aligned.tie_last[keep],
        views={},
    )  # fmt: skip


How = Literal["best", "worst"] | tuple[Literal["random"], int]


def reorder(aligned: Aligned, how: How) -> Aligned:
    """Return the alignment with the documents of every group of tied scores in another order.

    ``best`` puts the documents with a grade above 0 first, by falling grade, then the places of
    unjudged documents, then judged documents of grade 0 and below, by falling grade; ``worst``
    is its mirror image. That bounds exactly, for each query, every metric that never falls when a
    higher grade and a lower one change places: DCG and nDCG with gains that rise with the grade,
    P, recall, success, Rprec, AP, RR, interpolated precision, bpref. If lower is better (ARP,
    swaps), ``best`` gives the smallest value.

    It does not bound metrics that reward something else: gains that do not rise with the grade,
    a share of an ideal DCG below 0; ``G``, ``infAP``, ``judged``, and a largest relevant grade
    (``top``).

    ``("random", seed)`` draws the order of each group, unjudged documents included, all orders
    being equally probable. It is a function of the seed (modulo 2^64), the qid, and the ranks of
    the group: other queries, parts of a run and versions of numpy do not change it.

    >>> from harness import Qrels, Run, align
    >>> qrels = Qrels.from_dict({"q": {"a": 0, "b": 1, "c": 2}})
    >>> aligned = align(qrels, Run.from_dict({"q": {"a": 1.0, "b": 1.0, "c": 1.0, "x": 1.0}}))
    >>> best, worst = reorder(aligned, "best"), reorder(aligned, "worst")
    >>> best.rank.tolist(), best.grade.tolist()
    ([1, 2, 4], [2, 1, 0])
    >>> worst.rank.tolist(), worst.grade.tolist()
    ([1, 3, 4], [0, 1, 2])
    >>> reorder(aligned, ("random", 7)).grade.tolist()
    [1, 2, 0]
    """
    groups = tied_groups(aligned)
    if not groups.items.size:
        return aligned
    if isinstance(how, str):
        items, ranks = _by_grade(aligned, groups, best=how == "best")
    else:
        items, ranks = _at_random(aligned, groups, how[1])
    rank, grade, score = aligned.rank.copy(), aligned.grade.copy(), aligned.score.copy()
    rank[groups.items] = ranks
    grade[groups.items], score[groups.items] = aligned.grade[items], aligned.score[items]
    return replace(aligned, rank=rank, grade=grade, score=score, views={})


def _by_grade(aligned: Aligned, groups: TiedGroups, *, best: bool) -> tuple[Ints, Ints]:
    """Return the items group by group in their new order, and the ranks that they take."""
    grade, group = aligned.grade[groups.items], groups.group
    order = np.lexsort((-grade if best else grade, group))
    after = (grade[order] <= 0) == best  # those after the unjudged places
    unjudged = np.where(after, (groups.size - groups.found)[group], 0)
    ranks = groups.first[group] + positions_of(offsets_of(groups.found)) + unjudged
    return groups.items[order], ranks


def _at_random(aligned: Aligned, groups: TiedGroups, seed: int) -> tuple[Ints, Ints]:
    """Return the items group by group in their new order, and the ranks that they take."""
    offsets = offsets_of(groups.size)
    group, rank = rows_of(offsets), positions_of(offsets) + np.repeat(groups.first, groups.size)
    of_query = aligned.memo("hashes_of_qids", lambda: hash_strings(aligned.qids))
    of_group = splitmix64(of_query[groups.row] ^ _mixed(seed))
    keys = splitmix64(of_group[group] + rank.astype(np.uint64))
    order = np.argsort(pair_keys(group, keys), kind="stable")
    item_at = np.full(group.size, -1)
    place = offsets[groups.group] + aligned.rank[groups.items] - groups.first[groups.group]
    item_at[place] = groups.items
    items = item_at[order]
    judged = np.flatnonzero(items >= 0)
    return items[judged], rank[judged]


def _mixed(seed: int) -> np.uint64:
    number: np.uint64 = splitmix64(np.array([seed & (1 << 64) - 1], dtype=np.uint64))[0]
    return number


Kernel = Callable[[Aligned], Floats]
DRAWS = 100
"""Random orders that a mean is taken over."""


def sampled_together(
    metrics: Sequence[Kernel], aligned: Aligned, draws: int = DRAWS, seed: int = 0
) -> tuple[Floats, Floats]:
    """Return metrics' means over random orders of tied documents, and their standard errors.

    For metrics whose exact expectation is not known (``Definition.expected`` is None). Queries
    in which no judged document is tied have their own value, and error 0. What a query gets
    depends on its qid and the seed, not on the other queries.

    >>> import harness.metrics
    >>> from harness.core.align import align
    >>> from harness.core.names import parse
    >>> from harness.core.tables import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 0, "b": 1}, "r": {"a": 1}})
    >>> run = Run.from_dict({"q": {"a": 1.0, "b": 1.0}, "r": {"a": 1.0}})
    >>> values, errors = sampled_together(parse("11pt_avg"), align(qrels, run))   # 1 or 1/2; 1
    >>> values[:, 0].round(2).tolist(), errors[:, 0].round(2).tolist()
    ([0.75, 1.0], [0.03, 0.0])
    """
    if draws < 2:
        raise ValueError(f"an error needs at least 2 draws, not {draws}")
    values = np.empty((aligned.n_queries, len(metrics)))
    for column, metric in enumerate(metrics):
        values[:, column] = metric(aligned)
    errors, tied = np.zeros_like(values), has_ties(aligned)
    if not tied.any():
        return values, errors
    part = aligned if tied.all() else aligned.of_queries(tied)
    mean = np.zeros((part.n_queries, len(metrics)))
    squares = np.zeros_like(mean)
    for draw in range(draws):
        # seeds that share nothing with those of the next seed
        drawn = reorder(part, ("random", int(_mixed(seed)) + draw))
        for column, metric in enumerate(metrics):
            # Welford's update: a value that is the same in all draws stays what it is
            drawn_values = metric(drawn)
            step = drawn_values - mean[:, column]
            mean[:, column] += step / (draw + 1)
            squares[:, column] += step * (drawn_values - mean[:, column])
    values[tied], errors[tied] = mean, np.sqrt(squares / ((draws - 1) * draws))
    return values, errors
