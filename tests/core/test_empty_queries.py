"""Queries without relevant documents, which each metric recognises in its own sense."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from refusals import refuses

from harness.core.align import align
from harness.core.evaluation import Counts, Evaluation, evaluate
from harness.core.metric import REGISTRY, Metric, metric
from harness.core.names import parse
from harness.core.policy import GradeRule, Policy
from harness.core.policy_views import policies_of
from harness.core.qrels_and_runs import Qrels, Run
from harness.core.settings import CONVENTIONS
from harness.errors import AlignmentError, UnknownNameError

GRADES = {
    "10": {"a": 0.3, "b": 0.0}, "2": {"a": 0.7, "b": 0.2}, "1": {"a": 0.0, "b": 0.0},
    "7": {"a": 1.0, "b": 0.5}, "3": {"b": 0.5, "a": 0.0, "c": 0.0}, "5": {"a": 0.6, "b": 0.0},
}  # fmt: skip
SCORES = {  # none for "5"; what is relevant to "2" has a score below 0
    "2": {"a": -1.0, "b": 2.0}, "10": {"a": 1.0, "b": 2.0}, "7": {"a": 1.0, "b": 2.0},
    "1": {"b": 1.0, "a": 2.0}, "3": {"c": 3.0, "a": 2.0, "b": 1.0},
}  # fmt: skip


def values(grades: dict[str, dict[str, float]], metrics: list[str], empty: str) -> Evaluation:
    wanted = [one for name in metrics for one in parse(name)]
    policy = Policy(empty_queries=empty)  # type: ignore[arg-type]
    qrels, run = Qrels.from_dict(grades), Run.from_dict(SCORES)
    return evaluate(align(qrels, run, policy, policies_of(wanted, policy)), wanted)


def is_relevant(of: Metric, grade: float) -> bool:
    rule, given = of.settings.grades or GradeRule(), dict(of.params)
    if rule.truncate:
        grade = math.trunc(grade)
    if given.get("target") == "largest":
        return grade > 0
    if given.get("above") is not None:
        return grade > given["above"]
    if "rel" in of.definition.parameters:
        return grade >= given.get("rel", 1)
    return grade > 0 and grade >= given.get("floor", 0)


def with_fractions() -> Iterator[Metric]:
    """Metrics of all conventions that take fractions or cut them off."""
    for convention in CONVENTIONS.values():
        for name in convention.metrics:
            try:
                found = parse(f"{name}(convention={convention.name})")
            except UnknownNameError:
                found = parse(f"{name}(convention={convention.name})@2")
            rule = found[0].settings.grades
            if rule is not None and rule.fractions and found[0].has_empty_queries:
                yield found[0]


FRACTIONAL = {str(one): one for one in with_fractions()}


def test_tools_that_take_fractions_are_here() -> None:
    tools = {one.convention for one in FRACTIONAL.values()}
    assert {"sklearn", "catboost", "torchmetrics", "ranklib", "trec_eval9"} <= tools


@pytest.mark.parametrize("name", FRACTIONAL)
def test_fractions(name: str) -> None:
    of = FRACTIONAL[name]
    empty = {
        qid for qid, row in GRADES.items() if not any(is_relevant(of, one) for one in row.values())
    }
    assert values(GRADES, [name], "zero").counts.empty == len(empty)
    with refuses("", "refused-empty-queries", AlignmentError) as caught:
        values(GRADES, [name], "error")
    verb = "query has" if len(empty) == 1 else "queries have"
    assert str(caught.value).startswith(f"{len(empty)} {verb} no relevant document")
    rest = {qid: row for qid, row in GRADES.items() if qid not in empty}
    assert values(rest, [name], "error").counts.empty == 0
    rule = of.settings.grades
    if (
        of.settings.empty is None
        and of.definition.empty == 0
        and not (rule and rule.positive_scores)
    ):
        found = values(GRADES, [name], "skip").to_dict()
        assert {qid for qid, row in found.items() if math.isnan(row[name])} == empty


@pytest.mark.parametrize(
    ("name", "expected"),
    [  # grades of queries 10, 2, 1, 7, 3 and 5 in order
        ("map(rel=1)", [True, True, True, False, True, True]),
        ("recip_rank(above=0.3)", [True, False, True, False, False, False]),
        ("P(above=0.5)@2", [True, False, True, False, True, False]),
        ("map(above=0,top=1)", [False, False, True, False, False, False]),
        ("ndcg(floor=0.6)", [True, False, True, False, True, False]),
    ],
)
def test_own_senses(name: str, expected: list[bool]) -> None:
    (of,) = parse(name)
    policy = Policy(grades=GradeRule(whole=False))
    aligned = align(Qrels.from_dict(GRADES), Run.from_dict(SCORES), policy)
    assert of.empty_queries(aligned).tolist() == expected


def test_metrics_of_several_senses_are_counted_apart() -> None:
    names = [
        "ndcg(convention=sklearn)", "map(convention=trec_eval9)", "num_ret(convention=trec_eval9)",
    ]  # fmt: skip
    counts = values(GRADES, names, "zero").counts
    assert (counts.empty, dict(counts.empty_by_metric)) == (5, {names[0]: 1, names[1]: 5})
    assert counts.as_dict().keys() == Counts().as_dict().keys()
    alike = values(GRADES, [names[0], "recip_rank(convention=ranklib)"], "zero").counts
    assert (alike.empty, dict(alike.empty_by_metric)) == (1, {})


def test_counts_of_parts_are_added() -> None:
    one, other = Counts(queries=3, empty=2, empty_by_metric={"map": 1}), Counts(queries=4, empty=3)
    both = Counts.combined([one, other], sum)
    assert (both.queries, both.empty, dict(both.empty_by_metric)) == (7, 5, {"map": 4})
    assert Counts.combined([one, other], max).empty_of("map") == 3


def test_a_metric_declares_its_own_sense() -> None:
    @metric(
        "first_only", direction="higher", bounds=(0, 1), source="this test",
        empty_of=lambda aligned, **_: aligned.ideal.lengths < 3,
    )  # fmt: skip
    def first_only(aligned):  # type: ignore[no-untyped-def]
        """Grade of the first document."""
        return aligned.sum(aligned.grade * (aligned.rank == 1))

    try:
        grades = {"2": {"a": 1, "b": 1}, "3": {"a": 0, "b": 0, "c": 0}}
        found = values(grades, ["first_only", "P@1"], "skip")
        assert np.isnan(found.values).tolist() == [[True, False], [False, True]]
        assert dict(found.counts.empty_by_metric) == {"first_only": 1, "P@1": 1}
        assert found.counts.empty == 2
    finally:
        del REGISTRY["first_only"]
