"""Folds and seeds of which some are gone: the others are derived anew, and the rest is named."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import harness
from harness.audit.verify import verify
from harness.audit.verify_report import from_where_they_differ
from harness.cli.main import main
from harness.errors import InputError

CONFIG = """
name: x
output: out
datasets: {"web-fold{fold}": {format: letor, path: "data/fold{fold}/test.txt"}}
runs: {"{model}": {format: scores, path: "runs/{model}-{fold}-{seed}.txt"}}
metrics: [map, "arp(over=grades)", "rbo(p=0.9,reference=b)"]
summary: {pool: [fold], spread: [seed]}
compare: {baseline: b}
"""
PARTS = [(model, fold, seed) for model in "abc" for fold in (1, 2) for seed in (1, 2)]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    (tmp_path / "runs").mkdir()
    for fold in (1, 2):
        qids = [f"{fold}{query}" for query in range(5) for _ in range(4)]
        rows = [f"{rng.integers(3)} qid:{qid} 1:0\n" for qid in qids]
        (tmp_path / f"data/fold{fold}").mkdir(parents=True)
        (tmp_path / f"data/fold{fold}/test.txt").write_text("".join(rows), encoding="utf-8")
    for model, fold, seed in PARTS:
        text = "".join(f"{score:.6f}\n" for score in rng.normal(size=20))
        (tmp_path / f"runs/{model}-{fold}-{seed}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "x.yaml").write_text(CONFIG, encoding="utf-8")
    harness.run(tmp_path / "x.yaml")
    assert verify(tmp_path / "out").is_verified
    return tmp_path


def edit(path: Path, where: dict[str, str], column: str) -> None:
    """Change a value of the only row that has these fields."""
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    (row,) = (row for row in rows if where.items() <= row.items())
    row[column] = repr(float(row[column]) + 2**-50)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")


def test_a_seed_of_one_fold_is_gone(place: Path) -> None:
    (place / "runs/a-1-2.txt").unlink()
    found = verify(place / "out")
    assert [(one.kind, one.file, one.now) for one in found.differences] == [
        ("input", "runs/a-1-2.txt", "gone")
    ]
    moved, *notes = found.notes
    assert moved == (
        "inputs are gone: if they or the results were moved, --inputs FOLDER says where the "
        "config's paths start from now"
    )
    assert notes == [
        "not derived anew, as files of theirs are gone: a on web-fold1, fold=1, seed=2",
        "compared in part: leaderboard_cells.csv, leaderboard.csv, per_query.parquet, "
        "manifest.json; what else there is follows from all cells, and was not",
    ]
    # 11 of 12 cells, 5 queries each, 3 metrics
    assert found.verified == {"inputs": 13, "cells": 11, "values": 165, "summaries": 33}


def test_many_inputs_are_counted_by_run(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All four files of one run change in their last tag's place: here, their order is reversed."""
    for fold in (1, 2):
        for seed in (1, 2):
            path = place / f"runs/c-{fold}-{seed}.txt"
            path.write_text("".join(f"{20 - n}\n" for n in range(20)), encoding="utf-8")
    found = verify(place / "out")
    (one,) = found.changed
    assert (one.kind, one.name, one.of) == ("run", "c", 3)
    assert one.inputs == tuple(f"runs/c-{fold}-{seed}.txt" for fold in (1, 2) for seed in (1, 2))
    assert one.differ == ("map", "arp(over=grades)", "rbo(p=0.9,reference=b)")
    assert found.total == sum(found.by_file.values())
    assert found.by_file["inputs"] == 4
    # 2 folds x 2 seeds x 5 queries x 3 metrics at most; rbo differs for each
    assert 20 <= found.by_file["per_query.parquet"] <= 60
    with pytest.raises(SystemExit, match="1"):
        main(["verify", str(place / "out")])
    first, second, *_, last = capsys.readouterr().out.splitlines()
    assert first == (
        "input: run c: 4 files gone or changed (runs/c-1-1.txt, runs/c-1-2.txt, ...); 3 of 3 "
        "metrics differ: map, arp(over=grades), rbo(p=0.9,reference=b)"
    )
    assert second.startswith("value: leaderboard.csv: line 4 (web, c), ")
    assert f"NOT VERIFIED, {found.total} differences (4 in inputs, " in last


def test_judgements_that_changed_are_those_of_a_dataset(place: Path) -> None:
    for path in (place / "data/fold1/test.txt", place / "runs/a-2-1.txt"):
        path.write_bytes(path.read_bytes() + b"\n")
    found = verify(place / "out")
    assert [(one.kind, one.name, one.differ) for one in found.changed] == [
        ("dataset", "web-fold{fold}", ()), ("run", "a", ()),
    ]  # fmt: skip
    (place / "runs/b-1-1.txt").unlink()  # nothing follows from all cells then
    assert {one.differ for one in verify(place / "out").changed} == {None}


