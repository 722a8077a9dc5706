"""Every metric under grades that are fractions: by its definition, or refused; never cut off."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses

from harness.core.align import align
from harness.core.evaluation import evaluate
from harness.core.metric import REGISTRY
from harness.core.names import parse
from harness.core.policy import Policy
from harness.core.policy_views import policies_of
from harness.core.qrels_and_runs import Qrels, Run
from harness.errors import InputError

Graded = list[tuple[float, float]]
"""The documents of a query: grade and score."""

POLICIES = [Policy(ties) for ties in ("stable", "average", "best")]
# What a metric looks at tells which whole grades have the same value as the fractions:
ORDER = """arp kendall spearman pearson ndcg mean_ndcg opa pairwise_logloss tau_ap swaps ndcg_rel
    Rndcg ncg judged unjudged num_q num_ret runid"""
"""Order, or ratios, of grades: twice the grade is the same."""
AT_LEAST_1 = """auc rbp map gm_map infAP bpref gm_bpref num_rel num_rel_ret num_nonrel_judged_ret
    binG iprec_at_recall 11pt_avg P recall success relative_P recip_rank Rprec Rprec_mult set_P
    set_recall set_relative_P set_map set_F utility yaap hits"""
"""Whether a grade is at least 1: so it is of the grade without its fraction."""
ORDER_FROM_1 = "rbo ao"
"""The order of the documents with a grade of at least 1."""
DOUBLED = "dcg"
"""Sums of grades: twice the grade has twice the value."""


REFUSED = "alpha_ndcg err_ia relstring"
"""No threshold, and no gain that is a fraction."""


KINDS = {"order": ORDER, "at least 1": AT_LEAST_1, "order from 1": ORDER_FROM_1, "doubled": DOUBLED}


def whole_like(kind: str, grade: float) -> float:
    """Whole grade that is to such a metric what `grade`, a multiple of a half, is."""
    if kind == "at least 1":
        return math.trunc(grade)
    if kind == "order from 1":
        return 2 * grade if grade >= 1 else min(grade, 0)
    return 2 * grade


def stop_exp(grade: float) -> float:
    return (2.0 ** max(grade, 0) - 1) / 2**4


def stopped(rows: Graded, weight: Callable[[int], float]) -> float:
    """Sum over ranks of a rank's weight times R_r times the product of 1 - R above."""
    total, reached = 0.0, 1.0
    for rank, (grade, _) in enumerate(rows, start=1):
        total += reached * stop_exp(grade) * weight(rank)
        reached *= 1 - stop_exp(grade)
    return total


def err(rows: Graded) -> float:
    return stopped(rows, lambda rank: 1 / rank)


def nerr(rows: Graded) -> float:
    best = err(sorted(rows, reverse=True))
    return err(rows) / best if best else 0.0


def pfound(rows: Graded) -> float:
    return stopped(rows, lambda rank: 0.85 ** (rank - 1))


def mse(rows: Graded) -> float:
    judged = [(grade - score) ** 2 for grade, score in rows if grade >= 0]
    return sum(judged) / len(judged) if judged else math.nan


def normalised_gain(rows: Graded) -> float:
    """Gain / log2(2 + cost - gains so far), over all gains; a rank costs at least 1."""
    ideal = sorted((grade for grade, _ in rows if grade > 0), reverse=True)
    total = gains = cost = 0.0
    for place, (grade, _) in enumerate(rows):
        cost += max(ideal[place], 1.0) if place < len(ideal) else 1.0
        gains += max(grade, 0)
        total += max(grade, 0) / math.log2(2 + cost - gains)
    return total / sum(ideal) if ideal else 0.0


LITERAL: dict[str, Callable[[Graded], float]] = {
    "err": err, "nerr": nerr, "pfound": pfound, "mse": mse, "G": normalised_gain,
}  # fmt: skip

