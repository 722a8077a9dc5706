"""Scores that are a function of the grades."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.core.align import align_parts
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.errors import Finding
from harness.guard.facts import Facts, JudgementFacts, RunFacts, Watch


def facts_of(qrels: Qrels, scores: Any) -> RunFacts:
    run, watch = Run.for_rows(qrels, np.ravel(scores)), Watch(qrels, Policy())
    for part in run.parts(64):
        watch.run(part)
    for aligned in align_parts(qrels, run, size=64):
        watch.aligned(aligned)
    found = watch.facts()
    assert found is not None
    return found


def labels_in(grades: Any, scores: Any) -> list[Finding]:
    judged = {f"q{q}": {f"d{d}": g for d, g in enumerate(row.tolist())} for q, row in
              enumerate(grades)}  # fmt: skip
    qrels = Qrels.from_dict(judged, fractions=True)
    facts = Facts(JudgementFacts.of(qrels), facts_of(qrels, scores))
    return [one for one in facts.findings("r") if one.rule == "labels-as-scores"]


@pytest.mark.parametrize(
    ("clothes", "fires"),
    [
        (lambda grades, noise: grades, True),
        (lambda grades, noise: -grades, True),
        (lambda grades, noise: 2.0**grades - 1, True),
        (lambda grades, noise: grades > 2, True),
        (lambda grades, noise: grades + 0.001 * noise, False),
        (lambda grades, noise: noise, False),
        (lambda grades, noise: 0 * grades + 7, False),
    ],
)
def test_labels_in_other_clothes(clothes: Any, fires: bool) -> None:
    random = np.random.default_rng(5)
    grades = random.integers(0, 5, (30, 12))
    grades[:, :2] = 0, 4
    found = labels_in(grades, 1.0 * clothes(grades, random.normal(size=grades.shape)))
    assert [one.severity for one in found] == ["error"] * fires
    for one in found:
        assert len(one.examples) == 3
        assert one.examples[0].startswith("query q0, document d")


def test_fractions_and_few_documents() -> None:
    random = np.random.default_rng(5)
    grades = random.random((20, 12))
    assert len(labels_in(grades, grades)) == 1
    assert not labels_in(grades, np.argsort(grades, axis=1) * 1.0)
    assert not labels_in(np.array([[0, 1, 2, 0]]), np.array([[0, 1, 2, 0]]))
    one_each = np.zeros((40, 12), np.int64)
    one_each[:, 3] = 1  # the known item of each query, which a good system may find
    assert not labels_in(one_each, one_each + 0.1 * random.random(one_each.shape))
