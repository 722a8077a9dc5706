"""Correlations of scores and grades, by hand and against what they are by definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.guard.row_order import CLEAR, Fit, Rows, best, fit, is_clear, offsets_to_try, ranks

GRADES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=30)


def literal(rows: list[tuple[int, int]], scores: list[float], offset: int) -> float:
    """Pearson's correlation of what is left when each query's means are taken away."""
    pairs: dict[int, list[tuple[int, float]]] = {}
    for at, (query, grade) in enumerate(rows):
        if 0 <= at + offset < len(scores):
            pairs.setdefault(query, []).append((grade, scores[at + offset]))
    xx = yy = xy = 0.0
    for some in pairs.values():
        if len({x for x, _ in some}) > 1 and len({y for _, y in some}) > 1:
            mean_x = sum(x for x, _ in some) / len(some)
            mean_y = sum(y for _, y in some) / len(some)
            xx += sum((x - mean_x) ** 2 for x, _ in some)
            yy += sum((y - mean_y) ** 2 for _, y in some)
            xy += sum((x - mean_x) * (y - mean_y) for x, y in some)
    return xy / math.sqrt(xx * yy) if xx and yy else 0.0


@given(GRADES, st.data())
def test_a_fit_is_the_correlation_within_queries(
    rows: list[tuple[int, int]], data: st.DataObject
) -> None:
    rows = sorted(rows, key=lambda row: row[0])
    scores = data.draw(st.lists(st.integers(0, 9).map(float), min_size=1, max_size=35))
    offset = data.draw(st.integers(-3, 3))
    held = Rows(np.array([grade for _, grade in rows]), np.array([query for query, _ in rows]))
    found = fit(held, np.array(scores), offset)
    assert found.r == pytest.approx(literal(rows, scores, offset), abs=1e-9)


def test_ranks_put_an_outlier_in_its_place() -> None:
    # Pearson's of (0, 1, 2) and (1, 2, 1e30) is .87; of their ranks it is 1
    rows = Rows(np.array([0, 1, 2]), np.zeros(3, np.int64))
    assert fit(rows, ranks(np.array([1.0, 2.0, 1e30]))).r == 1.0


def test_constant_queries_count_for_nothing() -> None:
    # query 0 has one grade, query 1 one score, query 2 fits
    rows = Rows(np.array([1, 1, 0, 2, 0, 2]), np.array([0, 0, 1, 1, 2, 2]))
    assert fit(rows, np.array([0.0, 5.0, 3.0, 3.0, 1.0, 2.0])) == Fit(0, 1.0, 2)


def test_where_offsets_are_looked_for() -> None:
    assert list(offsets_to_try(10, 10)) == list(range(-5, 6))
    assert list(offsets_to_try(10, 13)) == [0, 1, 2, 3]
    assert list(offsets_to_try(1000, 400)) == [-600, 0]


def test_of_equal_fits_the_first_row_wins() -> None:
    rows = Rows(np.array([0, 1] * 50), np.repeat(np.arange(50), 2))
    at_0, found = best(rows, np.array([0.0, 1.0] * 50))
    assert (at_0.offset, at_0.r, found.r) == (0, 1.0, 1.0)
    assert not is_clear(found, at_0)


def test_what_is_clear() -> None:
    strong, weak, none = Fit(1, 0.5, 1000), Fit(0, 0.3, 1000), Fit(0, 0.1, 1000)
    assert strong.z > CLEAR  # .5 x sqrt(1000) = 15.8
    assert is_clear(strong, none)
    assert not is_clear(strong, weak)  # not twice as large: rows sorted by grade do that
    assert not is_clear(Fit(1, 0.5, 100), Fit(0, 0.0, 100))  # 5 standard errors


@pytest.mark.parametrize("seed", range(20))
def test_random_scores_fit_nowhere(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grades = np.sort(rng.integers(0, 5, (60, 20)), axis=1).ravel()  # as sorted as can be
    rows = Rows(grades, np.repeat(np.arange(60), 20))
    at_0, found = best(rows, rng.normal(size=1200))
    assert not is_clear(found, at_0)


@pytest.mark.parametrize("seed", range(20))
def test_a_model_on_sorted_rows_fits_where_it_stands(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grades = np.sort(rng.integers(0, 5, (60, 20)), axis=1).ravel()
    rows = Rows(grades, np.repeat(np.arange(60), 20))
    at_0, found = best(rows, grades + rng.normal(size=1200))
    assert at_0.z > CLEAR
    assert not is_clear(found, at_0)
