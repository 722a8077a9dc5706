"""The numbers and labels of each kind of picture, worked by hand; no pixels."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
import studies
from refusals import refuses

from harness.config import load as config
from harness.core.names import parse_all
from harness.errors import ConfigError, HarnessWarning, InputError
from harness.reports.leaderboard import Study
from harness.reports.plots import plot as plots
from harness.reports.plots.plot import COLOURS, PlotSettings, find, requests, styled
from harness.reports.plots.values import positions
from harness.stats.compare import compare
from harness.stats.comparison import Comparison, Comparisons, Plan

TRACE = studies.TRACE
RANKED = {"a": [0.2, 0.4, 0.7, 0.1], "b": [0.3, 0.5, 0.9, 0.2], "c": [0.3, 0.6, 0.9, 0.3]}


def study(
    runs: Mapping[str, Sequence[Any]],
    metrics: Sequence[str] = ("map",),
    comparisons: Comparisons | None = None,
    qids: Mapping[str, Sequence[str]] | None = None,
) -> Study:
    """Study of ``{run: [value, or the value of each metric, for each query]}``."""
    return studies.study({"trec": runs}, metrics, comparisons, qids=qids)


def figures(found: Study, kind: str, **settings: Any) -> list[Any]:
    with styled():
        return [find(kind).draw(one) for one in requests(found, PlotSettings(kind, **settings))]


def texts(figure: Any) -> list[str]:
    from matplotlib.text import Text

    found = (one for one in figure.findobj(Text) if one.get_visible())
    return [one.get_text() for one in found if one.get_text()]


def effects_study() -> Study:
    """Study of two comparisons with a, one of them the other way round."""
    (metric,) = parse_all(["map"])
    rows = (
        Comparison("trec", metric, "a", "b", 2, 0.1, 0.05, 0.15, p_adjusted=0.01, hedges_g=0.8),
        Comparison("trec", metric, "c", "a", 2, 0.2, -0.1, 0.5, p_adjusted=0.3, hedges_g=0.4),
    )
    compared = Comparisons(plan=Plan(("a",)), rows=rows, family_sizes=(("table", 2),))
    return study({"a": [0.1, 0.2], "b": [0.2, 0.3], "c": [0.1, 0.1]}, comparisons=compared)


NAN = math.nan


def test_differences_are_sorted_and_the_largest_named() -> None:
    # b - a is .4, 0, -.1, .1 on q0 to q3
    found = study({"a": [0.5, 0.5, 0.5, 0.5], "b": [0.9, 0.5, 0.4, 0.6]})
    (figure,) = figures(found, "differences", baseline="a")
    assert bars(figure) == [(0.4, True), (0.1, True), (0, False), (-0.1, False)]
    assert {*texts(figure)} >= {
        "difference in MAP ↑",
        "queries, by their difference from a\nabove a panel: those that differ most",
        "2 won, 1 tied, 1 lost", "b\nq0, q3", "\nq2",  # q1 does not differ
    }  # fmt: skip
    assert figure.axes[0].patches[0].get_facecolor() == matplotlib.colors.to_rgba(COLOURS[1])


def bars(figure: Any) -> list[tuple[float, bool]]:
    found = sorted(figure.axes[0].patches, key=lambda bar: bar.get_x())
    return [(round(bar.get_height(), 9), bar.get_alpha() == 1) for bar in found]


def test_queries_are_paired_by_qid_and_those_without_a_value_left_out() -> None:
    found = study(
        {"a": [0.1, 0.2, 0.3], "b": [0.7, 0.9, NAN]},
        qids={"a": ["x", "y", "z"], "b": ["y", "x", "z"]},
    )
    (figure,) = figures(found, "differences", baseline="a")
    # x: .9 - .1, y: .7 - .2, z has no value in b
    assert bars(figure) == [(0.8, True), (0.5, True)]
    assert "b\nx, y" in texts(figure)


def test_cutoffs_join_metrics_that_differ_in_nothing_else() -> None:
    names = ["ndcg@10", "map", "ndcg@5", "ndcg(gain=exp)@5", "P@5", "P@1"]
    groups = find("cutoffs").groups(parse_all(names))
    assert [[str(one) for one in group] for group in groups] == [
        ["ndcg@5", "ndcg@10"], ["P@1", "P@5"],
    ]  # fmt: skip
    found = study({"a": [[0.2, 0.4], [0.4, 0.8]], "b": [[0, 0.1], [0, 0.3]]}, ["P@5", "P@10"])
    (axes,) = figures(found, "cutoffs")[0].axes
    assert [one.get_text() for one in axes.get_xticklabels()] == ["5", "10"]
    assert axes.get_ylabel() == "P ↑"
    lines = [line.get_ydata() for line in axes.lines if line.get_linestyle() != ":"]
    np.testing.assert_allclose(lines, [[0.3, 0.6], [0, 0.2]])


def test_critical_difference() -> None:
    # ranks of a: 3 3 3 3; b: 1.5 2 1.5 2; c: 1.5 1 1.5 1. Nemenyi: 2.343 sqrt(3 x 4 / (6 x 4))
    (figure,) = figures(study(RANKED), "critical-difference")
    assert {"c 1.25 ", "b 1.75 ", " 3.00 a", " CD = 1.66"} <= {*texts(figure)}
    assert "mean rank by MAP ↑\n4 queries, level 0.05" in texts(figure)
    names = [line for line in figure.axes[0].lines if line.get_linewidth() == 0.9]
    assert [line.get_color() for line in names] == [COLOURS[2], COLOURS[1], COLOURS[0]]
    cliques = [line.get_xdata() for line in figure.axes[0].lines if line.get_linewidth() == 2.2]
    # 1.25 apart is less than 1.66, 1.75 is more
    np.testing.assert_allclose(cliques, [[1.25, 1.75], [1.75, 3.0]], atol=0.03)


def test_effects_are_seen_from_the_baseline() -> None:
    (figure,) = figures(effects_study(), "effects")
    left, right = figure.axes
    # c is compared the other way round: c minus a is -.2
    intervals = [one.get_segments()[0][:, 0].tolist() for one in left.collections]
    assert [sorted(ends) for ends in intervals] == [[0.05, 0.15], [-0.5, 0.1]]
    _, b, c = left.lines
    assert (b.get_xdata()[0], c.get_xdata()[0]) == (0.1, -0.2)
    assert (b.get_markerfacecolor(), c.get_markerfacecolor()) == (COLOURS[1], "white")
    assert (b.get_marker(), c.get_marker()) == ("o", "o")
    for axes, labels in ((left, ["b", "c"]), (right, ["+0.80", "−0.40"])):
        assert [one.get_text() for one in axes.get_yticklabels()] == labels
    caption = next(one for one in texts(figure) if one.startswith("difference in MAP ↑ from a"))
    words = " ".join(caption.split())
    assert "unadjusted 95% interval filled: adjusted p ≤ .05 (Holm, 2 tests)" in words


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan(("a",), correction="none"), "95% interval filled: p ≤ .05"),
        (Plan(("a",), correction="bh", level=0.01), "adjusted p ≤ .01 (BH, 2 tests)"),
        (Plan(("a",), test="tukey"), "simultaneous 95% interval filled: adjusted p"),
    ],
    ids=["none", "bh", "tukey"],
)
def test_effects_name_the_correction(plan: Plan, words: str) -> None:
    values = {"a": [0.1, 0.4, 0.2], "b": [0.5, 0.4, 0.1], "c": [0.2, 0.6, 0.9]}
    board = study(values, ["map"])
    board = replace(board, comparisons=compare(board.systems, plan))
    (figure,) = figures(board, "effects")
    assert words in " ".join(" ".join(texts(figure)).split())


def test_the_axis_of_a_sweep_has_the_more_even_steps() -> None:
    assert positions([*map(str, range(1, 13))])[1] is False
    assert positions([*map(str, range(1, 101))])[1] is False
    assert positions(["1", "2", "5", "10", "20", "50"])[1] is True
    assert positions(["1e-5", "1e-4", "3e-4", "1e-3"])[1] is True


def test_scatter_of_systems() -> None:
    # orders 1 2 3 4 and 1 3 2 4: five pairs agree and one does not, (5 - 1) / 6
    values = {"a": [[0.1, 0.1]], "b": [[0.2, 0.3]], "c": [[0.3, 0.2]], "d": [[0.4, 0.4]]}
    (figure,) = figures(study(values, ["map", "P@5"]), "scatter")
    assert {"τ = 0.67", "MAP ↑", "P@5 ↑"} <= {*texts(figure)}
    assert [line.get_xdata()[0] for line in figure.axes[0].lines] == [0.4, 0.3, 0.2, 0.1]


BY_NAME = {"effects", "sweep", "curve", "pareto", "precision-recall", "run-similarity"}
OF_QUERIES = {"difficulty", "metric-correlation"}


@pytest.mark.parametrize("kind", sorted({*plots.KINDS} - BY_NAME - OF_QUERIES))
def test_systems_are_in_the_order_of_the_leaderboard_with_their_whole_names(kind: str) -> None:
    names = [f"team{place:02}-neural-ranker" for place in range(14)]
    rng = np.random.default_rng(0)
    values = {name: rng.uniform(0, 0.5, (8, 3)) + at / 30 for at, name in enumerate(names)}
    metrics = ["map", "ndcg@5", "ndcg@10"]
    made = study(values, metrics)  # type: ignore[arg-type]
    best = [one.run for one in sorted(made.systems, key=lambda one: -one.value("map"))]
    settings = {"baseline": best[-1]} if kind == "differences" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HarnessWarning)  # the first 6 differences are drawn
        figure = figures(made, kind, **settings)[0]
    labels = [name for text in texts(figure) for name in names if name in text]
    if kind == "critical-difference":  # by mean rank, to the left of an axis that is too narrow
        assert sorted(labels) == names
    else:
        n = 6 if kind == "differences" else 14
        assert labels[:n] == best[:n]


def test_the_best_30_of_many_systems_are_drawn() -> None:
    rng = np.random.default_rng(1)
    runs = {f"r{at}": (rng.uniform(0, 0.1, 6) + at / 40).tolist() for at in range(40)}
    (metric,) = parse_all(["map"])
    rows = tuple(Comparison("trec", metric, "r0", f"r{at}", 6, at / 40) for at in range(1, 40))
    made = study(
        runs, comparisons=Comparisons(plan=Plan(("r0",)), rows=rows, family_sizes=(("table", 0),))
    )
    kinds = {"critical-difference": 40, "effects": 39, "distribution": 40, "heatmap": 40}
    for kind, n in kinds.items():
        (figure,) = figures(made, kind)
        words = " ".join(texts(figure)).split()
        most = 15 if kind == "critical-difference" else 30
        assert {"r39", "r30"} <= {*words}
        assert len({*runs} & {*words} - {"r0"}) == most
        assert figure.get_figheight() <= 9
        assert f"the best {most} of {n} systems" in " ".join(words)


def test_heatmap_from_the_hardest_query() -> None:
    found = study({"a": [0.9, 0.1, NAN, NAN], "b": [0.7, 0.3, NAN, 0.5]})
    # means .8, .2, none, .5
    lower = study({"a": [3, 1, 2]}, ["arp"])
    for one, qids in ((found, ["q1", "q3", "q0", "q2"]), (lower, ["q0", "q2", "q1"])):
        axes = figures(one, "heatmap")[0].axes[0]
        assert [label.get_text() for label in axes.get_xticklabels()] == qids
    shown = figures(found, "heatmap")[0].axes[0].images[0].get_array().filled(NAN)
    np.testing.assert_array_equal(shown, [[0.1, NAN, 0.9, NAN], [0.3, 0.5, 0.7, NAN]])


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("differences", {"a": [0.1, 0.2]}),  # nothing but the baseline
        ("differences", {"a": [0.1], "b": [NAN]}),
        ("distribution", {"a": [NAN, NAN]}),
        ("heatmap", {"a": [NAN, NAN]}),
        ("critical-difference", {"a": [0.1, 0.2]}),
        ("critical-difference", {"a": [1, NAN], "b": [0, 1]}),
        ("critical-difference", {"a": [1, 2], "b": [1, 2]}),
    ],
)
def test_what_cannot_be_drawn_is_refused(kind: str, values: dict[str, list[float]]) -> None:
    with refuses(f"plots: {kind} of map on trec", error=InputError):
        figures(study(values), kind, baseline="a")


METRICS = ["P@5", "P@10"]
OF_FILES = {"pareto", "precision-recall", "run-similarity"}
"""Kinds that need more than values; test_plots_of_files.py draws them."""


def several(runs: int = 4, queries: int = 12) -> Study:
    values = np.random.default_rng(7).random((runs, queries, 2))
    return study({f"run-{place}": rows for place, rows in enumerate(values.tolist())}, METRICS)


def of(kind: str) -> tuple[Study, PlotSettings]:
    if kind in ("sweep", "curve"):
        values = np.random.default_rng(7).random((2, 3, 12, 2)).tolist()
        names = [(f"run-{run}::{seed}", run, seed) for run in range(2) for seed in range(3)]
        found = study({name: values[run][seed] for name, run, seed in names}, METRICS)
        return found, PlotSettings(kind, ("P@5",), over="seed")
    found = effects_study() if kind == "effects" else several()
    baseline = "a" if kind == "effects" else "run-0"
    every = ("effects", "cutoffs", "scatter", "metric-correlation")
    return found, PlotSettings(kind, () if kind in every else ("P@5",), baseline=baseline)


@pytest.mark.parametrize("kind", sorted({*plots.KINDS} - OF_FILES))
def test_the_same_bytes_whatever_matplotlib_was_told(kind: str) -> None:
    found, settings = of(kind)
    formats = ("svg", "pdf", "png") if kind == "scatter" else ("svg",)
    settings = replace(settings, formats=formats)
    before = plots.render_all(found, [settings])
    with matplotlib.rc_context({"font.size": 20, "axes.grid": True, "text.usetex": True}):
        before_drawing = dict(matplotlib.rcParams)
        assert plots.render_all(found, [settings]) == before
        assert dict(matplotlib.rcParams) == before_drawing
    for name, content in before.items():
        assert TRACE.encode() in content, name
        assert b"/Type3" not in content


def test_what_cannot_be_drawn_is_left_out_with_a_warning() -> None:
    found = study({"a": [0.1, 0.2]})
    asked = [PlotSettings("critical-difference"), PlotSettings("heatmap", formats=("svg",))]
    with pytest.warns(HarnessWarning, match=r"\bcritical-difference\b"):
        made = plots.render_all(found, asked)
    assert [*made] == ["heatmap-trec-map.svg"]
    with warnings.catch_warnings(), refuses("plots: critical-difference of map on trec"):
        plots.render_all(found, asked[:1], refuse=True)


HEAD = """\
datasets: {trec: {path: qrels.txt}}
runs: {bm25: {path: bm25.run}, dense: {path: dense.run}}
metrics: [map, "P@5,10", num_ret]
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for name in ("qrels.txt", "bm25.run", "dense.run"):
        (tmp_path / name).write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("[scater]", ["[0].kind"]),
        ("heatmap", [""]),
        ("[3]", ["[0]"]),
        ("[{metrics: map}]", ["[0]"]),
        ("[{kind: heatmap, colour: red}]", ["[0].colour"]),
        ("[{kind: heatmap, formats: jpg}]", ["[0].formats[0]"]),
        ("[{kind: heatmap, metrics: [ndcg], runs: [bm52], datasets: ['x*']}]",
         ["[0].metrics[0]", "[0].runs[0]", "[0].datasets[0]"]),
        ("[{kind: heatmap, names: {bm52: BM25}}]", ["[0].names.bm52"]),
        ("[differences]", ["[0]"]),
        ("[{kind: differences, baseline: bm52}]", ["[0].baseline"]),
        ("[{kind: effects, baseline: bm25}]", ["[0]"]),
        ("[{kind: cutoffs, metrics: map}]", ["[0].metrics"]),
        ("[{kind: scatter, metrics: [map]}]", ["[0].metrics"]),
        ("[{kind: critical-difference, metrics: num_ret}]", ["[0].metrics"]),
        ("[curve, pareto]", ["[0]", "[1]"]),
        ("[{kind: heatmap, over: lr}, {kind: precision-recall, metrics: map}]",
         ["[0].over", "[1].metrics"]),
        ("[{kind: heatmap, style: {size: 6}}]", ["[0].style.size"]),
        ("[{kind: heatmap, style: {colour: red}}]", ["[0].style.colour"]),
    ],
)  # fmt: skip
def test_what_is_wrong_has_its_place_and_line(base: Path, text: str, places: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        config.loads(f"{HEAD}plots: {text}\n", "a.yaml", base)
    found = [problem.where for problem in caught.value.problems]
    assert sorted(found) == sorted(f"$.plots{place} (line 4)" for place in places)
