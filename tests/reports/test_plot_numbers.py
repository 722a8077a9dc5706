"""The numbers of pictures that follow from values, and the layout of all of them."""

import itertools
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import studies
from refusals import refuses
from scipy import stats

from harness.core.leaderboard import Summary
from harness.core.names import parse_all
from harness.errors import HarnessWarning, InputError
from harness.reports.leaderboard import Study
from harness.reports.plots import plot as plots
from harness.reports.plots.plot import PlotSettings, Style, find, requests, styled, suited
from harness.reports.plots.values import frontier
from harness.stats.compare import compare
from harness.stats.comparison import Plan

LONG = "msmarco-distilbert-base-tas-b (k=1000, reranked by t5-3b with 4 passages)"


def random_study(
    n_systems: int, n_queries: int, metrics: tuple[str, ...] = ("map", "P@5", "P@10"), **more: Any
) -> Study:
    values = np.random.default_rng(3).beta(2, 3, (n_systems, n_queries, len(metrics)))
    names = [*more.pop("names", ()), *(f"r{k}" for k in range(n_systems))][:n_systems]
    runs = {name: rows.tolist() for name, rows in zip(names, values, strict=True)}
    return studies.study({"trec": runs}, metrics, **more)


def figures(found: Study, kind: str, **settings: Any) -> list[Any]:
    asked = PlotSettings(kind, **settings)
    with styled(asked.style):
        return [find(kind).draw(request) for request in requests(found, asked)]


def seeded(epochs: int = 4, seeds: int = 3) -> tuple[Study, Any]:
    """Runs a and b with epochs (10, 5, 0, ...) and seeds, and their values."""

    values = np.random.default_rng(5).random((2, epochs, seeds, 6, 1))
    made = {
        f"{run}::{epoch}/{seed}": values[k, epoch, seed].tolist()
        for k, run in enumerate("ab")
        for epoch, seed in itertools.product(range(epochs), range(seeds))
    }
    board = studies.study({"trec": made}, ["map"]).board
    entries = []
    for entry in board.entries:
        epoch, _, seed = entry.columns["seed"].partition("/")
        columns = {"epoch": str(5 * (epochs - 1 - int(epoch))), "seed": seed}
        entries.append(replace(entry, columns=columns))
    whole = replace(board, entries=tuple(entries), summary=Summary(spread=("seed",)))
    return studies.MadeStudy(whole), values


def test_a_curve_has_means_and_bands_of_one_deviation_over_seeds() -> None:
    found, values = seeded()
    (figure,) = figures(found, "curve", over="epoch")
    (axes,) = figure.axes
    by_seed = values.mean(axis=(3, 4))[:, ::-1]  # the largest epoch came first
    lines = [line for line in axes.lines if line.get_marker() not in ("", "None")]
    for line, band, means in zip(lines, axes.collections, by_seed, strict=True):
        assert line.get_xdata().tolist() == [0, 5, 10, 15]
        np.testing.assert_allclose(line.get_ydata(), means.mean(axis=1))
        ends = band.get_paths()[0].vertices
        high = means.mean(axis=1) + means.std(axis=1, ddof=1)
        np.testing.assert_allclose(max(ends[:, 1]), high.max())
    assert axes.get_xscale() == "linear"
    assert axes.get_xlabel() == "epoch\nbands: ± 1 standard deviation, 3 seeds"
    renamed = [
        replace(entry, columns={"epoch": entry.columns["epoch"], "fold": entry.columns["seed"]})
        for entry in found.board.entries
    ]
    of_folds = replace(found.board, entries=tuple(renamed), summary=Summary(spread=("fold",)))
    (figure,) = figures(studies.MadeStudy(of_folds), "curve", over="epoch")
    assert figure.axes[0].get_xlabel().endswith("± 1 standard deviation, 3 folds")


def test_a_curve_of_words_is_refused() -> None:
    found = studies.study({"trec": {"a::x": [[0.1]], "a::y": [[0.2]]}})
    with refuses("plots: curve", error=InputError):
        figures(found, "curve", over="seed")


