"""The choice of settings on validation queries, against a choice made from the CSV of all cells."""

import itertools
import random
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import pytest
from csv_rows import csv_rows
from refusals import harness_warnings, refuses
from swept import CONFIG, FOLDS, MODELS, POOLED, SEEDS, SETTINGS, put, write

from harness.errors import ConfigError, InputError
from harness.experiment.results import Results
from harness.experiment.run import run

pytestmark = pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
SHOWN = ("dataset", "run", "fold", "seed", "map", "ndcg@10")
SEVERAL = f"best of {len(SETTINGS)} settings of lr and leaves"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of the sweep, for tests that do not change them."""
    folder = tmp_path_factory.mktemp("swept")
    put(folder)
    return folder


def ran(folder: Path, text: str = CONFIG) -> Results:
    path = folder / "swept.yaml"
    path.write_text(text, encoding="utf-8")
    return run(path, overrides=[f"cache={folder.parent / 'cells'}"])  # which all tests share


def scores(folder: Path, model: str, where: str, lr: str, leaves: str, seed: int) -> Path:
    return folder / f"scores/{model}/{where}/lr{lr}-leaves{leaves}-seed{seed}.txt"


def expected(folder: Path, within: tuple[str, ...], by: str = "ndcg@10", sign: int = 1):
    """Setting that a plain loop over leaderboard_cells.csv chooses, by run and within.

    Settings count that have all of the validation cells; the first in the file wins ties.
    """
    values = defaultdict(lambda: defaultdict(list))
    for row in csv_rows(folder / "out/leaderboard_cells.csv"):
        if row["dataset"].startswith("vali") and row["lr"] and row[by]:
            key = row["run"], *(row[name] for name in within)
            values[key][row["lr"], row["leaves"]].append(float(row[by]))
    chosen = {}
    for key, some in values.items():
        most = max(map(len, some.values()))
        chosen[key] = max(
            (s for s in some if len(some[s]) == most), key=lambda s: sign * fmean(some[s])
        )
    return chosen


def same_as_csv(folder: Path, within: tuple[str, ...], by: str = "ndcg@10", sign: int = 1) -> None:
    """Check that leaderboard.csv has the test values of the settings expected, and no others."""
    chosen = expected(folder, within, by, sign)
    wanted = []
    for row in csv_rows(folder / "out/leaderboard_cells.csv"):
        key = row["run"], *(row[name] for name in within)
        if row["dataset"].startswith("test") and (
            not row["lr"] or (row["lr"], row["leaves"]) == chosen[key]
        ):
            wanted.append(tuple(row[name] for name in SHOWN))
    found = [tuple(row[name] for name in SHOWN) for row in csv_rows(folder / "out/leaderboard.csv")]
    assert sorted(found) == sorted(wanted)  # the best are first
    assert {row[0] for row in found} == {f"test-fold{fold}" for fold in FOLDS}


def test_each_model_fold_and_seed_has_its_own_choice(data: Path) -> None:
    found = ran(data)
    same_as_csv(data, ("fold", "seed"))
    assert len(csv_rows(data / "out/leaderboard_cells.csv")) == 2 * 2 * (1 + 2 * 2 * 6)
    assert len(found.leaderboard.entries) == 2 * (1 + 2 * 2)
    assert len({choice.setting for choice in found.board.selection.choices}) > 1


def test_runs_that_are_named_are_models(data: Path) -> None:
    text = CONFIG.replace('"{model}"', "gbrt").replace("scores/{model}", "scores/gbrt")
    ran(data, text.replace("[model, fold, seed]", "[model, fold]"))
    same_as_csv(data, ("fold",))


def test_lower_is_better(data: Path) -> None:
    text = CONFIG.replace("[map, ndcg@10]", "[map, ndcg@10, swaps]").replace(
        "by: ndcg@10", "by: swaps"
    )
    ran(data, text)
    same_as_csv(data, ("fold", "seed"), "swaps", -1)


def test_folds_are_pooled_and_seeds_averaged_after_the_choice(data: Path) -> None:
    ran(data, POOLED)
    chosen = expected(data, ("fold", "seed"))
    cells = {
        (row["run"], row["fold"], row["seed"], (row["lr"], row["leaves"])): float(row["map"])
        for row in csv_rows(data / "out/leaderboard_cells.csv")
        if row["dataset"].startswith("test")
    }
    for row in csv_rows(data / "out/leaderboard.csv"):
        if row["run"] in MODELS:
            own = [
                cells[row["run"], str(fold), str(seed), chosen[row["run"], str(fold), str(seed)]]
                for fold, seed in itertools.product(FOLDS, SEEDS)
            ]  # every fold has the same number of queries
            assert float(row["map"]) == pytest.approx(fmean(own), abs=1e-12)
            assert row["chosen_from"] == f"{SEVERAL}, chosen on vali by ndcg@10"
            assert row["repetitions"] == "2"
        else:
            assert (row["run"], row["chosen_from"], row["repetitions"]) == ("linear", "", "1")


def test_ties_take_the_first_setting_and_are_reported(tmp_path: Path) -> None:
    put(tmp_path)
    rows = (tmp_path / "data/Fold1/vali.txt").read_text(encoding="utf-8").splitlines()
    grades = [int(row[0]) for row in rows]
    for lr, leaves in (("0.1", "31"), ("1", "7")):  # both perfect
        write(scores(tmp_path, "gbrt", "vali-fold1", lr, leaves, 1), grades, 0.01, random.Random(1))
    with harness_warnings() as said:
        found = ran(tmp_path)
    tie = "gbrt fold=1 seed=1: lr=0.1 leaves=31, lr=1 leaves=7"
    assert f"1 of 8 choices are ties; the first setting is taken: {tie}." in said
    choice = next(one for one in found.board.selection.choices if one.tied)
    assert choice.setting == (("lr", "0.1"), ("leaves", "31"))
    assert choice.tied == ((("lr", "1"), ("leaves", "7")),)
    assert tie in " ".join(str(found).split())
    ties = [choice.tied for choice in found.manifest.choices if choice.tied]
    assert ties == [({"lr": "1", "leaves": "7"},)]


def test_one_choice_for_all_folds_does_not_see_the_test_queries_of_another(tmp_path: Path) -> None:
    put(tmp_path)  # the validation queries of a fold are the test queries of the next, as in MSLR
    vali = tmp_path / "data/Fold2/vali.txt"
    vali.write_text((tmp_path / "data/Fold1/test.txt").read_text(encoding="utf-8"), "utf-8")
    ran(tmp_path)
    with refuses("vali-fold2", "validation-in-test", InputError):
        ran(tmp_path, CONFIG.replace("[model, fold, seed]", "[model]"))


@pytest.mark.parametrize(
    ("old", "new", "where", "known"),
    [
        ('on: "vali-', 'on: "valid-', "$.select.on (line 12)", "vali-fold{fold}"),
        ("by: ndcg@10", "by: ndcg@5", "$.select.by (line 12)", ""),
        ("over: [lr, leaves]", "over: [lr, leafs]", "$.select.over[1] (line 12)", "leaves"),
        ("over: [lr, leaves]", "over: [fold]", "$.select.over (line 12)", ""),
        ("over: [lr, leaves]", "over: []", "$.select.over (line 12)", ""),
        ("[model, fold, seed]", "[model, lr]", "$.select.within[1] (line 12)", ""),
        ("[model, fold, seed]", "[modle]", "$.select.within (line 12)", "model"),
        ('"{model}":', '"{model} {lr}":', "$.runs['{model} {lr}'] (line 8)", ""),
        ("over: [lr, leaves]", "ovre: [lr]", "$.select.ovre (line 12)", ""),
        ("name: swept", "summary: {best: [lr]}", "$.select.over[0] (line 12)", ""),
    ],
)
def test_mistakes_in_the_config(data: Path, old: str, new: str, where: str, known: str) -> None:
    with refuses(where, error=ConfigError, suggests=known):
        ran(data, CONFIG.replace(old, new))
