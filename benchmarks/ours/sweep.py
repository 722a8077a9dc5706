"""``harness run`` on a sweep: ``DATA DATASETS STATE JOBS METRIC...``; reports its own seconds.

STATE says what is known before: nothing (``cold``), everything (``warm``), all but one metric
(``metric``), all but the cell of one file (``file``). The files are links, of more datasets than
DATA has to the same ones.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

CONFIG = """output: out
datasets: {{"set{{n}}": {{format: trec, path: "{{n}}/qrels.txt"}}}}
runs: {{"{{system}}": {{format: trec, path: "{{n}}/run-{{system}}.txt"}}}}
metrics: [{metrics}]
"""
MORE = "Rprec"
PR_SET_CHILD_SUBREAPER = 36


def linked(data: Path, n_datasets: int, metrics: list[str]) -> Path:
    """Return a folder with a config, and links to the files of this many datasets."""
    folders = sorted(path for path in data.iterdir() if path.is_dir())
    at = data.with_name(f"{data.name}.{n_datasets}")
    for number in range(n_datasets):
        (at / f"{number}").mkdir(parents=True, exist_ok=True)
        for file in sorted(folders[number % len(folders)].iterdir()):
            link = at / f"{number}" / file.name
            link.unlink(missing_ok=True)
            link.symlink_to(file)
    config = CONFIG.format(metrics=", ".join(metrics))
    (at / "config.yaml").write_text(config, encoding="utf-8")
    return at


def harness(at: Path, *options: str) -> tuple[float, float]:
    """Run the config, and return the seconds by the clock and of processors.

    Both are those of all of its processes: the last one ends before this does, whoever started it.
    """
    argv = [sys.executable, "-m", "harness", "run", str(at / "config.yaml"), "--format", "jsonl"]
    begin = time.perf_counter()
    process = subprocess.Popen([*argv, *options], stdout=subprocess.DEVNULL)
    seconds, failed = 0.0, False
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status, usage = os.wait3(0)
            seconds += usage.ru_utime + usage.ru_stime
            failed |= pid == process.pid and status != 0
    wall = time.perf_counter() - begin
    if failed:
        sys.exit(f"{' '.join(options)}: failed")
    return wall, seconds


def main() -> None:
    """Bring about the state, and measure."""
    if sys.platform == "linux":  # children of children that end later than these become ours
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    data, n_datasets, state, jobs, *metrics = sys.argv[1:]
    at = linked(Path(data), int(n_datasets), metrics)
    out, known, options = at / "out", at / "known", ["--jobs", jobs]
    shutil.rmtree(out, ignore_errors=True)
    if state != "cold":
        harness(at, "--set", "output=known", "--jobs", "2")
        shutil.copytree(known, out)
    if state == "metric":
        options += ["--set", f"metrics=[{', '.join([*metrics, MORE])}]"]
    if state == "file":
        run = at / "0" / "run-000.txt"
        content = run.read_bytes()
        run.unlink()
        run.write_bytes(content[content.index(b"\n") + 1 :])
    print("seconds", *harness(at, *options))


if __name__ == "__main__":
    main()
