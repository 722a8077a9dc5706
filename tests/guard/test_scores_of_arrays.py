"""Python warns of labels, labels with noise and classes as scores, as ``harness check`` does."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from refusals import harness_warnings

import harness

Numbers = NDArray[np.float64]
RNG = np.random.default_rng(5)
CASES: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "": lambda grades, scores: scores,
    "labels-as-scores": lambda grades, scores: grades,
    "noisy-labels": lambda grades, scores: 3 * grades + RNG.normal(0, 0.3, grades.size),
    "classes-as-scores": lambda grades, scores: np.digitize(
        scores, np.quantile(scores, [0.5, 0.8])
    ),
    "shifted": lambda grades, scores: np.append(scores[:700], np.roll(scores[700:], 2)),
}


@pytest.mark.parametrize("form", ["columns", "groups", "batch", "file", "several"])
@pytest.mark.parametrize("rule", [*CASES])
def test_rules_of_scores(root: Path, rule: str, form: str) -> None:
    path = root / "runs/letor/fold1/test.txt"
    heads = [line.split(" ", 2)[:2] for line in path.read_text().splitlines()]
    grades, qids = np.array([float(grade) for grade, _ in heads]), [qid for _, qid in heads]
    _, begins, sizes = np.unique(qids, return_index=True, return_counts=True)
    sizes = sizes[begins.argsort()]
    scores = CASES[rule](grades, np.loadtxt(root / "runs/letor/gbrt/fold1-seed1.txt"))
    with harness_warnings() as messages:
        if form == "batch":
            mask = np.arange(sizes.max()) < sizes[:, None]
            padded = np.zeros((2, *mask.shape))
            padded[:, mask] = grades, scores
            harness.evaluate(*padded, ["map"], n=sizes)
        elif form == "groups":
            harness.evaluate(grades, scores, ["map"], n=sizes)
        elif form == "several":
            harness.compare((qids, grades), {"a": scores, "b": scores + 1}, ["map"])
        else:
            harness.evaluate(path if form == "file" else (qids, grades), scores, ["map"])
    rules = {message.partition("[")[2].partition("]")[0] for message in messages}
    if form == "several":  # b is no longer whole, but has a score for each grade
        rules -= {"same-file-twice"}
    assert rules == ({rule} if rule else set())
