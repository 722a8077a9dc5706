"""Results folders with one thing wrong: every command gives an answer or one error, no traceback.

Edits are consistent: the manifest holds the hash of each file as it was edited.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import harness
from harness.audit.verify import verify
from harness.cli.main import main
from harness.errors import HarnessError, InputError
from harness.experiment.cache import INDEX, Cache
from harness.experiment.folder import TIMING, Written, read, written

MANIFEST, VALUES, BOARD = "manifest.json", "per_query.parquet", "leaderboard.csv"
Edit = Callable[[Path], None]
PAPER = "| run | map |\n|---|---|\n| gbrt | 0.5 |\n| neural | 0.4 |\n"


@pytest.fixture(scope="module")
def original(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of an example with a plugin."""
    place = tmp_path_factory.mktemp("original")
    for part in ("configs", "runs"):
        shutil.copytree(root / part, place / part)
    return harness.run(place / "configs/plugin.yaml").folder.resolve()


def commands(folder: Path) -> Iterator[list[str]]:
    """Yield every command that reads results, cheapest first."""
    results, cell = str(folder), ["--run", "gbrt", "-m", "best_grade@1"]
    paper = folder.parent / "paper.md"
    paper.write_text(PAPER)
    yield ["table", results, "--methods"]
    yield ["why", results, *cell, "--query", "10"]
    yield ["compare", results, results]
    yield ["compare", "--results", results, "gbrt", "neural", "--test", "sign"]
    yield ["check-table", str(paper), "--results", results]
    yield ["plot", results, "distribution", "--output", str(folder.parent / "pictures")]
    yield ["audit", results]
    yield ["cache", "list", results]
    yield ["verify", results, "--plugins"]


def with_hashes(folder: Path) -> None:
    """Put the hashes of the files as they are now into the manifest."""
    path = folder / MANIFEST
    content = json.loads(path.read_bytes())
    for name in content["outputs"]:
        if (folder / name).is_file() and not (folder / name).is_symlink():
            content["outputs"][name] = sha256((folder / name).read_bytes()).hexdigest()
    path.write_text(json.dumps(content, indent=1) + "\n")


def in_manifest(change: Callable[[Any], object]) -> Edit:
    def edit(folder: Path) -> None:
        content = json.loads((folder / MANIFEST).read_bytes())
        change(content)
        (folder / MANIFEST).write_text(json.dumps(content, indent=1) + "\n")

    return edit


def in_values(change: Callable[[pa.Table], pa.Table]) -> Edit:
    def edit(folder: Path) -> None:
        pq.write_table(change(pq.read_table(folder / VALUES)), folder / VALUES)
        with_hashes(folder)

    return edit


def in_board(change: Callable[[list[list[str]]], list[list[str]]]) -> Edit:
    def edit(folder: Path) -> None:
        rows = list(csv.reader(io.StringIO((folder / BOARD).read_text(), newline="")))
        sink = io.StringIO()
        csv.writer(sink, lineterminator="\n").writerows(change(rows))
        (folder / BOARD).write_text(sink.getvalue())
        with_hashes(folder)

    return edit


def as_file(name: str, put: Edit) -> Edit:
    def edit(folder: Path) -> None:
        (folder / name).unlink()
        put(folder / name)
        if name != MANIFEST:
            with contextlib.suppress(OSError):
                with_hashes(folder)

    return edit


def put_column(name: str, values: Callable[[int], pa.Array]) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.set_column(table.column_names.index(name), name, values(len(table)))