HALVES = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
QUERY = st.lists(st.tuples(HALVES, st.integers(0, 6).map(float)), min_size=1, max_size=9)


def tables(queries: list[Graded], seen: Callable[[float], float]) -> tuple[Qrels, Run]:
    """Qrels and run, with each grade as it is `seen`."""
    qrels, run = {}, {}
    for number, rows in enumerate(queries):
        qrels[f"q{number}"] = {f"d{at}": seen(grade) for at, (grade, _) in enumerate(rows)}
        run[f"q{number}"] = {f"d{at}": score for at, (_, score) in enumerate(rows)}
    return Qrels.from_dict(qrels), Run.from_dict(run)


def values(
    name: str, queries: list[Graded], policy: Policy, seen: Callable[[float], float] = float
) -> list[float]:
    metrics = parse(name)
    qrels, run = tables(queries, seen)
    aligned = align(qrels, run, policy, policies_of(metrics, policy))
    found: list[float] = evaluate(aligned, metrics[:1]).values[:, 0].tolist()
    return found


@pytest.mark.parametrize("name", [name for name in REGISTRY if name not in LITERAL])
@settings(max_examples=8)
@given(queries=st.lists(QUERY, min_size=1, max_size=3), policy=st.sampled_from(POLICIES))
def test_every_metric(name: str, queries: list[Graded], policy: Policy) -> None:
    definition = REGISTRY[name]
    level = "(rel=1)" if "rel" in definition.parameters and name != "Rndcg" else ""
    cutoff = "@3" if definition.needs_cutoff and not definition.cutoffs else ""
    if name in ("iprec_at_recall", "P"):  # the first of several
        cutoff = "@0.5" if name == "iprec_at_recall" else "@5"
    spec = f"{name}{level}{cutoff}"
    queries = [*queries, [(0.5, 1.0), (1.5, 2.0), (2.0, 0.0)]]  # one fraction at least

    def of_whole(kind: str) -> Any:
        expected = np.array(values(spec, queries, policy, partial(whole_like, kind)))
        if kind == "doubled":
            expected /= 2
        if name == "Rndcg":  # 0 where nothing is relevant, which takes a grade of at least 1
            expected[[max(grade for grade, _ in rows) < 1 for rows in queries]] = 0
        return pytest.approx(expected.tolist(), abs=1e-12, nan_ok=True)

    if name in REFUSED.split():
        with pytest.raises(InputError) as caught:
            values(spec, queries, policy)
        assert caught.value.problems[0].rule == "grade-values"
        return
    kinds = [kind for kind, names in KINDS.items() if name in names.split()]  # none: a new metric
    assert values(spec, queries, policy) in [of_whole(kind) for kind in kinds or KINDS], (
        "its values under fractions need a formula in LITERAL"
    )


@pytest.mark.parametrize("name", LITERAL)
@given(queries=st.lists(QUERY, min_size=1, max_size=3))
def test_metrics_that_calculate_with_grades(name: str, queries: list[Graded]) -> None:
    queries = [*queries, [(0.5, 1.0), (1.5, 2.0), (2.0, 0.0)]]
    ranked = [sorted(rows, key=lambda row: -row[1]) for rows in queries]
    expected = [LITERAL[name](rows) for rows in ranked]
    assert values(name, queries, POLICIES[0]) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", ["ndcg", "ndcg_rel", "Rndcg", "G"])
def test_gains_by_grade_take_whole_grades(name: str) -> None:
    with refuses(f"{name}(gains=1:3): query 'q0'", "grade-values"):
        values(f"{name}(gains=1:3)", [[(0.5, 1.0)]], POLICIES[0])


def test_numbers_stay_small_where_they_are_whole() -> None:
    whole = Qrels.from_dict({"q": {"a": 1.0, "b": 2.0}})
    assert whole.numbers.dtype == np.int32
    assert Qrels.from_dict({"q": {"a": 0.5, "b": 2.0}}).numbers.dtype == np.float64
