"""A slow and literal evaluation in plain Python, to hold the harness against.

It shares nothing with the harness: judgements are ``{qid: {docno: grade}}``, a run is
``{qid: [(docno, score), ...]}`` in the order of its file, and every formula is written out as
docs/reference/metrics.md has it. Ties that no rule orders are settled by trying every order.
"""

import itertools
import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

NAN = math.nan
MOST_ORDERS = 150
"""A query whose ties allow more orders is not checked where all orders count."""

Grades = dict[str, int]
Judgements = dict[str, Grades]
Scored = list[tuple[str, float]]
Ranking = list[str]


@dataclass
class Query:
    ranking: Ranking
    grades: Grades
    scores: dict[str, float]
    rel: int

    def grade(self, docno: str) -> int:
        return self.grades.get(docno, -1)

    def is_relevant(self, docno: str) -> bool:
        return docno in self.grades and self.grades[docno] >= self.rel

    @property
    def n_relevant(self) -> int:
        return sum(grade >= self.rel for grade in self.grades.values())

    @property
    def judged(self) -> Ranking:
        return [docno for docno in self.ranking if self.grade(docno) >= 0]


def average_precision(query: Query, k: int | None) -> float:
    hits, total = 0, 0.0
    for rank, docno in enumerate(query.ranking[:k], 1):
        if query.is_relevant(docno):
            hits += 1
            total += hits / rank
    return total / query.n_relevant if query.n_relevant else 0.0


def reciprocal_rank(query: Query, k: int | None) -> float:
    for rank, docno in enumerate(query.ranking[:k], 1):
        if query.is_relevant(docno):
            return 1 / rank
    return 0.0


def hits(query: Query, k: int | None) -> int:
    return sum(query.is_relevant(docno) for docno in query.ranking[:k])


def precision(query: Query, k: int | None) -> float:
    assert k
    return hits(query, k) / k


def recall(query: Query, k: int | None) -> float:
    return hits(query, k) / query.n_relevant if query.n_relevant else 0.0


def linear(grade: int) -> float:
    return max(grade, 0)


def exponential(grade: int) -> float:
    return 2 ** max(grade, 0) - 1


def ncg(query: Query, k: int | None, gain: Callable[[int], float] = linear) -> float:
    best = sum(map(gain, sorted(query.grades.values(), reverse=True)[:k]))
    return sum(gain(query.grade(docno)) for docno in query.ranking[:k]) / best if best else 0.0


def discounted(grades: list[int], gain: Callable[[int], float], k: int | None) -> float:
    return sum(gain(grade) / math.log2(rank + 1) for rank, grade in enumerate(grades[:k], 1))


def dcg(query: Query, k: int | None, gain: Callable[[int], float] = linear) -> float:
    return discounted([query.grade(docno) for docno in query.ranking], gain, k)


def ndcg(query: Query, k: int | None, gain: Callable[[int], float] = linear) -> float:
    best = discounted(sorted(query.grades.values(), reverse=True), gain, k)
    return dcg(query, k, gain) / best if best else 0.0


def swaps(query: Query, k: int | None) -> float:
    pairs = itertools.combinations(query.judged, 2)
    wrong = sum(query.grade(above) < query.grade(below) for above, below in pairs)
    return float(wrong) if query.judged else NAN


def arp(query: Query, k: int | None) -> float:
    weights = [linear(query.grade(docno)) for docno in query.ranking]
    ranks = range(1, len(weights) + 1)
    total = sum(weights)
    return sum(w * r for w, r in zip(weights, ranks, strict=True)) / total if total else NAN


def share_judged(query: Query, k: int | None) -> float:
    first = query.ranking[:k]
    return sum(query.grade(docno) >= 0 for docno in first) / len(first) if first else NAN


def mean_squared_error(query: Query, k: int | None) -> float:
    errors = [(query.grade(docno) - query.scores[docno]) ** 2 for docno in query.judged]
    return sum(errors) / len(errors) if errors else NAN


class Formula(NamedTuple):
    """A metric: its formula, and what docs/reference/metrics.md says about it."""

    value: Callable[[Query, int | None], float]
    k: int | None = None
    missing: float | None = 0.0  # None: the formula's own value for an empty list
    has_rel: bool = True
    in_unit: bool = True  # in [0, 1]
    relevance: bool = True  # a query without relevant documents is a special case
    higher: bool = True
    total: bool = False  # a sum over queries, not a mean
    bounded: bool = True  # ties=best and worst give the extreme values


