"""A pattern of runs that fits the file of a dataset too."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_files import make

from harness.config import load as config
from harness.config.sweep import resolve
from harness.errors import ConfigError

SWEEP = """\
datasets:
  mq-fold{fold}: {path: "f{fold}/DATA"}
runs:
  "RUN": {path: "f{fold}/{model}.ENDING"}
metrics: [map]
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    make(tmp_path, *(f"f{fold}/{name}" for fold in "123" for name in ("test.txt", "a.txt")))
    make(tmp_path, *(f"f{fold}/{name}" for fold in "123" for name in ("all.csv", "b.csv")))
    return tmp_path


def names(base: Path, data: str = "test.txt", run: str = "{model}", more: str = "") -> list[str]:
    text = SWEEP.replace("DATA", data).replace("RUN", run).replace("ENDING", data[-3:])
    cells = resolve(config.loads(text + more, "c.yaml", base))
    return sorted({cell.run for cell in cells})


def test_it_is_told_once_for_all_folds(base: Path) -> None:
    with pytest.raises(ConfigError) as error:
        names(base)
    assert str(error.value).replace(str(base), "B") == (
        "c.yaml: 1 problem\n"
        "  $.runs.{model} (line 4)  B/f1/test.txt is the file of dataset mq-fold1 itself, taken "
        "as run 'test'; so in 3 cells\n"
        "    fix:   narrow the pattern, or exclude it (where: {run: '!test'})"
    )


def test_the_advice_helps(base: Path) -> None:
    assert names(base, more="where: {run: '!test'}\n") == ["a"]


def test_other_runs_of_its_name_are_not_to_be_excluded(base: Path) -> None:
    with pytest.raises(ConfigError) as error:
        names(base, run="svm", more="where: {fold: [2]}\n")
    assert str(error.value).endswith(
        "mq-fold2 itself, taken as run 'svm'\n    fix:   narrow the pattern"
    )


def test_one_file_that_is_named_twice(base: Path) -> None:
    text = "datasets: {a: {path: f1/a.txt}}\nruns: {svm: {path: ./f2/../f1/a.txt}}\nmetrics: [map]"
    with pytest.raises(ConfigError, match=r"itself, taken as run .*\n.*name the file of"):
        resolve(config.loads(text, "c.yaml", base))


def test_a_table_may_hold_grades_and_scores(base: Path) -> None:
    assert names(base, data="all.csv") == ["all", "b"]
