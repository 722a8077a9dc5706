"""In which columns of a TREC run the ranks and the scores stand."""

from __future__ import annotations

import numpy as np
import pytest

from harness.guard.columns import RankScores

N = 30
COUNTS = np.tile(np.arange(1.0, N + 1), 2)
FOLLOWS = np.arange(1, 2 * N) != N
FALLING = -0.5 * COUNTS


def rule(score: np.ndarray, rank: np.ndarray | None) -> str:
    found = RankScores.of(score, rank, FOLLOWS, True)
    return found.rule if found.are_ranks else ""


def test_scores_that_count_beside_ranks_that_fall_are_the_ranks() -> None:
    assert rule(COUNTS, FALLING) == "swapped-columns"
    assert rule(COUNTS, 1000 - 3 * COUNTS) == "swapped-columns"
    tied = COUNTS.copy()
    tied[4:8] = tied[4:8][::-1]  # ranks of tied documents in any order
    assert rule(tied, FALLING) == "swapped-columns"


@pytest.mark.parametrize(
    ("score", "rank", "expected"),
    [
        (COUNTS, None, "rank-as-score"),  # words
        (COUNTS, COUNTS, "rank-as-score"),
        (COUNTS, -FALLING, "rank-as-score"),  # fractions that rise are no scores for certain
        (COUNTS, np.zeros(2 * N), ""),  # nobody's ranks, and maybe a system's own scores
        (COUNTS, N + 1 - COUNTS, ""),  # a file that may begin with the last document
        (FALLING, COUNTS, ""),
        (FALLING, FALLING, ""),  # fractions are no ranks
        (-FALLING, FALLING, ""),
    ],
)
def test_what_is_not_certain_is_no_exchange(
    score: np.ndarray, rank: np.ndarray | None, expected: str
) -> None:
    assert rule(score, rank) == expected
