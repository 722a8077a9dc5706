"""What is printed of cells that failed: the fix once for each rule, and few of many."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.errors import HarnessError, InputError, Problem
from harness.experiment.failures import Failure, failure_texts


def of(run: str, error: HarnessError) -> Failure:
    return Failure(cast("Any", SimpleNamespace(run=run, dataset="d")), error)


def nan(run: str, line: int, *more: Problem) -> Failure:
    what = "score: expected a finite number, got 'nan'"
    one = Problem(f"{run}.txt:{line}", what, "nan", "repair it", "not-finite")
    return of(run, InputError([one, *more]))


def texts(*failures: Failure) -> list[str]:
    return [*failure_texts(failures, 20)]


def test_the_fix_comes_once_for_each_rule() -> None:
    lost = Problem("b.txt", "2 predictions for 5 rows", "", "predict every row", "row-count")
    columns = Problem("x.txt:1", "2 columns", "1 2", "write one", "columns")
    what = "score: expected a finite number, got 'nan': nan [not-finite]"
    assert texts(nan("a", 3), of("x", InputError(columns)), nan("b", 7, lost), nan("c", 9)) == [
        f"a on d: a.txt:3: {what}",
        f"b on d: b.txt:7: {what}",
        f"c on d: c.txt:9: {what}\n  fix:   repair it",
        "x on d: x.txt:1: 2 columns: 1 2 [columns]\n  fix:   write one",
        "b on d: b.txt: 2 predictions for 5 rows [row-count]\n  fix:   predict every row",
    ]


def test_a_leaderboard_names_ten_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable
) -> None:
    """Below its table; in leaderboard.csv they are all."""
    monkeypatch.chdir(tmp_path)
    Path("q").write_text("1 0 a 1\n1 0 b 0\n")
    Path("good.run").write_text("1 Q0 a 1 0.5 t\n")
    for number in range(13):
        Path(f"r{number}.run").write_text(f"1 Q0 a 1 nan t{number}\n")
    Path("c.yaml").write_text(
        "datasets: {d: {path: q}}\nruns: {'{m}': {path: '{m}.run'}}\nmetrics: [map]\n"
    )
    code, out, err = command("run", "c.yaml")
    assert code == 2
    assert out.count("  FAILED: ") == 10
    assert "... and 3 more FAILED: see leaderboard.csv" in out
    assert err.count("  fix: ") == 1
    (board,) = Path().rglob("leaderboard.csv")
    assert board.read_text().count("expected a finite number") == 13


@pytest.mark.parametrize("which", ["missing", "empty"])
def test_queries_that_the_policy_refuses_have_a_rule_of_their_own(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q").write_text("1 0 a 1\n2 0 a 1\n3 0 a 0\n")
    Path("a.run").write_text("1 Q0 a 1 0.5 t\n3 Q0 a 1 0.5 t\n")
    Path("c.yaml").write_text(
        "datasets: {d: {path: q}}\nruns: {a: {path: a.run}}\nmetrics: [map]\n"
        f"policy: {{{which}_queries: error}}\n"
    )
    code, _, err = command("run", "c.yaml")
    assert (code, f"[refused-{which}-queries]" in err) == (2, True), err