def test_cutoffs_have_bands_of_t_intervals() -> None:
    found = random_study(2, 9)
    (figure,) = figures(found, "cutoffs")
    best_first = sorted(found.systems, key=lambda one: -one.value("map"))
    for system, band in zip(best_first, figure.axes[0].collections, strict=True):
        for metric, cutoff in (("P@5", 5), ("P@10", 10)):
            values = system.values(metric)
            ends = stats.t.interval(0.95, 8, values.mean(), stats.sem(values))
            points = band.get_paths()[0].vertices
            shown = points[points[:, 0] == cutoff][:, 1]
            np.testing.assert_allclose([shown.min(), shown.max()], ends)
    (axes,) = figures(random_study(6, 9), "cutoffs")[0].axes
    assert "bands" not in axes.get_xlabel()


def test_difficulty_sorts_queries_by_their_median() -> None:
    found = random_study(7, 5)
    (figure,) = figures(found, "difficulty", metrics=("map",))
    (axes,) = figure.axes
    values = np.array([system.values("map") for system in found.systems])
    order = np.argsort(np.median(values, axis=0))
    labels = axes.get_xticklabels()
    assert [label.get_text() for label in labels] == [f"q{k}" for k in order]
    boxes = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in axes.patches]
    np.testing.assert_allclose(boxes, np.quantile(values[:, order], [0.25, 0.75], axis=0).T)


def test_difficulty_of_a_cost_begins_with_the_largest() -> None:
    found = studies.study({"trec": {"a": [[3], [1], [2]], "b": [[4], [1], [2]]}}, ["arp"])
    (axes,) = figures(found, "difficulty")[0].axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["q0", "q2", "q1"]
    assert [line.get_ydata().tolist() for line in axes.lines] == [[3, 2, 1], [4, 2, 1]]


def test_difficulty_of_thousands_of_queries_has_bands() -> None:
    (figure,) = figures(random_study(5, 300), "difficulty", metrics=("map",))
    assert figure.axes[0].get_xlabel() == "300 queries, hardest to easiest"


def test_metric_correlation_is_kendalls_tau_b() -> None:
    found = random_study(9, 4)
    (figure,) = figures(found, "metric-correlation")
    means = {m: [one.value(m) for one in found.systems] for m in ("map", "P@5", "P@10")}
    expected = [[stats.kendalltau(x, y).statistic for y in means.values()] for x in means.values()]
    np.testing.assert_allclose(figure.axes[0].images[0].get_array(), expected)


def test_the_frontier_has_no_point_that_another_beats() -> None:
    rng = np.random.default_rng(2)
    costs, worth = rng.integers(0, 9, 40).astype(float), rng.integers(0, 9, 40).astype(float)
    kept = {(costs[k], worth[k]) for k in frontier(costs, worth)}
    pairs = {*zip(costs.tolist(), worth.tolist(), strict=True)}
    assert kept == {
        (x, y) for x, y in pairs
        if not any(a <= x and b >= y and (a, b) != (x, y) for a, b in pairs)
    }  # fmt: skip


def test_named_systems_have_colours_of_their_own() -> None:
    values = {f"r{k}": [[(k % 7 == 0) + k / 100]] for k in range(40)}  # the best share a colour
    found = studies.study({"trec": {run: [[*rows[0], rows[0][0]]] for run, rows in values.items()}},
                          ["P@5", "P@10"])  # fmt: skip
    for kind in ("cutoffs", "scatter"):
        legend = figures(found, kind)[0].legends[0]
        colours = [handle.get_color() for handle in legend.get_lines()][:5]
        assert len({*colours}) == 5


def test_dashes_and_markers_tell_systems_apart_without_colours() -> None:
    looks = [plots.look(place) for place in range(8)]
    assert len({(look.marker, str(look.line)) for look in looks}) == 8


KINDS = sorted({*plots.KINDS} - {"pareto", "precision-recall", "run-similarity"})
STUDIES = {
    "two systems": lambda: random_study(2, 30, names=["bm25", LONG]),
    "long names": lambda: random_study(9, 20, names=[f"{k} {LONG}" for k in range(9)]),
    "a query": lambda: random_study(5, 1),
    "many": lambda: random_study(143, 50),
}


