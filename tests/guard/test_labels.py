"""Scores that follow the grades: exactly, in order, or at one threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.align import align_parts
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.errors import Finding
from harness.guard.facts import Facts, JudgementFacts, RunFacts, Watch
from harness.guard.labels import Split, joined, splits_of


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


@pytest.mark.parametrize("n_queries", [29, 30])
@pytest.mark.parametrize(
    ("clothes", "severities"),
    [
        (lambda grades, noise: grades, ["error", "error"]),
        (lambda grades, noise: -grades, ["error", "error"]),
        (lambda grades, noise: 2.0**grades - 1, ["error", "error"]),
        (lambda grades, noise: grades + 0.001 * noise, ["warning", "error"]),
        (lambda grades, noise: (grades > 2) + 0.001 * noise, ["warning", "warning"]),
        (lambda grades, noise: grades + 0.5 * noise, ["", ""]),
        (lambda grades, noise: noise, ["", ""]),
        (lambda grades, noise: 0 * grades + 7, ["", ""]),
    ],
)
def test_labels_in_other_clothes(clothes: Any, severities: list[str], n_queries: int) -> None:
    random = np.random.default_rng(5)
    grades = random.integers(0, 5, (n_queries, 12))
    grades[:, :2] = 0, 4
    found = labels_in(grades, clothes(grades, random.normal(size=grades.shape)))
    assert [one.severity for one in found] == [one for one in [severities[n_queries - 29]] if one]
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


ROWS = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=6),
    min_size=1, max_size=5,
)  # fmt: skip


def literal(queries: list[list[tuple[int, int]]], threshold: int) -> Split | None:
    """What scores separate at a threshold, pair by pair."""
    found = [0, 0, 0]
    for some in queries:
        above = [score for grade, score in some if grade >= threshold]
        below = [score for grade, score in some if grade < threshold]
        if any(one <= other for one in above for other in below):
            return None
        few = min(len(above), len(below))
        found = [found[0] + (few > 0), found[1] + few, found[2] + len(above) * len(below)]
    return Split(*found)


@given(ROWS, ROWS)
def test_splits_are_what_they_say(one: Any, other: Any) -> None:
    known: Any = {}
    for some in (one, other):
        rows = [(query, -score, grade) for query, docs in enumerate(some) for grade, score in docs]
        query, rank, grade = np.array(sorted(rows)).T
        here = splits_of(query, rank, grade)
        assert here is not None
        known = joined(known, here)
    levels = {grade for docs in one + other for grade, _ in docs}
    assert known == {level: literal(one + other, level) for level in levels}
