"""What is printed of cells that failed: what to do once for each rule, and few of many."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.cli.main import main
from harness.errors import HarnessError, InputError, Problem, ShortageError
from harness.experiment.failures import Failure, told


def of(run: str, error: HarnessError) -> Failure:
    return Failure(cast("Any", SimpleNamespace(run=run, dataset="d")), error)


def nan(run: str, line: int, *more: Problem) -> Failure:
    what = "score 'nan' is not a finite number"
    one = Problem(f"{run}.txt:{line}", what, "nan", "repair it", "not-finite")
    return of(run, InputError([one, *more]))


def texts(failures: Sequence[Failure]) -> list[str]:
    return [*told(failures, 20)]


def test_what_to_do_is_said_once_for_each_rule() -> None:
    """Three files with a NaN, of which one lacks rows too, and one with two columns."""
    lost = Problem("b.txt", "2 predictions for 5 rows", "", "predict every row", "row-count")
    columns = Problem("x.txt:1", "2 columns", "1 2", "write one", "columns")
    found = texts([nan("a", 3), of("x", InputError(columns)), nan("b", 7, lost), nan("c", 9)])
    said = "score 'nan' is not a finite number: nan [not-finite]"
    assert found == [
        f"a on d: a.txt:3: {said}",
        f"b on d: b.txt:7: {said}",
        f"c on d: c.txt:9: {said}\n  fix:   repair it",
        "x on d: x.txt:1: 2 columns: 1 2 [columns]\n  fix:   write one",
        "b on d: b.txt: 2 predictions for 5 rows [row-count]\n  fix:   predict every row",
    ]


def test_of_many_the_first_are_said() -> None:
    """One of seven is of the same rule and says something else."""
    other = Problem("z.txt:1", "score '1e999' is beyond", "", "repair it", "not-finite")
    *first, same, last = texts([*(nan(run, 2) for run in "abcdef"), of("z", InputError(other))])
    assert [text[:7] for text in first] == ["a on d:", "b on d:", "c on d:"]
    assert same == "alike in 6 of 20 cells\n  ... and 3 more: d.txt:2, e.txt:2, f.txt:2"
    assert last == "z on d: z.txt:1: score '1e999' is beyond [not-finite]\n  fix:   repair it"


def test_what_is_of_no_rule_is_told_by_its_words() -> None:
    lacking = ShortageError(Problem("", "not enough memory", fix="raise the limit"))
    dead = ShortageError(Problem("", "its worker died 3 times", fix="raise the limit"))
    assert texts([of("a", lacking), of("b", dead), of("c", lacking)]) == [
        "a on d and 1 other cell: not enough memory\n  fix:   raise the limit",
        "b on d: its worker died 3 times\n  fix:   raise the limit",
    ]


@pytest.mark.parametrize("n", [10, 13])
def test_a_leaderboard_names_ten_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], n: int
) -> None:
    """Below its table; in leaderboard.csv they are all."""
    monkeypatch.chdir(tmp_path)
    Path("q").write_text("1 0 a 1\n1 0 b 0\n")
    Path("good.run").write_text("1 Q0 a 1 0.5 t\n")
    for number in range(n):
        Path(f"r{number}.run").write_text(f"1 Q0 a 1 nan t{number}\n")
    Path("c.yaml").write_text(
        "datasets: {d: {path: q}}\nruns: {'{m}': {path: '{m}.run'}}\nmetrics: [map]\n"
    )
    with pytest.raises(SystemExit):
        main(["run", "c.yaml"])
    out, err = capsys.readouterr()
    assert out.count("  FAILED: ") == 10
    assert ("... and 3 more FAILED: see leaderboard.csv" in out) == (n == 13)
    assert err.count("  fix: ") == 1
    (board,) = Path().rglob("leaderboard.csv")
    assert board.read_text().count("not a finite number") == n
