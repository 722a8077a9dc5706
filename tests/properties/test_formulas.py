"""Native metrics on anything: SciPy, and their literal definitions."""

import math
import warnings
from collections.abc import Callable
from itertools import combinations, pairwise

import numpy as np
import pytest
import scipy.stats
from alignments import Case, aligned_of, named
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness.compat.trec_eval.program import rank_biased_precision
from harness.core.names import parse
from harness.core.ragged import offsets_of
from harness.metrics.cascade import err, nerr, pfound, rbp
from harness.metrics.correlation import kendall, pearson, spearman
from harness.metrics.first_rank import first_rank, median_first_rank
from harness.metrics.inst import insq, inst
from harness.metrics.ndcg import ndcg
from harness.metrics.pair_agreement import auc, lambdas, opa, pairwise_logloss, swaps
from harness.metrics.precision import f1
from harness.metrics.rbo import rbo_weight

docnos = st.sampled_from([f"d{number}" for number in range(14)])
grades = st.sampled_from([-2, -1, 0, 0, 0, 1, 1, 2, 3, 4, 9])
scores = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 1.0 + 2**-24, 2.0, -3.5]),
    st.floats(-1e6, 1e6, allow_nan=False, width=32),
)
judged_documents = st.dictionaries(docnos, grades, max_size=14)
retrieved = st.dictionaries(docnos, scores, max_size=14)
cases = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3", "10"]), st.tuples(judged_documents, retrieved), min_size=1
)


def ranking(run: dict[str, float]) -> list[str]:
    """trec_eval's order: score as float32, then docno, both falling."""
    return sorted(run, key=lambda d: (np.float32(run[d]) + np.float32(0), d), reverse=True)


def ranked_judged(qrel: dict[str, int], run: dict[str, float]) -> list[str]:
    return [d for d in ranking(run) if qrel.get(d, -1) >= 0]


def same(values: np.ndarray, expected: list[float], tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(values, np.array(expected, dtype=float), atol=tolerance, rtol=1e-12)


@pytest.mark.oracle("swaps")
@given(cases)
def test_swaps_are_discordant_pairs(case: Case) -> None:
    wrong, share = [], []
    for qrel, run in case.values():
        judged = ranked_judged(qrel, run)
        pairs = [(qrel[a], qrel[b]) for a, b in combinations(judged, 2)]
        wrong.append(sum(a < b for a, b in pairs) if judged else math.nan)
        different = sum(a != b for a, b in pairs)
        share.append(wrong[-1] / different if different else math.nan)
    aligned = aligned_of(case)
    same(swaps(aligned), wrong, 0)
    same(swaps(aligned, normalize=True), share, 0)


@pytest.mark.oracle("kendall", "spearman")
@given(cases)
def test_correlations_equal_scipy(case: Case) -> None:
    expected: list[list[float]] = [[], [], []]
    for qrel, run in case.values():
        order = ranked_judged(qrel, run)
        x, y = [float(np.float32(run[d])) for d in order], [qrel[d] for d in order]
        defined = len(set(x)) > 1 and len(set(y)) > 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            functions = (scipy.stats.kendalltau, scipy.stats.spearmanr)
            for values, function in zip(expected, functions, strict=False):
                values.append(float(function(x, y).statistic) if defined else math.nan)
    aligned = aligned_of(case)
    same(kendall(aligned), expected[0])
    same(spearman(aligned), expected[1])


@pytest.mark.oracle("pearson")
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-50, 50)), min_size=2, max_size=14))
def test_pearson_equals_scipy(rows: list[tuple[int, int]]) -> None:
    y, x = zip(*rows, strict=True)
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    value = pearson(aligned_of({"q": (named(y), named(map(float, x)))}))
    same(value, [float(scipy.stats.pearsonr(x, y).statistic)])