def pairs_and_positions(value: Callable[[Query, int | None], float]) -> Formula:
    return Formula(value, missing=NAN, has_rel=False, in_unit=False, higher=False)


def count(value: Callable[[Query], int], has_rel: bool = True) -> Formula:
    return Formula(
        lambda query, k: float(value(query)), missing=None, has_rel=has_rel, in_unit=False,
        relevance=False, total=True,
    )  # fmt: skip


METRICS: dict[str, Formula] = {
    "map": Formula(average_precision),
    "map@3": Formula(average_precision, 3),
    "recip_rank": Formula(reciprocal_rank),
    "P@1": Formula(precision, 1),
    "P@5": Formula(precision, 5),
    "recall@3": Formula(recall, 3),
    "hits@3": Formula(hits, 3, in_unit=False),
    "ncg@2": Formula(ncg, 2, has_rel=False),
    "ncg(gain=exp)@5": Formula(partial(ncg, gain=exponential), 5, has_rel=False),
    "ndcg": Formula(ndcg, has_rel=False),
    "ndcg@4": Formula(ndcg, 4, has_rel=False),
    "ndcg(gain=exp)@3": Formula(partial(ndcg, gain=exponential), 3, has_rel=False),
    "dcg": Formula(dcg, has_rel=False, in_unit=False),
    "swaps": pairs_and_positions(swaps),
    "arp": pairs_and_positions(arp),
    "mse": pairs_and_positions(mean_squared_error)._replace(relevance=False),
    "judged@2": Formula(
        share_judged, 2, missing=None, has_rel=False, relevance=False, bounded=False
    ),
    "num_ret": count(lambda query: len(query.ranking), has_rel=False),
    "num_rel": count(lambda query: query.n_relevant),
    "num_rel_ret": count(lambda query: hits(query, None)),
}


def with_level(metric: str, level: int) -> str:
    """Metric's name with the smallest relevant grade, as the harness prints it."""
    if level == 1 or not METRICS[metric].has_rel:
        return metric
    name, at, k = metric.partition("@")
    inside = f"{name[:-1]},rel={level})" if name.endswith(")") else f"{name}(rel={level})"
    return inside + at + k


FORMULAS = {
    with_level(name, level): formula for name, formula in METRICS.items() for level in (1, 2)
}
"""The formulas by every name that is printed."""


@dataclass(frozen=True)
class Choices:
    """The policies in force, by the names of docs/reference/config.md."""

    ties: str = "trec_eval"
    missing_queries: str = "zero"
    empty_queries: str = "zero"
    depth: int | None = None
    judged_only: bool = False
    relevance_level: int | None = None

    @property
    def tries_orders(self) -> bool:
        return self.ties in ("average", "best", "worst") or self.ties.startswith("random")


def single(number: float) -> float:
    return float(struct.unpack("f", struct.pack("f", number))[0])


def groups_of(scored: Scored, ties: str) -> list[Ranking]:
    """Documents by falling score, those that share one in a list."""
    compared = single if ties in ("trec_eval", "bounds") else float
    by_score: dict[float, Ranking] = {}
    for docno, score in scored:
        by_score.setdefault(compared(score), []).append(docno)
    return [by_score[score] for score in sorted(by_score, reverse=True)]


def orders_of(scored: Scored, ties: str) -> Iterator[Ranking]:
    """Every order of the documents that the policy allows."""
    groups = groups_of(scored, ties)
    if ties in ("trec_eval", "trec_eval10", "bounds"):
        groups = [sorted(group, key=str.encode, reverse=True) for group in groups]
    elif ties == "docno+":
        groups = [sorted(group, key=str.encode) for group in groups]
    elif ties == "reverse":
        groups = [group[::-1] for group in groups]
    elif ties != "stable":
        each = [list(itertools.permutations(group)) for group in groups]
        yield from (list(itertools.chain(*order)) for order in itertools.product(*each))
        return
    yield list(itertools.chain(*groups))


def n_orders(scored: Scored, ties: str) -> int:
    return math.prod(math.factorial(len(group)) for group in groups_of(scored, ties))


@dataclass
class Span:
    """Bounds for a value that the policy does not fix."""

    low: float
    high: float
    may_be_nan: bool = False


