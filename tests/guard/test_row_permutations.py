"""Predictions in another order than the dataset's rows, and the name of that order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from harness.guard.row_order import Rows, look_elsewhere, sorted_by_score

Array = np.ndarray[Any, Any]


def dataset(seed: int, n: int = 60) -> tuple[Rows, Array]:
    """Queries of 2 to 40 rows, named by whole numbers in no order, and scores that fit."""
    random = np.random.default_rng(seed)
    qids = random.choice(np.arange(7, 12_000), n, replace=False)
    query = np.repeat(np.arange(n), random.integers(2, 41, n))
    grades = random.choice([0, 0, 0, 1, 2], query.size)
    scores = grades + random.normal(0, 1.5, query.size)
    return Rows(grades, query, pa.array(map(str, qids.tolist()))), scores


def reordered(rows: Rows, how: str) -> Array:
    """The row of each prediction, as a stable sort by a key gives it."""
    assert rows.qids is not None
    n, qids = rows.query.size, rows.qids.to_pylist()
    sizes = np.bincount(rows.query)
    key: dict[str, Any] = {
        "rows sorted by qid as text": lambda row: qids[rows.query[row]],
        "rows sorted by qid as numbers": lambda row: int(qids[rows.query[row]]),
        "rows sorted by group size": lambda row: sizes[rows.query[row]],
        "rows sorted by group size, largest first": lambda row: -sizes[rows.query[row]],
        "queries in reverse order": lambda row: -rows.query[row],
        "rows in reverse order": lambda row: -row,
    }
    return np.array(sorted(range(n), key=key[how]))


HOW = [
    "rows sorted by qid as text", "rows sorted by qid as numbers", "rows sorted by group size",
    "rows sorted by group size, largest first", "queries in reverse order",
    "rows in reverse order",
]  # fmt: skip


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("seed", range(3))
def test_usual_orders_are_named(how: str, seed: int) -> None:
    rows, scores = dataset(seed)
    assert look_elsewhere(rows, scores) is None
    at = reordered(rows, how)
    found = look_elsewhere(rows, scores[at])
    assert found is not None
    assert (found.name, found.by_score) == (how, False)
    assert found.there.r > 0.3 > 0.15 > found.own.r
    assert [at[one] for one in found.at] == [*found.rows]  # where the predictions of rows are


def test_scores_sorted_within_queries() -> None:
    rows, scores = dataset(4)
    order = np.lexsort((-scores, rows.query))
    found = sorted_by_score(rows.query, scores[order])
    assert found is not None
    assert (found.falls, found.queries) == (True, 60)
    assert sorted_by_score(rows.query, np.sort(scores)) == (False, 60)
    assert sorted_by_score(rows.query, np.zeros(scores.size)) is None
    assert sorted_by_score(rows.query[:3], np.array([3.0, 2.0, 1.0])) is None  # may be chance
    text = reordered(rows, "rows sorted by qid as text")
    both = look_elsewhere(rows, scores[order][text])  # by qid as text, then by score
    assert both is not None
    assert (both.name, both.by_score) == ("rows sorted by qid as text", True)
