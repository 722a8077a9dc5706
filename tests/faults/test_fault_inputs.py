"""Inputs that are cut, changed or taken away while a sweep reads them, and broken archives."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_sweep import INDEX, LONG_AGO, Sweep, Undisturbed

from harness import readers
from harness.errors import InputError

Goes = Callable[..., None]
CHANGED = (
    "changed while the run was going: other values follow from other bytes\n"
    "  fix:   run again when nothing writes to it; what is known by then is not computed again"
)
EVALUATE = "harness.experiment.work", "evaluate_one"


def put_back(sweep: Sweep, template: Path, name: str) -> None:
    (sweep.folder / name).parent.mkdir(exist_ok=True)
    shutil.copyfile(template / name, sweep.folder / name)
    os.utime(sweep.folder / name, (LONG_AGO, LONG_AGO))


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("truncate", "predictions"),
        (
            "delete",
            "deleted or moved while the run was going [missing-file]\n"
            "  fix:   put it back where it was, and run again\n",
        ),
        ("empty", "the file is empty"),
    ],
)
def test_a_run_is_cut_or_goes_before_it_is_read(
    sweep: Sweep, template: Path, goes_on: Goes, what: str, said: str
) -> None:
    name = "data/lambdamart/fold1-seed2.txt"
    path = sweep.folder / name
    act = {
        "truncate": ["truncate", str(path), path.stat().st_size // 2],
        "empty": ["truncate", str(path), 0],
        "delete": ["remove", str(path)],
    }[what]
    ended = sweep.run(call=[*EVALUATE, 0], act=act)
    assert ended.code in (1, 2), ended.err
    assert str(path) in ended.err.replace("configs/../", "")
    assert said in ended.err
    assert "Traceback" not in ended.err
    put_back(sweep, template, name)
    goes_on(sweep, less=ended.code == 1)


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("same_size", [True, False], ids=["other bytes", "cut"])
def test_judgements_change_between_two_cells(
    sweep: Sweep, template: Path, undisturbed: Undisturbed, goes_on: Goes, jobs: str,
    same_size: bool,
) -> None:  # fmt: skip
    """Size, time of change and name may be the old ones: it is seen all the same."""
    name = "data/fold1/test.txt"
    path = sweep.folder / name
    text = path.read_text(encoding="utf-8")
    assert text[0] in "01234"
    other = ("1" if text[0] == "0" else "0") + text[1:]
    other = other if same_size else text[: len(text) // 2].rpartition("\n")[0] + "\n"
    act = ["write", str(path), other, LONG_AGO]
    # with workers as soon as the first cell is done
    call = [*EVALUATE, 2] if jobs == "1" else ["harness.experiment.cells", "_Run.take", 0]
    for _ in range(10):
        ended = sweep.run("--jobs", jobs, call=call, act=act)
        if ended.code:
            break
        assert jobs == "2"  # whose workers had read it for all cells: none follows from the other
        assert sweep.files() == undisturbed.files
        put_back(sweep, template, name)
        shutil.rmtree(sweep.out)
    assert ended.code == 1, "it never changed before all cells were done"
    errors = ended.err.replace("configs/../", "").split("error: ")
    assert errors[0] == ""
    cells = r"[\w-]+ on fold1( and \d+ other cells?)?"
    for error in errors[1:]:
        assert re.fullmatch(f"{cells}: {re.escape(f'{path}: {CHANGED}')}\n", error)
    put_back(sweep, template, name)
    goes_on(sweep, less=True)


@pytest.mark.parametrize(
    ("call", "jobs"),
    [([*EVALUATE, 5], "1"), (["harness.experiment.run", "derive", 0], "1"),
     (["harness.experiment.run", "derive", 0], "2"), (["harness.reports.paper", "files", 0], "1")],
    ids=["at the sixth cell", "before anything follows", "after two workers", "before tables"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["fold1/test.txt", "gbrt/fold1-seed1.txt"])
@pytest.mark.parametrize("what", ["cut", "deleted", "replaced"])
def test_an_input_changes_after_its_values_were_computed(
    sweep: Sweep, template: Path, undisturbed: Undisturbed, goes_on: Goes, call: list[Any],
    jobs: str, name: str, what: str,
) -> None:  # fmt: skip
    """What is done is written as it was read, and it is said."""
    name = f"data/{name}"
    path = sweep.folder / name
    whole = path.read_bytes()
    act: list[Any] = {
        "cut": ["truncate", str(path), 100],
        "deleted": ["remove", str(path)],
        "replaced": ["write", str(path), whole.decode()[:-1] + " ", LONG_AGO + 1],
    }[what]
    if call[-1] == 5 and "fold1/" in name:  # judgements that other cells read too: said of these
        call = ["harness.experiment.cells", "_Run.evaluated", 0]
    ended = sweep.run("--jobs", jobs, call=call, act=act)
    became = "deleted or moved" if what == "deleted" else "changed"
    assert (ended.code, ended.err.replace("configs/../", "")) == (
        0,
        f"{undisturbed.err}warning: {path}: {became} while the run was going, after its values "
        f"were computed: results follow from the {len(whole):,} bytes that were read, whose hash "
        "the manifest has; run again, when nothing writes to it, to have them of what is there\n",
    )
    found = {**sweep.files(), INDEX: undisturbed.files[INDEX]}  # whose sizes are not today's
    assert found == undisturbed.files  # size and hash in the manifest among them
    put_back(sweep, template, name)
    goes_on(sweep)


@pytest.mark.parametrize("change", ["touched", "written again"])
def test_an_input_that_holds_the_same_bytes_did_not_change(
    sweep: Sweep, undisturbed: Undisturbed, change: str
) -> None:
    path = sweep.folder / "data/gbrt/fold1-seed1.txt"
    later = LONG_AGO + 60 if change == "touched" else LONG_AGO
    act = ["write", str(path), path.read_text(encoding="utf-8"), later]
    ended = sweep.run(call=["harness.experiment.run", "derive", 0], act=act)
    assert (ended.code, ended.err) == (0, undisturbed.err)
    assert sweep.files() == undisturbed.files


def test_a_run_that_changes_while_it_is_read_fails(
    sweep: Sweep, template: Path, goes_on: Goes
) -> None:
    """Its hash may be of other bytes than its values."""
    name = "data/gbrt/fold1-seed1.txt"
    path = sweep.folder / name
    ended = sweep.run(
        call=["harness.readers.hashed", "HashedSource.sha256", 1], act=["truncate", str(path), 100]
    )
    assert ended.code == 1
    assert ended.err.replace("configs/../", "") == f"error: gbrt on fold1: {path}: {CHANGED}\n"
    put_back(sweep, template, name)
    goes_on(sweep, less=True)


def broken(kind: str, whole: bytes, two: bytes) -> dict[str, bytes]:
    """Return broken archives by the place that is broken."""
    ends = {"gz": 8, "bz2": 10, "xz": 12, "zst": 4}[kind]  # what follows the data

    def flipped(at: int) -> bytes:
        return whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]

    return {
        "magic": flipped(0),
        "header": flipped(4 if kind != "gz" else 2),
        "cut in the header": whole[:6],
        "middle": flipped(len(whole) // 2),
        "cut in the middle": whole[: len(whole) // 2],
        "checksum": flipped(len(whole) - ends),
        "end": flipped(len(whole) - 1),
        "cut before the checksum": whole[:-ends],
        "cut in the checksum": whole[: -ends // 2],
        "zero bytes behind it": whole + bytes(512),
        "text behind it": whole + b"1 Q0 d9 1 9.5 x\n",
        "second member cut": whole + two[: len(two) // 2],
        "second member flipped": whole + two[: len(two) // 2] + b"\x55\x55" + two[len(two) // 2 :],
    }


def packed(kind: str, data: bytes) -> bytes:
    if kind == "zst":
        if shutil.which("zstd") is None:
            pytest.skip("no zstd program, whose archives have a checksum")
        return subprocess.run(["zstd", "-qc"], input=data, capture_output=True, check=True).stdout
    pack = {"gz": lambda data: gzip.compress(data, mtime=0), "bz2": bz2.compress}
    return pack.get(kind, lzma.compress)(data)


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_broken_archives_give_an_error_or_the_right_values(
    kind: str, tmp_path: Path, root: Path, recwarn: pytest.WarningsRecorder
) -> None:
    """Never other values than those of the whole file."""
    lines = (root / "runs/trec/bm25.run").read_bytes().splitlines(keepends=True)
    first, second = b"".join(lines[:900]), b"".join(lines[900:])
    path = tmp_path / f"x.run.{kind}"

    def read(data: bytes) -> dict[str, dict[str, float]]:
        path.write_bytes(data)
        return readers.read_run(path, format="trec").to_dict()

    (tmp_path / "x.run").write_bytes(first + second)
    both = readers.read_run(tmp_path / "x.run", format="trec").to_dict()
    assert read(packed(kind, first + second)) == both
    assert read(packed(kind, first) + packed(kind, second)) == both
    if kind != "bz2":  # whose empty members pyarrow refuses, which is said as damage
        assert read(packed(kind, first) + packed(kind, b"") + packed(kind, second)) == both
    alone = read(packed(kind, first))
    outcomes = {}
    for place, data in broken(kind, packed(kind, first), packed(kind, second)).items():
        found: object = None
        try:
            found = read(data)
        except InputError as error:
            said = str(error)
        outcomes[place] = "said" if found is None else "right"
        assert found == alone or (said.startswith(str(path)) and "\n  fix:   " in said), place
    assert outcomes.pop("zero bytes behind it") in ("right", "said")
    fine = {"gz": {"header", "text behind it"}}.get(kind, {"text behind it"})
    assert {place for place, outcome in outcomes.items() if outcome == "right"} <= fine


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_a_broken_archive_in_a_sweep_loses_no_other_run(
    sweep: Sweep, template: Path, goes_on: Goes, suffix: str
) -> None:
    name = "data/gbrt/fold1-seed1.txt"
    path = sweep.folder / name
    data = packed(suffix, path.read_bytes())
    path.write_bytes(data[: len(data) - 6])
    ended = sweep.run()
    codec = {"gz": "gzip", "zst": "zstd"}[suffix]
    assert ended.code == 1
    assert ended.err.replace("configs/../", "").endswith(
        f"error: gbrt on fold1: {path}: the {codec} data is cut short [truncated]\n"
        "  fix:   get the whole file again\n"
    )
    put_back(sweep, template, name)
    goes_on(sweep, less=True)
