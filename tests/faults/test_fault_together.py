"""Runs side by side, a worker that is killed, results deleted under way, a clock that jumps."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable

import pytest
from small_sweep import Sweep, Undisturbed

Goes = Callable[..., None]
DAY = 86_400.0


@pytest.mark.parametrize("cache", ["", "../kept"], ids=["one output", "one cache"])
def test_two_at_once(
    sweep: Sweep, undisturbed: Undisturbed, goes_on: Goes, cache: str,
    whole_command: Callable[..., subprocess.Popen[str]],
) -> None:  # fmt: skip
    """On one output the second waits for the first; on one cache neither waits."""
    outs = ["../out", "../out2"] if cache else ["../out", "../out"]
    given = [
        ["--set", f"output={out}", *(["--set", f"cache={cache}"] * bool(cache))] for out in outs
    ]
    running = [whole_command("run", sweep.config, *more) for more in given]
    said = [process.communicate(timeout=90)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    waits = f"warning: {sweep.config.parent}/../out: another run writes here; waiting until it is"
    for err in said:
        rest = err.removesuffix(undisturbed.err)
        assert rest == "" or (rest.startswith(waits) and not cache), err
    if cache:
        for out in ("out", "out2"):
            values = sweep.folder / out / "per_query.parquet"
            assert values.read_bytes() == (sweep.out / "per_query.parquet").read_bytes()
        assert not list((sweep.folder / "kept").rglob(".*.part"))
        shutil.rmtree(sweep.out)
    goes_on(sweep)


@pytest.mark.parametrize("taken", [0, 3])
def test_a_worker_is_killed(
    sweep: Sweep, undisturbed: Undisturbed, goes_on: Goes, taken: int
) -> None:
    call = ["harness.experiment.cells", "_Run.take", taken]
    ended = sweep.run("--jobs", "2", call=call, act=["kill a worker"])
    assert (ended.code, ended.err) == (0, undisturbed.err)
    assert sweep.files() == undisturbed.files
    goes_on(sweep)


@pytest.mark.parametrize(
    ("home", "name", "call"),
    [
        ("harness.experiment.cache", "write_all", 0), ("harness.experiment.cache", "write_all", 6),
        ("harness.experiment.run", "compare", 0), ("harness.files", "write_all", 0),
        ("os", "fsync", 0), ("os", "fsync", 5),
        ("pathlib", "Path.replace", 5), ("pathlib", "Path.replace", 16),
    ],
)  # fmt: skip
def test_results_are_deleted_under_way(
    sweep: Sweep, undisturbed: Undisturbed, goes_on: Goes, home: str, name: str, call: int
) -> None:
    """They are written all the same; or, in the middle of writing, the run says so."""
    ended = sweep.run(call=[home, name, call], act=["delete", str(sweep.out)])
    if name in ("fsync", "Path.replace"):
        assert ended.code == 2
        assert "cannot write the results: No such file or directory" in ended.err
        assert ended.err.endswith(
            "  fix:   its folder was deleted or moved under way: run again; "
            "nothing was left half written\n"
        )
    else:
        assert (ended.code, ended.err) == (0, undisturbed.err)
        written = {name for name in undisturbed.files if "cells/" not in name}
        assert written <= sweep.files().keys()
    goes_on(sweep)


@pytest.mark.parametrize(
    ("start", "speed"),
    [(-3650 * DAY, 1.0), (3650 * DAY, 1.0), (0.0, -1.0), (0.0, -50_000.0)],
    ids=["years ago", "in years", "backwards", "backwards by hours"],
)
def test_a_clock_that_is_set(
    sweep: Sweep, undisturbed: Undisturbed, goes_on: Goes, start: float, speed: float
) -> None:
    ended = sweep.run(clock=[start, speed])
    assert (ended.code, ended.err) == (0, undisturbed.err)
    assert sweep.files() == undisturbed.files
    timing = json.loads((sweep.out / "timing.json").read_text(encoding="utf-8"))
    assert timing["seconds"] >= 0
    # a file that changes is seen, whatever the clock said when it was read
    path = sweep.folder / "data/gbrt/fold1-seed1.txt"
    text = path.read_text(encoding="utf-8")
    path.write_text("9.5" + text[text.index("\n") :], encoding="utf-8")
    changed = sweep.run(clock=[start, speed])
    assert changed.code == 0
    assert sweep.files()["per_query.parquet"] != undisturbed.files["per_query.parquet"]
    path.write_text(text, encoding="utf-8")
    assert sweep.run(clock=[-start, -speed]).code == 0
    shutil.rmtree(sweep.out)
    goes_on(sweep)
