"""A row that stands for several cells, taken apart."""

from __future__ import annotations

import csv
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from folds_and_seeds import CELLS, put

import harness
from harness.audit.why import Account, why
from harness.audit.why_report import render
from harness.audit.why_row import QueryRow, Row
from harness.cli.main import main
from harness.errors import InputError, UnknownNameError

METRICS = '[map, "arp(over=grades)", num_rel_ret, gm_map, "ndcg(undefined=zero,empty=nan)@2"]'
POOLED = "{pool: [fold], spread: [seed]}"
Rows = list[dict[str, str]]


@pytest.fixture
def made(tmp_path: Path) -> Callable[[str], tuple[Path, Rows, Rows]]:
    """Gives results by their summary: the folder, its leaderboard and its cells."""

    def results(summary: str) -> tuple[Path, Rows, Rows]:
        put(tmp_path)
        config = tmp_path / "x.yaml"
        config.write_text(f"{CELLS}metrics: {METRICS}\nsummary: {summary}\n", encoding="utf-8")
        folder = harness.run(config).folder
        return folder, _rows(folder, "leaderboard"), _rows(folder, "leaderboard_cells")

    return results


Made = Callable[[str], tuple[Path, Rows, Rows]]


def _rows(folder: Path, name: str) -> Rows:
    return list(csv.DictReader((folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()))


def row(folder: Path, run: str, metric: str, **given: object) -> Row:
    found = why(folder, run, metric, **given)  # type: ignore[arg-type]
    assert isinstance(found, Row)
    return found


def test_the_text_of_a_pooled_row(made: Made) -> None:
    folder, (a, _), _ = made(POOLED)
    # seed 1: (1 + 1 + 1/2) / 3; seed 2: (1/2 + 1/3 + 1) / 3, in binary
    seeds = 2.5 / 3, math.fsum([1 / 2, 1 / 3, 1]) / 3
    deviation = abs(seeds[0] - seeds[1]) / math.sqrt(2)
    assert math.isclose(float(a["map sd"]), deviation)
    fold = (1 / 2 + 1 / 3) / 2
    assert (
        render(row(folder, "a", "map"), "my out")
        == f"""\
map of a on web: {a["map"]}
  mean of 2 repetitions, standard deviation {a["map sd"]}
  interval {a["map low"]} to {a["map high"]}

seed=1: {seeds[0]!r} = 2.5 / 3
  dataset    value  queries  sum
  web-fold1    1.0        2  2.0
  web-fold2    0.5        1  0.5
  all                     3  2.5

seed=2: {seeds[1]!r} = 1.8333333333333333 / 3
  dataset                  value  queries                 sum
  web-fold1  {fold!r}        2  0.8333333333333333
  web-fold2                  1.0        1                 1.0
  all                                   3  1.8333333333333333

inputs: 6 files, unchanged

One of the cells, with its files, counts and settings:
  harness why 'my out' --run a --metric map --dataset web-fold1 --where fold=1 --where seed=1
"""
    )


@pytest.mark.parametrize(
    "summary",
    [POOLED, "{pool: [fold]}", "{spread: [seed]}", "{average: [fold], spread: [seed]}",
     "{pool: [fold], best: [seed]}"],
)  # fmt: skip
def test_every_sum_leads_to_the_leaderboard(made: Made, summary: str) -> None:
    folder, rows, cells = made(summary)
    for known in rows:
        for metric in ("map", "arp(over=grades)", "num_rel_ret", "gm_map"):
            found = why(folder, known["run"], metric, dataset=known["dataset"])
            assert found.is_confirmed
            assert found.value == float(known[metric])
            if isinstance(found, Account):
                continue
            values = [one.value for one in found.repetitions]
            assert math.fsum(values) / len(values) == found.value
            for one in found.repetitions:
                for part in one.parts:
                    (cell,) = [
                        cell
                        for cell in cells
                        if (cell["dataset"], cell["run"]) == (part.dataset, found.run)
                        and part.columns.items() <= cell.items()
                    ]
                    assert part.value == float(cell[metric])
                    assert part.value == quotient(part.total, part.weight, metric)
                if "average" in summary:
                    mean = math.fsum(part.value for part in one.parts) / len(one.parts)
                    assert one.value == mean
                    continue
                assert one.value == quotient(one.whole.total, one.whole.weight, metric)
                assert one.whole.n == sum(part.n for part in one.parts)
                total = math.fsum(part.total for part in one.parts)
                assert math.isclose(one.whole.total, total, rel_tol=1e-15)
                weight = math.fsum(part.weight for part in one.parts)
                assert math.isclose(one.whole.weight, weight, rel_tol=1e-15)


def quotient(total: float, weight: float, metric: str) -> float:
    if metric.startswith("num"):
        return total
    return math.exp(total / weight) if metric.startswith("gm") else total / weight


def test_the_command_it_ends_with_shows_a_cell(
    made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, *_ = made(POOLED)
    with pytest.raises(SystemExit, match="0"):
        main(["why", str(folder), "--run", "a", "--metric", "map"])
    *_, last = capsys.readouterr().out.splitlines()
    with pytest.raises(SystemExit, match="0"):
        main(last.split()[1:])
    assert capsys.readouterr().out.startswith("map of a on web-fold1, fold=1, seed=1: 1.0\n")


def test_a_query_of_several_seeds(made: Made, tmp_path: Path) -> None:
    folder, *_ = made(POOLED)
    for where in ([], ["fold=1"]):
        found = why(folder, "a", "map", query="1", where=where)
        assert isinstance(found, QueryRow)
        # seed 1 has the relevant document first, seed 2 second
        assert found.values == (({"seed": "1"}, 1.0), ({"seed": "2"}, 0.5))
        assert found.value == 0.75
    assert (
        render(found, "out")
        == """\
map of query 1, a on web: 0.75
  mean of 2 repetitions, as comparisons take it
  seed=1: 1.0
  seed=2: 0.5

inputs: 3 files, unchanged

The ranking behind one of them:
  harness why out --run a --metric map --dataset web-fold1 --query 1 --where seed=1
"""
    )
    assert isinstance(why(folder, "a", "map", query="1", where=["seed=1"]), Account)
    (tmp_path / "a-1-2.txt").unlink()
    changed = why(folder, "a", "map", query="1")
    assert isinstance(changed, QueryRow)
    assert "inputs: 1 of 3 files ARE NOT WHAT THEY WERE\n  a-1-2.txt: is gone" in render(
        changed, "out"
    )


def test_results_that_were_moved(made: Made, tmp_path: Path) -> None:
    folder, *_ = made(POOLED)
    moved = tmp_path / "far/away/results"
    shutil.copytree(folder, moved)
    text = render(row(moved, "a", "map"), "out")
    assert "inputs: 6 of 6 files ARE NOT WHAT THEY WERE\n" in text
    assert "  ... and 1 more\n  --inputs FOLDER says where the config's paths start from" in text
    assert row(moved, "a", "map", inputs=tmp_path).inputs == row(folder, "a", "map").inputs
    cell = ["fold=1", "seed=1"]
    assert why(moved, "a", "map", where=cell).value == 1.0
    with pytest.raises(InputError, match=r"not where they were.*(?s:.)*--inputs says where"):
        why(moved, "a", "map", where=cell, query="1")
    found = why(moved, "a", "map", where=cell, query="1", inputs=tmp_path)
    assert isinstance(found, Account)
    assert found.derived == 1.0
    with pytest.raises(InputError, match="none: is no folder"):
        why(moved, "a", "map", inputs=tmp_path / "none")


def test_a_row_that_lacks_a_part(made: Made, tmp_path: Path) -> None:
    made("{pool: [fold]}")
    (tmp_path / "fold3.txt").write_text("1 qid:4 1:0\n0 qid:4 1:0\n", encoding="utf-8")
    for model, seed in (("a", 1), ("a", 2), ("b", 1), ("b", 2)):
        (tmp_path / f"{model}-3-{seed}.txt").write_text("2\n1\n", encoding="utf-8")
    (tmp_path / "a-2-1.txt").write_text("x\n", encoding="utf-8")
    folder = harness.run(tmp_path / "x.yaml").folder
    with pytest.raises(UnknownNameError, match="a seed=1 on web has no value: it lacks a part"):
        why(folder, "a seed=1", "map")
    assert row(folder, "a seed=2", "map").is_confirmed


def test_an_edited_leaderboard_is_said(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    folder, (a, _), _ = made(POOLED)
    path = folder / "leaderboard.csv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(a["map"], "0.9"), encoding="utf-8")
    with pytest.raises(SystemExit, match="1"):
        main(["why", str(folder), "--run", "a", "--metric", "map"])
    assert "  leaderboard.csv holds ANOTHER value: 0.9\n" in capsys.readouterr().out


def test_a_leaderboard_whose_rows_were_sorted_is_refused(made: Made) -> None:
    folder, _, _ = made(POOLED)
    path = folder / "leaderboard.csv"
    heading, *rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([heading, *reversed(rows)]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"leaderboard.csv:2: expected run 'a', got 'b'"):
        row(folder, "a", "map")


def test_a_cell_that_failed_says_why(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made(POOLED)
    (tmp_path / "a-2-2.txt").write_text("1\nx\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"^1$"):
        main(["run", str(tmp_path / "x.yaml")])
    capsys.readouterr()
    folder = tmp_path / "out"
    with pytest.raises(InputError) as caught:
        why(folder, "a", "map", where=["fold=2", "seed=2"])
    (problem,) = caught.value.problems
    assert problem.where == "a on web-fold2, fold=2, seed=2"
    assert problem.what.startswith("has no value, as it could not be evaluated: ")
    assert "a-2-2.txt" in problem.what
    assert "'x'" in problem.what
    arguments = ["--run", "a", "--metric", "map", "--where", "fold=2", "--where", "seed=2"]
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["why", str(folder), *arguments])
    assert "could not be evaluated" in capsys.readouterr().err


FOLDS, AVERAGED = "{pool: [fold]}", "{average: [fold], spread: [seed]}"
BEST = "{pool: [fold], best: [seed]}"


@pytest.mark.parametrize(
    ("summary", "metric", "given", "shown"),
    [
        # sum of grade x rank over sum of grades: fold 1: 2 x 1 + 1 x 1 over 3, fold 2: 1 x 2 over 1
        (POOLED, "arp(over=grades)", {}, "seed=1: 1.25 = 5.0 / 4.0\n"),
        (POOLED, "arp(over=grades)", {}, "  web-fold2    2.0        1      1.0             "),
        (POOLED, "gm_map", {}, "= exp("),
        (POOLED, "num_rel_ret", {}, "seed=1: 3.0\n"),
        (AVERAGED, "map", {}, "seed=1: 0.75 = (1.0 + 0.5) / 2, parts count alike\n"),
        ("{spread: [seed]}", "map", {"dataset": "web-fold1"}, "\nseed=1: 1.0 = 2.0 / 2\n"),
        (BEST, "map", {}, "best of 2 values of seed, chosen on these queries by map\n"),
        (BEST, "map", {}, "value: 0.8333333333333334 = 2.5 / 3\n"),
    ],
)
def test_how_a_value_is_made(
    made: Made, summary: str, metric: str, given: dict[str, str], shown: str
) -> None:
    assert shown in render(row(made(summary)[0], "a", metric, **given), "out")


@pytest.mark.parametrize(
    ("summary", "run", "given", "name"),
    [
        (FOLDS, "a seed=1", {}, "a seed=1 on web"),  # a row a seed
        (FOLDS, "a", {"where": ["seed=2"]}, "a seed=2 on web"),
        (FOLDS, "a seed=1", {"dataset": "web-fold2"}, "a on web-fold2, fold=2, seed=1"),
        # the fold that holds the query is found
        (FOLDS, "a seed=1", {"query": "1"}, "a on web-fold1, fold=1, seed=1"),
        (FOLDS, "a seed=1", {"query": "1", "where": ["fold=1"]}, "a on web-fold1, fold=1, seed=1"),
        (BEST, "a", {"query": "3", "where": ["seed=2"]}, "a on web-fold2, fold=2, seed=2"),
    ],
)
def test_which_row_or_cell_is_meant(
    made: Made, summary: str, run: str, given: dict[str, Any], name: str
) -> None:
    found = why(made(summary)[0], run, "map", **given)
    assert found.name == name
    assert isinstance(found, Row) == name.endswith("web")


@pytest.mark.parametrize(
    ("summary", "run", "metric", "given", "message"),
    [
        (FOLDS, "a", "map", {}, r"2 rows fit.*there are: a seed=1 on web; a seed=2"),
        (FOLDS, "a", "map", {"where": ["fold=1"]}, "2 cells fit, where one is needed"),
        (FOLDS, "a", "map", {"query": "1"}, r"2 cells fit.*a on web-fold1, fold=1, seed=1; a"),
        (FOLDS, "a", "map", {"where": ["seed=7"]}, r"^no seed 7; there are 1, 2$"),
        (FOLDS, "a seed=1", "map", {"where": ["seed=7"]}, r"^no seed 7; there are 1$"),
        (FOLDS, "a", "map", {"where": ["sed=1"]}, r"^no column 'sed'; did you mean 'seed'\?"),
        (FOLDS, "a", "mpa", {"where": ["seed=2"]}, "no metric 'mpa'"),
        (BEST, "a", "map", {"query": "3"}, r"^2 cells fit, where one is needed.*fold=2, seed=2"),
        (BEST, "a", "map", {"query": "4"}, r"^no query '4' in any of 4 cells.*\(3 queries"),
    ],
)
def test_names_that_fit_no_row_or_several(
    made: Made, summary: str, run: str, metric: str, given: dict[str, Any], message: str
) -> None:
    folder, *_ = made(summary)
    with pytest.raises(UnknownNameError, match=message):
        why(folder, run, metric, **given)