def test_results_that_were_moved_and_where_their_inputs_are(place: Path) -> None:
    shutil.move(place / "out", place / "far/away/out")
    with pytest.raises(InputError, match="not where they were"):
        verify(place / "far/away/out")
    assert verify(place / "far/away/out", inputs=place).is_verified


def test_a_whole_fold_is_gone(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "data/fold1/test.txt").unlink()
    (place / "data/fold1").rmdir()
    found = verify(place / "out")
    assert found.verified["cells"] == 6
    assert found.notes[1].endswith(
        ": a on web-fold1, fold=1, seed=1; a on web-fold1, fold=1, seed=2; b on web-fold1, fold=1, "
        "seed=1; b on web-fold1, fold=1, seed=2; c on web-fold1, fold=1, seed=1; c on web-fold1, "
        "fold=1, seed=2"
    )
    assert "leaderboard.csv" not in found.notes[2]  # each row lacks a fold
    with pytest.raises(SystemExit, match="1"):
        main(["verify", str(place / "out")])
    assert "NOT VERIFIED, 1 difference; looked at: 13 inputs, 6 cells" in capsys.readouterr().out


EDITS: dict[str, Callable[[Path], None]] = {
    "leaderboard.csv": lambda out: edit(out / "leaderboard.csv", {"run": "c"}, "map low"),
    "leaderboard_cells.csv": lambda out: edit(
        out / "leaderboard_cells.csv", {"run": "a", "fold": "2", "seed": "2"}, "arp(over=grades)"
    ),
    "manifest.json": lambda out: in_manifest(out / "manifest.json", 0),
    "per_query.parquet": lambda out: in_values(out / "per_query.parquet", 0),
}
UNSEEN: list[Callable[[Path], None]] = [
    lambda out: edit(out / "leaderboard.csv", {"run": "a"}, "map"),
    lambda out: edit(out / "leaderboard_cells.csv", {"run": "a", "fold": "1", "seed": "2"}, "map"),
    lambda out: in_manifest(out / "manifest.json", 1),
    lambda out: in_values(out / "per_query.parquet", 15),
]


def in_manifest(path: Path, cell: int) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    content["cells"][cell]["counts"]["tied"] += 1
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def in_values(path: Path, row: int) -> None:
    table = pq.ParquetFile(path).read()
    values = table["value"].to_numpy().copy()
    values[row] += 2**-50
    place = table.column_names.index("value")
    pq.write_table(table.set_column(place, "value", pa.array(values)), path)


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_what_can_be_derived_is_found(place: Path, name: str) -> None:
    (place / "runs/a-1-2.txt").unlink()
    EDITS[name](place / "out")
    found = [one.file for one in verify(place / "out").differences]
    assert found == ["runs/a-1-2.txt", name]


@pytest.mark.parametrize("edited", UNSEEN)
def test_what_cannot_be_derived_is_not_judged(place: Path, edited: Callable[[Path], None]) -> None:
    (place / "runs/a-1-2.txt").unlink()
    edited(place / "out")
    kinds = {one.kind for one in verify(place / "out").differences}
    assert kinds <= {"input", "file"}  # that it was edited is seen by its hash


def test_a_file_that_cannot_be_read(place: Path) -> None:
    (place / "runs/a-1-2.txt").unlink()
    (place / "out/per_query.parquet").write_bytes(b"x")
    (_, one) = verify(place / "out").differences
    assert (one.file, one.now) == ("per_query.parquet", "as it is written")
    assert one.then.startswith("cannot be read: ")


def test_nothing_can_be_derived(place: Path) -> None:
    for fold in (1, 2):
        (place / f"data/fold{fold}/test.txt").unlink()
    found = verify(place / "out")
    assert found.verified == {"inputs": 12, "cells": 0, "values": 0, "summaries": 0}
    assert "and 2 more" in found.notes[1]
    assert found.notes[2].startswith("no value was compared; ")


@pytest.mark.parametrize(
    ("then", "now", "shown"),
    [
        ("0.5", "0.25", ("0.5", "0.25")),
        ("a  b", "a b", ("'a  b'", "'a b'")),
        ("x" * 500 + "1", "x" * 500 + "2", ("..." + "x" * 30 + "1", "..." + "x" * 30 + "2")),
        ("1" + "x" * 500, "2" + "x" * 500, ("1" + "x" * 116 + "...", "2" + "x" * 116 + "...")),
        ("x" * 500, "x" * 501, ("..." + "x" * 30, "..." + "x" * 31)),
        ("x" * 200, "", ("x" * 117 + "...", "")),
    ],
)
def test_long_lines_are_shown_from_where_they_differ(
    then: str, now: str, shown: tuple[str, str]
) -> None:
    assert from_where_they_differ(then, now) == shown
