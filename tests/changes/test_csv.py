"""Leaderboards as CSV files, in the dialects that people write."""

import math
from pathlib import Path

import pytest
from made_boards import table
from refusals import refuses

from harness.audit.leaderboard_diff import changes
from harness.audit.leaderboard_diff_report import render
from harness.audit.leaderboard_files import read_file
from harness.errors import HarnessWarning, InputError, UnknownNameError


@pytest.mark.parametrize(
    "text",
    [
        "run,MAP,P@5\nbm25,0.3128,0.52\nlsi,0.2500,0.40",
        "System;MAP;P.5\nbm25;0,3128;0,52\nlsi;0,2500;0,40",
        "model\tmap\tP_5\r\nbm25\t.3128\t.52\r\nlsi\t.25\t.4",
        "# of last year\n\nname|map (%)|P@5\nbm25|31.28|52 %\nlsi|25.00|40 %",
        '\ufeffMethod,note,AP,p@5\n"bm25","a, b",**0.3128**,0.52†\nlsi,,0.25 ± 0.01,0.40*',
        ",map,P@5\nbm25,0.3128,0.52\nlsi,0.25,0.40",
        "#,run,map,P@5\n1,bm25,31.28,52.0\n2,lsi,25.00,40.0",
        "run,map (%),P@5\nbm25,31.28 %,0.52 (+30 %)\nlsi,25.00 %,0.40",
    ],
    ids=["comma", "semicolon", "tab", "bar", "bom", "index", "percent", "signs"],
)
def test_dialects(text: str, tmp_path: Path) -> None:
    path = tmp_path / "board.csv"
    path.write_bytes(text.encode())
    board = read_file(path)
    assert [str(key) for key in board.rows] == ["bm25", "lsi"]
    rows = [row.values for row in board.rows.values()]
    assert list(rows[0]) == ["map", "P@5"]
    assert list(rows[0].values()) == pytest.approx([0.3128, 0.52], abs=1e-12)
    assert list(rows[1].values()) == pytest.approx([0.25, 0.4], abs=1e-12)
    assert board.slack["map"] == pytest.approx(0.00005)


