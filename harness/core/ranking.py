"""The order of each query's documents: by score, then by the policy for ties; as a reference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from .aligned import Aligned
from .arrow import index_in
from .hashing import hash_strings, splitmix64
from .policy import Policy, Scores
from .ragged import Array, Bools, Ints, lengths_of, offsets_of, positions_of
from .tables import Docnos, Qrels, Run


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

    def group(self, places: Ints) -> Ints:
        """Return the group that each of these places, all of them members, is in."""
        group: Ints = np.searchsorted(self.starts, places, side="right") - 1
        return group


def rank_order(run: Run, policy: Policy | None = None) -> Ints:
    """Return the rows of `run` in ranked order, query by query, ``(n_rows,)``."""
    policy = policy or Policy()
    order, ties = by_score(run, [policy.score_type])[policy.score_type]
    order = settle_ties(run, order, ties, None, policy)
    return np.arange(run.n_rows) if order is None else order


def by_score(run: Run, types: Iterable[Scores]) -> dict[Scores, tuple[Ints | None, Ties]]:
    """Order the rows by falling score within their query, ties in any order.

    The rows are sorted once, in single precision; for double precision, only those
    that single precision ties are sorted a second time.

    Returns, for each type, the order (None if the rows are in it already) and the ties in
    it.
    """
    found: dict[Scores, tuple[Ints | None, Ties]] = {}
    follows = np.ones(run.n_rows + 1, dtype=bool)  # the place before, in one query
    follows[run.offsets] = False
    follows = follows[1 : run.n_rows]
    types = set(types)
    if "none" in types:
        found["none"] = None, _ties(np.zeros(run.n_rows, dtype=np.float32), follows)
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
        if (follows & (single[1:] > single[:-1])).any():
            order = _falling_order(run, single)
            single = single[order]
        known = order, _ties(single, follows)
        vars(run)["_in_single"] = known
    return known


def ranking_hash(run: Run) -> int:
    """Return a hash of each query's documents in the order of their scores, ties in any order.

    Those of runs that share no query add up to the hash of both, modulo 2^64.

    >>> one, other = Run.from_dict({"q": {"a": 2, "b": 1}}), Run.from_dict({"q": {"b": 5, "a": 9}})
    >>> ranking_hash(one) == ranking_hash(other)
    True
    """
    order, ties = by_score(run, ["float32"])["float32"]
    place = np.arange(run.n_rows)
    place[ties.places] = ties.starts[ties.group(ties.places)]
    lengths = lengths_of(run.offsets)
    place -= np.repeat(run.offsets[:-1], lengths)
    hashes = run.docnos.hashes if order is None else run.docnos.hashes[order]
    hashes = hashes * (2 * place + 1).view(np.uint64)
    answered = lengths > 0
    of_query = np.add.reduceat(hashes, run.offsets[:-1][answered]) if run.n_rows else hashes
    return int(splitmix64(of_query ^ hash_strings(run.qids)[answered]).sum())


def _ties(scores: Array, follows: Bools) -> Ties:
    """Return the groups of equal scores; `follows`: whether a place has the query of the last."""
    same = np.zeros(scores.size + 1, dtype=bool)
    same[1 : scores.size] = (scores[1:] == scores[:-1]) & follows
    return _groups(same)


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
    """Return `order` with the groups of tied scores put in the policy's order.

    If places are given, only groups that hold one of them are looked at: the order of the
    others is seen by no metric. The order comes back as it is if there is nothing to settle.
    """
    if policy.ties == "stable" and order is None:
        return order
    places = ties.places
    if not places.size:
        return order
    group = ties.group(places)
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
    """Qrels made from a run by :func:`as_reference`, which keep its ties.

    ``tie_first`` says of each rank of each query, from the top, at which rank its group of tied
    scores begins, ``(n_rows,)``.
    """

    tie_first: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def as_reference(run: Run, qids: pa.Array, policy: Policy | None = None) -> Reference:
    """Return qrels whose ideal order is the ranking of `run`, for these queries.

    The last document has grade 1, the first as many as there are documents: no two are
    equal, as the policy orders tied scores too; ``tie_first`` keeps which are tied. With it,
    a metric that compares a ranking to the ideal order compares two runs.

    >>> run = Run.from_dict({"q1": {"a": 0.1, "b": 0.9, "c": 0.1}})
    >>> reference = as_reference(run, pa.array(["q0", "q1"]))
    >>> reference.to_dict(), reference.tie_first.tolist()
    ({'q0': {}, 'q1': {'a': 1, 'b': 3, 'c': 2}}, [1, 2, 2])
    """
    policy = policy or Policy()
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
    """Return the grade of each item, documents that the reference run ties having the same.

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
