"""Comparisons: tables, notes, files, and `harness compare` of runs."""

import math
from pathlib import Path

import numpy as np
import pytest
from command_line import refused, succeeds
from csv_rows import csv_rows
from refusals import refuses
from scipy import stats as scipy_stats

import harness
from harness.errors import ConfigError
from harness.experiment.results import read_results
from harness.reports.comparisons import render
from harness.reports.leaderboard import PRINTED
from harness.stats.comparison import Comparisons


@pytest.fixture(scope="module")
def compared(workplace: Path) -> Path:
    return harness.run(workplace / "configs/compare.yaml").folder


def test_names_of_a_folder(compared: Path) -> None:
    folder = compared
    text = succeeds("compare", "gbrt", "neural", "lambdamart", "--results", folder, "-f", "csv")
    rows = csv_rows(text)
    assert [(row["dataset"], row["metric"], row["baseline"], row["run"]) for row in rows] == [
        (dataset, metric, "gbrt", run)
        for dataset in ("letor-fold1", "letor-fold2")
        for metric in ("map", "ndcg@10", "swaps(normalize=true)")
        for run in ("neural", "lambdamart")
    ]
    text = succeeds(
        "compare",
        "gbrt", "neural", "--results", folder, "-m", "AP", "--dataset", "letor-fold2", "-b",
        "neural",
    )  # fmt: skip
    assert "\n\nletor-fold2, gbrt against neural\n" in text
    assert "letor-fold1" not in text
    board = folder / "leaderboard.csv"
    for words, begin in (
        (("gbrt", "neurall", "--results", folder), "unknown run 'neurall'\n  fix:   use neural"),
        (("gbrt", "neural", "--results", folder, "--dataset", "letor"), "--dataset: unknown"),
        (("gbrt", "neural", "--results", folder, "-m", "P@5"), "--metric: unknown metric"),
        ((folder, folder, folder), f"{folder}, {folder}, {folder}: expected run files"),
        ((board, board, "--results", folder), f"unknown run '{board}'"),
    ):
        assert refused("compare", *words).startswith(f"error: {begin}")


@pytest.mark.parametrize("asked", ["baseline: neural", "{}", "{baseline: [neural, random]}"])
def test_pairs_of_the_config_have_its_correction(
    workplace: Path, tmp_path: Path, asked: str
) -> None:
    config, output = workplace / "configs/compare.yaml", f"output={tmp_path}/out"
    settings = ["compare={}", f"compare={asked if asked[0] == '{' else '{' + asked + '}'}"]
    folder = harness.run(config, overrides=[*settings, output]).folder
    rows = csv_rows((folder / "significance.csv").read_text())
    for runs in (("neural", "gbrt"), ("gbrt", "neural"), ("random", "neural", "gbrt")):
        for more in ((), ("--dataset", "letor-fold2"), ("-m", "AP")):
            words = ("compare", *runs, "--results", folder, *more, "-f", "csv")
            wanted = [
                row
                for row in rows
                if {row["run"], row["baseline"]} <= {*runs}
                and (row["metric"] == "map" or "-m" not in more)
                and (row["dataset"] == "letor-fold2" or "--dataset" not in more)
            ]
            assert csv_rows(succeeds(*words)) == wanted
    words = ("compare", "gbrt", "lambdamart", "--results", folder, "-m", "map", "-f", "csv")
    (first, _) = csv_rows(succeeds(*words))
    assert first["family_size"] == ("10" if asked == "{}" else "2")
    (first, _) = csv_rows(succeeds(*words, "--correction", "bh"))
    assert first["family_size"] == "2"


def test_the_config_of_results_has_the_settings_left_out(workplace: Path, tmp_path: Path) -> None:
    config = workplace / "configs/compare.yaml"
    settings = ["compare.test=sign", "compare.correction=bh", "compare.level=0.2"]
    folder = harness.run(config, overrides=[*settings, f"output={tmp_path}/out"]).folder
    words = ("gbrt", "neural", "--results", folder, "-m", "map", "-f", "csv")

    def used(*more: str) -> list[str]:
        row = csv_rows(succeeds("compare", *words, *more))[0]
        return [row[key] for key in ("test", "correction", "level")]

    assert used() == ["sign", "bh", "0.2"]
    assert used("--test", "paired-t", "--level", "0.05") == ["paired-t", "bh", "0.05"]
    for more in (("--correction", "bonferroni"), ("--set", "compare.family=metric")):
        used(*more)
        said = refused("compare", *words, "--test", "tukey", *more)
        option = more[0] if more[0] == "--correction" else " ".join(more).partition("=")[0]
        assert said.rstrip().endswith(f"fix:   leave {option} out")
    with refuses("$.compare.correction (line 20)", error=ConfigError):
        harness.run(config, overrides=["compare.test=tukey"])