def test_what_columns_are_taken_for(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", """
        rank,Team,System,Collection,Seed,MAP,my metric,MAP deviation,empty,n
        1,us,x,trec,1,0.3,7,0.01,,50
        2,us,x,trec,2,0.2,,0.01,,50
    """)  # fmt: skip
    board = read_file(path)
    assert [str(key) for key in board.rows] == ["x on trec, Seed=1", "x on trec, Seed=2"]
    assert list(board.metrics) == ["map", "my metric"]
    assert board.metrics["my metric"] is None
    assert math.isnan(list(board.rows.values())[1].values["my metric"])
    assert board.notes == (
        f"{path}: runs in 'System'; datasets in 'Collection'; rows identified by 'Seed'; "
        "metrics 'MAP', 'my metric'; not compared 'rank', 'Team', 'MAP deviation', 'empty', 'n'.",
    )
    board = read_file(path, ["Team", "rank"])
    assert [str(key) for key in board.rows] == [
        "us on trec, rank=1, Seed=1",
        "us on trec, rank=2, Seed=2",
    ]
    with refuses("a.csv", error=UnknownNameError, suggests="Team"):
        read_file(path, ["Taem"])


def test_half_of_the_last_digit(tmp_path: Path) -> None:
    old = table(tmp_path / "a.csv", "run,map\nx,0.31\ny,0.20\nz,0.4")
    new = table(tmp_path / "b.csv", "run,map\nx,0.3149\ny,0.2051\nz,0.4050")
    found = changes(old, new)
    # two digits: .3149 is within .005 of .31, and .405 too; .2051 is not within it of .20
    assert {cell.key.run: cell.status for cell in found.cells} == {
        "x": "same", "y": "better", "z": "same",
    }  # fmt: skip
    printed = " ".join(render(found).split())
    assert "half a unit of the last printed digit count as equal: 0.005." in printed
    # with four digits each, one unit is a move
    four = table(tmp_path / "c.csv", "run,map\nx,0.3148\ny,0.2051\nz,0.4050")
    assert [cell.status for cell in changes(new, four).cells] == ["worse", "same", "same"]
    assert {cell.status for cell in changes(old, new, tolerance=0).cells} == {"better"}


def test_which_way_is_better(tmp_path: Path) -> None:
    old = table(tmp_path / "a.csv", "run,map,swaps,latency,num_rel\nx,0.3,5,20,7\ny,0.2,9,30,7")
    new = table(tmp_path / "b.csv", "run,map,swaps,latency,num_rel\nx,0.4,4,10,8\ny,0.2,9,30,7")
    found = changes(old, new)
    statuses = {cell.metric: cell.status for cell in found.cells if cell.key.run == "x"}
    assert statuses == {
        "map": "better", "swaps": "better", "latency": "worse", "num_rel": "changed",
    }  # fmt: skip
    assert "Higher is assumed to be better by latency; give --lower for others." in found.notes
    said = changes(old, new, lower=["latency"])
    assert not said.has_regression
    assert not any("higher is better" in note for note in said.notes)
    ranks = next(one for one in said.orders if one.metric == "latency")
    assert [(one.key.run, one.new) for one in ranks.changes] == [("x", 1), ("y", 2)]
    assert [one.metric for one in said.orders] == ["map", "swaps", "latency"]


def test_our_own_leaderboards_have_every_digit(old: Path, new: Path) -> None:
    found = changes(old / "leaderboard.csv", new / "leaderboard.csv")
    expected = changes(old, new)
    assert {(one.key, one.metric, one.old, one.new) for one in found.cells} == {
        (one.key, one.metric, one.old, one.new) for one in expected.cells
    }
    mixed = changes(old, new / "leaderboard.csv")
    assert {(one.key, one.metric): one.status for one in mixed.cells} == {
        (one.key, one.metric): one.status for one in found.cells
    }
    assert not mixed.has_queries
    assert [one.of for one in mixed.origins] == []


def test_tables_over_other_numbers_of_queries(old: Path, tmp_path: Path) -> None:
    board = (old / "leaderboard.csv").read_text()
    lines = [line.split(",") for line in board.splitlines()]
    place = lines[0].index("queries")
    for line in lines[1:]:
        line[place] = str(int(line[place]) + 50)
    last_year = tmp_path / "last-year.csv"
    last_year.write_text("".join(",".join(line) + "\n" for line in lines))
    n = int(lines[1][place]) - 50
    for new in (old, old / "leaderboard.csv"):
        with pytest.warns(HarnessWarning, match=rf"{n + 50} queries.* {n};") as warned:
            changes(last_year, new)
        assert len(warned) == 1


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", ""), (b"run,map\n", ""), (b"run\nx", ""), (b"run,map,map\nx,1,2", ":1"),
        (b"run,map\nx,0.1\ny,0.2,3\n", ":3"), (b"run,map\nx,0.1\ny,O.2\nz,0.3\n", ":3"),
        (b"run,map\nx,0.1\ny,0.2\nx,0.3\n", ":4"), (b"run,map\nx,0.1\n,0.2", ":3"),
        (b"map,P@5\n0.1,0.2\n", ""), (b"run,team\nx,us\n", ""), (b'run,map\nx,"0.1\n', ":2"),
        (b"run,map\nx,0.1\n\xe9,0.2\n", ":3"), (b"|no table|", ""),
        (b"|a|b|\n|-|-|\n|x|1|\n\n|a|b|\n|-|-|\n|y|2|\n", ""),
        (b"|run|map|\n|-|-|\n|x|.1|.2|\n", ":3"),
        (b"|run|map|\n|-|-|\n|x|.1|\n|y|zero|\n|z|.2|\n", ":4"),
    ],
)  # fmt: skip
def test_what_is_no_leaderboard(content: bytes, line: str, tmp_path: Path) -> None:
    path = tmp_path / f"board.{'md' if content.startswith(b'|') else 'csv'}"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_file(path)
    assert [one.where for one in caught.value.problems] == [f"{path}{line}"]
