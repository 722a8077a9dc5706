"""Binarised labels: scores that separate high grades from all others without an error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.align import align_parts
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.errors import Finding
from harness.guard.facts import Facts, JudgementFacts
from harness.guard.labels import MOST, Split, Splits
from harness.guard.rules import of_run
from harness.guard.watch import Watch

GRADES = np.array([[0, 1, 2, 0, 0, 1, 2, 0, 1, 0]] * 20)
"""Of each query five documents have grade 0, three 1 and two 2: 5 x 5 pairs at 1, 2 x 8 at 2."""


def found(grades: np.ndarray, scores: np.ndarray, policy: Policy | None = None) -> list[Finding]:
    judged = {f"q{q}": {f"d{d}": int(g) for d, g in enumerate(row)} for q, row in enumerate(grades)}
    qrels, policy = Qrels.from_dict(judged), policy or Policy()
    run, watch = Run.for_rows(qrels, scores.astype(np.float64).ravel()), Watch(qrels, policy)
    watch.run(run)
    for aligned in align_parts(qrels, run, policy):
        watch.aligned(aligned)
    every = of_run(Facts(JudgementFacts.of(qrels), watch.facts()), "r")
    return [one for one in every if one.rule == "labels-as-scores"]


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize(("least", "pairs"), [(1, 500), (2, 320)])
def test_labels_of_two_values_with_noise_and_without(noise: float, least: int, pairs: int) -> None:
    grades = GRADES if least == 1 else np.tile(GRADES, (3, 1))
    drawn = np.random.default_rng(3).random(grades.shape)
    (one,) = found(grades, (grades >= least) + noise * drawn)
    n, pairs = (20, pairs) if least == 1 else (60, 3 * pairs)
    assert one.severity == "warning"
    assert one.count == n
    assert one.what == (
        f"the scores separate grades of {least} and more from those below in all {n} queries that "
        f"have both, without an error in {pairs} pairs of documents: where the former are "
        "relevant, MAP over these queries is 1"
    )
    assert all(f"grade {least}" in name or "grade 2" in name for name in one.examples)


def test_one_error_or_one_tie_is_none() -> None:
    scores = (GRADES >= 1) + 0.01 * np.random.default_rng(3).random(GRADES.shape)
    assert found(GRADES, scores)
    low, high = scores.copy(), scores.copy()
    high[7, 0] = 2  # a document of grade 0 above all
    low[7, 1] = low[7, GRADES[7] == 0].max()  # one of grade 1 that has the score of one of 0
    assert found(GRADES, high) == found(GRADES, low) == []
    # as trec_eval compares, in single precision, these two are equal
    low[7, 1] += 1e-12
    assert found(GRADES, low, Policy(ties="trec_eval")) == []


def test_few_queries_or_few_of_the_rarer_kind_may_be_chance() -> None:
    assert found(GRADES[:19], GRADES[:19] >= 1) == []  # 95 documents of the rarer kind
    few = np.concatenate([np.tile(GRADES[:1], (1, 4))] * 9)  # nine queries of 40
    drawn = 0.01 * np.random.default_rng(3).random(few.shape)
    assert found(few, (few >= 1) + drawn) == []
    one = np.zeros((99, 30), int)  # 99 known items, all of them found
    one[:, 4] = 1
    drawn = 0.01 * np.random.default_rng(3).random(one.shape)
    assert found(one[:29], one[:29] + drawn[:29]) == []
    assert found(one, one + drawn) == []
    assert Split(10, 100, 500).enough
    assert not any(split.enough for split in (Split(9, 100, 500), Split(10, 99, 500)))
    assert not Split(10, 100, 499).enough


@pytest.mark.parametrize(("n_queries", "severity"), [(29, None), (30, "error")])
@pytest.mark.parametrize("relevant", [1, 2, 3])
def test_a_good_system_may_find_the_known_items_and_no_more(
    n_queries: int, severity: str | None, relevant: int
) -> None:
    """Three documents that are not of the commonest grade, in each of 30 queries, are too many."""
    grades = np.zeros((n_queries, 12), int)
    grades[:, :relevant] = 1
    drawn = 0.01 * np.random.default_rng(3).random(grades.shape)
    every = found(grades, grades + drawn)
    if relevant < 3 or severity is None:
        assert every == []
    else:
        assert [one.severity for one in every] == [severity]
        assert every[0].what == (
            "in all 30 queries of several grades, every judged document comes before those of a "
            "lower grade"
        )


def test_the_value_is_said_where_all_documents_are_scored() -> None:
    watch_all = {"q": {f"d{d}": d % 2 for d in range(40)}}
    judged = {f"q{q}": watch_all["q"] for q in range(10)}
    run = {q: {d: float(g) for d, g in [*some.items()][:-1]} for q, some in judged.items()}
    for some in run.values():  # noise, so that the correlation is not 1
        for at, d in enumerate(some):
            some[d] += 0.001 * at
    qrels, watch = Qrels.from_dict(judged), Watch(Qrels.from_dict(judged), Policy())
    read = Run.from_dict(run)
    watch.run(read)
    for aligned in align_parts(qrels, read):
        watch.aligned(aligned)
    every = of_run(Facts(JudgementFacts.of(qrels), watch.facts()), "r")
    (one,) = (one for one in every if one.rule == "labels-as-scores")
    # 19 of each query's 20 relevant documents beside 20 others
    assert one.what.endswith("in all 10 queries that have both, without an error in 3,800 pairs of "
                             "documents")  # fmt: skip


def test_many_grades_are_left_alone() -> None:
    some = Splits()
    some.add(np.zeros(MOST + 1, int), np.arange(MOST + 1), np.arange(MOST + 1)[::-1])
    assert not some.wants(np.array([1]))
    assert some.split(3) is None
    assert some.facts() is None


Rows = list[list[tuple[int, int]]]


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=5), max_size=6),
    st.integers(0, 6),
)
def test_as_defined_whatever_the_parts(queries: Rows, cut: int) -> None:
    splits = Splits()
    ordered = [sorted(some, key=lambda row: -row[0]) for some in queries]
    for part in (ordered[:cut], ordered[cut:]):
        rows = [(q, 4 - score, grade) for q, some in enumerate(part) for score, grade in some]
        splits.add(*(np.array([row[k] for row in rows], dtype=int) for k in range(3)))
    for threshold in range(5):
        above = [[score for score, grade in some if grade >= threshold] for some in queries]
        below = [[score for score, grade in some if grade < threshold] for some in queries]
        both = [(a, b) for a, b in zip(above, below, strict=True) if a and b]
        right = all(min(a) > max(b) for a, b in both)
        expected = Split(
            len(both),
            sum(min(len(a), len(b)) for a, b in both),
            sum(len(a) * len(b) for a, b in both),
        )
        assert splits.split(threshold) == (expected if right else None)
