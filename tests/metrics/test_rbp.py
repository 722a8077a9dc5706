"""Rank-biased precision and its residual, by hand."""

from __future__ import annotations

import pytest

from harness.core.align import align
from harness.core.evaluate import evaluate
from harness.core.names import parse, parse_all
from harness.core.tables import Qrels, Run
from harness.errors import InputError, UnknownNameError
from harness.metrics.rbp import rbp

# ranks: a (grade 2), x (unjudged), b (0), c (1), p (in the pool, not judged)
QRELS = Qrels.from_dict({"q": {"a": 2, "b": 0, "c": 1, "p": -1, "missed": 3}})
RUN = Run.from_dict({"q": {"a": 5.0, "x": 4.0, "b": 3.0, "c": 2.0, "p": 1.0}})
ALIGNED = align(QRELS, RUN)


def test_binary() -> None:
    # .5 (1 + .5^3)
    assert rbp(ALIGNED, p=0.5).tolist() == [0.5625]
    assert rbp(ALIGNED, p=0.5, cutoff=3).tolist() == [0.5]
    assert rbp(ALIGNED, p=0.5, rel=2).tolist() == [0.5]
    assert rbp(ALIGNED, p=0.5, rel=3).tolist() == [0.0]


def test_graded() -> None:
    # .5 (2/4 + .5^3 / 4)
    assert rbp(ALIGNED, p=0.5, gain="linear").tolist() == [0.265625]
    # gains 3/7 and 1/7: .5 (3/7 + .5^3 / 7)
    expected = 0.5 * (3 / 7 + 1 / 56)
    found = rbp(ALIGNED, p=0.5, gain="exp", max_grade=3).tolist()
    assert found == [pytest.approx(expected, abs=1e-15)]


def test_scaled_by_the_largest_grade_of_the_query() -> None:
    # 3 was missed: .5 (2/3 + .5^3 / 3); a query with grades 0 and 1 keeps them
    qrels = Qrels.from_dict({"q": QRELS.to_dict()["q"], "low": {"a": 1}, "none": {"a": 0}})
    aligned = align(qrels, Run.from_dict(dict.fromkeys(["q", "low", "none"], RUN.to_dict()["q"])))
    values = rbp(aligned, p=0.5, gain="linear", max_grade=None).tolist()
    assert values == [pytest.approx(0.5 * (2 / 3 + 1 / 24), abs=1e-15), 0.5, 0.0]


def test_residual() -> None:
    # x at rank 2: .5 * .5; p at rank 5: .5 * .5^4; beyond rank 5: .5^5
    assert rbp(ALIGNED, p=0.5, form="residual").tolist() == [0.25 + 1 / 32 + 1 / 32]
    # x, and all beyond rank 3: .5^3
    assert rbp(ALIGNED, p=0.5, form="residual", cutoff=3).tolist() == [0.25 + 0.125]
    # a cutoff beyond the list changes nothing
    assert rbp(ALIGNED, p=0.5, form="residual", cutoff=9).tolist() == [0.3125]


def test_upper_is_value_and_residual() -> None:
    assert rbp(ALIGNED, p=0.5, form="upper").tolist() == [0.5625 + 0.3125]
    # c weighs .5^4: with b it is all that is known not to gain the most
    assert rbp(ALIGNED, p=0.5, form="upper", cutoff=3).tolist() == [0.875]


def test_queries_without_an_answer_or_relevant_documents() -> None:
    qrels = Qrels.from_dict({"none": {"a": 0}, "unanswered": {"a": 1}})
    aligned = align(qrels, Run.from_dict({"none": {"a": 1.0}}))
    names = ["rbp(p=0.5)", "rbp(p=0.5,form=residual)"]
    evaluation = evaluate(aligned, parse_all(names))
    # a at rank 1 is judged: half of the weight is beyond; without an answer all of it is open
    assert evaluation.values.tolist() == [[0.0, 0.5], [0.0, 1.0]]


def test_a_grade_above_the_largest() -> None:
    with pytest.raises(InputError, match="a grade of 3 is above max_grade=2; give max_grade=3"):
        rbp(ALIGNED, gain="linear", max_grade=2)
    assert rbp(ALIGNED, p=0.5, max_grade=2).tolist() == [0.5625]  # binary gains have no scale


def test_names() -> None:
    assert str(parse("rbp")[0]) == "rbp(p=0.8)"
    assert str(parse("RBP(p=0.5)@10")[0]) == "rbp(p=0.5)@10"
    assert str(parse("RBP(rel=2)")[0]) == "rbp(p=0.8,rel=2)"
    with pytest.raises(UnknownNameError, match=r"p must lie in \(0, 1\), and is 1"):
        parse("rbp(p=1)")