@given(st.floats(0.001, 0.99), st.integers(1, 60))
def test_rbo_weight_is_what_the_first_ranks_carry(p: float, d: int) -> None:
    carried = math.fsum(
        (1 - p) * p ** (depth - 1) * min(d, depth) / depth for depth in range(1, 6000)
    )
    assert rbo_weight(p, d) == pytest.approx(carried, abs=1e-12)


@pytest.mark.oracle("pairwise_logloss")
@given(cases, st.sampled_from([0.1, 1.0, 3.0]))
def test_pairwise_logloss_is_its_formula(case: Case, alpha: float) -> None:
    expected = []
    for qrel, run in case.values():
        pairs = [
            (a, b) if qrel[a] > qrel[b] else (b, a)
            for a, b in combinations(ranked_judged(qrel, run), 2)
            if qrel[a] != qrel[b]
        ]
        losses = [float(np.logaddexp(0, -alpha * (run[a] - run[b]))) for a, b in pairs]
        expected.append(sum(losses) / len(losses) if losses else math.nan)
    same(pairwise_logloss(aligned_of(case), alpha=alpha), expected)


@given(st.lists(st.lists(st.tuples(grades, scores), max_size=8), max_size=4))
def test_lambdas_sum_to_nothing(lists: list[list[tuple[int, float]]]) -> None:
    offsets = offsets_of([len(row) for row in lists])
    flat = [pair for row in lists for pair in row]
    slopes = lambdas(
        offsets, np.array([s for _, s in flat]), np.array([g for g, _ in flat], dtype=np.int64)
    )
    totals = [slopes[a:b].sum() for a, b in pairwise(offsets)]
    assert totals == pytest.approx([0.0] * len(lists), abs=1e-12)


up_to_7 = st.sampled_from([-2, -1, 0, 0, 0, 1, 1, 2, 3, 4, 7])
judgements = st.dictionaries(docnos, up_to_7, max_size=14)
cases_up_to_7 = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]), st.tuples(judgements, retrieved), min_size=1
)
cutoffs = st.none() | st.integers(1, 16)


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


@pytest.mark.oracle("err", "nerr", "pfound")
@given(cases_up_to_7, cutoffs, st.sampled_from(["exp", "linear"]), st.sampled_from([7, 9, None]))
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


