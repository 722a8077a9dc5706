"""Native metrics as functions on padded batches."""

import math
from typing import Any

import numpy as np
import pytest

from harness import batch
from harness.errors import UnknownNameError

SCORES = [[1.0, 0.0, 1.5], [1.5, 0.2, 0.5]]
RELEVANCE = [[0, 1, 0], [0, 1, 1]]
N = [3, 3]


def test_published_example() -> None:
    assert batch.ndcg(SCORES, RELEVANCE, N).round(4).tolist() == [0.5, 0.6934]
    # gains of grades 0 and 1 are the same, so the linear one is pytrec_eval's to the last bit
    linear = batch.ndcg(SCORES, RELEVANCE, N, k=None, gain="linear")[:, -1]
    assert linear.tolist() == [0.5, 0.6934264036172708]
    # q0: the one relevant document is last, rank 3; q1: ranks 2 and 3
    assert batch.arp(SCORES, RELEVANCE, N).tolist() == [3.0, 2.5]
    assert batch.swaps(SCORES, RELEVANCE, N).tolist() == [2.0, 2.0]
    assert batch.swaps(SCORES, RELEVANCE, N, normalize=True).tolist() == [1.0, 1.0]


def test_every_rank() -> None:
    # q0: relevant at rank 3 of an ideal 1: 0, 0, 1/2; beyond n = 3 its last value goes on
    scores = [[1.0, 0.0, 1.5, 9.0], [1.5, 0.2, 9.0, 9.0]]
    relevance = [[0, 1, 0, 4], [0, 1, 4, 4]]
    third = 1 / math.log2(3)
    assert batch.ndcg(scores, relevance, [3, 2], k=None).tolist() == [
        [0.0, 0.0, 0.5, 0.5],
        [0.0, third, third, third],
    ]
    assert batch.dcg(scores, relevance, [3, 2], k=None).tolist() == [
        [0.0, 0.0, 0.5, 0.5],
        [0.0, third, third, third],
    ]
    short = batch.ndcg(scores, relevance, [3, 2], k=None, short="nan")
    assert np.isnan(short).tolist() == [[False, False, False, True], [False, False, True, True]]


def test_ties_are_the_policy_s() -> None:
    scores, relevance = [[0.5, 0.5]], [[1, 0]]
    assert batch.arp(scores, relevance, [2]).tolist() == [2.0]  # d1 goes before d0
    assert batch.arp(scores, relevance, [2], ties="stable").tolist() == [1.0]
    for name in ("ndcg", "dcg", "rbo", "ao"):
        function = getattr(batch, name)
        assert function(scores, relevance, [2]) < function(scores, relevance, [2], ties="stable")
    assert batch.swaps(scores, relevance, [2], ties="stable").tolist() == [0.0]


def test_lambdas_push_by_what_an_exchange_changes() -> None:
    # scores 2 1, grades 0 1 (gain 1, ideal DCG 1): without weights -1/(1 + exp(1 - 2)) for d1,
    # exchanging the two changes nDCG by |1 - 0| * |1/log2(2) - 1/log2(3)|
    plain = -1 / (1 + math.exp(-1))
    change = 1 - 1 / math.log2(3)
    given = ([[2.0, 1.0, 5.0]], [[0, 1, 3]], [2])
    assert batch.lambdas(*given)[0].tolist() == pytest.approx([-plain, plain, 0.0])
    weighted = batch.lambdas(*given, delta_ndcg=True)[0].tolist()
    assert weighted == pytest.approx([-plain * change, plain * change, 0.0])
    # a query without relevant documents has no pairs, and no ideal to divide by
    assert batch.lambdas([[2.0, 1.0]], [[0, 0]], [2], delta_ndcg=True).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ndcg", {"k": 0}), ("ndcg", {"k": []}), ("ndcg", {"gain": "log"}),
        ("ndcg", {"k": None, "gain": None}), ("rbo", {"p": 1.0}),
        ("pairwise_logloss", {"alpha": 0}),
        ("lambdas", {"alpha": -1}), ("arp", {"ties": "random"}),
    ],
)  # fmt: skip
def test_refused_parameters(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(UnknownNameError):
        getattr(batch, name)(SCORES, RELEVANCE, N, **options)
