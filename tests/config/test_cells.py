"""Cells from placeholders and files: patterns, what does not fit, gaps, and `where`."""

import itertools
import json
import textwrap
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from made_files import make, places

from harness.config import load as config
from harness.config.cells import Cell, missing_cells, missing_text, resolve
from harness.config.model import Config, DatasetEntry, RunEntry
from harness.config.patterns import Pattern
from harness.core.entries import natural
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
    path = "runs/{}/fold{}-seed{}.txt"
    assert rows(tmp_path, text) == [
        (f"mslr-fold{f}", model, {"fold": f, "seed": seed}, path.format(model, f, seed))
        for f in ("1", "2", "10")
        for model in ("gbrt", "svm")
        for seed in ("1", "2")
    ]
    cell = resolve(load(tmp_path, text))[0]
    assert cell.dataset_entry.path == str(tmp_path / "data/Fold1/test.txt")
    assert (cell.dataset_key, cell.run_key) == ("mslr-fold{fold}", "{model}")
    assert (cell.of_dataset, cell.of_run) == ({"fold": "1"}, {"model": "gbrt", "seed": "1"})


def test_runs_are_in_the_order_of_the_config(tmp_path: Path) -> None:
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


def test_the_dataset_follows_from_shared_placeholders_or_its_name(tmp_path: Path) -> None:
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
        ("ltr-1", "m"), ("ltr-1", "every"), ("ltr-2", "m"), ("ltr-2", "n"), ("ltr-2", "every"),
        ("trec", "a"),
    ]  # fmt: skip


FOLDS = """
datasets: {"fold{fold}": {path: "fold{fold}.txt"}}
runs: {"{model}": {path: "{model}/fold{fold}.txt"}}
"""


def test_data_without_predictions(tmp_path: Path) -> None:
    make(tmp_path, "fold1.txt", "fold2.txt", "fold3.txt", "m/fold1.txt", "m/fold2.txt")
    assert "$.datasets.fold{fold} (line 2): no run has predictions for fold3\n" in complaint(
        tmp_path, FOLDS
    )
    found = resolve(load(tmp_path, FOLDS + "where: {fold: [1, 2]}"))
    assert [cell.columns["fold"] for cell in found] == ["1", "2"]


SPLITS = """
datasets: {"{split}-{fold}": {path: "{fold}/{split}.txt"}}
runs: {"{model}": {path: "{fold}/{split}-{model}-{lr}.pred"}}
select: {on: "vali-{fold}", by: map, over: [lr]}
"""


def test_splits_as_a_placeholder(tmp_path: Path) -> None:
    names = [f"{f}/{split}{model}" for f in (3, 7) for split in ("vali", "test")
             for model in (".txt", "-gbm-2.pred", "-gbm-10.pred")]  # fmt: skip
    make(tmp_path, *names, "3/train.txt", "7/train.txt")
    # the fold would keep what has no predictions
    assert "no run has predictions for train-3, train-7" in complaint(tmp_path, SPLITS)
    advice = "for each run a list: [{dataset: VALI, path: ...}, {dataset: TEST, path: ...}]"
    kept = SPLITS + "where: {split: [test, vali]}\n"
    assert advice in (complaint(tmp_path, kept))
    both = 'vali.txt"}, "test-{fold}": {path: "{fold}/test.txt"}'
    two = SPLITS.replace('"{split}-{fold}"', '"vali-{fold}"').replace('{split}.txt"}', both)
    assert "or a list with an entry for each: [{dataset: NAME" in complaint(tmp_path, two)
    path = '{path: "{fold}/{split}-{model}-{lr}.pred"}'
    each = (path.replace("{split}", one).replace("{path", f'{{dataset: "{one}-{{fold}}", path', 1)
            for one in ("vali", "test"))  # fmt: skip
    assert len(rows(tmp_path, two.replace(path, f"[{', '.join(each)}]"))) == 8


def test_a_run_is_a_path_or_a_list_of_paths(tmp_path: Path) -> None:
    make(tmp_path, "qrels.txt", "a.npy", "b.csv")
    text = 'datasets: {d: qrels.txt}\nruns: {"{m}": ["{m}.npy", {path: "{m}.csv"}]}'
    assert [row[1] for row in rows(tmp_path, text)] == ["a", "b"]
    with pytest.raises(ConfigError) as caught:
        resolve(load(tmp_path, "datasets: {d: qrels.txt}\nruns: {x: 'a.*'}"))
    assert caught.value.problems[0].fix == "write {name} instead of '*', or list the paths"


