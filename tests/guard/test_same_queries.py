"""Queries with the same rows in several datasets, in ``harness check`` and ``harness run``."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.experiment.check import check_config

pytestmark = pytest.mark.filterwarnings("ignore::harness.errors.HarnessWarning")
Found = set[tuple[str, str, str, int]]


def rows(seed: int, n: int) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(f"{at}:{chance.random():.6f}" for at in range(1, 12)) for _ in range(n)]


def lines(features: list[str], first_qid: int = 1, seed: int = 0) -> list[str]:
    """Lines of five rows a query."""
    chance = random.Random(seed)
    return [
        f"{chance.randrange(3)} qid:{first_qid + at // 5} {one}\n"
        for at, one in enumerate(features)
    ]


class Sweep:
    """A folder of datasets, each with predictions that have to do with nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, name: str, content: list[str]) -> None:
        (self.folder / f"{name}.txt").write_text("".join(content))
        chance = random.Random(name)
        scores = "".join(f"{chance.random()}\n" for _ in content)
        (self.folder / f"{name}.pred").write_text(scores)

    def found(self, datasets: str, run: str = "{name}") -> Found:
        """What both commands find of shared rows, which has to be the same."""
        config = self.folder / "c.yaml"
        config.write_text(
            f"datasets: {{{datasets}}}\nruns: {{r: {{format: scores, path: '{run}.pred'}}}}\n"
            "metrics: [ndcg@5]\noutput: out\n"
        )
        checked = of([one.as_dict() for one in check_config(config).findings])
        harness.run(config)
        manifest = json.loads((self.folder / "out/manifest.json").read_text())
        assert of(manifest["findings"]) == checked
        return checked


def of(findings: list[dict[str, Any]]) -> Found:
    return {
        (one["rule"], one["severity"], Path(one["place"]).name.partition(":")[0], one["count"])
        for one in findings
        if one["rule"] in ("same-queries",)
    }


@pytest.fixture
def sweep(tmp_path: Path) -> Sweep:
    return Sweep(tmp_path)


DATASETS = "'{name}': {format: letor, path: '{name}.txt'}"


def test_queries_under_other_qids(sweep: Sweep) -> None:
    train, test = rows(1, 400), rows(2, 100)
    sweep.put("a", lines(train))
    sweep.put("b", lines([*test[:50], *train[100:150]], 1000))  # ten of 20 queries
    assert sweep.found(DATASETS) == {("same-queries", "warning", "b.txt", 10)}
    (one,) = [one for one in check_config(sweep.folder / "c.yaml").findings
              if one.rule == "same-queries"]  # fmt: skip
    assert one.place == f"{sweep.folder}/b.txt:51"
    assert one.examples[0] == "1010"


def test_cross_validation(sweep: Sweep) -> None:
    """Training rows of one fold are test rows of the other, and that is as it should be."""
    first, second = lines(rows(1, 100)), lines(rows(2, 100), 500)
    for name, content in {"1-train": second, "1-test": first, "2-train": first}.items():
        sweep.put(name, [f"{one.strip()} # {name}\n" for one in content])
    sweep.put("2-test", second)
    named = "'{split}-fold{name}': {format: letor, path: '{name}-{split}.txt'}"
    assert sweep.found(named, "{name}-{split}") == set()
    sweep.put("2-test", [*second[:50], *(f"{one.strip()} # leak\n" for one in first[:50])])
    # of the training rows of this fold, and of the test rows of the other
    assert sweep.found(named, "{name}-{split}") == {
        ("same-queries", "warning", name, 10) for name in ("2-train.txt", "2-test.txt")
    }


def test_validation_data_that_are_test_data_of_another_fold(sweep: Sweep) -> None:
    """As in LETOR 4.0: the same bytes are not a mistake, unless both are of one fold."""
    for fold, names in {"1": ("vali", "test"), "2": ("test", "vali")}.items():
        for seed, name in enumerate(names):
            sweep.put(f"{name}{fold}", lines(rows(seed, 100), 1 + 100 * seed))
    sets = "vali", "test"
    datasets = ", ".join(
        f"'{one}-fold{{fold}}': {{format: letor, path: '{one}{{fold}}.txt'}}" for one in sets
    )
    runs = ", ".join(
        f"{{dataset: '{one}-fold{{fold}}', path: '{one}{{fold}}.pred'}}" for one in sets
    )

    def same() -> list[str]:
        config = sweep.folder / "c.yaml"
        config.write_text(f"datasets: {{{datasets}}}\nruns: {{r: [{runs}]}}\nmetrics: [map]\n")
        return [one.place for one in check_config(config).findings if one.rule == "same-file-twice"]

    assert same() == []
    sweep.put("vali2", lines(rows(0, 100)))  # as test2
    assert [Path(place).name for place in same()] == ["vali1.txt"]
