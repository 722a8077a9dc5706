"""``harness conventions``: a leaderboard under every convention, worked by hand."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from csv_rows import csv_rows
from folds_and_seeds import put
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from scipy.stats import kendalltau

import harness
from harness.audit.conventions import (
    ComparedConventions,
    ConventionRow,
    Matrix,
    compare,
    conventions,
)
from harness.audit.conventions_report import grids, records
from harness.core.names import parse
from harness.core.settings import CONVENTIONS
from harness.errors import AlignmentError, InputError
from harness.reports.formats import as_csv, render

nan = math.nan
QRELS = "q 0 a 3\nq 0 b 2\nq 0 c 2\nq 0 x 0\n"
CONFIG = """
datasets: {toy: {path: ../data/qrels.txt}}
runs: {"{system}": {path: "../data/{system}.run"}}
metrics: [ndcg@2, "rbo(p=0.9)"]
"""
# broad ranks b and c (grade 2) first, sharp a (grade 3), then x (0). At cutoff 2, L = log2(3):
#   gain g:        broad 2 + 2/L,  sharp 3,  ideal 3 + 2/L
#   gain 2^g - 1:  broad 3 + 3/L,  sharp 7,  ideal 7 + 3/L
L = math.log2(3)
BROAD, SHARP = (2 + 2 / L) / (3 + 2 / L), 3 / (3 + 2 / L)  # 0.765, 0.704
BROAD_EXP, SHARP_EXP = (3 + 3 / L) / (7 + 3 / L), 7 / (7 + 3 / L)  # 0.550, 0.787


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The folder of the qrels and of two runs whose order depends on the gain."""
    for name in ("configs", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "data/qrels.txt").write_text(QRELS)
    for system, order in {"broad": "bcax", "sharp": "axbc"}.items():
        write_run(tmp_path / f"data/{system}.run", order)
    return tmp_path / "data"


@pytest.fixture
def toy(data: Path) -> Path:
    config = data.parent / "configs/toy.yaml"
    config.write_text(CONFIG)
    return config


def write_run(path: Path, order: str) -> None:
    rows = enumerate(order)
    path.write_text("".join(f"q Q0 {docno} {at + 1} {9 - at} t\n" for at, docno in rows))


def values(matrix: Matrix) -> dict[str, list[float]]:
    return {row.name: row.values.tolist() for row in (matrix.base, *matrix.rows)}


def test_the_order_of_two_systems_depends_on_the_gain(toy: Path) -> None:
    found = conventions(toy)
    (matrix,) = found.matrices
    assert found.left_out == ("rbo(p=0.9)",)  # which no convention has
    assert (matrix.dataset, str(matrix.metric)) == ("toy", "ndcg@2")
    assert matrix.systems == ("broad", "sharp")
    for name in ("base", "trec_eval9", "sklearn", "catboost"):
        assert values(matrix)[name] == pytest.approx([BROAD, SHARP])
    for name in ("lightgbm", "xgboost", "gdeval", "ranklib"):
        assert values(matrix)[name] == pytest.approx([BROAD_EXP, SHARP_EXP])
    by_name = {row.name: one for row, one in matrix.compared}
    assert by_name["lightgbm"] == (-1.0, True, (1,), True, 2)
    assert not by_name["catboost"].order_changed


def test_every_value_is_that_of_the_metrics_name(root: Path) -> None:
    config = root / "configs/sweep.yaml"
    found = conventions(config, metrics=["ndcg@5", "P@5"], tools=["lightgbm", "letor"])
    qrels = str(root / "runs/letor/fold2/test.txt")
    run = str(root / "runs/letor/neural/fold2-seed1.txt")
    for matrix in found.matrices:
        if matrix.dataset == "letor-fold2":
            at, name = matrix.systems.index("neural seed=1"), matrix.metric.definition.name
            names = {row.name: f"{name}(convention={row.name})@5" for row in matrix.rows}
            names["base"] = f"{name}@5"
            policy = {"empty_queries": "skip"}  # the config's
            expected = harness.evaluate(qrels, run, list(names.values()), policy=policy).summary()
            for row in (matrix.base, *matrix.rows):
                assert row.values[at] == expected[names[row.name]]