@pytest.mark.parametrize(
    ("width", "style"), [("column", Style("serif", 9)), ("page", Style())], ids=["column", "page"]
)
@pytest.mark.parametrize("case", STUDIES)
def test_text_is_within_the_picture_and_large_enough(case: str, width: Any, style: Style) -> None:
    from matplotlib.text import Text

    found = STUDIES[case]()
    first = found.systems[0].run
    compared = compare(found.systems, Plan((first,), metrics=("map",)))
    found = studies.MadeStudy(found.board, compared)
    for kind in KINDS:
        if kind in ("sweep", "curve") or (kind, case) == ("critical-difference", "a query"):
            continue
        settings = PlotSettings(kind, width=width, style=style, baseline=first)
        with styled(style), warnings.catch_warnings():
            warnings.simplefilter("ignore", HarnessWarning)  # not all differences are drawn
            request = next(requests(found, settings))
            figure = find(kind).draw(request)
            figure.canvas.draw()
        assert figure.get_figheight() <= 9.5, kind
        height, breadth = figure.bbox.height, figure.bbox.width
        axes = [axis for each in figure.axes for axis in (each.xaxis, each.yaxis)]
        ticks = {axis: [*shown_ticks(axis)] for axis in axes}
        outside = {t.label1 for axis in axes for t in axis.get_major_ticks()}
        outside -= {label for labels in ticks.values() for label in labels}
        for text in figure.findobj(Text):
            if text in outside or not (text.get_visible() and text.get_text().strip()):
                continue
            assert text.get_fontsize() >= 7
            box = text.get_window_extent()
            where = f"{kind}: {text.get_text()!r}"
            assert (box.x0 >= -2, box.x1 <= breadth + 2) == (True, True), where
            assert (box.y0 >= -2, box.y1 <= height + 2) == (True, True), where
        for axis, labels in ticks.items():
            boxes = [
                label.get_window_extent()
                for label in labels
                if label.get_visible() and label.get_text()
            ]
            for one, other in itertools.pairwise(boxes):
                assert not one.overlaps(other), f"{kind}: labels of {axis.axis_name}"


def shown_ticks(axis: Any) -> Any:
    low, high = sorted(axis.get_view_interval())
    for tick in axis.get_major_ticks():
        if low <= tick.get_loc() <= high:
            yield tick.label2 if axis.get_ticks_position() == "right" else tick.label1


def test_a_style_sheet_sets_sizes_and_colours(tmp_path: Any) -> None:
    sheet = tmp_path / "my.mplstyle"
    sheet.write_text("font.size: 10\naxes.prop_cycle: cycler('color', ['ff0000', '00ff00'])\n")
    with styled(Style(sheet="my.mplstyle"), tmp_path):
        figure = find("cutoffs").draw(next(requests(random_study(2, 4), PlotSettings("cutoffs"))))
    lines = figure.legends[0].get_lines()
    assert [line.get_color() for line in lines] == ["#ff0000", "#00ff00"]
    assert {label.get_fontsize() for label in figure.axes[0].get_xticklabels()} == {10}


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("axes.labelsize: 5\n", "plots: style"),
        ("font.size: 6\n", "plots: style"),
        ("text.usetex: True\n", "my.mplstyle"),
        (None, "my.mplstyle"),
    ],
)
def test_a_style_sheet_that_cannot_be_used(tmp_path: Any, text: str | None, where: str) -> None:
    if text is not None:
        (tmp_path / "my.mplstyle").write_text(text)
    where = str(tmp_path / where) if where.endswith("mplstyle") else where
    with refuses(where, error=InputError), styled(Style(sheet="my.mplstyle"), tmp_path):
        pass


def test_a_font_that_is_not_installed() -> None:
    with refuses("plots: style", error=InputError), styled(Style("No Such Font")):
        pass


def test_pictures_that_suit() -> None:
    def kinds(found: Study) -> list[tuple[str, str]]:
        return [(one.kind, one.over) for one in suited(found, PlotSettings("distribution"))]

    assert kinds(seeded()[0]) == [("curve", "epoch")]
    found = random_study(4, 9)
    plain = [("critical-difference", ""), ("cutoffs", ""), ("distribution", "")]
    assert kinds(found) == plain
    tested = studies.MadeStudy(found.board, compare(found.systems, Plan(("r0",))))
    assert kinds(tested) == [("effects", ""), *plain[1:]]
    assert kinds(random_study(30, 9, ("map", "P@5")))[-1] == ("difficulty", "")
    assert kinds(random_study(2, 1)) == [("cutoffs", ""), ("heatmap", "")]


def test_recall_levels_are_metrics_of_the_harness() -> None:
    from harness.reports.plots.lines import LEVELS

    assert [str(metric) for metric in parse_all(LEVELS)] == [*LEVELS]
