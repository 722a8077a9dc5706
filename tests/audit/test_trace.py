"""``harness trace``: the path of a cell, of a query's value, and of a row of folds and seeds."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import called, refused
from csv_rows import csv_rows
from folds_and_seeds import put
from refusals import refuses

import harness
from harness.audit.trace import Account, grids, trace
from harness.errors import InputError, UnknownNameError
from harness.experiment.results import read_results
from harness.reports.text import render

QRELS = "q1 0 a 2\nq1 0 b 0\nq1 0 c 1\nq1 0 e 3\nq2 0 x 1\nq3 0 y 1\n"
# q1: ties of b and c, and of u and a
RUN = "q1 Q0 b 1 5 t\nq1 Q0 c 2 5 t\nq1 Q0 u 3 4 t\nq1 Q0 a 4 4 t\nq2 Q0 w 1 1 t\nq2 Q0 x 2 .5 t\n"
CONFIG = """
name: toy
datasets: {toy: {path: qrels.txt}}
runs: {one: {path: one.run}}
metrics: [METRICS]
policy: {POLICY}
"""


def results(folder: Path, metrics: str, policy: str = "") -> Path:
    (folder / "qrels.txt").write_text(QRELS, encoding="utf-8")
    (folder / "one.run").write_text(RUN, encoding="utf-8")
    text = CONFIG.replace("METRICS", metrics).replace("POLICY", policy)
    (folder / "toy.yaml").write_text(text, encoding="utf-8")
    return harness.run(folder / "toy.yaml").folder


def of_query(folder: Path, metric: str, query: str = "q1") -> Account:
    return trace(folder, "one", metric, query=query)


def test_gains_discounts_and_the_running_value(tmp_path: Path) -> None:
    found = of_query(results(tmp_path, "ndcg@4"), "ndcg_cut_4")
    # ties by docno descending: c (1) before b (0), u (not judged) before a (2)
    rows = [(step.docno, step.grade, step.gain, step.discount) for step in found.ranking]
    assert rows == [
        ("c", 1, 1, 1), ("b", 0, 0, math.log2(3)), ("u", None, 0, 2), ("a", 2, 2, math.log2(5)),
    ]  # fmt: skip
    ideal = 3 + 2 / math.log2(3) + 1 / 2  # grades 3, 2, 1, 0
    assert found.ideal[-1].running == pytest.approx(ideal, abs=1e-15)
    running = [step.running for step in found.ranking]
    first, last = 1 / ideal, (1 + 2 / math.log2(5)) / ideal
    assert running == pytest.approx([first, first, first, last], abs=1e-15)
    assert found.value == found.derived == running[-1]
    assert found.is_confirmed


@pytest.mark.parametrize(
    ("policy", "order"),
    [
        ("", "cbua"), ("ties: stable", "bcua"), ("ties: docno+", "bcau"), ("ties: best", "cbau"),
        ("ties: worst", "bcua"), ("depth: 2", "cb"), ("judged_only: true", "cba"),
        ("judged_only: true, depth: 2", "cb"),
    ],
)  # fmt: skip
def test_the_order_is_the_policys(tmp_path: Path, policy: str, order: str) -> None:
    found = of_query(results(tmp_path, "map, ndcg", policy), "map")
    assert "".join(step.docno for step in found.ranking) == order
    assert found.is_confirmed
    assert found.ranking[-1].running == found.value


@pytest.mark.parametrize("name", ["quickstart", "trec", "sweep"])
def test_every_value_of_the_examples_is_confirmed(workplace: Path, name: str) -> None:
    folder = harness.run(workplace / "configs" / f"{name}.yaml").folder
    entry = read_results(folder).board.entries[-1]
    for metric in entry.evaluation.names:
        for query in entry.evaluation.qids.to_pylist()[::13]:
            found = trace(
                folder, entry.run, metric, dataset=entry.dataset, where=entry.columns, query=query
            )
            assert found.is_confirmed, (metric, query)
            running = [step.running for step in found.ranking if step.running is not None]
            if running and not math.isnan(found.value) and metric.startswith(("map", "ndcg", "P@")):
                assert running[-1] == found.value, (metric, query)


def test_the_text_of_a_cell(tmp_path: Path) -> None:
    folder = results(tmp_path, "map", "depth: 3")
    account = trace(folder, "one", "map")
    text, full = str(account), render(grids(account, full=True))
    inputs = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["inputs"]
    (digest,) = (each["sha256"] for each in inputs if each["path"].endswith("qrels.txt"))
    assert "Inputs: 2 files, unchanged" in text
    assert text.startswith("MAP of one on toy: 0.2778\n")
    assert full.startswith(f"MAP of one on toy: {account.value!r}\n")
    assert f"{digest[:8]}     {len(QRELS)}\n" in text
    assert f"{digest}     {len(QRELS)}\n" in full
    assert "3 queries, 1 not answered (zero), 4 tied documents (trec_eval)" in text
    # q1 c at 1: 1 / 3; q2 x at 2: 1 / 2
    assert "highest values: q2 (0.5000), q1 (0.3333), q3 (0.0000)" in text
    assert re.search(r"^depth +3 +the run's policy$", full, re.M)
    assert [line.split()[0] for line in text.splitlines() if "run's policy" in line] == ["depth"]
    (tmp_path / "one.run").write_text(RUN.replace(" .5 ", " 2 "), encoding="utf-8")
    assert "has changed since the results were computed" in str(trace(folder, "one", "map"))
    with refuses("one.run", error=InputError):
        trace(folder, "one", "map", query="q1")


METRICS = '[map, "arp(over=grades)", num_rel_ret, gm_map, "ndcg(undefined=zero,empty=nan)@2"]'
POOLED = "{pool: [fold], spread: [seed]}"
FOLDS, AVERAGED = "{pool: [fold]}", "{average: [fold], spread: [seed]}"
BEST = "{pool: [fold], best: [seed]}"


def results_with(folder: Path, summary: str) -> Path:
    return harness.run(put(folder, f"metrics: {METRICS}\nsummary: {summary}\n")).folder


def rows_of(folder: Path, name: str = "leaderboard") -> list[dict[str, str]]:
    return csv_rows(folder / f"{name}.csv")


def row(folder: Path, run: str, metric: str, **given: Any) -> Account:
    found = trace(folder, run, metric, **given)
    assert found.repetitions
    return found


def quotient(total: float, weight: float, metric: str) -> float:
    if metric.startswith("num"):
        return total
    return math.exp(total / weight) if metric.startswith("gm") else total / weight


@pytest.mark.parametrize("summary", [POOLED, FOLDS, "{spread: [seed]}", AVERAGED, BEST])
def test_every_sum_leads_to_the_leaderboard(tmp_path: Path, summary: str) -> None:
    folder = results_with(tmp_path, summary)
    cells = rows_of(folder, "leaderboard_cells")
    for line in rows_of(folder):
        for metric in ("map", "arp(over=grades)", "num_rel_ret", "gm_map"):
            found = trace(folder, line["run"], metric, dataset=line["dataset"])
            assert found.is_confirmed
            assert found.value == float(line[metric])
            if not found.repetitions:
                continue
            values = [one.value for one in found.repetitions]
            assert math.fsum(values) / len(values) == found.value
            for one in found.repetitions:
                for part in one.parts:
                    wanted = {"dataset": part.dataset, "run": found.run, **part.columns}
                    (cell,) = (cell for cell in cells if wanted.items() <= cell.items())
                    assert part.value == float(cell[metric])
                    assert part.value == quotient(part.total, part.weight, metric)
                if "average" in summary:
                    mean = math.fsum(part.value for part in one.parts) / len(one.parts)
                    assert one.value == mean
                    continue
                assert one.value == quotient(one.whole.total, one.whole.weight, metric)
                assert one.whole.n == sum(part.n for part in one.parts)
                for whole, parts in (
                    (one.whole.total, [part.total for part in one.parts]),
                    (one.whole.weight, [part.weight for part in one.parts]),
                ):
                    assert math.isclose(whole, math.fsum(parts), rel_tol=1e-15)


def test_an_edited_leaderboard(tmp_path: Path) -> None:
    folder = results_with(tmp_path, POOLED)
    path = folder / "leaderboard.csv"
    text = path.read_text(encoding="utf-8")
    value = rows_of(folder)[0]["map"]
    for other in ("0.9", repr(math.nextafter(float(value), 1))):
        path.write_text(text.replace(value, other), encoding="utf-8")
        done = called("trace", str(folder), "--run", "a", "--metric", "map", cwd=tmp_path)
        assert (done.code, f"has ANOTHER value: {other}.\n" in done.out) == (1, True), done.out
        assert value in done.out  # with all its digits
    heading, *lines = text.splitlines()
    path.write_text("\n".join([heading, *reversed(lines)]) + "\n", encoding="utf-8")
    assert row(folder, "a", "map").recorded == row(folder, "a", "map").value  # in any order
    path.write_text(text.replace(",a,", ",c,"), encoding="utf-8")
    with refuses("leaderboard.csv", "damaged-results"):
        row(folder, "a", "map")


def test_a_cell_that_failed(tmp_path: Path) -> None:
    results_with(tmp_path, POOLED)
    (tmp_path / "a-2-2.txt").write_text("1\nx\n", encoding="utf-8")
    results = harness.run(tmp_path / "x.yaml")
    assert "a-2-2.txt" in results.errors[0]
    assert "Repetitions" not in str(results)  # the failure has a note of its own
    folder = results.folder
    where = ["--where", "fold=2", "--where", "seed=2"]
    err = refused("trace", str(folder), "--run", "a", "--metric", "map", *where, cwd=tmp_path)
    assert err.startswith("error: a on web-fold2, fold=2, seed=2: ")
    assert "a-2-2.txt" in err


@pytest.mark.parametrize(
    ("summary", "run", "given", "name"),
    [
        (FOLDS, "a seed=1", {}, "a seed=1 on web"),  # a row a seed
        (FOLDS, "a", {"where": {"seed": "2"}}, "a seed=2 on web"),
        (FOLDS, "a seed=1", {"dataset": "web-fold2"}, "a on web-fold2, fold=2, seed=1"),
        # the fold that holds the query
        (FOLDS, "a seed=1", {"query": "1"}, "a on web-fold1, fold=1, seed=1"),
        (BEST, "a", {"query": "3", "where": {"seed": "2"}}, "a on web-fold2, fold=2, seed=2"),
    ],
)
def test_which_row_or_cell_is_meant(
    tmp_path: Path, summary: str, run: str, given: dict[str, Any], name: str
) -> None:
    found = trace(results_with(tmp_path, summary), run, "map", **given)
    assert found.name == name
    assert bool(found.repetitions) == name.endswith("web")


@pytest.mark.parametrize(
    ("summary", "run", "given", "names"),
    [
        (FOLDS, "a", {}, r": a seed=1 on web; a seed=2"),
        (FOLDS, "c", {}, "'c'"),
        (FOLDS, "a", {"where": {"fold": "1"}}, ": a on web-fold1, fold=1, seed=1; a on"),
        (FOLDS, "a seed=1", {"query": "9"}, "'9'"),
        (FOLDS, "a", {"query": "1"}, ": a on web-fold1, fold=1, seed=1; a"),
        (FOLDS, "a seed=1", {"where": {"seed": "7"}}, r"'7'\s.*\buse 1$"),
        (FOLDS, "a", {"where": {"sed": "1"}}, r"'sed'\s.*\buse seed\b"),
        (BEST, "a", {"query": "3"}, "fold=2, seed=2"),
        (BEST, "a", {"query": "4"}, r"'4'\s.*: 1, 2, 3$"),
    ],
)
def test_names_that_fit_no_row_or_several(
    tmp_path: Path, summary: str, run: str, given: dict[str, Any], names: str
) -> None:
    folder = results_with(tmp_path, summary)
    with pytest.raises(UnknownNameError, match=names):
        trace(folder, run, "map", **given)
    with refuses("", error=UnknownNameError, suggests="map"):
        trace(folder, run, "mpa", **given)


@pytest.mark.parametrize("where", ["", "where: {run: [bm25, gbm]}\n"])
def test_a_query_of_one_of_several_datasets(tmp_path: Path, where: str) -> None:
    # the others have no run that is asked for
    for name, run in (("web", "bm25"), ("news", "gbm")):
        (tmp_path / f"{name}.txt").write_text("10 0 a 1\n2 0 b 0\n2 0 a 1\n", encoding="utf-8")
        text = "2 Q0 b 1 2 t\n2 Q0 a 2 1 t\n10 Q0 a 1 1 t\n"
        (tmp_path / f"{run}.run").write_text(text, encoding="utf-8")
    (tmp_path / "x.yaml").write_text(
        "datasets: {web: web.txt, news: news.txt}\nruns:\n  bm25: {path: bm25.run, dataset: web}\n"
        f"  gbm: {{path: gbm.run, dataset: news}}\nmetrics: [map]\noutput: out\n{where}",
        encoding="utf-8",
    )
    folder = harness.run(tmp_path / "x.yaml").folder
    for run in ("bm25", "gbm"):
        found = trace(folder, run, "map", query="2")
        assert (found.value, [step.docno for step in found.ranking]) == (0.5, ["b", "a"])


def test_scores_are_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("2 0 a 1\n2 0 b 0\n", encoding="utf-8")
    (tmp_path / "d.run").write_text("2 Q0 a 2 0.25 t\n2 Q0 b 3 1.5 t\n2 Q0 c 1 0 t\n", "utf-8")
    (tmp_path / "x.yaml").write_text(
        "datasets: {web: q.txt}\nruns: {d: {path: d.run, order: ascending}}\nmetrics: [map]\n"
        "output: out\n",
        encoding="utf-8",
    )
    found = trace(harness.run(tmp_path / "x.yaml").folder, "d", "map", query="2")
    assert [(step.docno, step.score) for step in found.ranking] == [
        ("c", 0), ("a", 0.25), ("b", 1.5),
    ]  # fmt: skip


def test_settings_that_differ_from_the_default(tmp_path: Path) -> None:
    """The order of the file compares scores in double precision."""
    metrics = '"ndcg(gain=exp,ties=stable)@2", map, "map(convention=trec_eval9)"'
    folder = results(tmp_path, metrics, "judged_only: true")
    for metric, names in {
        "ndcg(gain=exp,ties=stable)@2": {"gain", "ties", "scores", "judged_only"},
        "map": {"judged_only"},
    }.items():
        text = str(trace(folder, "one", metric))
        block = next(part for part in text.split("\n\n") if part.startswith("Metric: "))
        assert {line.split()[0] for line in block.splitlines()[2:]} == names
    text = str(trace(results(tmp_path, "map"), "one", "map"))
    assert "Metric: map\n  every setting has its default value\n" in text


def test_a_missing_option_lists_the_names(tmp_path: Path) -> None:
    results(tmp_path, "map, ndcg@3")
    folder = next(tmp_path.glob("**/manifest.json")).parent
    err = refused("trace", folder)
    assert "'--run'" in err
    assert " one\n" in err
    assert "map, ndcg@3" in err
    assert "'--run'" not in refused("trace", folder, "--run", "one")
