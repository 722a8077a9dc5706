"""A dataset or run as a path alone, one metric without a list, several cutoffs, near names."""

from __future__ import annotations

from pathlib import Path

import pytest

import harness
from harness.config.load import loads
from harness.errors import ConfigError

LONG = """
datasets: {mq: {path: mq.txt}}
runs: {a: {path: a.txt}, b: {path: b.txt}}
metrics: ["ndcg@1,2"]
compare: {baseline: a, metrics: [ndcg@1, ndcg@2]}
"""
SHORT = """
datasets: {mq: mq.txt}
runs: {a: a.txt, b: "${HARNESS_TEST_RUN:-b}.txt"}
metrics: ndcg@1,2
compare: {baseline: a, metrics: "ndcg@1,2"}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mq.txt").write_text("2 qid:1 1:0\n0 qid:1 1:1\n1 qid:2 1:2\n0 qid:2 1:0\n")
    (tmp_path / "a.txt").write_text("0.5\n0.25\n1\n2\n")
    (tmp_path / "b.txt").write_text("0.25\n0.5\n1\n2\n")
    return tmp_path


def test_short_forms_mean_the_long_ones(folder: Path) -> None:
    long, short = (loads(text, "c.yaml", folder) for text in (LONG, SHORT))
    assert short.resolved()["datasets"] == long.resolved()["datasets"]
    assert short.resolved()["runs"] == long.resolved()["runs"]
    results = []
    for name, text in (("long", LONG), ("short", SHORT)):
        (folder / f"{name}.yaml").write_text(text)
        results.append(harness.run(folder / f"{name}.yaml").comparisons.rows)
    assert len(results[0]) == len(results[1]) == 2


@pytest.mark.parametrize("name", ["path", "format"])
def test_a_key_is_no_name(folder: Path, name: str) -> None:
    text = SHORT.replace("{mq: mq.txt}", f"{{{name}: mq.txt}}")
    with pytest.raises(ConfigError) as error:
        loads(text, "c.yaml", folder)
    assert error.value.problems[0].where.startswith(f"$.datasets.{name}")


@pytest.mark.parametrize(
    "text",
    [
        "metrics: [map, ndcg@1,2, P.5,10]",
        "metrics: map, ndcg@1,2, P.5,10",
        "metrics: {map, ndcg@1,2, P.5,10}",
        "metrics:\n  - map, ndcg@1,2\n  - P.5,10",
        "metrics: [own]\nmetric_sets: {own: [map, ndcg@1,2, P.5,10]}",
        "metrics: map, ndcg@1,2, P@5, P@10\ncompare: {metrics: map, ndcg@1,2, P@5,10, level: 0.9}",
    ],
)
def test_commas_separate_metrics_and_their_cutoffs(folder: Path, text: str) -> None:
    every = f"datasets: {{mq: mq.txt}}\nruns: {{a: a.txt, b: b.txt}}\n{text}\n"
    config = loads(every, "c.yaml", folder)
    names = ["map", "ndcg@1", "ndcg@2", "P@5", "P@10"]
    assert [str(metric) for metric in config.parsed_metrics()] == names
    if config.compare is not None:
        assert list(config.compare.metrics or ()) == ["map", "ndcg@1,2", "P@5,10"]


def test_a_number_alone_is_no_metric(folder: Path) -> None:
    with pytest.raises(ConfigError, match="write the name of a metric before its cutoff"):
        loads(SHORT.replace("metrics: ndcg@1,2", "metrics: [10]"), "c.yaml", folder)


@pytest.mark.parametrize("key", ["file", "name", "qrels"])
def test_another_word_for_path_is_suggested(folder: Path, key: str) -> None:
    with pytest.raises(ConfigError) as error:
        loads(SHORT.replace("{mq: mq.txt}", f"{{mq: {{{key}: mq.txt}}}}"), "c.yaml", folder)
    (only,) = error.value.problems
    assert f"unknown key '{key}'; did you mean 'path'?" in only.what


def test_a_key_of_another_part_is_placed(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"unknown key 'caption'.*\n.*write it under tables"):
        loads(f"{SHORT}caption: {{text: x}}\n", "c.yaml", folder)
