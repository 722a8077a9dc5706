"""`harness compare OLD NEW`: exit codes, formats, messages."""

from pathlib import Path

import pytest
from command_line import called
from csv_rows import csv_rows
from made_boards import table

from harness.audit.leaderboard_diff import changes


def output(*words: object, code: int = 0) -> str:
    done = called("compare", *words)
    assert done.code == code, done
    return done.err.removeprefix("error: ") if code == 2 else done.out


XY = "run,map\nx,0.3\ny,0.2"


@pytest.mark.parametrize(
    ("old", "new", "code", "any_change", "end"),
    [
        (XY, XY, 0, 0, "\nnothing has changed\n"),
        (XY, "run,map\nx,0.4\ny,0.2", 0, 1, "\nno regression\n"),
        (XY, XY + "\nz,0.1", 0, 1, "\nno regression\n"),
        (XY + "\nz,0.1", XY, 0, 1, "; gone: 1 row of old\n"),
        ("run,map,P@5\nx,0.3,0.3\ny,0.2,0.2", XY, 0, 1, "; gone: 1 metric of old\n"),
        (XY, "run,map\nx,0.1\ny,0.2", 1, 1, "\nREGRESSION: 1 cell worse\n"),
    ],
)
def test_exit_codes(
    tmp_path: Path, old: str, new: str, code: int, any_change: int, end: str
) -> None:
    paths = table(tmp_path / "a.csv", old), table(tmp_path / "b.csv", new)
    assert output(*paths, code=code).endswith(end)
    output(*paths, "--any-change", code=any_change)


def test_csv_has_every_cell_and_digit(old: Path, new: Path) -> None:
    rows = csv_rows(output(old, new, "-f", "csv", code=1))
    found = changes(old, new)
    assert [(row["run"], row["metric"], row["status"]) for row in rows] == [
        (cell.key.run, cell.metric, cell.status) for cell in found.cells
    ]
    for row, cell in zip(rows, found.cells, strict=True):
        assert float(row["difference"]) == cell.difference
    good = next(row for row in rows if row["status"] == "worse")
    assert list(good) == [
        "dataset", "run", "metric", "direction", "status", "old", "new", "difference", "old_all",
        "new_all", "tolerance", "old_rank", "new_rank", "n", "moved_queries", "low", "high", "p",
        "p_adjusted", "significant", "method", "note",
    ]  # fmt: skip
    assert (good["old_rank"], good["new_rank"], good["n"]) == ("1", "1", "6")
    assert (good["moved_queries"], good["significant"], good["method"]) == ("1", "false", "t(5)")


def test_options_that_are_for_leaderboards(old: Path) -> None:
    words = ("a.run", "b.run", "--qrels", "q.txt", "-m", "map")
    for option in (["--tolerance", 0.1], ["--any-change"], ["--lower", "map"], ["--key", "run"],
                   ["--name", "a=b"], ["--p", 0.8], ["--reproduction"]):  # fmt: skip
        assert output(*words, *option, code=2).startswith(f"{option[0]} is not for runs")
