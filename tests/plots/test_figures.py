"""Figures: labels, looks, files' bytes, and what they leave alone."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex
from pictured import RANKED, TRACE, effects_study, figures, study, texts

from harness.core.study import Study
from harness.errors import HarnessWarning
from harness.reports import plots
from harness.reports.plots.plot import COLOURS, INCHES, POINTS, Settings, look

METRICS = ["P@5", "P@10"]
HERE = str(Path(__file__).parent)


def several(runs: int = 4, queries: int = 12) -> Study:
    values = np.random.default_rng(7).random((runs, queries, 2))
    return study({f"run-{place}": rows for place, rows in enumerate(values.tolist())}, METRICS)


def of(kind: str) -> tuple[Study, Settings]:
    found = effects_study() if kind == "effects" else several()
    baseline = "a" if kind == "effects" else "run-0"
    metrics = ("P@5",) if kind not in ("effects", "cutoffs", "scatter") else ()
    return found, Settings(kind, metrics, baseline=baseline)


@pytest.mark.parametrize("kind", plots.KINDS)
@pytest.mark.parametrize("width", ["column", "page"])
def test_every_text_is_of_one_size_and_within_the_picture(kind: str, width: str) -> None:
    from matplotlib.text import Text

    found, settings = of(kind)
    (figure,) = figures(
        found, kind, metrics=settings.metrics, baseline=settings.baseline, width=width
    )
    figure.canvas.draw()
    assert figure.get_size_inches()[0] == INCHES[width]
    box = figure.bbox
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text() and text.axes is not None:
            extent = text.get_window_extent()
            assert text.get_fontsize() == POINTS
            on_axis = text in [label for a in figure.axes for label in (
                *a.get_xticklabels(), *a.get_yticklabels())]  # fmt: skip
            if not on_axis:  # ticks beyond the limits are not drawn
                assert extent.x0 > -1, text.get_text()
                assert extent.x1 < box.x1 + 1, text.get_text()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("differences", {"run-1", "run-3", "difference in P@5 ↑",
                         "queries, by their difference from run-0"}),
        ("cutoffs", {"run-0", "run-3", "cutoff", "P ↑", "5", "10"}),
        ("distribution", {"run-0", "run-3", "P@5 ↑"}),
        ("scatter", {"run-0", "run-3", "P@5 ↑", "P@10 ↑"}),
        ("heatmap", {"run-0", "run-3", "P@5 ↑", "q0", "q11", "query, hardest to easiest"}),
        ("critical-difference", {" CD = 1.66", "c 1.25 ", "b 1.75 ", " 3.00 a",
                                 "mean rank by map ↑\n4 queries, level 0.05"}),
        ("effects", {"b", "c", "Hedges' g", "+0.80", "−0.40",
                     "difference in map ↑ from a\n95 % interval; ● p ≤ 0.05, ○ p > 0.05"}),
    ],
)  # fmt: skip
def test_labels(kind: str, expected: set[str]) -> None:
    found, settings = of(kind)
    if kind == "critical-difference":
        found, settings = study(RANKED), Settings(kind)
    (figure,) = figures(found, kind, metrics=settings.metrics, baseline=settings.baseline)
    assert expected <= {*texts(figure)}


def test_many_queries_are_counted_alike_in_every_kind() -> None:
    values = np.random.default_rng(5).random((2, 1531, 2))
    found = study({f"run-{n}": rows for n, rows in enumerate(values)}, ("P@5", "P@10"))
    said = [
        "\n".join(texts(figures(found, kind, **settings)[0]))
        for kind, settings in (
            ("heatmap", {}), ("critical-difference", {}), ("scatter", {"runs": ("run-0",)}),
        )
    ]  # fmt: skip
    assert all("1,531 queries" in text for text in said)


def test_the_bars_are_the_differences() -> None:
    found = study({"a": [0.5, 0.5, 0.5], "b": [0.75, 0.25, 0.625]})
    (figure,) = figures(found, "differences", baseline="a")
    bars = {(bar.get_center()[0], bar.get_height()) for bar in figure.axes[0].patches}
    assert bars == {(0, 0.25), (1, 0.125), (2, -0.25)}


def test_a_system_has_one_colour_whatever_is_chosen() -> None:
    found = several()
    (lines,) = figures(found, "cutoffs", runs=("run-2",))
    (boxes,) = figures(found, "distribution", runs=("run-3", "run-2"), metrics=("P@5",))
    assert lines.axes[0].lines[0].get_color() == COLOURS[2]
    assert [to_hex(bar.get_edgecolor()).upper() for bar in boxes.axes[0].patches] == [
        COLOURS[3], COLOURS[2],
    ]  # fmt: skip


def test_no_two_looks_are_the_same() -> None:
    looks = [look(place) for place in range(308)]
    assert len({(one.colour, one.marker, str(one.line)) for one in looks}) == 308


@pytest.mark.parametrize("kind", plots.KINDS)
def test_the_same_bytes_whatever_matplotlib_was_told(kind: str) -> None:
    found, settings = of(kind)
    settings = Settings(
        kind, settings.metrics, baseline=settings.baseline, formats=("svg", "pdf", "png")
    )
    before = plots.render_all(found, [settings])
    with matplotlib.rc_context({"font.size": 20, "axes.grid": True, "text.usetex": True}):
        told = dict(matplotlib.rcParams)
        assert plots.render_all(found, [settings]) == before
        assert dict(matplotlib.rcParams) == told
    for name, content in before.items():
        assert TRACE.encode() in content, name
        assert b"/Type3" not in content


def test_letters_are_embedded_as_true_type() -> None:
    made = plots.render_all(several(), [Settings("distribution", ("P@5",), formats=("pdf",))])
    (content,) = made.values()
    assert b"/FontFile2" in content
    assert b"/CreationDate" not in content


def test_pyplot_is_not_loaded() -> None:
    code = (
        f"import sys; sys.path.insert(0, {HERE!r}); from pictured import study\n"
        "from harness.reports import plots\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "plots.render_all(study({'a': [.1, .2]}), [plots.Settings('heatmap', formats=('svg',))])\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def test_data_are_made_without_matplotlib() -> None:
    code = (
        f"import sys; sys.path.insert(0, {HERE!r}); sys.modules['matplotlib'] = None\n"
        "from pictured import drawn, study\n"
        "found = study({'a': [[.1, .2], [.2, .2]], 'b': [[.2, .3], [.4, .1]]}, ['P@5', 'P@10'])\n"
        "for kind in ('differences', 'cutoffs', 'distribution', 'critical-difference', 'scatter',"
        " 'heatmap'): print(len(drawn(found, kind, baseline='a')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["2", "1", "2", "2", "1", "2"], done.stderr


@pytest.mark.parametrize("kind", [name for name in plots.KINDS if name != "effects"])
def test_odd_names_are_drawn(kind: str) -> None:
    values = np.random.default_rng(1).random((4, 8, 2)).tolist()
    names = ["_hidden $x_1$", "x&<y>%\\", "long " * 40, "../ä/β"]
    qids = [f"a-very-long-identifier-of-query-{place}" for place in range(8)]
    found = study(dict(zip(names, values, strict=True)), METRICS,
                  qids=dict.fromkeys(names, qids), dataset="../d")  # fmt: skip
    made = plots.render_all(found, [Settings(kind, baseline=names[0], formats=("svg",))])
    assert made
    assert all(set(name) <= {*map(chr, range(45, 127))} - {"/"} for name in made)


def test_a_letter_that_the_font_lacks_is_said_once() -> None:
    found = study({"\u6a21": [0.1, 0.2], "b": [0.2, 0.3]})
    with pytest.warns(HarnessWarning) as caught:
        plots.render_all(found, [Settings("distribution"), Settings("heatmap")])
    assert [str(one.message) for one in caught] == [
        "the font of pictures has no '\u6a21'; say under 'names:' what to write"
    ]


def test_the_file_names() -> None:
    found = several()
    asked = [
        Settings("scatter", formats=("svg",)),
        Settings("cutoffs", formats=("svg",)),
        Settings("heatmap", ("P@5",), formats=("png", "svg")),
        Settings("heatmap", ("P@5",), runs=("run-0",), formats=("png",)),
    ]
    assert [*plots.render_all(found, asked)] == [
        "scatter-trec-P-5-P-10.svg", "cutoffs-trec-P.svg", "heatmap-trec-P-5.png",
        "heatmap-trec-P-5.svg", "heatmap-trec-P-5-2.png",
    ]  # fmt: skip


def test_what_cannot_be_drawn_is_left_out_with_a_warning() -> None:
    found = study({"a": [0.1, 0.2]})
    asked = [Settings("critical-difference"), Settings("heatmap", formats=("svg",))]
    with pytest.warns(HarnessWarning, match="not drawn: plots: critical-difference of map on trec"):
        made = plots.render_all(found, asked)
    assert [*made] == ["heatmap-trec-map.svg"]
    with warnings.catch_warnings(), pytest.raises(plots.InputError, match="one run only"):
        plots.render_all(found, asked[:1], refuse=True)
