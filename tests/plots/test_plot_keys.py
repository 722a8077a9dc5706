"""`plots:` in a config: what is wrong is reported with its line before any data are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.config import load as config
from harness.errors import ConfigError, UnknownNameError
from harness.reports.plots import render_all
from harness.reports.plots.plot import Settings

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
    assert list(loaded.plots) == [
        Settings("heatmap"), Settings("effects", ("map",), formats=("png",)),
    ]  # fmt: skip
    assert config.Config.model_validate(loaded.resolved()).plots == loaded.plots


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
    ],
)  # fmt: skip
def test_what_is_wrong_has_its_place_and_line(base: Path, text: str, places: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        config.loads(f"{HEAD}plots: {text}\n", "a.yaml", base)
    lines = [line.split("  ")[1] for line in str(caught.value).splitlines()[1:]]
    assert sorted(lines) == sorted(f"$.plots{place} (line 4)" for place in places)


@pytest.mark.parametrize(
    "settings",
    [
        Settings("heatmaps"), Settings("heatmap", ("mapp",)), Settings("differences"),
        Settings("effects", baseline="a"), Settings("scatter"),
    ],
)  # fmt: skip
def test_settings_that_no_config_checked(settings: Settings) -> None:
    with pytest.raises(UnknownNameError):
        render_all(study({"a": [0.1, 0.2], "b": [0.2, 0.1]}), [settings])


def test_all_is_checked_before_anything_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr("harness.reports.plots.heatmap.draw", lambda *_: drawn.append("heatmap"))
    wanted = [Settings("heatmap"), Settings("cutoffs")]
    with pytest.raises(UnknownNameError, match="cutoffs needs a metric at two cutoffs"):
        render_all(study({"a": [0.1, 0.2], "b": [0.2, 0.1]}), wanted)
    assert not drawn
