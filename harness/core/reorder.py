"""Other orders of tied documents: the best, the worst, and random ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from .aligned import Aligned
from .hashing import hash_strings, pair_keys, splitmix64
from .ragged import Array, Ints, offsets_of, positions_of, rows_of
from .tied import TiedGroups, tied_groups

How = Literal["best", "worst"] | tuple[Literal["random"], int]
_LOWEST_BITS = (1 << 64) - 1


def reorder(aligned: Aligned, how: How) -> Aligned:
    """Return the alignment with the documents of every group of tied scores in another order.

    ``best`` puts the documents with a grade above 0 first, by falling grade, then the places of
    unjudged documents, then judged documents of grade 0 and below, by falling grade; ``worst``
    is its mirror image. So at every rank the documents so far hold, for each level, as many of
    at least that grade as any order allows (as few), and as few (as many) judged non-relevant
    ones. That bounds exactly, for each query, every metric that never falls when a higher grade
    and a lower one change places: DCG and nDCG with gains that rise with the grade, P, recall,
    success, Rprec, AP, RR, interpolated precision, bpref. Where lower is better (ARP, swaps)
    ``best`` gives the smallest value, and is best too.

    It bounds no metric that rewards something else: gains that do not rise with the grade, or
    a share of an ideal DCG below 0; ``G``, which discounts a gain by what was missed above it;
    ``infAP``, which estimates precision from the documents of the pool above; ``judged``, for
    which a document of grade 0 is as good as any; a largest grade that counts as relevant
    (``top``).

    ``("random", seed)`` draws the order of each group, unjudged documents included, all orders
    being equally probable. It is a function of the seed, the qid, and the ranks of the group
    alone: neither other queries, nor the parts in which a run is read, nor the version of numpy
    change it.

    Parameters
    ----------
    aligned : Aligned
    how : {"best", "worst"} or ("random", int)
        The seed is taken modulo 2^64.

    Returns
    -------
    Aligned
        With the same groups; `aligned` itself where no judged document is tied.

    Examples
    --------
    >>> from harness.core.align import align
    >>> from harness.core.tables import Qrels, Run
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
    return replace(aligned, rank=rank, grade=grade, score=score, views={}, _memo={})


def _by_grade(aligned: Aligned, groups: TiedGroups, *, best: bool) -> tuple[Ints, Ints]:
    """Return the items group by group in their new order, and the ranks that they take."""
    grade, group = aligned.grade[groups.items], groups.group
    order = np.lexsort((-grade if best else grade, group))
    after = (grade[order] <= 0) == best  # those that stand after the unjudged places
    unjudged = np.where(after, (groups.size - groups.found)[group], 0)
    ranks = groups.first[group] + positions_of(offsets_of(groups.found)) + unjudged
    return groups.items[order], ranks


def _at_random(aligned: Aligned, groups: TiedGroups, seed: int) -> tuple[Ints, Ints]:
    """Return the items group by group in their new order, and the ranks that they take."""
    offsets = offsets_of(groups.size)
    group, rank = rows_of(offsets), positions_of(offsets) + np.repeat(groups.first, groups.size)
    of_query = aligned.memo("hashes_of_qids", lambda: hash_strings(aligned.qids))
    of_group = splitmix64(of_query[groups.row] ^ _mixed_seed(seed))
    keys = splitmix64(of_group[group] + rank.astype(np.uint64))
    order = _argsort(pair_keys(group, keys))

    item_at = np.full(group.size, -1)
    place = offsets[groups.group] + aligned.rank[groups.items] - groups.first[groups.group]
    item_at[place] = groups.items
    items = item_at[order]
    judged = np.flatnonzero(items >= 0)
    return items[judged], rank[judged]


def _mixed_seed(seed: int) -> Array:
    return splitmix64(np.array([seed & _LOWEST_BITS], dtype=np.uint64))


def _argsort(keys: Array) -> Ints:
    """Return a stable order of keys that are nearly always distinct."""
    order = np.argsort(keys)
    ordered = keys[order]
    if (ordered[1:] == ordered[:-1]).any():
        order = np.argsort(keys, kind="stable")
    return order
