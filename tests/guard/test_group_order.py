"""Group sizes in another order than the rows get a warning, and sizes that are right get none."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from refusals import harness_warnings

import harness
from harness.errors import HarnessWarning
from harness.experiment.check import check_files
from harness.readers.letor import read_qrels
from harness.readers.source import Source

Numbers = NDArray[np.float64]
ORDERS = {
    "reversed": lambda sizes: sizes[::-1],
    "of qids as text": lambda sizes: sizes[sorted(range(sizes.size), key=lambda n: str(n + 1))],
}


@pytest.fixture
def rows(root: Path) -> tuple[list[str], Numbers, Numbers, Numbers]:
    """Rows of a fold without qids, their grades, predictions and group sizes."""
    path = root / "runs/letor/fold1/test.txt"
    lines = [line.split(" ", 2) for line in path.read_text().splitlines(keepends=True)]
    _, begins, sizes = np.unique([q for _, q, _ in lines], return_index=True, return_counts=True)
    grades = np.array([float(grade) for grade, *_ in lines])
    scores = np.loadtxt(root / "runs/letor/gbrt/fold1-seed1.txt")
    return [f"{g} {features}" for g, _, features in lines], grades, scores, sizes[begins.argsort()]


def warned(grades: Numbers, scores: Numbers, sizes: Numbers) -> list[str]:
    with harness_warnings() as texts:
        harness.evaluate(grades, scores, ["ndcg@10"], n=sizes)
    return texts


@pytest.mark.parametrize("order", [*ORDERS])
def test_sizes_in_another_order(
    tmp_path: Path, order: str, rows: tuple[list[str], Numbers, Numbers, Numbers]
) -> None:
    lines, grades, scores, sizes = rows
    wrong = ORDERS[order](sizes)
    (tmp_path / "rank.test").write_text("".join(lines))
    (tmp_path / "rank.test.query").write_text("".join(f"{size}\n" for size in wrong))
    (tmp_path / "p.txt").write_text("".join(f"{score}\n" for score in scores.tolist()))
    qrels, run = str(tmp_path / "rank.test"), str(tmp_path / "p.txt")
    findings = check_files(qrels, [run], of_qrels={}, of_runs={}).findings
    of_rule = [one for one in findings if one.rule == "group-order"]
    assert [(one.severity, one.place.file) for one in of_rule] == [("warning", qrels)]
    (message,) = warned(grades, scores, wrong)
    assert "[group-order]" in message
    with pytest.warns(HarnessWarning, match="group-order"):
        harness.evaluate(qrels, run, ["ndcg@10"])


def test_sizes_in_order(tmp_path: Path, rows: tuple[list[str], Numbers, Numbers, Numbers]) -> None:
    _, grades, scores, sizes = rows
    assert not warned(grades, scores, sizes)


@pytest.mark.parametrize("alike", [0.0, 0.6, 0.9])
@pytest.mark.parametrize("seed", range(5))
def test_rows_like_their_neighbours(seed: int, alike: float) -> None:
    """Rows that resemble the row before, in queries that do not differ, say nothing of sizes."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 60, 200)
    latent = [rng.normal()]
    first = {*np.cumsum(sizes).tolist()}
    for row in range(1, int(sizes.sum())):
        before = 0.0 if row in first else alike
        latent.append(before * latent[-1] + rng.normal() * np.sqrt(1 - before**2))
    grades = np.digitize(latent, [0.5, 1, 1.5, 2]).astype(float)
    assert not warned(grades, grades + 2 * rng.normal(size=grades.size), sizes)


def test_one_relevant_row_in_each_query_and_rows_sorted_by_grade() -> None:
    rng = np.random.default_rng(7)
    sizes = rng.integers(2, 60, 1000)
    query = np.repeat(np.arange(sizes.size), sizes)
    one = np.zeros(query.size)
    one[np.append(0, np.cumsum(sizes)[:-1]) + (rng.random(sizes.size) * sizes).astype(int)] = 1
    grades = rng.integers(0, 5, query.size)
    by_grade = grades[np.lexsort((-grades, query))].astype(float)
    for data in (one, by_grade):
        assert not warned(data, data + 2 * rng.normal(size=data.size), sizes)


def test_real_sizes(shared: Path) -> None:
    source = Source(str(shared / "data/ltr/lightgbm_lambdarank/rank.test"))
    qrels = read_qrels(source, duplicates="error", name="test")
    assert source.by_sizes
    sizes = np.diff(qrels.offsets)
    grades = qrels.numbers.astype(float)
    scores = grades + 2 * np.random.default_rng(0).normal(size=grades.size)
    assert not warned(grades, scores, sizes)
    assert warned(grades, scores, sizes[::-1])