@pytest.mark.parametrize(
    ("datasets", "runs", "wrong"),
    [
        ("{trec: {path: qrels.tsv}}", "{bm25: {path: bm26.run}}",
         "datasets.trec.path 1; runs.bm25.path 2"),
        ("{trec: {path: qrels.txt}, web: {path: web.txt}}",
         "\n  bm25: {path: bm25.run}\n  lsi: {path: bm25.run, dataset: trek}",
         "runs.bm25 3; runs.lsi.dataset 4"),
        ("{trec: {path: qrels.txt}}",
         '\n  "{system}":\n    - {path: "{system}.run"}\n    - {path: "{system}.run.gz"}',
         "runs.{system}[1] 5"),
        ('{"{set}": {path: "{set}.txt"}, web: {path: web.txt}}',
         '{bm25: {path: bm25.run, dataset: "{set}"}}', "datasets.web 1"),
        ('{"{fold}": {path: "{fld}.txt"}}', '{"{model": {path: "{model}.run"}}',
         "datasets.{fold} 1; runs.{model 2"),
        ("{trec: {path: qrels.txt}}", '{"{model}": {path: bm25.run}}', "runs.{model} 2"),
        ('{"x{dataset}": {path: "{dataset}.txt"}}', '{"x{queries}": {path: "{queries}.run"}}',
         "datasets.x{dataset}.path 1; runs.x{queries}.path 2"),
        ("{web: {path: web.txt}}", '{"{a-b}": {path: "{a-b}.run"}}', "runs.{a-b}.path 2"),
        ("{web: {path: web.txt}}", '{x: {path: "{dataset}/{m}.run"}}', "runs.x.path 2"),
    ],
)  # fmt: skip
def test_what_does_not_fit(tmp_path: Path, datasets: str, runs: str, wrong: str) -> None:
    """Each place is wrong on the line whose number follows it."""
    make(tmp_path, "qrels.txt", "web.txt", "bm25.run", "bm25.run.gz")
    text = f"datasets: {datasets}\nruns: {runs}\nmetrics: [map]\n"
    expected = ["$.{} (line {})".format(*one.rsplit(" ", 1)) for one in wrong.split("; ")]
    assert places(text, base=tmp_path) == expected


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
    folds_of = {one: {fold for fold, _, model in there if model == one} for one in models}
    shared = [one for one, some in folds_of.items() if len(some) > 1]
    assume(len(folds) == 1 or len(shared) == len(models))  # else runs may belong to their fold
    gaps = {f"{model} on f{fold} fold={fold} seed={seed}" for fold, seed, model in grid - there}
    assert {*missing_cells(cells)} == gaps


MODELS = """\
datasets:
  fold{fold}: {path: "fold{fold}.txt"}
runs:
  "{model}": {path: "{model}/fold{fold}-s{seed}.txt"}
  bm25: {path: "bm25-{fold}.txt"}
metrics: [map]
"""
SEEDS = MODELS.replace('  bm25: {path: "bm25-{fold}.txt"}\n', "")


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    """Two models, two folds, two seeds; svm has no file for one cell, gbrt for two."""
    there = set(itertools.product(("svm", "gbrt"), "12", "12"))
    there -= {("svm", "2", "2"), ("gbrt", "1", "2"), ("gbrt", "2", "1")}
    make(tmp_path, "fold1.txt", "fold2.txt")
    make(tmp_path, *(f"{model}/fold{fold}-s{seed}.txt" for model, fold, seed in there))
    return tmp_path


def grid(seeds: Path, text: str) -> list[str]:
    return missing_text(resolve(config.loads(text, "c.yaml", seeds))).splitlines()


