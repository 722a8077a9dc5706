"""Similarity of runs: values of the metric rbo, sets of documents, duplicates, one hundred runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import harness
from harness.config.load import load
from harness.experiment.rankings import similarities


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Runs of different depths; one lacks query 10, two are equal but for their tags."""
    rng = np.random.default_rng(5)
    (tmp_path / "q").write_text("".join(f"{q} 0 d{d} 1\n" for q in (1, 2, 10) for d in range(9)))
    for name, depth in (("a", 30), ("b", 12), ("c", 30), ("z", 25)):
        lines = []
        for q in (10, 2, 1):
            if (name, q) == ("c", 10):
                continue
            documents = rng.permutation(40)[:depth]
            lines += [f"{q} Q0 d{d} 0 {-rank} {name}\n" for rank, d in enumerate(documents)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    same = (tmp_path / "a.run").read_text().replace(" a\n", " again\n")
    (tmp_path / "again.run").write_text(same)
    path = tmp_path / "c.yaml"
    path.write_text('datasets: {q: {path: q}}\nruns: {"{s}": {path: "{s}.run"}}\nmetrics: [map]\n')
    return path


@pytest.mark.parametrize("p", [0.5, 0.9, 0.98])
def test_rbo_is_that_of_the_metric(config: Path, p: float) -> None:
    (found,) = similarities(load(config), p=p)
    assert sorted(found.runs) == ["a", "again", "b", "c", "z"]
    for i, first in enumerate(found.runs):
        for j, second in enumerate(found.runs):
            evaluation = harness.evaluate(
                config.parent / "q", config.parent / f"{first}.run",
                [f"rbo(p={p},reference=other)"],
                references={"other": harness.read_run(config.parent / f"{second}.run")},
                policy={"missing_queries": "skip"},
            )  # fmt: skip
            values = evaluation.column(evaluation.metrics[0])
            assert (
                found.n_queries[i, j] == np.sum(~np.isnan(values)) == (3, 2)["c" in (first, second)]
            )
            assert found.values[i, j] == pytest.approx(np.nanmean(values), abs=1e-12)


def test_overlap_is_that_of_sets(config: Path) -> None:
    (found,) = similarities(load(config), measure="overlap", depth=20)
    runs = {name: harness.read_run(config.parent / f"{name}.run").to_dict() for name in found.runs}
    for i, first in enumerate(found.runs):
        for j, second in enumerate(found.runs):
            shares = []
            for qid in runs[first].keys() & runs[second].keys():
                tops = [
                    set(sorted(one[qid], key=one[qid].get, reverse=True)[:20])
                    for one in (runs[first], runs[second])
                ]
                shares.append(len(tops[0] & tops[1]) / max(map(len, tops)))
            assert found.values[i, j] == pytest.approx(np.mean(shares), abs=1e-12)


def test_equal_rankings_are_neighbours(config: Path) -> None:
    (found,) = similarities(load(config))
    assert {*found.pairs(0.95)[0][:2]} == {"a", "again"}
    assert found.pairs(0.95)[0][2:] == (pytest.approx(1), 3)
    assert len(found.pairs(0.95)) == 1
    assert abs(found.runs.index("a") - found.runs.index("again")) == 1
