"""Findings of single runs: labels as scores, documents that are not judged, upside-down orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.align import align, align_parts
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.errors import Finding
from harness.guard.facts import Facts, JudgementFacts, Watch
from harness.guard.scores import Ahead


def findings(qrels: Qrels, run: Run, *rules: str) -> list[Finding]:
    """The findings of these rules, taken in parts of the run."""
    watch = Watch(qrels, Policy())
    for part in run.parts(64):
        watch.run(part)
    for aligned in align_parts(qrels, run, size=64):
        watch.aligned(aligned)
    facts = watch.facts()
    assert facts is not None
    found = Facts(JudgementFacts.of(qrels), facts).findings("r")
    return [one for one in found if one.rule in rules]


def of(grades: dict[str, dict[str, int]], scores: dict[str, dict[str, float]]) -> Ahead:
    return Ahead.of(align(Qrels.from_dict(grades), Run.from_dict(scores)))


ROWS = st.lists(st.booleans(), min_size=1, max_size=8)


@given(st.lists(ROWS, min_size=1, max_size=5))
def test_it_is_the_share_of_pairs(queries: list[list[bool]]) -> None:
    grades = {
        str(q): {f"d{at}": int(one) for at, one in enumerate(rows)}
        for q, rows in enumerate(queries)
    }
    scores = {q: {name: -float(name[1:]) for name in rows} for q, rows in grades.items()}
    shares = []
    for rows in queries:
        pairs = [
            before < after
            for before, one in enumerate(rows)
            for after, other in enumerate(rows)
            if one and not other
        ]
        shares += [sum(pairs) / len(pairs)] if pairs else []
    found = of(grades, scores)
    assert found.queries == len(shares)
    assert found.shares == pytest.approx(sum(shares))
    assert found.squares == pytest.approx(sum(one * one for one in shares))
    assert found.behind == sum(2 * one < 1 for one in shares)


def sums(shares: Any, variance: float) -> Ahead:
    shares = np.asarray(shares)
    return Ahead(shares.size, float(shares.sum()), float((shares**2).sum()), variance)


@pytest.mark.parametrize(
    ("found", "fires"),
    [
        (sums([0.2, 0.3] * 10, 0.1), True),
        (sums([0.2, 0.3] * 10, 4.0), False),  # chance: 20 * .25 = 5 is 2.5 times sqrt(4)
        (sums([0.0, 0.7] * 10, 0.1), False),  # queries disagree: .15 is 1.9 times .35 / sqrt(19)
        (sums([0.41, 0.42] * 99, 0.1), False),  # bad, and not upside down
        (sums([0.2, 0.3] * 4, 0.1), False),  # eight queries
        (sums([0.8, 0.7] * 10, 0.1), False),
    ],
)
def test_when_a_run_is_upside_down(found: Ahead, fires: bool) -> None:
    assert found.upside_down == fires


def labels_in(grades: Any, scores: Any) -> list[Finding]:
    judged = {f"q{q}": {f"d{d}": g for d, g in enumerate(row.tolist())} for q, row in
              enumerate(grades)}  # fmt: skip
    qrels = Qrels.from_dict(judged, fractions=True)
    return findings(qrels, Run.for_rows(qrels, np.ravel(scores)), "labels-as-scores")


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
