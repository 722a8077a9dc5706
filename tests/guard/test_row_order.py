"""Predictions and rows: fits by definition, and shifted, shuffled and swapped predictions."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from refusals import warns

import harness
from harness.guard.row_order import (
    GradedRows,
    find_order,
    find_shift,
    sorted_by_score,
)

Scores = np.ndarray[Any, Any]


def predicted(seed: int, n: int = 1000) -> tuple[GradedRows, Scores]:
    """Rows in queries of 20, and scores that correlate with their grades by about 0.6."""
    random = np.random.default_rng(seed)
    grades = random.integers(0, 5, n)
    return GradedRows(grades, np.arange(n) // 20), grades + random.normal(0, 2, n)


def moved(scores: Scores, lost: int | None, put_in: int) -> Scores:
    """Lose one score and put another one in."""
    rest = scores if lost is None else np.delete(scores, lost)
    return np.insert(rest, put_in, 0.5)


@pytest.mark.parametrize("n", [1000, 20_000])  # all rows, and pieces first
@pytest.mark.parametrize(
    ("lost", "put_in", "offset", "first", "end"),
    [(0, -1, -1, 0, 1), (-1, 0, 1, 0, 1), (0.2, -1, -1, 0.2, 1), (0.1, 0.9, -1, 0.1, 0.9)],
)
def test_shifted_stretches(
    n: int, lost: float, put_in: float, offset: int, first: float, end: float
) -> None:
    rows, scores = predicted(1, n)
    at = n - 1 if put_in == -1 else round(put_in * n)
    changed = moved(scores, n - 1 if lost == -1 else round(lost * n), at)
    slip = find_shift(rows, changed)[1]
    assert slip is not None
    assert slip.offset == offset
    assert abs(slip.start - first * n) <= 60
    assert abs(slip.end - end * n) <= 60


Array = np.ndarray[Any, Any]


def dataset(seed: int, n: int = 60) -> tuple[GradedRows, Array]:
    """Queries of 2 to 40 rows, named by whole numbers in no order, and scores that fit."""
    random = np.random.default_rng(seed)
    qids = random.choice(np.arange(7, 12_000), n, replace=False)
    query = np.repeat(np.arange(n), random.integers(2, 41, n))
    grades = random.choice([0, 0, 0, 1, 2], query.size)
    scores = grades + random.normal(0, 1.5, query.size)
    return GradedRows(grades, query, pa.array(map(str, qids.tolist()))), scores


def reordered(rows: GradedRows, how: str) -> Array:
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
    assert find_order(rows, scores) is None
    at = reordered(rows, how)
    found = find_order(rows, scores[at])
    assert found is not None
    assert found.name == how
    assert found.moved_fit.r > 0.3 > 0.15 > found.own_fit.r
    assert [at[one] for one in found.places] == [*found.rows]  # where the predictions of rows are


def test_scores_sorted_within_queries() -> None:
    rows, scores = dataset(4)
    order = np.lexsort((-scores, rows.query))
    assert sorted_by_score(rows.query, scores[order]) == (True, 60)
    assert sorted_by_score(rows.query, np.sort(scores)) == (False, 60)
    assert sorted_by_score(rows.query, np.zeros(scores.size)) is None
    assert sorted_by_score(rows.query[:3], np.array([3.0, 2.0, 1.0])) is None  # may be chance


def as_columns(rows: GradedRows, scores: Array, base: Path) -> tuple[Any, Any, dict[str, Any]]:
    return (rows.query.astype(str), rows.grades), scores, {}


def as_lightgbm(rows: GradedRows, scores: Array, base: Path) -> tuple[Any, Any, dict[str, Any]]:
    return rows.grades, scores, {"n": np.bincount(rows.query)}


def as_frame(rows: GradedRows, scores: Array, base: Path) -> tuple[Any, Any, dict[str, Any]]:
    pd = pytest.importorskip("pandas")
    return as_files(rows, scores, base)[0], pd.DataFrame({"score": scores}), {}


def as_files(rows: GradedRows, scores: Array, base: Path) -> tuple[Any, Any, dict[str, Any]]:
    lines = zip(rows.grades.tolist(), rows.query.tolist(), strict=True)
    (base / "test.txt").write_text("".join(f"{grade} qid:{qid} 1:0\n" for grade, qid in lines))
    np.savetxt(base / "gbrt.txt", scores)
    return base / "test.txt", base / "gbrt.txt", {}


def as_labels_and_file(
    rows: GradedRows, scores: Array, base: Path
) -> tuple[Any, Any, dict[str, Any]]:
    return rows.grades, as_files(rows, scores, base)[1], {"n": np.bincount(rows.query)}


FORMS = [as_columns, as_lightgbm, as_frame, as_files, as_labels_and_file]


@pytest.mark.parametrize("form", FORMS)
def test_python_warns_of_rows_in_another_order(form: Any, tmp_path: Path) -> None:
    rows, scores = dataset(5)
    qrels, run, how = form(rows, scores, tmp_path)
    sound = harness.evaluate(qrels, run, ["ndcg@10"], **how).summary()["ndcg@10"]  # no warning
    at = reordered(rows, "queries in reverse order")
    qrels, run, how = form(rows, scores[at], tmp_path)
    with warns("row-order"):
        wrong = harness.evaluate(qrels, run, ["ndcg@10"], **how).summary()["ndcg@10"]
    assert wrong < sound - 0.1


def test_python_warns_of_shuffled_rows_beside_a_run_that_fits() -> None:
    rows, scores = dataset(6)
    shuffled = np.random.default_rng(1).permutation(scores)
    qrels = rows.query.astype(str), rows.grades
    with warns("unrelated", "b: "):
        harness.compare(qrels, {"a": scores, "b": shuffled}, ["map"])
    harness.compare(qrels, {"a": scores, "random": shuffled}, ["map"])  # a baseline, no warning


def test_a_column_s_warning_marks_its_own_run(tmp_path: Path) -> None:
    rows, scores = dataset(7)
    as_files(rows, scores, tmp_path)
    columns = zip(scores.tolist(), (-scores).tolist(), strict=True)
    text = "good,bad\n" + "".join(f"{one},{other}\n" for one, other in columns)
    (tmp_path / "two.csv").write_text(text)
    config = "datasets: {d: {path: test.txt}}\nmetrics: [map]\nruns:\n"
    for name in ("good", "bad"):
        config += f"  {name}: {{path: two.csv, columns: {{score: {name}}}}}\n"
    (tmp_path / "c.yaml").write_text(config)
    with warns("upside-down", "column 'bad': "):
        results = harness.run(tmp_path / "c.yaml")
    marked = {one.run: one.warned for one in results.leaderboard.entries}
    assert marked == {"good": (), "bad": ("upside-down",)}
