"""`harness diff`: exit codes, formats, tables of papers."""

import shlex
from pathlib import Path

import pytest
from command_line import called
from csv_rows import csv_rows
from made_boards import OLD, folder, table

import harness
from harness.audit.leaderboard_diff import changes


def output(*words: object, code: int = 0) -> str:
    done = called("diff", *words)
    assert done.code == code, done
    return done.err.removeprefix("error: ") if code == 2 else done.out


NO_AVERAGE = ("--set", "table.extras=[p]", "--set", "table.average=false")
XY = "run,map\nx,0.3\ny,0.2"


@pytest.mark.parametrize(
    ("old", "new", "code", "any_change", "answer"),
    [
        (XY, XY, 0, 0, "nothing has changed: 2 values are the same"),
        (XY, "run,map\nx,0.4\ny,0.2", 0, 1, "no value is worse; 1 better and 1 the same"),
        (XY, XY + "\nz,0.1", 0, 1, "no value is worse; 2 the same"),
        (XY + "\nz,0.1", XY, 0, 1, "no value is worse; 2 the same; gone: 1 row of old"),
        (
            "run,map,P@5\nx,0.3,0.3\ny,0.2,0.2",
            XY,
            0,
            1,
            "no value is worse; 2 the same; gone: 1 metric of old",
        ),
        (
            XY,
            "run,map\nx,0.1\ny,0.2",
            1,
            1,
            "1 of 2 values is worse: MAP of x (0.3000 to 0.1000); 1 the same",
        ),
    ],
)
def test_exit_codes(
    tmp_path: Path, old: str, new: str, code: int, any_change: int, answer: str
) -> None:
    paths = table(tmp_path / "a.csv", old), table(tmp_path / "b.csv", new)
    assert output(*paths, code=code).splitlines()[0] == answer
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


TITLES = "names: {good: 'Good one', dev: Web 10%, recip_rank: MRR}\n"


@pytest.mark.parametrize(
    ("format", "options"),
    [
        ("markdown", ()),
        ("csv", ()),
        ("markdown", ("--set", "table.percent=true", "--spread", "deviation")),
        ("csv", ("--spread", "interval")),
        ("markdown", ("--set", "table.extras=[n]", "--marks", "letters")),
        ("csv", ("--set", "table.extras=[n]", "--marks", "letters")),
        ("markdown", ("--delta", "percent", "--spread", "interval", "--set", "table.extras=[p]")),
        ("markdown", ("--delta", "absolute", "--spread", "error", "--marks", "stars")),
        ("csv", ("--delta", "percent", "--spread", "error", *NO_AVERAGE)),
    ],
)
def test_a_table_of_the_harness(tmp_path: Path, format: str, options: tuple[str, ...]) -> None:
    results = folder(tmp_path, OLD, policy=TITLES + "compare: {baseline: base}\n")
    text = called("table", results, "-f", format, "-m", "recip_rank", *options).out
    path = tmp_path / f"paper.{'md' if format == 'markdown' else 'csv'}"
    path.write_text(text)
    done = called("diff", results, path, "-m", "recip_rank", "--any-change", "-f", "csv")
    rows = csv_rows(done.out)
    assert done.code == 0, done
    assert [row["status"] for row in rows] == ["same"] * 3
    old = next(each for each in ("25.0", ".250", "0.25") if text.count(each) == 1)
    path.write_text(text.replace(old, old.replace("2", "3")))
    done = called("diff", results, path, "-m", "recip_rank", "--any-change", "-f", "csv")
    changed = {row["run"]: row["status"] for row in csv_rows(done.out)}
    assert (done.code, changed) == (1, {"base": "same", "good": "same", "poor": "better"})


def test_a_heading_names_a_dataset_and_a_metric(tmp_path: Path, root: Path) -> None:
    """Cells are means over seeds, and what a table names goes before a metric called like it."""
    results = tmp_path / "results"
    harness.run(root / "configs/paper.yaml", overrides=[f"output={results}"])
    paper = results / "tables/main.md"
    metrics = ("-m", "map", "-m", "ndcg(gain=exp)@10")
    assert called("diff", results, paper, "--any-change", *metrics).code == 0
    assert called("diff", paper, results, "--any-change", *metrics).code == 0
    text = paper.read_text(encoding="utf-8")
    paper = tmp_path / "paper.md"
    assert text.count("| .742<sub>") == 1
    paper.write_text(text.replace("| .742<sub>", "| .752<sub>"), encoding="utf-8")
    assert called("diff", results, paper, *metrics).code == 0  # better
    done = called("diff", results, paper, *metrics, "--any-change", "-f", "csv")
    changed = [row for row in csv_rows(done.out) if row["status"] != "same"]
    (row,) = changed
    assert (done.code, row["dataset"], row["run"], row["metric"], row["new"]) == (
        1, "fold1", "linear-regression", "map", "0.752",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dataset,run,map\nnews,a=1,0.3\nweb,x,0.3\nweb,y,0.2", XY),
        (XY, "dataset,run,map\nnews,a=1,0.3\nweb,x,0.3\nweb,y,0.2"),
        ("dataset,run,map\nmy web,a=1,0.3", "dataset,run,map\nweb,x,0.3\nweb,y,0.2"),
        ("run,map\na=1,0.3", XY),
    ],
)
def test_the_fix_for_leaderboards_without_a_common_row_works(
    tmp_path: Path, old: str, new: str
) -> None:
    paths = table(tmp_path / "a.csv", old), table(tmp_path / "b.csv", new)
    fix = output(*paths, code=2).rpartition("such as ")[2]
    assert "old: " in output(*paths, *shlex.split(fix))
