"""Folds and seeds: one row a system, in the leaderboard, the comparisons and what is read back."""

import math
from pathlib import Path

import pytest
from command_line import called
from csv_rows import csv_rows
from folds_and_seeds import CELLS, put

import harness
from harness.core.entries import Incomplete
from harness.core.systems import incomplete
from harness.errors import HarnessWarning
from harness.experiment.results import read_results, with_comparisons

METRICS = 'metrics: [map, "arp(over=grades)", num_rel]\n'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return put(tmp_path, METRICS).parent


POOLED = "summary={pool: [fold], spread: [seed]}"


def test_one_row_a_system(place: Path) -> None:
    results = harness.run(place / "x.yaml", overrides=[POOLED])
    a, b = csv_rows(place / "out/leaderboard.csv")
    assert (a["dataset"], a["run"], a["repetitions"], a["queries"]) == ("web", "a", "2", "3")
    # seed 1: (1 + 1 + 1/2) / 3, seed 2: (1/2 + 1/3 + 1) / 3
    means = (2.5 / 3, (1 / 2 + 1 / 3 + 1) / 3)
    assert float(a["map"]) == pytest.approx(sum(means) / 2)
    assert float(a["map sd"]) == pytest.approx(abs(means[0] - means[1]) / math.sqrt(2))
    assert float(a["map low"]) < float(a["map"]) < float(a["map high"])
    assert (b["map sd"], float(b["map"])) == ("0.0", pytest.approx((1 / 2 + 1 / 3 + 1 / 2) / 3))
    # sum of grade x rank over sum of grades of all folds; seed 1: (2x1 + 1x1 + 1x2) / 4 = 1.25,
    # seed 2: (2x2 + 1x3 + 1x1) / 4 = 2
    assert float(a["arp(over=grades)"]) == pytest.approx((1.25 + 2) / 2)
    assert a["arp(over=grades) low"] == ""  # queries weigh differently: no mean to resample
    assert "± 0.1571" in str(results)
    overrides = [POOLED, "metrics=[num_rel]", "output=out2"]
    assert " 3 ± 0\n" in str(harness.run(place / "x.yaml", overrides=overrides))  # a count is whole
    cells = csv_rows(place / "out/leaderboard_cells.csv")
    assert [(one["dataset"], one["run"], one["fold"], one["seed"]) for one in cells[:2]] == [
        ("web-fold1", "a", "1", "1"),
        ("web-fold1", "a", "1", "2"),
    ]
    assert len(cells) == 8


AVERAGED = "summary={average: [fold], spread: [seed]}"


def test_an_average_over_folds_has_no_interval(place: Path) -> None:
    harness.run(place / "x.yaml", overrides=[AVERAGED])
    a, _ = csv_rows(place / "out/leaderboard.csv")
    assert (a["repetitions"], a["map low"], a["map high"]) == ("2", "", "")
    words = "table", "out", "-m", "map", "--format", "text", "--spread", "interval"
    code, out, _ = called(*words, cwd=place)
    assert (code, "[" in out) == (0, False)


def test_comparisons_are_of_systems(place: Path) -> None:
    results = harness.run(place / "x.yaml", overrides=[POOLED, "compare={baseline: b}"])
    (one,) = results.comparisons.rows
    assert (one.dataset, one.baseline, one.run, one.n) == ("web", "b", "a", 3)
    # means over the seeds: a .75, 2/3, .75; b 1/2, 1/3, 1/2
    assert one.difference == pytest.approx((0.25 + 1 / 3 + 0.25) / 3)
    standing = results.comparisons.standing("web", "map", "a")
    row = csv_rows(place / "out/leaderboard.csv")[0]
    assert [repr(standing.low), repr(standing.high)] == [row["map low"], row["map high"]]


def test_a_fold_without_predictions_loses_no_other_run(place: Path) -> None:
    (place / "a-2-2.txt").unlink()
    code, out, err = called("run", "x.yaml", "--set", POOLED, cwd=place)
    assert code == 2
    missing = "1 of 2 parts are missing: web-fold2 (no predictions)"
    assert "a seed=2 could not be evaluated; " in out
    assert f"error: a seed=2 on web: {missing}" in err
    a, b, failed = csv_rows(place / "out/leaderboard.csv")
    assert (a["repetitions"], b["repetitions"], failed["run"]) == ("1", "2", "a")
    assert (failed["map"], failed["error"]) == ("", missing)
    assert float(a["map"]) == pytest.approx(2.5 / 3)  # seed 1 alone
    assert len(csv_rows(place / "out/leaderboard_cells.csv")) == 7


def test_a_seed_whose_files_are_missing(place: Path) -> None:
    lines = "summary: {pool: [fold], spread: [seed]}\ncompare: {baseline: b}\n"
    (place / "y.yaml").write_text(CELLS + METRICS + lines, encoding="utf-8")
    for fold in "12":
        (place / f"a-{fold}-2.txt").unlink()
    with pytest.warns(HarnessWarning) as warned:
        results = harness.run(place / "y.yaml")
    note = "Repetitions are missing: a on web has 1 of 2 (seed)."
    assert any(note in str(one.message) for one in warned)
    assert note in str(results)
    assert "1 of 2 seeds of a" in " ".join(str(results).split())  # the verdict
    lost = Incomplete("web", "a", 1, 2, ("seed",))
    study = with_comparisons(read_results(place / "out"))
    assert incomplete(study.board) == [lost]
    assert study.comparisons.lost == (lost,)