def test_complete(seeds: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        config.loads(SEEDS + "complete: true\n", "c.yaml", seeds)
    (problem,) = caught.value.problems
    assert problem.where == "$.complete (line 6)"
    gaps = [
        "gbrt on fold1 fold=1 seed=2",
        "gbrt on fold2 fold=2 seed=1",
        "svm on fold2 fold=2 seed=2",
    ]
    assert [line.strip() for line in problem.what.splitlines()[1:]] == gaps
    assert [line.strip() for line in grid(seeds, SEEDS)[1:]] == gaps
    text = SEEDS + "complete: true\nwhere: {seed: 1}\n"
    assert len(resolve(config.loads(text, "c.yaml", seeds, ["where.fold=1"]))) == 2
    make(seeds, "gbrt/fold2-s1.txt")
    loaded = config.loads(text, "c.yaml", seeds)
    (seeds / "svm/fold2-s1.txt").unlink()
    gap = "1 of 4 cells are missing:\n  svm on fold2 fold=2 seed=1"
    with pytest.raises(ConfigError, match=gap):
        resolve(loaded)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Models x folds x seeds, and a run without seeds."""
    all_models = itertools.product(("svm", "gbrt", "random-1", "random-2"), "12", ("1", "02"))
    make(tmp_path, *(f"{model}/fold{fold}-s{seed}.txt" for model, fold, seed in all_models))
    make(tmp_path, "fold1.txt", "fold2.txt", "bm25-1.txt", "bm25-2.txt")
    return tmp_path


def kept_rows(models: Path, where: str, *overrides: str) -> list[str]:
    loaded = config.loads(f"{MODELS}where: {where}\n", "c.yaml", models, overrides)
    return [
        " ".join((c.run, *c.of_dataset.values(), *list(c.of_run.values())[-1:]))
        for c in resolve(loaded)
    ]


def test_values_are_text_as_it_is_written(models: Path) -> None:
    """02 is not a number here, in the file and in an override; a number is its text."""
    only = ["svm 1 02", "bm25 1"]
    assert kept_rows(models, "{seed: 02, model: svm, fold: 1}") == only
    assert kept_rows(models, "{seed: 1, model: svm, fold: 1}", "where.seed=02") == only
    assert kept_rows(models, "{seed: 1}", "where={seed: [02], model: svm, fold: 1}") == only
    loaded = config.loads(f"{MODELS}where: {{seed: [02, 1], fold: 1}}\n", "c.yaml", models)
    assert loaded.where == {"seed": ("02", "1"), "fold": ("1",)}
    assert config.loads(json.dumps(loaded.resolved()), "c.yaml", models) == loaded


@pytest.mark.parametrize(
    ("where", "wrong"),
    [
        ('{sed: 1, model: [svm, gbdt], seed: [2, "!3*"]}', [".sed", ".model[1]", ".seed[0]",
                                                             ".seed[1]"]),
        ("{run: svm, model: gbrt}", [""]),
        ('{model: ["*", "!*"]}', [".model[1]"]),
        ("[seed]", [""]),
        ("{seed: {a: 1}, model: []}", [".seed[0]", ".model"]),
    ],
)  # fmt: skip
def test_what_keeps_nothing_is_an_error(models: Path, where: str, wrong: list[str]) -> None:
    expected = [f"$.where{one} (line 7)" for one in wrong]
    assert places(f"{MODELS}where: {where}\n", base=models) == expected


NAMES = st.sampled_from(["fold", "seed", "model", "x_1"])
# Values without a separator, literals of separators only: then a text can be read in one way.
VALUES = st.text("abcXYZ0189äß", min_size=1, max_size=5)
LITERALS = st.text("-+()[]{}.*?^$|\\ #", min_size=1, max_size=4)


@st.composite
def patterns(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    """A pattern, and values for its placeholders."""
    text = draw(LITERALS).replace("{", "{{").replace("}", "}}")
    values: dict[str, str] = {}
    for name in draw(st.lists(NAMES, max_size=4)):
        values.setdefault(name, draw(VALUES))
        text += f"{{{name}}}" + draw(LITERALS).replace("{", "{{").replace("}", "}}")
    return text, values


@given(patterns())
def test_filling_and_matching_round_trip(case: tuple[str, dict[str, str]]) -> None:
    pattern, values = Pattern(case[0]), case[1]
    filled = pattern.fill(values)
    assert pattern.match(filled) == values
    assert pattern.match(filled, values) == values
    assert pattern.match(filled + "!") is None
    assert set(pattern.names) == set(values)


def test_an_earlier_placeholder_takes_as_much_as_it_can() -> None:
    assert Pattern("{model}-{seed}").match("linear-regression-1") == {
        "model": "linear-regression",
        "seed": "1",
    }


@given(
    st.lists(st.text(), unique=True).flatmap(lambda t: st.tuples(st.just(t), st.permutations(t)))
)
def test_natural_order_orders_any_text(texts: tuple[list[str], list[str]]) -> None:
    one, other = (sorted(given, key=natural) for given in texts)
    assert one == other