@pytest.mark.oracle("rbp")
@given(
    cases_up_to_7, cutoffs, st.sampled_from([0.01, 0.5, 0.8, 0.99]), st.integers(1, 3),
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


@given(cases_up_to_7, st.sampled_from([0.3, 0.5, 0.9]))
def test_rbp_of_trec_eval_10_is_a_choice_of_parameters(case: Case, p: float) -> None:
    aligned = aligned_of(case)
    values = rbp(aligned, p=p, gain="linear", max_grade=None)
    assert values.tolist() == rank_biased_precision(aligned, (), p).tolist()


@pytest.mark.oracle("opa", "auc")
@given(cases_up_to_7, st.sampled_from(["half", "wrong", "right"]), st.integers(1, 3))
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


@pytest.mark.oracle("first_rank", "median_first_rank")
@given(cases, st.integers(1, 2), st.none() | st.integers(1, 99))
def test_the_first_rank_is_the_first_relevant_document(
    case: Case, rel: int, unfound: int | None
) -> None:
    expected = []
    for qrel, run in case.values():
        hits = (place for place, d in enumerate(ranking(run), 1) if qrel.get(d, -1) >= rel)
        missed = unfound if any(grade >= rel for grade in qrel.values()) else None
        expected.append(next(hits, math.nan if missed is None else missed))
    aligned = aligned_of(case)
    for metric in (first_rank, median_first_rank):
        same(metric(aligned, rel=rel, unfound=unfound), expected, 0)


@pytest.mark.oracle("f1")
@given(cases, cutoffs, st.integers(1, 2))
def test_f1_is_the_harmonic_mean(case: Case, cutoff: int | None, rel: int) -> None:
    expected = []
    for qrel, run in case.values():
        hits = sum(qrel.get(d, -1) >= rel for d in ranking(run)[:cutoff])
        relevant = sum(grade >= rel for grade in qrel.values())
        size = len(run) if cutoff is None else cutoff
        expected.append(2 * hits / (size + relevant) if hits else 0.0)
    same(f1(aligned_of(case), cutoff=cutoff, rel=rel), expected)


LONG = 40_000


@pytest.mark.oracle("insq", "inst")
@settings(max_examples=40)
@given(
    cases_up_to_7, cutoffs, st.sampled_from([0.5, 1, 2.25, 10]),
    st.sampled_from(["binary", "linear", "exp"]),
)  # fmt: skip
def test_inst_and_insq_are_their_definition(
    case: Case, cutoff: int | None, t: float, gain: str
) -> None:
    size = cutoff or LONG  # the weights beyond add up to about (2T)^2 / LONG
    expected: list[list[float]] = [[], []]
    for qrel, run in case.values():
        grades = np.array([max(qrel.get(d, 0), 0) for d in ranking(run)][:size])
        gains = np.zeros(size)
        scaled = {"binary": grades >= 1, "linear": grades / 7, "exp": (2.0**grades - 1) / 127}
        gains[: grades.size] = scaled[gain]
        rank = np.arange(1, size + 1)
        wanted = t - np.cumsum(gains)
        for values, left in zip(expected, (t, wanted), strict=True):
            goes_on = ((rank + t + left - 1) / (rank + t + left)) ** 2
            weights = np.cumprod([1.0, *goes_on[:-1]])
            values.append(float(gains @ weights / weights.sum()))
    aligned = aligned_of(case)
    tolerance = 1e-12 if cutoff else 1e-3
    arguments = {"t": t, "gain": gain, "max_grade": 7, "cutoff": cutoff}
    for metric, values in zip((insq, inst), expected, strict=True):
        np.testing.assert_allclose(
            metric(aligned, **arguments), values, atol=tolerance, rtol=tolerance
        )


OF_CWL_EVAL = {
    (1.0, "0 1 x 3 0 2"): (0.14841829886855074, 0.14076327537260774),
    (1.0, "3 3 3 3"): (0.9924812937830814, 0.7199650656633944),
    (1.0, "x x x x 1"): (0.014585450206890133, 0.014379170474603445),
    (2.5, "0 1 x 3 0 2"): (0.15974346275297707, 0.1432001685646029),
    (2.5, "3 3 3 3"): (0.714416845531124, 0.47116665580975037),
    (2.5, "x x x x 1"): (0.01902616460974566, 0.018677775308010486),
}
"""INST and INSQ by cwl_eval 1.0.12 for T and gains of grade / 3."""


@pytest.mark.parametrize(("t", "grades"), OF_CWL_EVAL)
def test_inst_and_insq_of_cwl_eval(t: float, grades: str) -> None:
    judged = {f"d{i}": int(g) for i, g in enumerate(grades.split()) if g != "x"}
    run = {f"d{i}": -float(i) for i in range(len(grades.split()))}
    aligned = aligned_of({"10": (judged, run)})
    for name, value in zip(("INST", "INSQ"), OF_CWL_EVAL[t, grades], strict=True):
        (metric,) = parse(f"{name}(T={t},max_rel=3)")
        assert metric(aligned).item() == pytest.approx(value, rel=1e-13)


@given(cases, cutoffs, st.sampled_from(["linear", "exp"]))
def test_the_ideal_of_retrieved_documents(case: Case, cutoff: int | None, gain: str) -> None:
    """It is nDCG if the judges saw the retrieved documents alone."""
    seen = {
        qid: ({d: g for d, g in qrel.items() if d in run}, run) for qid, (qrel, run) in case.items()
    }
    for average in (False, True):
        values = ndcg(
            aligned_of(case), ideal="retrieved", gain=gain, cutoff=cutoff, average=average
        )
        same(values, ndcg(aligned_of(seen), gain=gain, cutoff=cutoff, average=average).tolist(), 0)
