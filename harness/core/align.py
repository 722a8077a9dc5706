"""Join a run to the qrels: the only sort, the only join, the only place that knows ties.

What comes out is *sparse*: a document that nobody judged counts only through the ranks of those
below it, so the result's size follows the judgements and not the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..errors import AlignmentError, Problem, first_of
from .aligned import Aligned
from .arguments import check_arguments, instance_of, wrong
from .arrow import select
from .policy import Policy
from .ragged import Array, Floats, Ints, Ragged, lengths_of, offsets_of
from .ranking import Reference, Ties, by_score, settle_ties
from .tables import Qrels, Run
from .ties import first_documents

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
    also : iterable of Policy
        Other policies that the rows are to be aligned under in the same pass;
        :func:`harness.core.views.view` gives each.

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
    >>> aligned = align(qrels, run)      # d7 and d1 are tied: the larger docno goes first
    >>> aligned.rank.tolist(), aligned.grade.tolist(), aligned.ideal.values.tolist()
    ([1, 3], [0, 2], [2, 1, 0])
    """
    check_arguments(locals(), qrels=_QRELS, policy=_POLICY.or_none())
    if not isinstance(run, (Run, Iterable)) or isinstance(run, (str, bytes, Mapping)):
        raise wrong("run", _RUN, run)
    policy = policy or Policy()
    policies = list(dict.fromkeys([policy.alignment, *(each.alignment for each in also)]))
    parts = [run] if isinstance(run, Run) else run
    by_policy = list(zip(*(_rank_part(qrels, part, policies) for part in parts), strict=True))
    if not by_policy:
        raise AlignmentError(_no_overlap(qrels, ()))
    others = map(_join, repeat(qrels), by_policy[1:], policies[1:], repeat({}))
    return _join(qrels, by_policy[0], policy, {other.policy: other for other in others})


def _join(
    qrels: Qrels,
    ranked: Sequence[_Ranked],
    policy: Policy,
    views: Mapping[Policy, Aligned],
) -> Aligned:
    """Join what the parts of a run contribute under one policy."""
    answered = np.zeros(qrels.n_queries, dtype=np.int64)
    n_retrieved, n_tied = np.zeros_like(answered), np.zeros_like(answered)
    for part in ranked:
        np.add.at(answered, part.queries, 1)
        n_retrieved[part.queries] += part.n_retrieved
        n_tied[part.queries] += part.n_tied
    if (answered > 1).any():
        repeated = qrels.qids[int(np.flatnonzero(answered > 1)[0])].as_py()
        what = f"query '{repeated}' is in more than one part of the run"
        raise AlignmentError(Problem("", what, fix="keep all rows of a query in one part"))
    n_extra = sum(part.n_extra for part in ranked)
    if not answered.any():
        raise AlignmentError(_no_overlap(qrels, ranked))

    columns: dict[str, Any] = {
        name: _joined([getattr(part, name) for part in ranked])
        for name in ("rank", "grade", "score", "tie_first", "tie_last")
    }
    if ranked[0].whole:
        offsets = qrels.ideal.offsets
    else:
        query = _joined([part.query for part in ranked])
        if (query[1:] < query[:-1]).any():
            order = np.argsort(query, kind="stable")
            query = query[order]
            columns = {name: column[order] for name, column in columns.items()}
        offsets = offsets_of(np.bincount(query, minlength=qrels.n_queries))
    aligned = Aligned(
        qrels.qids, answered > 0, n_retrieved, n_tied, qrels.ideal, offsets,
        policy=policy, n_extra=n_extra, groups=_joined_groups(ranked, qrels.n_queries),
        reference_ties=qrels.tie_first if isinstance(qrels, Reference) else None, **columns,
    )  # fmt: skip
    aligned = replace(first_documents(aligned, policy), views=views)
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
    """What one part of a run contributes; `queries` has its answered queries, codes of qrels.

    ``whole``: every judgement is in it, so that it is the only part.
    """

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
    groups: tuple[Ints, Ints] | None
    whole: bool