def test_a_folder_of_results(toy: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = harness.run(toy).folder
    expected = values(conventions(toy).matrices[0])
    monkeypatch.chdir(toy.parent)
    assert values(conventions(Path("results/toy")).matrices[0]) == expected
    write_run(data / "later.run", "cbax")
    assert conventions(toy).matrices[0].systems == ("broad", "later", "sharp")
    assert conventions(folder).matrices[0].systems == ("broad", "sharp")
    (data / "broad.run").unlink()
    write_run(data / "sharp.run", "xabc")
    with refuses(f"{data}/broad.run", error=InputError) as caught:
        conventions(folder)
    assert [one.where for one in caught.value.problems[1:]] == [f"{data}/sharp.run"]


def with_summary(folder: Path, summary: str) -> Path:
    return put(folder, f'metrics: [map, "ndcg@2", "arp(over=grades)"]\nsummary: {summary}\n')


POOLED = "{pool: [fold], spread: [seed]}"


@pytest.mark.parametrize(
    ("summary", "systems"),
    [
        (POOLED, ("a", "b")),
        ("{average: [fold], spread: [seed]}", ("a", "b")),
        ("{pool: [fold]}", ("a seed=1", "a seed=2", "b seed=1", "b seed=2")),
        ("{spread: [seed]}", ("a", "b")),
        ("{pool: [fold], best: [seed]}", ("a", "b")),
    ],
)
def test_the_base_is_the_leaderboard(
    tmp_path: Path, summary: str, systems: tuple[str, ...]
) -> None:
    path = with_summary(tmp_path, summary)
    results = harness.run(path)
    rows = csv_rows(results.folder / "leaderboard.csv")
    for source in (path, results.folder):
        found = conventions(source, tools=["lightgbm"])
        assert {matrix.systems for matrix in found.matrices} == {systems}
        for matrix in found.matrices:
            here = [row for row in rows if row["dataset"] == matrix.dataset]
            expected = [float(row[str(matrix.metric)]) for row in here]
            assert matrix.base.values.tolist() == expected
    (matrix,) = conventions(path, metrics=["ndcg@2"], tools=["lightgbm"]).matrices[
        :1
    ]  # best: still the config's first
    here = [entry for entry in results.leaderboard.entries if entry.dataset == matrix.dataset]
    assert matrix.base.values.tolist() == [entry.summary["ndcg@2"] for entry in here]


def test_folds(tmp_path: Path) -> None:
    path = with_summary(tmp_path, POOLED)
    (matrix,) = conventions(path, metrics=["map"], tools=["xgboost"]).matrices
    # fold 1 has a grade of 2, which XGBoost's map refuses; fold 2 does not
    assert all("got the grade 2" in reason for reason in matrix.rows[0].refused)
    for seed in (1, 2):
        (tmp_path / f"b-2-{seed}.txt").unlink()
    found = conventions(path)
    assert {matrix.systems for matrix in found.matrices} == {("a",)}
    assert {one.run for one in found.failed} == {"b"}
    assert "Not compared, as in the leaderboard: b on web: 1 of 2 parts are missing" in render(
        grids(found), "text"
    )
    (tmp_path / "fold2.txt").write_text("1 qid:2 1:0\n0 qid:2 1:0\n", encoding="utf-8")
    with refuses("web", error=AlignmentError):
        conventions(path)


def test_text(toy: Path) -> None:
    found = conventions(toy, tools=["lightgbm", "catboost", "sklearn"])
    text = render(grids(found), "text", width=100)
    assert (
        ": 1 of 3 conventions ranks the systems differently: lightgbm. The best system"
        in " ".join(text.split())
    )
    assert re.search(r"^gain +linear +exp +-0\.2152 +broad +-1\.00 +exp +exp", text, re.M)
    assert "\nlightgbm    other best  -1.00  0.5502   0.7872^\n" in text
    assert conventions(toy, overrides=["policy.ties=bounds"]).matrices


def test_a_pair_of_systems_that_swap_is_named() -> None:
    def row(name: str, *values: float) -> ConventionRow:
        return ConventionRow(name, np.array(values), ("",) * 4)

    rows = (
        row("tie", 0.9, 0.4, 0.3, 0.3),  # equal, and none swap
        row("other-best", 0.1, 0.4, 0.3, 0.2),
        row("undefined", nan, 0.4, 0.3, 0.2),
        row("lightgbm", 0.9, 0.2, 0.3, 0.5),  # 2 and x=1 differ most
        row("letor", 0.9, 0.4, 0.2, 0.3),
    )
    systems = ("best", "x=1", "10", "2")
    base = row("base", 0.9, 0.4, 0.3, 0.2)
    matrix = Matrix("web", parse("map")[0], systems, base, rows, ())
    text = " ".join(render(grids(ComparedConventions((matrix,)), details=False), "text").split())
    assert re.findall(r"For example, (\S+) swaps (\S+) and (\S+)\.", text) == [
        ("lightgbm", "x=1", "2")
    ]


def test_csv_is_long_and_reads_back(toy: Path) -> None:
    found = conventions(toy, metrics=["ndcg@2", "map"], tools=["lightgbm", "xgboost"])
    rows = csv_rows(as_csv(records(found)))
    assert ",".join(rows[0]) == (
        "dataset,metric,system,convention,value,base,difference,order_changed,refused"
    )
    by_key = {(row["metric"], row["system"], row["convention"]): row for row in rows}
    assert len(rows) == len(by_key) == 2 * 3 * 2  # metrics x (base and conventions) x systems
    one = by_key["ndcg@2", "sharp", "lightgbm"]
    value, base = found.matrices[0].rows[0].values[1], found.matrices[0].base.values[1]
    assert (float(one["value"]), float(one["base"])) == (value, base)
    assert float(one["difference"]) == value - base
    assert (one["order_changed"], one["refused"]) == ("true", "")
    other = by_key["map", "sharp", "xgboost"]
    assert (other["value"], other["difference"]) == ("", "")
    assert other["refused"].startswith("query 'q': got the grade ")


NDCG, ARP = parse("ndcg@10")[0], parse("arp")[0]
scores = st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=2, max_size=6)


