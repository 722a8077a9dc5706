"""Means over folds, families of slices and references, against literal loops."""

import itertools
import random
import statistics
from collections import defaultdict
from pathlib import Path

import pytest
from command_line import refused, succeeds
from csv_rows import csv_rows
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
"""
SHOWN = """
tables: {main: {formats: [markdown]}}
plots:
  - {kind: differences, baseline: median, metrics: [map], formats: [svg], datasets: ["letor=2"]}
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


def ran(place: Path, compare: str, more: str = "") -> harness.Results:
    (place / "c.yaml").write_text(CONFIG.format(compare=compare) + more)
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
        ("{baseline: d, family: dataset}", {"letor=2": 6}),
        ("{family: table}", {"table": 12, "letor=2 [": 12}),
        ("{family: dataset}", {"letor=2": 12}),
    ],
)
def test_a_board_of_folds_agrees_with_loops(
    place: Path, compare: str, sizes: dict[str, int]
) -> None:
    ran(place, compare)
    values, families = values_of(place), defaultdict(list)
    members: dict[str, str] = {}  # the dataset or slice of each family
    sets = {"letor=2": list(LENGTH)}
    for label in ("long", "short"):
        sets[f"letor=2 [length={label}]"] = [q for q in LENGTH if LENGTH[q] == label]

    def series(run: str, row: dict[str, str]) -> list[float]:
        of_metric, qids = values[row["metric"]], sets[row["dataset"]]
        if run in PICKS:
            return [PICKS[run](of_metric[model, qid] for model in MODELS) for qid in qids]
        return [of_metric[run, qid] for qid in qids]

    for row in csv_rows(place / "out/significance.csv"):
        run, base = series(row["run"], row), series(row["baseline"], row)
        mean = sum(x - y for x, y in zip(run, base, strict=True)) / len(run)
        assert float(row["difference"]) == pytest.approx(mean, abs=1e-12)
        p = stats.ttest_rel(run, base).pvalue
        assert float(row["p"]) == pytest.approx(p, rel=1e-6)
        families[row["family"]].append((p, float(row["p_adjusted"]), int(row["family_size"])))
        assert members.setdefault(row["family"], row["dataset"]) == row["dataset"]
    for name, tests in families.items():
        largest = 0.0
        for place_of, (p, adjusted, size) in enumerate(sorted(tests)):
            largest = max(largest, min(1.0, (len(tests) - place_of) * p))  # Holm
            assert (adjusted, size) == (pytest.approx(largest, rel=1e-6), len(tests))
        assert any(name.startswith(key) and len(tests) == n for key, n in sizes.items()), name
    board = csv_rows(place / "out/leaderboard.csv")
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
    results = ran(place, "{baseline: [median]}", SHOWN)
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


def adjusted(place: Path, compare: str, left_out: str = "") -> dict[tuple[str, ...], float]:
    """Adjusted p-values by dataset, metric and runs, with a part of the config left out."""
    text = CONFIG.format(compare=compare)
    assert left_out in text
    (place / "c.yaml").write_text(text.replace(left_out, ""))
    found = harness.run(place / "c.yaml", force=True).comparisons
    assert found is not None
    return {(r.dataset, str(r.metric), r.baseline, r.run): r.p_adjusted for r in found.rows}


@pytest.mark.parametrize(
    "compare",
    ["{}", "{test: tukey}", "{baseline: d, family: metric}",
     "{baseline: [median, a], family: metric, correction: by}"],
)  # fmt: skip
def test_another_metric_changes_no_comparison(place: Path, compare: str) -> None:
    assert adjusted(place, compare, ', "err@3"').items() < adjusted(place, compare).items()


@pytest.mark.parametrize(
    "compare",
    ["{}", "{test: tukey}", "{family: table}", "{family: dataset, correction: bh}",
     "{baseline: d}", "{baseline: [best, c=1], correction: bonferroni}",
     "{baseline: median, family: dataset}", "{baseline: median, family: metric, correction: by}"],
)  # fmt: skip
def test_a_slice_changes_no_other_comparison(place: Path, compare: str) -> None:
    slices, whole = ", groups: {path: groups.csv}", adjusted(place, compare)
    alone = adjusted(place, compare, slices)
    assert alone.items() < whole.items()
    assert {dataset for dataset, *_ in whole.keys() - alone.keys()} == {
        "letor=2 [length=long]", "letor=2 [length=short]",
    }  # fmt: skip


