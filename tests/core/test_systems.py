"""Folds and seeds taken together."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from harness.core.evaluation import Counts, Evaluation
from harness.core.leaderboard import Entry, Failed, Leaderboard, Summary
from harness.core.names import parse_all
from harness.core.systems import pooled
from harness.errors import AlignmentError

METRICS = parse_all(["map", "arp(over=grades)"])


def entry(run: str, fold: int, seed: int, values: dict[str, float]) -> Entry:
    column = np.array(list(values.values()))
    evaluation = Evaluation(
        np.column_stack([column, column]), pa.array(list(values)), METRICS,
        counts=Counts(queries=len(values), missing=fold - 1),
        weights={1: np.arange(1.0, len(values) + 1) * fold}, run=run, dataset=f"mslr-fold{fold}",
    )  # fmt: skip
    columns = {"fold": str(fold), "seed": str(seed)}
    return Entry(evaluation, columns, "mslr-fold{fold}")


BOARD = Leaderboard(
    (
        entry("a", 1, 1, {"q1": 0.1, "q2": 0.3}),
        entry("a", 2, 1, {"q3": 0.8}),
        entry("a", 1, 2, {"q1": 0.3, "q2": 0.5}),
        entry("a", 2, 2, {"q3": 0.4}),
    )
)


def test_pooled_folds_may_not_share_queries() -> None:
    folds = (
        {"q1": 0.1, "q2": 0.2, "q3": 0.3},
        {"q4": 0.4, "q3": 0.5},
        dict.fromkeys(["q6", "q5", "q4", "q3", "q2", "q1", "q7"], 0.6),
        {"q5": 0.1, "q6": 0.2},
    )
    parts = tuple(entry("a", place, 1, values) for place, values in enumerate(folds, 1))
    with pytest.raises(AlignmentError) as caught:
        pooled(Leaderboard(parts, summary=Summary(pool=("fold",))))
    assert str(caught.value).startswith(
        "mslr: expected each query in one part, got 6 in several: q1 (mslr-fold1, "
    )


def test_a_run_without_a_fold_is_left_out_and_reported() -> None:
    error = "b.txt:3: score 'nan'\n  fix: repair it"
    columns = {"fold": "2", "seed": "1"}
    failed = (Failed("mslr-fold2", "b", columns, error, "mslr-fold{fold}"),)
    entries = (*BOARD.entries[:3], entry("b", 1, 1, {"q1": 0.2}))
    board = pooled(Leaderboard(entries, failed, Summary(pool=("fold",))))
    assert [(one.run, one.columns["seed"]) for one in board.entries] == [("a", "1")]
    assert [(one.dataset, one.run, one.columns, one.error) for one in board.failed] == [
        ("mslr", "a", {"seed": "2"}, "1 of 2 parts are missing: mslr-fold2 (no predictions)"),
        ("mslr", "b", {"seed": "1"}, "1 of 2 parts are missing: mslr-fold2 (b.txt:3: score 'nan')"),
    ]
