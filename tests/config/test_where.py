"""Which cells `where:` keeps, and what is said of columns and values that there are not."""

from __future__ import annotations

import itertools
import json
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.config import load as config
from harness.config.cells import check, keeps, kept
from harness.config.sweep import resolve
from harness.errors import ConfigError

SWEEP = """\
datasets:
  fold{fold}: {path: "fold{fold}.txt"}
runs:
  "{model}": {path: "{model}/fold{fold}-s{seed}.txt"}
  bm25: {path: "bm25-{fold}.txt"}
metrics: [map]
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Models x folds x seeds, and a run without seeds."""
    names = [
        f"{model}/fold{fold}-s{seed}.txt"
        for model, fold, seed in itertools.product(
            ("svm", "gbrt", "random-1", "random-2"), "12", ("1", "02")
        )
    ]
    for name in ("fold1.txt", "fold2.txt", "bm25-1.txt", "bm25-2.txt", *names):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    return tmp_path


def rows(base: Path, where: str, *overrides: str) -> list[str]:
    loaded = config.loads(f"{SWEEP}where: {where}\n", "c.yaml", base, overrides)
    return [
        " ".join((c.run, *c.of_dataset.values(), *list(c.of_run.values())[-1:]))
        for c in resolve(loaded)
    ]


def complaint(base: Path, where: str, *overrides: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        config.loads(f"{SWEEP}where: {where}\n", "c.yaml", base, overrides)
    return [line.removeprefix("  ") for line in str(caught.value).splitlines()[1:]]


def test_an_exclamation_mark_from_the_command_line(base: Path) -> None:
    kept_rows = ["gbrt 1 1", "svm 1 1", "bm25 1", "gbrt 2 1", "svm 2 1", "bm25 2"]
    assert rows(base, "{seed: 1}", "where.model=!random*") == kept_rows
    assert rows(base, "{seed: 1}", 'where.model=["!random*"]') == kept_rows
    assert complaint(base, "{seed: 1}", "where.model=[!random*, svm]") == [
        "--set where.model=[!random*, svm]  cannot read the value: !random* is a tag to YAML, and "
        'no text; quote it: "!random*"'
    ]
    (said,) = complaint(base, "{seed: 1}", "where={model: !random*}")
    assert "put text that begins with !" in said


def test_an_exclamation_mark_without_quotes_in_the_file(base: Path) -> None:
    assert complaint(base, "\n  model: !random*") == [  # was empty text
        "$.where.model (line 8)  !random* is a tag to YAML, and no text",
        '  fix:   quote it: "!random*"',
    ]


def test_null_takes_a_column_out(base: Path) -> None:
    assert rows(base, "{seed: 1, model: svm}", "where.model=null") == rows(base, "{seed: 1}")
    assert complaint(base, "{seed: 1, model: svm}", "where.mode=null") == [
        "--set where.mode=null  there is no $.where.mode that could be taken out; did you mean "
        "'model'?"
    ]


def test_a_value_and_a_cell_without_the_column(base: Path) -> None:
    assert rows(base, '{seed: 1, model: "!random*"}') == [
        "gbrt 1 1", "svm 1 1", "bm25 1", "gbrt 2 1", "svm 2 1", "bm25 2",
    ]  # fmt: skip


def test_a_list_of_values_and_patterns(base: Path) -> None:
    assert rows(base, '{model: [svm, "random*", "!*-2"], fold: 2, seed: "02"}') == [
        "random-1 2 02", "svm 2 02", "bm25 2",
    ]  # fmt: skip


def test_names_of_runs_and_datasets(base: Path) -> None:
    assert rows(base, "{run: bm25}") == ["bm25 1", "bm25 2"]
    assert rows(base, '{run: ["!random-*", "!bm25"], dataset: fold2, seed: [1]}') == [
        "gbrt 2 1", "svm 2 1"
    ]  # fmt: skip


def test_values_are_text_as_it_is_written(base: Path) -> None:
    """02 is no number here, in the file and in an override; a number is its text."""
    only = ["svm 1 02", "bm25 1"]
    assert rows(base, "{seed: 02, model: svm, fold: 1}") == only
    assert rows(base, "{seed: 1, model: svm, fold: 1}", "where.seed=02") == only
    assert rows(base, "{seed: 1}", "where={seed: [02], model: svm, fold: 1}") == only
    loaded = config.loads(f"{SWEEP}where: {{seed: [02, 1], fold: 1}}\n", "c.yaml", base)
    assert loaded.where == {"seed": ("02", "1"), "fold": ("1",)}
    assert config.loads(json.dumps(loaded.resolved()), "c.yaml", base) == loaded


@pytest.mark.parametrize(
    ("where", "lines"),
    [
        (
            '{sed: 1, model: [svm, gbdt], seed: [2, "!3*"]}',
            [
                "$.where.sed (line 7)       there is no column 'sed'; did you mean 'seed'?"
                "  (there are: dataset, run, fold, model, seed)",
                "$.where.model[1] (line 7)  there is no model 'gbdt'; did you mean 'gbrt'?"
                "  (there are: gbrt, random-1, random-2, svm)",
                "$.where.seed[0] (line 7)   there is no seed '2'; did you mean '02'?"
                "  (there are: 1, 02)",
                '  fix:   write "02": values are text, and 2 is another',
                "$.where.seed[1] (line 7)   no seed matches '3*'  (there are: 1, 02)",
            ],
        ),
        (
            '{run: svm, model: gbrt}',
            ["$.where (line 7)  keeps none of the 18 cells: none has all of these at once"],
        ),
        (
            '{model: ["*", "!*"]}',
            ["$.where.model[1] (line 7)  no model is left: *, !* leaves all of them out"],
        ),
        (
            "[seed]",
            ["$.where (line 7)  must be a mapping such as seed: [1, 2, 3], and is a list"],
        ),
        (
            "{seed: {a: 1}, model: []}",
            [
                "$.where.seed[0] (line 7)  must be text, and is a mapping",
                "$.where.model (line 7)    is empty; there must be at least one entry",
            ],
        ),
    ],
)  # fmt: skip
def test_what_keeps_nothing_is_said(base: Path, where: str, lines: list[str]) -> None:
    assert complaint(base, where) == lines


def test_an_override_that_keeps_nothing(base: Path) -> None:
    assert complaint(base, "{seed: 1}", "where.fold=3") == [
        "$.where.fold (--set)  there is no fold '3'  (there are: 1, 2)"
    ]


def test_what_is_left_out_needs_no_counterpart(tmp_path: Path) -> None:
    """Predictions without data, data without predictions and twins are no errors then."""
    for name in ("fold1.txt", "fold2.txt", "fold3.txt", "m1.txt", "m2.txt", "m4.txt"):
        (tmp_path / name).write_text("x")
    text = textwrap.dedent("""\
        datasets: {"fold{fold}": {path: "fold{fold}.txt"}}
        runs: {m: {path: "m{fold}.txt"}}
        metrics: [map]
        """)
    with pytest.raises(ConfigError, match=r"no dataset for .*m4\.txt"):
        config.loads(text, "c.yaml", tmp_path)
    loaded = config.loads(text + "where: {fold: [1, 2]}\n", "c.yaml", tmp_path)
    assert [cell.dataset for cell in resolve(loaded)] == ["fold1", "fold2"]
    with pytest.raises(ConfigError, match="no run has predictions for fold3"):
        config.loads(text + 'where: {fold: "!4"}\n', "c.yaml", tmp_path)


def test_a_fold_for_which_nothing_is_kept(base: Path) -> None:
    for seed in ("1", "02"):
        (base / f"svm/fold2-s{seed}.txt").unlink()
    assert complaint(base, "{model: svm, run: svm}") == [
        "$.datasets.fold{fold} (line 2)  no run that 'where' keeps has predictions for fold2",
        "  fix:   add them, or leave the dataset out in 'where:' too",
    ]
    assert rows(base, "{model: svm, run: svm, fold: 1}") == ["svm 1 1", "svm 1 02"]


def test_metrics_refer_to_the_runs_that_are_kept(base: Path) -> None:
    text = SWEEP.replace("map", '"rbo(reference=svm)"') + "where: {model: gbrt}\n"
    with pytest.raises(ConfigError) as caught:
        config.loads(text, "c.yaml", base)
    assert "there is no run 'svm'  (there are: gbrt, bm25)" in str(caught.value)


@given(
    st.lists(
        st.fixed_dictionaries({"a": st.sampled_from("xyz"), "b": st.sampled_from("12")}), min_size=1
    ),
    st.sets(st.sampled_from("xyz")),
    st.sets(st.sampled_from("12")),
)
def test_a_cell_is_kept_when_every_column_is(
    seen: list[dict[str, str]], of_a: set[str], left_out: set[str]
) -> None:
    """Literally: its value is among those taken, and not among those left out."""
    where = {"a": sorted(of_a), "b": [f"!{value}" for value in sorted(left_out)]}
    where = {column: patterns for column, patterns in where.items() if patterns}
    values = kept(where, seen)
    assert [keeps(values, cell) for cell in seen] == [
        (not of_a or cell["a"] in of_a) and cell["b"] not in left_out for cell in seen
    ]
    there = {cell["a"] for cell in seen}
    said = {wrong.loc for wrong in check({"a": where.get("a", ["*"])}, seen)}
    assert bool(said) == (not of_a <= there)
