"""Kendall, Spearman, Pearson against hand-worked, golden and SciPy's values."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import harness.metrics  # noqa: F401
from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.policy import Policy
from harness.core.reference import as_reference
from harness.core.tables import Qrels, Run
from harness.metrics.correlation import kendall, pearson, spearman, tau_ap

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "rank_similarity.json").read_text(encoding="utf-8")
)["correlation"]


def aligned_of(grades: list[int], scores: list[float], ties: str = "trec_eval") -> Aligned:
    docnos = [f"d{i}" for i in range(len(grades))]
    qrels = Qrels.from_dict({"q": dict(zip(docnos, grades, strict=True))})
    run = Run.from_dict({"q": dict(zip(docnos, scores, strict=True))})
    return align(qrels, run, Policy(ties=ties))  # type: ignore[arg-type]


def test_kendall_by_hand() -> None:
    # pairs of (score, grade) (3,2) (2,0) (1,1): 12 right, 13 right, 23 wrong: (2 - 1) / 3
    assert kendall(aligned_of([2, 0, 1], [3, 2, 1])).item() == pytest.approx(1 / 3, abs=1e-15)
    # scores 2 2 1, grades 1 0 0: of 3 pairs 1 is tied in score, 1 in grade, 1 is right:
    # 1 / sqrt((3 - 1) * (3 - 1)) = 1/2
    assert kendall(aligned_of([1, 0, 0], [2, 2, 1])).item() == pytest.approx(0.5, abs=1e-15)


def test_spearman_by_hand() -> None:
    # ranks 1 2 3 against 1 3 2: 1 - 6 * (0 + 1 + 1) / (3 * 8) = 1/2
    assert spearman(aligned_of([2, 0, 1], [3, 2, 1])).item() == pytest.approx(0.5, abs=1e-15)
    # ranks 1.5 1.5 3 against 1 2.5 2.5: deviations -.5 -.5 1 and -1 .5 .5:
    # (.5 - .25 + .5) / sqrt(1.5 * 1.5) = .75 / 1.5
    assert spearman(aligned_of([1, 0, 0], [2, 2, 1])).item() == pytest.approx(0.5, abs=1e-15)


def test_pearson_by_hand() -> None:
    # deviations of scores 4 1 1: 2 -1 -1; of grades 2 1 0: 1 0 -1: 3 / sqrt(6 * 2)
    value = pearson(aligned_of([2, 1, 0], [4, 1, 1])).item()
    assert value == pytest.approx(3 / np.sqrt(12), abs=1e-15)


@pytest.mark.parametrize("correlation", [kendall, spearman, pearson, partial(tau_ap, tied="b")])
@pytest.mark.parametrize(
    ("grades", "scores"),
    [([1], [0.5]), ([1, 1, 1], [3, 2, 1]), ([2, 1, 0], [0.1, 0.1, 0.1]), ([-1, 1], [1, 2])],
)
def test_undefined(correlation: object, grades: list[int], scores: list[float]) -> None:
    assert np.isnan(correlation(aligned_of(grades, scores))).all()  # type: ignore[operator]


def golden(truth: list[float], estimate: list[float]) -> list[Aligned]:
    """The same two vectors as judgements with a run, and as a reference run with a run."""
    grades = np.unique(truth, return_inverse=True)[1].tolist()
    names = [f"d{i}" for i in range(len(grades))]
    policy = Policy(ties="stable")
    runs = [Run.from_dict({"q": dict(zip(names, each, strict=True))}) for each in (truth, estimate)]
    reference = as_reference(runs[0], runs[1].qids, policy)
    return [aligned_of(grades, estimate, ties="stable"), align(reference, runs[1], policy)]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_golden(case: dict) -> None:
    for aligned in golden(case["x"], case["y"]):
        for value, key in (
            (kendall(aligned), "tau_b"),
            (kendall(aligned, form="a"), "tau_a"),
            (kendall(aligned, form="gamma"), "gamma"),
            (spearman(aligned), "spearman"),
            (tau_ap(aligned, tied="b"), "tau_ap_b"),
        ):
            expected = np.nan if case[key] is None else case[key]
            assert value.item() == pytest.approx(expected, abs=1e-12, nan_ok=True), key
        # nothing is given for a truth with ties
        if case["tau_ap_a_truth_x"] is not None:
            value = tau_ap(aligned, tied="a").item()
            assert value == pytest.approx(case["tau_ap_a_truth_x"], abs=1e-12)
        if case["tau_ap_truth_x"] is not None:
            value = tau_ap(aligned).item()
            assert value == pytest.approx(case["tau_ap_truth_x"], abs=1e-12)
    for aligned in golden(case["y"], case["x"]):
        if case["tau_ap_truth_y"] is not None:
            assert tau_ap(aligned).item() == pytest.approx(case["tau_ap_truth_y"], abs=1e-12)


def test_tau_ap_by_hand() -> None:
    # order b a c d, grades a 3, b 2, c 1, d 0: C(2)/1 + C(3)/2 + C(4)/3 = 0 + 1 + 1: 2/3 * 2 - 1
    assert tau_ap(aligned_of([3, 2, 1, 0], [3, 4, 2, 1])).item() == pytest.approx(1 / 3, abs=1e-15)
    # the same exchange at the end costs less: 1 + 1 + 2/3: 2/3 * 8/3 - 1
    assert tau_ap(aligned_of([3, 2, 1, 0], [4, 3, 1, 2])).item() == pytest.approx(7 / 9, abs=1e-15)
    # one grade needs no order: 2 1 1 is ideal; on average over its orders, C(3) is 1 + 1/2 of 2
    assert tau_ap(aligned_of([2, 1, 1], [3, 2, 1])).item() == 1.0
    value = tau_ap(aligned_of([2, 1, 1], [3, 2, 1]), tied="a").item()
    assert value == pytest.approx(2 / 2 * (1 + 1.5 / 2) - 1, abs=1e-15)
    # b: from the scores' side C is 1 of 1, 1 of 2, from the grades' side 1 of 1 twice:
    # (2 * (1 + 1/2) / 2 - 1 + 2 * (1 + 1) / 2 - 1) / 2
    value = tau_ap(aligned_of([2, 1, 1], [3, 2, 1]), tied="b").item()
    assert value == pytest.approx((0.5 + 1) / 2, abs=1e-15)
    assert tau_ap(aligned_of([2, 1, 1], [3, 2, 2]), tied="b").item() == 1.0


def test_forms_of_kendall_by_hand() -> None:
    # scores 2 2 1, grades 1 0 0: 1 right of 3, 1 tied in score, 1 in grade
    aligned = aligned_of([1, 0, 0], [2, 2, 1])
    assert kendall(aligned, form="a").item() == pytest.approx(1 / 3, abs=1e-15)
    assert kendall(aligned, form="gamma").item() == 1.0
    constant = aligned_of([1, 1], [2, 1])
    assert kendall(constant, form="a").item() == 0.0
    assert np.isnan(kendall(constant, form="gamma")).all()


def test_ties_of_a_reference_run_are_ties() -> None:
    # scores a 3, b 2, c 1; the other run gives a and b one score, and c less: 2 right, 1 tied
    run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    other = Run.from_dict({"q": {"a": 5.0, "b": 5.0, "c": 1.0}})
    aligned = align(as_reference(other, run.qids), run)
    assert kendall(aligned).item() == pytest.approx(2 / np.sqrt(6), abs=1e-15)
    assert kendall(aligned, form="gamma").item() == 1.0
    # ranks 1 2 3 and 1.5 1.5 3: (.5 + 1) / sqrt(2 * 1.5)
    assert spearman(aligned).item() == pytest.approx(1.5 / np.sqrt(3), abs=1e-15)


def test_the_policy_decides_which_scores_are_tied() -> None:
    scores = [1 + 1e-12, 1.0, 0.0]  # the first two are one number as float32
    assert kendall(aligned_of([2, 1, 0], scores, "stable")).item() == pytest.approx(1.0)
    # 2 right, 1 tied in score: 2 / sqrt(2 * 3)
    assert kendall(aligned_of([2, 1, 0], scores)).item() == pytest.approx(2 / np.sqrt(6))


def test_scores_of_any_size() -> None:
    for scale in (1e-300, 1e300):
        value = pearson(aligned_of([2, 1, 0], [4 * scale, scale, scale])).item()
        assert value == pytest.approx(3 / np.sqrt(12), abs=1e-12)


def test_with_a_reference_run() -> None:
    run = Run.from_dict({"q": {"b": 4.0, "a": 3.0, "z": 2.0, "c": 1.0}})
    other = Run.from_dict({"q": {"a": 3.0, "c": 2.0, "b": 1.0}})
    aligned = align(as_reference(other, run.qids), run)
    # over a b c: this run b a c, the other a c b: 1 pair right, 2 wrong
    assert kendall(aligned).item() == pytest.approx(-1 / 3, abs=1e-15)
    # ranks of b a c: 1 2 3 and 3 1 2: 1 - 6 * (4 + 1 + 1) / (3 * 8) = -1/2
    assert spearman(aligned).item() == pytest.approx(-0.5, abs=1e-15)
