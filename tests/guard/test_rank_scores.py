"""In which columns of a TREC run the ranks and the scores stand."""

from __future__ import annotations

import numpy as np
import pytest

from harness.guard.first import First
from harness.guard.rank_scores import RANK, SCORE, RankScores

N = 30
COUNTS = np.tile(np.arange(1.0, N + 1), 2)
FOLLOWS = np.arange(1, 2 * N) != N
FALLING = -0.5 * COUNTS


def column(score: np.ndarray, rank: np.ndarray | None) -> int:
    found = RankScores.of(score, rank, FOLLOWS, True)
    return found.column if found.are_ranks else 0


def test_scores_that_count_beside_ranks_that_fall_are_the_ranks() -> None:
    assert column(COUNTS, FALLING) == RANK
    assert column(COUNTS, 1000 - 3 * COUNTS) == RANK
    tied = COUNTS.copy()
    tied[4:8] = tied[4:8][::-1]  # ranks of tied documents in any order
    assert column(tied, FALLING) == RANK


@pytest.mark.parametrize(
    ("score", "rank", "expected"),
    [
        (COUNTS, None, SCORE),  # words
        (COUNTS, COUNTS, SCORE),
        (COUNTS, -FALLING, SCORE),  # fractions that rise are no scores for certain
        (COUNTS, np.zeros(2 * N), 0),  # nobody's ranks, and maybe a system's own scores
        (COUNTS, N + 1 - COUNTS, 0),  # a file that may begin with the last document
        (FALLING, COUNTS, 0),
        (FALLING, FALLING, 0),  # fractions are no ranks
        (-FALLING, FALLING, 0),
    ],
)
def test_what_is_not_certain_is_no_exchange(
    score: np.ndarray, rank: np.ndarray | None, expected: int
) -> None:
    assert column(score, rank) == expected


def lines(text: str) -> list[list[bytes]]:
    return [
        text.format(rank=rank, score=99 - rank / 2, q=q).encode().split()
        for q in range(2)
        for rank in range(1, N + 1)
    ]


@pytest.mark.parametrize("blanks", [1, 2])
def test_docnos_with_blanks(blanks: int) -> None:
    found = RankScores.beyond(lines(f"{{q}} Q0 d {'x ' * blanks}{{rank}} {{score}} tag"), True)
    assert found is not None
    assert found.column == SCORE + blanks
    (one,) = found.findings("a.run", First())
    assert one.rule == "columns"
    fields, holds = {
        1: ("7 fields, of which number 5", "a blank, so that its rank"),
        2: ("8 fields, of which number 6", "2 blanks, so that a piece of it"),
    }[blanks]
    assert one.what == (
        f"all lines have {fields} counts 1, 2, 3, ... and number {5 + blanks} falls: the docno "
        f"holds {holds} is read as its score"
    )


@pytest.mark.parametrize(
    "text",
    [
        "{q} Q0 d {rank} {score} tag",
        "{q} Q0 d {rank} {score} tag more",
        "{q} Q0 d {rank} {score} 7 more",  # a number for a tag
        "{q} Q0 d {rank} {rank} {score} tag",  # the rank twice
        "{q} Q0 d x {rank} nan tag",
        "{q} Q0 d x {rank} 1 tag",
    ],
)
def test_other_fields_beyond_the_sixth(text: str) -> None:
    assert RankScores.beyond(lines(text), True) is None


def test_lines_of_several_lengths() -> None:
    rows = lines("{q} Q0 d x {rank} {score} tag")
    assert RankScores.beyond([*rows[:-1], rows[-1][:-1]], True) is None
    assert RankScores.beyond([], True) is None