def row(name: str, *values: float) -> ConventionRow:
    return ConventionRow(name, np.array(values), ("",) * len(values))


@given(scores, st.randoms(use_true_random=False))
def test_tau_is_scipys(base: list[float], random) -> None:
    other = [random.choice([0.1, 0.2, 0.3]) for _ in base]
    ours = compare(NDCG, np.array(base), np.array(other)).tau
    assert ours == pytest.approx(kendalltau(base, other).statistic, nan_ok=True)


@pytest.mark.parametrize(
    ("metric", "base", "other", "tau", "order_changed", "best", "best_changed"),
    [
        (NDCG, [0.5, 0.4], [0.2, 0.3], -1, True, (1,), True),  # two change places
        # of three pairs one turns round, below the best: tau = (2 - 1) / 3
        (NDCG, [0.5, 0.4, 0.3], [0.9, 0.1, 0.2], 1 / 3, True, (0,), False),
        (ARP, [2.0, 3.0], [5.0, 4.0], -1, True, (1,), True),  # less is better
        # one pair of three is tied in the base: tau-b = 2 / sqrt(2 * 3)
        (NDCG, [0.5, 0.5, 0.3], [0.5, 0.4, 0.3], 2 / math.sqrt(6), True, (0,), True),
        (NDCG, [0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2], nan, False, (0, 1), False),  # last bits
        (NDCG, [0.9, 0.5, 0.4], [nan, 0.7, 0.6], 1, False, (1,), False),  # over those of both
        (NDCG, [0.9], [0.1], nan, False, (), False),  # one has no order
    ],
)
def test_an_order_compared_with_the_bases(
    metric, base, other, tau, order_changed, best, best_changed
) -> None:
    found = compare(metric, np.array(base), np.array(other))
    assert found.tau == pytest.approx(tau, nan_ok=True)
    assert found[1:4] == (order_changed, best, best_changed)


def test_the_steps_of_every_convention_lead_to_its_value(root: Path) -> None:
    config = root / "configs/quickstart.yaml"
    found = conventions(config, metrics=["ndcg@10", "map@5", "mrr"], tools=[*CONVENTIONS])
    walked = 0
    for matrix in found.matrices:
        rows = {each.name: each.values for each in matrix.rows}
        for each in matrix.walks:
            total = matrix.base.values + sum(change for _, change in each.changes)
            known = ~np.isnan(each.values)
            assert total[known] == pytest.approx(rows[each.name][known])
            walked += known.any()
    assert walked > 20
