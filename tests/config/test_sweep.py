"""Cells from placeholders and files; each way in which they do not fit, with its text."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_files import make

from harness.config import load as config
from harness.config.cells import Cell, Gap, missing
from harness.config.model import Config, DatasetEntry, RunEntry
from harness.config.patterns import natural
from harness.config.sweep import find, resolve
from harness.errors import ConfigError


def load(base: Path, text: str) -> Config:
    return config.loads(textwrap.dedent(text) + "\nmetrics: [map]\n", "c.yaml", base)


def rows(base: Path, text: str) -> list[tuple[str, str, dict[str, str], str]]:
    return [
        (c.dataset, c.run, c.columns, Path(c.run_entry.path).relative_to(base).as_posix())
        for c in resolve(load(base, text))
    ]


def complaint(base: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(base, text)
    return str(caught.value).replace(str(base), "B")


def test_folds_meet_their_own_data_in_natural_order(tmp_path: Path) -> None:
    for fold, seed in itertools.product((1, 2, 10), (1, 2)):
        make(tmp_path, f"data/Fold{fold}/test.txt", f"runs/svm/fold{fold}-seed{seed}.txt")
        make(tmp_path, f"runs/gbrt/fold{fold}-seed{seed}.txt")
    text = """
        datasets:
          mslr-fold{fold}: {path: "data/Fold{fold}/test.txt"}
        runs:
          "{model}": {path: "runs/{model}/fold{fold}-seed{seed}.txt"}
    """
    assert rows(tmp_path, text) == [
        (
            f"mslr-fold{fold}",
            model,
            {"fold": fold, "seed": seed},
            f"runs/{model}/fold{fold}-seed{seed}.txt",
        )
        for fold in ("1", "2", "10")
        for model in ("gbrt", "svm")
        for seed in ("1", "2")
    ]
    cell = resolve(load(tmp_path, text))[0]
    assert cell.dataset_entry.path == str(tmp_path / "data/Fold1/test.txt")
    assert (cell.dataset_key, cell.run_key) == ("mslr-fold{fold}", "{model}")
    assert (cell.of_dataset, cell.of_run) == ({"fold": "1"}, {"model": "gbrt", "seed": "1"})


def test_a_placeholder_that_is_part_of_a_name_stays_a_column(tmp_path: Path) -> None:
    make(tmp_path, "qrels.txt", "svm-1.run")
    text = """
        datasets: {trec: {path: qrels.txt}}
        runs: {"{model}/{seed}": {path: "{model}-{seed}.run"}}
    """
    assert rows(tmp_path, text) == [("trec", "svm/1", {"model": "svm", "seed": "1"}, "svm-1.run")]


def test_runs_stand_in_the_order_of_the_config(tmp_path: Path) -> None:
    make(tmp_path, "qrels.txt", "zeta.run", "x10.res", "x9.res", "x1.res.gz", "alpha.run")
    text = """
        datasets: {trec: {path: qrels.txt}}
        runs:
          zeta: {path: zeta.run}
          "{system}":
            - {path: "{system}.res"}
            - {path: "{system}.res.gz"}
          alpha: {path: alpha.run}
    """
    assert [row[1] for row in rows(tmp_path, text)] == ["zeta", "x1", "x9", "x10", "alpha"]


def test_the_name_of_the_dataset_in_a_path(tmp_path: Path) -> None:
    make(tmp_path, "q/robust.txt", "q/web.txt", "r/robust/bm25.run", "r/web/bm25.run")
    make(tmp_path, "r/web/lsi.run", "r/another/bm25.run")  # of no dataset here: not ours
    text = """
        datasets:
          web: {path: q/web.txt}
          robust: {path: q/robust.txt}
        runs: {"{system}": {path: "r/{dataset}/{system}.run"}}
    """
    assert rows(tmp_path, text) == [
        ("web", "bm25", {}, "r/web/bm25.run"),
        ("web", "lsi", {}, "r/web/lsi.run"),
        ("robust", "bm25", {}, "r/robust/bm25.run"),
    ]


def test_the_dataset_is_told_from_what_both_share_or_from_its_name(tmp_path: Path) -> None:
    make(tmp_path, "f1/test.txt", "f2/test.txt", "qrels.txt", "m/f1.txt", "m/f2.txt", "a.run")
    text = """
        datasets:
          "ltr-{fold}": {path: "f{fold}/test.txt"}
          trec: {path: qrels.txt}
        runs:
          m: {path: "m/f{fold}.txt"}
          n: {path: m/f2.txt, dataset: ltr-2}
          a: {path: a.run, dataset: trec}
          every: {path: m/f1.txt, dataset: "ltr-{fold}"}
    """
    assert [(row[0], row[1]) for row in rows(tmp_path, text)] == [
        ("ltr-1", "m"),
        ("ltr-1", "every"),
        ("ltr-2", "m"),
        ("ltr-2", "n"),
        ("ltr-2", "every"),
        ("trec", "a"),
    ]


def test_group_sizes_go_with_their_fold(tmp_path: Path) -> None:
    make(tmp_path, "f1.txt", "f1.query", "m1.txt")
    text = """
        datasets: {"f{fold}": {path: "f{fold}.txt", group: "f{fold}.query"}}
        runs: {m: {path: "m{fold}.txt"}}
    """
    cell = resolve(load(tmp_path, text))[0]
    assert cell.dataset_entry.group == str(tmp_path / "f1.query")
    assert cell.dataset_entry.options() == {
        "duplicates": "error",
        "group": str(tmp_path / "f1.query"),
    }
    assert complaint(tmp_path, text.replace(".query", ".size")) == (
        "c.yaml: 1 problem\n"
        "  $.datasets.f{fold}.group (line 2)  no file B/f1.size; the folder holds f1.query, "
        "f1.txt, m1.txt"
    )


def test_a_dataset_of_one_name_in_several_files_has_columns(tmp_path: Path) -> None:
    make(tmp_path, "f1.txt", "f2.txt", "m1.txt", "m2.txt")
    text = """
        datasets: {ltr: {path: "f{fold}.txt"}}
        runs: {m: {path: "m{fold}.txt"}}
    """
    assert [row[:3] for row in rows(tmp_path, text)] == [
        ("ltr", "m", {"fold": "1"}),
        ("ltr", "m", {"fold": "2"}),
    ]


FOLDS = """
datasets: {"fold{fold}": {path: "fold{fold}.txt"}}
runs: {"{model}": {path: "{model}/fold{fold}.txt"}}
"""


def test_predictions_without_data(tmp_path: Path) -> None:
    make(tmp_path, "fold1.txt", "fold2.txt", "m/fold1.txt", "m/fold2.txt", "m/fold6.txt")
    assert complaint(tmp_path, FOLDS) == (
        "c.yaml: 1 problem\n"
        "  $.runs.{model}.path (line 3)  no dataset for B/m/fold6.txt; there is fold 1, 2\n"
        "    fix:   add the dataset, or narrow the path"
    )


@pytest.mark.parametrize(
    ("folds", "predicted", "fix"),
    [
        ([1, 2, 10], [2], "leave them out: 'where: {fold: [2]}' keeps the others"),
        ([1, 2, 10], [1, 2], "leave them out: 'where: {fold: [1, 2]}' keeps the others"),
        (["a", "01", "b"], ["01", "a"],
         """leave them out: 'where: {fold: ["01", "a"]}' keeps the others"""),
        (range(1, 23), range(1, 22), "narrow the path"),
    ],
)  # fmt: skip
def test_data_without_predictions(
    tmp_path: Path, folds: Sequence[object], predicted: Sequence[object], fix: str
) -> None:
    make(tmp_path, *(f"fold{fold}.txt" for fold in folds))
    make(tmp_path, *(f"m/fold{fold}.txt" for fold in predicted))
    lonely = sorted({*map(str, folds)} - {*map(str, predicted)}, key=natural)
    more = f" and {len(lonely) - 5} more" if len(lonely) > 5 else ""
    assert complaint(tmp_path, FOLDS) == (
        "c.yaml: 1 problem\n"
        "  $.datasets.fold{fold} (line 2)  no run has predictions for "
        f"{', '.join(f'fold{one}' for one in lonely[:5])}{more}\n"
        f"    fix:   add them, or {fix}"
    )
    if fix.startswith("leave"):  # and it does help
        where = fix.split("'")[1]
        found = resolve(load(tmp_path, f"{FOLDS}{where}"))
        assert {cell.columns["fold"] for cell in found} == {*map(str, predicted)}


def test_a_dataset_without_predictions(tmp_path: Path) -> None:
    make(tmp_path, "a.txt", "b.txt", "m.txt")
    text = """
        datasets: {a: {path: a.txt}, b: {path: b.txt}}
        runs: {m: {path: m.txt, dataset: a}}
    """
    assert complaint(tmp_path, text) == (
        "c.yaml: 1 problem\n"
        "  $.datasets.b (line 2)  no run has predictions for b\n"
        "    fix:   add them, or take the dataset out"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "datasets: {trec: {path: qrels.tsv}}\nruns: {bm25: {path: bm26.run}}",
            ["$.datasets.trec.path (line 1)", "$.runs.bm25.path (line 2)"],
        ),
        (
            "datasets: {trec: {path: qrels.txt}, web: {path: web.txt}}\n"
            "runs:\n  bm25: {path: bm25.run}\n  lsi: {path: bm25.run, dataset: trek}",
            ["$.runs.bm25 (line 3)", "$.runs.lsi.dataset (line 4)"],
        ),
        (
            'datasets: {trec: {path: qrels.txt}}\nruns:\n  "{system}":\n'
            '    - {path: "{system}.run"}\n    - {path: "{system}.run.gz"}',
            ["$.runs.{system}[1] (line 5)"],
        ),
        (
            'datasets: {"{set}": {path: "{set}.txt"}, web: {path: web.txt}}\n'
            'runs: {bm25: {path: bm25.run, dataset: "{set}"}}',
            ["$.datasets.web (line 1)"],
        ),
        (
            'datasets: {"{fold}": {path: "{fld}.txt"}}\nruns: {"{model": {path: "{model}.run"}}',
            ["$.datasets.{fold} (line 1)", "$.runs.{model (line 2)"],
        ),
        (
            'datasets: {trec: {path: qrels.txt}}\nruns: {"{model}": {path: bm25.run}}',
            ["$.runs.{model} (line 2)"],
        ),
        (
            'datasets: {"x{dataset}": {path: "{dataset}.txt"}}\n'
            'runs: {"x{queries}": {path: "{queries}.run"}}',
            ["$.datasets.x{dataset}.path (line 1)", "$.runs.x{queries}.path (line 2)"],
        ),
        (
            'datasets: {web: {path: web.txt}}\nruns: {x: {path: "{dataset}/{m}.run"}}',
            ["$.runs.x.path (line 2)"],
        ),
    ],
)
def test_what_does_not_fit(tmp_path: Path, text: str, expected: list[str]) -> None:
    make(tmp_path, "qrels.txt", "web.txt", "bm25.run", "bm25.run.gz")
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert [problem.where for problem in caught.value.problems] == expected


def test_run_can_be_the_name_of_a_placeholder_for_the_whole_name(tmp_path: Path) -> None:
    make(tmp_path, "qrels.txt", "a.run")
    text = 'datasets: {trec: {path: qrels.txt}}\nruns: {"{run}": {path: "{run}.run"}}'
    assert [row[:3] for row in rows(tmp_path, text)] == [("trec", "a", {})]


def test_files_that_vanish_after_loading_are_missed(tmp_path: Path) -> None:
    make(tmp_path, "fold1.txt", "m/fold1.txt")
    loaded = load(tmp_path, FOLDS)
    (tmp_path / "m/fold1.txt").unlink()
    with pytest.raises(ConfigError) as caught:
        resolve(loaded)
    assert str(caught.value).replace(str(tmp_path), "B") == (
        "c.yaml: 1 problem\n"
        "  $.runs.{model}.path (line 3)  no file matches B/{model}/fold{fold}.txt; "
        "B/m/ holds nothing"
    )


def test_gaps_in_a_grid(tmp_path: Path) -> None:
    make(tmp_path, "fold1.txt", "fold2.txt", "svm/fold1-s1.txt", "svm/fold1-s2.txt")
    make(tmp_path, "svm/fold2-s1.txt", "gbrt/fold1-s1.txt", "one.txt")
    text = """
        datasets: {"fold{fold}": {path: "fold{fold}.txt"}}
        runs:
          "{model}": {path: "{model}/fold{fold}-s{seed}.txt"}
          one: {path: one.txt}
    """
    assert missing(resolve(load(tmp_path, text))) == [
        Gap("fold1", "gbrt", {"fold": "1", "seed": "2"}),
        Gap("fold2", "gbrt", {"fold": "2", "seed": "1"}),
        Gap("fold2", "gbrt", {"fold": "2", "seed": "2"}),
        Gap("fold2", "svm", {"fold": "2", "seed": "2"}),
    ]


def test_a_run_without_any_file_for_one_fold_is_a_gap(tmp_path: Path) -> None:
    make(tmp_path, "fold1.txt", "fold2.txt", "a1.txt", "a2.txt", "b2.txt")
    text = """
        datasets: {"fold{fold}": {path: "fold{fold}.txt"}}
        runs: {a: {path: "a{fold}.txt"}, b: {path: "b{fold}.txt"}}
    """
    assert missing(resolve(load(tmp_path, text))) == [Gap("fold1", "b", {"fold": "1"})]


@given(st.sets(st.tuples(st.integers(1, 3), st.integers(1, 3), st.sampled_from("ab")), min_size=1))
def test_cells_and_gaps_make_the_whole_grid(there: set[tuple[int, int, str]]) -> None:
    entry = DatasetEntry(path="")
    cells = [
        Cell(
            f"f{fold}", model, entry.model_copy(update={"path": f"f{fold}"}), RunEntry(path=""),
            "f{fold}", "{model}", {"fold": str(fold)}, {"model": model, "seed": str(seed)},
        )
        for fold, seed, model in there
    ]  # fmt: skip
    folds, seeds, models = map(set, zip(*there, strict=True))
    grid = set(itertools.product(folds, seeds, models))
    gaps = {(int(g.columns["fold"]), int(g.columns["seed"]), g.run) for g in missing(cells)}
    assert gaps == grid - there


def test_incomplete_entries_are_not_held_against_the_others(tmp_path: Path) -> None:
    make(tmp_path, "fold1.txt", "m/fold1.txt", "m/fold2.txt")
    datasets = {"fold{fold}": DatasetEntry(path="fold{fold}.txt")}
    runs = {"{model}": RunEntry(path="{model}/fold{fold}.txt")}
    assert len(find(datasets, runs, tmp_path)[1]) == 1
    assert find(datasets, runs, tmp_path, complete=False)[1] == []


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99))))
def test_natural_keys_sort_pairs_by_size(pairs: list[tuple[int, int]]) -> None:
    names = [f"fold{a}-seed{b}" for a, b in pairs]
    assert sorted(names, key=natural) == [f"fold{a}-seed{b}" for a, b in sorted(pairs)]
