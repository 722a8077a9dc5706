"""Kendall, Spearman, Pearson against hand-worked, golden and SciPy's values."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import harness.metrics  # noqa: F401
from harness.core.align import align, as_reference
from harness.core.aligned import Aligned
from harness.core.policy import Policy
from harness.core.tables import Qrels, Run
from harness.metrics.correlation import kendall, pearson, spearman

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


@pytest.mark.parametrize("correlation", [kendall, spearman, pearson])
@pytest.mark.parametrize(
    ("grades", "scores"),
    [([1], [0.5]), ([1, 1, 1], [3, 2, 1]), ([2, 1, 0], [0.1, 0.1, 0.1]), ([-1, 1], [1, 2])],
)
def test_undefined(correlation: object, grades: list[int], scores: list[float]) -> None:
    assert np.isnan(correlation(aligned_of(grades, scores))).all()  # type: ignore[operator]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_golden(case: dict) -> None:
    grades = np.unique(case["x"], return_inverse=True)[1].tolist()
    aligned = aligned_of(grades, case["y"], ties="stable")
    for correlation, expected in ((kendall, case["tau_b"]), (spearman, case["spearman"])):
        value = correlation(aligned).item()
        if expected is None:
            assert np.isnan(value)
        else:
            assert value == pytest.approx(expected, abs=1e-12)


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
