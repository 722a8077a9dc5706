"""Rank a run and join it to the qrels: the only sort, the only join, the only look at ties.

What comes out is *sparse*: a document that nobody judged counts only through the ranks of those
below it, so the result's size follows the judgements and not the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..errors import AlignmentError, Problem, first_of
from .aligned import Aligned
from .arguments import check_arguments, instance_of, wrong
from .arrow import index_in, select
from .hashing import hash_strings, splitmix64
from .policy import USUAL, Policy, ScoreType
from .policy_views import first_documents
from .qrels_and_runs import Docnos, Qrels, Run
from .ragged import Array, Bools, Ints, Ragged, lengths_of, offsets_of, positions_of

PART = 1 << 16
"""Rows that are aligned at a time if all are judged; a few arrays of them fit a cache."""


_QRELS = instance_of("Qrels", Qrels, fix="give Qrels.from_dict(...), or use harness.evaluate")
_POLICY = instance_of("a Policy", Policy)
_RUN = "a Run, or parts of one"


def align(
    qrels: Qrels,
    run: Run | Iterable[Run],
    policy: Policy | None = None,
    also: Iterable[Policy] = (),
) -> Aligned:
    """Rank the documents of a run and join them to the judgements.

    Parameters
    ----------
    qrels : Qrels
        Judgements. The result has their queries, in their order.
    run : Run or iterable of Run
        Scores of a system, whole or in parts with different queries (a streamed file).
    policy : Policy, optional
        Treatment of ties, missing queries and depth.
    also : iterable of Policy
        Other policies to align the rows under in the same pass; they become the ``views``.

    Returns
    -------
    Aligned

    Raises
    ------
    AlignmentError
        If qrels and run share no query, or a query is missing under ``missing_queries: error``.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"d1": 2, "d2": 0, "d3": 1}})
    >>> run = Run.from_dict({"q1": {"d2": 3.0, "d1": 2.0, "d7": 2.0}})
    >>> aligned = align(qrels, run)      # d7 and d1 are tied: the larger docno comes first
    >>> aligned.rank.tolist(), aligned.grade.tolist(), aligned.ideal.values.tolist()
    ([1, 3], [0, 2], [2, 1, 0])
    """
    check_arguments(locals(), qrels=_QRELS, policy=_POLICY.or_none())
    if not isinstance(run, (Run, Iterable)) or isinstance(run, (str, bytes, Mapping)):
        raise wrong("run", _RUN, run)
    policy = policy or USUAL
    policies = list(dict.fromkeys([policy.alignment, *(each.alignment for each in also)]))
    parts = [run] if isinstance(run, Run) else run
    by_policy = list(zip(*map(partial(_rank_part, qrels, policies), parts), strict=True))
    if not by_policy:
        raise AlignmentError(_no_overlap(qrels, ()))
    others = map(_join, repeat(qrels), by_policy[1:], policies[1:], repeat({}))
    return _join(qrels, by_policy[0], policy, {other.policy: other for other in others})


def _join(
    qrels: Qrels, ranked: Sequence[_Ranked], policy: Policy, views: Mapping[Policy, Aligned]
) -> Aligned:
    """Join the contributions of the parts of a run under one policy."""
    answered = np.zeros(qrels.n_queries, dtype=np.int64)
    n_retrieved, n_tied = np.zeros_like(answered), np.zeros_like(answered)
    for part in ranked:
        np.add.at(answered, part.queries, 1)
        n_retrieved[part.queries] += part.n_retrieved
        n_tied[part.queries] += part.n_tied
    if (answered > 1).any():
        repeated = qrels.qids[int(np.flatnonzero(answered > 1)[0])].as_py()
        what = f"query '{repeated}' is in more than one part of the run"
        raise AlignmentError(what, fix="keep all rows of a query in one part")
    n_extra = sum(part.n_extra for part in ranked)
    if not answered.any():
        raise AlignmentError(_no_overlap(qrels, ranked))

    groups: Ragged | None = None
    if whole := [part.items for part in ranked if part.groups is None]:
        offsets, (items,) = qrels.ideal.offsets, whole
    else:
        offsets, items = _by_query([part.items for part in ranked], qrels.n_queries)
        parts = [part.groups for part in ranked if part.groups is not None]
        of_groups, columns = _by_query(parts, qrels.n_queries)
        groups = Ragged(of_groups, columns["ranks"])
    optional: dict[str, Any] = {}
    if isinstance(qrels, Reference):
        optional["reference_ties"] = qrels.tie_first
    scores_every_row = qrels.learning_to_rank or qrels.docnos.positional
    if scores_every_row and groups is not None:
        n_unscored = lengths_of(qrels.offsets) - lengths_of(offsets)
        optional["n_unscored"] = n_unscored if n_unscored.any() else None
    if qrels.subtopics is not None:
        optional["judged_subtopics"] = Ragged(qrels.offsets, qrels.subtopics)
    facts: dict[str, Any] = {"policy": policy, "n_extra": n_extra, "groups": groups, "views": views}
    facts |= optional | items
    aligned = Aligned(qrels.qids, answered > 0, n_retrieved, n_tied, qrels.ideal, offsets, **facts)
    if policy.alignment.depth is not None or policy.alignment.judged_only:
        aligned = replace(first_documents(aligned, policy.alignment), views=views)
    return _without_missing(aligned, policy) if not aligned.answered.all() else aligned


def align_parts(
    qrels: Qrels,
    run: Run | Iterable[Run],
    policy: Policy | None = None,
    also: Iterable[Policy] = (),
    size: int = PART,
) -> Iterator[Aligned]:
    """Align a run that shares the rows of the qrels part by part, each of some whole queries.

    With predictions for learning-to-rank rows every document is judged; in parts that fit the
    processor's cache this takes a fraction of the time and memory. Any other run is one part.

    `run` can also be parts that follow the rows of the qrels, each beginning where
    the one before ended. `size` rows end a part; it is longer by at most one query.
    """
    if isinstance(run, Run) and run.docnos is not qrels.docnos:
        yield align(qrels, run, policy, also)
        return
    stop = 0
    for part in run.parts(size) if isinstance(run, Run) else run:
        first, stop = stop, stop + part.n_queries
        whole = part.docnos is qrels.docnos
        judged = qrels if whole else qrels.part(first, stop, part.docnos)
        yield align(judged, part, policy, also)


class _Ranked(NamedTuple):
    """Contribution of one part of a run; `queries` has its answered queries, codes of qrels.

    `items` are columns of the documents that are judged, and `groups` of the groups of tied
    scores, each with its query. If every row is judged there are neither groups nor queries, and
    no other part has judged documents.
    """

    queries: Ints
    n_retrieved: Ints
    n_tied: Ints
    n_extra: int
    qids: pa.Array
    items: dict[str, Any]
    groups: dict[str, Any] | None


def _rank_part(qrels: Qrels, policies: Sequence[Policy], run: Run) -> list[_Ranked]:
    """Join one part of a run once, sort it once, and rank it under each policy."""
    if not isinstance(run, Run):
        raise wrong("run", _RUN, run)
    ranked: dict[Policy, _Ranked] = {}
    for drop in {policy.drop_identical_ids for policy in policies}:
        rows = run.without_identical_ids() if drop else run
        alike = [policy for policy in policies if policy.drop_identical_ids == drop]
        of_run, pairs = np.arange(qrels.n_queries), None
        if rows.docnos is not qrels.docnos:  # else the row of the same number judges each row
            if qrels.unnamed is not None:
                qrels.check_named(rows)
            of_run = qrels.place(rows.qids)
            pairs = qrels.find(of_run[rows.row], rows.docnos)
        orders = by_score(rows, {policy.score_type for policy in alike})
        for policy in alike:
            ranked[policy] = _rank(qrels, rows, of_run, pairs, orders, policy)
    return [ranked[policy] for policy in policies]


def _rank(
    qrels: Qrels,
    run: Run,
    of_run: Ints,
    pairs: tuple[Ints, Ints] | None,
    orders: Orders,
    policy: Policy,
) -> _Ranked:
    """Rank one part of a run under one policy; `pairs` are the rows that are judged."""
    order, ties = orders[policy.score_type]
    if pairs is None:
        order = settle_ties(run, order, ties, None, policy)
        found = judgement = np.arange(run.n_rows) if order is None else order
        rank, tied = qrels.ideal.rank, ties.places
        place = tied
    else:
        place, found, judgement = _by_place(*pairs, order, run.n_rows)
        settled = settle_ties(run, order, ties, place, policy) if ties.places.size else order
        if settled is not order:
            place, found, judgement = _by_place(*pairs, settled, run.n_rows)
        row = run.row[place]
        rank, tied = place - run.offsets[row] + 1, np.flatnonzero(ties.member[place])
        place = place[tied]

    first = last = rank
    if tied.size:
        group, before = ties.group(place), run.offsets[run.row[place]] - 1
        first, last = rank.copy(), rank.copy()
        first[tied], last[tied] = ties.starts[group] - before, ties.ends[group] - before
    items: dict[str, Any] = {"rank": rank, "tie_first": first, "tie_last": last}
    items |= {"grade": qrels.grades.take(judgement), "score": run.scores.take(found)}
    if qrels.subtopics is not None:
        items["subtopics"] = qrels.subtopics[judgement]
    groups = None
    if pairs is not None:
        items["query"] = of_run[row]
        of_group = run.row[ties.starts]
        before, known = run.offsets[of_group] - 1, of_run[of_group] >= 0
        ranks = np.stack([ties.starts - before, ties.ends - before], axis=1)
        groups = {"query": of_run[of_group[known]], "ranks": ranks[known]}
    answered = of_run >= 0
    n_extra = int((~answered).sum())
    lengths = lengths_of(run.offsets)[answered]
    n_tied = lengths_of(np.searchsorted(ties.places, run.offsets))[answered]
    return _Ranked(of_run[answered], lengths, n_tied, n_extra, run.qids, items, groups)


def _by_query(parts: Sequence[Mapping[str, Any]], n_queries: int) -> tuple[Ints, dict[str, Any]]:
    """Return the offsets of each query in the columns of all parts, and these by query."""
    columns = {
        name: first if len(parts) == 1 else np.concatenate([part[name] for part in parts])
        for name, first in parts[0].items()
    }
    query = columns.pop("query")
    if (query[1:] < query[:-1]).any():
        order = np.argsort(query, kind="stable")
        query = query[order]
        columns = {name: column[order] for name, column in columns.items()}
    return offsets_of(np.bincount(query, minlength=n_queries)), columns


def _by_place(
    found: Ints, judgement: Ints, order: Ints | None, n_rows: int
) -> tuple[Ints, Ints, Ints]:
    """Return the places of the rows `found` in the ranked order, ascending, and both with them."""
    if order is None:
        return found, found, judgement
    judgements = np.full(n_rows, -1)
    judgements[found] = judgement
    judgements = judgements[order]
    place = np.flatnonzero(judgements >= 0)
    return place, order[place], judgements[place]


def _without_missing(aligned: Aligned, policy: Policy) -> Aligned:
    missing = ~aligned.answered
    if policy.missing_queries == "error":
        names = select(aligned.qids, missing).to_pylist()
        n, fix = len(names), "complete the run, or set missing_queries to zero or skip"
        what = f"the run does not answer {n} of the {aligned.n_queries} judged queries: "
        what += first_of(names, 5)
        raise AlignmentError(what, fix=fix, rule="refused-missing-queries")
    if policy.missing_queries == "zero":
        return aligned
    n_left_out = int(missing.sum())
    return replace(aligned.of_queries(aligned.answered), views=aligned.views, n_left_out=n_left_out)


def _no_overlap(qrels: Qrels, ranked: Sequence[_Ranked]) -> Problem:
    of_run = [qid for part in ranked[:1] for qid in part.qids.slice(0, 3).to_pylist()]
    return Problem(
        "",
        "qrels and run have no query in common: "
        f"qrels have {first_of(qrels.qids[:3].to_pylist()) or 'none'}, "
        f"the run has {first_of(of_run) or 'none'}",
        fix="check that the run belongs to these qrels, and that both files use the same qids",
        rule="no-common-query",
    )


@dataclass(frozen=True)
class Ties:
    """Groups of tied scores in a ranked order, only those of two documents and more.

    ``member`` says of each place whether it is in one, ``(n_rows,)``; ``starts`` and ``ends``
    are the first and the last place of each group.
    """

    member: Bools
    starts: Ints
    ends: Ints

    @cached_property
    def places(self) -> Ints:
        """The places that are in a group."""
        return np.flatnonzero(self.member)

    @property
    def sizes(self) -> Ints:
        """Documents of each group, ``(n_groups,)``."""
        return self.ends - self.starts + 1

    def group(self, places: Ints) -> Ints:
        """Return the group that each of these places, all of them members, is in."""
        group: Ints = np.searchsorted(self.starts, places, side="right") - 1
        return group


def rank_order(run: Run, policy: Policy | None = None) -> Ints:
    """Return the rows of `run` in ranked order, query by query, ``(n_rows,)``."""
    policy = policy or USUAL
    order, ties = by_score(run, [policy.score_type])[policy.score_type]
    order = settle_ties(run, order, ties, None, policy)
    return np.arange(run.n_rows) if order is None else order


def first_rows(run: Run, depth: int, policy: Policy | None = None) -> Ints:
    """Return the rows of the first documents of each query, in the order of their ranks."""
    rows: Ints = rank_order(run, policy)[positions_of(run.offsets) < depth]
    return rows


Orders = dict[ScoreType, tuple[Ints | None, Ties]]
"""For each type of scores the order of the rows, None if they are in it, and the ties in it."""


def by_score(run: Run, types: Iterable[ScoreType]) -> Orders:
    """Order the rows by falling score within their query, ties in any order.

    The rows are sorted once, in single precision; for double precision, only those
    that single precision ties are sorted a second time.

    Returns, for each type, the order (None if the rows are in it already) and the ties in
    it.
    """
    found: Orders = {}
    follows = np.ones(run.n_rows + 1, dtype=bool)  # the place before, in one query
    follows[run.offsets] = False
    types = set(types)
    if "none" in types:
        found["none"] = None, _groups(follows)
    if not types - {"none"}:
        return found
    order, ties = found["float32"] = _in_single(run, follows)
    if "float64" in types:
        found["float64"] = _refined(run, order, ties)
    return found


def _in_single(run: Run, follows: Bools) -> tuple[Ints | None, Ties]:
    """Return the order and the ties in single precision; a run keeps them, as two ask for them."""
    known: tuple[Ints | None, Ties] | None = vars(run).get("_in_single")
    if known is None:
        with np.errstate(over="ignore"):
            single = run.scores.astype(np.float32)
        order = None
        if (follows[1:-1] & (single[1:] > single[:-1])).any():
            order = _falling_order(run, single)
            single = single[order]
        same = follows.copy()
        same[1:-1] &= single[1:] == single[:-1]
        known = order, _groups(same)
        vars(run)["_in_single"] = known
    return known


MANY_TIED = 10
"""Tied documents of a query from which on their order is not compared with that of other runs."""


def ranking_hash(run: Run, policy: Policy | None = None) -> int:
    """Return a hash of each query's documents in ranked order, whatever their scores are.

    In a query with `MANY_TIED` tied documents and more, those that share a score also share
    a place: to settle them takes long, and rounded scores hardly ever tie them in the old order.
    Hashes of runs that share no query add up to the hash of both, modulo 2^64.

    >>> one, other = Run.from_dict({"q": {"a": 2, "b": 1}}), Run.from_dict({"q": {"b": 5, "a": 9}})
    >>> ranking_hash(one) == ranking_hash(other)
    True
    """
    policy = policy or USUAL
    order, ties = by_score(run, [policy.score_type])[policy.score_type]
    hashes, lengths = run.docnos.hashes, lengths_of(run.offsets)
    ranked = hashes if order is None else hashes[order]
    factors = np.arange(1, 2 * run.n_rows + 1, 2, dtype=np.uint64)  # odd: no bit of a hash is lost
    if ties.starts.size:
        of_query = np.searchsorted(ties.starts, run.offsets)
        n_tied = lengths_of(np.append(0, np.cumsum(ties.sizes))[of_query])
        is_few = (n_tied > 0) & (n_tied < MANY_TIED)
        shares_place = ties.member.copy()
        shares_place[ties.starts] = False
        if is_few.any():
            few = np.flatnonzero(np.repeat(is_few, lengths) & ties.member)
            shares_place[few] = False
            settled = settle_ties(run, order, ties, few, policy)
            if settled is not None:
                ranked = ranked.copy() if ranked is hashes else ranked
                ranked[few] = hashes[settled[few]]
        if shares_place.any():
            factors[shares_place] = 0
            np.maximum.accumulate(factors, out=factors)
    factors -= np.repeat(2 * run.offsets[:-1].view(np.uint64), lengths)
    weighted = np.multiply(ranked, factors, out=factors)
    answered = lengths > 0
    of_query = np.add.reduceat(weighted, run.offsets[:-1][answered]) if run.n_rows else weighted
    return int(splitmix64(of_query ^ hash_strings(run.qids)[answered]).sum())


def _groups(same: Bools) -> Ties:
    """Return the groups, from which places have the score of the one before, ``(n_rows + 1,)``."""
    this, following = same[:-1], same[1:]
    return Ties(
        this | following, np.flatnonzero(following & ~this), np.flatnonzero(this & ~following)
    )


def _refined(run: Run, order: Ints | None, ties: Ties) -> tuple[Ints | None, Ties]:
    """Return the order and the ties in double precision, given those in single precision.

    Rounding keeps the order, so that two scores can only part that were tied.
    """
    places = ties.places
    rows = places if order is None else order[places]
    scores = run.scores[rows]
    begins = np.ones(run.n_rows + 1, dtype=bool)
    begins[places] = False
    begins[ties.starts] = True
    inside = ~begins[places[1:]]  # tied with the place before
    if (scores[1:] == scores[:-1])[inside].all():
        return order, ties
    if (scores[1:] > scores[:-1])[inside].any():
        within = np.lexsort((-scores, ties.group(places)))
        order = np.arange(run.n_rows) if order is None else order.copy()
        order[places], scores = rows[within], scores[within]
    same = np.zeros(run.n_rows + 1, dtype=bool)
    same[places[1:]] = (scores[1:] == scores[:-1]) & inside
    return order, _groups(same)


def _falling_order(run: Run, scores: Array) -> Ints:
    """Return the rows by falling float32 score within their query, ``(n_rows,)``."""
    lengths = lengths_of(run.offsets)
    longest = int(lengths.max())
    if longest * run.n_queries == run.n_rows:  # of one length, as in a batch without padding
        order: Ints = np.argsort(-scores.reshape(run.n_queries, longest), axis=1)
        order += run.offsets[:-1, None]
        return order.ravel()
    bits = (scores + np.float32(0)).view(np.int32)  # -0.0 becomes 0.0
    bits ^= (bits >> 31) & np.int32((1 << 31) - 1)  # integers that rise as the scores do
    keys = run.row << 32
    keys -= bits
    width = longest.bit_length()
    if width + run.n_queries.bit_length() > 31:
        return np.argsort(keys)
    # Query, score and position fit one number; sorting numbers takes a third of the
    # time of an argsort.
    keys <<= width
    keys += positions_of(run.offsets)
    keys.sort()
    keys &= (1 << width) - 1
    keys += np.repeat(run.offsets[:-1], lengths)
    return keys


def settle_ties(
    run: Run, order: Ints | None, ties: Ties, place: Ints | None, policy: Policy
) -> Ints | None:
    """Return `order` with groups of tied scores in the order of the policy.

    If places are given, only groups with one of them are ordered, because no metric depends on the
    others. The order is returned unchanged if there is nothing to settle.
    """
    if policy.ties == "stable" and order is None:
        return order
    places = ties.places
    if not places.size:
        return order
    group = np.repeat(np.arange(ties.starts.size), ties.sizes)
    if place is not None:
        holds = np.zeros(ties.starts.size, dtype=bool)
        holds[ties.group(place[ties.member[place]])] = True
        places, group = places[holds[group]], group[holds[group]]
    if not places.size:
        return order
    settled = np.arange(run.n_rows) if order is None else order.copy()
    rows = settled[places]
    of_input = policy.ties in ("stable", "reverse")
    within = rows if of_input else run.docnos.byte_order(rows)
    span = int(within.max()) + 1
    keys = group * span + (within if policy.ties in ("stable", "docno+") else -within)
    settled[places] = rows[np.argsort(keys)]
    return settled


@dataclass(frozen=True, eq=False, repr=False)
class Reference(Qrels):
    """Qrels made from a run by `as_reference`, which keep its ties.

    ``tie_first`` says of each rank of each query, from the top, at which rank its group of tied
    scores begins, ``(n_rows,)``.
    """

    tie_first: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def as_reference(run: Run, qids: pa.Array, policy: Policy | None = None) -> Reference:
    """Return qrels with the ranking of `run` as ideal order, for these queries.

    The last document has grade 1, the first as many as there are documents: no two are
    equal, as the policy orders tied scores too; ``tie_first`` keeps which are tied. With it,
    a metric that compares a ranking to the ideal order compares two runs.

    >>> run = Run.from_dict({"q1": {"a": 0.1, "b": 0.9, "c": 0.1}})
    >>> reference = as_reference(run, pa.array(["q0", "q1"]))
    >>> reference.to_dict(), reference.tie_first.tolist()
    ({'q0': {}, 'q1': {'a': 1, 'b': 3, 'c': 2}}, [1, 2, 2])
    """
    policy = policy or USUAL
    run = run.without_identical_ids() if policy.drop_identical_ids else run
    order, ties = by_score(run, [policy.score_type])[policy.score_type]
    order = settle_ties(run, order, ties, None, policy)
    place = np.arange(run.n_rows)
    if order is not None:
        place[order] = np.arange(run.n_rows)
    grades = run.offsets[1:][run.row] - place
    first = np.arange(run.n_rows)
    tied = np.flatnonzero(ties.member)
    first[tied] = ties.starts[ties.group(tied)]
    first -= run.offsets[run.row] - 1
    at = index_in(qids, run.qids)
    lengths = np.where(at >= 0, lengths_of(run.offsets)[at], 0)
    offsets = offsets_of(lengths)
    rows = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - run.offsets[at], lengths)
    docnos = Docnos(run.docnos.take(rows), offsets)
    return Reference(qids, offsets, docnos, grades[rows], run.name, tie_first=first[rows])


def levels(aligned: Aligned) -> Ints:
    """Return the grade of each item; documents that the reference run ties share a grade.

    Against judgements these are the grades themselves.
    """
    first = aligned.reference_ties
    if first is None:
        return aligned.grade

    def make() -> Ints:
        lengths = aligned.ideal.lengths[aligned.row]
        rank = lengths - aligned.grade
        return lengths + 1 - first[aligned.ideal.offsets[aligned.row] + rank]

    return aligned.memo("levels", make)
