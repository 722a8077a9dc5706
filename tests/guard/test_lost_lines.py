"""Predictions that are one too many or too few: advice that gives the right rows when followed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import readers
from harness.guard import lost_rows as lost
from harness.guard.lost_rows import of_count
from harness.guard.row_order import Rows, Where, fit, ranks, rows_of

Array = np.ndarray[Any, Any]
N = 1208
AT = [1, 2, 50, 100, 600, N - 50, N]
"""Lines, from 1, at which one is lost or put in."""
MODELS = ("gbrt", "lambdamart", "neural", "linear-regression")


@pytest.fixture(scope="module")
def fold(root: Path) -> Rows:
    rows = rows_of(readers.read_qrels(root / "runs/letor/fold1/test.txt"))
    assert rows is not None
    assert rows.grades.size == N
    return rows


@pytest.fixture(scope="module", params=MODELS)
def scores(request: pytest.FixtureRequest, root: Path) -> Array:
    """Predictions of each model."""
    return np.loadtxt(root / f"runs/letor/{request.param}/fold1-seed1.txt")


@pytest.fixture(params=AT)
def at(request: pytest.FixtureRequest) -> int:
    """Each of the lines."""
    return int(request.param)


def in_place(rows: Rows, scores: Array, of: Array) -> float:
    """The correlation where the rows `of` have these scores."""
    return fit(Rows(rows.grades[of], rows.query[of]), ranks(scores)).r


def span(text: str, noun: str) -> tuple[int, int]:
    """From and up to which prediction or row it may be, by a text."""
    found = re.search(f"one of {noun}s ([\\d,]+) to ([\\d,]+), likeliest", text)
    assert found is not None, text
    low, high = found.groups()
    return int(low.replace(",", "")), int(high.replace(",", ""))


def test_a_line_that_was_put_in_is_among_those_to_look_at(
    fold: Rows, scores: Array, at: int
) -> None:
    given = np.insert(scores, at - 1, 0.5)
    one = of_count("p", "d", fold, given, {})
    low, high = span(one.what, "prediction")
    assert low <= at <= high
    assert f"look at predictions {low:,} to {high:,}, and delete" in one.fix
    right = fit(fold, ranks(scores)).r
    for delete in range(low, high + 1):  # whichever it is, nearly all rows have their own
        left = np.delete(given, delete - 1)
        assert in_place(fold, left, np.arange(N)) > right - 0.04
        if delete == at:
            assert (left == scores).all()
    named = int(one.examples[0].split(":")[0].split()[1].replace(",", ""))
    assert one.examples == (f"prediction {named:,}: {given[named - 1]:.15g}",)
    assert low <= named <= high


def test_a_row_whose_prediction_was_lost_is_among_those_named(
    fold: Rows, scores: Array, at: int
) -> None:
    given = np.delete(scores, at - 1)
    one = of_count("p", "d", fold, given, {})
    low, high = span(one.what, "row")
    assert low <= at <= high
    right = fit(fold, ranks(scores)).r
    for lacking in range(low, high + 1):
        assert in_place(fold, given, np.delete(np.arange(N), lacking - 1)) > right - 0.04


def test_places_by_hand() -> None:
    """Two rows a query, of grades 0 and 1, whose scores are the grades: 40 of them.

    Without the score of row 21, of grade 0 in query 10, all rows from there on have the contrary.
    Each of these adds 1/2 x (0 or 1, less 1/2) = 1/4 where it fits and -1/4 where it does not: 1/2
    apart. Correlations above .8 are taken for .8, and both deviations are 1/2: a unit of the sum
    is .8 / .36 / (1/2 x 1/2) = 8.9 in the logarithm of the likelihood, and a row 4.4. So the third
    row away is 100,000 times less likely (11.5), and the second is not; one more at each side does
    neither fit nor not, as one score of its query is lost.
    """
    rows = Rows(np.tile([0, 1], 40), np.repeat(np.arange(40), 2))
    scores = np.tile([0.0, 1.0], 40)
    found = lost.find(rows, np.delete(scores, 20))
    assert found is not None
    ((n, where),) = found.places
    assert n == -1
    assert where == Where(20, 17, 23)
    found = lost.find(rows, np.insert(scores, 20, 0.0))
    assert found is not None
    (place,) = found.places
    assert place.n == 1
    assert 17 <= place.at.low <= 20 <= place.at.high <= 23


def test_several_places() -> None:
    random = np.random.default_rng(1)
    grades = random.integers(0, 5, 2000)
    rows = Rows(grades, np.repeat(np.arange(100), 20))
    scores = grades + random.normal(size=2000)
    given = np.insert(scores, [400, 1000, 1000, 1700], 0.5)  # at 400, 1001, 1002 and 1703 of them
    found = lost.find(rows, given)
    assert found is not None
    assert [place.n for place in found.places] == [1, 2, 1]
    for place, at in zip(found.places, (400, 1001, 1703), strict=True):
        assert place.at.low <= at <= place.at.high
        assert place.at.high - place.at.low < 60
    assert found.n == 4


@pytest.mark.parametrize("seed", range(10))
def test_scores_of_chance_have_no_place(seed: int) -> None:
    random = np.random.default_rng(seed)
    grades = np.sort(random.integers(0, 5, (60, 20)), axis=1).ravel()
    rows = Rows(grades, np.repeat(np.arange(60), 20))
    for n in (1199, 1201, 1203, 900):
        assert lost.find(rows, random.normal(size=n)) is None
        assert lost.find(rows, np.ones(n)) is None
        rising = lost.find(rows, np.arange(n, dtype=float))  # fits wherever it stands
        if rising is not None and n > 1000:
            ((_, where),) = rising.places
            assert where.high - where.low > 1000


def test_a_whole_half_that_is_lost() -> None:
    random = np.random.default_rng(1)
    grades = random.integers(0, 5, 1000)
    rows = Rows(grades, np.repeat(np.arange(50), 20))
    scores = grades + random.normal(size=1000)
    found = lost.find(rows, scores[:500])
    assert found is not None
    ((n, where),) = found.places
    assert n == -500
    assert where.low > 480
    assert where.high == 500
    found = lost.find(rows, np.delete(scores, slice(300, 800)))
    assert found is not None
    ((n, where),) = found.places
    assert n == -500
    assert where.low <= 300 <= where.high < 320
