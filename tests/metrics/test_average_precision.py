"""Denominators, thresholds and short lists of map, P and recip_rank, by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import harness.metrics
from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.names import parse
from harness.core.policy import Policy
from harness.core.ragged import Ragged
from harness.core.tables import Qrels, Run
from harness.errors import InputError

assert harness.metrics

# rank    1  2  3  4  5
# docno   a  b  c  x  d      not retrieved: e
# grade   0  1  3  -  2                     1
# R = 4 relevant, 3 of them retrieved, 5 retrieved
QRELS = Qrels.from_dict({"q": {"a": 0, "b": 1, "c": 3, "d": 2, "e": 1}})
RUN = Run.from_dict({"q": {"a": 5.0, "b": 4.0, "c": 3.0, "x": 2.0, "d": 1.0}})
SUM = 1 / 2 + 2 / 3 + 3 / 5

VALUES = {
    "map": SUM / 4,
    "map@3": (1 / 2 + 2 / 3) / 4,
    "map(denominator=cutoff)": SUM / 4,  # no cutoff, no smaller than R
    "map(denominator=cutoff)@3": (1 / 2 + 2 / 3) / 3,
    "map(denominator=list)@10": SUM / 4,  # min(4, 10, 5)
    "map(denominator=list)@2": 1 / 2 / 2,
    "map(denominator=hits)@3": (1 / 2 + 2 / 3) / 2,
    "map(denominator=hits)": SUM / 3,
    "map(denominator=hits)@1": 0.0,
    "map(denominator=grades)@3": (1 / 2 + 2 / 3) / (3 + 2 + 1),
    "map(denominator=grades)": SUM / 7,
    "map(none_found=1)@1": 1.0,
    "map(none_found=1)@2": 1 / 2 / 4,
    "map(rel=2)": (1 / 3 + 2 / 5) / 2,
    "map(above=1.5)": (1 / 3 + 2 / 5) / 2,
    "map(above=0)": SUM / 4,
    "map(top=2)": (1 / 2 + 2 / 5) / 3,  # b, d and e
    "map(rel=2,top=2)": 1 / 5,
    "map(short=zero)@6": 0.0,
    "map(short=zero)@5": SUM / 4,
    "map(short=nan)@6": math.nan,
    "P@4": 2 / 4,
    "P@10": 3 / 10,
    "P(denominator=list)@10": 3 / 5,
    "P(denominator=list)@4": 2 / 4,
    "P(above=1.5)@5": 2 / 5,
    "P(top=2)@5": 2 / 5,
    "P(short=zero)@6": 0.0,
    "P(short=nan)@6": math.nan,
    "P(short=nan)@5": 3 / 5,
    "recip_rank": 1 / 2,
    "recip_rank(above=1)": 1 / 3,
    "recip_rank(rel=2,top=2)": 1 / 5,
    "recip_rank(target=largest)": 1 / 3,
    "recip_rank(target=largest)@2": 0.0,
}


@pytest.mark.parametrize("name", VALUES)
def test_worked_example(name: str) -> None:
    (metric,) = parse(name)
    assert str(metric) == name
    value = metric(align(QRELS, RUN)).item()
    assert value == pytest.approx(VALUES[name], rel=1e-15, nan_ok=True)


def test_aliases_with_a_cutoff() -> None:
    names = ["recip_rank@10", "RR@10", "rr@10", "MRR@10", "mrr@10"]
    assert {str(parse(name)[0]) for name in names} == {"recip_rank@10"}
    assert {str(parse(name)[0]) for name in ("rr", "mrr", "RR", "MRR")} == {"recip_rank"}


def test_tied_scores_that_count_together() -> None:
    # a alone; b and c tied at ranks 2 and 3; d last. Relevant: a, c, d.
    # a 1/1, c at the end of its group 2/3, d 3/4
    qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 1, "d": 1}})
    run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}})
    together, apart = parse("map(tied=together)")[0], parse("map")[0]
    for ties in ("trec_eval", "stable"):
        value = together(align(qrels, run, Policy(ties=ties))).item()
        assert value == pytest.approx((1 + 2 / 3 + 3 / 4) / 3, rel=1e-15)
    assert apart(align(qrels, run, Policy(ties="stable"))).item() == value  # b is first
    assert apart(align(qrels, run)).item() == pytest.approx((1 + 1 + 3 / 4) / 3, rel=1e-15)
    # two relevant ones tied: both have 2/2
    both = align(Qrels.from_dict({"q": {"a": 1, "b": 1}}), Run.from_dict({"q": {"a": 1, "b": 1}}))
    assert together(both).tolist() == [1.0]


def halves(aligned: Aligned) -> Aligned:
    ideal = Ragged(aligned.ideal.offsets, aligned.ideal.values / 2)
    return replace(aligned, grade=aligned.grade / 2, ideal=ideal, _memo={})


def test_thresholds_between_whole_grades() -> None:
    # grades 0, 0.5, 1.5, -, 1 and 0.5 not retrieved
    aligned = halves(align(QRELS, RUN))
    assert parse("map(above=0.5)")[0](aligned).item() == pytest.approx((1 / 3 + 2 / 5) / 2)
    assert parse("map(above=0)")[0](aligned).item() == pytest.approx(SUM / 4)
    assert parse("P(above=0.5)@3")[0](aligned).tolist() == [1 / 3]
    assert parse("recip_rank(above=0)")[0](aligned).tolist() == [1 / 2]
    assert parse("recip_rank(target=largest)")[0](aligned).tolist() == [1 / 3]


def test_nothing_is_the_largest_grade_of_a_list_without_relevant_documents() -> None:
    aligned = align(Qrels.from_dict({"q": {"a": 0}}), Run.from_dict({"q": {"a": 1.0}}))
    assert parse("recip_rank(target=largest)")[0](aligned).tolist() == [0.0]


def test_several_queries_stay_apart() -> None:
    rng = np.random.default_rng(5)
    qrels = {f"q{i}": {f"d{j}": int(rng.integers(-1, 5)) for j in range(9)} for i in range(40)}
    run = {q: {d: float(rng.integers(0, 5)) for d in row if rng.random() < 0.8}
           for q, row in qrels.items()}  # fmt: skip
    names = [
        "map(denominator=cutoff)@3", "map(denominator=list)@8", "map(denominator=hits)@4",
        "map(denominator=grades)@4", "map(above=1)", "map(top=2)", "map(tied=together)",
        "P(denominator=list,top=3)@7", "recip_rank(target=largest)", "recip_rank(above=2)@3",
    ]  # fmt: skip
    whole = align(Qrels.from_dict(qrels), Run.from_dict(run))
    for name in names:
        (metric,) = parse(name)
        alone = [
            metric(align(Qrels.from_dict({q: qrels[q]}), Run.from_dict({q: run[q]}))).item()
            for q in qrels
        ]
        assert metric(whole).tolist() == alone, name


@pytest.mark.parametrize("name", ["map(short=error)@6", "P(short=error)@6"])
def test_short_lists_can_be_an_error(name: str) -> None:
    with pytest.raises(InputError) as error:
        parse(name)[0](align(QRELS, RUN))
    assert str(error.value) == (
        "1 of 1 lists have fewer than 6 documents: q\n"
        "  fix:   take a smaller cutoff, or write short=cut, short=nan or short=zero"
    )


@pytest.mark.parametrize("name", ["map(denominator=hits)@3", "map(none_found=1)@3"])
def test_what_has_no_expectation_in_closed_form(name: str) -> None:
    (metric,) = parse(name)
    assert callable(metric.definition.expected)
    assert metric.definition.expected(align(QRELS, RUN), **metric.arguments()) is None