@dataclass
class Expected:
    """What an evaluation must give: a value (or a Span, or None: unchecked) a query and metric."""

    values: dict[str, dict[str, float | Span | None]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    error: str = ""

    def summary(self, metric: str) -> tuple[float | None, int | None]:
        """Mean (or sum) over queries whose value is defined, and their number."""
        column = [row[metric] for row in self.values.values()]
        numbers = [value for value in column if isinstance(value, float)]
        if len(numbers) < len(column):
            return None, None
        defined = [value for value in numbers if not math.isnan(value)]
        total = math.fsum(defined)
        if FORMULAS[metric].total:
            return total, len(defined)
        return total / len(defined) if defined else NAN, len(defined)


def cut(order: Ranking, grades: Grades, choices: Choices) -> Ranking:
    """Part of a ranking that the policies leave: depth first, as trec_eval does."""
    order = order[: choices.depth]
    return [d for d in order if grades.get(d, -1) >= 0] if choices.judged_only else order


def level_of(formula: Formula, choices: Choices) -> int:
    return (choices.relevance_level or 1) if formula.has_rel else 1


def value_of(
    formula: Formula, grades: Grades, scored: Scored, choices: Choices
) -> float | Span | None:
    if choices.tries_orders and n_orders(scored, choices.ties) > MOST_ORDERS:
        return None
    level, scores = level_of(formula, choices), dict(scored)
    found = [
        float(formula.value(Query(cut(order, grades, choices), grades, scores, level), formula.k))
        for order in orders_of(scored, choices.ties)
    ]
    defined = [value for value in found if not math.isnan(value)]
    if not defined:
        return NAN
    if len(defined) == len(found) and max(found) - min(found) < 1e-12:
        return found[0]
    span = Span(min(defined), max(defined), len(defined) < len(found) or choices.depth is not None)
    if choices.ties.startswith("random") or choices.depth is not None or span.may_be_nan:
        return span
    if choices.ties == "average":
        return sum(found) / len(found)
    if not formula.bounded:
        return span
    return span.high if (choices.ties == "best") == formula.higher else span.low


def evaluate(
    judgements: Judgements, run: dict[str, Scored], metrics: list[str], choices: Choices
) -> Expected:
    expected = Expected()
    expected.missing = [qid for qid in judgements if qid not in run]
    expected.extra = [qid for qid in run if qid not in judgements]
    skips = choices.missing_queries == "skip"
    queries = [qid for qid in judgements if qid in run or not skips]
    formulas = [METRICS[metric] for metric in metrics]
    level = max((level_of(one, choices) for one in formulas if one.relevance), default=1)

    def is_empty(qid: str, level: int) -> bool:
        return not any(grade >= level for grade in judgements[qid].values())

    empty = [qid for qid in queries if is_empty(qid, level)]
    if len(expected.missing) == len(judgements):
        expected.error = "no common query"
    elif expected.missing and choices.missing_queries == "error":
        expected.error = "missing queries"
    elif empty and choices.empty_queries == "error":
        expected.error = "empty queries"
    for qid in queries:
        grades, row = judgements[qid], {}
        for name in metrics:
            formula = METRICS[name]
            is_special = formula.relevance and is_empty(qid, level_of(formula, choices))
            value: float | Span | None
            if is_special and choices.empty_queries == "skip":
                value = NAN
            elif qid not in run and formula.missing is not None:
                value = formula.missing
            elif is_special and choices.empty_queries == "one" and formula.in_unit:
                value = 1.0
            else:
                value = value_of(formula, grades, run.get(qid, []), choices)
            row[with_level(name, level_of(formula, choices))] = value
        expected.values[qid] = row

    answered = [qid for qid in judgements if qid in run]
    firsts = {
        qid: cut(next(orders_of(run[qid], choices.ties)), judgements[qid], choices)
        for qid in answered
    }
    expected.counts = {
        "queries": len(queries),
        "missing": len(expected.missing),
        "extra": len(expected.extra),
        "empty": len(empty),
        "judgements": sum(grade >= 0 for qid in queries for grade in judgements[qid].values()),
        "tied": sum(
            len(group)
            for qid in answered
            for group in groups_of(run[qid], choices.ties)
            if len(group) > 1
        ),
    }
    if not choices.tries_orders:  # else it can depend on the order
        expected.counts["retrieved"] = sum(map(len, firsts.values()))
        expected.counts["judged"] = sum(
            judgements[qid].get(docno, -1) >= 0 for qid in answered for docno in firsts[qid]
        )
    return expected
