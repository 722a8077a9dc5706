"""Means over folds, families of slices and references, against literal loops."""

import csv
import random
import statistics
from collections import defaultdict
from pathlib import Path

import pytest
from command_line import refused, succeeds
from refusals import refuses
from scipy import stats

import harness
from harness.errors import HarnessWarning, UnknownNameError
from harness.reports.methods import methods

CONFIG = """
name: letor=2
datasets:
  "fold{{fold}}": {{path: "fold{{fold}}.qrels", groups: {{path: groups.csv}}}}
runs: {{"{{model}}": "{{model}}.fold{{fold}}.run"}}
metrics: [map, "err@3"]
output: out
summary: {{average: [fold]}}
compare: {compare}
tables: {{main: {{formats: [markdown]}}}}
plots:
  - {{kind: differences, baseline: median, metrics: [map], formats: [svg], datasets: ["letor=2"]}}
reports: [csv, page]
"""
FOLDS = {"1": range(1, 12), "2": range(12, 31)}
LENGTH = {str(qid): "long" if qid % 3 else "short" for qid in range(1, 31)}
MODELS = ("a", "b", "c=1", "d")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("folds"), random.Random(3)
    for fold, qids in FOLDS.items():
        grades = [f"{qid} 0 d{n} {rng.choice([0, 0, 1, 2])}\n" for qid in qids for n in range(8)]
        rng.shuffle(grades)
        (folder / f"fold{fold}.qrels").write_text("".join(grades))
        for model in MODELS:
            rows = [
                f"{qid} Q0 d{n} 1 {rng.random()} {model}\n"
                for qid in qids
                if model != "c=1" or qid % 7  # queries that a run does not answer
                for n in range(8)
            ]
            (folder / f"{model}.fold{fold}.run").write_text("".join(rows))
    labels = "".join(f"{qid},{label}\n" for qid, label in LENGTH.items())
    (folder / "groups.csv").write_text(f"qid,length\n{labels}")
    return folder


def ran(place: Path, compare: str) -> harness.Results:
    (place / "c.yaml").write_text(CONFIG.format(compare=compare))
    return harness.run(place / "c.yaml", force=True)


def values_of(place: Path) -> dict[str, dict[tuple[str, str], float]]:
    """Values by metric, of each run and query."""
    values: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    for fold, qids in FOLDS.items():
        for model in MODELS:
            files = [str(place / name) for name in (f"fold{fold}.qrels", f"{model}.fold{fold}.run")]
            of_fold = harness.evaluate(*files, ["map", "err@3"]).to_dict()
            for qid in map(str, qids):
                for metric in ("map", "err@3"):
                    values[metric][model, qid] = of_fold[qid][metric]
    return values


PICKS = {"median": statistics.median, "best": max}


