"""Lists of metrics by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.config import load as config
from harness.errors import ConfigError

TEXT = """\
datasets: {trec: {path: qrels.txt}}
runs: {a: {path: a.run}, b: {path: b.run}}
metric_sets:
  main: [map, ndcg@10]
  early: [P@5, "ndcg(gain=exp)@5"]
  both:
    - main
    - early
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for name in ("qrels.txt", "a.run", "b.run"):
        (tmp_path / name).write_text("x")
    return tmp_path


def complaint(base: Path, text: str, *overrides: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        config.loads(text, "c.yaml", base, overrides)
    return [str(problem) for problem in caught.value.problems]


def test_a_set_stands_for_its_metrics(base: Path) -> None:
    loaded = config.loads(TEXT + "metrics: [P@1, main, P@5]\n", "c.yaml", base)
    assert loaded.metrics == ("P@1", "map", "ndcg@10", "P@5")
    assert config.loads(json.dumps(loaded.resolved()), "c.yaml", base) == loaded


def test_sets_of_sets_and_each_metric_once(base: Path) -> None:
    loaded = config.loads(TEXT + "metrics: [early, both]\n", "c.yaml", base)
    assert [str(metric) for metric in loaded.parsed_metrics()] == [
        "P@5", "ndcg(gain=exp)@5", "map", "ndcg@10",
    ]  # fmt: skip


def test_sets_in_comparisons_tables_and_pictures(base: Path) -> None:
    text = TEXT + (
        "metrics: [both]\ncompare: {metrics: main}\ntables: {one: {metrics: [early, map]}}\n"
        "plots: [{kind: distribution, metrics: [main]}, heatmap]\n"
    )
    loaded = config.loads(text, "c.yaml", base)
    assert loaded.compare is not None
    assert loaded.compare.metrics == ("map", "ndcg@10")
    assert loaded.tables["one"].metrics == ("P@5", "ndcg(gain=exp)@5", "map")
    assert [plot.metrics for plot in loaded.plots] == [("map", "ndcg@10"), ()]


def test_an_override_can_be_or_name_a_set(base: Path) -> None:
    text = TEXT + "metrics: [main]\n"
    assert config.loads(text, "c.yaml", base, ["metrics=[early]"]).metrics[0] == "P@5"
    assert config.loads(text, "c.yaml", base, ["metric_sets.main=[P@7]"]).metrics == ("P@7",)


def test_problems_stand_where_the_metric_is_written(base: Path) -> None:
    text = TEXT.replace("P@5", "PP@5").replace("- main", "- mian") + "metrics: [both, mapp, erly]\n"
    assert complaint(base, text) == [
        "$.metric_sets.early[0] (line 5): unknown metric 'PP@5'; did you mean 'P@5'?"
        "  (all: harness metrics)",
        "$.metric_sets.both[0] (line 7): there is no metric or set 'mian'; did you mean 'main'?"
        "  (sets: main, early, both)",
        "$.metrics[1] (line 9): unknown metric 'mapp'; did you mean 'map'?  (all: harness metrics)",
        "$.metrics[2] (line 9): there is no metric or set 'erly'; did you mean 'early'?"
        "  (sets: main, early, both)",
    ]


def test_a_metric_that_is_not_evaluated_is_said_of_the_comparison(base: Path) -> None:
    text = TEXT + "metrics: [map, P@5]\ncompare: {metrics: [early, both]}\n"
    said = complaint(base, text)
    assert [problem.partition(":")[0] for problem in said] == [
        "$.compare.metrics[0] (line 10)", "$.compare.metrics[1] (line 10)",
        "$.compare.metrics[1] (line 10)",
    ]  # fmt: skip
    assert "no metric 'ndcg(gain=exp)@5' was evaluated" in said[0]


def test_a_set_that_is_not_used_is_checked_too(base: Path) -> None:
    text = TEXT + "metrics: [map]\n"
    assert complaint(base, text.replace("P@5", "PP@5"))[0].startswith("$.metric_sets.early[0]")
    assert complaint(base, text, "metric_sets.main=map", "metric_sets.early=[]") == [
        "$.metric_sets.main (--set): must be a list such as [map, ndcg@10], and is the text 'map'",
        "$.metric_sets.early (--set): is empty; there must be at least one entry",
    ]


def test_a_set_has_a_name_of_its_own_and_does_not_hold_itself(base: Path) -> None:
    text = TEXT.replace("early:", "official:").replace("early", "both") + "metrics: [both]\n"
    assert complaint(base, text) == [
        "$.metric_sets.official (line 5): 'official' is the name of a metric, and would never be "
        "taken for the set\n  fix:   call the set something else",
        "$.metric_sets.both (line 6): holds itself: both -> both",
    ]
    round_about = TEXT.replace("ndcg@10", "both") + "metrics: [map]\n"
    assert complaint(base, round_about) == [
        "$.metric_sets.main (line 4): holds itself: main -> both -> main",
        "$.metric_sets.both (line 6): holds itself: both -> main -> both",
    ]
