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
