"""Where predictions of the right count have slipped, and that sound ones are told nothing of."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import readers
from harness.guard.row_order import CLEAR, Rows, in_errors, look, rows_of

Array = np.ndarray[Any, Any]
SETS = {
    "mslr_web10k_sample": "mslr_web10k_sample/mslr_fold1_test_sample.txt",
    "lightgbm_lambdarank": "lightgbm_lambdarank/rank.test",
    "mq2008_fold1": "mq2008_fold1/test.txt",
}
TRIALS = int(os.environ.get("HARNESS_TRIALS", "40"))


def example_folds(root: Path) -> Iterator[tuple[str, Rows, Array]]:
    for fold in (1, 2):
        rows = rows_of(readers.read_qrels(root / f"runs/letor/fold{fold}/test.txt"))
        assert rows is not None
        for path in sorted((root / "runs/letor").glob(f"*/fold{fold}-seed*.txt")):
            yield path.parent.name, rows, np.loadtxt(path)


def slipped(scores: Array, first: int, end: int, offset: int) -> Array:
    """Scores of which those of the rows from `first` to `end` stand a row further on, or before."""
    if offset > 0:
        return np.insert(np.delete(scores, end), first, 0.5)
    return np.insert(np.delete(scores, first), end, 0.5)


def test_sound_predictions_of_the_example(root: Path) -> None:
    found = [(name, look(rows, scores)) for name, rows, scores in example_folds(root)]
    assert len(found) >= 16
    assert not [name for name, (_, slip) in found if slip is not None]
    assert all(own.z > CLEAR for name, (own, _) in found if name != "random")


@pytest.mark.parametrize("name", SETS)
def test_real_predictions(shared: Path, name: str) -> None:
    rows = rows_of(readers.read_qrels(shared / "data/ltr" / SETS[name]))
    assert rows is not None
    paths = sorted((shared / f"data/ltr/predictions_made_here/{name}").glob("*.pred"))
    assert len(paths) == 6
    for path in paths:
        scores = np.loadtxt(path)
        assert look(rows, scores)[1] is None
        for other in (np.round(scores, 1), np.argsort(np.argsort(scores)), -scores, scores**3):
            assert look(rows, other.astype(float))[1] is None


@pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
def test_all_public_sets_with_scores_of_no_model(shared: Path) -> None:
    """Random, constant, rising, falling, few, noisy and sparse ones."""
    random = np.random.default_rng(2)
    paths = [shared / "data/ltr" / path for path in SETS.values()]
    paths += sorted((shared / "data/ltr/mq2007_subset/base1024").glob("Fold*/*.txt"))
    assert len(paths) > 10
    for path in paths:
        rows = rows_of(readers.read_qrels(path))
        assert rows is not None
        n = rows.grades.size
        columns = [random.normal(size=n), np.ones(n), np.arange(n), -np.arange(n)]
        columns += [random.integers(0, 3, n), rows.grades + random.normal(0, 1, n)]
        columns.append((random.random(n) < 0.01).astype(float))
        for scores in columns:
            assert look(rows, scores.astype(float))[1] is None, path


Made = Callable[[np.random.Generator, Array], tuple[Array, Array]]
"""Grades and scores of rows, by their queries."""


def drawn(random: np.random.Generator, n: int) -> Array:
    return random.choice(5, n, p=[0.5, 0.25, 0.12, 0.08, 0.05]).astype(float)


def by_grade(random: np.random.Generator, query: Array) -> tuple[Array, Array]:
    """Rows sorted by grade, and a weak model."""
    grades = drawn(random, query.size)
    grades = grades[np.lexsort((-grades, query))]
    return grades, random.uniform(0, 1) * grades + random.normal(size=query.size)


def by_feature(random: np.random.Generator, query: Array) -> tuple[Array, Array]:
    """Rows sorted by a feature, on which grades and scores depend."""
    feature = random.normal(size=query.size)
    feature = feature[np.lexsort((feature, query))]
    grades = np.clip(np.round(feature + random.normal(size=query.size)), 0, 4)
    return grades, random.uniform(0, 2) * feature + random.normal(size=query.size)


def good_for_some(random: np.random.Generator, query: Array) -> tuple[Array, Array]:
    """A model that is good for some queries, and useless or worse for others."""
    grades = drawn(random, query.size)
    weight = random.choice([0, 0, 1.5, -0.3], query.max() + 1)[query]
    return grades, weight * grades + random.normal(size=query.size)


def good_at_first(random: np.random.Generator, query: Array) -> tuple[Array, Array]:
    """Another, useless model from the middle on."""
    grades = drawn(random, query.size)
    weight = 1.0 * (np.arange(query.size) < query.size // 2)
    return grades, weight * grades + random.normal(size=query.size)


def twice(random: np.random.Generator, query: Array) -> tuple[Array, Array]:
    """Each row stands twice, one after the other."""
    half = (query.size + 1) // 2
    grades = np.repeat(drawn(random, half), 2)[: query.size]
    return grades, random.uniform(0, 1) * grades + np.repeat(random.normal(size=half), 2)[
        : query.size
    ]


def smooth(random: np.random.Generator, query: Array) -> tuple[Array, Array]:
    """Grades and scores that change slowly along the file."""
    one, other = (np.convolve(random.normal(size=query.size), np.ones(5), "same") for _ in "ab")
    grades = np.clip(np.round(one / 2 + 1), 0, 4)
    return grades, random.uniform(0.2, 2) * grades + other


@pytest.mark.parametrize(
    "made", [by_grade, by_feature, good_for_some, good_at_first, twice, smooth]
)
def test_odd_models_in_place(made: Made) -> None:
    random = np.random.default_rng(7)
    for _ in range(TRIALS):
        lengths = random.integers(2, 60, random.integers(10, 80))
        query = np.repeat(np.arange(lengths.size), lengths)
        grades, scores = made(random, query)
        assert look(Rows(grades, query), scores)[1] is None


@pytest.mark.parametrize("offset", [1, -1])
def test_two_errors_that_cancel(root: Path, offset: int) -> None:
    """Rows 301 to 501 of 1,208 have slipped: a sixth of the file."""
    seen = []
    for name, rows, scores in example_folds(root):
        if name not in ("gbrt", "lambdamart", "neural") or scores.size != 1208:
            continue
        _, slip = look(rows, slipped(scores, 300, 500, offset))
        seen.append(slip is not None)
        if slip is not None:
            assert slip.there.offset == offset
            assert slip.first.low <= 301
            assert slip.first.high >= 300
            assert slip.end.low <= 501
            assert slip.end.high >= 500
            assert 300 <= slip.certain.start < slip.certain.stop <= 501
    assert all(seen)


@pytest.mark.parametrize("first", [0, 100, 300, 600])
def test_half_of_the_rows(root: Path, first: int) -> None:
    for name, rows, scores in example_folds(root):
        if name != "random":
            _, slip = look(rows, slipped(scores, first, first + 550, 1))
            assert slip is not None
            assert slip.there.offset == 1
            assert first <= slip.certain.start < slip.certain.stop <= first + 551


def test_a_slip_within_a_large_file() -> None:
    """A tenth of 100,000 rows, which pieces of it show."""
    random = np.random.default_rng(3)
    grades = random.integers(0, 5, 100_000)
    rows = Rows(grades, np.arange(100_000) // 20)
    scores = grades + random.normal(0, 2, 100_000)
    assert look(rows, scores)[1] is None
    _, slip = look(rows, slipped(scores, 40_000, 60_000, -1))
    assert slip is not None
    assert slip.there.offset == -1
    assert slip.first.low <= 40_001 <= slip.first.high + 1
    assert slip.end.low <= 60_000 <= slip.end.high


def test_in_standard_errors_by_hand() -> None:
    # 100 ones: the sum is 100, its error sqrt(100), and nothing is left but their mean
    assert in_errors(np.ones(100)) == 10
    # 1 and -1 in turn: the sum is 0
    assert in_errors(np.tile([1.0, -1.0], 50)) == 0
    # steps of ten alike rows are no 100 that are new: by Bartlett's weights of ten rows the
    # variance of each is 5.05 times as large, less what the ends lack
    steps = np.repeat(np.random.default_rng(1).choice([-1.0, 1.0], 1000), 10) + 0.2
    own = steps.sum() / np.sqrt((steps**2).sum())
    assert own / 3 < in_errors(steps) < own / 2
