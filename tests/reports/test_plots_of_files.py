"""Pictures that need more than the values of a leaderboard: runs read again, and metadata."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from refusals import refuses

import harness
from harness.errors import HarnessError
from harness.experiment.results import Results, read_results
from harness.reports.plots.plot import PlotSettings, find, requests, styled

LEVELS = [f"iprec_at_recall_{level / 10:.2f}" for level in range(11)]
NAMES = ("first=a", "second run", "third")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Put qrels and three runs of 12 queries, unsorted, and their config into a folder."""
    folder, rng = tmp_path_factory.mktemp("files"), np.random.default_rng(11)
    qids, docs = [str(k) for k in rng.permutation(12) + 1], [f"d{k}" for k in range(30)]
    grades = {(qid, doc): int(rng.integers(0, 3)) for qid in qids for doc in docs}
    text = "".join(f"{qid} 0 {doc} {grade}\n" for (qid, doc), grade in grades.items())
    (folder / "qrels.txt").write_text(text)
    for noise, name in zip((1, 2, 4), NAMES, strict=True):
        rows = [
            f"{qid} Q0 {doc} 0 {grade + rng.normal(0, noise):.5f} {name.split()[0]}\n"
            for (qid, doc), grade in grades.items()
            if rng.random() < 0.8
        ]
        (folder / f"{name}.run").write_text("".join(rows))
    (folder / "runs.csv").write_text(
        "run,latency,note\nfirst=a,12000,x\nsecond run,3.5,\nthird,0.25,y\n"
    )
    (folder / "a.yaml").write_text(
        "output: out\ndatasets: {trec: qrels.txt}\n"
        'runs: {"{run}": "{run}.run"}\nmetrics: [map, P@5]\n'
        "page: {metadata: {path: runs.csv, key: run}}\n"
        "plots: [precision-recall, run-similarity, {kind: pareto, over: latency}]\n"
    )
    harness.run(folder / "a.yaml")
    return folder


def drawn(found: Results, kind: str, **settings: Any) -> Any:
    with styled():
        return find(kind).draw(next(requests(found, PlotSettings(kind, **settings))))


def rankings(folder: Path) -> dict[str, dict[str, dict[str, float]]]:
    return {
        name: pytrec_eval.parse_run((folder / f"{name}.run").read_text().splitlines())
        for name in NAMES
    }


def test_precision_recall_is_pytrec_evals_and_leaves_the_leaderboard_alone(folder: Path) -> None:
    found = read_results(folder / "out")
    qrels = pytrec_eval.parse_qrel((folder / "qrels.txt").read_text().splitlines())
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall"})
    (axes,) = drawn(found, "precision-recall").axes
    lines = dict(zip([system.run for system in found.systems], axes.lines[::2], strict=True))
    for name, run in rankings(folder).items():
        values = evaluator.evaluate(run).values()
        expected = [np.mean([of_query[level] for of_query in values]) for level in LEVELS]
        np.testing.assert_allclose(lines[name].get_ydata(), expected, atol=1e-12)
        np.testing.assert_allclose(lines[name].get_xdata(), np.arange(11) / 10)
    with (folder / "out/leaderboard.csv").open() as file:
        assert not [name for name in next(csv.reader(file)) if "iprec" in name]
    assert {*map(str, found.board.metrics)} == {"map", "P@5"}


def test_precision_recall_follows_the_level_of_relevance(folder: Path) -> None:
    text = (folder / "a.yaml").read_text().partition("plots:")[0]
    text = text.replace("output: out", "output: level") + "policy: {relevance_level: 2}\n"
    (folder / "level.yaml").write_text(text)
    (axes,) = drawn(harness.run(folder / "level.yaml"), "precision-recall").axes
    qrels = pytrec_eval.parse_qrel((folder / "qrels.txt").read_text().splitlines())
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall"}, relevance_level=2)
    values = evaluator.evaluate(rankings(folder)["third"]).values()
    expected = [np.mean([of_query[level] for of_query in values]) for level in LEVELS]
    assert any(np.allclose(line.get_ydata(), expected, atol=1e-12) for line in axes.lines)
    assert "(rel=2)" in axes.get_title("left") + axes.get_ylabel()


def test_run_similarity_is_rbo(folder: Path) -> None:
    found = read_results(folder / "out")
    figure = drawn(found, "run-similarity")
    axes = figure.axes[0]
    order = [label.get_text() for label in axes.get_yticklabels()]
    runs = rankings(folder)
    lists = {
        name: {q: sorted(docs, key=lambda d: (-docs[d], d)) for q, docs in run.items()}
        for name, run in runs.items()
    }
    expected = [
        [
            np.mean(
                [harness.rank_similarity(lists[x][q], lists[y][q], p=0.9).rbo for q in lists[x]]
            )
            for y in order
        ]
        for x in order
    ]
    np.testing.assert_allclose(axes.images[0].get_array(), expected, atol=1e-6)


def test_pareto_takes_the_metadata(folder: Path) -> None:
    found = read_results(folder / "out")
    (axes,) = drawn(found, "pareto", over="latency", metrics=("map",)).axes
    costs = {"first=a": 12000, "second run": 3.5, "third": 0.25}
    points = {(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines[:3]}
    assert points == {(costs[s.run], s.value("map")) for s in found.systems}
    assert axes.get_xscale() == "log"
    steps = axes.lines[3]
    assert steps.get_xdata().tolist() == [0.25, 3.5, 12000]  # each is better, and slower
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("latency ↓ (dashed: frontier)", "MAP ↑")


@pytest.mark.parametrize(("column", "of"), [("note", " of map on trec"), ("speed", "")])
def test_what_pareto_cannot_draw(folder: Path, column: str, of: str) -> None:
    with refuses(f"plots: pareto{of}"):
        drawn(read_results(folder / "out"), "pareto", over=column)


def test_a_run_that_changed_is_not_drawn(folder: Path, tmp_path: Path) -> None:
    for path in folder.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    results = harness.run(tmp_path / "a.yaml")
    with (tmp_path / "third.run").open("a") as file:
        file.write("1 Q0 d99 0 1 third\n")
    with refuses("plots: precision-recall", error=HarnessError):
        drawn(read_results(results.folder), "precision-recall")


def test_a_config_and_the_command_draw_the_same_bytes(folder: Path) -> None:
    made = harness.plot(folder / "out", ["precision-recall", "run-similarity", "pareto"],
                        over="latency", formats=["svg", "pdf"]).files  # fmt: skip
    assert made == {path.name: path.read_bytes() for path in (folder / "out/plots").iterdir()}


def test_a_config_has_a_style_sheet_in_its_folder(folder: Path) -> None:
    (folder / "my.mplstyle").write_text("font.size: 9\n")
    text = (
        (folder / "a.yaml")
        .read_text()
        .partition("plots:")[0]
        .replace("output: out", "output: styled")
    )
    plots = "plots: [{kind: heatmap, metrics: map, style: {sheet: my.mplstyle, font: serif}}]\n"
    (folder / "styled.yaml").write_text(text + plots)
    results = harness.run(folder / "styled.yaml")
    assert folder / "my.mplstyle" in results.config.files()
    before = (folder / "styled/plots/heatmap-trec-map.svg").read_bytes()
    style = {"sheet": str(folder / "my.mplstyle"), "font": "serif"}
    again = harness.plot(folder / "styled", "heatmap", metrics="map", style=style)
    assert again.files == {"heatmap-trec-map.svg": before}
