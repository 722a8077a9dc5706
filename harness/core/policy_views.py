"""Views of a run under policies: its grades, the order of its ties, its depth.

A view is made from what was aligned once. Groups of tied scores are computed here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from typing import Literal

import numpy as np
import pyarrow as pa

from ..errors import InputError, Place, Problem
from .aligned import Aligned, columns_of
from .hashing import hash_strings, pair_keys, splitmix64
from .metric import Metric
from .policy import USUAL, GradeRule, Policy, applied, refused
from .qrels_and_runs import Qrels, rows_in_file
from .ragged import Array, Bools, Floats, Ints, Ragged, offsets_of, positions_of, rows_of, stretches


@dataclass(frozen=True, eq=False)
class TiedGroups:
    """Groups of tied scores with a judged document, by rank in each query.

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


def tied_groups(aligned: Aligned, rel: float | None = None) -> TiedGroups:
    """Return the groups of tied scores with an order that can change a metric.

    With `rel`, only documents of at least this grade, and only groups that hold one.
    """

    def make() -> TiedGroups:
        if rel is None:
            return groups_of(aligned, np.flatnonzero(aligned.tie_last > aligned.tie_first))
        return groups_of(aligned, aligned.relevant(rel))

    return aligned.memo(("tied_groups", rel), make)


def groups_of(aligned: Aligned, items: Ints) -> TiedGroups:
    """Return the groups of tied scores with some of these documents (ascending indices)."""
    tied = np.flatnonzero(aligned.tie_last[items] > aligned.tie_first[items])
    items = items[tied]
    row, start = aligned.row[items], aligned.tie_first[items]
    heads, sizes = stretches(start, row)
    group = np.repeat(np.arange(heads.size), sizes)
    start, end = start[heads], aligned.tie_last[items[heads]]
    return TiedGroups(items, tied, group, row[heads], start, end, end - start + 1, sizes)


def has_ties(aligned: Aligned) -> Bools:
    """Mask of queries with a tied score that a judged document shares, ``(n_queries,)``."""
    is_tied = np.zeros(aligned.n_queries, dtype=bool)
    is_tied[tied_groups(aligned).row] = True
    return is_tied


def is_cut(aligned: Aligned, policy: Policy) -> bool:
    """Whether a list is longer than the policy's depth."""
    return policy.depth is not None and bool((aligned.n_retrieved > policy.depth).any())


def first_documents(aligned: Aligned, policy: Policy) -> Aligned:
    """Cut rankings at the policy's depth, then apply `judged_only`."""
    if policy.depth is not None and is_cut(aligned, policy):
        aligned = _cut(aligned, policy.depth)
    return _condensed(aligned) if policy.judged_only else aligned


