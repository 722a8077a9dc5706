"""`plots:` in a config: what is wrong is said with its line before any data are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import config
from harness.errors import ConfigError, UnknownNameError
from harness.plots import Settings, render_all

from pictured import study  # isort: skip

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


def test_a_kind_alone_or_with_settings(base: Path) -> None:
    text = "plots: [heatmap, {kind: effects, metrics: map, formats: png}]\ncompare: {}\n"
    loaded = config.loads(HEAD + text.replace("{}", "{baseline: bm25}"), base=base)
    assert [plot.to_core() for plot in loaded.plots] == [
        Settings("heatmap"), Settings("effects", ("map",), formats=("png",)),
    ]  # fmt: skip
    assert config.Config.model_validate(loaded.resolved()).plots == loaded.plots


THERE = "  (there are: bm25, dense)"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("[scater]", ["$.plots[0].kind (line 4)  must be one of critical-difference, cutoffs, "
                      "differences, distribution, effects, heatmap, scatter, and is 'scater'; "
                      "did you mean 'scatter'?"]),
        ("heatmap", ["$.plots (line 4)  must be a list such as [differences, heatmap], and is "
                     "the text 'heatmap'"]),
        ("[3]", ["$.plots[0] (line 4)  must be a mapping such as {kind: differences}, and is the "
                 "number 3"]),
        ("[{metrics: map}]", ["$.plots[0] (line 4)  the key 'kind' is missing"]),
        ("[{kind: heatmap, colour: red}]", [
            "$.plots[0].colour (line 4)  unknown key 'colour'  (known: kind, metrics, datasets, "
            "runs, baseline, names, width, formats)"]),
        ("[{kind: heatmap, formats: jpg}]", [
            "$.plots[0].formats[0] (line 4)  must be one of svg, pdf, png, and is 'jpg'; did you "
            "mean 'png'?"]),
        ("[{kind: heatmap, metrics: [ndcg], runs: [bm52], datasets: ['x*']}]", [
            "$.plots[0].metrics[0] (line 4)   there is no metric 'ndcg'  (there are: map, P@5, "
            "P@10, num_ret)",
            "$.plots[0].runs[0] (line 4)      there is no run 'bm52'; did you mean 'bm25'?" + THERE,
            "$.plots[0].datasets[0] (line 4)  no dataset matches 'x*'  (there are: trec)"]),
        ("[{kind: heatmap, names: {bm52: BM25}}]", [
            "$.plots[0].names.bm52 (line 4)  there is no run or metric 'bm52'; did you mean 'bm25'?"
        ]),
        ("[differences]", ["$.plots[0] (line 4)  differences needs a baseline; say 'baseline: RUN' "
                           "there or under 'compare:'" + THERE]),
        ("[{kind: differences, baseline: bm52}]", [
            "$.plots[0].baseline (line 4)  there is no run 'bm52'; did you mean 'bm25'?" + THERE]),
        ("[{kind: effects, baseline: bm25}]", [
            "$.plots[0] (line 4)  effects draws comparisons, and the config asks for none; add "
            "such as 'compare: {baseline: bm25}'"]),
        ("[{kind: cutoffs, metrics: map}]", [
            "$.plots[0].metrics (line 4)  cutoffs needs a metric at two cutoffs or more, as in "
            "ndcg@5,10,20"]),
        ("[{kind: scatter, metrics: [map]}]", [
            "$.plots[0].metrics (line 4)  scatter needs two metrics or more"]),
        ("[{kind: critical-difference, metrics: num_ret}]", [
            "$.plots[0].metrics (line 4)  critical-difference needs a metric of which higher or "
            "lower values are better"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(base: Path, text: str, lines: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        config.loads(f"{HEAD}plots: {text}\n", "a.yaml", base)
    said = [line.removeprefix("  ") for line in str(caught.value).splitlines()[1:]]
    assert sorted(said) == sorted(lines)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (Settings("heatmaps"), "unknown picture 'heatmaps'; did you mean 'heatmap'?  (all: "
         "critical-difference, cutoffs, differences, distribution, effects, heatmap, scatter)"),
        (Settings("heatmap", ("mapp",)), "plots: there is no metric 'mapp'; did you mean 'map'?"
         "  (there are: map)"),
        (Settings("differences"), "plots: differences needs a baseline; say 'baseline: RUN' there "
         "or under 'compare:'  (there are: a, b)"),
        (Settings("effects", baseline="a"), "plots: effects draws comparisons, and the config asks "
         "for none; add such as 'compare: {baseline: bm25}'"),
        (Settings("scatter"), "plots: scatter needs two metrics or more"),
    ],
)  # fmt: skip
def test_settings_that_no_config_checked(settings: Settings, said: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        render_all(study({"a": [0.1, 0.2], "b": [0.2, 0.1]}), [settings])
    assert str(caught.value) == said


def test_all_is_checked_before_anything_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr("harness.plots.heatmap.draw", lambda *_: drawn.append("heatmap"))
    wanted = [Settings("heatmap"), Settings("cutoffs")]
    with pytest.raises(UnknownNameError, match="cutoffs needs a metric at two cutoffs"):
        render_all(study({"a": [0.1, 0.2], "b": [0.2, 0.1]}), wanted)
    assert not drawn
