"""The cells that a grid lacks: as a grid, one by one, and as an error under `complete: true`."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pytest
from made_files import make

import harness
from harness.config import load as config
from harness.config.cells import shown
from harness.config.sweep import resolve
from harness.errors import ConfigError, HarnessWarning
from harness.experiment import run as experiment

SWEEP = """\
datasets:
  fold{fold}: {path: "fold{fold}.txt"}
runs:
  "{model}": {path: "{model}/fold{fold}-s{seed}.txt"}
metrics: [map]
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Two models, two folds, two seeds; svm lacks one cell and gbrt two."""
    there = set(itertools.product(("svm", "gbrt"), "12", "12"))
    there -= {("svm", "2", "2"), ("gbrt", "1", "2"), ("gbrt", "2", "1")}
    make(tmp_path, "fold1.txt", "fold2.txt")
    make(tmp_path, *(f"{model}/fold{fold}-s{seed}.txt" for model, fold, seed in there))
    return tmp_path


def grid(base: Path, text: str) -> list[str]:
    return shown(resolve(config.loads(text, "c.yaml", base))).splitlines()


def test_a_grid_with_gaps_is_shown_as_a_grid(base: Path) -> None:
    assert grid(base, SWEEP) == [
        "3 of 8 cells are missing  (x there, - missing)",
        "",
        "fold  1  1  2  2",
        "seed  1  2  1  2",
        "gbrt  x  -  -  x",
        "svm   x  x  x  -",
    ]
    assert grid(base, SWEEP + "where: {seed: 1, model: svm}\n") == []


def test_a_file_that_is_packed_where_others_are_not_is_named(base: Path) -> None:
    make(base, "svm/fold2-s2.txt.gz")
    lines = grid(base, SWEEP)
    assert lines[0] == "3 of 8 cells are missing  (x there, - missing)"
    said = "svm on fold2 fold=2 seed=2 (fold2-s2.txt.gz is there, and fold2-s2.txt is not)"
    assert lines[-2:] == ["", said]
    packed = base / "packed {x}"
    make(packed, "fold1.txt", "fold2.txt", "svm/fold1-s1.txt.xz", "svm/fold2-s1.txt")
    text = SWEEP.replace("s{seed}.txt", "s{seed}.txt.xz")
    make(packed, "svm/fold1-s2.txt.xz", "svm/fold2-s2.txt.xz")
    assert grid(packed, text)[-1] == (
        "svm on fold2 fold=2 seed=1 (fold2-s1.txt is there, and fold2-s1.txt.xz is not)"
    )


def test_runs_of_other_columns_have_a_grid_of_their_own(base: Path) -> None:
    make(base, "a-1.txt", "a-2.txt", "b-2.txt", "one.txt")
    text = (
        SWEEP.replace(
            "metrics",
            '  a: {path: "a-{fold}.txt"}\n  b: {path: "b-{fold}.txt"}\n'
            "  one: {path: one.txt}\nmetrics",
        )
        .replace("{model}", "svm", 1)
        .replace("{model}/", "svm/")
    )
    assert grid(base, text) == [
        "2 of 10 cells are missing  (x there, - missing)",
        "",
        "fold  1  1  2  2",
        "seed  1  2  1  2",
        "svm   x  x  x  -",
        "",
        "fold  1  2",
        "a     x  x",
        "one   x  x",
        "b     -  x",
    ]  # fmt: skip


def test_the_name_of_the_dataset_in_a_path_makes_one_grid(tmp_path: Path) -> None:
    make(tmp_path, "web.txt", "robust.txt", "other.txt", "r/web/bm25.run", "r/web/lsi.run")
    make(tmp_path, "r/robust/bm25.run", "r/robust/dense.run", "r/other.run")
    text = (
        "datasets: {web: {path: web.txt}, robust: {path: robust.txt}, other: {path: other.txt}}\n"
        'runs:\n  "{model}": {path: "r/{dataset}/{model}.run"}\n'
        "  other: {dataset: other, path: r/other.run}\n"
        "metrics: [map]\n"
    )
    assert grid(tmp_path, text) == [
        "2 of 7 cells are missing  (x there, - missing)",
        "",
        "dataset  robust  web",
        "bm25          x    x",
        "lsi           -    x",
        "dense         x    -",
    ]
    assert grid(tmp_path, text + "where: {dataset: [web, other]}\n") == []


def test_a_wide_grid_goes_on_below(tmp_path: Path) -> None:
    make(tmp_path, "q.txt", *(f"a-{n}.txt" for n in range(100, 130)), "b-100.txt")
    text = 'datasets: {q: {path: q.txt}}\nruns: {"{m}": {path: "{m}-{s}.txt"}}\nmetrics: [map]\n'
    lines = grid(tmp_path, text)
    assert lines[2] == "s  " + "  ".join(map(str, range(100, 119)))
    assert lines[4] == "b    x" + "    -" * 18
    assert lines[5] == "s  " + "  ".join(map(str, range(119, 130)))
    assert lines[7] == "b" + "    -" * 11


def test_of_many_runs_those_with_gaps_are_shown(tmp_path: Path) -> None:
    names = [f"m{n}-{s}.txt" for n in range(21) for s in (1, 2)]
    make(tmp_path, "q.txt", *(name for name in names if name != "m7-2.txt"))
    text = 'datasets: {q: {path: q.txt}}\nruns: {"{m}": {path: "{m}-{s}.txt"}}\nmetrics: [map]\n'
    assert grid(tmp_path, text) == [
        "1 of 42 cells is missing  (x there, - missing)",
        "",
        "s   1  2",
        "m7  x  -",
        "(20 more runs lack nothing)",
    ]


def test_complete(base: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        config.loads(SWEEP + "complete: true\n", "c.yaml", base)
    assert str(caught.value) == (
        "c.yaml: 1 problem\n"
        "  $.complete (line 6)  3 of 8 cells are missing:\n"
        "    gbrt on fold1 fold=1 seed=2\n"
        "    gbrt on fold2 fold=2 seed=1\n"
        "    svm on fold2 fold=2 seed=2\n"
        "    fix:   make them, leave them out with 'where:', or take 'complete' out"
    )
    loaded = config.loads(
        SWEEP + "complete: true\nwhere: {seed: 1}\n", "c.yaml", base, ["where.fold=1"]
    )
    assert len(resolve(loaded)) == 2
    make(base, "gbrt/fold2-s1.txt")
    loaded = config.loads(SWEEP + "complete: true\nwhere: {seed: 1}\n", "c.yaml", base)
    (base / "svm/fold2-s1.txt").unlink()
    with pytest.raises(
        ConfigError, match="1 of 4 cells is missing:\n    svm on fold2 fold=2 seed=1"
    ):
        resolve(loaded)


def test_a_run_says_what_is_missing_first_and_once(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "runs/letor", tmp_path / "letor")
    (tmp_path / "letor/gbrt/fold2-seed1.txt").unlink()
    (tmp_path / "c.yaml").write_text(
        'datasets: {"f{fold}": {path: "letor/fold{fold}/test.txt"}}\n'
        'runs: {"{model}": {path: "letor/{model}/fold{fold}-seed{seed}.txt"}}\n'
        "metrics: [map]\nwhere: {model: [gbrt, neural]}\n"
    )
    with pytest.warns(HarnessWarning) as said:
        harness.run(tmp_path / "c.yaml")
    assert [str(one.message) for one in said if "missing" in str(one.message)] == [
        "1 of 8 cells is missing  (x there, - missing)\n\n"
        "fold    1  1  2  2\nseed    1  2  1  2\ngbrt    x  x  -  x\nneural  x  x  x  x"
    ]
    assert "cells is missing" in str(said[0].message)
    plan = experiment.plan(tmp_path / "c.yaml")
    assert "7 cells x 1 metric\n1 of 8 cells is missing" in plan
    whole = experiment.plan(tmp_path / "c.yaml", overrides=["where.model=neural"])
    assert whole.endswith("4 cells x 1 metric\n")


def test_the_first_ten_are_listed(tmp_path: Path) -> None:
    make(tmp_path, "q.txt", *(f"a-{n}.txt" for n in range(13)), "b-0.txt")
    text = (
        'datasets: {q: {path: q.txt}}\nruns: {"{m}": {path: "{m}-{s}.txt"}}\nmetrics: [map]\n'
        "complete: true\n"
    )
    with pytest.raises(ConfigError) as caught:
        config.loads(text, "c.yaml", tmp_path)
    lines = str(caught.value).splitlines()
    assert lines[2:13] == [*(f"    b on q s={n}" for n in range(1, 11)), "    ... and 2 more"]