WEIGHTED = """
name: w
datasets:
  "fold{fold}":
    {path: "fold{fold}.qrels", groups: {path: groups.csv}, weights: {path: w.csv, column: clicks}}
runs: {"{model}": "{model}.fold{fold}.{seed}.run"}
metrics: [map, recip_rank]
output: out
summary: {average: [fold], spread: [seed]}
compare: {baseline: [median, best], test: randomization, family: metric}
reports: [csv]
"""
CLICKS = {str(qid): (3, 0, 0.5, 7, 1, 2)[qid % 6] for qid in range(1, 13)}


def test_weights_folds_seeds_and_references_together_agree_with_loops(tmp_path: Path) -> None:
    rng, models, metrics = random.Random(7), ("x=1", "b", "c"), ("map", "recip_rank")
    folds = {"1": [str(q) for q in range(1, 6)], "2": [str(q) for q in range(6, 13)]}
    seeds, values = ("1", "2"), defaultdict(float)
    for fold, qids in folds.items():
        rows = [f"{q} 0 d{n} {rng.choice([0, 0, 1, 2])}\n" for q in qids for n in range(6)]
        (tmp_path / f"fold{fold}.qrels").write_text("".join(rows))
        for model in models:
            for seed in seeds:
                path = tmp_path / f"{model}.fold{fold}.{seed}.run"
                lines = [f"{q} Q0 d{n} 1 {rng.random()} t\n" for q in qids for n in range(6)]
                path.write_text("".join(lines))
                found = harness.evaluate(tmp_path / f"fold{fold}.qrels", path, metrics).to_dict()
                for qid in qids:
                    for metric in metrics:
                        values[metric, model, qid] += found[qid][metric] / len(seeds)
    labels = "".join(f"{qid},{LENGTH[qid]}\n" for qid in CLICKS)
    (tmp_path / "groups.csv").write_text(f"qid,length\n{labels}")
    weights = "".join(f"{qid},{weight}\n" for qid, weight in CLICKS.items())
    (tmp_path / "w.csv").write_text(f"qid,clicks\n{weights}")
    (tmp_path / "c.yaml").write_text(WEIGHTED)
    succeeds("run", "c.yaml", cwd=tmp_path)

    def weighted_mean(series: dict[str, float]) -> float:
        return sum(CLICKS[q] * v for q, v in series.items()) / sum(CLICKS[q] for q in series)

    sets = {"w": list(CLICKS)}
    for label in ("long", "short"):
        sets[f"w [length={label}]"] = [qid for qid in CLICKS if LENGTH[qid] == label]
    families = defaultdict(list)
    for row in csv_rows(tmp_path / "out/significance.csv"):
        metric, qids = row["metric"], [q for q in sets[row["dataset"]] if CLICKS[q]]
        pick = PICKS[row["baseline"]]
        base = {q: pick(values[metric, model, q] for model in models) for q in qids}
        differences = {q: values[metric, row["run"], q] - base[q] for q in qids}
        assert float(row["difference"]) == pytest.approx(weighted_mean(differences), abs=1e-12)
        sums = [CLICKS[q] * difference for q, difference in differences.items()]
        ways = [
            abs(sum(sign * one for sign, one in zip(signs, sums, strict=True)))
            for signs in itertools.product((-1, 1), repeat=len(sums))
        ]
        p = sum(way >= abs(sum(sums)) - 1e-12 for way in ways) / len(ways)
        assert float(row["p"]) == pytest.approx(p, rel=1e-9)
        families[row["dataset"], metric].append((p, float(row["p_adjusted"])))
        assert row["weighted_by"] == "clicks"
    assert len(families) == 3 * len(metrics)
    for tests in families.values():
        assert len(tests) == 2 * len(models)
        largest = 0.0
        for place_of, (p, adjusted_p) in enumerate(sorted(tests)):  # Holm
            largest = max(largest, min(1.0, (len(tests) - place_of) * p))
            assert adjusted_p == pytest.approx(largest, rel=1e-9)
    for row in csv_rows(tmp_path / "out/leaderboard.csv"):
        for metric in metrics:
            of_folds = [
                weighted_mean({q: values[metric, row["run"], q] for q in qids if q in own})
                for own in [sets[row["dataset"]]]
                for qids in folds.values()
            ]
            assert float(row[metric]) == pytest.approx(statistics.mean(of_folds), rel=1e-9)


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