def _condensed(aligned: Aligned) -> Aligned:
    """Return the run without its unjudged documents."""
    judged = _kept(aligned, aligned.grade >= 0)
    starts, sizes = stretches(judged.row, judged.tie_first)
    before = judged.offsets[judged.row]
    return replace(
        judged,
        n_retrieved=np.diff(judged.offsets),
        rank=positions_of(judged.offsets, first=1),
        tie_first=np.repeat(starts, sizes) - before + 1,
        tie_last=np.repeat(starts + sizes, sizes) - before,
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
    offsets = offsets_of(np.bincount(aligned.row[keep], minlength=aligned.n_queries))
    return replace(aligned, offsets=offsets, views={}, **columns_of(aligned, keep))


TieOrder = Literal["best", "worst"] | tuple[Literal["random", "number"], int]


def reorder(aligned: Aligned, tie_order: TieOrder) -> Aligned:
    """Return the alignment with the documents of every group of tied scores in another order.

    ``best`` puts the documents with a grade above 0 first, by falling grade, then the places of
    unjudged documents, then judged documents of grade 0 and below, by falling grade; ``worst``
    is its mirror image. That bounds exactly, for each query, every metric that never falls when a
    higher grade and a lower one change places: DCG and nDCG with gains that rise with the grade,
    P, recall, success, Rprec, AP, RR, interpolated precision, bpref. If lower is better (ARP,
    swaps), ``best`` gives the smallest value.

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
    if isinstance(tie_order, str):
        items, ranks = _by_grade(aligned, groups, best=tie_order == "best")
    elif tie_order[0] == "number":
        items, ranks = _ordered(aligned, tie_order[1])
    else:
        items, ranks = _at_random(aligned, groups, tie_order[1])
    rank, grade, score = aligned.rank.copy(), aligned.grade.copy(), aligned.score.copy()
    rank[groups.items] = ranks
    grade[groups.items], score[groups.items] = aligned.grade[items], aligned.score[items]
    subtopics = None if aligned.subtopics is None else aligned.subtopics.copy()
    if aligned.subtopics is not None and subtopics is not None:
        subtopics[groups.items] = aligned.subtopics[items]
    return replace(aligned, rank=rank, grade=grade, score=score, subtopics=subtopics, views={})


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
    group, rank = _places_of(groups)
    of_query = aligned.memo("hashes_of_qids", lambda: hash_strings(aligned.qids))
    of_group = splitmix64(of_query[groups.row] ^ _mixed(seed))
    return _by_keys(aligned, groups, splitmix64(of_group[group] + rank.astype(np.uint64)))


def _places_of(groups: TiedGroups) -> tuple[Ints, Ints]:
    """Return the group and the rank of each place that is in a group."""
    offsets = offsets_of(groups.size)
    return rows_of(offsets), positions_of(offsets) + np.repeat(groups.first, groups.size)


def _by_keys(aligned: Aligned, groups: TiedGroups, keys: Array) -> tuple[Ints, Ints]:
    """Return the items of each group by the rising keys of its places, and the ranks they take."""
    (group, rank), offsets = _places_of(groups), offsets_of(groups.size)
    order = np.argsort(pair_keys(group, keys), kind="stable")
    item_at = np.full(group.size, -1)
    place = offsets[groups.group] + aligned.rank[groups.items] - groups.first[groups.group]
    item_at[place] = groups.items
    items = item_at[order]
    judged = np.flatnonzero(items >= 0)
    return items[judged], rank[judged]


ORDERS, _LARGEST_GROUP = 120, 5
"""Most orders of a query's ties for an exact mean, and most documents of one group then."""
_FACTORIALS = np.array([math.factorial(size) for size in range(_LARGEST_GROUP + 1)])


@cache
def _every_order() -> Array:
    """Return the keys of each order of a group by its size, ``(6, 120, 5)``."""
    keys = np.zeros((_LARGEST_GROUP + 1, ORDERS, _LARGEST_GROUP), dtype=np.uint64)
    for size in range(2, _LARGEST_GROUP + 1):
        orders = np.array([*permutations(range(size))], dtype=np.uint64)
        keys[size, : len(orders), :size] = orders << np.uint64(32)
    return keys


def n_orders(aligned: Aligned) -> Ints:
    """Number of orders of each query's tied documents; 0 if more than `ORDERS`."""
    groups = tied_groups(aligned)
    small = np.minimum(groups.size, _LARGEST_GROUP)
    ways = np.where(groups.size > _LARGEST_GROUP, ORDERS + 1, _FACTORIALS[small])
    logs = np.bincount(groups.row, np.log(ways), minlength=aligned.n_queries)
    orders = np.rint(np.exp(np.minimum(logs, math.log(10 * ORDERS)))).astype(np.int64)
    return np.where(orders > ORDERS, 0, orders)


def _ordered(aligned: Aligned, number: int) -> tuple[Ints, Ints]:
    """Return the items group by group in one of their orders, and the ranks that they take.

    The numbers below `n_orders` of a query give each of its orders once.
    """
    groups = tied_groups(aligned)
    ways = _FACTORIALS[groups.size]
    logs = np.cumsum(np.log(ways)) - np.log(ways)  # of the groups before, in all queries
    begins, _ = stretches(groups.row, groups.row)
    of_query = np.searchsorted(begins, np.arange(ways.size), side="right") - 1
    before = np.rint(np.exp(logs - logs[begins[of_query]])).astype(np.int64)
    digit = number // before % ways
    group, rank = _places_of(groups)
    place = rank - groups.first[group]
    return _by_keys(aligned, groups, _every_order()[groups.size[group], digit[group], place])


def _mixed(seed: int) -> np.uint64:
    number: np.uint64 = splitmix64(np.array([seed & (1 << 64) - 1], dtype=np.uint64))[0]
    return number


Kernel = Callable[[Aligned], Floats]
DRAWS = 100
"""Random orders that a mean is taken over."""


def sampled_together(
    metrics: Sequence[Kernel], aligned: Aligned, draws: int = DRAWS, seed: int = 0
) -> tuple[Floats, Floats]:
    """Return metrics' means over orders of tied documents, and their standard errors.

    For metrics whose exact expectation is not known (``Definition.expected`` is None). The mean
    is over all orders of a query with at most `ORDERS` of them, and its error 0; else over random
    ones. What a query gets depends on its qid and the seed, not on the other queries.

    >>> import harness.metrics
    >>> from harness.core.align import align
    >>> from harness.core.names import parse
    >>> from harness.core.qrels_and_runs import Qrels, Run
    >>> qrels = Qrels.from_dict({"q": {"a": 0, "b": 1}, "r": {"a": 1}})
    >>> run = Run.from_dict({"q": {"a": 1.0, "b": 1.0}, "r": {"a": 1.0}})
    >>> values, errors = sampled_together(parse("11pt_avg"), align(qrels, run))   # 1 or 1/2; 1
    >>> values[:, 0].round(2).tolist(), errors[:, 0].round(2).tolist()
    ([0.75, 1.0], [0.0, 0.0])
    """
    values = np.empty((aligned.n_queries, len(metrics)))
    for column, metric in enumerate(metrics):
        values[:, column] = metric(aligned)
    errors, tied = np.zeros_like(values), has_ties(aligned)
    orders = n_orders(aligned)
    if (enumerable := tied & (orders > 0)).any():
        values[enumerable] = _mean_of_orders(
            metrics, aligned.of_queries(enumerable), orders[enumerable]
        )
    if not (many := tied & (orders == 0)).any():
        return values, errors
    part = aligned if many.all() else aligned.of_queries(many)
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
    values[many], errors[many] = mean, np.sqrt(squares / ((draws - 1) * draws))
    return values, errors


def _mean_of_orders(metrics: Sequence[Kernel], aligned: Aligned, orders: Ints) -> Floats:
    """Return metrics' means over every order of tied documents, ``(n_queries, n_metrics)``."""
    mean = np.zeros((aligned.n_queries, len(metrics)))
    for number in range(int(orders.max())):
        ordered = reorder(aligned, ("number", number))
        counts = number < orders
        for column, metric in enumerate(metrics):
            step = metric(ordered) - mean[:, column]
            mean[counts, column] += step[counts] / (number + 1)
    return mean


def check_grades(
    qrels: Qrels,
    metrics: Iterable[Metric],
    policy: Policy,
    *,
    place: Callable[[int], str] | None = None,
    among: pa.Array | None = None,
) -> None:
    """Raise InputError for the first judgement that a metric does not accept.

    `place` returns the place of a row of the file, counted from 0, or nothing. Views refuse such
    grades too, but know no documents. If queries may be skipped, only those `among` these qids
    are checked, as the skipped queries may have such grades; without any it is left to views.
    """
    counted: Bools | None = None
    if policy.missing_queries == "skip":
        if among is None:
            return
        counted = np.zeros(qrels.n_queries, dtype=bool)
        counted[qrels.place(among)] = True
    rules: dict[GradeRule, Metric] = {}
    for metric in metrics:
        if metric.reference is None:  # else it looks at two runs and at no judgement
            rules.setdefault(metric.grade_rule(policy.with_settings(metric.settings)), metric)
    for rule, metric in rules.items():
        is_wrong = refused(rule, qrels.numbers)
        if counted is not None:
            is_wrong &= counted[qrels.row]
        wrong = np.flatnonzero(is_wrong)
        if wrong.size:
            in_file = rows_in_file(qrels, wrong)
            earliest = int(in_file.argmin())
            row, source_row = int(wrong[earliest]), int(in_file[earliest])
            where = (place(source_row) if place else "") or _place(qrels, row, source_row)
            grade, swap_fix = qrels.numbers[row].item(), _if_swapped(qrels)
            raise refusal(where, grade, wrong.size, rule, metric, swap_fix)


def check_whole(qrels: Qrels) -> None:
    """Raise InputError if a grade is a fraction, which pytrec_eval cannot take."""
    wrong = np.flatnonzero(refused(GradeRule(), qrels.numbers))
    if wrong.size:
        row = int(wrong[0])
        message = f"pytrec_eval takes whole grades, got {qrels.numbers[row].item()}"
        fix = "round the grades, or call harness.evaluate with a convention that takes fractions"
        fix, where = _if_swapped(qrels) + fix, _place(qrels, row, row)
        raise InputError(Problem(where, message, fix=fix, rule="grade-values"))


_BOUNDED_FIX = "choose another convention, or write labels=clip to move such grades to the bound"


def _if_swapped(qrels: Qrels) -> str:
    """Return the beginning of a fix for grades that may be scores."""
    return "" if qrels.learning_to_rank else "if these are scores, swap qrels and run; else "


def refusal(
    where: str, grade: float, n: int, rule: GradeRule, metric: Metric, if_swapped: str = ""
) -> InputError:
    """Return the error for a grade that a metric does not accept, the first of `n`."""
    fix, accepted = _BOUNDED_FIX, f"{metric} takes {rule.text}"
    if grade != int(grade):
        with_level = metric.with_level(0.5)
        fix = "round the grades, or choose a metric that takes fractions, such as ndcg@10"
        if metric.convention is not None:
            fix = "round the grades, or choose a convention that takes fractions (harness metrics)"
        elif with_level is not None:
            accepted = f"{metric} takes whole grades, unless rel is set"
            fix = f"write {with_level}, or 'relevance_level: 0.5' for all metrics"
        fix = if_swapped + fix
    of_n = f", the first of {n:,}" if n > 1 else ""
    message = f"got the grade {grade if grade != int(grade) else int(grade)}{of_n}, but {accepted}"
    return InputError(Problem(where, message, fix=fix, rule="grade-values"))


def _place(qrels: Qrels, row: int, source_row: int) -> str:
    """Return the place of a judgement, with its row if its document has no name."""
    qid, docno = qrels.qids[int(qrels.row[row])].as_py(), qrels.docnos.take(np.array([row]))[0]
    numbered = qrels.docnos.positional and qrels.n_source is not None
    row_text = f" (row {source_row + 1})" if numbered else ""
    name = f"{qrels.name}: " if qrels.name else ""
    return f"{name}query '{qid}', document '{docno}'{row_text}"


def policies_of(metrics: Iterable[Metric], policy: Policy) -> list[Policy]:
    """Return the policies that metrics are to be computed under, each once.

    They are what `harness.core.align.align` takes as `also`.
    """
    return list(dict.fromkeys(policy.with_settings(metric.settings) for metric in metrics))


def view(aligned: Aligned, policy: Policy) -> Aligned:
    """Return the run under another policy: its grades, its order of ties, its depth.

    It is among those that `harness.core.align.align` was called with. Made once for each
    policy, so that metrics share what they compute. Under ``average`` the
    documents are in any order; metrics look at the groups of ties then.
    """
    if policy == aligned.policy and policy.of_rows and policy.grades == USUAL.grades:
        return aligned

    def make() -> Aligned | None:
        is_same = policy.alignment == aligned.policy.alignment
        viewed = aligned if is_same else aligned.views[policy.alignment]
        viewed = _regraded(viewed, policy.grades)
        if policy.grades.positive_scores:
            viewed = _positive_only(viewed)
        if policy.ties == "average" and not is_cut(viewed, policy):
            viewed = shortened(viewed, policy)
        elif not policy.of_rows and policy.ties != "average":
            tie_order: TieOrder = "best" if policy.ties == "best" else "worst"
            if policy.seed is not None:
                tie_order = ("random", policy.seed)
            viewed = shortened(reorder(viewed, tie_order), policy)
        # An alignment that held itself would stay in memory until garbage is collected.
        return None if viewed is aligned else viewed

    return aligned.memo(("view", policy), make) or aligned


def shortened(aligned: Aligned, policy: Policy) -> Aligned:
    """Return a run after `depth` and `judged_only`, with ordered ties.

    Alignment does that by itself, except for depth if ties are ordered later.
    """
    return aligned if policy.depth is None else first_documents(aligned, policy)


def check_view(aligned: Aligned, metric: Metric, policy: Policy) -> None:
    """Raise InputError if a metric refuses a grade of a run or the length of a list.

    The policy has the metric's settings.
    """
    rule, grades = metric.grade_rule(policy), aligned.ideal.values
    if rule.documents > 1:
        _check_lengths(aligned, rule)
    if (key := ("refused", rule)) not in aligned.memos:
        aligned.memos[key] = np.flatnonzero(refused(rule, grades))
    wrong = aligned.memos[key]
    if wrong.size:
        place = f"query '{aligned.qids[int(aligned.ideal.row[wrong[0]])].as_py()}'"
        raise refusal(place, grades[wrong[0]].item(), wrong.size, rule, metric)


def _regraded(aligned: Aligned, rule: GradeRule) -> Aligned:
    """Apply a rule for grades."""
    grades, of_items = aligned.ideal.values, aligned.grade
    mapped = applied(rule, grades)
    if mapped is grades:
        return aligned
    return _with_grades(aligned, Ragged(aligned.ideal.offsets, mapped), applied(rule, of_items))


def check_lengths(aligned: Aligned, metrics: Iterable[Metric], policy: Policy, file: str) -> None:
    """Raise InputError if a list of a run's file has fewer documents than a metric needs."""
    for metric in metrics:
        rule = metric.grade_rule(policy.with_settings(metric.settings))
        if rule.documents > 1 and metric.reference is None:
            _check_lengths(aligned, rule, file)


def _check_lengths(aligned: Aligned, rule: GradeRule, file: str = "") -> None:
    if rule.few != "error":
        return
    too_short = np.flatnonzero((aligned.n_retrieved < rule.documents) & (aligned.n_retrieved > 0))
    if too_short.size:
        n = aligned.n_retrieved[too_short[0]]
        message = (
            f"expected at least {rule.documents} documents, got {n} ({too_short.size} such queries)"
        )
        fix = "write few=nan to leave such queries out (or few=zero, few=one), or choose another"
        place = Place(file, key=f"query '{aligned.qids[int(too_short[0])].as_py()}'")
        raise InputError(Problem(place, message, fix=f"{fix} convention"))


def _positive_only(aligned: Aligned) -> Aligned:
    """Take documents with a score of 0 or below for not relevant, in the ideal order too.

    The ideal order is that of the retrieved documents, since only they have scores.
    """
    grade = np.where(aligned.score > 0, aligned.grade, np.minimum(aligned.grade, 0))
    ideal = grade[np.lexsort((-grade, aligned.row))]
    return _with_grades(aligned, Ragged(aligned.offsets, ideal), grade)


def _with_grades(aligned: Aligned, ideal: Ragged, grade: Array) -> Aligned:
    return replace(aligned, ideal=ideal, grade=grade, views={})
