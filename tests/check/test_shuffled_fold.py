"""One fold's predictions in another order than its rows, beside sound ones of the same model."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from harness.cli.main import main
from harness.errors import Finding
from harness.guard.check import check_config

N, DEEP = 60, 20
"""Queries of a fold, and documents of each."""
ROWS = N * DEEP

Order = Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]


class Sweep:
    """Three folds of as many rows, and a good and a random model's predictions for each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        random = np.random.default_rng(11)
        for fold in (1, 2, 3):
            grades = random.integers(0, 3, ROWS)
            qids = 1000 * fold + np.repeat(np.arange(N), DEEP)
            rows = zip(grades.tolist(), qids.tolist(), random.random(ROWS).tolist(), strict=True)
            text = "".join(f"{grade} qid:{qid} 1:{x:.6f}\n" for grade, qid, x in rows)
            (folder / f"fold{fold}.txt").write_text(text)
            self.put("m1", fold, grades + random.normal(0, 0.7, ROWS))
            self.put("m2", fold, random.random(ROWS))
        self.config()

    def config(self, **changes: Any) -> None:
        content = {
            "output": "out",
            "datasets": {"web{fold}": {"format": "letor", "path": "fold{fold}.txt"}},
            "runs": {"{model}": {"format": "scores", "path": "{model}-{fold}.txt"}},
            "metrics": ["ndcg@10"],
            **changes,
        }
        (self.folder / "x.yaml").write_text(yaml.safe_dump(content))

    def put(self, model: str, fold: int, scores: np.ndarray[Any, Any]) -> None:
        path = self.folder / f"{model}-{fold}.txt"
        path.write_text("".join(f"{one:.6f}\n" for one in scores.tolist()))

    def change(self, order: Order, fold: int = 1, model: str = "m1") -> None:
        self.put(model, fold, order(np.loadtxt(self.folder / f"{model}-{fold}.txt")))

    def unrelated(self, model: str = "m1") -> dict[str, Finding]:
        found = check_config(self.folder / "x.yaml").findings
        some = [one for one in found if one.rule == "unrelated"]
        return {
            name: one
            for one in some
            if (name := Path(one.place).name.partition(".")[0]).startswith(model)
        }


@pytest.fixture
def sweep(tmp_path: Path) -> Sweep:
    return Sweep(tmp_path)


def shuffled(scores: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.random.default_rng(5).permutation(scores)


ORDERS: dict[str, Order] = {
    "shuffled": shuffled,
    "reversed": lambda scores: scores[::-1],
    "rotated": lambda scores: np.roll(scores, 7),
    "sorted": np.sort,
    "of a fold that the config does not name": lambda _: np.random.default_rng(8).random(ROWS),
}


@pytest.mark.parametrize("kind", ORDERS)
def test_one_fold_unlike_the_others_is_a_warning(sweep: Sweep, kind: str) -> None:
    assert not sweep.unrelated()
    sweep.change(ORDERS[kind])
    (one,) = sweep.unrelated().values()
    assert (one.severity, Path(one.place).name) == ("warning", "m1-1.txt:1")
    own, others = one.what.split("; ")
    assert own.startswith("predictions and grades of web1 have a correlation of ")
    assert others == "those of the same model 0.78 and 0.77 on web2 and web3"
    assert "a fold of as many rows that the config does not name" in one.fix


def test_the_text(sweep: Sweep) -> None:
    sweep.change(shuffled)
    (one,) = sweep.unrelated().values()
    assert one.what == (
        "predictions and grades of web1 have a correlation of 0.02 within queries, below 0 in "
        "28 of 60; those of the same model 0.78 and 0.77 on web2 and web3"
    )
    assert "(they may have been shuffled, sorted, turned round or moved by some rows)" in one.fix


def test_a_model_that_is_random_on_all_folds_is_a_note(sweep: Sweep) -> None:
    found = sweep.unrelated("m2")
    assert {one.severity for one in found.values()} == {"note"}
    assert len(found) == 3
    assert all("same model" not in one.what for one in found.values())


def test_two_of_three_folds(sweep: Sweep) -> None:
    sweep.change(shuffled, 1)
    sweep.change(shuffled, 3)
    found = sweep.unrelated()
    assert {name: one.what.split("; ")[1] for name, one in found.items()} == {
        "m1-1": "those of the same model 0.78 on web2",
        "m1-3": "those of the same model 0.78 on web2",
    }


def swap(sweep: Sweep, model: str = "m1") -> None:
    """Give folds 1 and 2 each other's predictions; and a shorter fold 3 those of fold 1, cut."""
    n = ROWS - 10 * DEEP
    rows = (sweep.folder / "fold3.txt").read_text().splitlines(keepends=True)
    (sweep.folder / "fold3.txt").write_text("".join(rows[:n]))
    first, second = (np.loadtxt(sweep.folder / f"{model}-{fold}.txt") for fold in (1, 2))
    sweep.put(model, 1, second)
    sweep.put(model, 2, first)
    sweep.put(model, 3, first[:n])
    other = "m2" if model == "m1" else "m1"
    sweep.put(other, 3, np.loadtxt(sweep.folder / f"{other}-3.txt")[:n])


def test_harness_run_says_it_of_cut_ones_too(
    sweep: Sweep, capsys: pytest.CaptureFixture[str]
) -> None:
    swap(sweep)
    with contextlib.suppress(SystemExit):
        main(["run", str(sweep.folder / "x.yaml"), "--set", f"output={sweep.folder / 'out'}"])
    said = capsys.readouterr().err
    assert (said.count("[swapped-fold]"), said.count("[unrelated]")) == (1, 1)
    assert "0.78 and 0.78 on web2 (given for web1) and web1 (given for web2)" in said


def test_a_random_model_whose_folds_are_swapped_is_a_note(sweep: Sweep) -> None:
    swap(sweep, "m2")
    assert not sweep.unrelated("m1")
    assert {one.severity for one in sweep.unrelated("m2").values()} == {"note"}


def test_datasets_that_are_no_folds_tell_nothing_of_each_other(sweep: Sweep) -> None:
    sweep.config(
        datasets={"web-{topic}": {"format": "letor", "path": "fold{topic}.txt"}},
        runs={"{model}": {"format": "scores", "path": "{model}-{topic}.txt"}},
    )
    sweep.change(shuffled)
    assert [one.severity for one in sweep.unrelated().values()] == ["note"]


def test_a_weak_model_that_is_upside_down_is_not_called_random(sweep: Sweep) -> None:
    """A correlation of -r over 1,200 rows is -34.6 r standard errors: by chance up to 3."""
    advice = {}
    for weight in (0.0, -0.15):
        for fold in (1, 2, 3):
            rows = (sweep.folder / f"fold{fold}.txt").read_text().splitlines()
            grades = np.array([float(row[0]) for row in rows])
            noise = np.random.default_rng(fold).normal(0, 1, ROWS)
            sweep.put("m1", fold, weight * grades + noise)
        for one in sweep.unrelated().values():
            r = float(one.what.split("correlation of ")[1].split()[0])
            advice[r < -3 / ROWS**0.5] = (one.severity, one.effect, one.fix)
    assert advice == {
        False: (
            "note",
            "the order is a random one; so it is where rows were shuffled",
            "if it is no random baseline: predict in the order of the dataset's rows",
        ),
        True: (
            "note",
            "the order is worse than a random one",
            "negate them, if they are ranks, distances or losses; else predict in the order of the "
            "dataset's rows",
        ),
    }
