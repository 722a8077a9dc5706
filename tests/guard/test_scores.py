"""Scores: how often relevant documents come first, and what single precision merges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.align import align, align_parts
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.guard.facts import Facts, JudgementFacts, Watch
from harness.guard.scores import Ahead


def of(grades: dict[str, dict[str, int]], scores: dict[str, dict[str, float]]) -> Ahead:
    return Ahead.of(align(Qrels.from_dict(grades), Run.from_dict(scores)))


def test_one_query() -> None:
    # ranks: b 1, x 2, a 3, y 4; relevant: b and a. Pairs (b, x), (b, y), (a, y) are in order, and
    # (a, x) is not: 3 of 4. By chance (4 + 1) / (12 * 2 * 2) = 5 / 48
    found = of({"q": {"a": 1, "b": 2, "x": 0}}, {"q": {"b": 4, "x": 3, "a": 2, "y": 1}})
    assert tuple(found) == (1, 0.75, 0.75**2, pytest.approx(5 / 48), 0)
    grades = {"no": {"a": 0}, "all": {"a": 1}, "tied": {"a": 1, "b": 0}}
    scores = {"no": {"a": 1.0, "b": 2.0}, "all": {"a": 1.0}, "tied": {"a": 1.0, "b": 1.0}}
    assert of(grades, scores) == Ahead()  # no pairs of both kinds in any order


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


def test_single_precision_counts_in_the_order_of_the_scores() -> None:
    scores = 1e6 + np.arange(40) / 100  # single precision has steps of 1/16 there
    merged = int((np.diff(scores.astype(np.float32)) == 0).sum())
    assert merged == 33
    qrels = Qrels.from_dict({f"q{q}": {f"d{d}": d % 2 for d in range(40)} for q in range(10)})
    for order in (np.arange(40)[::-1], np.random.default_rng(4).permutation(40)):
        run = Run.from_dict(
            {f"q{q}": {f"d{d}": float(scores[d]) for d in order} for q in range(10)}
        )
        watch = Watch(qrels, Policy())
        watch.run(run)
        for aligned in align_parts(qrels, run):
            watch.aligned(aligned)
        facts = watch.facts()
        assert facts is not None
        found = Facts(JudgementFacts.of(qrels), facts).findings("r")
        (one,) = [one for one in found if one.rule == "single-precision"]
        assert one.count == 10 * merged
        assert one.examples[0] == "query q0, documents d39 and d38: 1000000.39 and 1000000.38"