EDITS: dict[str, tuple[Edit, str, str]] = {  # the file with its line, and what is wrong
    "a run renamed": (in_manifest(lambda c: c["cells"][1].update(run="zeta")), f"{BOARD}:3",
                      "expected a row of zeta on letor, got lambdamart on letor"),
    "a cell twice": (in_manifest(lambda c: c["cells"].__setitem__(2, c["cells"][0])), MANIFEST,
                     "expected each cell once, got gbrt on letor twice"),
    "fewer queries": (in_manifest(lambda c: c["cells"][0]["counts"].update(queries=49)), VALUES,
                      "expected 747 rows, got 750"),
    "no cells": (in_manifest(lambda c: c.pop("cells")), f"{MANIFEST}: $.cells", "field required"),
    "a list as config": (in_manifest(lambda c: c.update(config=[])), f"{MANIFEST}: $.config",
                         "input should be a valid"),
    "metrics of another type": (in_manifest(lambda c: c["config"].update(metrics={})),
                                f"{MANIFEST}: $.config.metrics", ""),
    "nested brackets": (lambda folder: (folder / MANIFEST).write_bytes(b"[" * 100_000) and None,
                        MANIFEST, "cannot be read: too many objects"),
    "queries twice": (in_values(put_column("qid", lambda n: pa.array(["1"] * n))), VALUES,
                      "expected each query once in a cell, got one twice or none"),
    "values of text": (in_values(put_column("value", lambda n: pa.array(["x"] * n))), VALUES,
                       "expected double in column 'value', got string"),
    "qids of lists": (in_values(put_column("qid", lambda n: pa.array([[1]] * n))), VALUES,
                      "expected text in column 'qid', got list"),
    "no column of metrics": (in_values(lambda t: t.drop_columns(["metric"])), VALUES,
                             "expected one column 'metric', got 0"),
    "a column twice": (in_values(lambda t: t.append_column("run", t["run"])), VALUES,
                       "expected one column 'run', got 2"),
    "no rows": (in_values(lambda t: t[:0]), VALUES, "expected 750 rows, got 0"),
    "text for a number": (in_board(lambda rows: [*rows[:2], [*rows[2][:-1], "O.5"], *rows[3:]]),
                          f"{BOARD}:3", "expected a number in column 'ndcg@5', got 'O.5'"),
    "a shorter row": (in_board(lambda rows: [*rows[:2], rows[2][:3], *rows[3:]]), f"{BOARD}:3",
                      "expected 14 fields, got 3"),
    "a row less": (in_board(lambda rows: rows[:-1]), BOARD, "expected 5 rows, got 4"),
    "no header": (in_board(lambda rows: rows[1:]), f"{BOARD}:1", "expected a header with"),
    "an open quote": (as_file(BOARD, lambda path: path.write_bytes(b'"a,b\n' * 3) and None), BOARD,
                      "expected"),
    "no Parquet": (as_file(VALUES, lambda path: path.write_bytes(b"\xff\0PAR1" * 50) and None),
                   VALUES, "expected Parquet"),
    "a pipe": (as_file(VALUES, os.mkfifo), VALUES, "expected a regular file"),
    "a folder": (as_file(MANIFEST, os.mkdir), MANIFEST, "expected a regular file"),
    "a device": (as_file(BOARD, lambda path: path.symlink_to("/dev/zero")), BOARD,
                 "expected a regular file"),
}  # fmt: skip


def exit_code(words: list[str]) -> object:
    """Call a command, which may take 20 seconds."""
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("hangs"))
    signal.alarm(20)
    try:
        main(words)
    except SystemExit as ended:
        return ended.code
    finally:
        signal.alarm(0)
    return 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_gives_an_error_with_file_and_line(
    original: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    edit, place, what = EDITS[name]
    folder = shutil.copytree(original, tmp_path / "edited")
    edit(folder)
    with pytest.raises(InputError) as error:
        read(folder)
    problem = error.value.problems[0]
    assert problem.rule == "damaged-results"
    assert problem.where.removeprefix(f"{folder}/").startswith(place)
    assert problem.what.startswith(what)
    for words in list(commands(folder))[len(name) % 3 :: 3]:
        code = exit_code(words)
        err = capsys.readouterr().err
        assert code in (None, 0, 1, 2), words
        assert "Traceback" not in err, words
        assert code != 2 or "error: " in err, words


@pytest.mark.parametrize(
    "content",
    [b"[" * 100_000, b'{"files": {}, "records": 1e400}', b"\xff", b"null",
     b'{"files": {"a": [[1e400, 1, 1, 1], "x", true]}, "records": 0}'],
)  # fmt: skip
def test_damaged_files_of_earlier_runs_count_as_missing(tmp_path: Path, content: bytes) -> None:
    for name in (INDEX, MANIFEST, TIMING):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "a").write_text("x")
    assert written(tmp_path) == Written({}, (), {})
    assert Cache(tmp_path).known(str(tmp_path / "a")) is None


def test_a_small_file_of_many_rows_is_not_read(original: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(original, tmp_path / "edited")
    table = pq.read_table(folder / VALUES)
    many = pa.concat_tables([table.slice(0, 1)] * 400_000).combine_chunks()
    with pq.ParquetWriter(folder / VALUES, many.schema, compression="zstd") as file:
        for _ in range(20):
            file.write_table(many)
    with_hashes(folder)
    pool = pa.default_memory_pool()
    del table, many
    peak = pool.max_memory()
    for command in (read, lambda place: verify(place, plugins=True)):
        with contextlib.suppress(HarnessError):
            command(folder)
        assert pool.max_memory() == peak  # reached when the file was written
    with pytest.raises(InputError, match=r"expected 750 rows, got 8,000,000"):
        read(folder)
