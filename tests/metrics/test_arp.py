"""Average relevant position, by hand."""

from __future__ import annotations

import numpy as np

import harness.metrics  # noqa: F401
from harness.core.align import align
from harness.core.evaluate import evaluate
from harness.core.names import parse_all
from harness.core.tables import Qrels, Run
from harness.metrics.arp import arp


def test_by_hand() -> None:
    qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 3, "d": -1}})
    run = Run.from_dict({"q": {"d": 9.0, "a": 3.0, "b": 2.0, "c": 1.0}})
    # a at rank 2, c at rank 4: (1 * 2 + 3 * 4) / (1 + 3) = 14 / 4
    assert arp(align(qrels, run)).tolist() == [3.5]


def test_unjudged_documents_take_up_ranks() -> None:
    qrels = Qrels.from_dict({"q": {"a": 2, "missed": 1}})
    run = Run.from_dict({"q": {"x": 9.0, "y": 8.0, "a": 3.0}})
    assert arp(align(qrels, run)).tolist() == [3.0]


def test_undefined_without_relevant_documents() -> None:
    qrels = Qrels.from_dict({"none": {"a": 0}, "missed": {"b": 1}, "unanswered": {"c": 1}})
    run = Run.from_dict({"none": {"a": 1.0}, "missed": {"a": 1.0}})
    assert np.isnan(arp(align(qrels, run))).all()
    evaluation = evaluate(align(qrels, run), parse_all(["arp"]))
    assert evaluation.n() == {"arp": 0}


def test_mean_over_grades() -> None:
    qrels = Qrels.from_dict({"p": {"a": 1, "b": 0}, "q": {"a": 0, "b": 2, "c": 1}})
    run = Run.from_dict({"p": {"a": 2.0, "b": 1.0}, "q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    # p: 1; q: (2 * 2 + 1 * 3) / 3 = 7/3; over grades (1 * 1 + 3 * 7/3) / 4 = 2
    evaluation = evaluate(align(qrels, run), parse_all(["arp", "arp(over=grades)"]))
    assert evaluation.values[:, 1].tolist() == [1.0, 7 / 3]
    assert evaluation.summary() == {"arp": (1 + 7 / 3) / 2, "arp(over=grades)": 2.0}


def test_grades_below_zero_as_weights() -> None:
    qrels = Qrels.from_dict({"q": {"a": 1, "b": -1, "c": 2}, "zero": {"a": 1, "b": -1}})
    run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "zero": {"a": 2.0, "b": 1.0}})
    # (1 * 1 - 1 * 2 + 2 * 3) / (1 - 1 + 2)
    values = arp(align(qrels, run), negative="value")
    assert values[0] == 2.5
    assert np.isnan(values[1])
