"""`compare:` from a config to files, text, and back from the folder of results."""

from __future__ import annotations

import csv
import hashlib
import html
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from scipy import stats as scipy_stats

import harness
from harness.cli.app import app
from harness.core.comparison import Plan
from harness.errors import AlignmentError, HarnessWarning
from harness.experiment import results


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """A user's folder with the example data, and the results of configs/compare.yaml."""
    folder = tmp_path_factory.mktemp("work")
    for name in ("configs", "runs"):
        shutil.copytree(root / name, folder / name)
    harness.run(folder / "configs/compare.yaml")
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_significance_csv(workplace: Path) -> None:
    found = rows(workplace / "results/compare/significance.csv")
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


def test_the_difference_is_of_the_leaderboards_values(workplace: Path) -> None:
    # the mean over two seeds of the mean over queries is the mean over queries of the mean of two
    board = rows(workplace / "results/compare/leaderboard.csv")

    def value(dataset: str, run: str) -> float:
        found = [float(r["map"]) for r in board if (r["dataset"], r["run"]) == (dataset, run)]
        assert len(found) == 2
        return sum(found) / 2

    for row in rows(workplace / "results/compare/significance.csv"):
        if row["metric"] == "map":
            baseline = value(row["dataset"], "linear-regression")
            run = value(row["dataset"], row["run"])
            assert float(row["difference"]) == pytest.approx(run - baseline, abs=1e-15)
            assert float(row["run_value"]) == pytest.approx(run, abs=1e-15)


def test_p_is_that_of_scipy(workplace: Path) -> None:
    study = results.read(workplace / "results/compare").study
    (row, *_) = rows(workplace / "results/compare/significance.csv")
    run, baseline = (study.system(row["dataset"], row[key]) for key in ("run", "baseline"))
    assert run is not None
    assert baseline is not None
    pairs = zip(run.values("map"), baseline.values("map"), strict=True)
    kept = [(a, b) for a, b in pairs if a == a and b == b]
    assert len(kept) == int(row["n"]) == 42
    expected = scipy_stats.ttest_rel(*zip(*kept, strict=True))
    assert float(row["p"]) == pytest.approx(expected.pvalue, rel=1e-10)
    assert float(row["statistic"]) == pytest.approx(expected.statistic, rel=1e-10)
    low, high = expected.confidence_interval()
    assert (float(row["low"]), float(row["high"])) == pytest.approx((low, high), rel=1e-10)


def test_standings_and_tiers(workplace: Path) -> None:
    found = rows(workplace / "results/compare/standings.csv")
    assert list(found[0]) == [
        "dataset", "run", "metric", "n", "value", "low", "high", "rank", "rank_low", "rank_high",
        "tier", "n_ranked",
    ]  # fmt: skip
    assert len(found) == 2 * 2 * 5
    tiers = {(row["dataset"], row["run"], row["metric"]): row["tier"] for row in found}
    board = rows(workplace / "results/compare/leaderboard.csv")
    assert list(board[0])[-2:] == ["map tier", "ndcg@10 tier"]
    for row in board:
        for metric in ("map", "ndcg@10"):
            assert row[f"{metric} tier"] == tiers[row["dataset"], row["run"], metric]
    for row in found:
        assert int(row["rank_low"]) <= int(row["rank"]) <= int(row["rank_high"])


def test_the_manifest_vouches_for_them(workplace: Path) -> None:
    folder = workplace / "results/compare"
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for name in ("significance.csv", "standings.csv"):
        digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        assert manifest["outputs"][name] == digest
    assert manifest["versions"]["scipy"].count(".") == 2
    assert manifest["config"]["compare"]["baseline"] == ["linear-regression"]


@pytest.mark.parametrize("test", ["paired-t", "randomization", "randomized-tukey"])
def test_the_same_bytes_each_time(workplace: Path, test: str) -> None:
    said = [f"output=../results/{test}", f"compare.test={test}", "compare.draws=500"]
    files = []
    for _ in range(2):
        found = harness.run(workplace / "configs/compare.yaml", overrides=said)
        files.append({name: (found.folder / name).read_bytes() for name in found.files})
    assert files[0] == files[1]
    assert {"significance.csv", "standings.csv"} <= files[0].keys()