@pytest.mark.parametrize(
    ("compare", "sizes"),
    [
        ("{baseline: [a, median]}", {"table": 14, "letor=2 [": 14}),
        ("{baseline: [best]}", {"table": 8, "letor=2 [": 8}),
        ("{}", {"map on": 6, "err@3 on": 6}),
        ("{baseline: d, family: metric}", {"map on": 3, "err@3 on": 3}),
    ],
)
def test_a_board_of_folds_agrees_with_loops(
    place: Path, compare: str, sizes: dict[str, int]
) -> None:
    ran(place, compare)
    values, families = values_of(place), defaultdict(list)
    sets = {"letor=2": list(LENGTH)}
    for label in ("long", "short"):
        sets[f"letor=2 [length={label}]"] = [q for q in LENGTH if LENGTH[q] == label]

    def series(run: str, row: dict[str, str]) -> list[float]:
        of_metric, qids = values[row["metric"]], sets[row["dataset"]]
        if run in PICKS:
            return [PICKS[run](of_metric[model, qid] for model in MODELS) for qid in qids]
        return [of_metric[run, qid] for qid in qids]

    with (place / "out/significance.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        run, base = series(row["run"], row), series(row["baseline"], row)
        mean = sum(x - y for x, y in zip(run, base, strict=True)) / len(run)
        assert float(row["difference"]) == pytest.approx(mean, abs=1e-12)
        p = stats.ttest_rel(run, base).pvalue
        assert float(row["p"]) == pytest.approx(p, rel=1e-6)
        families[row["family"]].append((p, float(row["p_adjusted"]), int(row["family_size"])))
    for name, tests in families.items():
        largest = 0.0
        for place_of, (p, adjusted, size) in enumerate(sorted(tests)):
            largest = max(largest, min(1.0, (len(tests) - place_of) * p))  # Holm
            assert (adjusted, size) == (pytest.approx(largest, rel=1e-6), len(tests))
        assert any(name.startswith(key) and len(tests) == n for key, n in sizes.items()), name
    with (place / "out/leaderboard.csv").open() as file:
        board = list(csv.DictReader(file))
    assert len(board) == 3 * len(MODELS)
    for row in board:
        for metric in ("map", "err@3"):
            of_folds = [
                [values[metric][row["run"], q] for q in map(str, qids) if q in sets[row["dataset"]]]
                for qids in FOLDS.values()
            ]
            mean = sum(sum(part) / len(part) for part in of_folds) / 2
            assert float(row[metric]) == pytest.approx(mean, rel=1e-9)


def test_outputs_say_what_is_tested_and_what_the_reference_is(place: Path) -> None:
    results = ran(place, "{baseline: [median]}")
    assert results.comparisons is not None
    assert results.comparisons.averaged == ("fold",)
    caption = (place / "out/tables/main.md").read_text()
    paragraph = methods(results, "plain")
    for text in (str(results), caption, paragraph):
        assert "queries of all folds" in text
    for text in (str(results), paragraph):
        assert "the median of all systems on each query" in text
    assert (place / "out/page.html").exists()
    printed = succeeds("compare", "a", "d", "--results", "out", "-b", "best", cwd=place)
    assert "the best value of any system" in printed


def test_another_metric_or_slice_changes_no_comparison_of_all_pairs(place: Path) -> None:
    def adjusted(override: str) -> dict[tuple[str, ...], float]:
        (place / "c.yaml").write_text(CONFIG.format(compare="{}"))
        found = harness.run(place / "c.yaml", overrides=[override], force=True).comparisons
        assert found is not None
        return {(r.dataset, str(r.metric), r.baseline, r.run): r.p_adjusted for r in found.rows}

    whole = adjusted("sort=none")
    for smaller in (adjusted("metrics=[map]"), adjusted("reports=[csv]")):
        assert smaller.items() <= whole.items()


def test_a_run_of_the_name_is_no_reference(tmp_path: Path) -> None:
    qrels = {str(qid): {"a": 1, "b": 0} for qid in (1, 2, 10)}
    runs = {name: {qid: {"a": 1.0, "b": 0.5} for qid in qrels} for name in ("x", "median")}
    with refuses("baseline", error=UnknownNameError):
        harness.compare(qrels, runs, ["map"], baseline="median")
    harness.compare(qrels, runs, ["map"], baseline="best")
    harness.compare(qrels, runs, ["map"], baseline="x")
    with refuses("test", error=UnknownNameError):
        harness.compare(qrels, runs, ["map"], baseline="best", test="tukey")


def test_many_tests_are_warned_of_before_the_work() -> None:
    qrels = {"1": {"a": 1, "b": 0}, "10": {"a": 0, "b": 1}}
    runs = {f"r{n}": {qid: {"a": 1.0, "b": n % 3} for qid in qrels} for n in range(201)}
    with pytest.warns(HarnessWarning, match="20,100 tests"):
        harness.compare(qrels, runs, ["map"])
    harness.compare(qrels, runs, ["map"], baseline="median")


def test_a_gate_takes_a_run(place: Path) -> None:
    ran(place, "{baseline: median}")
    words = ("gate", str(place / "c.yaml"), "--set")
    refused(*words, "gate={baseline: median, rules: {map: {margin: 0.1}}}", cwd=place)
