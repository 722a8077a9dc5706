"""Folds and seeds taken together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from harness.core.evaluation import Counts, Evaluation
from harness.core.leaderboard import Entry, Failed, Leaderboard, Summary
from harness.core.names import parse_all
from harness.core.systems import pooled, systems_of
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


def test_queries_of_folds_are_taken_together() -> None:
    board = pooled(replace(BOARD, summary=Summary(pool=("fold",), spread=("seed",))))
    assert [(one.dataset, one.run, dict(one.columns)) for one in board.entries] == [
        ("mslr", "a", {"seed": "1"}),
        ("mslr", "a", {"seed": "2"}),
    ]
    first = board.entries[0]
    assert first.evaluation.qids.to_pylist() == ["q1", "q2", "q3"]
    assert first.evaluation.counts == Counts(queries=3, missing=1)
    # (.1 + .3 + .8) / 3, and the weights 1, 2 of fold 1 and 2 of fold 2: (.1 + .6 + 1.6) / 5
    assert first.summary == pytest.approx({"map": 0.4, "arp(over=grades)": 2.3 / 5})
    (system,) = systems_of(replace(BOARD, summary=Summary(pool=("fold",), spread=("seed",))))
    # seeds: .4 and (.3 + .5 + .4) / 3 = .4
    assert system.value("map") == pytest.approx(0.4)
    assert system.deviation("map") == pytest.approx(0, abs=1e-15)
    assert system.values("map").tolist() == pytest.approx([0.2, 0.4, 0.6])


def test_folds_that_count_alike() -> None:
    board = pooled(replace(BOARD, summary=Summary(average=("fold",))))
    # fold 1: .2, fold 2: .8
    assert board.entries[0].summary["map"] == pytest.approx(0.5)
    assert board.entries[0].evaluation.qids.to_pylist() == ["q1", "q2", "q3"]


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
