"""Labels under any map: each grade has one score, and each score is of one grade."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.align import align_parts
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.errors import Finding
from harness.guard.facts import Facts, JudgementFacts
from harness.guard.labels import TURNED, GradeScores
from harness.guard.rules import of_run
from harness.guard.watch import Watch

GRADES = np.array([0, 1, 2, 0, 1, 2, 0, 0, 1, 2] * 3)
"""Three queries of ten: 12 rows of grade 0, and 9 of each other, of which 8 and 8 repeat it."""


def labels(grades: np.ndarray, scores: np.ndarray) -> list[Finding]:
    judged = {
        f"q{at}": {f"d{place}": grade for place, grade in enumerate(grades[at : at + 10].tolist())}
        for at in range(0, grades.size, 10)
    }
    qrels = Qrels.from_dict(judged)
    run, watch = Run.for_rows(qrels, scores.astype(np.float64)), Watch(qrels, Policy())
    watch.run(run)
    for aligned in align_parts(qrels, run):
        watch.aligned(aligned)
    found = of_run(Facts(JudgementFacts.of(qrels), watch.facts()), "r")
    return [one for one in found if one.rule == "labels-as-scores"]


@pytest.mark.parametrize(
    ("mapped", "falls"),
    [
        (lambda g: 2.0**g - 1, False),
        (lambda g: 5 - np.sqrt(g), True),
        (lambda g: np.array([0.3, 0.9, 0.5])[g], False),
    ],
)
def test_any_map_of_the_grades_is_labels(
    mapped: Callable[[np.ndarray], np.ndarray], falls: bool
) -> None:
    (found,) = labels(GRADES, mapped(GRADES))
    assert found.severity == "error"
    assert found.what == "each of the 3 grades has one score of its own, over 30 judged documents"
    assert (found.effect == TURNED) is falls
    one_off = mapped(GRADES)
    one_off[7] += 0.01
    assert labels(GRADES, one_off) == []


@pytest.mark.parametrize(
    ("grades", "scores"),
    [
        (GRADES, np.ones(30)),  # constant
        (np.minimum(GRADES, 1), 0.1 + 0.2 * GRADES),  # two grades, of which one has two scores
        (GRADES, 0.3 * np.minimum(GRADES, 1)),  # two scores, of which one has two grades
        (GRADES[:10], 2.0 ** GRADES[:10]),  # ten rows
        # 29 rows of grade 0, and two others that a rule may tell by chance
        (np.array([0] * 28 + [1, 2]), np.array([0.0] * 28 + [1, 5])),
    ],
)
def test_what_chance_or_a_simple_rule_may_do_is_no_label(
    grades: np.ndarray, scores: np.ndarray
) -> None:
    assert labels(grades, scores) == []


def test_two_grades_are_told_by_their_correlation_alone() -> None:
    grades = np.minimum(GRADES, 1)
    (found,) = labels(grades, 0.25 + 0.5 * grades)
    assert found.what.startswith("scores and grades have a correlation of exactly 1")
    few = np.array([1] * 9 + [0] * 21)  # nine relevant documents may be chance
    assert labels(few, 0.25 + 0.5 * few) == []


def test_grades_that_all_differ_are_in_no_map() -> None:
    # 40 numbers in any order have one score each
    one = GradeScores.of(np.arange(40.0)[::-1] ** 2, np.arange(40.0))
    assert one is None
    some = GradeScores.of(np.arange(30.0)[::-1] ** 2, np.arange(30.0))
    assert some is not None
    assert some.facts() is None


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=40), st.integers(0, 40))
def test_as_defined_whatever_the_parts(rows: list[tuple[int, int]], cut: int) -> None:
    found: GradeScores | None = GradeScores({}, {})
    for some in (rows[:cut], rows[cut:]):
        grades, scores = (np.array([row[k] for row in some], dtype=float) for k in (0, 1))
        here = GradeScores.of(scores, grades)
        found = None if found is None or here is None else found.more(here)
    pairs = set(rows)
    is_map = len(pairs) == len({g for g, _ in pairs}) == len({s for _, s in pairs})
    assert (found is not None) is is_map
    if found is not None:
        assert found.scores == dict(pairs)
        assert sum(found.counts.values()) == len(rows)
