"""One run under many policies."""

import math

import pytest

from harness.core.align import align
from harness.core.evaluation import evaluate
from harness.core.names import parse_all
from harness.core.policy import GradeRule, Policy
from harness.core.policy_views import policies_of, view
from harness.core.qrels_and_runs import Qrels, Run
from harness.errors import InputError

QRELS = Qrels.from_dict({"q": {"a": 0, "b": 1, "c": 3}})
RUN = Run.from_dict({"q": {"a": 1.0, "b": 1.0, "c": 1.0}})


def test_metrics_without_a_closed_form_are_means_over_few_orders() -> None:
    metrics = parse_all(["11pt_avg(ties=average)", "11pt_avg"])
    aligned = align(QRELS, RUN, None, policies_of(metrics, Policy()))
    found = evaluate(aligned, metrics)
    # a first: 2/3 at all levels; second: 1 at six levels and 2/3 at five; last: 1
    mean = (2 / 3 + (6 + 5 * 2 / 3) / 11 + 1) / 3
    assert found.values[0, 0] == pytest.approx(mean, abs=1e-12)
    assert found.errors[0].tolist() == [0.0] * len(found.qids)
    assert 1 not in found.errors


def test_settings_of_empty_queries_and_of_undefined_values() -> None:
    qrels = Qrels.from_dict({"q": {"a": 1}, "e": {"a": 0}})
    run = Run.from_dict({"q": {"a": 1.0}, "e": {"a": 1.0}})
    names = [
        "ndcg", "ndcg(empty=one)", "ndcg(empty=nan)", "ndcg(empty=nan,undefined=zero)",
        "ndcg(empty=nan,undefined=nan)", "arp", "arp(empty=zero)",
    ]  # fmt: skip
    found = evaluate(align(qrels, run), parse_all(names)).summary()
    assert list(found) == names
    assert [*found.values()] == [0.5, 1.0, 1.0, 0.5, pytest.approx(math.nan, nan_ok=True), 1, 0.5]


def test_grades_that_a_rule_does_not_accept() -> None:
    aligned = align(QRELS, RUN)
    with pytest.raises(InputError) as caught:
        view(aligned, Policy(grades=GradeRule(0, 1)))
    assert str(caught.value) == (
        "query 'q': got the grade 3, but the metric takes whole grades 0 to 1\n"
        "  fix:   choose another convention, or write labels=clip to move such grades to the bound"
    )
    clipped = view(aligned, Policy(grades=GradeRule(0, 1, act="clip")))
    assert (clipped.grade.tolist(), clipped.ideal.values.tolist()) == ([1, 1, 0], [1, 1, 0])
