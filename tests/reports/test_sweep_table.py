"""Values against a setting, from the CSV of all cells."""

import hashlib
import re
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from command_line import called
from csv_rows import csv_rows
from matplotlib.text import Text
from swept import CONFIG, POOLED, SETTINGS, put

from harness.experiment.results import read_results
from harness.experiment.run import run
from harness.reports.plots.plot import PlotSettings, find, requests
from harness.reports.sweep import sweep, top
from harness.stats.comparison import Plan

# scores of poor settings look unrelated to the grades
pytestmark = pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
CHOSEN = CONFIG[CONFIG.index("select:") :]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of pooled folds and averaged seeds, and of the same without a choice."""
    base = tmp_path_factory.mktemp("swept")
    put(base)
    plain = POOLED.replace(CHOSEN, "").replace("output: out", "output: plain")
    for name, text in (("out", POOLED), ("plain", plain)):
        path = base / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        run(path)
    return base


def expected(folder: Path, metric: str = "ndcg@10") -> dict[tuple[str, ...], float]:
    """Mean over folds, which have as many queries, and seeds, from the CSV."""
    values = defaultdict(list)
    for row in csv_rows(folder / "out/leaderboard_cells.csv"):
        if row["lr"]:
            key = row["dataset"].split("-")[0], row["run"], row["leaves"], row["lr"]
            values[key].append(float(row[metric]))
    return {key: fmean(some) for key, some in values.items()}


@pytest.mark.parametrize("name", ["out", "plain"])
def test_each_setting_has_its_mean_and_interval(folder: Path, name: str) -> None:
    done = called("table", name, "--sweep", "lr", "--format", "csv", cwd=folder)
    rows = csv_rows(done.out)
    wanted = expected(folder)
    keys = [(row["dataset"], row["run"], row["leaves"], row["lr"]) for row in rows]
    assert keys == [
        (dataset, model, leaves, lr)
        for dataset in ("vali", "test")
        for model in ("gbrt", "lambdamart")
        for leaves in ("7", "31")
        for lr in ("0.01", "0.1", "1")
    ]
    for key, row in zip(keys, rows, strict=True):
        assert float(row["ndcg@10"]) == pytest.approx(wanted[key], abs=1e-12)
        assert float(row["ndcg@10 low"]) < wanted[key] < float(row["ndcg@10 high"])
        assert row["repetitions"] == "2"


def test_the_best_settings_by_validation_are_shown_on_test_queries(folder: Path) -> None:
    found = read_results(folder / "out")
    board = sweep(found, ["lr", "leaves"], Plan())
    best = top(
        board, ["lr", "leaves"], board.metrics[0], 2
    )  # by ndcg@10, which chooses, though map is first
    wanted = expected(folder)
    for dataset in ("vali", "test"):
        for model in ("gbrt", "lambdamart"):
            rows = [one for one in best.entries if (one.dataset, one.run) == (dataset, model)]
            order = sorted(SETTINGS, key=lambda s: -wanted["vali", model, s[1], s[0]])
            assert [(one.columns["lr"], one.columns["leaves"]) for one in rows] == order[:2]
    plain = read_results(folder / "plain")
    board = sweep(plain, ["lr", "leaves"], Plan())
    (metric,) = (one for one in board.metrics if str(one) == "ndcg@10")
    rows = [one for one in top(board, ["lr", "leaves"], metric, 1).entries if one.dataset == "test"]
    for one in rows:
        of_run = [v for k, v in wanted.items() if k[:2] == ("test", one.run)]
        assert one.summary["ndcg@10"] == pytest.approx(max(of_run), abs=1e-12)
    board = sweep(plain, ["lr"], Plan())
    rows = [one for one in top(board, ["lr"], metric, 1).entries if one.dataset == "test"]
    for one in rows:
        of_lr = [wanted["test", one.run, one.columns["leaves"], lr] for lr in ("0.01", "0.1", "1")]
        assert one.summary["ndcg@10"] == pytest.approx(max(of_lr), abs=1e-12)
    assert len(rows) == 4


def test_folds_without_another_name_have_that_of_the_config(folder: Path) -> None:
    text = (
        "output: unnamed\n"
        'datasets: {"fold{fold}": {format: letor, path: "data/Fold{fold}/test.txt"}}\n'
        "runs:\n"
        '  "{model}": {format: scores, path: "scores/{model}/test-fold{fold}/'
        'lr{lr}-leaves{leaves}-seed{seed}.txt"}\n'
        "metrics: [map]\nsummary: {pool: [fold], spread: [seed]}\n"
    )
    path = folder / "grid.yaml"
    path.write_text(text, encoding="utf-8")
    run(path)
    done = called("table", "unnamed", "--sweep", "lr", "--format", "csv", cwd=folder)
    assert {row["dataset"] for row in csv_rows(done.out)} == {"grid"}


@pytest.mark.parametrize("name", ["out", "plain"])
def test_a_table_has_a_caption_and_marks_nothing_on_test_queries(folder: Path, name: str) -> None:
    done = called("table", name, "--sweep", "lr", "-m", "ndcg@10", "-f", "latex", cwd=folder)
    vali, test = done.out.split("\n\n")
    digest = hashlib.sha256((folder / name / "manifest.json").read_bytes()).hexdigest()
    for text, dataset in ((vali, "vali"), (test, "test")):
        assert digest in text.splitlines()[0]
        assert rf"\caption{{nDCG@10 on {dataset} for each value of lr.}}" in text
        assert r"nDCG@10 $\uparrow$" in text
        assert "ndcg" not in text
    assert r"\textbf" not in test
    assert vali.count(r"\textbf") == (2 if name == "out" else 0)  # one of each run
    titles = ("--name", "gbrt=GBRT", "--digits", "2", "--set", "table.arrows=false")
    text = called("table", name, "--sweep", "lr", "-m", "ndcg@10", *titles, cwd=folder).out
    assert "GBRT" in text
    assert "↑" not in text
    assert re.search(r" \.\d\d\^? +\[\.\d\d, ", text)


def test_a_long_name_of_a_metric_is_inside_the_picture(folder: Path) -> None:
    found = read_results(folder / "out")
    name = "nDCG with exponential gain@10"
    settings = PlotSettings("sweep", ("ndcg@10",), over="lr", names={"ndcg@10": name})
    (figure,) = (find("sweep").draw(one) for one in requests(found, settings))
    figure.draw_without_rendering()
    (label,) = (one for one in figure.findobj(Text) if name in one.get_text())
    inside = label.get_window_extent()
    assert min(*inside.min) >= 0
    assert (inside.max <= figure.bbox.max).all()


def test_a_plot_has_a_line_for_each_run_and_its_validation_values(folder: Path) -> None:
    found = read_results(folder / "out")
    settings = PlotSettings("sweep", ("ndcg@10",), over="lr")
    (figure,) = (find("sweep").draw(one) for one in requests(found, settings))
    (axes,) = figure.axes
    shown = [one.get_text() for one in axes.get_xticklabels()]
    assert (axes.get_xlabel(), shown) == ("lr", ["0.01", "0.1", "1"])
    wanted = expected(folder)
    names = [(model, leaves) for model in ("gbrt", "lambdamart") for leaves in ("7", "31")]
    (legend,) = figure.legends
    labels = [f"{model} leaves={n}" for model, n in names]
    assert [one.get_text() for one in legend.texts] == [*labels, "on validation queries"]
    for place, key in enumerate(names):
        values, validation = (line.get_ydata() for line in axes.lines[2 * place : 2 * place + 2])
        for dataset, found_values in (("test", values), ("vali", validation)):
            own = [wanted[(dataset, *key, lr)] for lr in shown]
            np.testing.assert_allclose(found_values, own, atol=1e-12)
        low, high = np.array(axes.collections[place].get_segments())[:, :, 1].T
        assert (low < values).all()
        assert (values < high).all()


def test_a_table_of_one_run_names_it_once_and_says_what_is_repeated(folder: Path) -> None:
    words = ("table", "out", "--sweep", "lr", "--run", "gbrt", "--dataset", "test")
    shown = called(*words, "--format", "text", cwd=folder).out
    assert "of gbrt on test for each value of lr." in shown
    assert "Run" not in shown
    assert "24 queries and 2 seeds" in shown
    assert "bootstrap intervals over queries and seeds" in shown
