"""ERR, nERR, pFound, RBP, judged, OPA and AUC on anything: their literal definitions."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.compat.trec_eval.values import rank_biased_precision
from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.tables import Qrels, Run
from harness.metrics.cascade import err, nerr, pfound
from harness.metrics.judged import judged, unjudged
from harness.metrics.pair_agreement import auc, opa
from harness.metrics.rbp import rbp

docnos = st.sampled_from([f"d{number}" for number in range(14)])
grades = st.sampled_from([-2, -1, 0, 0, 0, 1, 1, 2, 3, 4, 7])
scores = st.sampled_from([0.0, 1.0, 2.0, -3.5]) | st.floats(-1e6, 1e6, width=32)
judgements = st.dictionaries(docnos, grades, max_size=14)
retrieved = st.dictionaries(docnos, scores, max_size=14)
cases = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]), st.tuples(judgements, retrieved), min_size=1
)
cutoffs = st.none() | st.integers(1, 16)
Case = dict[str, tuple[dict[str, int], dict[str, float]]]


def aligned_of(case: Case) -> Aligned:
    return align(
        Qrels.from_dict({qid: qrel for qid, (qrel, _) in case.items()}),
        Run.from_dict({qid: run for qid, (_, run) in case.items()}),
    )


def ranking(run: dict[str, float]) -> list[str]:
    return sorted(run, key=lambda d: (np.float32(run[d]) + np.float32(0), d), reverse=True)


def same(values: np.ndarray, expected: list[float]) -> None:
    np.testing.assert_allclose(values, np.array(expected, float), atol=1e-13, rtol=1e-12)


def cascade(
    probabilities: list[float], weight: Callable[[int], float], cutoff: int | None
) -> float:
    value, reached = 0.0, 1.0
    for rank, stop in enumerate(probabilities[:cutoff], start=1):
        value += weight(rank) * stop * reached
        reached *= 1 - stop
    return value


def probability(grade: int, top: int, stop: str) -> float:
    if grade <= 0:
        return 0.0
    return grade / top if stop == "linear" else (2**grade - 1) / 2**top


@settings(max_examples=200, deadline=None)
@given(cases, cutoffs, st.sampled_from(["exp", "linear"]), st.sampled_from([7, 9, None]))
def test_cascades_are_their_definition(
    case: Case, cutoff: int | None, stop: str, max_grade: int | None
) -> None:
    expected: list[list[float]] = [[], [], []]
    for qrel, run in case.values():
        top = max_grade or max(1, *qrel.values(), 1)
        here = [probability(qrel.get(d, 0), top, stop) for d in ranking(run)]
        best = [probability(g, top, stop) for g in sorted(qrel.values(), reverse=True)]
        ideal = cascade(best, lambda rank: 1 / rank, cutoff)
        expected[0].append(cascade(here, lambda rank: 1 / rank, cutoff))
        expected[1].append(expected[0][-1] / ideal if ideal else 0.0)
        expected[2].append(cascade(here, lambda rank: 0.85 ** (rank - 1), cutoff))
    aligned = aligned_of(case)
    same(err(aligned, stop=stop, max_grade=max_grade, cutoff=cutoff), expected[0])
    same(nerr(aligned, stop=stop, max_grade=max_grade, cutoff=cutoff), expected[1])
    same(pfound(aligned, stop=stop, max_grade=max_grade, cutoff=cutoff), expected[2])


@settings(max_examples=200, deadline=None)
@given(
    cases, cutoffs, st.sampled_from([0.01, 0.5, 0.8, 0.99]), st.integers(1, 3),
    st.sampled_from(["binary", "linear", "exp"]),
)  # fmt: skip
def test_rbp_is_its_definition(
    case: Case, cutoff: int | None, p: float, rel: int, gain: str
) -> None:
    values, residuals = [], []
    for qrel, run in case.values():
        value, left = 0.0, 1.0
        for rank, docno in enumerate(ranking(run)[:cutoff], start=1):
            grade = qrel.get(docno, -1)
            weight = (1 - p) * p ** (rank - 1)
            if gain == "binary":
                value += weight * (grade >= rel)
            else:
                top = 7 if gain == "linear" else 2**7 - 1
                value += weight * max(grade if gain == "linear" else 2**grade - 1, 0) / top
            if grade >= 0:
                left -= weight
        values.append(value)
        residuals.append(left)
    aligned = aligned_of(case)
    arguments = {"p": p, "gain": gain, "max_grade": 7, "rel": rel, "cutoff": cutoff}
    same(rbp(aligned, **arguments), values)
    same(rbp(aligned, **arguments, form="residual"), residuals)
    same(rbp(aligned, **arguments, form="upper"), np.add(values, residuals).tolist())


@settings(deadline=None)
@given(cases, st.sampled_from([0.3, 0.5, 0.9]))
def test_rbp_of_trec_eval_10_is_a_choice_of_parameters(case: Case, p: float) -> None:
    aligned = aligned_of(case)
    values = rbp(aligned, p=p, gain="linear", max_grade=None)
    assert values.tolist() == rank_biased_precision(aligned, (), p).tolist()


@settings(deadline=None)
@given(cases, cutoffs)
def test_judged_is_its_definition(case: Case, cutoff: int | None) -> None:
    shares = []
    for qrel, run in case.values():
        seen = ranking(run)[:cutoff]
        shares.append(sum(qrel.get(d, -1) >= 0 for d in seen) / len(seen) if seen else math.nan)
    same(judged(aligned_of(case), cutoff=cutoff), shares)
    same(unjudged(aligned_of(case), cutoff=cutoff), (1 - np.array(shares)).tolist())


@settings(max_examples=200, deadline=None)
@given(cases, st.sampled_from(["half", "wrong", "right"]), st.integers(1, 3))
def test_pairs_are_their_definition(case: Case, tied: str, rel: int) -> None:
    worth = {"half": 0.5, "wrong": 0.0, "right": 1.0}[tied]

    def share(qrel: dict[str, int], run: dict[str, float], of_ties: float) -> float:
        points = []
        for a, b in combinations([d for d in qrel if d in run], 2):
            if qrel[a] != qrel[b]:
                better, other = (a, b) if qrel[a] > qrel[b] else (b, a)
                first, second = np.float32(run[better]), np.float32(run[other])
                points.append(of_ties if first == second else float(first > second))
        return sum(points) / len(points) if points else math.nan

    pairs, binary = [], []
    for qrel, run in case.values():
        known = {d: grade for d, grade in qrel.items() if grade >= 0}
        pairs.append(share(known, run, worth))
        binary.append(share({d: int(grade >= rel) for d, grade in known.items()}, run, 0.5))
    aligned = aligned_of(case)
    same(opa(aligned, tied=tied), pairs)
    same(auc(aligned, rel=rel), binary)
