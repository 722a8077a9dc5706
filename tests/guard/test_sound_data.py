"""Data without a fault have no warning, whatever their size, scale and order."""

from pathlib import Path

import numpy as np
import swept
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.experiment.check import check_config, check_files
from harness.guard.check_report import Checked

CLEAN = settings(max_examples=12)
CONFIG = """\
datasets:
  "fold{fold}": {format: letor, path: "test{fold}.txt"}
runs:
  "{model}": {format: scores, path: "{model}.{fold}.pred"}
metrics: [ndcg@10]
"""


def warned(checked: Checked) -> list[str]:
    return [str(one) for one in checked.findings if one.severity != "note"]


def letor(rng: np.random.Generator, first: int, n_queries: int) -> tuple[list[str], np.ndarray]:
    """Rows of queries of 5 to 30 documents, some relevant and some not, and their grades."""
    lines, grades = [], []
    for qid in range(first, first + n_queries):
        of_query = rng.integers(0, 5, rng.integers(5, 31))
        of_query[:2] = 0, 3
        rng.shuffle(of_query)
        for grade in of_query:
            features = " ".join(f"{at + 1}:{x:.6f}" for at, x in enumerate(rng.normal(size=5)))
            lines.append(f"{grade} qid:{qid} {features}\n")
        grades.append(of_query)
    return lines, np.concatenate(grades)


@CLEAN
@given(seed=st.integers(0, 2**32), noise=st.floats(0.0, 20.0), scale=st.floats(1e-3, 1e3))
def test_a_sweep(tmp_path: Path, seed: int, noise: float, scale: float) -> None:
    rng = np.random.default_rng(seed)
    (tmp_path / "c.yaml").write_text(CONFIG)
    for fold in range(3):
        lines, grades = letor(rng, 1000 * fold, int(rng.integers(20, 60)))
        (tmp_path / f"test{fold}.txt").write_text("".join(lines))
        for model in ("a", "b"):
            scores = scale * (grades + (0.5 + noise) * rng.normal(size=grades.size))
            text = "".join(f"{score!r}\n" for score in scores.tolist())
            (tmp_path / f"{model}.{fold}.pred").write_text(text)
    assert not warned(check_config(tmp_path / "c.yaml"))


def test_weak_settings_on_few_rows(tmp_path: Path) -> None:
    swept.put(tmp_path)
    (tmp_path / "c.yaml").write_text(swept.CONFIG)
    assert not warned(check_config(tmp_path / "c.yaml"))


@CLEAN
@given(seed=st.integers(0, 2**32), depth=st.integers(10, 60), first=st.sampled_from([0, 1]))
def test_runs(tmp_path: Path, seed: int, depth: int, first: int) -> None:
    rng = np.random.default_rng(seed)
    qrels, runs = [], {name: [] for name in ("x", "y", "z")}
    for qid in range(30):
        docnos = rng.permutation(500)
        judged = docnos[:60]
        grades = rng.integers(0, 3, judged.size)
        grades[0] = 1
        qrels += [f"{qid} 0 D{doc} {grade}\n" for doc, grade in zip(judged, grades, strict=True)]
        for name, lines in runs.items():
            some = rng.permutation(docnos[:80])[:depth]
            scores = np.sort(rng.normal(10, 3, depth))[::-1]
            lines += [
                f"{qid} Q0 D{doc} {rank + first} {score:.6f} {name}\n"
                for rank, (doc, score) in enumerate(zip(some, scores, strict=True))
            ]
    (tmp_path / "qrels").write_text("".join(qrels))
    for name, lines in runs.items():
        (tmp_path / name).write_text("".join(lines))
    files = [str(tmp_path / name) for name in runs]
    assert not warned(check_files(str(tmp_path / "qrels"), files, of_qrels={}, of_runs={}))
