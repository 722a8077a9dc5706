"""Kills, full disks, files that change: nothing breaks, and the next run completes the results.

``HARNESS_TRIALS=500`` kills 500 runs at any time of theirs.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

TRIALS = int(os.environ.get("HARNESS_TRIALS", "4"))
CONFIG = """
output: ../out
datasets: {"fold{fold}": {format: letor, path: "../data/fold{fold}/test.txt"}}
runs: {"{model}": {format: scores, path: "../data/{model}/fold{fold}-seed{seed}.txt"}}
metrics: [map, ndcg@10, "swaps(normalize=true)"]
policy: {empty_queries: skip}
reports: [csv, markdown]
compare: {baseline: gbrt}
tables: {main: {metrics: [map]}}
"""
MODELS = ("gbrt", "lambdamart", "linear-regression")
KILL, STOP = ["signal", signal.SIGKILL], ["signal", signal.SIGINT]
EVALUATE = ["harness.experiment.workers", "visit"]
TAKE = ["harness.experiment.evaluate_all", "_Run.take"]
SUMMARISE = ["harness.experiment.run", "summarise", 0]
REPLACE = ["pathlib", "Path.replace"]
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
STOPPED = "stopped; nothing is left half written; the same command continues\n"


class Sweep:
    """A folder with twelve cells, run in processes of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.config, self.out = folder, folder / "configs/x.yaml", folder / "out"

    def start(self, *more: str, words: list[str] | None = None, **asked: Any) -> Any:
        """Start a run, or another command; see struck.py for what can be asked."""
        script = str(Path(__file__).with_name("struck.py"))
        words = ["run", str(self.config), *more] if words is None else words
        return subprocess.Popen(
            [sys.executable, script, json.dumps(asked), *words], text=True, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *more: str, **asked: Any) -> tuple[int, str]:
        process = self.start(*more, **asked)
        err = process.communicate(timeout=120)[1]
        assert "Traceback" not in err
        assert in_session(process.pid) == [], "workers outlive the run"
        return process.returncode, err.replace("configs/../", "")

    def files(self) -> dict[str, str]:
        """Hashes of all results and records, unfinished ones too."""
        return {
            path.relative_to(self.out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.out.rglob("*"))
            if path.is_file() and path.name not in (".lock", "timing.json", "harness-inputs.json")
        }


def in_session(session: int) -> list[int]:
    """Processes of a session that are left after up to 20 seconds."""
    until = time.monotonic() + 20
    found = [session]
    while found and time.monotonic() < until:
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                after = path.read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            if int(after[3]) == session and after[0] != "Z":
                found.append(int(path.parent.name))
        time.sleep(0.02 if found else 0)
    return found