def test_read_back_and_compared_anew(workplace: Path) -> None:
    read = results.read(workplace / "results/compare")
    assert read.study.comparisons is None
    again = results.with_comparisons(read).study.comparisons
    run = harness.run(workplace / "configs/compare.yaml").comparisons
    assert again is not None
    assert run is not None
    assert again.rows == run.rows
    assert again.standings == run.standings
    other = results.with_comparisons(read, Plan(test="tukey", metrics=("map",))).study.comparisons
    assert other is not None
    assert len(other.rows) == 2 * 10


def test_nothing_is_compared_where_nothing_is_asked(workplace: Path) -> None:
    found = harness.run(workplace / "configs/quickstart.yaml")
    assert found.comparisons is None
    assert "significance.csv" not in found.files
    assert results.with_comparisons(results.read(found.folder)).study.comparisons is None
    assert not any(name.endswith(" tier") for name in rows(found.folder / "leaderboard.csv")[0])


@pytest.mark.parametrize(
    ("format", "part"),
    [
        ("table", "letor-fold1, map ↑, against linear-regression (0.7417, n=42)\nrun "),
        ("markdown", "#### letor-fold1, map ↑, against linear-regression (0.7417, n=42)\n\n| run"),
        ("html", ">letor-fold1, map ↑, against linear-regression (0.7417, n=42)"),
    ],
)
def test_printed_after_the_leaderboard(workplace: Path, format: str, part: str) -> None:
    config = str(workplace / "configs/compare.yaml")
    done = CliRunner().invoke(app, ["run", config, "--format", format])
    assert done.exit_code == 0, done.output
    assert part in done.stdout
    said = "Paired two-sided t-test; Holm's correction over all comparisons (16)"
    assert said in html.unescape(done.stdout)


@pytest.mark.parametrize("format", ["csv", "jsonl", "trec"])
def test_values_alone_stay_alone(workplace: Path, format: str) -> None:
    config = str(workplace / "configs/compare.yaml")
    done = CliRunner().invoke(app, ["run", config, "--format", format])
    assert done.exit_code == 0, done.output
    assert "adjusted" not in done.stdout
    assert not done.stdout.endswith("\n\n")


def test_runs_on_other_queries(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 a 1\nq3 0 a 1\n")
    (tmp_path / "one.run").write_text("q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\n")
    (tmp_path / "two.run").write_text("q1 Q0 a 1 1 t\nq3 Q0 a 1 1 t\n")
    (tmp_path / "c.yaml").write_text(
        "datasets: {trec: {path: qrels.txt}}\nruns: {'{r}': {path: '{r}.run'}}\nmetrics: [map]\n"
        "policy: {missing_queries: skip}\ncompare: {}\n"
    )
    with pytest.raises(AlignmentError, match="two on trec: was evaluated on other queries: q2"):
        harness.run(tmp_path / "c.yaml")


def test_a_run_that_fails_takes_no_other_with_it(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 a 1\nq3 0 b 1\n")
    (tmp_path / "c.yaml").write_text(
        "datasets: {trec: {path: qrels.txt}}\nruns: {'{r}': {path: '{r}.run'}}\nmetrics: [map]\n"
        "compare: {baseline: bad}\n"
    )
    rest = "q2 Q0 b 1 2 t\nq2 Q0 a 2 1 t\nq3 Q0 b 1 1 t\n"
    (tmp_path / "one.run").write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n" + rest)
    (tmp_path / "two.run").write_text("q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n" + rest)
    (tmp_path / "bad.run").write_text("q1 Q0 a 1 nan t\n")
    with pytest.warns(HarnessWarning, match="and the others are not compared: there is no run"):
        found = harness.run(tmp_path / "c.yaml")
    assert found.comparisons is None
    assert len(found.leaderboard.entries) == 2
    found = harness.run(tmp_path / "c.yaml", overrides=["compare.baseline=one"])
    assert found.comparisons is not None
    assert [one.run for one in found.comparisons.rows] == ["two"]
    said = "fewer comparisons than the config has: bad on trec could not be evaluated"
    assert found.comparisons.failed == (("trec", "bad"),)
    assert f"\n  {said}\n" in str(found)
    again = results.with_comparisons(results.read(found.folder)).study.comparisons
    assert again is not None
    assert again.failed == found.comparisons.failed
    (tmp_path / "bad.run").unlink()
    found = harness.run(tmp_path / "c.yaml", overrides=["compare.baseline=one"])
    assert "fewer comparisons" not in str(found)
