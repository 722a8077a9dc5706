"""Results folders with one thing wrong: every reader gives an answer or one error, never a trace.

Edits are consistent: the manifest holds the hash of each file as it was edited.
"""

from __future__ import annotations

import contextlib
import copy
import csv
import io
import json
import os
import random
import resource
import shutil
import signal
import warnings
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

ROOT = Path(__file__).resolve().parents[2]
OTHERS: tuple[Any, ...] = (None, True, -3, 1.5, "x", [], {})
"""What a value of the manifest is replaced by."""
N_SAMPLED, SECONDS, ROOM = 24, 20, 1 << 30
MANIFEST, VALUES, BOARD = "manifest.json", "per_query.parquet", "leaderboard.csv"
Edit = Callable[[Path], None]
PAPER = "| run | map |\n|---|---|\n| gbrt | 0.5 |\n| neural | 0.4 |\n"


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Results of the examples: one with runs compared, one with folds, seeds and a row a system."""
    found = {}
    for name in ("plugin", "folds"):
        place = tmp_path_factory.mktemp("originals")
        for part in ("configs", "runs"):
            shutil.copytree(ROOT / part, place / part)
        harness.run(place / "configs" / f"{name}.yaml")
        found[name] = place
    return found


def commands(folder: Path, name: str) -> Iterator[list[str]]:
    """Yield every command that reads results, cheapest first."""
    results, metric = str(folder), {"plugin": "best_grade@1", "folds": "map"}[name]
    cell = ["--run", "gbrt", "-m", metric]
    paper = folder.parent / "paper.md"
    paper.write_text(PAPER)
    yield ["table", results]
    yield ["table", results, "--methods"]
    yield ["why", results, *cell]
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


def of_json(original: Any) -> Iterator[tuple[str, Edit]]:
    """Yield each value of the manifest removed, and replaced by one of another type.

    Of a list, the first element is edited.
    """

    def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        items = value.items() if isinstance(value, dict) else enumerate(value[:1])
        for key, below in items:
            yield (*way, key)
            if isinstance(below, (dict, list)):
                yield from places(below, (*way, key))

    def edit(way: tuple[Any, ...], put: Callable[[Any, Any], None]) -> Edit:
        def change(folder: Path) -> None:
            content = copy.deepcopy(original)
            inner = content
            for key in way[:-1]:
                inner = inner[key]
            put(inner, way[-1])
            (folder / MANIFEST).write_text(json.dumps(content, indent=1) + "\n")

        return change

    draw = random.Random(3)
    for way in places(original):
        where = ".".join(map(str, way))
        yield f"{where} removed", edit(way, lambda inner, key: inner.__delitem__(key))
        for other in draw.sample(OTHERS, 1):

            def put(inner: Any, key: Any, other: Any = other) -> None:
                inner[key] = other

            yield f"{where} = {other!r}", edit(way, put)


def of_parquet(original: pa.Table) -> Iterator[tuple[str, Edit]]:
    """Yield each column dropped, of another type, without values; and rows that are missing."""

    def edit(table: pa.Table) -> Edit:
        def change(folder: Path) -> None:
            pq.write_table(table, folder / VALUES)
            with_hashes(folder)

        return change

    n = len(original)
    for at, name in enumerate(original.column_names):
        yield f"{name} dropped", edit(original.drop_columns([name]))
        yield f"{name} twice", edit(original.append_column(name, original[name]))
        numbers, texts = pa.array(range(n)), pa.array(["t"] * n)
        for what, column in (
            ("integers", numbers),
            ("texts", texts),
            ("nulls", pa.nulls(n, original.schema.field(name).type)),
            ("null type", pa.nulls(n)),
            ("lists", pa.array([[1]] * n)),
            ("bytes", pa.array([b"\xff"] * n)),
        ):
            yield f"{name} of {what}", edit(original.set_column(at, name, column))
        yield f"{name} shuffled", edit(original.set_column(at, name, original[name][::-1]))
    for what, table in (
        ("no rows", original[:0]),
        ("one row less", original[1:]),
        ("a row twice", pa.concat_tables([original, original[:1]])),
        ("reversed", original[::-1]),
    ):
        yield what, edit(table)


def of_csv(original: str) -> Iterator[tuple[str, Edit]]:
    """Yield each column of the leaderboard dropped or of texts; rows that are missing or uneven."""
    header, *rows = csv.reader(io.StringIO(original, newline=""))

    def edit(table: list[list[str]]) -> Edit:
        def change(folder: Path) -> None:
            sink = io.StringIO()
            csv.writer(sink, lineterminator="\n").writerows(table)
            (folder / BOARD).write_text(sink.getvalue())
            with_hashes(folder)

        return change

    for at, name in enumerate(header):
        yield f"{name} dropped", edit([row[:at] + row[at + 1 :] for row in (header, *rows)])
        for put in ("x", "", "nan", "2020-01-01", "a\n\n"):
            changed = [[*row[:at], put, *row[at + 1 :]] for row in rows]
            yield f"{name} of {put!r}", edit([header, *changed])
        yield f"{name} empty heading", edit([[*header[:at], "", *header[at + 1 :]], *rows])
    yield "no rows", edit([header])
    yield "a row less", edit([header, *rows[1:]])
    yield "a longer row", edit([header, [*rows[0], "1"], *rows[1:]])
    yield "a shorter row", edit([header, rows[0][:3], *rows[1:]])
    yield "reversed", edit([header, *rows[::-1]])
    yield "a field of 200 kB", edit([header, ["a" * 200_000, *rows[0][1:]], *rows[1:]])


def of_files() -> Iterator[tuple[str, Edit]]:
    """Yield each file replaced by what is no file, or by nothing that can be read."""
    kinds: dict[str, Edit] = {
        "a pipe": os.mkfifo,
        "a folder": os.mkdir,
        "a link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
        "a link to itself": lambda path: path.symlink_to(path.name),
        "empty": lambda path: path.write_bytes(b""),
        "no text": lambda path: path.write_bytes(b"\xff\xfe\0PAR1" * 50),
        "an open quote": lambda path: path.write_bytes(b'"a,b\n' * 3),
        "gone": lambda path: None,
    }
    for name in (MANIFEST, VALUES, BOARD, "leaderboard_cells.csv", "timing.json"):
        for what, put in kinds.items():

            def change(folder: Path, name: str = name, put: Edit = put) -> None:
                (folder / name).unlink(missing_ok=True)
                put(folder / name)
                with contextlib.suppress(OSError, ValueError):
                    if name != MANIFEST:
                        with_hashes(folder)

            yield f"{name} is {what}", change


def edits_of(folder: Path) -> list[tuple[str, Edit]]:
    return [
        *of_files(),
        *of_csv((folder / BOARD).read_text()),
        *of_parquet(pq.read_table(folder / VALUES)),
        *of_json(json.loads((folder / MANIFEST).read_bytes())),
    ]


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """Stop what hangs, and what takes a gigabyte more than there is now."""

    def stop(*_: Any) -> None:
        raise AssertionError("hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def check(
    folder: Path, name: str, edit: tuple[str, Edit], some: slice, capsys: pytest.CaptureFixture[str]
) -> None:
    """Give an edited folder to commands: an answer, or an error and its exit code."""
    what, change = edit
    copied = folder.parent / "edited"
    shutil.rmtree(copied, ignore_errors=True)
    shutil.copytree(folder, copied)
    change(copied)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    for words in list(commands(copied, name))[some]:
        try:
            with bounded(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                main(words)
            code: Any = 0
        except SystemExit as end:
            code = end.code or 0
        except Exception as error:
            raise AssertionError(f"{what}: {' '.join(words)}") from error
        captured = capsys.readouterr()
        assert code in (0, 1, 2), (what, words, code)
        assert "Traceback" not in captured.err, (what, words, captured.err)
        assert code != 2 or captured.err.startswith(("error: ", "warning: ")), (what, words)
        assert code != 2 or "error" in captured.err, (what, words, captured.err)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - peak
    assert grown < ROOM, (what, grown)


@pytest.mark.parametrize("name", ["plugin", "folds"])
def test_some_edits(
    originals: dict[str, Path], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = originals[name] / "results" / name
    draw = random.Random(17)
    for place, edit in enumerate(draw.sample(edits_of(folder), N_SAMPLED)):
        check(folder, name, edit, slice(place % 4, None, 4), capsys)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plugin", "folds"])
def test_every_edit(
    originals: dict[str, Path], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = originals[name] / "results" / name
    for place, edit in enumerate(edits_of(folder)):
        check(folder, name, edit, slice(place % 3, None, 3), capsys)


def in_manifest(change: Callable[[Any], object]) -> Edit:
    def edit(folder: Path) -> None:
        content = json.loads((folder / MANIFEST).read_bytes())
        change(content["cells"])
        (folder / MANIFEST).write_text(json.dumps(content))

    return edit


def swapped_queries(folder: Path) -> None:
    table = pq.read_table(folder / VALUES)
    qids = table["qid"].to_pylist()
    qids[0], qids[-1] = qids[-1], qids[0]
    column = table.column_names.index("qid")
    pq.write_table(table.set_column(column, "qid", pa.array(qids)), folder / VALUES)
    with_hashes(folder)


def text_for_a_number(folder: Path) -> None:
    lines = (folder / BOARD).read_text().splitlines()
    lines[2] = lines[2].rpartition(",")[0] + ",O.5"
    (folder / BOARD).write_text("\n".join(lines) + "\n")
    with_hashes(folder)


@pytest.mark.parametrize(
    ("edit", "place", "what"),
    [
        (in_manifest(lambda cells: cells[1].update(run="zeta")), f"{BOARD}:3",
         "expected run 'zeta', got 'lambdamart'"),
        (in_manifest(lambda cells: cells.__setitem__(2, cells[0])), MANIFEST,
         "expected each cell once, got gbrt on letor twice"),
        (in_manifest(lambda cells: cells[0]["counts"].update(queries=49)), VALUES,
         "expected 747 rows, got 750"),
        (lambda folder: (folder / MANIFEST).write_bytes(b"[" * 100_000), MANIFEST,
         "cannot be read: too many objects or lists inside each other"),
        (swapped_queries, VALUES, "expected each query once in a cell, got one twice or none"),
        (text_for_a_number, f"{BOARD}:3", "expected a number in column 'ndcg@5', got 'O.5'"),
        (dict(of_files())[f"{VALUES} is a pipe"], VALUES, "expected a regular file"),
        (dict(of_files())[f"{BOARD} is a link to /dev/zero"], BOARD, "expected a regular file"),
    ],
)  # fmt: skip
def test_the_error_names_file_and_line(
    originals: dict[str, Path], tmp_path: Path, edit: Edit, place: str, what: str
) -> None:
    folder = tmp_path / "edited"
    shutil.copytree(originals["plugin"] / "results" / "plugin", folder)
    edit(folder)
    with pytest.raises(InputError) as error:
        read(folder)
    (problem,) = error.value.problems
    assert (problem.where, problem.rule) == (f"{folder}/{place}", "damaged-results")
    assert problem.what.startswith(what)


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


def test_a_small_file_of_many_rows_is_not_read(originals: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "edited"
    shutil.copytree(originals["plugin"] / "results" / "plugin", folder)
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
    assert (folder / VALUES).stat().st_size < 1 << 20
    with pytest.raises(InputError, match=r"expected 750 rows, got 8,000,000"):
        read(folder)