def _rank_part(qrels: Qrels, run: Run, policies: Sequence[Policy]) -> list[_Ranked]:
    """Join one part of a run once, sort it once, and rank it under each policy."""
    if not isinstance(run, Run):
        raise wrong("run", _RUN, run)
    if any(policy.drop_identical_ids for policy in policies):
        kept = run.without_identical_ids()
        if kept is not run:
            plain = [replace(each, drop_identical_ids=False) for each in policies]
            ranked = {
                drop: dict(zip(plain, _rank_part(qrels, rows, plain), strict=True))
                for drop, rows in ((False, run), (True, kept))
            }
            return [
                ranked[each.drop_identical_ids][one]
                for each, one in zip(policies, plain, strict=True)
            ]
    pairs = None
    of_run = np.arange(qrels.n_queries)
    if run.docnos is not qrels.docnos:  # else every row is judged, by the row of the same number
        of_run = qrels.place(run.qids)
        pairs = qrels.find(of_run[run.row], run.docnos)
    ordered = by_score(run, (policy.score_type for policy in policies))
    return [
        _rank(qrels, run, of_run, pairs, policy, *ordered[policy.score_type]) for policy in policies
    ]


def _rank(
    qrels: Qrels,
    run: Run,
    of_run: Ints,
    pairs: tuple[Ints, Ints] | None,
    policy: Policy,
    order: Ints | None,
    ties: Ties,
) -> _Ranked:
    """Rank one part of a run under one policy; `pairs` are the rows that are judged."""
    if pairs is None:
        order = settle_ties(run, order, ties, None, policy)
        found = judgement = np.arange(run.n_rows) if order is None else order
        query = qrels.ideal.row
        rank, tied = qrels.ideal.rank, ties.places
        place = tied
    else:
        place, found, judgement = _by_place(*pairs, order, run.n_rows)
        settled = settle_ties(run, order, ties, place, policy)
        if settled is not order:
            place, found, judgement = _by_place(*pairs, settled, run.n_rows)
        row = run.row[place]
        query = of_run[row]
        rank, tied = place - run.offsets[row] + 1, np.flatnonzero(ties.member[place])
        place = place[tied]

    first = last = rank
    if tied.size:
        group, before = ties.group(place), run.offsets[run.row[place]] - 1
        first, last = rank.copy(), rank.copy()
        first[tied], last[tied] = ties.starts[group] - before, ties.ends[group] - before
    grade, score = qrels.grades.take(judgement), run.scores.take(found)
    answered = of_run >= 0
    n_retrieved = lengths_of(run.offsets)
    n_tied = lengths_of(np.searchsorted(ties.places, run.offsets))
    groups = None
    if pairs is not None:
        of_group = run.row[ties.starts]
        before, known = run.offsets[of_group] - 1, of_run[of_group] >= 0
        ranks = np.stack([ties.starts - before, ties.ends - before], axis=1)
        groups = of_run[of_group[known]], ranks[known]
    return _Ranked(
        of_run[answered], n_retrieved[answered], n_tied[answered], int((~answered).sum()),
        run.qids, query, rank, grade, score, first, last, groups, whole=pairs is None,
    )  # fmt: skip


def _joined_groups(ranked: Sequence[_Ranked], n_queries: int) -> Ragged | None:
    parts = [part.groups for part in ranked if part.groups is not None]
    if len(parts) < len(ranked):
        return None
    query, ranks = (_joined(list(arrays)) for arrays in zip(*parts, strict=True))
    if (query[1:] < query[:-1]).any():
        order = np.argsort(query, kind="stable")
        query, ranks = query[order], ranks[order]
    return Ragged(offsets_of(np.bincount(query, minlength=n_queries)), ranks)


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


def _joined(arrays: list[Array]) -> Array:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _without_missing(aligned: Aligned, policy: Policy) -> Aligned:
    missing = ~aligned.answered
    if policy.missing_queries == "error":
        names = select(aligned.qids, missing).to_pylist()
        raise AlignmentError(
            Problem(
                "",
                f"the run does not answer {len(names)} of the {aligned.n_queries} judged queries: "
                f"{first_of(names, 5)}",
                fix="complete the run, or set missing_queries (--missing) to zero or skip",
                rule="refused-missing-queries",
            )
        )
    if policy.missing_queries == "zero":
        return aligned
    n_left_out = int(missing.sum())
    return replace(aligned.of_queries(aligned.answered), views=aligned.views, n_left_out=n_left_out)


def _no_overlap(qrels: Qrels, ranked: Sequence[_Ranked]) -> Problem:
    of_run = [qid for part in ranked[:1] for qid in part.qids.slice(0, 3).to_pylist()]
    return Problem(
        "",
        "qrels and run have no query in common: "
        f"qrels have {first_of(qrels.qids[:3].to_pylist())}, "
        f"the run has {first_of(of_run) or 'none'}",
        fix="check that the run belongs to these qrels, and that both write qids alike",
        rule="no-common-query",
    )
