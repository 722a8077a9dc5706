"""RankNet's loss and lambdas, by hand and against slopes taken by torch."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import harness.metrics  # noqa: F401
from harness.core.align import align
from harness.core.aligned import Aligned
from harness.core.names import parse
from harness.core.tables import Qrels, Run
from harness.errors import UnknownNameError
from harness.metrics.pair_agreement import lambdas, pairwise_logloss, sigmoid


def aligned_of(grades: list[int], scores: list[float]) -> Aligned:
    docnos = [f"d{i}" for i in range(len(grades))]
    return align(
        Qrels.from_dict({"q": dict(zip(docnos, grades, strict=True))}),
        Run.from_dict({"q": dict(zip(docnos, scores, strict=True))}),
    )


def test_by_hand() -> None:
    # grades 2 0 1 with scores 1 2 0: pairs (2,0): 1 - 2 = -1, (2,1): 1 - 0 = 1, (1,0): 0 - 2 = -2
    expected = (math.log(1 + math.e) + math.log(1 + 1 / math.e) + math.log(1 + math.e**2)) / 3
    assert pairwise_logloss(aligned_of([2, 0, 1], [1, 2, 0])).item() == pytest.approx(expected)
    # alpha doubles every difference
    expected = (math.log1p(math.e**2) + math.log1p(math.e**-2) + math.log1p(math.e**4)) / 3
    value = pairwise_logloss(aligned_of([2, 0, 1], [1, 2, 0]), alpha=2.0).item()
    assert value == pytest.approx(expected)


def test_equal_scores_give_ln_2() -> None:
    assert pairwise_logloss(aligned_of([1, 0, 0], [3, 3, 3])).item() == pytest.approx(math.log(2))


def test_undefined_without_two_grades() -> None:
    assert np.isnan(pairwise_logloss(aligned_of([1, 1], [2, 1]))).all()
    assert np.isnan(pairwise_logloss(aligned_of([1, -1], [2, 1]))).all()


def test_no_overflow() -> None:
    # ln(1 + exp(d)) is d for large d
    assert pairwise_logloss(aligned_of([1, 0], [-1e6, 1e6])).item() == 2e6
    assert pairwise_logloss(aligned_of([1, 0], [1e6, -1e6])).item() == 0.0


def test_sigmoid() -> None:
    assert sigmoid(np.array([0.0, math.log(3)])).tolist() == pytest.approx([0.5, 0.75])
    assert sigmoid([-1e9, 1e9]).tolist() == [0.0, 1.0]


def test_lambdas_by_hand() -> None:
    # grades 1 0 with scores 0 ln 3: lambda = -1 / (1 + exp(0 - ln 3)) = -1 / (1 + 1/3) = -3/4
    slopes = lambdas(np.array([0, 2]), np.array([0.0, math.log(3)]), np.array([1, 0]))
    assert slopes.tolist() == pytest.approx([-0.75, 0.75])


@pytest.mark.parametrize("alpha", [1.0, 0.3, 4.0])
def test_lambdas_are_the_slopes_of_the_loss(alpha: float) -> None:
    rng = np.random.default_rng(5)
    grades, scores = rng.integers(0, 3, 9), rng.normal(size=9)
    s = torch.tensor(scores, dtype=torch.float64, requires_grad=True)
    better = torch.tensor(grades[:, None] > grades[None, :])
    loss = torch.nn.functional.softplus(-alpha * (s[:, None] - s[None, :]))[better].sum()
    loss.backward()
    slopes = lambdas(np.array([0, 9]), scores, grades, alpha=alpha)
    np.testing.assert_allclose(slopes, s.grad.numpy(), atol=1e-12)
    mean = pairwise_logloss(aligned_of(grades.tolist(), scores.tolist()), alpha=alpha).item()
    assert mean == pytest.approx(loss.item() / int(better.sum()), abs=1e-12)


@pytest.mark.parametrize("alpha", ["0", "-1"])
def test_alpha_out_of_range(alpha: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        parse(f"pairwise_logloss(alpha={alpha})")
    assert str(error.value) == (
        f"pairwise_logloss(alpha={alpha}): alpha must lie in (0, 1e+09), and is {alpha}"
    )
