"""Results folders with one thing wrong: every command gives an answer or one error, no traceback.

Edits are consistent: the manifest holds the hash of each file as it was edited.
"""

import contextlib
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
from command_line import Said, called

import harness
from harness.errors import InputError
from harness.experiment.results import read_results

MANIFEST, VALUES = "manifest.json", "per_query.parquet"
Edit = Callable[[Path], None]
PAPER = "| run | map |\n|---|---|\n| gbrt | 0.5 |\n| neural | 0.4 |\n"


@pytest.fixture(scope="module")
def original(workplace: Path) -> Path:
    """Results of an example with a plugin."""
    return harness.run(workplace / "configs/plugin.yaml").folder.resolve()


def commands(folder: Path) -> Iterator[list[str]]:
    """Every command that reads results, cheapest first."""
    results, cell = str(folder), ["--run", "gbrt", "-m", "best_grade@1"]
    paper = folder.parent / "paper.md"
    paper.write_text(PAPER)
    yield ["table", results, "--methods"]
    yield ["trace", results, *cell, "--query", "10"]
    yield ["diff", results, results]
    yield ["compare", "--results", results, "gbrt", "neural", "--test", "sign"]
    yield ["diff", results, str(paper)]
    yield ["plot", results, "distribution", "--output", str(folder.parent / "pictures")]
    yield ["conventions", results]
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


def as_file(name: str, put: Edit) -> Edit:
    def edit(folder: Path) -> None:
        (folder / name).unlink()
        put(folder / name)
        if name != MANIFEST:
            with contextlib.suppress(OSError):
                with_hashes(folder)

    return edit


EDITS: dict[str, tuple[Edit, str]] = {  # the file with its line
    "a run renamed": (in_manifest(lambda c: c["cells"][1].update(run="zeta")), VALUES),
    "fewer queries": (in_manifest(lambda c: c["cells"][0]["counts"].update(queries=49)), VALUES),
    "no cells": (in_manifest(lambda c: c.pop("cells")), f"{MANIFEST}: $.cells"),
    "a list as config": (in_manifest(lambda c: c.update(config=[])), f"{MANIFEST}: $.config"),
    "metrics of another type": (in_manifest(lambda c: c["config"].update(metrics={})),
                                f"{MANIFEST}: $.config.metrics"),
    "nested brackets": (lambda folder: (folder / MANIFEST).write_bytes(b"[" * 100_000) and None,
                        MANIFEST),
    "no column of values": (in_values(lambda t: t.drop_columns(["value"])), VALUES),
    "no rows": (in_values(lambda t: t[:0]), VALUES),
    "no Parquet": (as_file(VALUES, lambda path: path.write_bytes(b"\xff\0PAR1" * 50) and None),
                   VALUES),
    "a pipe": (as_file(VALUES, os.mkfifo), VALUES),
    "a folder": (as_file(MANIFEST, os.mkdir), MANIFEST),
    "a device": (as_file(VALUES, lambda path: path.symlink_to("/dev/zero")), VALUES),
}  # fmt: skip


def called_in_time(words: list[str]) -> Said:
    """Call a command, which may take 20 seconds."""
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("hangs"))
    signal.alarm(20)
    try:
        return called(*words)
    finally:
        signal.alarm(0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_gives_an_error_with_file_and_line(
    original: Path, tmp_path: Path, name: str
) -> None:
    edit, place = EDITS[name]
    folder = shutil.copytree(original, tmp_path / "edited")
    edit(folder)
    with pytest.raises(InputError) as error:
        read_results(folder)
    problem = error.value.problems[0]
    assert problem.rule == "damaged-results"
    assert problem.where.removeprefix(f"{folder}/").startswith(place)
    words = (every := list(commands(folder)))[len(name) % len(every)]
    code, _, err = called_in_time(words)
    assert code in (0, 1, 2), words
    assert "Traceback" not in err, words
    assert code != 2 or "error: " in err, words