def test_significance_csv(compared: Path) -> None:
    found = csv_rows(compared / "significance.csv")
    assert list(found[0]) == [
        "dataset", "metric", "baseline", "run", "n", "baseline_value", "run_value", "difference",
        "low", "high", "interval", "level", "d_z", "hedges_g", "cliffs_delta", "wins", "ties",
        "losses", "detectable", "statistic", "p", "p_adjusted", "significant", "test", "method",
        "correction", "family", "family_size", "draws", "seed", "note",
        "overall_statistic", "overall_p", "critical_difference",
    ]  # fmt: skip
    runs = ["gbrt", "lambdamart", "neural", "random"]
    assert [(row["dataset"], row["metric"], row["run"]) for row in found] == [
        (dataset, metric, run)
        for dataset in ("letor-fold1", "letor-fold2")
        for metric in ("map", "ndcg@10")
        for run in runs
    ]
    for row in found:
        assert row["baseline"] == "linear-regression"
        assert (row["test"], row["correction"], row["family"]) == ("paired-t", "holm", "table")
        assert (row["family_size"], row["draws"], row["seed"]) == ("16", "", "")
        assert row["significant"] == ("true" if float(row["p_adjusted"]) <= 0.05 else "false")


def test_p_is_that_of_scipy(compared: Path) -> None:
    study = read_results(compared)
    (row, *_) = csv_rows(compared / "significance.csv")
    run, baseline = (study.system(row["dataset"], row[key]) for key in ("run", "baseline"))
    pairs = zip(run.values("map"), baseline.values("map"), strict=True)
    kept = [(a, b) for a, b in pairs if a == a and b == b]
    assert len(kept) == int(row["n"]) == 42
    expected = scipy_stats.ttest_rel(*zip(*kept, strict=True))
    assert float(row["p"]) == pytest.approx(expected.pvalue, rel=1e-10)
    assert float(row["statistic"]) == pytest.approx(expected.statistic, rel=1e-10)
    low, high = expected.confidence_interval()
    assert (float(row["low"]), float(row["high"])) == pytest.approx((low, high), rel=1e-10)


RNG = np.random.default_rng(8)
TWELVE = {f"q{place}": {"a": 1, "b": 0, "c": 0, "d": 1} for place in range(12)}
SYSTEMS = {
    run: {qid: {doc: RNG.random() + (doc == "a") * bonus for doc in "abcd"} for qid in TWELVE}
    for run, bonus in (("one", 0.0), ("two", 0.4), ("three", 1.0))
}
EVALUATIONS = [
    harness.evaluate(TWELVE, run, ["map", "P@2"], name=name, dataset="made")
    for name, run in SYSTEMS.items()
]


def by(test: str) -> Comparisons:
    return harness.compare(EVALUATIONS, test=test, draws=999)


def test_friedman_is_that_of_scipy_and_is_in_each_row() -> None:
    values = [one.column("map") for one in EVALUATIONS]
    expected = scipy_stats.friedmanchisquare(*values)
    rows = csv_rows(render(by("friedman-nemenyi"), "csv"))
    for row in rows[:3]:
        assert float(row["overall_statistic"]) == pytest.approx(expected.statistic)
        assert float(row["overall_p"]) == pytest.approx(expected.pvalue)
    assert {row["critical_difference"] for row in rows[:3]} == {rows[0]["critical_difference"]}
    # Demsar's table: q of three at .05 is 2.343; times sqrt(3 * 4 / (6 * 12))
    assert float(rows[0]["critical_difference"]) == pytest.approx(2.343 * np.sqrt(1 / 6), abs=1e-3)


def test_csv_files_are_runs_if_qrels_are_given(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("".join(f"{q} 0 a 1\n" for q in (1, 2, 10)))
    for name, first in (("x", 0.5), ("y", 2.0)):
        rows = "".join(f"{q},a,{first}\n{q},b,1\n" for q in (10, 2, 1))
        (tmp_path / f"{name}.csv").write_text(f"qid,docno,score\n{rows}")
    found = succeeds(
        "compare",
        tmp_path / "x.csv",
        tmp_path / "y.csv",
        "--qrels",
        tmp_path / "q",
        "-m",
        "recip_rank",
    )
    assert "+0.5000" in found


def test_print_shows_the_first_of_many_comparisons() -> None:
    rng = np.random.default_rng(1)
    qrels = {str(q): {f"d{d}": int(rng.integers(2)) for d in range(5)} for q in (1, 2, 10)}
    runs = {
        f"run={k}": {q: {d: float(rng.random()) for d in judged} for q, judged in qrels.items()}
        for k in range(20)
    }
    found = harness.compare(qrels, runs, ["map"])
    n = len(found.rows)
    assert n == math.comb(20, 2)
    text = str(found)
    assert f"{n - PRINTED} more comparisons are not shown" in text
    assert len(text.splitlines()) < PRINTED + 20
    assert str(n - PRINTED) not in str(harness.compare(qrels, dict([*runs.items()][:5]), ["map"]))