@pytest.fixture(scope="session")
def template(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    for name in ("fold1", "fold2", *MODELS):
        shutil.copytree(root / "runs/letor" / name, folder / "data" / name)
    (folder / "configs").mkdir()
    (folder / "configs/x.yaml").write_text(CONFIG)
    return folder


@pytest.fixture(scope="session")
def undisturbed(template: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    found = Sweep(shutil.copytree(template, tmp_path_factory.mktemp("x"), dirs_exist_ok=True))
    assert found.run()[0] == 0
    return found.files()


@pytest.fixture
def sweep(template: Path, undisturbed: dict[str, str], tmp_path: Path) -> Iterator[Sweep]:
    """A sweep that was never run; after the test the next run completes it."""
    found = Sweep(shutil.copytree(template, tmp_path / "sweep"))
    yield found
    shutil.copytree(template / "data", found.folder / "data", dirs_exist_ok=True)
    complete(found, undisturbed)


def age_unfinished(sweep: Sweep) -> None:
    """Let an hour pass: younger files of a cache may belong to a run that goes on."""
    for path in sweep.out.rglob(".*.part"):
        os.utime(path, (0, 0))


def complete(sweep: Sweep, undisturbed: dict[str, str]) -> None:
    age_unfinished(sweep)
    code, err = sweep.run()
    assert (code, "error" in err) == (0, False), err
    found = sweep.files()
    assert {name: digest for name, digest in undisturbed.items() if found.get(name) != digest} == {}
    assert [name for name in found if name.endswith(".part")] == []


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_killed_at_any_time(sweep: Sweep, undisturbed: dict[str, str], jobs: str) -> None:
    draw, kept = random.Random(3), set()
    for _ in range(TRIALS):
        process = sweep.start("--jobs", jobs)
        done = draw.randrange(1, 12)
        while len(list(sweep.out.glob("cells/??/*.parquet"))) < done and process.poll() is None:
            time.sleep(0.001)
        time.sleep(draw.random() * 0.02)
        process.kill()
        process.communicate()
        assert in_session(process.pid) == [], "workers outlive the run"
        for name, digest in sweep.files().items():
            assert name.endswith(".part") or undisturbed[name] == digest
        kept.add(len(list(sweep.out.glob("cells/??/*.parquet"))))
        complete(sweep, undisturbed)
        shutil.rmtree(sweep.out)
    assert kept & {*range(1, 12)}, "all were killed before or after the cells"


@pytest.mark.parametrize(
    "call", [["os", "fsync", 0], ["os", "fsync", 5], [*REPLACE, 12], [*REPLACE, 16]], ids=str
)
def test_killed_while_writing(sweep: Sweep, call: list[Any]) -> None:
    assert sweep.run(call=call, act=KILL)[0] == -signal.SIGKILL
    assert list(sweep.out.rglob(".*.part")) != []
    age_unfinished(sweep)
    assert sweep.run()[0] == 0
    assert list(sweep.out.rglob("cells/**/.*.part")) == []


@pytest.mark.parametrize(
    "call",
    [["harness.config.load", "load", 0], [*EVALUATE, 7], SUMMARISE,
     ["harness.experiment.cache", "write_all", 3], ["os", "fsync", 4], [*REPLACE, 15]],
    ids=str,
)  # fmt: skip
def test_ctrl_c(sweep: Sweep, call: list[Any]) -> None:
    assert sweep.run(call=call, act=STOP) == (130, STOPPED)
    assert list(sweep.out.rglob(".*.part")) == []


@pytest.mark.parametrize("taken", [0, 3])
def test_a_worker_is_killed(sweep: Sweep, undisturbed: dict[str, str], taken: int) -> None:
    code, err = sweep.run("--jobs", "2", call=[*TAKE, taken], act=["kill a worker"])
    assert (code, "error" in err) == (0, False)
    assert sweep.files() == undisturbed


@pytest.fixture
def mount(sweep: Sweep) -> Iterator[Callable[[str], None]]:
    """Give the output folder a file system of its own; called again: other options."""
    command = ["mount", "-t", "tmpfs", "tmpfs", str(sweep.out), "-o"]
    sweep.out.mkdir()
    if subprocess.run([*command, "size=64m"], capture_output=True, check=False).returncode:
        pytest.skip("no mounts here")
    yield lambda options: subprocess.run([*command, f"remount,{options}"], check=True) and None
    subprocess.run(["umount", str(sweep.out)], check=True)


@ROOT_ONLY
@pytest.mark.parametrize("pages", [1, 25, 40])
def test_a_full_disk(sweep: Sweep, mount: Callable[[str], None], pages: int) -> None:
    mount(f"size={pages * 4096}")
    code, err = sweep.run()
    assert code == 2
    assert "cannot be written: No space left on device\n  fix:   free space" in err
    assert list(sweep.out.rglob(".*.part")) == []
    assert not (sweep.out / "manifest.json").exists()
    mount("size=64m")


@ROOT_ONLY
def test_a_read_only_disk(sweep: Sweep, mount: Callable[[str], None]) -> None:
    mount("size=64m,ro")
    code, err = sweep.run()
    assert code == 2
    assert "no place for the results" in err
    assert "may not be written to\n  fix:   name another folder" in err
    mount("size=64m,rw")


@pytest.mark.parametrize("known", [False, True])
def test_an_input_that_may_not_be_read_fails_its_cell(sweep: Sweep, known: bool) -> None:
    path = str(sweep.folder / "data/gbrt/fold1-seed1.txt")
    if known:
        assert sweep.run()[0] == 0
    (sweep.folder / "data/gbrt/fold1-seed1.txt").write_text("0.5\n")  # to be read again
    call = ["harness.readers.source", "Source.open", 0]
    one = ["--set", "where={run: gbrt, seed: 1, fold: 1}", "--set", "compare=null"]
    code, err = sweep.run(*one, call=call, act=["raise", path])
    assert code == 2
    assert "Permission denied" in err or "no permission to read it" in err


@pytest.mark.parametrize("call", [[*EVALUATE, 7], SUMMARISE], ids=str)
def test_memory_runs_out(sweep: Sweep, call: list[Any]) -> None:
    code, err = sweep.run(call=call, act=["exhaust memory"])
    assert code == 2
    assert "not enough memory\n  fix:   raise the limit (ulimit -v" in err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_judgements_change_between_two_cells(sweep: Sweep, jobs: str) -> None:
    path = sweep.folder / "data/fold1/test.txt"
    text = path.read_text()
    other = path.with_name("other.txt")
    other.write_text(("1" if text[0] == "0" else "0") + text[1:])
    act = ["copy", str(other), str(path)]
    call = [*EVALUATE, 2] if jobs == "1" else [*TAKE, 0]
    code, err = sweep.run("--jobs", jobs, call=call, act=act)
    assert (code == 0 and jobs == "2") or "the file changed during the run" in err


@pytest.mark.parametrize("cache", ["", "../kept"], ids=["one output", "one cache"])
def test_two_at_once(sweep: Sweep, cache: str) -> None:
    """On one output the second waits for the first; on one cache neither waits."""
    outs = ["../out", "../out2"] if cache else ["../out", "../out"]
    more = ["--set", f"cache={cache}"] if cache else []
    running = [sweep.start("--set", f"output={out}", *more) for out in outs]
    errors = [process.communicate(timeout=90)[1] for process in running]
    assert [process.returncode for process in running] == [0, 0], errors
    waits = ["another run writes here; waiting until it is done" in err for err in errors]
    assert sum(waits) <= (not cache)
    if cache:
        values = [sweep.folder / out / "per_query.parquet" for out in ("out", "out2")]
        assert values[0].read_bytes() == values[1].read_bytes()
        assert not list((sweep.folder / "kept").rglob(".*.part"))
        shutil.rmtree(sweep.out)


def test_init_writes_all_or_nothing(sweep: Sweep) -> None:
    target = sweep.folder / "new/deep/x.yaml"
    words = ["init", str(sweep.folder / "data"), "-o", str(target)]
    for call in (["os", "fsync", 0], [*REPLACE, 0]):
        assert sweep.run(words=words, call=call, act=KILL)[0] == -signal.SIGKILL
        assert not target.exists()
    shutil.rmtree(target.parent.parent)
    assert sweep.run(words=words, call=call, act=STOP)[0] == 130
    code, err = sweep.run(words=words, limits={"RLIMIT_FSIZE": 10})
    assert (code, "cannot be written: File too large" in err) == (2, True)
    assert not target.exists()
    assert sweep.run(words=words) == (0, "")
    assert [path.name for path in target.parent.iterdir()] == ["x.yaml"]
